/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A kverbs_file without a struct file. */
#ifndef KVERBS_FAKE_FILE_H
#define KVERBS_FAKE_FILE_H

#include <kunit/test.h>

#include "file.h"
#include "ring.h"
#include "ring_cmd.h"

struct kverbs_file *fake_file_create(struct kunit *test);
struct kverbs_ring *fake_ring_create(struct kunit *test, struct kverbs_file *file,
				     u32 sq_entries, u32 cq_entries);
int fake_ring_try_create(struct kverbs_file *file, struct kverbs_cmd_ring_create *cmd,
			 struct kverbs_ring **ring);
struct kverbs_ring_user *fake_ring_user(struct kverbs_ring *ring);
struct kverbs_ring_kernel *fake_ring_kernel(struct kverbs_ring *ring);
struct kverbs_cqe *fake_ring_cqe(struct kverbs_ring *ring, u32 n);
int fake_ring_event(struct kverbs_ring *ring, u64 user_data);

#endif /* KVERBS_FAKE_FILE_H */
