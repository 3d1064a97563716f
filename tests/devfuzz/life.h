/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Processes that live at the same time, and end by themselves or are killed. */
#ifndef FUZZ_LIFE_H
#define FUZZ_LIFE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/**
 * struct life - a process
 * @nr: its generation
 * @pid: the process, or 0
 * @fd: tells that it has ended
 * @end: when to kill it, in ms of the monotonic clock; once it was killed, when it hangs
 * @killed: it was
 * @dying: ms that it then took to end
 */
struct life {
	unsigned int nr;
	pid_t pid;
	int fd;
	int64_t end;
	bool killed;
	int64_t dying;
};

/* How one came out of life_await(). */
enum fate { ENDED, KILLED, HANGS };

int64_t life_now(void);
void life_begin(struct life *life, unsigned int nr, pid_t pid, int64_t ms);
struct life *life_await(struct life *lives, unsigned int nr_lives, enum fate *fate);

#endif /* FUZZ_LIFE_H */
