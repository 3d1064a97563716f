/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The context, as the library sees it.
 */
#ifndef KVERBS_INTERNAL_H
#define KVERBS_INTERNAL_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <kverbs.h>

#include "fifo.h"
#include "list.h"
#include "ring.h"
#include "table.h"

#define KVERBS_DEFAULT_TIMEOUT_MS 10000
/* Lists of waiters: a completion looks at those of one list only. A power of two */
#define KVERBS_KEYED 64u

/*
 * Requests whose callback is due, oldest first, and the one thread that runs
 * callbacks: they run one at a time and in the order of completion. A runner whose own wait
 * is over offers the rest to the next thread that waits for completions.
 */
struct kverbs_done {
	struct kverbs_fifo due;
	bool busy;
	bool offered;
	pthread_t runner;		/* while busy */
	struct kverbs_req *running;
	struct kverbs_conn *running_conn;
};

/*
 * Slots for the data of kverbs_send_copy().
 * @buf: the slots, allocated when they are first used; atomic, set under the lock
 * @free: bits of those that no request has
 */
struct kverbs_copies {
	struct kverbs_buf *buf;
	uint64_t free;
};

/*
 * The ring that tells which regions became stale. Nothing else completes there, so that it can
 * be read without a callback becoming due. Opened for the first tracked buffer.
 */
struct kverbs_stale {
	struct kverbs_ring ring;
	bool open;
	uint32_t seen;			/* completions read, atomic, written under the lock */
};

/*
 * A context, or one of its workers, which has a ring and all that completes there of its own.
 * Buffers and groups are the context's.
 *
 * @root: the context of a worker, else this
 * @lock: all that follows it, all connections, listeners and requests. It is
 *	never held over a callback or a sleep, but over CONNECT, LISTEN, and ACCEPT on a worker:
 *	their objects must be in the table before their first event is read.
 * @workers: of the context
 * @worker: in the list of the context
 *
 * @lock and @ring's sq_lock are never held together. Two @locks are taken in the order of their
 * addresses.
 */
struct kverbs {
	struct kverbs *root;
	int fd;
	const uint8_t *owned;		/* 1, but 0 in a child of fork() */
	struct kverbs_ring ring;

	pthread_mutex_t lock;
	struct kverbs_table table;
	struct list_head conns;
	struct list_head listeners;
	struct list_head bufs;
	struct kverbs_stale stale;
	struct kverbs_copies copies;
	struct list_head groups;
	struct list_head pools;
	struct list_head workers;
	struct list_head worker;
	struct list_head waiters;	/* oldest first */
	struct list_head keyed[KVERBS_KEYED];	/* the same by hash of their keys */
	struct list_head anys;		/* threads in kverbs_wait_any() */
	struct kverbs_done done;
	struct kverbs_fifo queue;	/* complete, for kverbs_poll() */
	uint64_t next_key;		/* of listeners */
	bool led;			/* a thread sleeps in the kernel */
	unsigned int room_wanted;	/* threads that wait for completion slots */
	uint32_t rooms;			/* waits that may have ended for a free slot, atomic */
	uint32_t reaped;		/* completions read so far, atomic */
};

/* Copy options of any version of the struct; NULL is all default. */
int kverbs_opts_copy(void *dst, size_t size, const void *src);
/* Copy an answer into a caller's uAPI struct, which may be older or newer than ours. */
void kverbs_answer(void *dst, size_t size, const void *src, size_t known);

/*
 * A child of fork() has the file, whose objects are the parent's, but not the ring, and locks
 * and lists as other threads had them at that moment: it must touch none of these.
 */
static inline bool kverbs_is_child(const struct kverbs *kv)
{
	return !__atomic_load_n(kv->owned, __ATOMIC_RELAXED);
}

/* Commands of the context's file; -ECHILD in a child of fork(). */
int kverbs_ioctl(struct kverbs *kv, unsigned long cmd, void *arg);
/* KVERBS_DESTROY, restarted after a signal. */
int kverbs_destroy(struct kverbs *kv, uint32_t id);

static inline uint32_t kverbs_reaped(const struct kverbs *kv)
{
	return __atomic_load_n(&kv->reaped, __ATOMIC_ACQUIRE);
}

static inline uint32_t kverbs_rooms(const struct kverbs *kv)
{
	return __atomic_load_n(&kv->rooms, __ATOMIC_ACQUIRE);
}

#endif /* KVERBS_INTERNAL_H */
