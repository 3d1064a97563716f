// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs cp to a server. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/cp.h"
#include "copy/path.h"
#include "copy/source.h"
#include "copy/walk.h"

static bool wants_dir(const struct cp *cp)
{
	size_t len = strlen(cp->dst.path);

	return cp->nr_sources > 1 || cp->files_from || (len && cp->dst.path[len - 1] == '/');
}

static int send_put(struct cp *cp)
{
	struct wire_msg msg = {
		.type = WIRE_PUT,
		.window = WIRE_NO_WINDOW,
		.flags = cp->copy.opts,
		.tail = cp->dst.path,
		.tail_len = strlen(cp->dst.path),
	};

	if (wants_dir(cp))
		msg.flags |= WIRE_F_MUST_BE_DIR;
	return copy_send(&cp->copy, &msg);
}

int cp_ask(struct cp *cp, struct source *src)
{
	struct wire_msg msg;
	int ret;

	if (strlen(cp->dst.path) > WIRE_PATH_MAX)
		return err_report(ERR_REMOTE, -ENAMETOOLONG, "open %s:%s", cp->dst.host,
				  cp->dst.path);
	ret = send_put(cp);
	if (!ret)
		ret = session_recv(cp->copy.session, &msg, cp->to.timeout_ms);
	if (!ret && msg.type != WIRE_SINK)
		ret = -EPROTO;
	if (ret)
		return ret;
	if (msg.status)
		return err_report(ERR_REMOTE, wire_errno(msg.status), "open %s:%s",
				  cp->dst.host, cp->dst.path);
	cp->copy.opts |= msg.flags & WIRE_F_AS_NAMED;
	return source_open(src, &cp->copy, &msg);
}

/* A skipped entry exists, so --delete must not remove its copy. */
static int skip(void *arg, const char *path, int err)
{
	struct source *src = arg;

	copy_skipped(src->copy, ERR_LOCAL, err, path);
	return src->copy->opts & WIRE_F_DELETE ? source_note(src, path, err) : 0;
}

/* Our own user named it: links are followed, and it may be anywhere. */
static int open_source(const char *path)
{
	struct stat st;
	int fd;

	if (stat(path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return -EINVAL;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Whether it is copied as it is: a link, or a special file. */
static bool is_other(const struct cp *cp, int dir, const char *path)
{
	struct stat st;

	if (fstatat(dir, path, &st, AT_SYMLINK_NOFOLLOW))
		return false;
	if (S_ISLNK(st.st_mode))
		return cp->copy.opts & WIRE_F_LINKS;
	return cp->copy.opts & WIRE_F_DEVICES && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
}

static int send_one(struct cp *cp, struct source *src, const struct target *t)
{
	char buf[NAME_MAX + 1];
	const char *name = target_basename(t->path, buf, sizeof(buf));
	int fd;

	if (!strcmp(t->path, "-"))
		return source_stdin(src, STDIN_FILENO, "-");
	if (strcmp(name, ".") && is_other(cp, AT_FDCWD, t->path))
		return walk_send_other(src, AT_FDCWD, t->path, name, skip);
	fd = open_source(t->path);
	if (fd < 0) {
		copy_failed(&cp->copy, ERR_LOCAL, fd, t->path);
		return 0;
	}
	return walk_send(src, fd, name, cp->copy.opts & WIRE_F_RECURSIVE, skip);
}

static int send_named(struct cp *cp, struct source *src, int dir, const char *name)
{
	int fd;

	if (is_other(cp, dir, name))
		return walk_send_other(src, dir, name, name, skip);
	fd = path_open(dir, name, O_RDONLY | O_NONBLOCK);
	if (fd < 0) {
		copy_failed(&cp->copy, ERR_LOCAL, fd, name);
		return 0;
	}
	return walk_send(src, fd, name, cp->copy.opts & WIRE_F_RECURSIVE, skip);
}

/* Names of --files-from, beneath the only source */
static int send_names(struct cp *cp, struct source *src)
{
	int dir = path_open_root(*cp->sources->path ? cp->sources->path : "."), ret = 0;
	size_t i;

	if (dir < 0)
		return err_report(ERR_LOCAL, dir, "open %s", cp->sources->path);
	for (i = 0; i < cp->nr_names && !ret; i++)
		ret = send_named(cp, src, dir, cp->names[i]);
	close(dir);
	return ret;
}

/* Only for the progress bar. A source that cannot be counted is reported when it is copied. */
void cp_count(struct cp *cp)
{
	bool recursive = cp->copy.opts & WIRE_F_RECURSIVE;
	char buf[NAME_MAX + 1];
	struct stat st;
	int i, fd;

	cp->counter.filter = cp->copy.filter;
	for (i = 0; i < cp->nr_sources && cp->progress && !cp->files_from; i++) {
		fd = open_source(cp->sources[i].path);
		if (fd < 0)
			continue;
		if (!fstat(fd, &st) && (recursive || S_ISREG(st.st_mode)))
			counter_add(&cp->counter, fd,
				    target_basename(cp->sources[i].path, buf, sizeof(buf)));
		close(fd);
	}
	counter_start(&cp->counter);
}

int cp_put(struct cp *cp)
{
	struct source *src = calloc(1, sizeof(*src));
	int i, ret;

	if (!src)
		return err_report(ERR_MEMORY, -ENOMEM, "begin");
	ret = cp_ask(cp, src);
	if (!ret && cp->files_from)
		ret = send_names(cp, src);
	for (i = 0; i < cp->nr_sources && !ret && !cp->files_from; i++)
		ret = send_one(cp, src, &cp->sources[i]);
	if (!ret)
		ret = source_finish(src);
	copy_stop(&cp->copy);
	source_free(src);
	free(src);
	return ret;
}
