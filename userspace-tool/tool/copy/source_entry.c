// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Entries of a tree: the sink is asked which files it wants, and told of all others.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "cli/units.h"
#include "cli/util.h"
#include "copy/attrs.h"
#include "copy/counter.h"
#include "copy/mode.h"
#include "copy/source.h"

/* The sink's progress bar is drawn no more often. */
#define TOTAL_SECONDS 0.2

void source_describe(const struct source *src, struct wire_msg *msg, const struct stat *st,
		     const char *path)
{
	msg->size = S_ISREG(st->st_mode) ? st->st_size : 0;
	/* The user of this end may change modes; at the other end the sink does it. */
	msg->mode = mode_change(src->copy->chmod, st->st_mode) & 07777;
	msg->mtime = st->st_mtim.tv_sec;
	msg->mtime_ns = st->st_mtim.tv_nsec;
	msg->atime = st->st_atim.tv_sec;
	msg->atime_ns = st->st_atim.tv_nsec;
	msg->uid = st->st_uid;
	msg->gid = st->st_gid;
	msg->tail = path;
	msg->tail_len = strlen(path);
}

static int send_part(struct source *src, const struct attrs *a, size_t at)
{
	struct wire_msg msg = {
		.type = WIRE_ATTR,
		.window = WIRE_NO_WINDOW,
		.offset = at,
		.size = a->len,
		.tail = a->bytes + at,
		.tail_len = min(a->len - at, (size_t)WIRE_TAIL_MAX),
	};
	struct source_pending *p;
	int ret;

	p = source_pend(src, "", 0, SOURCE_OTHER, &ret);
	if (!p)
		return ret;
	msg.id = p->id;
	ret = copy_send(src->copy, &msg);
	p->digest = msg.digest;
	return ret;
}

/* Attributes come before the entry. Those that cannot be read fail with it, at the sink. */
int source_attrs(struct source *src, int fd, struct wire_msg *msg)
{
	unsigned int which = copy_attrs(src->copy);
	struct attrs a;
	size_t at;
	int ret;

	if (!which || fd < 0)
		return 0;
	ret = attrs_read(&a, fd, which);
	if (ret) {
		copy_failed(src->copy, ERR_LOCAL, ret, msg->tail);
		return 0;
	}
	ret = attrs_digests(&a, session_mac_key(src->s), &msg->acl, &msg->xattr);
	for (at = 0; at < a.len && !ret; at += WIRE_TAIL_MAX)
		ret = send_part(src, &a, at);
	attrs_free(&a);
	return ret;
}

/* Send the data of the first one that the sink wants. Returns 1 if there was one. */
static int send_wanted(struct source *src)
{
	struct source_pending *p, *first = NULL;
	int i, ret;

	for (i = 0; i < COPY_PENDING_MAX; i++) {
		p = &src->pending[i];
		if (p->id && p->wanted && (!first || p->id < first->id))
			first = p;
	}
	if (!first)
		return 0;
	ret = source_send(src, first);
	return ret ? ret : 1;
}

static int resend_prune(struct source *src, struct source_pending *p)
{
	struct wire_msg msg = {
		.type = WIRE_PRUNE, .id = p->id, .window = WIRE_NO_WINDOW,
		.flags = WIRE_F_CONTINUE, .tail = p->path, .tail_len = strlen(p->path),
	};
	int ret;

	p->more = false;
	ret = copy_send(src->copy, &msg);
	p->digest = msg.digest;
	return ret;
}

/* Go on with one thing that is pending. */
static int work(struct source *src)
{
	int i, ret = send_wanted(src);

	for (i = 0; i < COPY_PENDING_MAX && !ret; i++)
		if (src->pending[i].id && src->pending[i].more)
			return resend_prune(src, &src->pending[i]);
	if (ret)
		return ret < 0 ? ret : 0;
	return source_pump(src);
}

static bool all_done(const struct source *src)
{
	int i;

	for (i = 0; i < COPY_PENDING_MAX; i++)
		if (src->pending[i].id)
			return false;
	return true;
}

int source_drain(struct source *src)
{
	int ret = 0;

	while (!ret && !all_done(src))
		ret = work(src);
	return ret;
}

/* The first name of a file with several; @first: it has been met. */
static int check_links(struct source *src, const struct stat *st, const char *path,
		       const struct links_entry **first)
{
	*first = NULL;
	if (!(src->copy->opts & WIRE_F_HARD_LINKS) || st->st_nlink < 2)
		return 0;
	*first = links_find(&src->links, st);
	return *first ? 0 : links_add(&src->links, st, path);
}

static int send_entry(struct source *src, struct wire_msg *msg, struct source_pending *p)
{
	int ret;

	msg->id = p->id;
	ret = copy_send(src->copy, msg);
	p->digest = msg->digest;
	return ret;
}

static bool is_pending(const struct source *src, const char *path)
{
	int i;

	for (i = 0; i < COPY_PENDING_MAX; i++)
		if (src->pending[i].id && !strcmp(src->pending[i].path, path))
			return true;
	return false;
}

static int send_hard(struct source *src, const char *path, const struct stat *st,
		     const struct links_entry *first)
{
	struct wire_msg msg = {
		.type = WIRE_HARD, .window = WIRE_NO_WINDOW,
		.extra = first->path, .extra_len = strlen(first->path),
	};
	struct source_pending *p;
	int ret = 0;

	/* The sink links to this name, so it must exist. */
	while (!ret && is_pending(src, first->path))
		ret = work(src);
	if (ret)
		return ret;
	source_describe(src, &msg, st, path);
	if (msg.tail_len + msg.extra_len > WIRE_TAIL_MAX)
		return source_note(src, path, -ENAMETOOLONG);
	p = source_pend(src, path, 0, SOURCE_HARD, &ret);
	if (!p)
		return ret;
	p->target = strdup(first->path);
	return p->target ? send_entry(src, &msg, p) : -ENOMEM;
}

static int ask(struct source *src, int fd, const char *path, const struct stat *st)
{
	struct wire_msg msg = { .type = WIRE_ASK, .window = WIRE_NO_WINDOW };
	uint8_t sha[WIRE_SHA_LEN];
	struct source_pending *p;
	int ret = 0;

	while (!ret && src->asked >= src->max_pending / 4 * 3)
		ret = work(src);
	source_describe(src, &msg, st, path);
	if (!ret)
		ret = source_attrs(src, fd, &msg);
	if (ret) {
		close(fd);
		return ret;
	}
	if (src->copy->opts & WIRE_F_CHECKSUM &&
	    !hash_whole(fd, sha, copy_beat, src->copy)) {
		msg.extra = sha;
		msg.extra_len = sizeof(sha);
	}
	p = source_pend(src, path, st->st_size, SOURCE_FILE, &ret);
	if (!p) {
		close(fd);
		return ret;
	}
	p->fd = fd;
	p->st = *st;
	return send_entry(src, &msg, p);
}

/* Whether the sink cannot have a file of this name, nor anything else. */
static bool is_fresh(const struct source *src, const char *path)
{
	size_t len = src->fresh ? strlen(src->fresh) : 0;

	if (src->copy->opts & (WIRE_F_DRY_RUN | WIRE_F_EXISTING))
		return false;
	return len && !strncmp(path, src->fresh, len) && path[len] == '/';
}

static int send_unasked(struct source *src, int fd, const char *path, const struct stat *st)
{
	struct source_pending *p;
	int ret;

	p = source_pend(src, path, st->st_size, SOURCE_FILE, &ret);
	if (!p) {
		close(fd);
		return ret;
	}
	p->fd = fd;
	p->st = *st;
	p->wanted = true;
	p->unasked = true;
	source_say(src, p, WIRE_I_NEW);
	return source_send(src, p);
}

int source_total(struct source *src)
{
	struct wire_msg msg = { .type = WIRE_TOTAL, .window = WIRE_NO_WINDOW };
	double now = units_now();
	bool growing;
	uint64_t total;

	if (!src->counter)
		return 0;
	total = counter_read(src->counter, &growing);
	if (growing && (total == src->counted || now - src->told < TOTAL_SECONDS))
		return 0;
	msg.size = total - src->counted;
	msg.flags = growing ? WIRE_F_GROWING : 0;
	src->counted = total;
	src->told = now;
	/* There is no more to tell. */
	if (!growing)
		src->counter = NULL;
	return session_queue(src->s, &msg);
}

int source_file(struct source *src, int fd, const char *path, const struct stat *st)
{
	const struct links_entry *first;
	int ret;

	ret = check_links(src, st, path, &first);
	if (!ret && !first)
		return is_fresh(src, path) ? send_unasked(src, fd, path, st) :
					     ask(src, fd, path, st);
	close(fd);
	return ret ? ret : send_hard(src, path, st, first);
}

static int prune(struct source *src, const char *path)
{
	struct wire_msg msg = {
		.type = WIRE_PRUNE, .window = WIRE_NO_WINDOW,
		.tail = path, .tail_len = strlen(path),
	};
	struct source_pending *p;
	int ret;

	p = source_pend(src, path, 0, SOURCE_PRUNE, &ret);
	if (p)
		ret = send_entry(src, &msg, p);
	return ret ? ret : source_drain(src);
}

int source_dir(struct source *src, int fd, const char *path, const struct stat *st, bool end)
{
	struct wire_msg msg = {
		.type = end ? WIRE_DIR_END : WIRE_DIR, .window = WIRE_NO_WINDOW,
	};
	struct source_pending *p;
	int ret = 0;

	/* All that is in it must be there before it gets its time. */
	if (end)
		ret = source_drain(src);
	if (!ret && end && src->copy->opts & WIRE_F_DELETE)
		ret = prune(src, path);
	if (ret)
		return ret;
	if (end && src->fresh && !strcmp(src->fresh, path)) {
		free(src->fresh);
		src->fresh = NULL;
	}
	source_describe(src, &msg, st, path);
	ret = source_attrs(src, fd, &msg);
	if (ret)
		return ret;
	p = source_pend(src, path, 0, SOURCE_DIR, &ret);
	if (!p)
		return ret;
	p->begin = !end;
	ret = send_entry(src, &msg, p);
	/* The answer tells whether the sink has to be asked for what is in it. */
	while (!ret && !end && source_pending(src, msg.id))
		ret = work(src);
	return ret;
}

int source_link(struct source *src, int dir, const char *name, const char *path,
		const struct stat *st)
{
	struct wire_msg msg = { .type = WIRE_LINK, .window = WIRE_NO_WINDOW };
	const struct links_entry *first;
	struct source_pending *p;
	char target[PATH_MAX];
	ssize_t n;
	int ret;

	ret = check_links(src, st, path, &first);
	if (ret || first)
		return ret ? ret : send_hard(src, path, st, first);
	n = readlinkat(dir, name, target, sizeof(target) - 1);
	if (n <= 0)
		return source_note(src, path, n ? -errno : -ENOENT);
	target[n] = '\0';
	source_describe(src, &msg, st, path);
	if (msg.tail_len + n > WIRE_TAIL_MAX)
		return source_note(src, path, -ENAMETOOLONG);
	msg.extra = target;
	msg.extra_len = n;
	p = source_pend(src, path, 0, SOURCE_LINK, &ret);
	if (!p)
		return ret;
	p->target = strdup(target);
	return p->target ? send_entry(src, &msg, p) : -ENOMEM;
}

int source_node(struct source *src, const char *path, const struct stat *st)
{
	struct wire_msg msg = { .type = WIRE_NODE, .window = WIRE_NO_WINDOW };
	const struct links_entry *first;
	struct source_pending *p;
	int ret;

	ret = check_links(src, st, path, &first);
	if (ret || first)
		return ret ? ret : send_hard(src, path, st, first);
	source_describe(src, &msg, st, path);
	msg.mode |= st->st_mode & S_IFMT;
	if (S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode))
		msg.size = (uint64_t)major(st->st_rdev) << 32 | minor(st->st_rdev);
	p = source_pend(src, path, 0, SOURCE_NODE, &ret);
	if (!p)
		return ret;
	p->st = *st;
	return send_entry(src, &msg, p);
}

/* Tell the sink of something that is not copied. */
int source_note(struct source *src, const char *path, int err)
{
	struct wire_msg msg = {
		.type = WIRE_NOTE,
		.status = wire_status(err),
		.window = WIRE_NO_WINDOW,
		.tail = path,
		.tail_len = strlen(path),
	};
	struct source_pending *p;
	int ret;

	p = source_pend(src, path, 0, SOURCE_OTHER, &ret);
	return p ? send_entry(src, &msg, p) : ret;
}
