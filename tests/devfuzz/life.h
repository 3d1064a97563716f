/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Concurrent processes that exit on their own or are killed. */
#ifndef FUZZ_LIFE_H
#define FUZZ_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct life - a process
 * @nr: its generation
 * @pid: the process, or 0
 * @fd: pidfd, readable once it has ended
 * @end: when to kill it, in ms of the monotonic clock; after that, when it counts as hanging
 * @killed: it was killed
 * @dying: time in ms from the kill to its end
 */
struct life {
	unsigned int nr;
	pid_t pid;
	int fd;
	int64_t end;
	bool killed;
	int64_t dying;
};

/* Results of life_await() */
enum fate { ENDED, KILLED, HANGS };

int64_t life_now(void);
void life_begin(struct life *life, unsigned int nr, pid_t pid, int64_t ms);
struct life *life_await(struct life *lives, unsigned int nr_lives, enum fate *fate);

#endif /* FUZZ_LIFE_H */
