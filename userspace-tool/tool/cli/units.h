/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bytes, rates and times as people read them. MB is 10^6 bytes. */
#ifndef KVERBS_TOOL_UNITS_H
#define KVERBS_TOOL_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_LEN 32

const char *units_bytes(uint64_t bytes, char *buf, size_t room);
const char *units_time(double seconds, char *buf, size_t room);
/* Seconds of CLOCK_MONOTONIC. */
double units_now(void);
void units_sleep_until(double at);

#endif /* KVERBS_TOOL_UNITS_H */
