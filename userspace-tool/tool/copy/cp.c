// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs cp: files to and from a server.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "copy/cp.h"
#include "copy/report.h"
#include "peer/kv.h"

/* ---- both ways --------------------------------------------------------- */

static void on_signal(int sig)
{
	static const char text[] = "\nkverbs: cp: interrupted; run it again to go on\n";

	if (write(STDERR_FILENO, text, sizeof(text) - 1) < 0)
		_exit(EXIT_FAILED);
	signal(sig, SIG_DFL);
	raise(sig);
}

/* What has been copied is kept by the file system, and the module cleans up. */
static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
}

static int copy_with(struct cp *cp, struct session *s)
{
	struct copy *copy = &cp->copy;
	int ret, status;

	copy->session = s;
	report_init(copy, cp->progress, cp->verbose);
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
	catch_signals();
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

/* ---- the command line -------------------------------------------------- */

static const char help[] =
"usage: kverbs cp [options] SRC... DST\n"
"\n"
"Copy files to or from a kverbs server: either DST or every SRC is HOST:PATH,\n"
"PATH being beneath the server's --root. An IPv6 address goes in brackets. What is\n"
"copied is verified, and has its name when it is complete and not before. A copy\n"
"that was interrupted is gone on with when it is run again.\n"
"\n"
"  -r, --recursive        directories too; links and special files are left out\n"
"      --no-resume        begin again even if part of a file is there\n"
"      --sync             have all of it on the disk before it is done\n"
"      --timeout S        seconds that the peer may be silent (default 30)\n"
"      --progress, --no-progress\n"
"                         progress bar (default: if standard error is a terminal)\n"
"  -I, --source ADDR      local address to use\n"
"      --key FILE         prove to have the same key as the server, and have it\n"
"                         prove that (default: KVERBS_KEY_FILE, if that is set)\n"
"  -p, --port PORT        the server's port (default " WIRE_DEFAULT_PORT ")\n"
"  -v, --verbose          a line for each file, and how its bytes went\n"
"  -j, --json             the result as JSON\n"
"  -h, --help             this text\n"
"\n"
"Exit status: 0 copied and verified, 1 failed or data differed, 2 usage, 3 cannot\n"
"reach, 4 not permitted or no device.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("recursive", 'r', OPTS_SET, struct cp, recursive),
	OPTS_OPTION("no-resume", 0, OPTS_SET, struct cp, no_resume),
	OPTS_OPTION("sync", 0, OPTS_SET, struct cp, sync),
	OPTS_RANGE("timeout", 0, OPTS_MILLIS, struct cp, to.timeout_ms, 100, 86400000),
	OPTS_OPTION("progress", 0, OPTS_SET, struct cp, progress),
	OPTS_OPTION("no-progress", 0, OPTS_CLEAR, struct cp, progress),
	OPTS_OPTION("source", 'I', OPTS_TEXT, struct cp, to.source),
	OPTS_OPTION("key", 0, OPTS_TEXT, struct cp, to.key_file),
	OPTS_OPTION("port", 'p', OPTS_PORT, struct cp, to.port),
	OPTS_OPTION("verbose", 'v', OPTS_SET, struct cp, verbose),
	{ }
};

static int parse_sources(struct cp *cp, char **argv)
{
	int i;

	for (i = 0; i < cp->nr_sources; i++) {
		if (target_parse(&cp->sources[i], argv[i])) {
			err_usage("'%s' is no file name", argv[i]);
			return -EINVAL;
		}
		if (cp->upload == !!*cp->sources[i].host) {
			err_usage("either DST or every SRC is HOST:PATH");
			return -EINVAL;
		}
		if (strcmp(cp->sources[i].host, cp->sources[0].host)) {
			err_usage("all sources must be on one host");
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
		err_usage("'%s' is no file name", argv[argc - 1]);
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
	.help = help,
	.run = cp_run,
};
