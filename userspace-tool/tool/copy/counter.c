// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/counter.h"
#include "copy/walk.h"

static int go_on(const struct counter *counter)
{
	return atomic_load(&counter->stop) ? -ECANCELED : 0;
}

static int on_file(void *arg, int fd, const char *path, const struct stat *st)
{
	struct counter *counter = arg;

	(void)path;
	close(fd);
	atomic_fetch_add(&counter->total, st->st_size);
	return go_on(counter);
}

static int on_dir(void *arg, int fd, const char *path, const struct stat *st)
{
	(void)fd;
	(void)path;
	(void)st;
	return go_on(arg);
}

static int on_skip(void *arg, const char *path, int err)
{
	struct counter *counter = arg;

	(void)path;
	counter->deeper |= err == -EMFILE;
	return go_on(counter);
}

static bool is_wanted(void *arg, const char *path, bool is_dir)
{
	const struct counter *counter = arg;

	return !filter_excludes(counter->filter, path, is_dir);
}

static void *run(void *arg)
{
	struct counter *counter = arg;
	const struct tree_ops ops = {
		.depth_max = counter->depth_max,
		.wanted = counter->filter ? is_wanted : NULL,
		.file = on_file,
		.dir = on_dir,
		.dir_end = on_dir,
		.skip = on_skip,
	};
	int ret = 0;
	size_t i;

	for (i = 0; i < counter->nr && !ret; i++) {
		ret = tree_walk(counter->trees[i].fd, counter->trees[i].name, true, &ops, counter);
		counter->trees[i].fd = -1;
	}
	atomic_store(&counter->complete, !ret && !counter->deeper);
	return NULL;
}

int counter_add(struct counter *counter, int fd, const char *name)
{
	struct counter_tree *trees = reallocarray(counter->trees, counter->nr + 1, sizeof(*trees));
	struct counter_tree *tree;
	int err;

	if (!trees)
		return -ENOMEM;
	counter->trees = trees;
	tree = &trees[counter->nr];
	tree->name = strdup(name);
	if (!tree->name)
		return -ENOMEM;
	/* Not dup() of a directory: two would share their place in it. */
	tree->fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tree->fd < 0 && errno == ENOTDIR)
		tree->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (tree->fd < 0) {
		err = -errno;
		free(tree->name);
		return err;
	}
	counter->nr++;
	return 0;
}

void counter_start(struct counter *counter)
{
	sigset_t set, old;

	/* Signals are for the thread that copies. */
	sigfillset(&set);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	counter->running = counter->nr && !pthread_create(&counter->thread, NULL, run, counter);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

uint64_t counter_read(const struct counter *counter, bool *growing)
{
	/* In this order: a total that is complete is read after that is known. */
	*growing = !atomic_load(&counter->complete);
	return atomic_load(&counter->total);
}

void counter_stop(struct counter *counter)
{
	atomic_store(&counter->stop, true);
	if (counter->running)
		pthread_join(counter->thread, NULL);
	counter->running = false;
	while (counter->nr) {
		counter->nr--;
		if (counter->trees[counter->nr].fd >= 0)
			close(counter->trees[counter->nr].fd);
		free(counter->trees[counter->nr].name);
	}
	free(counter->trees);
	counter->trees = NULL;
}
