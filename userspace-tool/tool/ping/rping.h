/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The protocol of rdma-core's rping: the message that names memory, and the text that is
 * sent and echoed.
 */
#ifndef KVERBS_TOOL_RPING_H
#define KVERBS_TOOL_RPING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "peer/wire.h"

#define RPING_DEFAULT_PORT	"7174"
#define RPING_DEFAULT_SIZE	64
#define RPING_INFO_LEN		16

/* Bounds of --size; a number of 32 bits needs the minimum to fit. */
#define RPING_SIZE_MIN		23
#define RPING_SIZE_MAX		65535

/* A session's parameters: no hello, and room to see that a message is too long. */
#define RPING_MSG_MAX		4096
#define RPING_DEPTH		4

/**
 * struct rping_info - memory that one side lets the other at
 * @addr: remote address
 * @rkey: remote key
 * @size: bytes
 */
struct rping_info {
	uint64_t addr;
	uint32_t rkey;
	uint32_t size;
};

void rping_hello(struct wire_hello *hello);

void rping_info_encode(const struct rping_info *info, uint8_t buf[RPING_INFO_LEN]);
/* -EBADMSG: it is none. */
int rping_info_decode(struct rping_info *info, const void *buf, size_t len);

/* The text of ping number @ping, counted from 0, with its final NUL. */
void rping_text_fill(char *buf, size_t size, uint64_t ping);
bool rping_text_differs(const char *buf, size_t size, uint64_t ping);

#endif /* KVERBS_TOOL_RPING_H */
