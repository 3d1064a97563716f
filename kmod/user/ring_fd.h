/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_RING_FD_H
#define KVERBS_RING_FD_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/wait.h>

struct kverbs_ring;
struct kverbs_ucmd;

/**
 * struct kverbs_ring_fd - a descriptor of a ring
 * @ref: one of the ring, and one of the descriptor
 * @lock: guards @ring; comes after mmap_lock, and before the ring's lock
 * @ring: the ring, NULL once it is destroyed
 * @wait: woken when a completion is written
 *
 * Tasks may wait here for a ring that is gone, so that neither end frees this alone.
 */
struct kverbs_ring_fd {
	struct kref ref;
	struct mutex lock;
	struct kverbs_ring *ring;
	wait_queue_head_t wait;
};

int kverbs_ring_fd_create(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring);
void kverbs_ring_fd_detach(struct kverbs_ring *ring);

#endif /* KVERBS_RING_FD_H */
