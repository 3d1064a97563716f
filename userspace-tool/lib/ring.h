/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The ring shared with the kernel.
 *
 * The submission side is one thread's at a time, under sq_lock, from the first
 * entry filled to the SUBMIT that hands it over; between two such turns the
 * submission ring is empty. A SUBMIT that also waits drops the lock, and the next turn
 * begins when its entry is taken. The completion side is the caller's to serialise.
 */
#ifndef KVERBS_RING_H
#define KVERBS_RING_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kverbs.h>

struct kverbs_ring {
	int fd;
	int poll_fd;			/* of the ring alone, 0: there is none */
	uint32_t id;
	uint32_t sq_entries;
	uint32_t cq_entries;
	size_t sq_size, cq_size, idx_size;
	bool busy_poll;			/* work completes only during a SUBMIT */

	struct kverbs_sqe *sqes;
	const struct kverbs_ring_kernel *kernel;
	const struct kverbs_cqe *cqes;
	struct kverbs_ring_user *user;

	pthread_mutex_t sq_lock;
	uint32_t sq_tail;		/* sq_lock */
	bool handed;			/* sq_lock: a SUBMIT is under way without it */
	uint32_t cq_head;
};

/* @event_fd: with KVERBS_RING_EVENTFD an eventfd(2), else 0 */
int kverbs_ring_open(struct kverbs_ring *r, int fd, unsigned int sq_entries,
		     unsigned int cq_entries, unsigned int flags, int event_fd);
void kverbs_ring_close(struct kverbs_ring *r);

void kverbs_ring_lock(struct kverbs_ring *r);
void kverbs_ring_unlock(struct kverbs_ring *r);
/* The next free entry, zeroed; NULL: none is left. Under the lock. */
struct kverbs_sqe *kverbs_ring_sqe(struct kverbs_ring *r);
/*
 * Hand over all that was filled. Returns how many entries were taken; the rest
 * is withdrawn, and *error says why. Under the lock.
 */
unsigned int kverbs_ring_submit(struct kverbs_ring *r, int *error);

/* A byte that a peer is going to change, and what it has been so far. */
struct kverbs_ring_watch {
	const uint8_t *at;
	uint8_t old;
};

/*
 * Submit the only entry that was filled. If the kernel accepts it, wait as
 * kverbs_ring_wait() does, with the lock dropped. Set *early if nothing completed.
 */
bool kverbs_ring_submit_wait(struct kverbs_ring *r, uint64_t deadline,
			     const struct kverbs_ring_watch *watch, bool *early,
			     int *error);

/* Poll a BUSY_POLL ring once; other rings need no polling. */
void kverbs_ring_poll(struct kverbs_ring *r);
/*
 * Wait for an unread completion until @deadline, 0: for ever; or until a byte has changed,
 * unless @watch is NULL.
 */
int kverbs_ring_wait(struct kverbs_ring *r, uint64_t deadline,
		     const struct kverbs_ring_watch *watch);
/* The next unread completion; false: there is none. */
bool kverbs_ring_next(struct kverbs_ring *r, struct kverbs_cqe *cqe);
/* Tell the kernel what was read. */
void kverbs_ring_seen(struct kverbs_ring *r);
/* Let a free completion slot end a wait, as an unread completion does. */
void kverbs_ring_want_room(struct kverbs_ring *r, bool wanted);
/* End all waits, and let none begin. A signal handler may do so. */
int kverbs_ring_stop_waits(struct kverbs_ring *r);
void kverbs_ring_permit_waits(struct kverbs_ring *r);
/* True from kverbs_ring_stop_waits() until kverbs_ring_permit_waits(). */
bool kverbs_ring_may_not_wait(const struct kverbs_ring *r);
/* The number of the completion that comes next. */
uint32_t kverbs_ring_cq_tail(const struct kverbs_ring *r);

#endif /* KVERBS_RING_H */
