// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/counter.h"
#include "copy/sink.h"
#include "copy/source.h"
#include "copy/walk.h"
#include "serve/entries.h"
#include "serve/files.h"

/* Directories deeper in a tree are not counted: each level takes a descriptor. */
#define COUNT_DEPTH 16

static int refuse_put(struct session *s, int err)
{
	struct wire_msg msg = { .type = WIRE_SINK, .status = wire_status(err) };
	int ret;

	ret = session_send(s, &msg);
	return ret ? ret : session_flush(s);
}

bool files_privileged(const struct files_conf *conf)
{
	return conf->super && !geteuid();
}

bool files_exist(const struct files_conf *conf)
{
	return conf->root >= 0 || conf->shares;
}

int files_select(const struct files_conf *conf, const struct path *path, struct files_conf *out,
		 struct path *beneath)
{
	const struct share *share;
	const char *rest;

	*out = *conf;
	if (!conf->shares) {
		*beneath = *path;
		beneath->name = beneath->text + (path->name - path->text);
		return conf->root < 0 ? conf->root : 0;
	}
	if (path_is_top(path))
		return -EACCES;
	share = shares_find(conf->shares, path->text, &rest);
	if (!share)
		return -ENOENT;
	out->root = share->root;
	out->shares = NULL;
	out->read_only |= share->read_only;
	out->no_delete |= share->no_delete;
	return path_parse(beneath, rest, strlen(rest));
}

static void take_options(struct copy *copy, const struct files_conf *conf,
			 const struct wire_msg *msg)
{
	copy->opts = msg->flags;
	copy->privileged = files_privileged(conf);
	copy->super = copy->privileged && msg->flags & WIRE_F_SUPER;
}

static int open_target(struct sink *sink, const struct files_conf *all,
		       const struct wire_msg *put)
{
	struct path path, beneath;
	struct files_conf conf;
	int ret;

	if (!files_exist(all))
		return all->root;
	ret = all->read_only ? -EROFS : path_parse(&path, put->tail, put->tail_len);
	if (!ret)
		ret = files_select(all, &path, &conf, &beneath);
	if (ret)
		return ret;
	if (conf.read_only)
		return -EROFS;
	sink->resume = !(put->flags & WIRE_F_NO_RESUME);
	sink->sync = put->flags & WIRE_F_SYNC;
	sink->dry = put->flags & WIRE_F_DRY_RUN;
	sink->no_delete = conf.no_delete;
	sink->umask = conf.umask;
	sink->min_free = conf.min_free;
	sink->max_size = conf.max_size;
	return sink_target(sink, conf.root, &beneath, put->flags & WIRE_F_MUST_BE_DIR);
}

static int take_all(struct sink *sink)
{
	struct wire_msg msg;
	int ret;

	ret = sink_greet(sink);
	while (!ret) {
		ret = copy_recv(sink->copy, sink->s, &msg);
		if (!ret)
			ret = sink_message(sink, &msg);
	}
	return ret;
}

static int serve_put(struct session *s, const struct files_conf *conf, struct copies_entry *entry,
		     const struct filter *filter, const struct wire_msg *put)
{
	struct copy copy = { .session = s, .filter = filter };
	struct sink *sink = malloc(sizeof(*sink));
	int ret;

	if (!sink)
		return -ENOMEM;
	copies_lanes(conf->copies, entry, &copy);
	take_options(&copy, conf, put);
	ret = sink_open(sink, &copy);
	if (!ret)
		ret = open_target(sink, conf, put);
	ret = ret ? refuse_put(s, ret) : take_all(sink);
	sink_close(sink);
	copy_stop(&copy);
	sink_free(sink);
	free(sink);
	return ret;
}

static int open_beneath(int root, const char *text)
{
	struct stat st;
	char path[40];
	int fd, ret;

	/* Look before opening: to open a device may set something off. */
	fd = path_open(root, text, O_PATH);
	if (fd < 0)
		return fd;
	ret = fstat(fd, &st) ? -errno : 0;
	if (!ret && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		ret = -EOPNOTSUPP;
	if (!ret) {
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		ret = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
		ret = ret < 0 ? -errno : ret;
	}
	close(fd);
	return ret;
}

static int finish(struct source *src)
{
	struct wire_msg msg = { .type = WIRE_FINISH, .window = WIRE_NO_WINDOW };
	int ret;

	ret = source_finish(src);
	return ret ? ret : session_send(src->s, &msg);
}

/* Count the tree while it is sent. */
static int send_tree(struct source *src, int fd, const char *name)
{
	struct counter counter = { .filter = src->copy->filter, .depth_max = COUNT_DEPTH };
	int ret;

	if (!counter_add(&counter, fd, name))
		counter_start(&counter);
	src->counter = counter.running ? &counter : NULL;
	src->counted = 0;
	src->told = 0;
	ret = walk_send(src, fd, name, true, NULL);
	src->counter = NULL;
	counter_stop(&counter);
	return ret;
}

static int send_file(struct source *src, int fd, const char *name, uint64_t size)
{
	struct wire_msg msg = { .type = WIRE_TOTAL, .window = WIRE_NO_WINDOW, .size = size };
	int ret = session_send(src->s, &msg);

	if (!ret)
		return walk_send(src, fd, name, false, NULL);
	close(fd);
	return ret;
}

static int send_opened(struct source *src, int fd, const char *name)
{
	struct stat st;

	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return send_file(src, fd, name, st.st_size);
	if (src->copy->opts & WIRE_F_RECURSIVE)
		return send_tree(src, fd, name);
	return walk_send(src, fd, name, false, NULL);
}

/* A link or a special file is copied as it is, if so asked. Returns 1 if it is none. */
static int send_other(struct source *src, int root, const struct path *path, const char *name)
{
	int dir = path_open_parent(root, path), ret = 1;
	struct stat st;

	if (dir < 0)
		return 1;
	if (!fstatat(dir, path->name, &st, AT_SYMLINK_NOFOLLOW) &&
	    ((S_ISLNK(st.st_mode) && src->copy->opts & WIRE_F_LINKS) ||
	     (!S_ISLNK(st.st_mode) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) &&
	      src->copy->opts & WIRE_F_DEVICES)))
		ret = walk_send_other(src, dir, path->name, name, NULL);
	close(dir);
	return ret;
}

/* The path that GET requests, and its name in the answer */
static int parse_get(const struct wire_msg *get, struct path *path, struct path *name)
{
	char text[WIRE_TAIL_MAX + 2];
	int len, ret;

	ret = path_parse(path, get->tail, get->tail_len);
	*name = *path;
	if (ret || !get->extra_len)
		return ret;
	ret = path_parse(name, get->extra, get->extra_len);
	len = snprintf(text, sizeof(text), "%s/%s", path->text, name->text);
	return ret ? ret : path_parse(path, text, len);
}

static int serve_get(struct source *src, const struct files_conf *conf, const struct wire_msg *get)
{
	struct path path = { .text = "." }, as = path, beneath = path;
	struct files_conf share = *conf;
	const char *name;
	int fd, ret;

	take_options(src->copy, conf, get);
	src->copy->rate = get->size;
	ret = parse_get(get, &path, &as);
	if (!ret)
		ret = files_select(conf, &path, &share, &beneath);
	name = get->flags & WIRE_F_CONTENTS ? "." : get->extra_len ? as.text : path.name;
	if (!ret && strcmp(name, ".") && !path_is_top(&beneath)) {
		ret = send_other(src, share.root, &beneath, name);
		if (ret <= 0)
			return ret ? ret : finish(src);
		ret = 0;
	}
	fd = ret ? ret : open_beneath(share.root, beneath.text);
	ret = fd < 0 ? source_note(src, path.text, fd) : send_opened(src, fd, name);
	return ret ? ret : finish(src);
}

static int answer_gets(struct source *src, const struct files_conf *conf)
{
	struct wire_msg msg;
	int ret = 0;

	while (!ret) {
		ret = copy_recv(src->copy, src->s, &msg);
		if (ret)
			break;
		if (msg.type != WIRE_GET)
			ret = source_message(src, &msg);
		else if (!copy_check(src->copy, &msg))
			ret = serve_get(src, conf, &msg);
		else
			ret = -EBADMSG;
	}
	return ret;
}

static int serve_gets(struct session *s, const struct files_conf *conf, struct copies_entry *entry,
		      const struct filter *filter, const struct wire_msg *sink)
{
	struct copy copy = { .session = s, .filter = filter, .depth_max = conf->depth_max };
	struct source *src = malloc(sizeof(*src));
	int ret;

	if (!src)
		return -ENOMEM;
	copies_lanes(conf->copies, entry, &copy);
	ret = source_open(src, &copy, sink);
	if (!ret)
		ret = answer_gets(src, conf);
	copy_stop(&copy);
	source_free(src);
	free(src);
	return ret;
}

static int take_filter(struct session *s, struct filter *filter, const struct wire_msg *msg)
{
	struct wire_msg done = {
		.type = WIRE_DONE, .id = msg->id, .window = WIRE_NO_WINDOW,
		.status = wire_status(filter_message(filter, msg)),
	};

	return session_send(s, &done);
}

/* The client gives the copy a number, which connections of it tell that come later. */
static int take_copy(struct session *s, const struct files_conf *conf, struct copies_entry *entry,
		     const struct wire_msg *msg)
{
	struct wire_msg done = { .type = WIRE_DONE, .window = WIRE_NO_WINDOW };

	if (entry->id || !msg->offset)
		return -EPROTO;
	entry->id = msg->offset;
	entry->session = s;
	copies_enter(conf->copies, entry);
	return session_send(s, &done);
}

static int serve_with(struct session *s, const struct files_conf *conf, struct copies_entry *entry,
		      struct filter *filter)
{
	struct copy copy = { .session = s };
	struct wire_msg msg;
	int ret;

	do {
		ret = session_recv(s, &msg, s->timeout_ms);
		if (!ret && msg.type != WIRE_SINK && copy_check(&copy, &msg))
			ret = -EBADMSG;
		if (!ret && msg.type == WIRE_FILTER)
			ret = take_filter(s, filter, &msg);
		if (!ret && msg.type == WIRE_COPY)
			ret = take_copy(s, conf, entry, &msg);
	} while (!ret && (msg.type == WIRE_FILTER || msg.type == WIRE_COPY));
	if (ret)
		return ret;
	switch (msg.type) {
	case WIRE_PUT:
		return serve_put(s, conf, entry, filter, &msg);
	case WIRE_SINK:
		return serve_gets(s, conf, entry, filter, &msg);
	case WIRE_LANE:
		return copies_join(conf->copies, msg.offset, s);
	case WIRE_LIST:
	case WIRE_REMOVE:
		return entries_serve(s, conf, &msg);
	default:
		return -EPROTO;
	}
}

/* Serve one client until it has had enough. The connection is ended. */
int files_serve(struct session *s, const struct files_conf *conf)
{
	struct copies_entry entry = { .id = 0 };
	struct filter filter = { .nr = 0 };
	int ret = serve_with(s, conf, &entry, &filter);

	copies_leave(conf->copies, &entry);
	filter_free(&filter);
	return ret;
}
