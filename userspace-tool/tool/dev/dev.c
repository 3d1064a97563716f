// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs dev: devices, ports, GIDs and limits.
 */
#include <errno.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "dev/dev.h"
#include "peer/kv.h"

static int show(struct kverbs *kv, int verbose)
{
	struct kverbs_device *list;
	int nr, ret = 0;

	nr = kverbs_device_list(kv, &list);
	if (nr < 0)
		return err_report(ERR_OPEN, nr, "list devices");
	if (out_is_json())
		dev_json(list, nr);
	else if (nr)
		ret = dev_table(list, nr, verbose);
	kverbs_device_list_free(list, nr);
	if (!nr)
		return err_report(ERR_DEVICE, -ENODEV, "list devices");
	if (ret)
		return err_report(ERR_LOCAL, ret, "list devices");
	return EXIT_OK;
}

static const char help[] =
"usage: kverbs dev [options]\n"
"\n"
"Show RDMA devices, their ports and GIDs: all that ibv_devinfo and ibstat show.\n"
"\n"
"  -v, --verbose        limits too\n"
"  -j, --json           all of it as JSON\n"
"  -h, --help           this text\n"
"\n"
"Exit status: 0 there is a device, 2 usage, 4 not permitted or no device.\n";

/* What the command line says. */
struct dev {
	bool verbose;
};

static const struct opts_option options[] = {
	OPTS_OPTION("verbose", 'v', OPTS_SET, struct dev, verbose),
	{ }
};

static int dev_run(int argc, char **argv)
{
	struct dev dev = { };
	struct kverbs *kv;
	int first, status;

	first = opts_parse(argc, argv, options, &dev);
	if (first < 0)
		return EXIT_USAGE;
	if (first != argc)
		return err_usage("'%s' is one word too many", argv[first]);
	status = kv_open(&kv, 0);
	if (status)
		return status;
	status = show(kv, dev.verbose);
	kverbs_close(kv);
	return status;
}

const struct command cmd_dev = {
	.name = "dev",
	.summary = "Show RDMA devices, ports and GIDs",
	.help = help,
	.run = dev_run,
};
