/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A transfer cut into entries: at the ends of the token's segments, at the most that one entry
 * may carry, and after the most pieces that its list may have. A plain value: a copy remembers a
 * place in it.
 */
#ifndef KVERBS_SPLIT_H
#define KVERBS_SPLIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kverbs.h>

/*
 * @seg: the segment of the next entry; NULL: there is no remote side
 * @seg_done: bytes of it that are behind
 * @offset: where the next entry's local buffer starts, without @vec
 * @vec: the piece of the local buffer where the next entry starts; NULL: there is no list
 * @vec_done: bytes of it that are behind
 * @left: bytes not cut yet
 * @max: the most for one entry
 * @ended: the last entry has been cut
 */
struct kverbs_split {
	const struct kverbs_segment *seg;
	uint64_t seg_done;
	uint64_t offset;
	const struct kverbs_vec *vec;
	uint64_t vec_done;
	uint64_t left;
	uint64_t max;
	bool ended;
};

/*
 * Begin with @length bytes at @offset locally, @remote_offset in @token, which
 * is NULL if there is no remote side. -ERANGE: they are not in the token.
 */
int kverbs_split_init(struct kverbs_split *s, uint64_t offset, uint64_t length,
		      const struct kverbs_token *token, uint64_t remote_offset);
/*
 * Let the local buffer be the pieces @vec, which are as long together as @s was initialised for.
 * Entries have no offset then.
 */
void kverbs_split_set_list(struct kverbs_split *s, const struct kverbs_vec *vec);
/* Write the pieces of the next entry; returns how many, -EMSGSIZE: there are more than @room. */
int kverbs_split_pieces(const struct kverbs_split *s, struct kverbs_piece *pieces, size_t room);
/* Set the next entry's range in @sqe; false: there is none. */
bool kverbs_split_next(struct kverbs_split *s, struct kverbs_sqe *sqe);
/* How many entries are left, of which there is at least one at first. */
uint64_t kverbs_split_count(const struct kverbs_split *s);

#endif /* KVERBS_SPLIT_H */
