// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Waiting for any of several requests. A thread waits for one key, its struct any here, which
 * stands in the context's list: a completion looks there for its request.
 */
#include <errno.h>
#include <limits.h>

#include "any.h"
#include "internal.h"
#include "queue.h"
#include "request.h"
#include "slice.h"
#include "wait.h"

struct any {
	struct list_head node;
	struct kverbs_req *const *reqs;
	size_t nr;
};

static bool has(const struct any *any, const struct kverbs_req *req)
{
	size_t i;

	for (i = 0; i < any->nr; i++)
		if (any->reqs[i] == req)
			return true;
	return false;
}

void kverbs_any_wake(struct kverbs *kv, const struct kverbs_req *req)
{
	struct list_head *pos;
	struct any *any;

	for (pos = kv->anys.next; pos != &kv->anys; pos = pos->next) {
		any = list_entry(pos, struct any, node);
		if (has(any, req))
			kverbs_wake(kv, any);
	}
}

/* The context of all requests that were posted. */
static int find_context(const struct any *any, struct kverbs **kv)
{
	const struct kverbs_req *req;
	size_t i;

	*kv = NULL;
	if (any->nr > INT_MAX)
		return -EINVAL;
	for (i = 0; i < any->nr; i++) {
		req = any->reqs[i];
		if (req && kverbs_is_queued(req))
			return -EINVAL;
		if (!req || !kverbs_req_was_posted(req))
			continue;
		if (*kv && *kv != req->priv.kv)
			return -EINVAL;
		*kv = req->priv.kv;
	}
	return *kv ? 0 : -EINVAL;
}

/*
 * The first that is complete, -1: its callback may be running, or there is none. Requests may
 * outlive their context, so do not look at that.
 */
static int find_at_once(const struct any *any)
{
	size_t i;

	for (i = 0; i < any->nr; i++)
		if (any->reqs[i] && kverbs_complete(any->reqs[i]))
			return any->reqs[i]->done ? -1 : (int)i;
	return -1;
}

/* The first that is settled, -1: there is none. */
static int find_settled(const struct kverbs *kv, const struct any *any)
{
	size_t i;

	for (i = 0; i < any->nr; i++)
		if (any->reqs[i] && kverbs_req_is_settled(kv, any->reqs[i]))
			return (int)i;
	return -1;
}

static bool has_settled(const struct kverbs *kv, const struct any *any)
{
	return find_settled(kv, any) >= 0;
}

static bool has_due(const struct kverbs *kv, const struct any *any)
{
	size_t i;

	for (i = 0; i < any->nr; i++)
		if (any->reqs[i] && kverbs_req_is_due(kv, any->reqs[i]))
			return true;
	return false;
}

static bool settled_or_due(struct kverbs *kv, const void *arg)
{
	return has_settled(kv, arg) || has_due(kv, arg);
}

static bool settled_or_none_due(struct kverbs *kv, const void *arg)
{
	return has_settled(kv, arg) || !has_due(kv, arg);
}

/*
 * While another thread runs callbacks of these requests, this one may have to lead for the
 * others: none but the leader reads their completions.
 */
static int wait_settled(struct kverbs *kv, const struct any *any, uint64_t deadline)
{
	int ret = 0;

	while (!ret && !has_settled(kv, any)) {
		if (has_due(kv, any))
			ret = kverbs_wait_sliced(kv, settled_or_none_due, any, any, deadline);
		else
			ret = kverbs_wait_met(kv, settled_or_due, any, any, deadline);
	}
	return ret;
}

static int wait_until(struct kverbs *kv, struct any *any, uint64_t deadline)
{
	int ret, index;

	pthread_mutex_lock(&kv->lock);
	list_add_tail(&any->node, &kv->anys);
	if (!has_settled(kv, any) && kverbs_done_here(kv))
		ret = -EDEADLK;
	else
		ret = wait_settled(kv, any, deadline);
	index = find_settled(kv, any);
	list_del(&any->node);
	pthread_mutex_unlock(&kv->lock);
	return index < 0 ? ret : index;
}

int kverbs_wait_any(struct kverbs_req *const reqs[], size_t nr, int timeout_ms)
{
	struct any any = { .reqs = reqs, .nr = nr };
	struct kverbs *kv;
	int ret;

	ret = find_context(&any, &kv);
	if (ret)
		return ret;
	ret = find_at_once(&any);
	if (ret >= 0)
		return ret;
	if (kverbs_is_child(kv))
		return -ECHILD;
	return wait_until(kv, &any, kverbs_deadline(timeout_ms));
}
