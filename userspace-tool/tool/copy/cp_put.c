// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cp to a server: this end is the source.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/err.h"
#include "copy/cp.h"
#include "copy/walk.h"

static bool wants_dir(const struct cp *cp)
{
	size_t len = strlen(cp->dst.path);

	return cp->nr_sources > 1 || (len && cp->dst.path[len - 1] == '/');
}

static int send_put(struct cp *cp)
{
	struct wire_msg msg = {
		.type = WIRE_PUT,
		.window = WIRE_NO_WINDOW,
		.tail = cp->dst.path,
		.tail_len = strlen(cp->dst.path),
	};

	if (wants_dir(cp))
		msg.flags |= WIRE_F_MUST_BE_DIR;
	if (cp->no_resume)
		msg.flags |= WIRE_F_NO_RESUME;
	if (cp->sync)
		msg.flags |= WIRE_F_SYNC;
	return session_send(cp->copy.session, &msg);
}

/* Ask for the destination; the answer tells of windows, or why not. */
static int ask(struct cp *cp, struct source *src)
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
	return source_open(src, &cp->copy, &msg);
}

static int skip(void *arg, const char *path, int err)
{
	struct source *src = arg;

	copy_skipped(src->copy, ERR_LOCAL, err, path);
	return 0;
}

/* Our own user named it: links are followed, and it may be anywhere. */
static int open_source(const struct target *t)
{
	struct stat st;
	int fd;

	if (stat(t->path, &st))
		return -errno;
	if (!S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode))
		return -EINVAL;
	fd = open(t->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

static int send_one(struct cp *cp, struct source *src, const struct target *t)
{
	char name[NAME_MAX + 1];
	int fd = open_source(t);

	if (fd < 0) {
		copy_failed(&cp->copy, ERR_LOCAL, fd, t->path);
		return 0;
	}
	return walk_send(src, fd, target_basename(t->path, name, sizeof(name)),
			 cp->recursive, skip);
}

/* Only for the progress bar: it costs a walk. */
static void find_total(struct cp *cp)
{
	uint64_t total;
	int i, fd;

	for (i = 0; i < cp->nr_sources && cp->progress; i++) {
		fd = open_source(&cp->sources[i]);
		if (fd < 0)
			continue;
		/* Nobody waits: nothing has been asked for. */
		walk_total(fd, cp->recursive, NULL, &total);
		cp->copy.progress.total += total;
		close(fd);
	}
}

int cp_put(struct cp *cp)
{
	struct source *src = calloc(1, sizeof(*src));
	int i, ret;

	if (!src)
		return err_report(ERR_MEMORY, -ENOMEM, "begin");
	find_total(cp);
	ret = ask(cp, src);
	for (i = 0; i < cp->nr_sources && !ret; i++)
		ret = send_one(cp, src, &cp->sources[i]);
	if (!ret)
		ret = source_finish(src);
	session_stop(cp->copy.session);
	source_free(src);
	free(src);
	return ret;
}
