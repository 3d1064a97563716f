// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/sink.h"
#include "copy/store.h"

int sink_landed(struct sink *sink, const struct landing *l, uint32_t window, size_t len,
		const void **data)
{
	*data = landing_window(l, window);
	if (!session_mac_key(sink->s))
		return 0;
	if (!sink->own)
		sink->own = aligned_alloc(STORE_DIRECT_ALIGN, COPY_CHUNK);
	if (!sink->own)
		return -ENOMEM;
	memcpy(sink->own, *data, len);
	*data = sink->own;
	return 0;
}

static int write_all(struct sink *sink, const struct wire_msg *msg, int fd)
{
	enum method method = METHOD_BUFFERED;
	uint64_t piece, value = 0;
	struct hash hash;
	const void *data;
	int ret;

	ret = hash_begin(&hash, session_mac_key(sink->s), msg);
	if (ret)
		return ret;
	if (msg->size) {
		ret = sink_landed(sink, &sink->eager, msg->window, msg->size, &data);
		if (!ret)
			ret = hash_add(&hash, data, msg->size, &piece);
		if (!ret)
			ret = store_write(fd, &method, data, msg->size, 0);
		if (ret)
			return ret;
	}
	ret = hash_value(&hash, &value);
	if (ret)
		return ret;
	return value == msg->digest ? 0 : -EBADMSG;
}

static int store(struct sink *sink, const struct wire_msg *msg, struct path *path)
{
	struct part_meta meta;
	struct part part;
	int ret;

	ret = sink_place(sink, msg, path);
	if (ret)
		return ret;
	if (path_is_top(path))
		return -EISDIR;
	ret = sink_parent(sink, path);
	if (ret < 0)
		return ret;
	ret = part_open(&part, ret, path->name);
	if (ret)
		return ret;
	ret = part_truncate(&part);
	if (!ret)
		ret = sink_room(sink, part.fd, msg->size);
	if (!ret)
		ret = write_all(sink, msg, part.fd);
	if (ret) {
		part_drop(&part);
		return ret;
	}
	sink_meta(sink, msg, &meta);
	return part_commit(&part, &meta);
}

/* FILE, eager */
static int sink_eager(struct sink *sink, const struct wire_msg *msg)
{
	enum method method = msg->size ? METHOD_BUFFERED : METHOD_NONE;
	struct copy *c = sink->copy;
	struct path path = { .text = "" };
	int ret;

	if (!msg->id || msg->size > sink->eager.size)
		return -EPROTO;
	if (!msg->status && msg->size && !landing_window(&sink->eager, msg->window))
		return -EPROTO;
	ret = wire_errno(msg->status);
	if (ret) {
		copy_failed(c, ERR_REMOTE, ret, "");
		return sink_done(sink, msg->id, msg->window, ret, METHOD_NONE, 0);
	}
	ret = store(sink, msg, &path);
	if (ret) {
		copy_failed(c, ERR_LOCAL, ret, path.text);
		return sink_done(sink, msg->id, msg->window, ret, METHOD_NONE, 0);
	}
	c->digest = msg->digest;
	c->source_methods |= 1u << (msg->mode >> 16 & 0xf);
	c->sink_methods |= 1u << method;
	progress_add(&c->progress, msg->size);
	copy_done(c, path.text, msg->size);
	return sink_done(sink, msg->id, msg->window, 0, method, msg->digest);
}

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

/* Also of a directory that may not be read, so is open as a path only. */
static void set_mode(int fd, mode_t mode)
{
	char link[40];

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	/* If that fails, so does the first file in it, with the right error. */
	if (chmod(link, mode))
		return;
}

/* A new name in it is on the disk. */
static int sync_dir(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), ret;

	if (fd < 0)
		return -errno;
	ret = fsync(fd) ? -errno : 0;
	close(fd);
	return ret;
}

/* A directory of an earlier run may have its final mode already; DIR_END sets it again. */
static int open_up(const struct sink *sink, const struct path *path)
{
	int fd = path_open(sink->base, path->text, O_RDONLY | O_DIRECTORY);
	struct stat st;

	if (fd == -EACCES)
		fd = path_open(sink->base, path->text, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && (st.st_mode & 0700) != 0700)
		set_mode(fd, (st.st_mode & 07777) | 0700);
	close(fd);
	return 0;
}

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
		return sink->sync ? sync_dir(parent) : 0;
	if (errno != EEXIST)
		return -errno;
	return open_up(sink, path);
}

static int end_dir(struct sink *sink, const struct path *path, const struct wire_msg *msg)
{
	struct part_meta meta;
	int fd, ret = 0;

	/* The destination directory already existed: leave its mode and times alone. */
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
	free(sink->own);
}
