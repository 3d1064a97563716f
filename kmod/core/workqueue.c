// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The workqueues of the module. */
#include "workqueue.h"

struct workqueue_struct *kverbs_workqueue;
struct workqueue_struct *kverbs_poll_workqueue;

/**
 * kverbs_workqueue_init() - create both workqueues
 *
 * Return: 0 or -ENOMEM.
 */
int kverbs_workqueue_init(void)
{
	kverbs_workqueue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, 0);
	if (!kverbs_workqueue)
		return -ENOMEM;
	kverbs_poll_workqueue = alloc_workqueue(KBUILD_MODNAME "_poll", WQ_UNBOUND, 0);
	if (kverbs_poll_workqueue)
		return 0;
	destroy_workqueue(kverbs_workqueue);
	return -ENOMEM;
}

/**
 * kverbs_workqueue_exit() - destroy both workqueues
 */
void kverbs_workqueue_exit(void)
{
	destroy_workqueue(kverbs_poll_workqueue);
	destroy_workqueue(kverbs_workqueue);
}
