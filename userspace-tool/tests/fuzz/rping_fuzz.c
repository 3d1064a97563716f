// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* rping's messages and texts: both survive a round trip, and a change is detected. */
#include "fuzz.h"
#include "ping/rping.h"

static void fuzz_info(const uint8_t *data, size_t size)
{
	uint8_t back[RPING_INFO_LEN];
	struct rping_info info;

	if (rping_info_decode(&info, data, size))
		return;
	assert(size == RPING_INFO_LEN);
	assert(info.size && info.addr + (info.size - 1) >= info.addr);
	rping_info_encode(&info, back);
	assert(!memcmp(back, data, size));
}

static void fuzz_text_of(uint64_t ping, size_t size, size_t at, char change)
{
	char *text = fuzz_room(size);

	rping_text_fill(text, size, ping);
	assert(!rping_text_differs(text, size, ping));
	assert(!size || !text[size - 1]);
	assert(size < RPING_SIZE_MIN || !strncmp(text, "rdma-ping-", 10));
	if (size && change) {
		text[at % size] ^= change;
		assert(rping_text_differs(text, size, ping));
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	uint64_t ping = fuzz_take(&in, 8);
	/* The text repeats its pattern long before it ends. */
	size_t len = fuzz_take(&in, 2) % 512, at = fuzz_take(&in, 2);

	fuzz_info(data, size);
	fuzz_text_of(ping, len, at, fuzz_take(&in, 1));
	return 0;
}
