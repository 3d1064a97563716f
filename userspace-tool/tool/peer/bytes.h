/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Numbers of so many bytes in network order, at any address. */
#ifndef KVERBS_TOOL_BYTES_H
#define KVERBS_TOOL_BYTES_H

#include <stdint.h>

static inline void bytes_put(uint8_t *p, uint64_t v, unsigned int bytes)
{
	while (bytes--) {
		p[bytes] = v;
		v >>= 8;
	}
}

static inline uint64_t bytes_get(const uint8_t *p, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

#endif /* KVERBS_TOOL_BYTES_H */
