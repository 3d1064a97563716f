// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Requests that the program takes when it likes, without a callback.
 */
#include <errno.h>
#include <limits.h>

#include "fifo.h"
#include "internal.h"
#include "queue.h"
#include "request.h"
#include "wait.h"

void kverbs_queue_add(struct kverbs *kv, struct kverbs_req *req)
{
	fifo_add(&kv->queue, req);
	kverbs_wake(kv, &kv->queue);
}

void kverbs_queue_clear(struct kverbs *kv)
{
	struct kverbs_req *req;

	while ((req = fifo_pop(&kv->queue)))
		kverbs_req_release(req);
}

static bool has_requests(struct kverbs *kv, const void *arg)
{
	(void)arg;
	return kv->queue.first;
}

/* In a callback completions may be looked for, but not waited for. */
static int wait_for_one(struct kverbs *kv, uint64_t deadline)
{
	if (!has_requests(kv, NULL) && kverbs_done_here(kv) && !kverbs_deadline_is_now(deadline))
		return -EDEADLK;
	return kverbs_wait_met(kv, has_requests, NULL, &kv->queue, deadline);
}

static int take(struct kverbs *kv, struct kverbs_req *reqs[], size_t nr)
{
	int taken = 0;

	while ((size_t)taken < nr && kv->queue.first) {
		reqs[taken] = fifo_pop(&kv->queue);
		kverbs_req_release(reqs[taken++]);
	}
	return taken;
}

int kverbs_poll(struct kverbs *kv, struct kverbs_req *reqs[], size_t nr, int timeout_ms)
{
	uint64_t deadline = kverbs_deadline(timeout_ms);
	int ret, taken;

	if (kverbs_is_child(kv))
		return -ECHILD;
	if (!nr)
		return -EINVAL;
	pthread_mutex_lock(&kv->lock);
	do {
		ret = wait_for_one(kv, deadline);
		/* Callbacks that the wait has run at its end let other threads take all. */
		taken = take(kv, reqs, nr < INT_MAX ? nr : INT_MAX);
	} while (!ret && !taken);
	pthread_mutex_unlock(&kv->lock);
	if (taken)
		return taken;
	return ret == -ETIMEDOUT ? 0 : ret;
}
