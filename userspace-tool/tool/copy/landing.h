/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Windows of the sink's own memory, exported once and used again and again. */
#ifndef KVERBS_TOOL_LANDING_H
#define KVERBS_TOOL_LANDING_H

#include "copy/copy.h"

/**
 * struct landing - a few windows of equal size
 * @copy: the copy, whose connections may write there
 * @buf: all of them
 * @first: number of the first
 * @count: how many
 * @size: bytes of each
 * @tokens: leave to write, one for each
 */
struct landing {
	struct copy *copy;
	struct kverbs_buf *buf;
	uint32_t first;
	unsigned int count;
	size_t size;
	struct kverbs_token *tokens;
};

int landing_open(struct landing *l, struct copy *copy, uint32_t first,
		 unsigned int count, size_t size);
int landing_announce(struct landing *l);
void *landing_window(const struct landing *l, uint32_t number);
void landing_close(struct landing *l);
void landing_free(struct landing *l);

int landing_grant(struct session *s, struct wire_msg *msg,
		  const struct kverbs_token *token);

#endif /* KVERBS_TOOL_LANDING_H */
