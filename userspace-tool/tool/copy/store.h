/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Getting what has landed in a buffer into a file. */
#ifndef KVERBS_TOOL_STORE_H
#define KVERBS_TOOL_STORE_H

#include "copy/copy.h"

enum method store_method(int fd, uint64_t size);
int store_reserve(int fd, uint64_t size);
int store_write(int fd, enum method *method, const void *data, size_t len, uint64_t at);

#endif /* KVERBS_TOOL_STORE_H */
