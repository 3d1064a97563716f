/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Counters of this host's devices, as sysfs has them.
 */
#ifndef KVERBS_COUNTERS_H
#define KVERBS_COUNTERS_H

#include <stdint.h>

#include <kverbs.h>

/* Room for the path of a file in sysfs */
#define KVERBS_SYSFS_PATH 256

/* Reads a file without its last newline; 0 or -errno, and then @buf is empty. */
int kverbs_sysfs_read(char *buf, size_t room, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/*
 * Set the counters of @why to those of a port that have changed since @before, and add the
 * changes up by kind. NULL for @before: nothing is known.
 */
int kverbs_counters_compare(const struct kverbs_counters *before, const char *device,
			    unsigned int port, struct kverbs_explanation *why);

#endif /* KVERBS_COUNTERS_H */
