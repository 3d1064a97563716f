// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Comparison of entries with those of the sink, and entries without data.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "copy/mode.h"
#include "copy/sink.h"

#define TRIES 8

/**
 * struct found - the entry that has a name now
 * @path: the name
 * @fd: open as a path, or -1: nothing has it
 * @st: of @fd
 */
struct found {
	struct path path;
	int fd;
	struct stat st;
};

int sink_answer(struct sink *sink, const struct wire_msg *msg, int err, uint32_t bits)
{
	struct wire_msg done = {
		.type = WIRE_DONE,
		.status = wire_status(err),
		.id = msg->id,
		.window = WIRE_NO_WINDOW,
		.flags = bits,
	};
	int ret = 0;

	if (!err)
		ret = hash_confirm(session_mac_key(sink->s), msg->digest, bits, &done.digest);
	return ret ? ret : session_queue(sink->s, &done);
}

int sink_name(struct sink *sink, const struct path *path)
{
	if (!(sink->copy->opts & WIRE_F_DELETE))
		return 0;
	return names_add(&sink->names, path->dir, path->name);
}

void sink_say(struct sink *sink, const struct wire_msg *msg, enum item_action action, char type,
	      uint32_t bits)
{
	char path[PATH_MAX], target[PATH_MAX];
	struct item item = { .action = action, .type = type, .bits = bits, .path = path };

	snprintf(path, sizeof(path), "%.*s%s", (int)msg->tail_len, (const char *)msg->tail,
		 type == 'd' ? "/" : "");
	if (msg->type == WIRE_LINK || msg->type == WIRE_HARD) {
		snprintf(target, sizeof(target), "%.*s", (int)msg->extra_len,
			 (const char *)msg->extra);
		item.target = target;
	}
	copy_item(sink->copy, &item);
}

/* A part of the attributes of the next entry: they come in order. */
int sink_take_attr(struct sink *sink, const struct wire_msg *msg)
{
	struct attrs *a = &sink->attrs;
	uint8_t *bytes;

	if (!msg->offset)
		attrs_free(a);
	if (msg->offset != a->len || msg->size > ATTRS_MAX ||
	    msg->offset + msg->tail_len > msg->size)
		return -EPROTO;
	bytes = realloc(a->bytes, a->len + msg->tail_len);
	if (!bytes)
		return -ENOMEM;
	memcpy(bytes + a->len, msg->tail, msg->tail_len);
	a->bytes = bytes;
	a->len += msg->tail_len;
	return 0;
}

int sink_attr(struct sink *sink, const struct wire_msg *msg)
{
	int ret = sink_take_attr(sink, msg);

	return ret ? ret : sink_answer(sink, msg, 0, 0);
}

int sink_attrs_match(struct sink *sink, const struct wire_msg *msg)
{
	uint64_t acl, xattr;
	int ret;

	if (!msg->acl && !msg->xattr) {
		attrs_free(&sink->attrs);
		return 0;
	}
	ret = attrs_check(&sink->attrs);
	if (!ret)
		ret = attrs_digests(&sink->attrs, session_mac_key(sink->s), &acl, &xattr);
	return !ret && (acl != msg->acl || xattr != msg->xattr) ? -EBADMSG : ret;
}

void sink_meta(const struct sink *sink, const struct wire_msg *msg,
	       struct part_meta *meta)
{
	const struct copy *c = sink->copy;
	mode_t type = msg->type == WIRE_DIR || msg->type == WIRE_DIR_END ? S_IFDIR : S_IFREG;

	memset(meta, 0, sizeof(*meta));
	/* A client's -p includes set-user-ID and similar bits; a server permits them by --super. */
	meta->mask = c->opts & WIRE_F_PERMS && (c->user || c->privileged) ? 07777 : 0777;
	if (c->chmod)
		meta->mask = 07777;
	meta->mode = mode_change(c->chmod, type | (msg->mode & meta->mask)) & 07777 & ~sink->umask;
	meta->set_owner = c->opts & WIRE_F_OWNER && c->privileged;
	meta->set_group = c->opts & WIRE_F_GROUP &&
			  (c->privileged || (c->user && group_member(msg->gid)));
	meta->uid = msg->uid;
	meta->gid = msg->gid;
	meta->times[0].tv_sec = msg->atime;
	meta->times[0].tv_nsec = msg->atime_ns;
	meta->times[1].tv_sec = msg->mtime;
	meta->times[1].tv_nsec = msg->mtime_ns;
	meta->attrs = &sink->attrs;
	meta->which = copy_attrs(c);
	meta->sync = sink->sync;
	meta->beat = copy_beat;
	meta->arg = sink->copy;
}

int sink_differs(struct sink *sink, const struct wire_msg *msg, int fd, const struct stat *st,
		 uint32_t *bits)
{
	unsigned int which = copy_attrs(sink->copy);
	uint64_t acl, xattr;
	struct part_meta meta;
	struct attrs a;
	int ret;

	sink_meta(sink, msg, &meta);
	*bits |= meta_differs(&meta, st);
	if (!which || S_ISLNK(st->st_mode))
		return 0;
	ret = attrs_read(&a, fd, which);
	if (ret)
		return ret;
	ret = attrs_digests(&a, session_mac_key(sink->s), &acl, &xattr);
	attrs_free(&a);
	if (acl != msg->acl)
		*bits |= WIRE_I_ACL;
	if (xattr != msg->xattr)
		*bits |= WIRE_I_XATTR;
	return ret;
}

/* Look up the name of the entry, without following a link. */
static int find(struct sink *sink, const struct wire_msg *msg, struct found *f)
{
	int dir, ret;

	f->fd = -1;
	ret = sink_place(sink, msg, &f->path);
	if (!ret && path_is_top(&f->path))
		ret = -EISDIR;
	if (!ret)
		ret = sink_name(sink, &f->path);
	if (ret)
		return ret;
	if (sink->out >= 0)
		return 0;
	dir = sink_parent(sink, &f->path);
	if (dir < 0)
		return dir == -ENOENT && sink->dry ? 0 : dir;
	f->fd = openat(dir, f->path.name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd < 0)
		return errno == ENOENT ? 0 : -errno;
	return fstat(f->fd, &f->st) ? -errno : 0;
}

static void lose(struct found *f)
{
	if (f->fd >= 0)
		close(f->fd);
}

/* ---- files --------------------------------------------------------------------- */

static int compare_data(struct sink *sink, const struct wire_msg *msg, const struct found *f,
			uint32_t *bits)
{
	uint8_t sha[WIRE_SHA_LEN];
	int fd, ret;

	if ((uint64_t)f->st.st_size != msg->size) {
		*bits |= WIRE_I_SIZE;
		return 0;
	}
	if (msg->extra_len != WIRE_SHA_LEN)
		return 0;
	fd = openat(sink->parent, f->path.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	/* An unreadable file counts as different. */
	ret = fd < 0 ? -EACCES : hash_whole(fd, sha, copy_beat, sink->copy);
	if (ret || memcmp(sha, msg->extra, sizeof(sha)))
		*bits |= WIRE_I_DATA;
	if (fd >= 0)
		close(fd);
	return session_broken(sink->s, ret) ? ret : 0;
}

static bool is_newer(const struct stat *st, const struct wire_msg *msg)
{
	return st->st_mtim.tv_sec > msg->mtime ||
	       (st->st_mtim.tv_sec == msg->mtime && st->st_mtim.tv_nsec > msg->mtime_ns);
}

/* Whether the data must come. */
static bool is_wanted(const struct sink *sink, uint32_t bits)
{
	uint32_t opts = sink->copy->opts;

	if (bits & (WIRE_I_NEW | WIRE_I_SIZE | WIRE_I_DATA) || opts & WIRE_F_IGNORE_TIMES)
		return true;
	return bits & WIRE_I_TIME && !(opts & (WIRE_F_CHECKSUM | WIRE_F_SIZE_ONLY));
}

static int look_at_file(struct sink *sink, const struct wire_msg *msg, const struct found *f,
			uint32_t *bits)
{
	uint32_t opts = sink->copy->opts;
	int ret;

	if (f->fd < 0 || S_ISLNK(f->st.st_mode)) {
		*bits = f->fd < 0 && opts & WIRE_F_EXISTING ? WIRE_I_NEWER : WIRE_I_NEW;
		return 0;
	}
	if (!S_ISREG(f->st.st_mode))
		return S_ISDIR(f->st.st_mode) ? -EISDIR : -EEXIST;
	if (opts & WIRE_F_IGNORE_EXISTING ||
	    (opts & WIRE_F_UPDATE && is_newer(&f->st, msg))) {
		*bits = WIRE_I_NEWER;
		return 0;
	}
	ret = compare_data(sink, msg, f, bits);
	return ret ? ret : sink_differs(sink, msg, f->fd, &f->st, bits);
}

static int change(struct sink *sink, const struct wire_msg *msg, int fd)
{
	struct part_meta meta;
	int ret;

	ret = sink_attrs_match(sink, msg);
	if (ret)
		return ret;
	sink_meta(sink, msg, &meta);
	return meta_apply(fd, &meta);
}

static int want(struct sink *sink, const struct wire_msg *msg, uint32_t bits)
{
	struct wire_msg answer = {
		.type = WIRE_WANT, .id = msg->id, .window = WIRE_NO_WINDOW, .flags = bits,
	};

	sink_say(sink, msg, ITEM_RECEIVED, 'f', bits);
	return session_queue(sink->s, &answer);
}

/* ASK: does the data have to come? If not, attributes are made what they should be. */
int sink_ask(struct sink *sink, const struct wire_msg *msg)
{
	struct copy *c = sink->copy;
	uint32_t bits = 0;
	struct found f;
	int ret;

	if (!msg->id)
		return -EPROTO;
	f.path.text[0] = '\0';
	ret = find(sink, msg, &f);
	if (!ret)
		ret = look_at_file(sink, msg, &f, &bits);
	if (!ret && is_wanted(sink, bits) && !(bits & WIRE_I_NEWER)) {
		lose(&f);
		return want(sink, msg, bits);
	}
	if (!ret && bits & WIRE_I_CHANGES && !sink->dry)
		ret = change(sink, msg, f.fd);
	lose(&f);
	if (ret && session_broken(sink->s, ret))
		return ret;
	if (ret) {
		copy_failed(c, ERR_LOCAL, ret, f.path.text);
	} else {
		c->same++;
		c->same_bytes += msg->size;
		progress_resume(&c->progress, msg->size);
		sink_say(sink, msg, ITEM_NOTHING, 'f', bits);
	}
	return sink_answer(sink, msg, ret, bits);
}

/* ---- entries without data -------------------------------------------------------- */

/**
 * struct maker - how an entry is made
 * @make: under a name that nothing has, in an open directory
 * @arg: for @make
 */
struct maker {
	int (*make)(int dir, const char *name, const void *arg);
	const void *arg;
};

static int make_link(int dir, const char *name, const void *arg)
{
	return symlinkat(arg, dir, name) ? -errno : 0;
}

static int make_node(int dir, const char *name, const void *arg)
{
	const struct wire_msg *msg = arg;

	return mknodat(dir, name, (msg->mode & S_IFMT) | 0600,
		       makedev(msg->size >> 32, msg->size & 0xffffffff)) ? -errno : 0;
}

/**
 * struct hard - the file that gets another name
 * @dir: its directory, open
 * @name: its name
 */
struct hard {
	int dir;
	const char *name;
};

static int make_hard(int dir, const char *name, const void *arg)
{
	const struct hard *h = arg;

	return linkat(h->dir, h->name, dir, name, 0) ? -errno : 0;
}

/* Make it under a name of its own. */
static int make_aside(int dir, const char *final, const struct maker *m, char *name)
{
	uint64_t salt;
	int i, ret = -EEXIST;

	for (i = 0; i < TRIES && ret == -EEXIST; i++) {
		if (getrandom(&salt, sizeof(salt), 0) != sizeof(salt))
			return -EIO;
		ret = part_name(name, final, salt | 1);
		if (!ret)
			ret = m->make(dir, name, m->arg);
	}
	return ret;
}

static int set_meta(struct sink *sink, const struct wire_msg *msg, int dir, const char *name)
{
	struct part_meta meta;
	int fd, ret;

	if (msg->type == WIRE_HARD)
		return 0;
	ret = sink_attrs_match(sink, msg);
	if (ret)
		return ret;
	sink_meta(sink, msg, &meta);
	if (msg->type == WIRE_LINK)
		return meta_apply_link(dir, name, &meta);
	fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = meta_apply(fd, &meta);
	close(fd);
	return ret;
}

/* Make the entry, and give it the name of what was there. */
static int put_in_place(struct sink *sink, const struct wire_msg *msg, const struct path *path,
			const struct maker *m)
{
	int dir = sink_parent(sink, path), ret;
	char name[NAME_MAX + 1];

	if (dir < 0)
		return dir;
	if (strlen(path->name) > NAME_MAX)
		return -ENAMETOOLONG;
	ret = make_aside(dir, path->name, m, name);
	if (ret)
		return ret;
	ret = set_meta(sink, msg, dir, name);
	if (!ret && renameat(dir, name, dir, path->name))
		ret = -errno;
	if (ret)
		unlinkat(dir, name, 0);
	return ret;
}

static int finish(struct sink *sink, const struct wire_msg *msg, struct found *f, int ret,
		  char type, uint32_t bits)
{
	enum item_action action = ITEM_NOTHING;

	lose(f);
	if (ret) {
		copy_failed(sink->copy, ERR_LOCAL, ret, f->path.text);
		return sink_answer(sink, msg, ret, 0);
	}
	if (bits & (WIRE_I_NEW | WIRE_I_DATA))
		action = msg->type == WIRE_HARD ? ITEM_LINKED : ITEM_CREATED;
	sink->copy->others++;
	sink_say(sink, msg, action, type, bits);
	return sink_answer(sink, msg, 0, bits);
}

static bool has_target(const struct sink *sink, const struct found *f, const char *target)
{
	char now[PATH_MAX];
	ssize_t n = readlinkat(sink->parent, f->path.name, now, sizeof(now));

	return n >= 0 && (size_t)n == strlen(target) && !memcmp(now, target, n);
}

/* LINK: a symbolic link */
int sink_link(struct sink *sink, const struct wire_msg *msg)
{
	struct part_meta meta;
	char target[PATH_MAX];
	uint32_t bits = 0;
	struct found f;
	int ret;

	f.path.text[0] = '\0';
	if (!msg->id || !(sink->copy->opts & WIRE_F_LINKS))
		return -EPROTO;
	snprintf(target, sizeof(target), "%.*s", (int)msg->extra_len, (const char *)msg->extra);
	ret = sink->files_only || sink->out >= 0 ? -ELOOP : find(sink, msg, &f);
	if (ret)
		return finish(sink, msg, &f, ret, 'L', 0);
	if (f.fd < 0)
		bits = WIRE_I_NEW;
	else if (S_ISDIR(f.st.st_mode))
		ret = -EISDIR;
	else if (!S_ISLNK(f.st.st_mode) || !has_target(sink, &f, target))
		bits = WIRE_I_DATA;
	if (!ret && f.fd >= 0)
		ret = sink_differs(sink, msg, f.fd, &f.st, &bits);
	if (ret || sink->dry)
		return finish(sink, msg, &f, ret, 'L', bits);
	if (bits & (WIRE_I_NEW | WIRE_I_DATA)) {
		ret = put_in_place(sink, msg, &f.path, &(struct maker){ make_link, target });
	} else if (bits) {
		sink_meta(sink, msg, &meta);
		ret = meta_apply_link(sink->parent, f.path.name, &meta);
	}
	return finish(sink, msg, &f, ret, 'L', bits);
}

static bool is_same_node(const struct stat *st, const struct wire_msg *msg)
{
	if ((st->st_mode ^ msg->mode) & S_IFMT)
		return false;
	return !(S_ISCHR(st->st_mode) || S_ISBLK(st->st_mode)) ||
	       st->st_rdev == makedev(msg->size >> 32, msg->size & 0xffffffff);
}

static int may_make(const struct sink *sink, mode_t mode)
{
	if (sink->files_only || sink->out >= 0)
		return -EOPNOTSUPP;
	if (S_ISFIFO(mode) || S_ISSOCK(mode))
		return 0;
	if (!S_ISCHR(mode) && !S_ISBLK(mode))
		return -EINVAL;
	return sink->copy->privileged ? 0 : -EACCES;
}

/* NODE: a FIFO, a socket or a device */
int sink_node(struct sink *sink, const struct wire_msg *msg)
{
	char type = S_ISCHR(msg->mode) || S_ISBLK(msg->mode) ? 'D' : 'S';
	uint32_t bits = 0;
	struct found f;
	int ret;

	f.path.text[0] = '\0';
	f.fd = -1;
	if (!msg->id || !(sink->copy->opts & WIRE_F_DEVICES))
		return -EPROTO;
	ret = may_make(sink, msg->mode);
	if (!ret)
		ret = find(sink, msg, &f);
	if (ret)
		return finish(sink, msg, &f, ret, type, 0);
	if (f.fd < 0)
		bits = WIRE_I_NEW;
	else if (S_ISDIR(f.st.st_mode))
		ret = -EISDIR;
	else if (!is_same_node(&f.st, msg))
		bits = WIRE_I_DATA;
	if (!ret && f.fd >= 0)
		ret = sink_differs(sink, msg, f.fd, &f.st, &bits);
	if (ret || sink->dry)
		return finish(sink, msg, &f, ret, type, bits);
	if (bits & (WIRE_I_NEW | WIRE_I_DATA))
		ret = put_in_place(sink, msg, &f.path, &(struct maker){ make_node, msg });
	else if (bits)
		ret = change(sink, msg, f.fd);
	return finish(sink, msg, &f, ret, type, bits);
}

/* The file that is to get another name */
static int find_first(struct sink *sink, const struct wire_msg *msg, struct path *path,
		      struct stat *st)
{
	const struct wire_msg first = { .tail = msg->extra, .tail_len = msg->extra_len };
	int dir, ret;

	ret = sink_place(sink, &first, path);
	if (ret)
		return ret;
	if (path_is_top(path))
		return -EISDIR;
	dir = sink_open_beneath(sink, path->dir, O_PATH | O_DIRECTORY);
	if (dir < 0)
		return dir;
	if (fstatat(dir, path->name, st, AT_SYMLINK_NOFOLLOW) || S_ISDIR(st->st_mode)) {
		close(dir);
		return -ENOENT;
	}
	return dir;
}

/* HARD: another name of a file that is there by now */
int sink_hard(struct sink *sink, const struct wire_msg *msg)
{
	uint32_t bits = 0;
	struct path first;
	struct found f;
	struct stat st;
	int dir, ret;

	f.path.text[0] = '\0';
	if (!msg->id || !(sink->copy->opts & WIRE_F_HARD_LINKS))
		return -EPROTO;
	ret = sink->files_only || sink->out >= 0 ? -EOPNOTSUPP : find(sink, msg, &f);
	if (ret)
		return finish(sink, msg, &f, ret, 'f', 0);
	if (f.fd < 0)
		bits = WIRE_I_NEW;
	else if (S_ISDIR(f.st.st_mode))
		ret = -EISDIR;
	dir = ret || sink->missing ? -1 : find_first(sink, msg, &first, &st);
	if (!ret && dir < 0 && !sink->dry)
		ret = dir;
	if (!ret && f.fd >= 0 && (dir < 0 || st.st_ino != f.st.st_ino || st.st_dev != f.st.st_dev))
		bits = WIRE_I_DATA;
	if (!ret && bits && !sink->dry)
		ret = put_in_place(sink, msg, &f.path, &(struct maker){
			make_hard, &(struct hard){ dir, first.name } });
	if (dir >= 0)
		close(dir);
	return finish(sink, msg, &f, ret, 'f', bits);
}
