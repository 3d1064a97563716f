// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The source's pieces of files on their way: in order, a bounded number.
 */
#include <errno.h>

#include "copy/source.h"

static struct extent *oldest(struct source *src)
{
	return &src->ext[src->ext_head % SOURCE_EXTENTS];
}

static int reap_one(struct source *src)
{
	struct extent *x = oldest(src);
	size_t len = x->len;
	int ret;

	ret = session_wait(src->s, &x->req, src->s->timeout_ms);
	if (ret)
		return ret;
	extent_drop(x);
	src->ext_head++;
	progress_add(&src->copy->progress, len);
	return 0;
}

/* Let go of what has arrived; @wait: and of one more, if there is any. */
int source_reap(struct source *src, bool wait)
{
	int ret = 0;

	while (!ret && src->ext_head != src->ext_tail &&
	       (wait || kverbs_complete(&oldest(src)->req))) {
		ret = reap_one(src);
		wait = false;
	}
	return ret;
}

/*
 * Have a piece of a file at hand. A limit on locked memory only means that less
 * is on its way at a time. @file_err: the piece cannot be had.
 */
int source_load(struct source *src, int fd, uint64_t at, size_t len,
		enum method *method, struct extent **px, int *file_err)
{
	struct extent *x = &src->ext[src->ext_tail % SOURCE_EXTENTS];
	bool full = src->ext_tail - src->ext_head == SOURCE_EXTENTS;
	int ret;

	*px = x;
	ret = source_reap(src, full);
	while (!ret) {
		*file_err = extent_load(x, src->s->kv, fd, at, len, method);
		if (*file_err != -ENOMEM && *file_err != -EPERM)
			break;
		*file_err = -ENOMEM;
		if (src->ext_head == src->ext_tail)
			break;
		ret = source_reap(src, true);
	}
	return ret;
}

/* Send a piece on its way. It must have been the last one loaded. */
int source_write(struct source *src, struct extent *x, const struct kverbs_token *token)
{
	int ret;

	ret = kverbs_write(src->s->conn, x->buf, 0, x->len, token, 0, &x->req);
	if (ret) {
		extent_drop(x);
		if (ret == -ERANGE || ret == -EACCES)
			return -EPROTO;
		return ret == -ENOTCONN ? -ECONNRESET : ret;
	}
	x->busy = true;
	src->ext_tail++;
	return 0;
}
