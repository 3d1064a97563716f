// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The workqueues of the module. Another module may need a connection to write pages out, so work
 * that connects, posts or tears down must advance even without memory for more workers.
 */
#include "workqueue.h"

struct workqueue_struct *kverbs_workqueue;
struct workqueue_struct *kverbs_post_workqueue;
struct workqueue_struct *kverbs_teardown_workqueue;
struct workqueue_struct *kverbs_keepalive_workqueue;
struct workqueue_struct *kverbs_cq_workqueue;

/* CPUs that probes use at most, however many connections there are. */
#define PROBES_ACTIVE	2

/**
 * kverbs_workqueue_init() - create all workqueues
 *
 * Return: 0 or -ENOMEM.
 */
int kverbs_workqueue_init(void)
{
	kverbs_workqueue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!kverbs_workqueue)
		return -ENOMEM;
	kverbs_post_workqueue = alloc_workqueue(KBUILD_MODNAME "_post",
						WQ_UNBOUND | WQ_MEM_RECLAIM, WQ_MAX_ACTIVE);
	if (!kverbs_post_workqueue)
		goto out_destroy;
	kverbs_teardown_workqueue = alloc_workqueue(KBUILD_MODNAME "_teardown",
						    WQ_UNBOUND | WQ_MEM_RECLAIM,
						    WQ_MAX_ACTIVE);
	if (!kverbs_teardown_workqueue)
		goto out_destroy_post;
	kverbs_keepalive_workqueue = alloc_workqueue(KBUILD_MODNAME "_keepalive", WQ_UNBOUND,
						     PROBES_ACTIVE);
	if (!kverbs_keepalive_workqueue)
		goto out_destroy_teardown;
	kverbs_cq_workqueue = alloc_workqueue(KBUILD_MODNAME "_cq",
					      WQ_UNBOUND | WQ_HIGHPRI | WQ_MEM_RECLAIM, 0);
	if (!kverbs_cq_workqueue)
		goto out_destroy_keepalive;
	return 0;

out_destroy_keepalive:
	destroy_workqueue(kverbs_keepalive_workqueue);
out_destroy_teardown:
	destroy_workqueue(kverbs_teardown_workqueue);
out_destroy_post:
	destroy_workqueue(kverbs_post_workqueue);
out_destroy:
	destroy_workqueue(kverbs_workqueue);
	return -ENOMEM;
}

/**
 * kverbs_workqueue_exit() - destroy all workqueues
 */
void kverbs_workqueue_exit(void)
{
	destroy_workqueue(kverbs_cq_workqueue);
	destroy_workqueue(kverbs_keepalive_workqueue);
	destroy_workqueue(kverbs_teardown_workqueue);
	destroy_workqueue(kverbs_post_workqueue);
	destroy_workqueue(kverbs_workqueue);
}
