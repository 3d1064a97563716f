// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The workqueue of the module. */
#include "workqueue.h"

struct workqueue_struct *kverbs_workqueue;

/**
 * kverbs_workqueue_init() - create it
 *
 * Return: 0 or -ENOMEM.
 */
int kverbs_workqueue_init(void)
{
	kverbs_workqueue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, 0);
	return kverbs_workqueue ? 0 : -ENOMEM;
}

/**
 * kverbs_workqueue_exit() - destroy it
 */
void kverbs_workqueue_exit(void)
{
	destroy_workqueue(kverbs_workqueue);
}
