// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Waits for one of several processes to end, or kills it. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "life.h"

#define MAX_LIVES	16
/* A killed process that lives longer than this hangs */
#define HANG_MS		120000

/**
 * life_now() - read the clock
 *
 * Return: milliseconds of the monotonic clock.
 */
int64_t life_now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

/**
 * life_begin() - monitor a process
 * @life: a free slot
 * @nr: its generation
 * @pid: a child of this process
 * @ms: how long it may live
 */
void life_begin(struct life *life, unsigned int nr, pid_t pid, int64_t ms)
{
	*life = (struct life){
		.nr = nr,
		.pid = pid,
		.fd = syscall(SYS_pidfd_open, pid, 0),
		.end = life_now() + ms,
	};
	if (pid < 0 || life->fd < 0)
		abort();
}

static struct life *first_to_end(struct life *lives, unsigned int nr_lives)
{
	struct life *first = NULL;
	unsigned int i;

	for (i = 0; i < nr_lives; i++)
		if (lives[i].pid && (!first || lives[i].end < first->end))
			first = &lives[i];
	return first;
}

/* Returns a process that has ended, or NULL if none has when @first expires. */
static struct life *wait_until(struct life *lives, unsigned int nr_lives,
			       const struct life *first)
{
	int64_t ms = first->end - life_now();
	struct pollfd ended[MAX_LIVES];
	unsigned int i;

	for (i = 0; i < nr_lives; i++)
		ended[i] = (struct pollfd){ .fd = lives[i].pid ? lives[i].fd : -1,
					    .events = POLLIN };
	poll(ended, nr_lives, ms > 0 ? ms : 0);
	for (i = 0; i < nr_lives; i++)
		if (ended[i].revents)
			return &lives[i];
	return NULL;
}

static void bury(struct life *life)
{
	waitpid(life->pid, NULL, 0);
	if (life->killed)
		life->dying = life_now() - (life->end - HANG_MS);
	close(life->fd);
	life->pid = 0;
}

/**
 * life_await() - wait until a process has ended; kill those that live too long
 * @lives: array of slots, some in use
 * @nr_lives: length of @lives, at most 16
 * @fate: how the process ended
 *
 * Return: its slot, which is then free; or, if a process hangs, the slot of that one.
 */
struct life *life_await(struct life *lives, unsigned int nr_lives, enum fate *fate)
{
	struct life *life, *first;

	for (;;) {
		first = first_to_end(lives, nr_lives);
		life = wait_until(lives, nr_lives, first);
		if (life)
			break;
		*fate = HANGS;
		if (first->killed)
			return first;
		kill(first->pid, SIGKILL);
		first->killed = true;
		first->end = life_now() + HANG_MS;
	}
	bury(life);
	*fate = life->killed ? KILLED : ENDED;
	return life;
}
