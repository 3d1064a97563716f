// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>

#include "buf.h"
#include "split.h"

/* Whether the segments from @seg on reach so far: a token may be made by hand. */
static bool reaches(const struct kverbs_split *s, const struct kverbs_segment *end)
{
	const struct kverbs_segment *seg;
	uint64_t room = s->seg->length - s->seg_done;

	for (seg = s->seg + 1; room < s->left; seg++) {
		if (seg == end)
			return false;
		room += seg->length;
	}
	return true;
}

static int find_segment(struct kverbs_split *s, const struct kverbs_token *token,
			uint64_t remote_offset)
{
	const struct kverbs_segment *end = token->segs + token->nr_segs;

	if (!token->nr_segs)
		return -ERANGE;
	/* The very end of the last segment is a place, for nothing to go to. */
	for (s->seg = token->segs; s->seg != end - 1; s->seg++) {
		if (remote_offset < s->seg->length)
			break;
		remote_offset -= s->seg->length;
	}
	if (remote_offset > s->seg->length)
		return -ERANGE;
	s->seg_done = remote_offset;
	return reaches(s, end) ? 0 : -ERANGE;
}

int kverbs_split_init(struct kverbs_split *s, uint64_t offset, uint64_t length,
		      const struct kverbs_token *token, uint64_t remote_offset)
{
	memset(s, 0, sizeof(*s));
	s->offset = offset;
	s->left = length;
	s->max = UINT64_MAX;
	if (!token)
		return 0;
	if (remote_offset > token->length || length > token->length - remote_offset)
		return -ERANGE;
	return find_segment(s, token, remote_offset);
}

void kverbs_split_set_list(struct kverbs_split *s, const struct kverbs_vec *vec)
{
	s->vec = vec;
	s->offset = 0;
}

/* Bytes of the pieces that the list of one entry can have. */
static uint64_t list_length(const struct kverbs_split *s)
{
	uint64_t n = s->vec->length - s->vec_done;
	unsigned int i;

	for (i = 1; i < KVERBS_LIST_MAX && n < s->left; i++)
		n += s->vec[i].length;
	return n;
}

static uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_length(const struct kverbs_split *s)
{
	uint64_t n = min_u64(s->left, s->max);

	if (s->seg)
		n = min_u64(n, s->seg->length - s->seg_done);
	return s->vec && n ? min_u64(n, list_length(s)) : n;
}

int kverbs_split_pieces(const struct kverbs_split *s, struct kverbs_piece *pieces, size_t room)
{
	uint64_t left = next_length(s), done = s->vec_done, part;
	const struct kverbs_vec *vec = s->vec;
	size_t n;

	for (n = 0; left && n < room; n++, vec++) {
		part = min_u64(left, vec->length - done);
		pieces[n] = (struct kverbs_piece) {
			.offset = vec->offset + done,
			.length = part,
			.region_id = vec->buf->id,
		};
		left -= part;
		done = 0;
	}
	return left ? -EMSGSIZE : (int)n;
}

/* Behind the last piece there is nothing to look at. */
static void advance_list(struct kverbs_split *s, uint64_t n)
{
	uint64_t part;

	while (n) {
		part = min_u64(n, s->vec->length - s->vec_done);
		n -= part;
		s->vec_done += part;
		if (s->vec_done == s->vec->length) {
			s->vec++;
			s->vec_done = 0;
		}
	}
}

static void advance(struct kverbs_split *s, uint64_t n)
{
	if (s->vec)
		advance_list(s, n);
	else
		s->offset += n;
	s->left -= n;
	s->seg_done += n;
	s->ended = !s->left;
	if (s->seg && !s->ended && s->seg_done == s->seg->length) {
		s->seg++;
		s->seg_done = 0;
	}
}

bool kverbs_split_next(struct kverbs_split *s, struct kverbs_sqe *sqe)
{
	uint64_t n = next_length(s);

	if (s->ended)
		return false;
	if (s->seg) {
		sqe->remote_addr = s->seg->addr + s->seg_done;
		sqe->rkey = s->seg->rkey;
	}
	sqe->offset = n ? s->offset : 0;
	sqe->length = n;
	advance(s, n);
	return true;
}

uint64_t kverbs_split_count(const struct kverbs_split *s)
{
	struct kverbs_split copy = *s;
	struct kverbs_sqe sqe;
	uint64_t n = 0;

	while (kverbs_split_next(&copy, &sqe))
		n++;
	return n;
}
