// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * rdma_connect(), which should not block. With KVERBS_QUIRK_BLOCKING_CONNECT it does, and
 * only a signal ends that, so it runs in a thread that can get one.
 */
#include <linux/kthread.h>
#include <linux/sched/signal.h>

#include "connect.h"
#include "verbs.h"

static int connect_thread(void *data)
{
	struct kverbs_connect *connect = data;
	int ret = -EINTR;

	allow_signal(SIGKILL);
	/* A signal that came before allow_signal() is lost, but @stop is not. */
	if (!READ_ONCE(connect->stop))
		ret = kverbs_rdma_connect(connect->id, &connect->param);
	if (ret)
		connect->failed(connect, ret);
	return ret;
}

/**
 * kverbs_connect_start() - call rdma_connect()
 * @connect: with its id, route resolved and QP made
 *
 * Context: process, may sleep, but does not wait for the peer.
 * Return: 0, and then @failed may still be called; or -errno.
 */
int kverbs_connect_start(struct kverbs_connect *connect)
{
	struct task_struct *task;

	if (!connect->blocks)
		return kverbs_rdma_connect(connect->id, &connect->param);
	task = kthread_create(connect_thread, connect, "kverbs-connect");
	if (IS_ERR(task))
		return PTR_ERR(task);
	connect->task = get_task_struct(task);
	wake_up_process(task);
	return 0;
}

/**
 * kverbs_connect_stop() - interrupt kverbs_connect_start()
 * @connect: started or not
 *
 * Context: process, may sleep. After this @failed is not called.
 * Return: 0, or the error of rdma_connect() in the thread.
 */
int kverbs_connect_stop(struct kverbs_connect *connect)
{
	int ret;

	if (!connect->task)
		return 0;
	WRITE_ONCE(connect->stop, true);
	send_sig(SIGKILL, connect->task, 1);
	/* -EINTR if the thread has not run at all. */
	ret = kthread_stop(connect->task);
	put_task_struct(connect->task);
	connect->task = NULL;
	return ret;
}
