// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Run every command with a fault in the first, second, third, ... call that can fail, until there
 * is none. Nothing breaks or leaks, and afterwards the command succeeds.
 */
#include <stdio.h>
#include <stdlib.h>

#include "fault.h"
#include "world.h"

/* More than any command has */
#define MOST	500

/**
 * struct sort - a kind of fault in a command
 * @sweep: the command
 * @fault: the kind of fault
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
 * A fault in a command is reported with its own errno (rxe needs a socket, whose failure is
 * -ENFILE). A fault in the work that follows may be reported with any errno. No object is left.
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
 * After a failure the command succeeds: at once, or in a new world if the failure may end objects.
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

/* Returns true if there were @nth calls that can fail. */
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
