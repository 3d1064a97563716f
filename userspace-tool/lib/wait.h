/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Waiting, with many threads and one place to wait.
 *
 * Of all threads that wait for completions one leads: it sleeps in the kernel
 * and reads what arrives; the others follow, each asleep on a condition of its
 * own. Only the leader reads the ring while it sleeps there; otherwise it could sleep
 * on for a completion that another thread has read. A thread that stops leading wakes
 * a follower to take over.
 *
 * Deadlines are CLOCK_MONOTONIC in nanoseconds, 0: none, as the kernel has them.
 *
 * After kverbs_wakeup() no thread sleeps: the leader returns from the kernel and wakes the
 * followers.
 */
#ifndef KVERBS_WAIT_H
#define KVERBS_WAIT_H

#include <stdbool.h>
#include <stdint.h>

#define NSEC_PER_MSEC 1000000u

struct kverbs;

void kverbs_waiters_init(struct kverbs *kv);

/* True if the condition that a thread waits for is met; called with kv->lock held. */
typedef bool (*kverbs_met_fn)(struct kverbs *kv, const void *arg);

/* Let threads that wait for a completion slot try again; with kv->lock held. */
void kverbs_room_found(struct kverbs *kv);

/* The condition of a thread that does not wait. */
bool kverbs_at_once(struct kverbs *kv, const void *arg);

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
/* The same without a deadline, and kverbs_wakeup() does not end it. */
int kverbs_wait_met_nowake(struct kverbs *kv, kverbs_met_fn met, const void *arg,
			   const void *key);
/*
 * Lead, to sleep in the kernel by other means; false: another thread leads, or this
 * thread may not wait. Under kv->lock: before it sleeps, the caller must check there
 * that no other thread has read the completion that ends the sleep.
 */
bool kverbs_lead_begin(struct kverbs *kv);
/* Stop leading: read completions and run callbacks. Without kv->lock. */
void kverbs_lead_end(struct kverbs *kv);
/* True if the caller does not want to wait at all. */
bool kverbs_deadline_is_now(uint64_t deadline);
/* Wake a follower to lead or to run callbacks; false: there is none. Under kv->lock. */
bool kverbs_wake_heir(struct kverbs *kv);
/* Sleep once, until kverbs_wake(): for events that the ring does not report. */
int kverbs_wait_woken(struct kverbs *kv, const void *key, uint64_t deadline);
/* The same without a deadline, and kverbs_wakeup() does not end it. */
void kverbs_wait_woken_nowake(struct kverbs *kv, const void *key);
/* Wake the threads that wait for @key; under kv->lock. */
void kverbs_wake(struct kverbs *kv, const void *key);

#endif /* KVERBS_WAIT_H */
