/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A snapshot of kverbs and its devices, given as text. */
#ifndef SNAP_TEXT_H
#define SNAP_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "watch/snap.h"

/* Parse @text as if it had been read at time @at, in seconds; free the result with snap_free(). */
static inline struct snap snap_of(double at, const char *text)
{
	FILE *file = fmemopen((void *)text, strlen(text), "r");
	struct snap snap;

	assert_non_null(file);
	assert_int_equal(snap_read(&snap, file), 0);
	fclose(file);
	snap.at = at;
	snap.devices_at = at;
	return snap;
}

#endif /* SNAP_TEXT_H */
