/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Waiting for what happens without a completion. kverbs_wake() reaches only threads that follow:
 * one that leads sleeps in the kernel, so it looks from time to time.
 */
#ifndef KVERBS_SLICE_H
#define KVERBS_SLICE_H

#include <stdint.h>

#include "wait.h"

/* When a thread that cannot be woken looks again, at @deadline at the latest, 0: none. */
uint64_t kverbs_slice_end(uint64_t deadline);
/* The same as kverbs_wait_met(), for a condition that another thread may meet by itself. */
int kverbs_wait_sliced(struct kverbs *kv, kverbs_met_fn met, const void *arg, const void *key,
		       uint64_t deadline);

#endif /* KVERBS_SLICE_H */
