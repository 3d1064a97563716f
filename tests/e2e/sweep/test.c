// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Every command's way to success, again and again with the first, the second, the
 * third fault on it, until there is none: nothing breaks, nothing is lost, and the
 * next time it succeeds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fault.h"
#include "world.h"

/* No command has as many. */
#define MOST	500

/**
 * struct sort - a sort of faults for a command
 * @sweep: the command
 * @fault: what fails
 */
struct sort {
	const struct sweep *sweep;
	enum fault fault;
};

static int settle(const struct sweep *sweep, struct world *world, int ret)
{
	return ret || !sweep->settle ? ret : sweep->settle(world);
}

static void run_clean(const struct sweep *sweep)
{
	struct world world;

	world_open(&world, sweep);
	CHECK_OK(settle(sweep, &world, sweep->act(&world)));
	world_close(&world);
}

/*
 * A fault in a command is told as what it is (a socket that cannot be had, which rxe
 * needs, is -ENFILE), one in what comes of it as any error. Nothing is kept.
 */
static void check_error(struct world *world, int ret, long pinned)
{
	if (!ret)
		return;
	if (ret != -ENOMEM && ret != -EFAULT && ret != -ENFILE)
		FAIL("the command gives %s", test_errno(ret));
	CHECK_EQ(test_status_kb(0, "VmPin"), pinned);
	CHECK_EQ(world->id, 0);
}

/*
 * What failed with all that it began succeeds afterwards: at once, or, if something may
 * come of the failure, in a new world.
 */
static void run_again(const struct sweep *sweep, struct world *world, int ret)
{
	bool at_once = ret && !sweep->settle;

	if (at_once)
		CHECK_OK(sweep->act(world));
	world_close(world);
	if (ret && !at_once)
		run_clean(sweep);
}

/* Whether there were as many chances. */
static bool run_faulty(const struct sort *sort, unsigned int nth)
{
	const struct sweep *sweep = sort->sweep;
	struct world world;
	bool hit = false;
	long pinned;
	int ret;

	world_open(&world, sweep);
	pinned = test_status_kb(0, "VmPin");
	fault_arm(sort->fault, nth);
	ret = sweep->act(&world);
	if (sort->fault == FAULT_MEMORY)
		hit = fault_disarm(sort->fault);
	check_error(&world, ret, pinned);
	ret = settle(sweep, &world, ret);
	if (sort->fault == FAULT_VERB)
		hit = fault_disarm(sort->fault);
	if (!hit)
		CHECK_OK(ret);
	run_again(sweep, &world, ret);
	return hit;
}

static void run(const void *arg)
{
	const struct sort *sort = arg;
	unsigned int nth;

	if (!fault_init())
		test_skip("this kernel injects no faults");
	run_clean(sort->sweep);
	for (nth = 1; run_faulty(sort, nth); nth++)
		CHECK(nth < MOST);
	test_note("swept %s, %s: %u faults", sort->sweep->name,
		  sort->fault == FAULT_VERB ? "verbs" : "memory", nth - 1);
}

static void add(const struct sweep *sweep, enum fault fault)
{
	struct sort *sort = malloc(sizeof(*sort));
	char *name;

	CHECK(sort);
	*sort = (struct sort){ .sweep = sweep, .fault = fault };
	CHECK(asprintf(&name, "%s survives every fault of %s", sweep->name,
		       fault == FAULT_VERB ? "a verb" : "memory") > 0);
	test_add(name, run, sort);
}

TEST_GROUP(sweeps)
{
	size_t i;

	for (i = 0; i < nr_sweeps; i++) {
		add(&sweeps[i], FAULT_MEMORY);
		add(&sweeps[i], FAULT_VERB);
	}
}
