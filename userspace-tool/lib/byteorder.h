/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Numbers of @bytes bytes in network order, at any address.
 */
#ifndef KVERBS_BYTEORDER_H
#define KVERBS_BYTEORDER_H

#include <stdint.h>

static inline void put_be(uint8_t *p, uint64_t v, unsigned int bytes)
{
	while (bytes--) {
		p[bytes] = (uint8_t)v;
		v >>= 8;
	}
}

static inline uint64_t get_be(const uint8_t *p, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | *p++;
	return v;
}

#endif /* KVERBS_BYTEORDER_H */
