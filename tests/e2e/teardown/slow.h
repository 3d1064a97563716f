/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A page that is not present until the test provides it. */
#ifndef TEARDOWN_SLOW_H
#define TEARDOWN_SLOW_H

#include <pthread.h>

#include "dev.h"

/**
 * struct slow - a command whose answer goes to such a page
 * @fd: the file of the command
 * @number: the command
 * @cmd: its struct
 * @page: the page
 * @uffd: reports faults on the page
 * @thread: runs the command
 * @result: return value of the command
 */
struct slow {
	int fd;
	unsigned long number;
	void *cmd;
	void *page;
	int uffd;
	pthread_t thread;
	int result;
};

void slow_open(struct slow *slow);
void slow_start(struct slow *slow, int fd, unsigned long number, void *cmd);
int slow_finish(struct slow *slow);

#endif /* TEARDOWN_SLOW_H */
