/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_WORKQUEUE_H
#define KVERBS_WORKQUEUE_H

#include <linux/workqueue.h>

/*
 * Where connections advance and objects are evicted. Work on it may wait for
 * the HCA, but never for a peer or for user space.
 */
extern struct workqueue_struct *kverbs_workqueue;

/*
 * Where operations are posted that have waited. The first one that names a region may have to map
 * it, which may take long and so does not occupy a worker of kverbs_workqueue. Work that finds that
 * another task maps the region is queued again when that has ended: see struct kverbs_turn.
 */
extern struct workqueue_struct *kverbs_post_workqueue;

/*
 * Where connections are torn down. On iWARP that waits until the driver has given up to
 * connect, up to minutes with a peer that does not answer.
 */
extern struct workqueue_struct *kverbs_teardown_workqueue;

/*
 * Where idle connections are probed. Users choose how often, so that all probes together must
 * not delay other work.
 */
extern struct workqueue_struct *kverbs_keepalive_workqueue;

/* Where completion queues are polled that several connections share, unless tasks poll them. */
extern struct workqueue_struct *kverbs_cq_workqueue;

int kverbs_workqueue_init(void);
void kverbs_workqueue_exit(void);

#endif /* KVERBS_WORKQUEUE_H */
