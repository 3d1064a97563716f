/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Reading files, and writing what has landed in a buffer, past the page cache or not. */
#ifndef KVERBS_TOOL_STORE_H
#define KVERBS_TOOL_STORE_H

#include <stdbool.h>

#include "copy/copy.h"

/* O_DIRECT wants addresses, lengths and offsets to be multiples of it. */
#define STORE_DIRECT_ALIGN 4096

int store_set_direct(int fd, bool on);
/*
 * Read @len bytes at @at; O_DIRECT needs @room, a multiple of the alignment, for the
 * last one. -ESTALE: the file is shorter.
 */
int store_read(int fd, char *p, size_t room, size_t len, uint64_t at);

enum method store_method(int fd, uint64_t size);
int store_reserve(int fd, uint64_t size);
/* Write what is not zero; a file that is longer has holes between. */
int store_write_sparse(int fd, enum method *method, const void *data, size_t len, uint64_t at);
/* Give back the space of zeros that are in the file. */
void store_punch(int fd, const void *data, size_t len, uint64_t at);
int store_write(int fd, enum method *method, const void *data, size_t len, uint64_t at);

#endif /* KVERBS_TOOL_STORE_H */
