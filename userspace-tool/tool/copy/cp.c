// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs cp: files to and from a server, and from one to another.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/server_opts.h"
#include "cli/signals.h"
#include "copy/cp.h"
#include "copy/cp_lists.h"
#include "copy/mode.h"
#include "copy/report.h"
#include "peer/kv.h"

static void on_signal(int sig)
{
	static const char text[] = "\nkverbs: cp: interrupted; run it again to resume\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* The server answers each message, so that it needs no room for many. */
static int send_filter(struct cp *cp, struct session *s)
{
	struct copy one = { .session = s };
	char buf[WIRE_TAIL_MAX];
	struct wire_msg msg;
	unsigned int i = 0;
	int ret = 0;

	while (i < cp->filter.nr && !ret) {
		msg = (struct wire_msg){ .type = WIRE_FILTER, .window = WIRE_NO_WINDOW };
		i = filter_fill(&cp->filter, i, buf, &msg);
		ret = copy_send(&one, &msg);
		if (!ret)
			ret = session_recv(s, &msg, cp->to.timeout_ms);
		if (!ret && msg.type != WIRE_DONE)
			ret = -EPROTO;
		if (!ret)
			ret = wire_errno(msg.status);
	}
	return ret;
}

/* Count anew for each connection: the next one looks at all files again. */
static void begin(struct cp *cp, struct session *s)
{
	struct copy *copy = &cp->copy;

	copy->session = s;
	copy->super = copy->privileged && s->welcome.flags & WIRE_F_PRIVILEGED;
	copy->keyed = session_mac_key(s) || (cp->relay && session_mac_key(&cp->from_s));
	copy->same = 0;
	copy->same_bytes = 0;
	copy->dirs = 0;
	copy->others = 0;
	copy->skipped = 0;
	copy->failed = 0;
	copy->progress.total = 0;
	copy->progress.growing = false;
	copy->progress.counter = cp->counter.running ? &cp->counter : NULL;
	copy->progress.done = 0;
	copy->progress.resumed = 0;
}

static int announce(struct cp *cp, struct session *s)
{
	return cp_announce(cp, s, WIRE_COPY);
}

/* Tell the server, or each of two. */
static int tell(struct cp *cp, struct session *s, int (*what)(struct cp *cp, struct session *s))
{
	int ret = what(cp, s);

	if (ret || !cp->relay)
		return ret;
	ret = what(cp, &cp->from_s);
	cp->lost_from = ret;
	return ret;
}

static int copy_data(struct cp *cp)
{
	if (cp->relay)
		return cp_relay(cp);
	return cp->upload ? cp_put(cp) : cp_get(cp);
}

static int copy_once(struct cp *cp, struct session *s)
{
	int ret = 0;

	begin(cp, s);
	if (retry_max(&cp->retry) || cp->parallel > 1)
		ret = tell(cp, s, announce);
	if (!ret)
		cp_add_lanes(cp);
	if (!ret)
		ret = tell(cp, s, send_filter);
	if (!ret)
		ret = copy_data(cp);
	else
		copy_stop(&cp->copy);
	cp_free_lanes(cp, ret);
	progress_clear(&cp->copy.progress);
	return ret;
}

/* Of what several connections did, what one would have done. */
static void sum_up(struct cp *cp)
{
	struct copy *copy = &cp->copy;
	uint64_t all = copy->files + copy->dirs + copy->others;

	if (!cp->losses)
		return;
	/* Files that an earlier connection copied are unchanged only for the last one. */
	copy->same -= copy->same < cp->before.files ? copy->same : cp->before.files;
	copy->same_bytes -= copy->same_bytes < cp->before.bytes ? copy->same_bytes :
			    cp->before.bytes;
	/* A new file that was not done when the connection was lost is new to the next one, too. */
	copy->created = copy->created < all ? copy->created : all;
}

/* The next connection finds files that are done unchanged. */
static void end_lost(struct cp *cp, struct session *s)
{
	cp->losses++;
	cp->before.files = cp->copy.files;
	cp->before.bytes = cp->copy.bytes;
	cp->before.wire_out += s->bytes_out + cp->from_s.bytes_out;
	cp->before.wire_in += s->bytes_in + cp->from_s.bytes_in;
	/* Errors of files recur, if they are still there. */
	err_command("cp");
}

static int copy_all(struct cp *cp, struct session *s)
{
	struct copy *copy = &cp->copy;
	int ret, status;

	report_init(copy, cp);
	ret = copy_once(cp, s);
	while (retry_is_lost(ret) && retry_max(&cp->retry)) {
		end_lost(cp, s);
		ret = cp_reconnect(cp, s, ret);
		if (ret)
			break;
		ret = copy_once(cp, s);
	}
	sum_up(cp);
	status = ret < 0 ? cp_report_lost(cp, s, ret) : ret;
	return report_end(copy, cp, status);
}

static int check_serves(const struct session *s, const char *host)
{
	if (s->welcome.flags & WIRE_F_SERVES_FILES)
		return EXIT_OK;
	return err_report(ERR_REMOTE, -EACCES, "%s does not serve files (start it with --root)",
			  host);
}

static int copy_connected(struct cp *cp, struct session *s)
{
	int status = check_serves(s, cp->to.host);

	if (!status && cp->relay)
		status = check_serves(&cp->from_s, cp->from.host);
	if (!status)
		status = copy_all(cp, s);
	session_free(s);
	if (cp->relay)
		session_free(&cp->from_s);
	return status;
}

static int run(struct cp *cp)
{
	struct session s;
	struct kverbs *kv;
	int status;

	status = kv_open(&kv, 0);
	if (status)
		return status;
	/* The file system keeps the data copied so far, and the module cleans up. */
	signals_handle(SIGINT, on_signal);
	if (cp->upload && !cp->relay)
		cp_count(cp);
	status = cp_connect(cp, &s, kv);
	if (!status)
		status = copy_connected(cp, &s);
	kverbs_close(kv);
	counter_stop(&cp->counter);
	return status;
}

static const char usage[] =
"usage: kverbs cp [options] SRC... DST\n"
"\n"
"Copy files to or from a kverbs server: DST, every SRC or both are HOST:PATH,\n"
"PATH being beneath the server's --root. An IPv6 address goes in brackets. A slash at the\n"
"end of SRC means what is in the directory. SRC or DST may be -, standard input or output.\n"
"Between two servers the data passes through this host, with a connection to each of them.\n"
"Files that have the same size and time are skipped. Each copy is verified, and gets its\n"
"name only when it is complete. Running an interrupted copy again resumes it.\n";

static const char notes[] =
"Exit status: 0 copied and verified, 1 failed or data differed, 2 usage, 3 cannot\n"
"reach, 4 not permitted or no device.\n";

#define FLAG(_name, _letter, _field, _help, _doc)				\
	OPTS_OPTION(_name, _letter, OPTS_SET, struct cp, _field,		\
		    OPTS_HELP(NULL, _help), OPTS_DOC(_doc))

static const struct opts_option options[] = {
	FLAG("archive", 'a', archive, "as -rlptgoD",
	     "The same as ``-rlptgoD``: copy a tree with links, special files, permissions,\n"
	     "times and, as root, owners. ``-H``, ``-A`` and ``-X`` are not part of it. With\n"
	     "``--files-from``, ``-r`` is not part of it."),
	FLAG("recursive", 'r', recursive, "copy directories",
	     "Copy directories. Symbolic links and special files in them are skipped with a\n"
	     "warning, unless ``-l`` and ``-D`` are given. Files named ``.*.kverbs-part`` are\n"
	     "always skipped."),
	FLAG("links", 'l', links, "copy symbolic links as links",
	     "Copy symbolic links as links, with the same target. Without ``-l`` a link that is\n"
	     "itself named as *SRC* is followed."),
	FLAG("hard-links", 'H', hard_links, "keep hard links among the files copied",
	     "Make files that are hard links to one another in the source hard links in the\n"
	     "destination. A server remembers 8 MiB of names for that; further links of a\n"
	     "download are copied as files."),
	FLAG("perms", 'p', perms, "keep set-user-ID, set-group-ID and sticky bits, too",
	     "Keep set-user-ID, set-group-ID and sticky bits, too, and change the permissions of\n"
	     "the destination directory. A server sets these bits only with ``serve --super``.\n"
	     "Other permission bits are always kept."),
	FLAG("times", 't', times, "keep the time of the destination directory, too",
	     "Change the times of the destination directory, too. Other times are always kept:\n"
	     "they tell which files need not be copied again."),
	FLAG("owner", 'o', owner, "keep owners (root only)",
	     "Keep owners, by number. Only root can do that; a server must run as root with\n"
	     "``--super``."),
	FLAG("group", 'g', group, "keep groups",
	     "Keep groups, by number: any as root, else those that the user is in. A server\n"
	     "must run as root with ``--super``."),
	FLAG("devices", 'D', devices, "copy FIFOs, sockets and (root only) devices",
	     "Copy FIFOs, sockets and, as root, device nodes, as **rsync**'s ``-D``."),
	FLAG("acls", 'A', acls, "keep access control lists",
	     "Keep access control lists. Their users and groups are kept by number."),
	FLAG("xattrs", 'X', xattrs, "keep extended attributes",
	     "Keep extended attributes: those named ``user.*``, and if both sides are root and\n"
	     "the server runs with ``--super``, all others except ``system.*``. Attributes of\n"
	     "one file may have 1 MiB."),
	FLAG("sparse", 'S', sparse, "make holes of zeros",
	     "Make holes of zeros, in units of 4096 bytes, and reserve no space in advance.\n"
	     "Holes in the source are never transferred, with or without this option."),
	FLAG("checksum", 'c', checksum, "compare files by SHA-256, not by size and time",
	     "Compare files that have the same size by SHA-256, and not by time."),
	FLAG("ignore-times", 'I', ignore_times, "copy files of the same size and time, too",
	     "Copy files that have the same size and time, too."),
	FLAG("size-only", 0, size_only, "compare only sizes",
	     "Skip files that have the same size, whatever their time."),
	FLAG("update", 'u', update, "skip files that are newer at the destination",
	     "Skip files whose modification time is later at the destination."),
	FLAG("existing", 0, existing, "create no new files",
	     "Create no new files at the destination."),
	FLAG("ignore-existing", 0, ignore_existing, "change no existing files",
	     "Skip files that exist at the destination."),
	FLAG("dry-run", 'n', dry_run, "change nothing; with -i, show what would change",
	     "Change nothing. With ``-i``, show what would change."),
	FLAG("itemize-changes", 'i', itemize, "print a line for each change, as rsync does",
	     "Print a line for each entry that is copied or changed, in the format of **rsync**:\n"
	     "``YXcstpoguax`` and the name. See Output_."),
	OPTS_RANGE("exclude", 0, OPTS_MANY, struct cp, rules, CP_EXCLUDE, 0,
		   OPTS_HELP("PATTERN", "skip what matches PATTERN"),
		   OPTS_DOC("Skip entries that match *PATTERN*, and keep them from being deleted.\n"
			    "See Patterns_. May be repeated, as the following ones.")),
	OPTS_RANGE("include", 0, OPTS_MANY, struct cp, rules, CP_INCLUDE, 0,
		   OPTS_HELP("PATTERN", "do not skip what matches PATTERN"),
		   OPTS_DOC("Do not skip entries that match *PATTERN*, whatever later patterns\n"
			    "say.")),
	OPTS_RANGE("exclude-from", 0, OPTS_MANY, struct cp, rules, CP_EXCLUDE_FROM, 0,
		   OPTS_HELP("FILE", "read patterns to skip from FILE"),
		   OPTS_DOC("Read patterns for ``--exclude`` from *FILE*, one on a line. Empty\n"
			    "lines and lines that begin with ``#`` or ``;`` are ignored. ``-`` is\n"
			    "standard input.")),
	OPTS_RANGE("include-from", 0, OPTS_MANY, struct cp, rules, CP_INCLUDE_FROM, 0,
		   OPTS_HELP("FILE", "read patterns not to skip from FILE"),
		   OPTS_DOC("Read patterns for ``--include`` from *FILE*, likewise.")),
	OPTS_OPTION("files-from", 0, OPTS_TEXT, struct cp, files_from,
		    OPTS_HELP("FILE", "copy the files named in FILE, beneath SRC"),
		    OPTS_DOC("Copy the files named in *FILE*, one on a line, relative to the only\n"
			     "*SRC*, to the same names beneath *DST*. Missing directories are\n"
			     "made. Directories are copied with what is in them\n"
			     "only with ``-r``. ``-`` is standard input.")),
	FLAG("delete", 0, delete, "delete what the source does not have",
	     "Delete entries of copied directories that the source does not have; it requires\n"
	     "recursion. Entries that ``--exclude`` skips and ``.*.kverbs-part`` stay. After a\n"
	     "directory or file could not be read, nothing is deleted."),
	OPTS_OPTION("chmod", 0, OPTS_TEXT, struct cp, chmod,
		    OPTS_HELP("MODE", "change permissions, as in D755,F644 or go-w"),
		    OPTS_DOC("Change permissions of what is copied: clauses as of\n"
			     ":manpage:`chmod(1)`, separated by commas, each for directories only\n"
			     "after ``D`` and for others after ``F``.")),
	FLAG("mkpath", 0, mkpath, "make missing directories of DST",
	     "Make missing directories of *DST*."),
	OPTS_OPTION("bwlimit", 0, OPTS_TEXT, struct cp, bwlimit,
		    OPTS_HELP("RATE", "send at most RATE KiB per second, or with a unit K, M, G"),
		    OPTS_DOC("Send at most *RATE* KiB of file data per second on average; with a\n"
			     "suffix ``K``, ``M`` or ``G`` in that unit. 0 is no limit.")),
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
			     "a terminal. A tree is counted while it is copied: until then the\n"
			     "bytes that have been found are shown, with a +.")),
	OPTS_OPTION("no-progress", 0, OPTS_CLEAR, struct cp, progress,
		    OPTS_HELP(NULL, "show no progress bar"),
		    OPTS_DOC("Show no progress bar.")),
	OPTS_OPTION("path", 0, OPTS_MANY, struct cp, path_words,
		    OPTS_HELP("ADDR[,SOURCE]", "also reach the host at ADDR, from SOURCE, if the\n"
			      "connection is lost; may be given several times"),
		    OPTS_DOC("Another address of the host, and optionally the local address to\n"
			     "connect from; may be given up to 7 times. If the connection over\n"
			     "one address cannot be made or is lost, the copy goes on from what\n"
			     "is verified over the next one at once. An idle host is probed every\n"
			     "750 ms, so that a silent link is noticed within 3 seconds; without\n"
			     "CAP_NET_ADMIN every second, and within 4.")),
	OPTS_RANGE("parallel", 0, OPTS_NUMBER, struct cp, parallel, 1, COPY_LANES_MAX + 1,
		   OPTS_HELP("N", "move data of large files over N connections at a time"),
		   OPTS_DOC("Move data of files over 64 KiB over *N* connections at a time, 1 to\n"
			    "8; default 1. With ``--path`` they take turns over the addresses, and\n"
			    "the copy goes on over the others if one of them is lost. Each counts\n"
			    "as a client of the server.")),
	OPTS_OPTION("source", 0, OPTS_TEXT, struct cp, to.source,
		    OPTS_HELP("ADDR", "connect from this local address"),
		    OPTS_DOC("Connect from this local address.")),
	OPTS_OPTION("key", 0, OPTS_TEXT, struct cp, to.key_file,
		    OPTS_HELP("FILE", "authenticate both sides with the key in FILE\n"
			      "(default: $KVERBS_KEY_FILE)"),
		    OPTS_DOC("Authenticate both sides with the key in *FILE* before anything is\n"
			     "sent. The default is the file named by the environment variable\n"
			     "``KVERBS_KEY_FILE``, if set. The key also protects the contents,\n"
			     "names, modes and times of files from modification on the path, and\n"
			     "encrypts all but the contents. With a key, the client refuses a\n"
			     "server that has none. See :manpage:`kverbs-key(1)` for the format.")),
	SERVER_OPTS_KEY_NAME(struct cp, to),
	SERVER_OPTS_EXPLAIN(struct cp, to),
	OPTS_OPTION("port", 0, OPTS_PORT, struct cp, to.port,
		    OPTS_HELP("PORT", "the server's port (default " WIRE_DEFAULT_PORT ")"),
		    OPTS_DOC("The server's port; default 7472.")),
	OPTS_OPTION("src-key", 0, OPTS_TEXT, struct cp, from.key_file,
		    OPTS_HELP("FILE", "between two servers: the key file for that of SRC\n"
			      "(default: as for that of DST)"),
		    OPTS_DOC("Between two servers: the key file for the server of *SRC*, in place\n"
			     "of that of ``--key``, which then is only for the server of *DST*.")),
	OPTS_OPTION("src-key-name", 0, OPTS_TEXT, struct cp, from.key_name,
		    OPTS_HELP("NAME", "between two servers: the key for that of SRC"),
		    OPTS_DOC("Between two servers: the name of the key for the server of *SRC*.\n"
			     "The default is that of ``--key-name`` if ``--src-key`` is not given,\n"
			     "and else as described there.")),
	OPTS_OPTION("src-port", 0, OPTS_PORT, struct cp, from.port,
		    OPTS_HELP("PORT", "between two servers: the port of that of SRC\n"
			      "(default: that of --port)"),
		    OPTS_DOC("Between two servers: the port of the server of *SRC*; default that\n"
			     "of ``--port``.")),
	OPTS_RANGE("retry", 0, OPTS_NUMBER, struct cp, retry.max, 0, 1000000,
		   OPTS_HELP("N", "connect again, up to N times, after the connection was lost\n"
			     "(default: never)"),
		   OPTS_DOC("If the connection is lost, connect again and go on from what is\n"
			    "verified: at once, then after 1, 2, 4 and more seconds, up to 30.\n"
			    "Give up after *N* attempts in a row that copied nothing. Files that\n"
			    "are done are compared again by size and time, so that ``-I`` copies\n"
			    "them again.")),
	FLAG("quiet", 'q', quiet, "print nothing but errors", "Print nothing but errors."),
	FLAG("stats", 0, stats, "print how much was copied, and bytes on the wire",
	     "Print how much was copied, and how many bytes were sent and received, as **rsync**\n"
	     "does. They are those of messages and data, without the headers of packets."),
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
		cp->relay = cp->upload && *cp->sources[0].host;
		if (!cp->relay && cp->upload == !!*cp->sources[i].host) {
			err_usage("DST or every SRC must be HOST:PATH");
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
	cp->from.host = cp->sources[0].host;
	cp->to.host = cp->upload ? cp->dst.host : cp->sources[0].host;
	return 0;
}

/* A number that no other client guesses: with it a server ends the connections before. */
static void choose_id(struct cp *cp)
{
	if (getrandom(&cp->id, sizeof(cp->id), 0) != sizeof(cp->id))
		cp->id = getpid();
	cp->id = (cp->id & INT64_MAX) | 1;
}

static int parse_paths(struct cp *cp)
{
	cp->retry.paths = cp->path_words.nr ? cp->path_words.nr + 1 : 0;
	choose_id(cp);
	return paths_init(&cp->paths, &cp->to, &cp->path_words);
}

static void add(struct cp *cp, bool given, uint32_t flag)
{
	if (given)
		cp->copy.opts |= flag;
}

static void set_flags(struct cp *cp)
{
	bool a = cp->archive;

	cp->copy.user = true;
	cp->copy.privileged = !geteuid();
	cp->copy.chmod = cp->chmod;
	cp->copy.filter = &cp->filter;
	add(cp, cp->recursive || (a && !cp->files_from), WIRE_F_RECURSIVE);
	add(cp, cp->links || a, WIRE_F_LINKS);
	add(cp, cp->perms || a, WIRE_F_PERMS);
	add(cp, cp->times || a, WIRE_F_TIMES);
	add(cp, cp->owner || a, WIRE_F_OWNER);
	add(cp, cp->group || a, WIRE_F_GROUP);
	add(cp, cp->devices || a, WIRE_F_DEVICES);
	add(cp, cp->hard_links, WIRE_F_HARD_LINKS);
	add(cp, cp->acls, WIRE_F_ACLS);
	add(cp, cp->xattrs, WIRE_F_XATTRS);
	add(cp, cp->sparse, WIRE_F_SPARSE);
	add(cp, cp->checksum, WIRE_F_CHECKSUM);
	add(cp, cp->dry_run, WIRE_F_DRY_RUN);
	add(cp, cp->update, WIRE_F_UPDATE);
	add(cp, cp->ignore_times, WIRE_F_IGNORE_TIMES);
	add(cp, cp->size_only, WIRE_F_SIZE_ONLY);
	add(cp, cp->existing, WIRE_F_EXISTING);
	add(cp, cp->ignore_existing, WIRE_F_IGNORE_EXISTING);
	add(cp, cp->delete, WIRE_F_DELETE);
	add(cp, cp->mkpath, WIRE_F_MKPATH);
	add(cp, cp->files_from, WIRE_F_RELATIVE);
	add(cp, cp->no_resume, WIRE_F_NO_RESUME);
	add(cp, cp->sync, WIRE_F_SYNC);
	add(cp, cp->copy.privileged, WIRE_F_SUPER);
}

static bool is_dash(const struct target *t)
{
	return !*t->host && !strcmp(t->path, "-");
}

/* Standard input and output have one file each. */
static int check_dashes(struct cp *cp)
{
	bool in = is_dash(cp->sources), out = is_dash(&cp->dst);

	if (!in && !out)
		return 0;
	if (cp->nr_sources > 1 || cp->files_from || cp->copy.opts & WIRE_F_RECURSIVE)
		return err_usage("-, standard input or output, is one file");
	if (cp->dry_run)
		return err_usage("-, standard input or output, excludes --dry-run");
	/* Data of a pipe cannot be read or written again. */
	if (retry_max(&cp->retry))
		return err_usage("-, standard input or output, excludes --retry and --path");
	if (out && out_is_json())
		return err_usage("the file and JSON cannot both go to standard output");
	cp->quiet |= out;
	return 0;
}

/* As rsync has it: KiB, unless there is a unit. */
static int parse_rate(struct cp *cp)
{
	size_t len = cp->bwlimit ? strlen(cp->bwlimit) : 0;
	uint64_t rate;

	if (!len)
		return 0;
	if (opts_number("--bwlimit", cp->bwlimit, 0, 1ull << 50, &rate))
		return EXIT_USAGE;
	cp->copy.rate = isdigit((unsigned char)cp->bwlimit[len - 1]) ? rate << 10 : rate;
	return 0;
}

/* The server of SRC, if DST is on one, too; what is not said of it is as for the other one. */
static int check_relay(struct cp *cp)
{
	struct session_to *from = &cp->from;

	if (!cp->relay && (from->port || from->key_file || from->key_name))
		return err_usage("--src-port, --src-key and --src-key-name are for two servers");
	if (!cp->relay)
		return 0;
	if (cp->path_words.nr)
		return err_usage("--path is not supported between two servers");
	if (cp->parallel > 1)
		return err_usage("--parallel is not supported between two servers");
	if (!from->port)
		from->port = cp->to.port;
	if (!from->key_name && !from->key_file)
		from->key_name = cp->to.key_name;
	if (!from->key_file)
		from->key_file = cp->to.key_file;
	from->source = cp->to.source;
	from->timeout_ms = cp->to.timeout_ms;
	from->explain = cp->to.explain;
	return 0;
}

static int check(struct cp *cp)
{
	int ret;

	if (cp->files_from && cp->nr_sources > 1)
		return err_usage("--files-from takes one SRC");
	if (cp->delete && !(cp->copy.opts & WIRE_F_RECURSIVE))
		return err_usage("--delete requires --recursive");
	if (cp->chmod && mode_check(cp->chmod))
		return err_usage("--chmod: '%s' is not a change of permissions", cp->chmod);
	ret = check_relay(cp);
	if (!ret)
		ret = parse_paths(cp);
	if (!ret)
		ret = check_dashes(cp);
	if (!ret)
		ret = parse_rate(cp);
	if (!ret)
		ret = cp_read_rules(cp);
	return ret || !cp->files_from ? ret : cp_read_names(cp);
}

static int cp_run(int argc, char **argv)
{
	struct cp cp = {
		.to = { .port = WIRE_DEFAULT_PORT, .timeout_ms = 30000 },
		.progress = isatty(STDERR_FILENO) && !out_is_json(),
		.parallel = 1,
	};
	int first, status = EXIT_USAGE;

	first = opts_parse(argc, argv, options, &cp);
	set_flags(&cp);
	if (first >= 0 && !parse_names(&cp, argc - first, argv + first))
		status = check(&cp);
	if (!status)
		status = run(&cp);
	while (cp.nr_names)
		free(cp.names[--cp.nr_names]);
	free(cp.names);
	filter_free(&cp.filter);
	paths_free(&cp.paths);
	free(cp.sources);
	return status;
}

const struct command cmd_cp = {
	.name = "cp",
	.summary = "Copy files to, from or between servers, verified",
	.usage = usage,
	.options = options,
	.json = "print the result as JSON",
	.json_doc = "Print the result as JSON.",
	.notes = notes,
	.run = cp_run,
};
