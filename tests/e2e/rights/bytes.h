/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Checks of the bytes that the kernel has written. */
#ifndef RIGHTS_BYTES_H
#define RIGHTS_BYTES_H

#include "harness.h"

/* Differs from the buffers' poison, and occurs neither in addresses nor in errnos */
#define STALE		0x5a

void check_all(const void *at, size_t length, unsigned char want, const char *what);
void check_same(const void *got, const void *want, size_t length, const char *what);
void check_text(const char *text, size_t size, const char *what);
void check_no_address(const void *at, size_t length, const char *what);

#endif /* RIGHTS_BYTES_H */
