// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "copy/mode.h"

/* Permission bits that @letter stands for, for user, group and others */
static mode_t bits_of(char letter, mode_t mode)
{
	switch (letter) {
	case 'r':
		return 0444;
	case 'w':
		return 0222;
	case 'x':
		return 0111;
	case 'X':
		return S_ISDIR(mode) || mode & 0111 ? 0111 : 0;
	case 's':
		return 06000;
	case 't':
		return 01000;
	case 'u':
		return (mode >> 6 & 7) * 0111;
	case 'g':
		return (mode >> 3 & 7) * 0111;
	case 'o':
		return (mode & 7) * 0111;
	default:
		return 0;
	}
}

/* Bits that a letter of "ugoa" lets change */
static mode_t whose(char letter)
{
	switch (letter) {
	case 'u':
		return 04700;
	case 'g':
		return 02070;
	case 'o':
		return 01007;
	default:
		return 07777;
	}
}

/* Apply one clause, up to a comma or the end; it is valid. */
static mode_t apply(const char *p, size_t len, mode_t mode)
{
	const char *end = p + len;
	mode_t who = 0, bits, octal = 0;
	char op;

	if (*p == 'D' || *p == 'F') {
		if ((*p == 'D') != !!S_ISDIR(mode))
			return mode;
		p++;
	}
	if (*p >= '0' && *p <= '7') {
		for (; p < end; p++)
			octal = octal * 8 + (*p - '0');
		return (mode & S_IFMT) | octal;
	}
	for (; p < end && strchr("ugoa", *p); p++)
		who |= whose(*p);
	if (!who)
		who = 07777;
	while (p < end) {
		op = *p++;
		for (bits = 0; p < end && !strchr("+-=", *p); p++)
			bits |= bits_of(*p, mode);
		bits &= who;
		if (op == '=')
			mode &= ~(who & 0777);
		mode = op == '-' ? mode & ~bits : mode | bits;
	}
	return mode;
}

static bool is_valid(const char *p, size_t len)
{
	const char *end = p + len;

	if (p < end && (*p == 'D' || *p == 'F'))
		p++;
	if (p < end && *p >= '0' && *p <= '7')
		return end - p <= 4 && strspn(p, "01234567") >= (size_t)(end - p);
	while (p < end && strchr("ugoa", *p))
		p++;
	if (p == end || !strchr("+-=", *p))
		return false;
	while (p < end && strchr("+-=rwxXstugo", *p))
		p++;
	return p == end;
}

int mode_check(const char *text)
{
	size_t len;

	for (;; text += len + 1) {
		len = strcspn(text, ",");
		if (!is_valid(text, len))
			return -EINVAL;
		if (!text[len])
			return 0;
	}
}

mode_t mode_change(const char *text, mode_t mode)
{
	size_t len;

	for (; text; text = text[len] ? text + len + 1 : NULL) {
		len = strcspn(text, ",");
		mode = apply(text, len, mode);
	}
	return mode;
}
