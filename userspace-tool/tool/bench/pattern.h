/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Payload that tells which operation it belongs to, the same on every host. */
#ifndef KVERBS_TOOL_PATTERN_H
#define KVERBS_TOOL_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void pattern_fill(void *mem, size_t size, uint64_t seq);
bool pattern_differs(const void *mem, size_t size, uint64_t seq);

#endif /* KVERBS_TOOL_PATTERN_H */
