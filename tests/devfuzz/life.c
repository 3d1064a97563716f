// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Waiting for the end of one of several processes, or bringing it about. */
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "life.h"

#define MAX_LIVES	16
/* One that cannot be killed hangs. */
#define HANG_MS		120000

/**
 * life_now() - what time it is
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
 * life_begin() - watch over a process
 * @life: one that is free
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

/* One that has ended, or NULL if none has when @first must end. */
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
 * life_await() - wait until one has ended; kill those that live too long
 * @lives: which, some of which live
 * @nr_lives: so many, at most 16
 * @fate: how it ended
 *
 * Return: the one, which is free then, or, if it hangs, the one that does.
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
