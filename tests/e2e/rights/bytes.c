// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Checks of the bytes that the kernel has written. */
#include <ctype.h>
#include <string.h>

#include "bytes.h"

/*
 * x86-64: direct map and vmalloc area, and kernel text and modules; small negative numbers do not
 * match.
 */
#define MAPPINGS_START	0xffff800000000000ULL
#define MAPPINGS_END	0xfffffc0000000000ULL
#define TEXT_START	0xffffffff80000000ULL
#define TEXT_END	0xffffffffff000000ULL

void check_all(const void *at, size_t length, unsigned char want, const char *what)
{
	const unsigned char *bytes = at;
	size_t i;

	for (i = 0; i < length; i++)
		if (bytes[i] != want)
			FAIL("%s: byte %zu is %#x, not %#x", what, i, bytes[i], want);
}

void check_same(const void *got, const void *want, size_t length, const char *what)
{
	const unsigned char *a = got, *b = want;
	size_t i;

	for (i = 0; i < length; i++)
		if (a[i] != b[i])
			FAIL("%s: byte %zu is %#x, not %#x", what, i, a[i], b[i]);
}

/* A name, its NUL, and zeroes to the end of the field. */
void check_text(const char *text, size_t size, const char *what)
{
	size_t length = strnlen(text, size), i;

	if (length == size)
		FAIL("%s: has no end", what);
	for (i = 0; i < length; i++)
		if (!isprint((unsigned char)text[i]))
			FAIL("%s: byte %zu is %#x", what, i, (unsigned char)text[i]);
	check_all(text + length, size - length, 0, what);
}

static bool is_address(uint64_t value)
{
	return (value >= MAPPINGS_START && value < MAPPINGS_END) ||
	       (value >= TEXT_START && value < TEXT_END);
}

/* Check each multiple of four, since fields have four or eight bytes. */
void check_no_address(const void *at, size_t length, const char *what)
{
	const char *bytes = at;
	uint64_t value;
	size_t i;

	for (i = 0; i + sizeof(value) <= length; i += 4) {
		memcpy(&value, bytes + i, sizeof(value));
		if (is_address(value))
			FAIL("%s: at byte %zu is %#llx", what, i, (unsigned long long)value);
	}
}
