// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma_connect(), which should not block. With KVERBS_QUIRK_BLOCKING_CONNECT it does, and
 * only a signal ends that, so it runs in a thread that can get one.
 */
#include <linux/kthread.h>
#include <linux/sched/signal.h>

#include "dial.h"
#include "verbs.h"

static int dial_thread(void *data)
{
	struct kverbs_dial *dial = data;
	int ret = -EINTR;

	allow_signal(SIGKILL);
	/* A signal from before that is lost, but its stop is not. */
	if (!READ_ONCE(dial->stop))
		ret = kverbs_rdma_connect(dial->id, &dial->param);
	if (ret)
		dial->failed(dial, ret);
	return 0;
}

/**
 * kverbs_dial_start() - call rdma_connect()
 * @dial: with its id, route resolved and QP made
 *
 * Context: process, may sleep, but does not wait for the peer.
 * Return: 0, and then @failed may still be called; or -errno.
 */
int kverbs_dial_start(struct kverbs_dial *dial)
{
	struct task_struct *task;

	if (!dial->blocks)
		return kverbs_rdma_connect(dial->id, &dial->param);
	task = kthread_create(dial_thread, dial, "kverbs-dial");
	if (IS_ERR(task))
		return PTR_ERR(task);
	dial->task = get_task_struct(task);
	wake_up_process(task);
	return 0;
}

/**
 * kverbs_dial_stop() - break off what kverbs_dial_start() began
 * @dial: started or not
 *
 * Context: process, may sleep. After this @failed is not called.
 */
void kverbs_dial_stop(struct kverbs_dial *dial)
{
	if (!dial->task)
		return;
	WRITE_ONCE(dial->stop, true);
	send_sig(SIGKILL, dial->task, 1);
	kthread_stop(dial->task);
	put_task_struct(dial->task);
	dial->task = NULL;
}
