// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Tokens on the wire, see Documentation/reference/protocol.rst.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <kverbs.h>

#include "byteorder.h"

/* "kvt" and the version of the form */
#define TOKEN_MAGIC 0x6b767401u
#define TOKEN_HEAD_SIZE 24u
#define TOKEN_SEG_SIZE 20u
#define TOKEN_MAX_SEGS 1048576u
#define TOKEN_ACCESS (KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE | KVERBS_REMOTE_ATOMIC)

size_t kverbs_token_packed_size(const struct kverbs_token *token)
{
	return TOKEN_HEAD_SIZE + (size_t)token->nr_segs * TOKEN_SEG_SIZE;
}

static void pack_head(const struct kverbs_token *token, uint8_t *p)
{
	put_be(p, TOKEN_MAGIC, 4);
	put_be(p + 4, token->access, 4);
	put_be(p + 8, token->length, 8);
	put_be(p + 16, token->nr_segs, 4);
	put_be(p + 20, 0, 4);
}

static void pack_seg(const struct kverbs_segment *seg, uint8_t *p)
{
	put_be(p, seg->addr, 8);
	put_be(p + 8, seg->length, 8);
	put_be(p + 16, seg->rkey, 4);
}

int kverbs_token_pack(const struct kverbs_token *token, void *buf, size_t len)
{
	size_t size = kverbs_token_packed_size(token);
	uint8_t *p = buf;
	uint32_t i;

	if (token->nr_segs > TOKEN_MAX_SEGS || size > len)
		return -EMSGSIZE;
	pack_head(token, p);
	p += TOKEN_HEAD_SIZE;
	for (i = 0; i < token->nr_segs; i++, p += TOKEN_SEG_SIZE)
		pack_seg(&token->segs[i], p);
	return (int)size;
}

static bool head_ok(const uint8_t *p)
{
	uint32_t access = get_be(p + 4, 4), nr_segs = get_be(p + 16, 4);

	return get_be(p, 4) == TOKEN_MAGIC && access && !(access & ~TOKEN_ACCESS) &&
	       nr_segs && nr_segs <= TOKEN_MAX_SEGS && !get_be(p + 20, 4);
}

static bool seg_ok(const struct kverbs_segment *seg, uint64_t left)
{
	return seg->length && seg->length <= left &&
	       seg->addr <= UINT64_MAX - (seg->length - 1);
}

/* Segments that together are as long as the token says, to the byte. */
static int unpack_segs(const struct kverbs_token *token, const uint8_t *p)
{
	uint64_t left = token->length;
	uint32_t i;

	for (i = 0; i < token->nr_segs; i++, p += TOKEN_SEG_SIZE) {
		struct kverbs_segment *seg = &token->segs[i];

		seg->addr = get_be(p, 8);
		seg->length = get_be(p + 8, 8);
		seg->rkey = get_be(p + 16, 4);
		if (!seg_ok(seg, left))
			return -EBADMSG;
		left -= seg->length;
	}
	return left ? -EBADMSG : 0;
}

int kverbs_token_unpack(struct kverbs_token *token, const void *buf, size_t len)
{
	const uint8_t *p = buf;
	int ret;

	memset(token, 0, sizeof(*token));
	if (len < TOKEN_HEAD_SIZE || !head_ok(p))
		return -EBADMSG;
	token->access = get_be(p + 4, 4);
	token->length = get_be(p + 8, 8);
	token->nr_segs = get_be(p + 16, 4);
	/* No more memory than the peer has sent bytes for. */
	if (kverbs_token_packed_size(token) > len) {
		ret = -EBADMSG;
		goto out_clear_token;
	}
	token->segs = calloc(token->nr_segs, sizeof(*token->segs));
	ret = token->segs ? unpack_segs(token, p + TOKEN_HEAD_SIZE) : -ENOMEM;
	if (ret)
		goto out_clear_token;
	return (int)kverbs_token_packed_size(token);

out_clear_token:
	kverbs_token_free(token);
	return ret;
}

void kverbs_token_free(struct kverbs_token *token)
{
	free(token->segs);
	memset(token, 0, sizeof(*token));
}
