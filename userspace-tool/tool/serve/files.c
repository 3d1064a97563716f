// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/sink.h"
#include "copy/source.h"
#include "copy/walk.h"
#include "serve/files.h"

static int refuse_put(struct session *s, int err)
{
	struct wire_msg msg = { .type = WIRE_SINK, .status = wire_status(err) };
	int ret;

	ret = session_send(s, &msg);
	return ret ? ret : session_flush(s);
}

static int open_target(struct sink *sink, const struct files_conf *conf,
		       const struct wire_msg *put)
{
	struct path path;
	int ret;

	if (conf->root < 0)
		return -EOPNOTSUPP;
	if (conf->read_only)
		return -EROFS;
	ret = path_parse(&path, put->tail, put->tail_len);
	if (ret)
		return ret;
	sink->resume = !(put->flags & WIRE_F_NO_RESUME);
	sink->sync = put->flags & WIRE_F_SYNC;
	sink->umask = conf->umask;
	sink->min_free = conf->min_free;
	sink->max_size = conf->max_size;
	return sink_target(sink, conf->root, &path, put->flags & WIRE_F_MUST_BE_DIR);
}

static int take_all(struct sink *sink)
{
	struct wire_msg msg;
	int ret;

	ret = sink_greet(sink);
	while (!ret) {
		ret = session_recv(sink->s, &msg, sink->s->timeout_ms);
		if (!ret)
			ret = sink_message(sink, &msg);
	}
	return ret;
}

static int serve_put(struct session *s, const struct files_conf *conf,
		     const struct wire_msg *put)
{
	struct copy copy = { .session = s };
	struct sink *sink = malloc(sizeof(*sink));
	int ret;

	if (!sink)
		return -ENOMEM;
	ret = sink_open(sink, &copy);
	if (!ret)
		ret = open_target(sink, conf, put);
	ret = ret ? refuse_put(s, ret) : take_all(sink);
	sink_close(sink);
	session_stop(s);
	sink_free(sink);
	free(sink);
	return ret;
}

static int open_beneath(int root, const struct path *path)
{
	struct stat st;
	int fd;

	if (root < 0)
		return -EOPNOTSUPP;
	/* Look before opening: to open a device may set something off. */
	fd = path_open(root, path->text, O_PATH);
	if (fd < 0)
		return fd;
	if (fstat(fd, &st))
		st.st_mode = 0;
	close(fd);
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return -EOPNOTSUPP;
	return path_open(root, path->text, O_RDONLY | O_NONBLOCK);
}

static int send_total(struct source *src, int fd, bool recursive)
{
	struct wire_msg msg = { .type = WIRE_TOTAL, .window = WIRE_NO_WINDOW };
	int ret = walk_total(fd, recursive, src->copy, &msg.size);

	return ret ? ret : session_send(src->s, &msg);
}

static int finish(struct source *src)
{
	struct wire_msg msg = { .type = WIRE_FINISH, .window = WIRE_NO_WINDOW };
	int ret;

	ret = source_finish(src);
	return ret ? ret : session_send(src->s, &msg);
}

static int serve_get(struct source *src, int root, const struct wire_msg *get)
{
	bool recursive = get->flags & WIRE_F_RECURSIVE;
	struct path path;
	int fd, ret;

	ret = path_parse(&path, get->tail, get->tail_len);
	fd = ret ? ret : open_beneath(root, &path);
	if (fd < 0) {
		ret = source_note(src, path.text, fd);
	} else {
		ret = send_total(src, fd, recursive);
		if (!ret)
			ret = walk_send(src, fd, path.name, recursive, NULL);
		else
			close(fd);
	}
	return ret ? ret : finish(src);
}

static int answer_gets(struct source *src, int root)
{
	struct wire_msg msg;
	int ret = 0;

	while (!ret) {
		ret = session_recv(src->s, &msg, src->s->timeout_ms);
		if (ret)
			break;
		if (msg.type == WIRE_GET)
			ret = serve_get(src, root, &msg);
		else
			ret = source_message(src, &msg);
	}
	return ret;
}

static int serve_gets(struct session *s, const struct files_conf *conf,
		      const struct wire_msg *sink)
{
	struct copy copy = { .session = s, .depth_max = conf->depth_max };
	struct source *src = malloc(sizeof(*src));
	int ret;

	if (!src)
		return -ENOMEM;
	ret = source_open(src, &copy, sink);
	if (!ret)
		ret = answer_gets(src, conf->root);
	session_stop(s);
	source_free(src);
	free(src);
	return ret;
}

/* Serve one client until it has had enough. The connection is ended. */
int files_serve(struct session *s, const struct files_conf *conf)
{
	struct wire_msg msg;
	int ret;

	ret = session_recv(s, &msg, s->timeout_ms);
	if (ret)
		return ret;
	if (msg.type == WIRE_PUT)
		return serve_put(s, conf, &msg);
	if (msg.type == WIRE_SINK)
		return serve_gets(s, conf, &msg);
	return -EPROTO;
}
