// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Tokens: an accepted token is consistent and packs to the same bytes. */
#include <errno.h>

#include <kverbs.h>

#include "fuzz.h"

static void check_segs(const struct kverbs_token *token)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 0; i < token->nr_segs; i++) {
		const struct kverbs_segment *seg = &token->segs[i];

		assert(seg->length && seg->addr + (seg->length - 1) >= seg->addr);
		assert(!__builtin_add_overflow(sum, seg->length, &sum));
	}
	assert(sum == token->length);
}

static void check_same(const struct kverbs_token *a, const struct kverbs_token *b)
{
	uint32_t i;

	assert(a->length == b->length && a->access == b->access && a->nr_segs == b->nr_segs);
	for (i = 0; i < a->nr_segs; i++) {
		assert(a->segs[i].addr == b->segs[i].addr);
		assert(a->segs[i].length == b->segs[i].length);
		assert(a->segs[i].rkey == b->segs[i].rkey);
	}
}

static void check_packed(const struct kverbs_token *token, const uint8_t *data, int len)
{
	uint8_t *packed = fuzz_room(len);
	struct kverbs_token back;

	assert(kverbs_token_pack(token, packed, len - 1) == -EMSGSIZE);
	assert(kverbs_token_pack(token, packed, len) == len);
	assert(!memcmp(packed, data, len));
	assert(kverbs_token_unpack(&back, packed, len) == len);
	check_same(token, &back);
	kverbs_token_free(&back);
	assert(kverbs_token_unpack(&back, packed, len - 1) == -EBADMSG);
	assert(!back.segs);
	free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kverbs_token token;
	int len;

	len = kverbs_token_unpack(&token, data, size);
	if (len < 0) {
		assert(len == -EBADMSG && !token.segs);
		return 0;
	}
	assert((size_t)len <= size && (size_t)len == kverbs_token_packed_size(&token));
	assert(token.access && token.nr_segs);
	check_segs(&token);
	check_packed(&token, data, len);
	kverbs_token_free(&token);
	return 0;
}
