// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* RLIMIT_MEMLOCK limits the memory locked by all processes of a user together. */
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "proc.h"

#define PROCS	4

static char memory[4 * LIMIT * PAGE] __aligned(4096);

/* Each process: the file that its orders refer to. */
static int file = -1;

/* Orders to a process */

static long open_file(long arg)
{
	(void)arg;
	file = dev_open();
	return 0;
}

static long close_file(long arg)
{
	(void)arg;
	return close(file);
}

/* Returns the region's id or -errno. */
static long lock_pages(long pages)
{
	uint32_t id = 0;
	int ret = dev_try_region(file, memory, pages * PAGE, 0, &id);

	return ret ? ret : (long)id;
}

static long unlock(long id)
{
	return dev_destroy(file, id);
}

static long drop_lock_right(long arg)
{
	(void)arg;
	drop_capabilities();
	return 0;
}

/* Register regions of one page up to the limit; returns their number. */
static long lock_all_one_by_one(long arg)
{
	long nr = 0, ret;

	(void)arg;
	while ((ret = lock_pages(1)) > 0)
		nr++;
	CHECK_ERR(ret, ENOMEM);
	return nr;
}

static void start(struct proc *proc, uid_t uid, unsigned long pages)
{
	proc_start(proc, uid, pages);
	CHECK_OK(proc_ask(proc, open_file, 0));
}

static uint32_t must_lock(struct proc *proc, long pages)
{
	long id = proc_ask(proc, lock_pages, pages);

	if (id <= 0)
		FAIL("%ld pages: %s", pages, test_errno(id));
	return id;
}

static long pinned_kb(const struct proc *proc)
{
	return test_status_kb(proc->pid, "VmPin");
}

/* Check that exactly this many pages are left. */
static void check_left(struct proc *proc, long pages)
{
	uint32_t id;

	CHECK_ERR(proc_ask(proc, lock_pages, pages + 1), ENOMEM);
	if (!pages)
		return;
	id = must_lock(proc, pages);
	CHECK_ERR(proc_ask(proc, lock_pages, 1), ENOMEM);
	CHECK_OK(proc_ask(proc, unlock, id));
}

TEST(memory_locked_by_one_process_counts_for_others_of_the_user)
{
	struct proc one, two;

	node_give(0666, 0);
	start(&one, SOMEBODY, LIMIT);
	start(&two, SOMEBODY, LIMIT);
	must_lock(&one, LIMIT - 6);
	check_left(&two, 6);
	must_lock(&two, 6);
	check_left(&one, 0);
	check_left(&two, 0);
	CHECK_EQ(pinned_kb(&one), 4 * (LIMIT - 6));
	CHECK_EQ(pinned_kb(&two), 4 * 6);
}

TEST(memory_released_by_one_process_can_be_locked_by_another)
{
	struct proc one, two;
	uint32_t id;

	node_give(0666, 0);
	start(&one, SOMEBODY, LIMIT);
	start(&two, SOMEBODY, LIMIT);
	id = must_lock(&one, 5);
	must_lock(&one, LIMIT - 5);
	check_left(&two, 0);
	CHECK_OK(proc_ask(&one, unlock, id));
	check_left(&two, 5);
	CHECK_EQ(proc_ask(&one, close_file, 0), 0);
	check_left(&two, LIMIT);
	CHECK_EQ(pinned_kb(&one), 0);
	CHECK_EQ(pinned_kb(&two), 0);
}

TEST(SIGKILL_releases_the_share_of_the_process_and_no_more)
{
	struct proc one, two, three;

	node_give(0666, 0);
	start(&one, SOMEBODY, LIMIT);
	start(&two, SOMEBODY, LIMIT);
	start(&three, SOMEBODY, LIMIT);
	must_lock(&one, 4);
	must_lock(&one, 3);
	must_lock(&two, LIMIT - 7);
	check_left(&three, 0);
	proc_kill(&one);
	check_left(&three, 7);
	CHECK_EQ(pinned_kb(&two), 4 * (LIMIT - 7));
	proc_kill(&two);
	check_left(&three, LIMIT);
}

TEST(processes_that_lock_concurrently_get_exactly_the_limit)
{
	struct proc procs[PROCS];
	long locked = 0;
	int i;

	node_give(0666, 0);
	for (i = 0; i < PROCS; i++)
		start(&procs[i], SOMEBODY, 4 * LIMIT);
	for (i = 0; i < PROCS; i++)
		proc_tell(&procs[i], lock_all_one_by_one, 0);
	for (i = 0; i < PROCS; i++)
		locked += proc_answer(&procs[i]);
	CHECK_EQ(locked, 4 * LIMIT);
	for (i = 0; i < PROCS; i++)
		check_left(&procs[i], 0);
	for (i = 1; i < PROCS; i++)
		CHECK_EQ(proc_ask(&procs[i], close_file, 0), 0);
	CHECK_EQ(proc_ask(&procs[0], close_file, 0), 0);
	CHECK_OK(proc_ask(&procs[0], open_file, 0));
	check_left(&procs[0], 4 * LIMIT);
}

TEST(users_are_charged_separately)
{
	struct proc one, other;

	node_give(0666, 0);
	start(&one, SOMEBODY, LIMIT);
	start(&other, SOMEBODY_ELSE, LIMIT);
	must_lock(&one, LIMIT);
	check_left(&one, 0);
	check_left(&other, LIMIT);
}

TEST(the_charge_is_per_user_and_the_limit_per_process)
{
	struct proc rich, poor;

	node_give(0666, 0);
	start(&rich, SOMEBODY, LIMIT);
	start(&poor, SOMEBODY, 4);
	check_left(&poor, 4);
	must_lock(&rich, 3);
	check_left(&poor, 1);
	must_lock(&rich, 3);
	check_left(&poor, 0);
	check_left(&rich, LIMIT - 6);
}

TEST(a_limit_is_rounded_down_to_whole_pages)
{
	node_give(0666, 0);
	file = dev_open();
	limit_to(2 * PAGE + PAGE - 1);
	become(SOMEBODY);
	CHECK_ERR(lock_pages(3), ENOMEM);
	CHECK(lock_pages(2) > 0);
}

TEST(memory_that_is_registered_twice_is_charged_twice)
{
	struct proc one;
	uint32_t id;

	node_give(0666, 0);
	start(&one, SOMEBODY, LIMIT);
	must_lock(&one, LIMIT / 2);
	id = must_lock(&one, LIMIT / 2);
	CHECK_EQ(pinned_kb(&one), 4 * LIMIT);
	check_left(&one, 0);
	CHECK_OK(proc_ask(&one, unlock, id));
	check_left(&one, LIMIT / 2);
}

TEST(root_has_no_limit_and_is_not_charged)
{
	struct proc root, one;

	node_give(0666, 0);
	start(&root, 0, LIMIT);
	start(&one, SOMEBODY, LIMIT);
	must_lock(&root, 4 * LIMIT);
	must_lock(&root, 4 * LIMIT);
	CHECK_EQ(pinned_kb(&root), 4 * 8 * LIMIT);
	check_left(&one, LIMIT);
}

static long become_locker_order(long uid)
{
	become_locker(uid);
	return 0;
}

static void start_locker(struct proc *proc)
{
	start(proc, 0, LIMIT);
	CHECK_OK(proc_ask(proc, become_locker_order, SOMEBODY));
}

TEST(memory_locked_with_CAP_IPC_LOCK_is_not_charged)
{
	struct proc locker, one;

	node_give(0666, 0);
	start_locker(&locker);
	start(&one, SOMEBODY, LIMIT);
	must_lock(&locker, 2 * LIMIT);
	CHECK_EQ(pinned_kb(&locker), 4 * 2 * LIMIT);
	check_left(&one, LIMIT);
}

TEST(memory_locked_with_CAP_IPC_LOCK_is_not_uncharged_without_it)
{
	struct proc locker, one;
	uint32_t free_of_charge, charged;

	node_give(0666, 0);
	start_locker(&locker);
	start(&one, SOMEBODY, LIMIT);
	free_of_charge = must_lock(&locker, LIMIT);
	CHECK_OK(proc_ask(&locker, drop_lock_right, 0));
	charged = must_lock(&locker, 4);
	check_left(&one, LIMIT - 4);
	CHECK_OK(proc_ask(&locker, unlock, free_of_charge));
	check_left(&one, LIMIT - 4);
	CHECK_OK(proc_ask(&locker, unlock, charged));
	check_left(&one, LIMIT);
}

TEST(the_root_of_a_user_namespace_has_the_limit_of_its_user)
{
	struct proc one;

	node_give(0666, 0);
	start(&one, SOMEBODY, LIMIT);
	must_lock(&one, 6);
	file = dev_open();
	limit_to(LIMIT * PAGE);
	become(SOMEBODY);
	if (unshare(CLONE_NEWUSER))
		test_skip("no user namespaces here: %s", test_errno(errno));
	CHECK(capabilities());
	CHECK_ERR(lock_pages(LIMIT - 5), ENOMEM);
	CHECK(lock_pages(LIMIT - 6) > 0);
	check_left(&one, 0);
}

TEST(the_registering_user_is_charged_not_the_opener_of_the_file)
{
	struct proc one, other, witness;

	node_give(0666, 0);
	file = dev_open();
	proc_start(&one, SOMEBODY, LIMIT);
	proc_start(&other, SOMEBODY_ELSE, LIMIT);
	start(&witness, SOMEBODY, LIMIT);
	must_lock(&one, LIMIT);
	check_left(&witness, 0);
	must_lock(&other, LIMIT - 1);
	check_left(&other, 1);
	CHECK_EQ(pinned_kb(&one), 4 * LIMIT);
	CHECK_EQ(pinned_kb(&other), 4 * (LIMIT - 1));
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
}

TEST(the_charged_user_is_uncharged_when_another_user_destroys)
{
	struct proc one, other;
	uint32_t id;

	node_give(0666, 0);
	file = dev_open();
	proc_start(&one, SOMEBODY, LIMIT);
	proc_start(&other, SOMEBODY_ELSE, LIMIT);
	id = must_lock(&one, 5);
	must_lock(&other, 7);
	CHECK_OK(proc_ask(&other, unlock, id));
	check_left(&one, LIMIT);
	check_left(&other, LIMIT - 7);
	CHECK_EQ(pinned_kb(&one), 0);
	CHECK_EQ(pinned_kb(&other), 4 * 7);
}

/* Become user @uid with root as the saved user id, so that the process can change again. */
static long wear(long uid)
{
	CHECK_EQ(setresuid(-1, 0, 0), 0);
	CHECK_EQ(setresuid(uid, uid, 0), 0);
	CHECK_EQ(capabilities(), 0);
	return 0;
}

TEST(the_charged_user_is_uncharged_by_a_process_that_changed_its_user)
{
	struct proc one, witness, witness_else;
	uint32_t id;

	node_give(0666, 0);
	start(&one, 0, LIMIT);
	start(&witness, SOMEBODY, LIMIT);
	start(&witness_else, SOMEBODY_ELSE, LIMIT);
	CHECK_OK(proc_ask(&one, wear, SOMEBODY));
	id = must_lock(&one, 5);
	CHECK_OK(proc_ask(&one, wear, SOMEBODY_ELSE));
	must_lock(&one, 3);
	check_left(&witness, LIMIT - 5);
	check_left(&witness_else, LIMIT - 3);
	CHECK_OK(proc_ask(&one, unlock, id));
	check_left(&witness, LIMIT);
	check_left(&witness_else, LIMIT - 3);
	proc_kill(&one);
	check_left(&witness_else, LIMIT);
}

TEST(a_child_is_not_charged_for_regions_of_its_parent)
{
	struct proc child;
	uint32_t id;

	file = dev_open();
	id = lock_pages(6);
	proc_start(&child, SOMEBODY, LIMIT);
	CHECK_EQ(test_status_kb(0, "VmPin"), 4 * 6);
	CHECK_EQ(pinned_kb(&child), 0);
	check_left(&child, LIMIT);
	CHECK_OK(proc_ask(&child, unlock, id));
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
	check_left(&child, LIMIT);
}

/*
 * Run as an unprivileged user that keeps the file over exec; the process lives until @until reports
 * end of file.
 */
static void __noreturn register_and_exec(int until)
{
	limit_to(LIMIT * PAGE);
	become(SOMEBODY);
	file = open(NODE, O_RDWR);
	CHECK(lock_pages(LIMIT) > 0);
	CHECK_EQ(dup2(until, STDIN_FILENO), STDIN_FILENO);
	execlp("cat", "cat", NULL);
	FAIL("cannot run cat: %s", test_errno(errno));
}

TEST(after_exec_the_user_is_still_charged_as_long_as_the_file_is_open)
{
	int until[2], exec_done[2], pid;
	struct proc witness;
	char byte;

	node_give(0666, 0);
	start(&witness, SOMEBODY, LIMIT);
	CHECK_EQ(pipe2(until, O_CLOEXEC), 0);
	CHECK_EQ(pipe2(exec_done, O_CLOEXEC), 0);
	pid = fork();
	if (!pid)
		register_and_exec(until[0]);
	close(exec_done[1]);
	CHECK_EQ(read(exec_done[0], &byte, 1), 0);
	CHECK_EQ(test_status_kb(pid, "VmPin"), 0);
	check_left(&witness, 0);
	close(until[1]);
	child_join(pid);
	check_left(&witness, LIMIT);
}
