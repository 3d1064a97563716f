// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <endian.h>
#include <string.h>

#include "bench/pattern.h"
#include "cli/util.h"

/* The first byte of a word differs from one number to the next for certain. */
static uint64_t word(uint64_t seq, uint64_t i)
{
	uint64_t x = (seq + 1) * 0x9e3779b97f4a7c15 + i * 0xbf58476d1ce4e5b9;

	x ^= x >> 31;
	return htole64((x & ~0xffull) | ((seq % 251 + i) & 0xff));
}

void pattern_fill(void *mem, size_t size, uint64_t seq)
{
	uint8_t *p = mem;
	uint64_t w;
	size_t i;

	for (i = 0; i < size; i += sizeof(w)) {
		w = word(seq, i / sizeof(w));
		memcpy(p + i, &w, min(sizeof(w), size - i));
	}
}

bool pattern_differs(const void *mem, size_t size, uint64_t seq)
{
	const uint8_t *p = mem;
	uint64_t w;
	size_t i;

	for (i = 0; i < size; i += sizeof(w)) {
		w = word(seq, i / sizeof(w));
		if (memcmp(p + i, &w, min(sizeof(w), size - i)))
			return true;
	}
	return false;
}
