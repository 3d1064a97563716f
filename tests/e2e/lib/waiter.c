// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"
#include "waiter.h"

static void *waiter_run(void *arg)
{
	struct waiter *waiter = arg;

	__atomic_store_n(&waiter->tid, gettid(), __ATOMIC_RELEASE);
	waiter->ret = waiter->wait();
	return NULL;
}

static bool sleeps(int tid)
{
	char path[64], line[128] = "";
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/stat", tid);
	file = fopen(path, "r");
	if (file && !fgets(line, sizeof(line), file))
		line[0] = 0;
	if (file)
		fclose(file);
	return strstr(line, ") S ");
}

void waiter_start(struct waiter *waiter, int (*wait)(void))
{
	waiter->wait = wait;
	CHECK_EQ(pthread_create(&waiter->thread, NULL, waiter_run, waiter), 0);
	while (!sleeps(__atomic_load_n(&waiter->tid, __ATOMIC_ACQUIRE)))
		sched_yield();
}

long waiter_sleeps(const struct waiter *waiter)
{
	char path[64], line[128];
	long nr = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/self/task/%d/status", waiter->tid);
	file = fopen(path, "r");
	while (file && nr < 0 && fgets(line, sizeof(line), file))
		if (!strncmp(line, "voluntary_ctxt_switches:", 24))
			nr = strtol(line + 24, NULL, 10);
	if (file)
		fclose(file);
	return nr;
}

int waiter_join(struct waiter *waiter)
{
	CHECK_EQ(pthread_join(waiter->thread, NULL), 0);
	return waiter->ret;
}
