// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/sink.h"

int sink_open(struct sink *sink, struct copy *copy)
{
	memset(sink, 0, sizeof(*sink));
	sink->copy = copy;
	sink->s = copy->session;
	sink->base = -1;
	sink->parent = -1;
	sink->file.part.fd = -1;
	return landing_open(&sink->eager, sink->s, 0, COPY_EAGER_WINDOWS,
			    COPY_EAGER_SIZE);
}

/* Tell the source what there is to write into. */
int sink_greet(struct sink *sink)
{
	struct wire_msg msg = {
		.type = WIRE_SINK,
		.window = COPY_EAGER_WINDOWS,
		.size = COPY_EAGER_SIZE,
	};
	int ret;

	ret = session_send(sink->s, &msg);
	return ret ? ret : landing_announce(&sink->eager);
}

/* ---- directories ------------------------------------------------------- */

static int make_dir(struct sink *sink, const struct path *path)
{
	int parent;

	if (sink->files_only)
		return -EISDIR;
	if (path_is_top(path))
		return 0;
	parent = sink_parent(sink, path);
	if (parent < 0)
		return parent;
	/* Ours to write into for now; its own mode comes when it is full. */
	if (!mkdirat(parent, path->name, 0700))
		return 0;
	if (errno != EEXIST)
		return -errno;
	parent = path_open(sink->base, path->text, O_PATH | O_DIRECTORY);
	if (parent < 0)
		return parent;
	close(parent);
	return 0;
}

static int end_dir(struct sink *sink, const struct path *path, const struct wire_msg *msg)
{
	struct part_meta meta;
	int fd, ret = 0;

	/* What was there before under a name of its own keeps its ways. */
	if (path_is_top(path))
		return 0;
	fd = path_open(sink->base, path->text, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	sink_meta(sink, msg, &meta);
	if (fchmod(fd, meta.mode) || futimens(fd, meta.times) ||
	    (meta.sync && fsync(fd)))
		ret = -errno;
	close(fd);
	return ret;
}

static int on_dir(struct sink *sink, const struct wire_msg *msg)
{
	struct path path = { .text = "" };
	int ret;

	ret = sink_place(sink, msg, &path);
	if (!ret && msg->type == WIRE_DIR)
		ret = make_dir(sink, &path);
	else if (!ret)
		ret = end_dir(sink, &path, msg);
	if (ret)
		copy_failed(sink->copy, ERR_LOCAL, ret, path.text);
	else
		sink->copy->dirs += msg->type == WIRE_DIR_END;
	return sink_done(sink, msg->id, WIRE_NO_WINDOW, ret, METHOD_NONE, 0);
}

/* ---- messages ---------------------------------------------------------- */

static int on_note(struct sink *sink, const struct wire_msg *msg)
{
	int err = wire_errno(msg->status);
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%.*s", (int)msg->tail_len,
		 (const char *)msg->tail);
	copy_skipped(sink->copy, ERR_REMOTE, err, path);
	return sink_done(sink, msg->id, WIRE_NO_WINDOW, 0, METHOD_NONE, 0);
}

static int on_finish(struct sink *sink, const struct wire_msg *msg)
{
	sink->finish = wire_errno(msg->status);
	sink->finished = true;
	return 0;
}

int sink_message(struct sink *sink, const struct wire_msg *msg)
{
	switch (msg->type) {
	case WIRE_TOTAL:
		sink->copy->progress.total += msg->size;
		return 0;
	case WIRE_DIR:
	case WIRE_DIR_END:
		return on_dir(sink, msg);
	case WIRE_FILE:
		if (msg->flags & WIRE_F_EAGER)
			return sink_eager(sink, msg);
		return sink_file_begin(sink, msg);
	case WIRE_START:
		return sink_file_start(sink, msg);
	case WIRE_DATA:
		return sink_file_data(sink, msg);
	case WIRE_END:
	case WIRE_ABORT:
		return sink_file_end(sink, msg);
	case WIRE_NOTE:
		return on_note(sink, msg);
	case WIRE_FINISH:
		return on_finish(sink, msg);
	case WIRE_ALIVE:
		return 0;
	default:
		return -EPROTO;
	}
}

void sink_close(struct sink *sink)
{
	sink_file_close(sink);
	landing_close(&sink->eager);
	landing_close(&sink->stream);
	if (sink->parent >= 0)
		close(sink->parent);
	if (sink->base >= 0)
		close(sink->base);
}

void sink_free(struct sink *sink)
{
	landing_free(&sink->eager);
	landing_free(&sink->stream);
	free(sink->rename);
}
