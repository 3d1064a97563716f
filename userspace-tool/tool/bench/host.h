/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Work of a whole host since boot, from /proc/stat. */
#ifndef KVERBS_TOOL_HOST_H
#define KVERBS_TOOL_HOST_H

#include <stdint.h>
#include <stdio.h>

/**
 * struct host_work - what all processors together have done
 * @cpu_ns: time that they were busy, to the kernel's tick
 * @interrupts: that they took
 * @switches: from one thread to another
 */
struct host_work {
	uint64_t cpu_ns;
	uint64_t interrupts;
	uint64_t switches;
};

/* Parse @stat; members that it lacks are 0. */
void host_parse(FILE *stat, long ticks_per_second, struct host_work *w);
/* The same of this host. */
void host_read(struct host_work *w);

#endif /* KVERBS_TOOL_HOST_H */
