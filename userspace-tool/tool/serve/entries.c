// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "copy/copy.h"
#include "copy/entry.h"
#include "copy/hash.h"
#include "copy/path.h"
#include "copy/prune.h"
#include "serve/entries.h"

/**
 * struct entries - a client of ls or rm
 * @copy: its connection
 * @conf: what it may do
 * @share: number of the share that is listed next
 * @dir: the directory that is listed, or NULL
 * @held: a name in @dir that did not fit into the last answer, or empty
 * @prune: what is being removed
 */
struct entries {
	struct copy copy;
	const struct files_conf *conf;
	unsigned int share;
	DIR *dir;
	char held[NAME_MAX + 1];
	struct prune prune;
};

static int answer(struct entries *e, const struct wire_msg *msg, int err, bool more,
		  const void *tail, size_t len)
{
	struct wire_msg done = {
		.type = WIRE_DONE,
		.status = wire_status(err),
		.id = msg->id,
		.window = WIRE_NO_WINDOW,
		.flags = more ? WIRE_I_MORE : 0,
		.tail = tail,
		.tail_len = len,
	};
	int ret = 0;

	if (!err)
		ret = hash_confirm(session_mac_key(e->copy.session), msg->digest, done.flags,
				   &done.digest);
	return ret ? ret : session_send(e->copy.session, &done);
}

static void close_dir(struct entries *e)
{
	if (e->dir)
		closedir(e->dir);
	e->dir = NULL;
	*e->held = '\0';
}

/* A name that has just gone is left out. Returns false if it does not fit. */
static bool add(int dir, const char *name, uint8_t *buf, size_t *len)
{
	char target[PATH_MAX];
	struct entry entry = { .name = name, .target = "" };
	ssize_t n;

	if (fstatat(dir, name, &entry.st, AT_SYMLINK_NOFOLLOW))
		return true;
	if (S_ISLNK(entry.st.st_mode)) {
		n = readlinkat(dir, name, target, sizeof(target) - 1);
		target[n < 0 ? 0 : n] = '\0';
		entry.target = target;
	}
	return entry_put(&entry, buf, len) || !*len;
}

static const struct share *next_share(const struct entries *e)
{
	const struct shares *shares = e->conf->shares;

	return shares && e->share < shares->nr ? &shares->list[e->share] : NULL;
}

static int list_shares(struct entries *e, const struct wire_msg *msg)
{
	struct entry entry = { .target = "" };
	const struct share *share;
	uint8_t buf[WIRE_TAIL_MAX];
	size_t len = 0;

	for (; (share = next_share(e)); e->share++) {
		entry.name = share->name;
		if (!fstat(share->root, &entry.st) && !entry_put(&entry, buf, &len))
			break;
	}
	return answer(e, msg, 0, share, buf, len);
}

static int list_on(struct entries *e, const struct wire_msg *msg)
{
	uint8_t buf[WIRE_TAIL_MAX];
	struct dirent *de;
	size_t len = 0;

	if (!e->dir && next_share(e))
		return list_shares(e, msg);
	if (!e->dir)
		return answer(e, msg, 0, false, NULL, 0);
	if (*e->held)
		add(dirfd(e->dir), e->held, buf, &len);
	*e->held = '\0';
	while ((de = readdir(e->dir))) {
		if (!strcmp(de->d_name, ".") || !strcmp(de->d_name, ".."))
			continue;
		if (!add(dirfd(e->dir), de->d_name, buf, &len)) {
			strcpy(e->held, de->d_name);
			return answer(e, msg, 0, true, buf, len);
		}
	}
	close_dir(e);
	return answer(e, msg, 0, false, buf, len);
}

static int open_listed(struct entries *e, int root, const struct path *path)
{
	int fd = path_open(root, path->text, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd;
	e->dir = fdopendir(fd);
	if (e->dir)
		return 0;
	close(fd);
	return -ENOMEM;
}

static int list_file(struct entries *e, const struct wire_msg *msg, int root,
		     const struct path *path)
{
	int dir = path_open_parent(root, path);
	uint8_t buf[WIRE_TAIL_MAX];
	size_t len = 0;

	if (dir < 0)
		return answer(e, msg, dir, false, NULL, 0);
	add(dir, path->name, buf, &len);
	close(dir);
	return answer(e, msg, len ? 0 : -ENOENT, false, buf, len);
}

static int list(struct entries *e, const struct wire_msg *msg)
{
	struct path path, beneath;
	struct files_conf conf;
	int ret;

	if (msg->flags & WIRE_F_CONTINUE)
		return list_on(e, msg);
	close_dir(e);
	e->share = e->conf->shares ? e->conf->shares->nr : 0;
	ret = path_parse(&path, msg->tail, msg->tail_len);
	if (!ret && e->conf->shares && path_is_top(&path)) {
		e->share = 0;
		return list_shares(e, msg);
	}
	if (!ret)
		ret = files_select(e->conf, &path, &conf, &beneath);
	if (!ret)
		ret = open_listed(e, conf.root, &beneath);
	if (ret == -ENOTDIR)
		return list_file(e, msg, conf.root, &beneath);
	return ret ? answer(e, msg, ret, false, NULL, 0) : list_on(e, msg);
}

static int begin_removal(struct entries *e, const struct wire_msg *msg)
{
	struct path path, beneath;
	struct prune *p = &e->prune;
	struct files_conf conf;
	struct stat st;
	int fd, ret;

	prune_close(p);
	ret = path_parse(&path, msg->tail, msg->tail_len);
	if (!ret)
		ret = files_select(e->conf, &path, &conf, &beneath);
	if (ret)
		return ret;
	if (conf.read_only)
		return -EROFS;
	/* The root itself stays. */
	if (conf.no_delete || path_is_top(&beneath))
		return -EACCES;
	p->dry = msg->flags & WIRE_F_DRY_RUN;
	p->parent = path_open_parent(conf.root, &beneath);
	if (p->parent < 0) {
		ret = p->parent;
		p->parent = -1;
		return ret;
	}
	if (strlen(path.name) > NAME_MAX)
		return -ENAMETOOLONG;
	strcpy(p->name, path.name);
	if (fstatat(p->parent, path.name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	if (!S_ISDIR(st.st_mode)) {
		if (!p->dry && unlinkat(p->parent, path.name, 0))
			return -errno;
		strcpy(p->unsaid, path.text);
		p->unsaid_err = 0;
		close(p->parent);
		p->parent = -1;
		return 0;
	}
	if (!(msg->flags & WIRE_F_RECURSIVE))
		return -EISDIR;
	fd = openat(p->parent, path.name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	return fd < 0 ? -errno : prune_open(p, fd, path.text);
}

static int remove_all(struct entries *e, const struct wire_msg *msg)
{
	uint8_t buf[WIRE_TAIL_MAX];
	size_t len;
	int ret = 0;

	if (!(msg->flags & WIRE_F_CONTINUE))
		ret = begin_removal(e, msg);
	if (ret) {
		prune_close(&e->prune);
		return answer(e, msg, ret, false, NULL, 0);
	}
	ret = prune_fill(&e->prune, buf, &len, copy_beat, &e->copy);
	return ret < 0 ? ret : answer(e, msg, 0, ret, buf, len);
}

static int take(struct entries *e, const struct wire_msg *msg)
{
	if (msg->type != WIRE_LIST && msg->type != WIRE_REMOVE)
		return -EPROTO;
	if (copy_check(&e->copy, msg))
		return -EBADMSG;
	if (!files_exist(e->conf))
		return answer(e, msg, e->conf->root, false, NULL, 0);
	return msg->type == WIRE_LIST ? list(e, msg) : remove_all(e, msg);
}

int entries_serve(struct session *s, const struct files_conf *conf, const struct wire_msg *first)
{
	struct entries e = { .copy.session = s, .conf = conf };
	struct wire_msg msg = *first;
	int ret;

	prune_init(&e.prune);
	do {
		ret = take(&e, &msg);
		if (!ret)
			ret = session_recv(s, &msg, s->timeout_ms);
	} while (!ret);
	close_dir(&e);
	prune_close(&e.prune);
	return ret;
}
