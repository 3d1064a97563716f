// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pages of the file itself, lent to the source: what lands is in the file.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "cli/util.h"
#include "copy/sink.h"

static struct sink_window *slot(struct sink_file *f, unsigned int i)
{
	return &f->windows[i % COPY_STREAM_WINDOWS];
}

/* The pages must be there: a hole would be found by a page fault that cannot fail. */
static int map_window(struct sink *sink, struct sink_window *w, int fd)
{
	int ret;

	if (fallocate(fd, 0, w->at, w->len))
		return -errno;
	w->map = mmap(NULL, w->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, w->at);
	if (w->map == MAP_FAILED)
		return -errno;
	ret = kverbs_buf_register(sink->s->kv, w->map, w->len, 0, &w->buf);
	if (ret)
		goto out_unmap;
	ret = kverbs_export(sink->s->conn, w->buf, 0, w->len, KVERBS_REMOTE_WRITE,
			    &w->token);
	if (ret)
		goto out_unregister;
	return 0;

out_unregister:
	kverbs_buf_free(w->buf);
out_unmap:
	munmap(w->map, w->len);
	return ret;
}

static void unmap_window(struct sink_window *w)
{
	kverbs_buf_free(w->buf);
	munmap(w->map, w->len);
	memset(w, 0, sizeof(*w));
}

static int grant_one(struct sink *sink)
{
	struct sink_file *f = &sink->file;
	struct sink_window *w = slot(f, f->tail);
	struct wire_msg msg = { .id = f->id };
	int ret;

	w->at = f->granted;
	w->len = min((uint64_t)COPY_CHUNK, f->size - f->granted);
	ret = map_window(sink, w, f->part.fd);
	if (ret)
		return ret;
	msg.window = f->tail % COPY_STREAM_WINDOWS;
	msg.offset = w->at;
	msg.size = w->len;
	f->tail++;
	f->granted += w->len;
	return landing_grant(sink->s, &msg, &w->token);
}

/* A limit on locked memory only means that less is lent at a time. */
static bool is_later(const struct sink_file *f, int err)
{
	return (err == -ENOMEM || err == -EPERM) && f->head != f->tail;
}

/* Lend as much as may be lent. What goes wrong is the file's. */
int sink_window_grant(struct sink *sink)
{
	struct sink_file *f = &sink->file;
	int ret = 0;

	while (!ret && f->granted < f->size && f->tail - f->head < COPY_STREAM_WINDOWS)
		ret = grant_one(sink);
	if (is_later(f, ret))
		return 0;
	return ret == -EPERM ? -ENOMEM : ret;
}

static int check(struct sink_file *f, const struct wire_msg *msg)
{
	struct sink_window *w = slot(f, f->head);

	if (f->head == f->tail || msg->window != f->head % COPY_STREAM_WINDOWS ||
	    msg->offset != w->at || msg->size != w->len)
		return -EPROTO;
	return 0;
}

/* The source has filled the oldest one. -EBADMSG: it does not hold what it should. */
int sink_window_take(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	struct sink_window *w = slot(f, f->head);
	uint64_t piece;
	int ret;

	ret = check(f, msg);
	if (ret)
		return ret;
	/* First the leave to write, then the look: it cannot change in between. */
	ret = kverbs_unexport(sink->s->conn, &w->token);
	if (!ret)
		ret = hash_add(&f->hash, w->map, w->len, &piece);
	if (!ret && piece != msg->digest)
		ret = -EBADMSG;
	unmap_window(w);
	f->head++;
	return ret;
}

/* While the connection is there. */
void sink_window_release(struct sink *sink)
{
	struct sink_file *f = &sink->file;
	struct sink_window *w;

	for (; f->head != f->tail; f->head++) {
		w = slot(f, f->head);
		kverbs_unexport(sink->s->conn, &w->token);
		unmap_window(w);
	}
}
