// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>

#include "slice.h"

#define SLICE_MS 10

uint64_t kverbs_slice_end(uint64_t deadline)
{
	uint64_t slice = kverbs_deadline(SLICE_MS);

	return deadline && deadline < slice ? deadline : slice;
}

int kverbs_wait_sliced(struct kverbs *kv, kverbs_met_fn met, const void *arg, const void *key,
		       uint64_t deadline)
{
	int ret;

	do {
		ret = kverbs_wait_met(kv, met, arg, key, kverbs_slice_end(deadline));
	} while (ret == -ETIMEDOUT && !kverbs_deadline_passed(deadline));
	return ret;
}
