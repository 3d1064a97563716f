// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs hosts: ask all sources, and show what they know.
 */
#include <errno.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "hosts/dnssd.h"
#include "hosts/fabric.h"
#include "hosts/hosts.h"

/* Options. */
struct hosts_opts {
	bool cached;
	int timeout_ms;
};

static const char usage[] =
"usage: kverbs hosts [options]\n"
"\n"
"Show hosts that can be reached by RDMA: those of InfiniBand subnets, for which root asks\n"
"every node, and those that announce a server, see 'kverbs serve --announce'.\n";

static const char notes[] =
"Exit status: 0 a source was asked, even if it knows of no host, 1 none was, 2 usage.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("cached", 'c', OPTS_SET, struct hosts_opts, cached,
		    OPTS_HELP(NULL, "show what is known already, at once"),
		    OPTS_DOC("Show what is known already, at once: servers that **avahi-daemon**\n"
			     "remembers, and InfiniBand hosts that root has found last. The\n"
			     "completion of *HOST* does that.")),
	OPTS_RANGE("timeout", 'W', OPTS_MILLIS, struct hosts_opts, timeout_ms, 1, 86400000,
		   OPTS_HELP("S", "wait up to S seconds for announcements (default 5)"),
		   OPTS_DOC("Wait up to *S* seconds for announcements; default 5. The command\n"
			    "ends earlier if **avahi-daemon** expects no more of them.")),
	{ }
};

static void say_missing(const struct hosts *hosts)
{
	static const char * const names[HOSTS_SOURCES] = {
		[HOSTS_FABRIC] = "InfiniBand hosts",
		[HOSTS_DNSSD] = "announced servers",
	};
	unsigned int i;

	for (i = 0; i < HOSTS_SOURCES; i++)
		if (*hosts->missing[i])
			err_warn("%s were not looked for: %s", names[i], hosts->missing[i]);
}

static int show(struct hosts *hosts)
{
	int ret = 0;

	hosts_sort(hosts);
	if (out_is_json())
		hosts_json(hosts);
	else if (hosts->nr)
		ret = hosts_table(hosts);
	else if (hosts->asked[HOSTS_FABRIC] || hosts->asked[HOSTS_DNSSD])
		out_text("no host was found\n");
	say_missing(hosts);
	if (ret)
		return err_report(ERR_LOCAL, ret, "list hosts");
	if (!hosts->asked[HOSTS_FABRIC] && !hosts->asked[HOSTS_DNSSD])
		return err_report(ERR_LOCAL, -ENODATA, "look for hosts");
	return EXIT_OK;
}

static int hosts_run(int argc, char **argv)
{
	struct hosts_opts opts = { .timeout_ms = 5000 };
	struct hosts hosts = { };
	int first, status;

	first = opts_parse(argc, argv, options, &opts);
	if (first < 0)
		return EXIT_USAGE;
	if (first != argc)
		return err_usage("unexpected argument '%s'", argv[first]);
	fabric_look(&hosts, opts.cached);
	dnssd_look(&hosts, opts.cached, opts.timeout_ms);
	status = show(&hosts);
	hosts_free(&hosts);
	return status;
}

const struct command cmd_hosts = {
	.name = "hosts",
	.summary = "Show hosts that can be reached by RDMA",
	.usage = usage,
	.options = options,
	.json = "print the hosts as JSON",
	.json_doc = "Print the hosts as JSON: ``hosts`` is an array of objects with ``host``,\n"
		    "``name``, ``transport``, ``device``, ``local``, and either ``port_guid``,\n"
		    "``port``, ``lid`` and ``state`` of an InfiniBand port, or ``interface``,\n"
		    "``server_port``, ``services`` and ``key`` of a server. ``sources`` is an\n"
		    "array of objects with ``name``, ``asked`` and, if it was not, ``missing``,\n"
		    "the reason.",
	.notes = notes,
	.run = hosts_run,
};
