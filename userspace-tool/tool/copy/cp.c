// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs cp: files to and from a server.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/signals.h"
#include "copy/copy.h"
#include "copy/report.h"
#include "copy/sink.h"
#include "copy/walk.h"
#include "peer/kv.h"
#include "peer/target.h"

/**
 * struct cp - one run of cp
 * @to: the server
 * @sources: what is copied
 * @nr_sources: how many
 * @dst: where to
 * @upload: to the server
 * @recursive: directories too
 * @no_resume: begin again in any case
 * @sync: force it to the disk
 * @progress: draw a bar
 * @verbose: a line for each file
 * @total: bytes that are to go there, if they are counted
 * @copy: what was done
 */
struct cp {
	struct session_to to;
	struct target *sources;
	int nr_sources;
	struct target dst;
	bool upload;
	bool recursive;
	bool no_resume;
	bool sync;
	bool progress;
	bool verbose;
	uint64_t total;
	struct copy copy;
};

static int send_get(struct cp *cp, const struct target *t)
{
	struct wire_msg msg = {
		.type = WIRE_GET,
		.window = WIRE_NO_WINDOW,
		.flags = cp->recursive ? WIRE_F_RECURSIVE : 0,
		.tail = t->path,
		.tail_len = strlen(t->path),
	};

	return session_send(cp->copy.session, &msg);
}

static int get_one(struct cp *cp, struct sink *sink, const struct target *t)
{
	char name[NAME_MAX + 1];
	struct wire_msg msg;
	int ret;

	if (strlen(t->path) > WIRE_PATH_MAX) {
		copy_failed(&cp->copy, ERR_REMOTE, -ENAMETOOLONG, t->path);
		return 0;
	}
	sink->top = target_basename(t->path, name, sizeof(name));
	sink->finished = false;
	ret = send_get(cp, t);
	while (!ret && !sink->finished) {
		ret = session_recv(sink->s, &msg, cp->to.timeout_ms);
		if (!ret)
			ret = sink_message(sink, &msg);
	}
	return ret;
}

static int open_target(struct cp *cp, struct sink *sink)
{
	int ret;

	sink->files_only = !cp->recursive;
	sink->resume = !cp->no_resume;
	sink->sync = cp->sync;
	ret = sink_target_local(sink, cp->dst.path, cp->nr_sources > 1);
	return ret ? err_report(ERR_LOCAL, ret, "open %s", cp->dst.path) : 0;
}

static int get_all(struct cp *cp, struct sink *sink)
{
	int i, ret;

	ret = open_target(cp, sink);
	if (!ret)
		ret = sink_greet(sink);
	for (i = 0; i < cp->nr_sources && !ret; i++)
		ret = get_one(cp, sink, &cp->sources[i]);
	return ret ? ret : session_flush(sink->s);
}

static int cp_get(struct cp *cp)
{
	struct sink *sink = calloc(1, sizeof(*sink));
	int ret;

	if (!sink)
		return err_report(ERR_MEMORY, -ENOMEM, "begin");
	ret = sink_open(sink, &cp->copy);
	if (ret == -ENOMEM || ret == -EPERM)
		ret = err_report(ERR_MEMORY, -ENOMEM, "register windows");
	if (!ret)
		ret = get_all(cp, sink);
	sink_close(sink);
	session_stop(cp->copy.session);
	sink_free(sink);
	free(sink);
	return ret;
}

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

/*
 * Only for the progress bar: it costs a walk, which may take longer than a server waits for
 * a client that is silent, so there must be no connection yet.
 */
static void find_total(struct cp *cp)
{
	uint64_t total;
	int i, fd;

	for (i = 0; i < cp->nr_sources && cp->progress; i++) {
		fd = open_source(&cp->sources[i]);
		if (fd < 0)
			continue;
		walk_total(fd, cp->recursive, NULL, &total);
		cp->total += total;
		close(fd);
	}
}

/* Each returns an exit status, having said why, or -errno of the connection. */
static int cp_put(struct cp *cp)
{
	struct source *src = calloc(1, sizeof(*src));
	int i, ret;

	if (!src)
		return err_report(ERR_MEMORY, -ENOMEM, "begin");
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

static void on_signal(int sig)
{
	static const char text[] = "\nkverbs: cp: interrupted; run it again to resume\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	signal(sig, SIG_DFL);
	raise(sig);
}

static int copy_with(struct cp *cp, struct session *s)
{
	struct copy *copy = &cp->copy;
	int ret, status;

	copy->session = s;
	report_init(copy, cp->progress, cp->verbose);
	copy->progress.total = cp->total;
	copy->keyed = session_mac_key(s);
	ret = cp->upload ? cp_put(cp) : cp_get(cp);
	progress_clear(&copy->progress);
	if (ret < 0)
		status = err_report(ERR_PEER, ret, "copy with %s", s->peer);
	else
		status = ret;
	session_free(s);
	return report_end(copy, status);
}

static int run(struct cp *cp)
{
	struct wire_hello hello = {
		.version = WIRE_VERSION,
		.what = WIRE_SERVICE_FILES,
		.msg_max = WIRE_MSG_MAX,
		.depth = WIRE_FILES_DEPTH,
	};
	struct session s;
	struct kverbs *kv;
	int status;

	status = kv_open(&kv, 0);
	if (status)
		return status;
	/* The file system keeps the data copied so far, and the module cleans up. */
	signals_handle(SIGINT, on_signal);
	if (cp->upload)
		find_total(cp);
	status = kv_connect(&s, kv, &cp->to, &hello);
	if (!status && !(s.welcome.flags & WIRE_F_SERVES_FILES)) {
		session_free(&s);
		status = err_report(ERR_REMOTE, -EACCES,
				    "%s does not serve files (start it with --root)",
				    cp->to.host);
	} else if (!status) {
		status = copy_with(cp, &s);
	}
	kverbs_close(kv);
	return status;
}

static const char usage[] =
"usage: kverbs cp [options] SRC... DST\n"
"\n"
"Copy files to or from a kverbs server: either DST or every SRC is HOST:PATH,\n"
"PATH being beneath the server's --root. An IPv6 address goes in brackets. Each copy is\n"
"verified, and gets its name only when it is complete. Running an interrupted copy again\n"
"resumes it.\n";

static const char notes[] =
"Exit status: 0 copied and verified, 1 failed or data differed, 2 usage, 3 cannot\n"
"reach, 4 not permitted or no device.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("recursive", 'r', OPTS_SET, struct cp, recursive,
		    OPTS_HELP(NULL, "copy directories; skip symbolic links and special files"),
		    OPTS_DOC("Copy directories. Symbolic links, special files and files named\n"
			     "``.*.kverbs-part`` in them are skipped with a warning.")),
	OPTS_OPTION("no-resume", 0, OPTS_SET, struct cp, no_resume,
		    OPTS_HELP(NULL, "start over even if part of a file exists"),
		    OPTS_DOC("Start over even if part of a file exists.")),
	OPTS_OPTION("sync", 0, OPTS_SET, struct cp, sync,
		    OPTS_HELP(NULL, "write everything to the disk before finishing"),
		    OPTS_DOC("Write everything to the disk before finishing.")),
	OPTS_RANGE("timeout", 0, OPTS_MILLIS, struct cp, to.timeout_ms, 100, 86400000,
		   OPTS_HELP("S", "give up after S seconds without an answer (default 30)"),
		   OPTS_DOC("Give up when the peer sends nothing for *S* seconds, at least 0.1;\n"
			    "default 30.")),
	OPTS_OPTION("progress", 0, OPTS_SET, struct cp, progress,
		    OPTS_HELP(NULL, "show a progress bar (default: if standard error is a\n"
			      "terminal)"),
		    OPTS_DOC("Show a progress bar; by default it is shown if standard error is\n"
			     "a terminal.")),
	OPTS_OPTION("no-progress", 0, OPTS_CLEAR, struct cp, progress,
		    OPTS_HELP(NULL, "show no progress bar"),
		    OPTS_DOC("Show no progress bar.")),
	OPTS_OPTION("source", 'I', OPTS_TEXT, struct cp, to.source,
		    OPTS_HELP("ADDR", "connect from this local address"),
		    OPTS_DOC("Connect from this local address.")),
	OPTS_OPTION("key", 0, OPTS_TEXT, struct cp, to.key_file,
		    OPTS_HELP("FILE", "authenticate both sides with the key in FILE\n"
			      "(default: $KVERBS_KEY_FILE)"),
		    OPTS_DOC("Authenticate both sides with the key in *FILE* before anything is\n"
			     "sent. The default is the file named by the environment variable\n"
			     "``KVERBS_KEY_FILE``, if set. The key also protects the contents,\n"
			     "names, modes and times of files from modification on the path;\n"
			     "nothing is encrypted. With a key, the client refuses a server that\n"
			     "has none. See :manpage:`kverbs-serve(8)` for the format.")),
	OPTS_OPTION("port", 'p', OPTS_PORT, struct cp, to.port,
		    OPTS_HELP("PORT", "the server's port (default " WIRE_DEFAULT_PORT ")"),
		    OPTS_DOC("The server's port; default 7472.")),
	OPTS_OPTION("verbose", 'v', OPTS_SET, struct cp, verbose,
		    OPTS_HELP(NULL, "print a line for each file, with the method of transfer"),
		    OPTS_DOC("Print a line for each file, with the method of transfer.")),
	{ }
};

static int parse_sources(struct cp *cp, char **argv)
{
	int i;

	for (i = 0; i < cp->nr_sources; i++) {
		if (target_parse(&cp->sources[i], argv[i])) {
			err_usage("'%s' is not a file name", argv[i]);
			return -EINVAL;
		}
		if (cp->upload == !!*cp->sources[i].host) {
			err_usage("either DST or every SRC must be HOST:PATH");
			return -EINVAL;
		}
		if (strcmp(cp->sources[i].host, cp->sources[0].host)) {
			err_usage("all sources must be on the same host");
			return -EINVAL;
		}
	}
	return 0;
}

static int parse_names(struct cp *cp, int argc, char **argv)
{
	if (argc < 2) {
		err_usage("give SRC and DST");
		return -EINVAL;
	}
	if (target_parse(&cp->dst, argv[argc - 1])) {
		err_usage("'%s' is not a file name", argv[argc - 1]);
		return -EINVAL;
	}
	cp->upload = *cp->dst.host;
	cp->nr_sources = argc - 1;
	cp->sources = calloc(cp->nr_sources, sizeof(*cp->sources));
	if (!cp->sources) {
		err_report(ERR_LOCAL, -ENOMEM, "read the command line");
		return -ENOMEM;
	}
	if (parse_sources(cp, argv))
		return -EINVAL;
	cp->to.host = cp->upload ? cp->dst.host : cp->sources[0].host;
	return 0;
}

static int cp_run(int argc, char **argv)
{
	struct cp cp = {
		.to = { .port = WIRE_DEFAULT_PORT, .timeout_ms = 30000 },
		.progress = isatty(STDERR_FILENO) && !out_is_json(),
	};
	int first, status = EXIT_USAGE;

	first = opts_parse(argc, argv, options, &cp);
	if (first >= 0 && !parse_names(&cp, argc - first, argv + first))
		status = run(&cp);
	free(cp.sources);
	return status;
}

const struct command cmd_cp = {
	.name = "cp",
	.summary = "Copy files to or from a server, verified",
	.usage = usage,
	.options = options,
	.json = "print the result as JSON",
	.json_doc = "Print the result as JSON.",
	.notes = notes,
	.run = cp_run,
};
