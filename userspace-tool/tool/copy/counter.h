/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Bytes of trees, counted by a thread while they are copied: a progress bar shows them. */
#ifndef KVERBS_TOOL_COUNTER_H
#define KVERBS_TOOL_COUNTER_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "copy/filter.h"

/**
 * struct counter_tree - what is to be counted
 * @fd: a file or the directory at the top
 * @name: its name in the copy, for patterns
 */
struct counter_tree {
	int fd;
	char *name;
};

/**
 * struct counter - a thread that counts
 * @filter: patterns of what is not copied, or NULL
 * @depth_max: levels of directories that are counted, 0: any
 * @trees: what is counted
 * @nr: of @trees
 * @thread: valid while @running
 * @running: there is a thread to be joined
 * @stop: the thread is to end now
 * @deeper: there are directories beyond @depth_max
 * @complete: @total is all there is
 * @total: bytes so far
 */
struct counter {
	const struct filter *filter;
	unsigned int depth_max;
	struct counter_tree *trees;
	size_t nr;
	pthread_t thread;
	bool running;
	atomic_bool stop;
	bool deeper;
	atomic_bool complete;
	atomic_uint_least64_t total;
};

/* Count @fd, too, which stays the caller's: 0 or -errno. Before counter_start(). */
int counter_add(struct counter *counter, int fd, const char *name);
/* If no thread can be created, nothing is counted. */
void counter_start(struct counter *counter);
/* Bytes so far, and whether more may come. Any thread. */
uint64_t counter_read(const struct counter *counter, bool *growing);
/* End the thread, and release everything, whether it was started or not. */
void counter_stop(struct counter *counter);

#endif /* KVERBS_TOOL_COUNTER_H */
