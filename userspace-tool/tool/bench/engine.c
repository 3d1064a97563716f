// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which engine makes the traffic, and who takes its completions. */
#include <errno.h>
#include <string.h>

#include "bench/bench.h"
#include "cli/err.h"
#include "cli/util.h"

static const char *const engines[] = {
	[BENCH_ENGINE_USER] = "user",
	[BENCH_ENGINE_KERNEL] = "kernel",
};

static const char *const polls[] = {
	[BENCH_POLL_SOFTIRQ] = "softirq",
	[BENCH_POLL_WORKQUEUE] = "workqueue",
	[BENCH_POLL_DIRECT] = "direct",
};

static int find(const char *const *names, unsigned int nr, const char *name)
{
	unsigned int i;

	for (i = 0; i < nr; i++)
		if (names[i] && !strcmp(names[i], name))
			return i;
	return -EINVAL;
}

static int choose_poll(struct bench *b)
{
	int i = b->poll_name ? find(polls, ARRAY_SIZE(polls), b->poll_name) :
			       BENCH_POLL_DEFAULT;

	if (i < 0) {
		err_usage("--poll is softirq, workqueue or direct");
		return i;
	}
	if (i && b->engine != BENCH_ENGINE_KERNEL) {
		err_usage("--poll is for --engine kernel");
		return -EINVAL;
	}
	if (i == BENCH_POLL_DIRECT && b->events) {
		err_usage("-e sleeps for completions, --poll direct does not");
		return -EINVAL;
	}
	b->poll = i;
	return 0;
}

int bench_choose_engine(struct bench *b)
{
	int i = b->engine_name ? find(engines, ARRAY_SIZE(engines), b->engine_name) :
				 BENCH_ENGINE_USER;

	if (i < 0) {
		err_usage("--engine is user or kernel");
		return i;
	}
	b->engine = i;
	i = choose_poll(b);
	if (i)
		return i;
	if (b->poll == BENCH_POLL_DEFAULT)
		b->poll = b->events ? BENCH_POLL_WORKQUEUE : BENCH_POLL_DIRECT;
	return 0;
}

const char *bench_engine_name(const struct bench *b)
{
	return engines[b->engine];
}

const char *bench_poll_name(const struct bench *b)
{
	return polls[b->poll];
}

int bench_engine_can(const struct bench *b)
{
	if (b->engine == BENCH_ENGINE_USER || !b->verify)
		return EXIT_OK;
	return err_report(ERR_ENGINE, -EOPNOTSUPP, "--verify by the kernel engine");
}
