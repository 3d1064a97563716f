// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "lib/byteorder.h"
#include "ping/rping.h"

/* The letters that a text runs through, and each text begins one further on. */
#define FIRST 65
#define LAST 122
#define PERIOD (LAST - FIRST + 1)

#define HEAD_ROOM 32

void rping_hello(struct wire_hello *hello)
{
	memset(hello, 0, sizeof(*hello));
	hello->msg_max = RPING_MSG_MAX;
	hello->depth = RPING_DEPTH;
}

void rping_info_encode(const struct rping_info *info, uint8_t buf[RPING_INFO_LEN])
{
	put_be(buf, info->addr, 8);
	put_be(buf + 8, info->rkey, 4);
	put_be(buf + 12, info->size, 4);
}

int rping_info_decode(struct rping_info *info, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	memset(info, 0, sizeof(*info));
	if (len != RPING_INFO_LEN)
		return -EBADMSG;
	info->addr = get_be(p, 8);
	info->rkey = get_be(p + 8, 4);
	info->size = get_be(p + 12, 4);
	if (!info->size || info->addr > UINT64_MAX - (info->size - 1))
		return -EBADMSG;
	return 0;
}

/* rping counts in an int. */
static size_t format_head(char head[HEAD_ROOM], uint64_t ping)
{
	return snprintf(head, HEAD_ROOM, "rdma-ping-%" PRIu64 ": ", ping & INT_MAX);
}

static char text_at(const char *head, size_t head_len, uint64_t ping, size_t i,
		    size_t size)
{
	if (i == size - 1)
		return '\0';
	if (i < head_len)
		return head[i];
	return FIRST + (ping % PERIOD + i - head_len) % PERIOD;
}

void rping_text_fill(char *buf, size_t size, uint64_t ping)
{
	char head[HEAD_ROOM];
	size_t head_len = format_head(head, ping), i;

	for (i = 0; i < size; i++)
		buf[i] = text_at(head, head_len, ping, i, size);
}

bool rping_text_differs(const char *buf, size_t size, uint64_t ping)
{
	char head[HEAD_ROOM];
	size_t head_len = format_head(head, ping), i;

	for (i = 0; i < size; i++)
		if (buf[i] != text_at(head, head_len, ping, i, size))
			return true;
	return false;
}
