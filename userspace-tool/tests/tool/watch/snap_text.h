/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A look at kverbs and its devices that a test writes down. */
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

/* As if @text had been read at @at, in seconds; to be freed by snap_free(). */
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
