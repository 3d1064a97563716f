// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Directories, and what is deleted in them.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "copy/sink.h"

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
	int fd = sink_open_beneath(sink, path->text, O_RDONLY | O_DIRECTORY);
	struct stat st;

	if (fd == -EACCES)
		fd = sink_open_beneath(sink, path->text, O_PATH | O_DIRECTORY);
	if (fd < 0)
		return fd;
	if (!fstat(fd, &st) && st.st_uid == geteuid() && (st.st_mode & 0700) != 0700)
		set_mode(fd, (st.st_mode & 07777) | 0700);
	close(fd);
	return 0;
}

/* Open a directory that may not even be read. */
static int open_path(const struct sink *sink, const struct path *path)
{
	return sink_open_beneath(sink, path->text, O_PATH | O_DIRECTORY);
}

static int make_dir(struct sink *sink, const struct path *path, uint32_t *bits)
{
	int parent;

	if (path_is_top(path))
		return 0;
	parent = sink_parent(sink, path);
	if (parent < 0)
		return parent;
	*bits |= WIRE_I_NEW;
	/* Ours to write into for now; its own mode comes when it is full. */
	if (!mkdirat(parent, path->name, 0700))
		return sink->sync ? sync_dir(parent) : 0;
	if (errno != EEXIST)
		return -errno;
	*bits &= ~WIRE_I_NEW;
	return open_up(sink, path);
}

/* Whether the options say that the directory that everything goes into gets attributes, too */
static bool top_changes(const struct sink *sink)
{
	return sink->copy->opts & (WIRE_F_PERMS | WIRE_F_TIMES);
}

/* Compare a directory before its contents change, which changes its time. */
static int look(struct sink *sink, const struct wire_msg *msg, const struct path *path,
		uint32_t *bits)
{
	struct stat st;
	int fd, ret;

	if (sink->missing) {
		*bits = WIRE_I_NEW;
		return 0;
	}
	if (path_is_top(path) && !top_changes(sink))
		return 0;
	fd = open_path(sink, path);
	if (fd == -ENOENT) {
		*bits = WIRE_I_NEW;
		return 0;
	}
	if (fd < 0)
		return fd;
	ret = fstat(fd, &st) ? -errno : sink_differs(sink, msg, fd, &st, bits);
	close(fd);
	return ret;
}

int sink_dir(struct sink *sink, const struct wire_msg *msg)
{
	struct path path = { .text = "" };
	uint32_t bits = 0;
	int ret;

	ret = sink_place(sink, msg, &path);
	if (!ret && sink->files_only)
		ret = -EISDIR;
	if (!ret)
		ret = sink_name(sink, &path);
	if (!ret)
		ret = look(sink, msg, &path, &bits);
	if (!ret && !sink->dry)
		ret = make_dir(sink, &path, &bits);
	if (!ret && sink->copy->opts & WIRE_F_DELETE)
		ret = names_enter(&sink->names, path.text);
	if (ret)
		copy_failed(sink->copy, ERR_LOCAL, ret, path.text);
	else
		sink_say(sink, msg, bits & WIRE_I_NEW ? ITEM_CREATED : ITEM_NOTHING, 'd', bits);
	return sink_answer(sink, msg, ret, bits);
}

static int end_dir(struct sink *sink, const struct path *path, const struct wire_msg *msg)
{
	struct part_meta meta;
	int fd, ret;

	if (sink->dry || (path_is_top(path) && !top_changes(sink)))
		return 0;
	ret = sink_attrs_match(sink, msg);
	if (ret)
		return ret;
	sink_meta(sink, msg, &meta);
	fd = sink_open_beneath(sink, path->text, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd;
	ret = meta_apply(fd, &meta);
	if (!ret && meta.sync && fsync(fd))
		ret = -errno;
	close(fd);
	return ret;
}

int sink_dir_end(struct sink *sink, const struct wire_msg *msg)
{
	struct path path = { .text = "" };
	int ret;

	ret = sink_place(sink, msg, &path);
	if (!ret)
		ret = end_dir(sink, &path, msg);
	names_leave(&sink->names, path.text);
	if (ret)
		copy_failed(sink->copy, ERR_LOCAL, ret, path.text);
	else
		sink->copy->dirs++;
	return sink_answer(sink, msg, ret, 0);
}

/* ---- what the source does not have ------------------------------------------- */

static bool has_name(void *arg, const char *name)
{
	return names_has(arg, name);
}

static int begin_prune(struct sink *sink, const struct wire_msg *msg)
{
	struct path path;
	int fd, ret;

	if (sink->no_delete)
		return -EACCES;
	prune_close(&sink->prune);
	ret = sink_place(sink, msg, &path);
	if (ret)
		return ret;
	/* The name of an unreadable entry is unknown, so deletion could remove its copy. */
	if (sink->incomplete)
		return -ECANCELED;
	if (!names_complete(&sink->names, path.text))
		return -EOVERFLOW;
	if (sink->missing)
		return 0;
	fd = sink_open_beneath(sink, path.text, O_RDONLY | O_DIRECTORY);
	if (fd < 0)
		return fd == -ENOENT && sink->dry ? 0 : fd;
	sink->prune.dry = sink->dry;
	sink->prune.filter = sink->copy->filter;
	sink->prune.keep = has_name;
	sink->prune.arg = &sink->names;
	return prune_open(&sink->prune, fd, path.text);
}

/* On the client, report to the user instead of the peer. */
static int remove_all(struct sink *sink)
{
	struct prune *p = &sink->prune;
	int ret = 0;

	while (!ret && prune_next(p, p->unsaid, &p->unsaid_err)) {
		if (p->unsaid_err)
			copy_failed(sink->copy, ERR_LOCAL, p->unsaid_err, p->unsaid);
		else
			copy_removed(sink->copy, p->unsaid);
		ret = copy_beat(sink->copy);
	}
	return ret;
}

static int answer_removal(struct sink *sink, const struct wire_msg *msg)
{
	struct wire_msg done = {
		.type = WIRE_DONE, .id = msg->id, .window = WIRE_NO_WINDOW,
	};
	uint8_t buf[WIRE_TAIL_MAX];
	size_t len = 0;
	int ret;

	if (sink->copy->user)
		ret = remove_all(sink);
	else
		ret = prune_fill(&sink->prune, buf, &len, copy_beat, sink->copy);
	if (ret < 0)
		return ret;
	done.flags = ret ? WIRE_I_MORE : 0;
	done.tail = buf;
	done.tail_len = len;
	ret = hash_confirm(session_mac_key(sink->s), msg->digest, done.flags, &done.digest);
	return ret ? ret : session_send(sink->s, &done);
}

int sink_prune(struct sink *sink, const struct wire_msg *msg)
{
	int ret = 0;

	if (!(sink->copy->opts & WIRE_F_DELETE))
		return -EPROTO;
	if (!(msg->flags & WIRE_F_CONTINUE))
		ret = begin_prune(sink, msg);
	if (!ret)
		return answer_removal(sink, msg);
	copy_failed(sink->copy, ERR_LOCAL, ret, "");
	return sink_answer(sink, msg, ret, 0);
}
