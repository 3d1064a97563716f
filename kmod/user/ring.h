/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_RING_H
#define KVERBS_RING_H

#include <linux/hrtimer.h>
#include <linux/kverbs.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>

#include "cq.h"
#include "object.h"
#include "shm.h"

struct eventfd_ctx;
struct kverbs_conn_obj;
struct kverbs_list;
struct kverbs_ring_fd;
struct kverbs_slot;

#define KVERBS_MAX_SQ_ENTRIES	16384
#define KVERBS_MAX_CQ_ENTRIES	262144
/* The completions follow the kernel's indices. */
#define KVERBS_RING_CQES_OFFSET	sizeof(struct kverbs_ring_kernel)
/* An mmap offset says which ring of the file, and which part of it. */
#define KVERBS_RING_OFFSET_SHIFT	28
#define KVERBS_RING_PARTS		4
/* Rings that one file may have at a time. */
#define KVERBS_MAX_RINGS	256

/**
 * struct kverbs_ring - a submission and a completion ring
 * @obj: the object
 * @index: which ring of the file, for its mmap offsets
 * @sq: the submission entries, user-written
 * @cq: struct kverbs_ring_kernel and the completions, kernel-written
 * @idx: struct kverbs_ring_user, user-written: not to be trusted
 * @sq_entries: size of the submission ring
 * @cq_entries: size of the completion ring
 * @submit_lock: held while entries are taken
 * @sq_head: entries taken; under @submit_lock
 * @flags: KVERBS_KFLAG_FULL and such, as user space sees them; under @submit_lock
 * @nr_submits: number of the SUBMIT under way, from 1; under @submit_lock
 * @chain: for building work requests; under @submit_lock
 * @conn: the last entry's connection, which the next one's often is too; a reference is
 *	held until kverbs_rings_forget() or the ring is destroyed; under @submit_lock
 * @region: the last entry's region, likewise, written by kverbs_ring_keep_region() only
 * @spare_lists: unused lists of pieces, for the next entries; under @submit_lock
 * @region_posted: entries accepted since @region was set, each with one use of it that is
 *	counted here; under @submit_lock
 * @lock: guards all below; taken by completions: bottom halves off; innermost but
 *	for those of the wait queues and the eventfd
 * @nr_stale: regions that became stale; the shared copy is never read back
 * @cq_tail: completions written; the shared copy is never read back; read without @lock
 * @epoch: how often @region was set; written under @submit_lock and @lock, either is enough
 *	to read it
 * @region_done: how many of @region_posted have completed
 * @reserved: completion slots promised and not written yet
 * @free_slots: unused ones of @slots
 * @done_lists: lists of pieces of entries that have completed, the next @spare_lists
 * @nr_done_lists: number of them, at most KVERBS_SPARE_LISTS
 * @slots: for entries in flight; as many as completions, so one is free if a completion is
 * @wait: woken when a completion is written
 * @eventfd: told whenever completions are written, NULL if there is none
 * @fd: its descriptor, NULL if there is none: poll(2) of the file then reports it
 * @closing: waiters shall come back
 * @users: connections, listeners and tracked regions that are attached
 * @cqs: the connections' completion queues
 */
struct kverbs_ring {
	struct kverbs_object obj;
	u32 index;
	struct kverbs_shm sq;
	struct kverbs_shm cq;
	struct kverbs_shm idx;
	u32 sq_entries;
	u32 cq_entries;
	struct mutex submit_lock;
	u32 sq_head;
	u32 flags;
	u64 nr_submits;
	struct kverbs_chain *chain;
	struct kverbs_object *conn;
	struct kverbs_object *region;
	struct kverbs_list *spare_lists;
	u32 region_posted;
	spinlock_t lock;
	u32 nr_stale;
	u32 cq_tail;
	u64 epoch;
	u32 region_done;
	u32 reserved;
	struct kverbs_slot *free_slots;
	struct kverbs_list *done_lists;
	unsigned int nr_done_lists;
	struct kverbs_slot *slots;
	wait_queue_head_t wait;
	struct eventfd_ctx *eventfd;
	struct kverbs_ring_fd *fd;
	bool closing;
	atomic_t users;
	struct kverbs_cq_set cqs;
};

/**
 * struct kverbs_watch - a byte of the caller's memory
 * @at: where it is
 * @old: what it has been so far
 */
struct kverbs_watch {
	const u8 __user *at;
	u8 old;
};

struct kverbs_ring *kverbs_ring_trylock(struct kverbs_file *file, u32 id);
void kverbs_ring_unlock(struct kverbs_ring *ring);
int kverbs_ring_reserve(struct kverbs_ring *ring, u32 nr);
void kverbs_ring_unreserve(struct kverbs_ring *ring, u32 nr);
void kverbs_ring_event(struct kverbs_ring *ring, const struct kverbs_cqe *cqe);
void kverbs_ring_stale(struct kverbs_ring *ring, const struct kverbs_cqe *cqe);
struct kverbs_cqe *kverbs_ring_next_cqe(struct kverbs_ring *ring, u32 nr);
void kverbs_ring_publish(struct kverbs_ring *ring, u32 nr);
void kverbs_ring_publish_room(struct kverbs_ring *ring);
bool kverbs_ring_has_room(struct kverbs_ring *ring);
u32 kverbs_ring_unread(struct kverbs_ring *ring);
u32 kverbs_ring_unread_locked(struct kverbs_ring *ring);
int kverbs_ring_wait(struct kverbs_ring *ring, u32 nr, u64 deadline_ns);
int kverbs_ring_watch(struct kverbs_ring *ring, u32 nr, u64 deadline_ns,
		      const struct kverbs_watch *watch);
void kverbs_ring_wake(struct kverbs_ring *ring);
__poll_t kverbs_ring_events(struct kverbs_ring *ring);
u64 kverbs_ring_offset(const struct kverbs_ring *ring, unsigned int part);
int kverbs_ring_mmap_at(struct kverbs_ring *ring, u64 offset, struct vm_area_struct *vma);
void kverbs_ring_keep_region(struct kverbs_ring *ring, struct kverbs_object *region);
void kverbs_rings_forget(struct kverbs_object *obj);

static inline struct kverbs_ring *kverbs_ring_get(struct kverbs_file *file, u32 id)
{
	struct kverbs_object *obj = kverbs_object_get(file, id, KVERBS_OBJ_RING);

	return IS_ERR(obj) ? ERR_CAST(obj) : container_of(obj, struct kverbs_ring, obj);
}

#endif /* KVERBS_RING_H */
