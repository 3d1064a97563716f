// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/sink.h"
#include "copy/store.h"

int sink_landed(struct sink *sink, const void *window, size_t len, const void **data)
{
	*data = window;
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

static int verify(struct sink *sink, const struct wire_msg *msg, const void **data)
{
	const char *window = landing_window(&sink->eager, msg->window);
	uint64_t piece, value = 0;
	struct hash hash;
	int ret;

	ret = hash_begin(&hash, session_mac_key(sink->s), msg);
	if (!ret && msg->size)
		ret = sink_landed(sink, window + msg->offset, msg->size, data);
	if (!ret && msg->size)
		ret = hash_add(&hash, *data, msg->size, &piece);
	if (!ret)
		ret = hash_value(&hash, &value);
	if (ret)
		return ret;
	return value == msg->digest ? 0 : -EBADMSG;
}

int sink_out(struct sink *sink, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n;

	for (; len; len -= n, p += n) {
		n = write(sink->out, p, len);
		if (n < 0 && errno == EINTR)
			n = 0;
		else if (n < 0)
			return -errno;
	}
	return 0;
}

static int write_all(struct sink *sink, const struct wire_msg *msg, int fd)
{
	bool sparse = sink->copy->opts & WIRE_F_SPARSE;
	enum method method = METHOD_BUFFERED;
	const void *data = NULL;
	int ret;

	ret = verify(sink, msg, &data);
	if (ret || !msg->size)
		return ret;
	if (sink->out >= 0)
		return sink_out(sink, data, msg->size);
	if (!sparse)
		return store_write(fd, &method, data, msg->size, 0);
	ret = store_write_sparse(fd, &method, data, msg->size, 0);
	return !ret && ftruncate(fd, msg->size) ? -errno : ret;
}

static int store(struct sink *sink, const struct wire_msg *msg, struct path *path)
{
	struct part_meta meta;
	struct part part;
	int ret;

	ret = sink_place(sink, msg, path);
	if (!ret)
		ret = sink_name(sink, path);
	if (!ret)
		ret = sink_attrs_match(sink, msg);
	if (ret)
		return ret;
	if (sink->out >= 0)
		return write_all(sink, msg, -1);
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

	if (!msg->id || sink->dry || msg->size > sink->eager.size ||
	    msg->offset > sink->eager.size - msg->size)
		return -EPROTO;
	if (!msg->status && msg->size && !landing_window(&sink->eager, msg->window))
		return -EPROTO;
	if (msg->flags & WIRE_F_UNASKED)
		sink_say(sink, msg, ITEM_RECEIVED, 'f', WIRE_I_NEW);
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
	c->moved += msg->size;
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
	sink->out = -1;
	sink->parent = -1;
	sink->file.part.fd = -1;
	prune_init(&sink->prune);
	return landing_open(&sink->eager, copy, 0, COPY_EAGER_WINDOWS,
			    COPY_EAGER_SIZE);
}

/* Tell the source what there is to write into. */
int sink_greet(struct sink *sink)
{
	struct wire_msg msg = {
		.type = WIRE_SINK,
		.window = COPY_EAGER_WINDOWS,
		.size = COPY_EAGER_SIZE,
		.flags = WIRE_F_PACKS | (sink->rename ? WIRE_F_AS_NAMED : 0),
	};
	int ret;

	ret = session_send(sink->s, &msg);
	return ret ? ret : landing_announce(&sink->eager);
}

static int on_note(struct sink *sink, const struct wire_msg *msg)
{
	int err = wire_errno(msg->status);
	char path[PATH_MAX];

	struct path placed;

	/* The source has this name, though it skips it, so --delete must keep it. */
	if (!sink_place(sink, msg, &placed))
		sink_name(sink, &placed);
	snprintf(path, sizeof(path), "%.*s", (int)msg->tail_len,
		 (const char *)msg->tail);
	copy_skipped(sink->copy, ERR_REMOTE, err, path);
	/* A directory that could not be read may have names that the sink does not know. */
	sink->incomplete |= err != -ELOOP && err != -EOPNOTSUPP && err != -ECANCELED;
	return sink_answer(sink, msg, 0, 0);
}

/* With a key, these types carry a digest of the message itself. */
static bool has_digest(unsigned int type)
{
	switch (type) {
	case WIRE_DIR:
	case WIRE_DIR_END:
	case WIRE_NOTE:
	case WIRE_ATTR:
	case WIRE_ASK:
	case WIRE_LINK:
	case WIRE_HARD:
	case WIRE_NODE:
	case WIRE_PRUNE:
		return true;
	default:
		return false;
	}
}

int sink_message(struct sink *sink, const struct wire_msg *msg)
{
	if (has_digest(msg->type) && copy_check(sink->copy, msg))
		return -EBADMSG;
	switch (msg->type) {
	case WIRE_TOTAL:
		progress_more(&sink->copy->progress, msg->size, msg->flags & WIRE_F_GROWING);
		return 0;
	case WIRE_DIR:
		return sink_dir(sink, msg);
	case WIRE_DIR_END:
		return sink_dir_end(sink, msg);
	case WIRE_ATTR:
		return sink_attr(sink, msg);
	case WIRE_ASK:
		return sink_ask(sink, msg);
	case WIRE_LINK:
		return sink_link(sink, msg);
	case WIRE_HARD:
		return sink_hard(sink, msg);
	case WIRE_NODE:
		return sink_node(sink, msg);
	case WIRE_PRUNE:
		return sink_prune(sink, msg);
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
		sink->finished = true;
		return 0;
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
	prune_close(&sink->prune);
	if (sink->parent >= 0)
		close(sink->parent);
	if (sink->base >= 0)
		close(sink->base);
}

void sink_free(struct sink *sink)
{
	landing_free(&sink->eager);
	landing_free(&sink->stream);
	names_free(&sink->names);
	attrs_free(&sink->attrs);
	free(sink->rename);
	free(sink->own);
}
