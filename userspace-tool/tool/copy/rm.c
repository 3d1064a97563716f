// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs rm: remove files on a server.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/server_opts.h"
#include "copy/prune.h"
#include "copy/remote.h"
#include "copy/report.h"

/**
 * struct rm - one run
 * @remote: the server
 * @recursive: directories too
 * @dry_run: remove nothing
 * @force: what is not there is removed
 * @verbose: print names
 * @removed: entries removed
 * @status: exit status so far
 */
struct rm {
	struct remote remote;
	bool recursive;
	bool dry_run;
	bool force;
	bool verbose;
	uint64_t removed;
	int status;
};

static void fail(struct rm *rm, int err, const char *path)
{
	char clean[PATH_MAX];
	int status;

	report_clean(clean, sizeof(clean), path);
	status = err_report(ERR_REMOTE, err, "remove %s:%s", rm->remote.to.host, clean);
	if (!rm->status)
		rm->status = status;
}

static int take(void *arg, const struct wire_msg *done)
{
	char path[PATH_MAX], clean[PATH_MAX];
	struct rm *rm = arg;
	ssize_t at = 0;
	int err;

	while (at < (ssize_t)done->tail_len) {
		at = prune_read(done->tail, done->tail_len, at, path, &err);
		if (at < 0)
			return at;
		if (err) {
			fail(rm, err, path);
			continue;
		}
		rm->removed++;
		report_clean(clean, sizeof(clean), path);
		if (rm->verbose || rm->dry_run)
			out_text("removed %s\n", clean);
	}
	return 0;
}

static int remove_one(struct rm *rm, const struct target *t)
{
	struct wire_msg msg = {
		.type = WIRE_REMOVE, .tail = t->path, .tail_len = strlen(t->path),
	};
	int err = 0, ret;

	if (!*t->path) {
		fail(rm, -EACCES, "");
		return 0;
	}
	if (rm->recursive)
		msg.flags |= WIRE_F_RECURSIVE;
	if (rm->dry_run)
		msg.flags |= WIRE_F_DRY_RUN;
	ret = remote_ask(&rm->remote, &msg, &err, take, rm);
	if (!ret && err && !(rm->force && err == -ENOENT))
		fail(rm, err, t->path);
	return ret;
}

static int run(struct rm *rm, const struct target *targets, int nr)
{
	int i, ret = 0, status;

	status = remote_open(&rm->remote);
	if (status)
		return status;
	for (i = 0; i < nr && !ret; i++)
		ret = remove_one(rm, &targets[i]);
	if (ret) {
		rm->status = err_report(ERR_PEER, ret, "talk to %s", rm->remote.session.peer);
		session_print_why(&rm->remote.session, ret, false);
	}
	remote_close(&rm->remote);
	if (out_is_json())
		json_put_int(out_root(), "removed", rm->removed);
	return rm->status;
}

static const char usage[] =
"usage: kverbs rm [options] HOST:PATH...\n"
"\n"
"Remove files below the --root of a kverbs server. Partial files of copies\n"
"(.*.kverbs-part) in directories stay, and so do these directories.\n";

static const char notes[] =
"Exit status: 0 removed, 1 failed, 2 usage, 3 cannot reach, 4 not permitted or no device.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("recursive", 'r', OPTS_SET, struct rm, recursive,
		    OPTS_HELP(NULL, "remove directories with what is in them"),
		    OPTS_DOC("Remove directories with what is in them. Links are removed, not\n"
			     "followed, and other file systems are not entered.")),
	OPTS_OPTION("force", 'f', OPTS_SET, struct rm, force,
		    OPTS_HELP(NULL, "ignore paths that do not exist"),
		    OPTS_DOC("Ignore paths that do not exist.")),
	OPTS_OPTION("dry-run", 'n', OPTS_SET, struct rm, dry_run,
		    OPTS_HELP(NULL, "print what would be removed"),
		    OPTS_DOC("Remove nothing, but print what would be removed.")),
	OPTS_OPTION("verbose", 'v', OPTS_SET, struct rm, verbose,
		    OPTS_HELP(NULL, "print what is removed"),
		    OPTS_DOC("Print what is removed.")),
	OPTS_RANGE("timeout", 0, OPTS_MILLIS, struct rm, remote.to.timeout_ms, 100, 86400000,
		   OPTS_HELP("S", "give up after S seconds without an answer (default 30)"),
		   OPTS_DOC("Give up when the server sends nothing for *S* seconds, at least\n"
			    "0.1; default 30.")),
	OPTS_OPTION("source", 0, OPTS_TEXT, struct rm, remote.to.source,
		    OPTS_HELP("ADDR", "connect from this local address"),
		    OPTS_DOC("Connect from this local address.")),
	OPTS_OPTION("key", 0, OPTS_TEXT, struct rm, remote.to.key_file,
		    OPTS_HELP("FILE", "authenticate both sides with the key in FILE\n"
			      "(default: $KVERBS_KEY_FILE)"),
		    OPTS_DOC("Authenticate both sides with the key in *FILE*, as with\n"
			     ":manpage:`kverbs-cp(1)`.")),
	SERVER_OPTS_KEY_NAME(struct rm, remote.to),
	OPTS_OPTION("port", 0, OPTS_PORT, struct rm, remote.to.port,
		    OPTS_HELP("PORT", "the server's port (default " WIRE_DEFAULT_PORT ")"),
		    OPTS_DOC("The server's port; default 7472.")),
	{ }
};

static int rm_run(int argc, char **argv)
{
	struct rm rm = {
		.remote.to = { .port = WIRE_DEFAULT_PORT, .timeout_ms = 30000 },
	};
	int first = opts_parse(argc, argv, options, &rm), status = EXIT_USAGE;
	struct target *targets = NULL;

	if (first >= 0)
		status = remote_parse(&rm.remote, argc - first, argv + first, &targets);
	if (!status)
		status = run(&rm, targets, argc - first);
	free(targets);
	return status;
}

const struct command cmd_rm = {
	.name = "rm",
	.summary = "Remove files on a server",
	.usage = usage,
	.options = options,
	.json = "print the result as JSON",
	.json_doc = "Print the result as JSON.",
	.notes = notes,
	.run = rm_run,
};
