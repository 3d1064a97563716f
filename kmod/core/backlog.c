// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Limits the requests that wait for an answer at a listener. */
#include <linux/slab.h>

#include "backlog.h"

/**
 * kverbs_backlog_create() - make a backlog
 * @max: connections that may wait
 *
 * Return: it, or NULL without memory.
 */
struct kverbs_backlog *kverbs_backlog_create(unsigned int max)
{
	struct kverbs_backlog *backlog = kzalloc(sizeof(*backlog), GFP_KERNEL_ACCOUNT);

	if (!backlog)
		return NULL;
	kref_init(&backlog->ref);
	backlog->max = max;
	return backlog;
}

static void backlog_release(struct kref *ref)
{
	kfree(container_of(ref, struct kverbs_backlog, ref));
}

/**
 * kverbs_backlog_put() - drop a reference
 * @backlog: the backlog
 */
void kverbs_backlog_put(struct kverbs_backlog *backlog)
{
	kref_put(&backlog->ref, backlog_release);
}

/**
 * kverbs_backlog_enter() - count a request, with a reference
 * @backlog: the backlog
 *
 * Context: any.
 * Return: 0, or -EBUSY if it is full.
 */
int kverbs_backlog_enter(struct kverbs_backlog *backlog)
{
	if (atomic_inc_return(&backlog->waiting) > (int)backlog->max) {
		atomic_dec(&backlog->waiting);
		return -EBUSY;
	}
	kref_get(&backlog->ref);
	return 0;
}

/**
 * kverbs_backlog_leave() - undo kverbs_backlog_enter(), once
 * @slot: pointer to the backlog; NULL there if the request has left already
 *
 * Context: any.
 */
void kverbs_backlog_leave(struct kverbs_backlog **slot)
{
	struct kverbs_backlog *backlog = xchg(slot, NULL);

	if (!backlog)
		return;
	atomic_dec(&backlog->waiting);
	kverbs_backlog_put(backlog);
}
