// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The workqueues of the module. */
#include "workqueue.h"

struct workqueue_struct *kverbs_workqueue;
struct workqueue_struct *kverbs_teardown_workqueue;

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
	kverbs_teardown_workqueue = alloc_workqueue(KBUILD_MODNAME "_teardown", WQ_UNBOUND,
						    WQ_MAX_ACTIVE);
	if (kverbs_teardown_workqueue)
		return 0;
	destroy_workqueue(kverbs_workqueue);
	return -ENOMEM;
}

/**
 * kverbs_workqueue_exit() - destroy both workqueues
 */
void kverbs_workqueue_exit(void)
{
	destroy_workqueue(kverbs_teardown_workqueue);
	destroy_workqueue(kverbs_workqueue);
}
