/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What the kernel may and may not have written somewhere. */
#ifndef RIGHTS_BYTES_H
#define RIGHTS_BYTES_H

#include "harness.h"

/* Not what buffers are poisoned with, and no part of an address or of an errno. */
#define STALE		0x5a

void check_all(const void *at, size_t length, unsigned char want, const char *what);
void check_same(const void *got, const void *want, size_t length, const char *what);
void check_text(const char *text, size_t size, const char *what);
void check_no_address(const void *at, size_t length, const char *what);

#endif /* RIGHTS_BYTES_H */
