/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Callbacks of requests. All under kv->lock.
 */
#ifndef KVERBS_DONE_H
#define KVERBS_DONE_H

#include <stdbool.h>

struct kverbs;
struct kverbs_conn;
struct kverbs_req;

/* Queue a complete request for its callback. */
void kverbs_done_add(struct kverbs *kv, struct kverbs_req *req);
/*
 * Run the callbacks that are due, unless a thread does so already, be it this
 * one: a callback that waits for room to post does not nest another.
 */
void kverbs_done_run(struct kverbs *kv);
/* Whether there is something to run, and nobody at it. */
bool kverbs_done_due(const struct kverbs *kv);
/* Whether this thread is in a callback. */
bool kverbs_done_here(const struct kverbs *kv);
/* Whether @req's callback runs just now, in another thread. */
bool kverbs_done_running(const struct kverbs *kv, const struct kverbs_req *req);
/* Return when no callback of @conn's is due or running. */
void kverbs_done_flush(struct kverbs *kv, struct kverbs_conn *conn);

#endif /* KVERBS_DONE_H */
