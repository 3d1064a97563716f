/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the fuzz targets share. A broken rule is an assert() that fails. */
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
 * struct fuzz_input - an input that is taken piece by piece
 * @p: what has not been taken
 * @left: bytes of that
 */
struct fuzz_input {
	const uint8_t *p;
	size_t left;
};

/* A number of so many bytes; behind the end there are zeros. */
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

/* At most @len bytes where they lie; how many it were. */
static inline size_t fuzz_bytes(struct fuzz_input *in, size_t len, const void **bytes)
{
	if (len > in->left)
		len = in->left;
	*bytes = in->p;
	in->p += len;
	in->left -= len;
	return len;
}

/* As long as it is, so that the sanitizer sees a step beyond. */
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
