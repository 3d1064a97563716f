// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A small file: it is all there when its FILE comes.
 */
#include <errno.h>

#include "copy/sink.h"
#include "copy/store.h"

static int write_all(const struct sink *sink, const struct wire_msg *msg, int fd)
{
	enum method method = METHOD_BUFFERED;
	struct hash hash;
	void *data;
	uint64_t piece;
	int ret;

	hash_init(&hash);
	if (msg->size) {
		data = landing_window(&sink->eager, msg->window);
		ret = hash_add(&hash, data, msg->size, &piece);
		if (!ret)
			ret = store_write(fd, &method, data, msg->size, 0);
		if (ret)
			return ret;
	}
	return hash_value(&hash) == msg->digest ? 0 : -EBADMSG;
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
		ret = write_all(sink, msg, part.fd);
	if (ret) {
		part_drop(&part);
		return ret;
	}
	sink_meta(sink, msg, &meta);
	return part_commit(&part, &meta);
}

/* FILE, eager */
int sink_eager(struct sink *sink, const struct wire_msg *msg)
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
