// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Waiting for what a peer writes, of which no completion tells.
 */
#include <errno.h>

#include "batch.h"
#include "conn.h"
#include "internal.h"
#include "request.h"
#include "ring.h"
#include "slice.h"
#include "wait.h"

static bool has_changed(const struct kverbs_ring_watch *watch)
{
	return __atomic_load_n(watch->at, __ATOMIC_ACQUIRE) != watch->old;
}

/*
 * Only the leader reads completions: this thread, unless another one sleeps in the
 * kernel. The leader may already have read the end of @conn, so check both under one lock.
 */
static int begin(struct kverbs_conn *conn, bool *leads)
{
	struct kverbs *kv = conn->kv;
	int ret;

	if (kverbs_is_child(kv))
		return -ECHILD;
	pthread_mutex_lock(&kv->lock);
	ret = kverbs_done_here(kv) ? -EDEADLK : conn->error;
	*leads = !ret && kverbs_lead_begin(kv);
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

static int sleep_once(struct kverbs_conn *conn, const struct kverbs_ring_watch *watch,
		      uint64_t deadline)
{
	struct kverbs *kv = conn->kv;
	bool leads;
	int ret = begin(conn, &leads);

	if (ret)
		return ret;
	ret = kverbs_ring_wait(&kv->ring, leads ? deadline : kverbs_slice_end(deadline), watch);
	if (leads)
		kverbs_lead_end(kv);
	return ret;
}

static int watch_until(struct kverbs_conn *conn, const struct kverbs_ring_watch *watch,
		       uint64_t deadline)
{
	int ret = 0;

	while (!has_changed(watch)) {
		if (ret)
			return ret;
		ret = sleep_once(conn, watch, deadline);
		if (!ret && kverbs_ring_may_not_wait(&conn->kv->ring))
			ret = -EINTR;
		if (!ret && kverbs_deadline_passed(deadline))
			ret = -ETIMEDOUT;
	}
	return 0;
}

int kverbs_watch(struct kverbs_conn *conn, const void *byte, uint8_t old, int timeout_ms)
{
	const struct kverbs_ring_watch watch = { .at = byte, .old = old };

	return watch_until(conn, &watch, kverbs_deadline(timeout_ms));
}

int kverbs_post_watch(struct kverbs_conn *conn, const struct kverbs_op *op,
		      const void *byte, uint8_t old, int timeout_ms)
{
	const struct kverbs_ring_watch watch = { .at = byte, .old = old };
	struct kverbs_batch_wait wait = {
		.deadline = kverbs_deadline(timeout_ms),
		.watch = &watch,
	};
	const struct kverbs_batch batch = { .conn = conn, .ops = op, .nr = 1, .wait = &wait };
	int ret = kverbs_batch_post(&batch);

	if (ret < 0)
		return ret;
	if (wait.early && !has_changed(&watch) && !kverbs_deadline_passed(wait.deadline))
		return -EINTR;
	return watch_until(conn, &watch, wait.deadline);
}
