/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_TOOL_CP_H
#define KVERBS_TOOL_CP_H

#include "copy/copy.h"
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
	struct copy copy;
};

/* Each returns an exit status, having said why, or -errno of the connection. */
int cp_put(struct cp *cp);
int cp_get(struct cp *cp);

#endif /* KVERBS_TOOL_CP_H */
