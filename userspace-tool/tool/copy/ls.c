// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs ls: list files on a server.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <json-c/json.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/server_opts.h"
#include "copy/entry.h"
#include "copy/remote.h"
#include "copy/report.h"

/* Directories in one another */
#define DEPTH_MAX 128

/**
 * struct ls - one run
 * @remote: the server
 * @all: names that begin with a dot, too
 * @size: print more than names
 * @recursive: what is in directories, too
 * @files: entries of JSON, or NULL
 * @status: exit status so far
 */
struct ls {
	struct remote remote;
	bool all;
	bool size;
	bool recursive;
	struct json_object *files;
	int status;
};

/**
 * struct listed - an entry, with its strings
 * @entry: the entry
 * @text: its strings
 */
struct listed {
	struct entry entry;
	char *text;
};

/**
 * struct listing - a directory
 * @entries: what is in it
 * @nr: how many
 * @room: how many there is room for
 */
struct listing {
	struct listed *entries;
	size_t nr;
	size_t room;
};

static void fail(struct ls *ls, int err, const char *path)
{
	char clean[PATH_MAX];
	int status;

	report_clean(clean, sizeof(clean), path);
	status = err_report(ERR_REMOTE, err, "list %s:%s", ls->remote.to.host, clean);
	if (!ls->status)
		ls->status = status;
}

static int add(struct listing *l, const struct entry *entry)
{
	size_t name = strlen(entry->name) + 1, target = strlen(entry->target) + 1;
	struct listed *to;

	if (l->nr == l->room) {
		l->room = l->room ? 2 * l->room : 64;
		to = realloc(l->entries, l->room * sizeof(*to));
		if (!to)
			return -ENOMEM;
		l->entries = to;
	}
	to = &l->entries[l->nr];
	to->entry = *entry;
	to->text = malloc(name + target);
	if (!to->text)
		return -ENOMEM;
	memcpy(to->text, entry->name, name);
	memcpy(to->text + name, entry->target, target);
	to->entry.name = to->text;
	to->entry.target = to->text + name;
	l->nr++;
	return 0;
}

static int take(void *arg, const struct wire_msg *done)
{
	char text[ENTRY_TEXT_LEN];
	struct entry entry;
	ssize_t at = 0;
	int ret = 0;

	while (at < (ssize_t)done->tail_len && !ret) {
		at = entry_get(&entry, text, done->tail, done->tail_len, at);
		ret = at < 0 ? (int)at : add(arg, &entry);
	}
	return ret;
}

static int by_name(const void *a, const void *b)
{
	const struct listed *x = a, *y = b;

	return strcmp(x->entry.name, y->entry.name);
}

/* "drwxr-sr-t" */
static void mode_text(mode_t mode, char text[11])
{
	static const char letters[] = "rwxrwxrwx";
	int i;

	text[0] = S_ISDIR(mode) ? 'd' : S_ISLNK(mode) ? 'l' : S_ISCHR(mode) ? 'c' :
		  S_ISBLK(mode) ? 'b' : S_ISFIFO(mode) ? 'p' : S_ISSOCK(mode) ? 's' : '-';
	for (i = 0; i < 9; i++)
		text[1 + i] = mode & 0400 >> i ? letters[i] : '-';
	if (mode & S_ISUID)
		text[3] = mode & 0100 ? 's' : 'S';
	if (mode & S_ISGID)
		text[6] = mode & 0010 ? 's' : 'S';
	if (mode & S_ISVTX)
		text[9] = mode & 0001 ? 't' : 'T';
	text[10] = '\0';
}

static void time_text(const struct stat *st, char *text, size_t room)
{
	struct tm tm;

	if (!localtime_r(&st->st_mtim.tv_sec, &tm) ||
	    !strftime(text, room, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(text, room, "%" PRId64, (int64_t)st->st_mtim.tv_sec);
}

static void print_json(struct ls *ls, const struct entry *e, const char *path, const char *target)
{
	struct json_object *o = json_object_new_object();
	char mode[11];

	mode_text(e->st.st_mode, mode);
	json_put_str(o, "path", path);
	json_put_str(o, "mode", mode);
	json_put_int(o, "size", e->st.st_size);
	json_object_object_add(o, "mtime", json_object_new_int64(e->st.st_mtim.tv_sec));
	json_put_int(o, "uid", e->st.st_uid);
	json_put_int(o, "gid", e->st.st_gid);
	json_put_int(o, "links", e->st.st_nlink);
	if (*target)
		json_put_str(o, "target", target);
	json_object_array_add(ls->files, o);
}

static void print_one(struct ls *ls, const struct entry *e, const char *path)
{
	char clean[2 * PATH_MAX], target[PATH_MAX], mode[11], when[32];

	report_clean(clean, sizeof(clean), path);
	report_clean(target, sizeof(target), e->target);
	if (ls->files) {
		print_json(ls, e, clean, target);
		return;
	}
	if (!ls->size) {
		out_text("%s%s\n", clean, S_ISDIR(e->st.st_mode) ? "/" : "");
		return;
	}
	mode_text(e->st.st_mode, mode);
	time_text(&e->st, when, sizeof(when));
	out_text("%s %3u %5u %5u %12" PRIu64 " %s %s%s%s\n", mode, (unsigned int)e->st.st_nlink,
		 e->st.st_uid, e->st.st_gid, (uint64_t)e->st.st_size, when, clean,
		 *target ? " -> " : "", target);
}

static void free_listing(struct listing *l)
{
	while (l->nr)
		free(l->entries[--l->nr].text);
	free(l->entries);
}

static int list(struct ls *ls, const char *path, const char *shown, unsigned int depth);

static int print_all(struct ls *ls, const struct listing *l, const char *path, const char *shown,
		     unsigned int depth)
{
	const struct entry *e;
	char name[2 * PATH_MAX], full[2 * PATH_MAX];
	int ret = 0;
	size_t i;

	for (i = 0; i < l->nr && !ret; i++) {
		e = &l->entries[i].entry;
		if (*e->name == '.' && !ls->all)
			continue;
		snprintf(name, sizeof(name), "%s%s%s", shown, *shown ? "/" : "", e->name);
		print_one(ls, e, name);
		snprintf(full, sizeof(full), "%s/%s", path, e->name);
		if (!ls->recursive || !S_ISDIR(e->st.st_mode))
			continue;
		if (strlen(full) > WIRE_PATH_MAX || depth == DEPTH_MAX)
			fail(ls, -ENAMETOOLONG, full);
		else
			ret = list(ls, full, name, depth + 1);
	}
	return ret;
}

/* @shown: its name in what is printed */
static int list(struct ls *ls, const char *path, const char *shown, unsigned int depth)
{
	struct wire_msg msg = { .type = WIRE_LIST, .tail = path, .tail_len = strlen(path) };
	struct listing l = { .nr = 0 };
	int err = 0, ret;

	ret = remote_ask(&ls->remote, &msg, &err, take, &l);
	if (!ret && err)
		fail(ls, err, path);
	if (l.nr)
		qsort(l.entries, l.nr, sizeof(*l.entries), by_name);
	if (!ret)
		ret = print_all(ls, &l, path, shown, depth);
	free_listing(&l);
	return ret;
}

static int run(struct ls *ls, const struct target *targets, int nr)
{
	int i, ret = 0, status;

	status = remote_open(&ls->remote);
	if (status)
		return status;
	if (out_is_json()) {
		ls->files = json_object_new_array();
		json_object_object_add(out_root(), "files", ls->files);
	}
	for (i = 0; i < nr && !ret; i++) {
		if (nr > 1)
			out_text("%s%s:\n", i ? "\n" : "", targets[i].path);
		ret = list(ls, targets[i].path, "", 0);
	}
	if (ret) {
		ls->status = err_report(ERR_PEER, ret, "talk to %s", ls->remote.session.peer);
		session_print_why(&ls->remote.session, ret, false);
	}
	remote_close(&ls->remote);
	return ls->status;
}

static const char usage[] =
"usage: kverbs ls [options] HOST:PATH...\n"
"\n"
"List files below the --root of a kverbs server, sorted by name. Names of directories end\n"
"with a slash.\n";

static const char notes[] =
"Exit status: 0 listed, 1 failed, 2 usage, 3 cannot reach, 4 not permitted or no device.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("all", 'a', OPTS_SET, struct ls, all,
		    OPTS_HELP(NULL, "list names that begin with a dot, too"),
		    OPTS_DOC("List names that begin with a dot, too.")),
	OPTS_OPTION("long", 'l', OPTS_SET, struct ls, size,
		    OPTS_HELP(NULL, "print mode, links, owner, group, size and time, too"),
		    OPTS_DOC("Print mode, number of links, owner and group by number, size in\n"
			     "bytes, modification time and the target of symbolic links, too.")),
	OPTS_OPTION("recursive", 'R', OPTS_SET, struct ls, recursive,
		    OPTS_HELP(NULL, "list directories with what is in them"),
		    OPTS_DOC("List directories with what is in them.")),
	OPTS_RANGE("timeout", 0, OPTS_MILLIS, struct ls, remote.to.timeout_ms, 100, 86400000,
		   OPTS_HELP("S", "give up after S seconds without an answer (default 30)"),
		   OPTS_DOC("Give up when the server sends nothing for *S* seconds, at least\n"
			    "0.1; default 30.")),
	OPTS_OPTION("source", 0, OPTS_TEXT, struct ls, remote.to.source,
		    OPTS_HELP("ADDR", "connect from this local address"),
		    OPTS_DOC("Connect from this local address.")),
	OPTS_OPTION("key", 0, OPTS_TEXT, struct ls, remote.to.key_file,
		    OPTS_HELP("FILE", "authenticate both sides with the key in FILE\n"
			      "(default: $KVERBS_KEY_FILE)"),
		    OPTS_DOC("Authenticate both sides with the key in *FILE*, as with\n"
			     ":manpage:`kverbs-cp(1)`.")),
	SERVER_OPTS_KEY_NAME(struct ls, remote.to),
	OPTS_OPTION("port", 0, OPTS_PORT, struct ls, remote.to.port,
		    OPTS_HELP("PORT", "the server's port (default " WIRE_DEFAULT_PORT ")"),
		    OPTS_DOC("The server's port; default 7472.")),
	{ }
};

static int ls_run(int argc, char **argv)
{
	struct ls ls = {
		.remote.to = { .port = WIRE_DEFAULT_PORT, .timeout_ms = 30000 },
	};
	int first = opts_parse(argc, argv, options, &ls), status = EXIT_USAGE;
	struct target *targets = NULL;

	if (first >= 0)
		status = remote_parse(&ls.remote, argc - first, argv + first, &targets);
	if (!status)
		status = run(&ls, targets, argc - first);
	free(targets);
	return status;
}

const struct command cmd_ls = {
	.name = "ls",
	.summary = "List files on a server",
	.usage = usage,
	.options = options,
	.json = "print the result as JSON",
	.json_doc = "Print the result as JSON.",
	.notes = notes,
	.run = ls_run,
};
