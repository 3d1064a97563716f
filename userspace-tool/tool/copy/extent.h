/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A piece of a file, registered, for the HCA to read. */
#ifndef KVERBS_TOOL_EXTENT_H
#define KVERBS_TOOL_EXTENT_H

#include "copy/copy.h"

/**
 * struct extent - a piece of a file that is being sent
 * @map: the file's pages, or NULL if they were read into @buf
 * @len: bytes
 * @buf: registered
 * @at: where in @buf they begin
 * @lent: @buf is shared by many
 * @lane: the connection of the WRITE
 * @token: leave for it, while it is not posted yet
 * @req: the WRITE
 */
struct extent {
	void *map;
	size_t len;
	struct kverbs_buf *buf;
	size_t at;
	bool lent;
	struct session *lane;
	const struct kverbs_token *token;
	struct kverbs_req req;
};

int extent_load(struct extent *x, struct kverbs *kv, int fd, uint64_t at, size_t len,
		enum method *method);
/* Read a whole file of @len bytes into @buf, at @at. */
int extent_read(struct extent *x, struct kverbs_buf *buf, size_t at, int fd, size_t len);
/* Read another file of @len bytes, to follow what @x has. */
int extent_append(struct extent *x, int fd, size_t len);
const void *extent_data(const struct extent *x);
void extent_drop(struct extent *x);

#endif /* KVERBS_TOOL_EXTENT_H */
