/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Failures: what is said of them, which remedy, which exit status. */
#ifndef KVERBS_TOOL_ERR_H
#define KVERBS_TOOL_ERR_H

#include "cli/util.h"

enum {
	EXIT_OK = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_UNREACHABLE = 3,
	EXIT_DENIED = 4,
};

/* Subject of a step; the same errno means different things in each. */
enum err_area {
	ERR_OPEN,	/* /dev/kverbs */
	ERR_DEVICE,	/* RDMA devices */
	ERR_MEMORY,	/* registering memory */
	ERR_CONNECT,
	ERR_REFUSED,	/* a server does not let this client in */
	ERR_PROOF,	/* a server does not prove who it is */
	ERR_KEY,	/* a key's file */
	ERR_LISTEN,
	ERR_ENGINE,	/* what the kernel engine of bench cannot */
	ERR_TRAFFIC,	/* the kernel engine does not begin */
	ERR_PEER,	/* an established connection */
	ERR_LOCAL,	/* a file here */
	ERR_REMOTE,	/* a file there */
	ERR_OBJECTS,	/* what the module lists in debugfs */
};

/**
 * struct err_last - the first failure of this process, for the JSON result
 * @set: whether there was one
 * @exit_status: what main() returns for it
 * @err: -errno
 * @step: what was being done
 * @remedy: what may help, or NULL
 */
struct err_last {
	int set;
	int exit_status;
	int err;
	char step[512];
	const char *remedy;
};

const char *err_name(int err);
const char *err_remedy(enum err_area area, int err);
int err_exit(enum err_area area, int err);

void err_command(const char *name);
int err_report(enum err_area area, int err, const char *fmt, ...) __printf(3, 4);
int err_usage(const char *fmt, ...) __printf(1, 2);
void err_warn(const char *fmt, ...) __printf(1, 2);
const struct err_last *err_last(void);

#endif /* KVERBS_TOOL_ERR_H */
