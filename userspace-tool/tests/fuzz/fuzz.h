/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Helpers of the fuzz targets. A violated rule is an assert() that fails. */
#ifndef FUZZ_H
#define FUZZ_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

/**
 * struct fuzz_input - an input that is consumed piece by piece
 * @p: first byte that is not consumed
 * @left: number of bytes from @p on
 */
struct fuzz_input {
	const uint8_t *p;
	size_t left;
};

/* Consume a number of this many bytes; beyond the end the input continues with zeros. */
static inline uint64_t fuzz_take(struct fuzz_input *in, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--) {
		v <<= 8;
		if (!in->left)
			continue;
		v |= *in->p++;
		in->left--;
	}
	return v;
}

/* Consume at most @len bytes and set @to to them; returns their number. */
static inline size_t fuzz_bytes(struct fuzz_input *in, size_t len, const void **bytes)
{
	if (len > in->left)
		len = in->left;
	*bytes = in->p;
	in->p += len;
	in->left -= len;
	return len;
}

/* Allocate exactly @len bytes, so that the sanitizer detects an access beyond. */
static inline void *fuzz_room(size_t len)
{
	void *p = malloc(len ? len : 1);

	assert(p);
	return p;
}

static inline char *fuzz_text(const void *bytes, size_t len)
{
	char *text = fuzz_room(len + 1);

	if (len)
		memcpy(text, bytes, len);
	text[len] = '\0';
	return text;
}

#endif /* FUZZ_H */
