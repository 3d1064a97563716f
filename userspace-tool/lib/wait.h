/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Waiting, with many threads and one place to wait.
 *
 * Of all threads that wait for completions one leads: it sleeps in the kernel
 * and reads what arrives; the others follow, each asleep on a condition of its
 * own. Nobody but the leader reads the ring while it sleeps there, or it could
 * sleep on for what another has read. A thread that leaves with nobody leading
 * wakes a follower to take over.
 *
 * Deadlines are CLOCK_MONOTONIC in nanoseconds, 0: none, as the kernel has them.
 */
#ifndef KVERBS_WAIT_H
#define KVERBS_WAIT_H

#include <stdbool.h>
#include <stdint.h>

struct kverbs;

/* Whether what somebody waits for has come; called with kv->lock held. */
typedef bool (*kverbs_met_fn)(struct kverbs *kv, const void *arg);

uint64_t kverbs_deadline(int timeout_ms);
bool kverbs_deadline_passed(uint64_t deadline);
/* Milliseconds left, rounded up; -1: there is no deadline. */
int kverbs_deadline_left(uint64_t deadline);

/*
 * Wait until met(), leading or following. Called with kv->lock held, which is
 * dropped meanwhile, also to run callbacks. Returns 0, -ETIMEDOUT, -EINTR or
 * what the kernel says.
 */
int kverbs_wait_met(struct kverbs *kv, kverbs_met_fn met, const void *arg,
		    const void *key, uint64_t deadline);
/*
 * Lead, to sleep in the kernel by other means; false: somebody does already, or this
 * thread may not wait. Under kv->lock, in which whoever is going to sleep looks whether
 * what should end that has come to another one already.
 */
bool kverbs_lead_begin(struct kverbs *kv);
/* What has come meanwhile is read, and callbacks run. Without kv->lock. */
void kverbs_lead_end(struct kverbs *kv);
/* Whether somebody does not want to wait at all. */
bool kverbs_deadline_is_now(uint64_t deadline);
/* One sleep that ends by kverbs_wake() only: for what never comes by the ring. */
int kverbs_wait_woken(struct kverbs *kv, const void *key, uint64_t deadline);
/* Wake those who wait for @key; under kv->lock. */
void kverbs_wake(struct kverbs *kv, const void *key);

#endif /* KVERBS_WAIT_H */
