// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Runs tests one after the other, each in a process of its own, and idle ones meanwhile. */
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "harness.h"

#define EXIT_SKIP	4
/* Light tests that share a process, since fork(2) is most of their cost */
#define BATCH		32
/* Report the duration of tests that take longer than this. */
#define WORTH_TELLING_MS	5000

struct test {
	char *name;
	test_fn run;
	const void *arg;
	bool light;
	bool idle;
};

static struct test *tests;
/* Index of the running test; shared, so that the parent knows which test of a batch failed. */
static size_t *current;
static size_t nr_tests;
static test_fn after_each;
static void (*groups[32])(void);
static size_t nr_groups;

/**
 * test_add() - add a test to the list
 * @name: the rule that it checks; underscores are printed as blanks
 * @run: the test
 * @arg: passed to @run
 */
void test_add(const char *name, test_fn run, const void *arg)
{
	char *copy = strdup(name);
	char *c;

	tests = realloc(tests, (nr_tests + 1) * sizeof(*tests));
	if (!tests || !copy)
		abort();
	for (c = copy; *c; c++)
		if (*c == '_' && !strchr(name, ' '))
			*c = ' ';
	tests[nr_tests++] = (struct test){ .name = copy, .run = run, .arg = arg };
}

/**
 * test_add_light() - add a test that may share its process with others
 * @name: the rule that it checks
 * @run: the test; open files that it leaves must not affect the next test
 * @arg: passed to @run
 */
void test_add_light(const char *name, test_fn run, const void *arg)
{
	test_add(name, run, arg);
	tests[nr_tests - 1].light = true;
}

/**
 * test_add_idle() - add a test that runs while others do
 * @name: the rule that it checks
 * @run: the test; it only waits
 * @arg: passed to @run
 */
void test_add_idle(const char *name, test_fn run, const void *arg)
{
	test_add(name, run, arg);
	tests[nr_tests - 1].idle = true;
}

void test_group(void (*add)(void))
{
	if (nr_groups == ARRAY_SIZE(groups))
		abort();
	groups[nr_groups++] = add;
}

void test_after_each(test_fn run)
{
	after_each = run;
}

static void say(const char *format, va_list args)
{
	char line[1024];

	vsnprintf(line, sizeof(line), format, args);
	printf("# %s\n", line);
	fflush(stdout);
}

void test_note(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
}

/* Use _exit(): a failed check in a forked child must not run the parent's exit handlers. */
void test_fail(const char *file, int line, const char *format, ...)
{
	va_list args;

	test_note("%s:%d: failed", file, line);
	va_start(args, format);
	say(format, args);
	va_end(args);
	_exit(EXIT_FAILURE);
}

void test_skip(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	say(format, args);
	va_end(args);
	_exit(EXIT_SKIP);
}

const char *test_errno(int err)
{
	static char text[4][32];
	static unsigned int next;
	const char *name = strerrorname_np(err < 0 ? -err : err);
	char *out = text[next++ % 4];

	if (!err)
		return "0";
	snprintf(out, sizeof(text[0]), "%s%s", err < 0 ? "-" : "+", name ? name : "?");
	return out;
}

bool test_kernel_is(const char *kernel)
{
	const char *ours = getenv("KVERBS_KERNEL");

	return ours && !strcmp(ours, kernel);
}

static long long clock_ms(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * 1000LL + now.tv_nsec / 1000000;
}

long long test_now_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC);
}

/*
 * Advances with the ticks that timeouts of the kernel are counted in. If the host stalls the CPU
 * that counts them, both are late, and a timeout that begins then is shorter by any other clock.
 */
long long test_tick_ms(void)
{
	return clock_ms(CLOCK_MONOTONIC_COARSE);
}

/**
 * test_shell() - run a shell command
 * @format: the command
 *
 * Return: its exit status.
 */
int test_shell(const char *format, ...)
{
	char command[1024];
	va_list args;
	int status;

	va_start(args, format);
	vsnprintf(command, sizeof(command), format, args);
	va_end(args);
	status = system(command);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/**
 * test_status_kb() - a field of /proc/PID/status, such as VmPin
 * @pid: the process, 0: this one
 * @field: the field
 *
 * Return: KiB.
 */
long test_status_kb(int pid, const char *field)
{
	char path[64], line[256];
	size_t len = strlen(field);
	long value = -1;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/status", pid ? pid : (int)getpid());
	file = fopen(path, "r");
	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (!strncmp(line, field, len) && line[len] == ':')
			value = strtol(line + len + 1, NULL, 10);
	fclose(file);
	CHECK(value >= 0);
	return value;
}

/* Prints one line for each task of a process group: its stack, innermost function first. */
static const char stack_script[] =
	"exec 2>/dev/null; for task in $(pgrep -g %d | sed 's,.*,/proc/&/task/*,'); do\n"
	"	waits=$(sed 's/^[^ ]* //; s/+.*//' $task/stack | head -n 12)\n"
	"	echo \"# $(cat $task/comm) ${task##*/}:\" $waits\n"
	"done\n";

static void show_stacks(int pgrp)
{
	test_shell(stack_script, pgrp);
}

/* A test may wait more than once; its own wait should time out and report before this limit. */
static int most_ms(void)
{
	return 3 * test_patience_ms();
}

/* Interrupts a blocking system call. */
static void on_alarm(int signal)
{
	(void)signal;
}

/* Returns false if a child does not end in time, whatever signal it got. */
static bool all_end_in_time(void)
{
	/* Repeat the timer: a single signal could arrive between the time check and the wait. */
	const struct itimerval never = { 0 }, often = {
		.it_value.tv_sec = 1,
		.it_interval.tv_sec = 1,
	};
	const struct sigaction action = { .sa_handler = on_alarm };
	long long end = test_now_ms() + most_ms();
	struct sigaction before;
	bool ended;

	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &often, NULL);
	while (waitpid(-1, NULL, 0) > 0 || (errno == EINTR && test_now_ms() < end))
		;
	ended = errno == ECHILD;
	setitimer(ITIMER_REAL, &never, NULL);
	sigaction(SIGALRM, &before, NULL);
	return ended;
}

/*
 * Kill and reap all processes that the test started. If one cannot be killed, stop the whole run:
 * the kernel is in a state in which later tests mean nothing.
 */
static void reap_all(int pgrp)
{
	kill(-pgrp, SIGKILL);
	if (all_end_in_time())
		return;
	test_note("no signal ends them:");
	show_stacks(pgrp);
	printf("not ok %zu - %s\nBail out!\n", *current + 1, tests[*current].name);
	exit(EXIT_FAILURE);
}

static bool ends_in_time(int pid)
{
	struct pollfd wait = { .fd = syscall(SYS_pidfd_open, pid, 0), .events = POLLIN };
	bool ended = poll(&wait, 1, most_ms()) > 0;

	close(wait.fd);
	if (!ended)
		show_stacks(pid);
	return ended;
}

static int run_in_child(test_fn run, const void *arg)
{
	int status = 0;
	int pid = fork();

	if (!pid) {
		setpgid(0, 0);
		run(arg);
		fflush(stdout);
		_exit(EXIT_SUCCESS);
	}
	setpgid(pid, pid);
	if (ends_in_time(pid))
		waitpid(pid, &status, 0);
	else
		status = SIGALRM;
	reap_all(pid);
	if (WIFSIGNALED(status))
		test_note("ended by %s", strsignal(WTERMSIG(status)));
	return WIFEXITED(status) ? WEXITSTATUS(status) : EXIT_FAILURE;
}

static bool report(size_t n, int status)
{
	bool ok = status == EXIT_SUCCESS || status == EXIT_SKIP;

	printf("%sok %zu - %s%s\n", ok ? "" : "not ", n + 1, tests[n].name,
	       status == EXIT_SKIP ? " # SKIP" : "");
	fflush(stdout);
	return ok;
}

/* TEST_ROUNDS=N runs each test N times, or until it fails. */
static unsigned int rounds(void)
{
	const char *text = getenv("TEST_ROUNDS");

	return text ? strtoul(text, NULL, 10) : 1;
}

/**
 * test_repeats() - number of repetitions of a step that may succeed by chance
 * @nr: repetitions if the test itself is run once
 *
 * Return: @nr, or 1 if the whole test is run in rounds.
 */
int test_repeats(int nr)
{
	return rounds() > 1 ? 1 : nr;
}

static size_t batch_end(size_t first)
{
	size_t end = first + 1;

	if (!tests[first].light || after_each || rounds() > 1)
		return end;
	while (end < nr_tests && tests[end].light && end - first < BATCH)
		end++;
	return end;
}

/* All tests but the last report themselves; a failure ends the process and so the batch. */
static void run_batch(const void *arg)
{
	size_t end = batch_end(*current);

	(void)arg;
	for (;;) {
		tests[*current].run(tests[*current].arg);
		if (*current + 1 == end)
			return;
		report(*current, EXIT_SUCCESS);
		++*current;
	}
}

static int run_round(unsigned int round)
{
	int status = run_in_child(run_batch, NULL);

	if (after_each && run_in_child(after_each, &round) != EXIT_SUCCESS)
		status = EXIT_FAILURE;
	return status;
}

/* Run tests from *current on and advance it. Returns false if one has failed. */
static bool run_some(void)
{
	long long start = test_now_ms();
	unsigned int round = 1;
	int status;

	while (!(status = run_round(round)) && round < rounds())
		round++;
	if (rounds() > 1 || test_now_ms() - start > WORTH_TELLING_MS)
		test_note("%s: %lld ms each, %u rounds", tests[*current].name,
			  (test_now_ms() - start) / round, round);
	return report((*current)++, status);
}

static bool wanted(const struct test *test, int argc, char **argv)
{
	int i;

	for (i = 1; i < argc; i++)
		if (strstr(test->name, argv[i]))
			return true;
	return argc == 1;
}

static void drop_unwanted(int argc, char **argv)
{
	size_t i, kept = 0;

	for (i = 0; i < nr_tests; i++)
		if (wanted(&tests[i], argc, argv))
			tests[kept++] = tests[i];
	nr_tests = kept;
}

static bool is_before(const struct test *a, const struct test *b)
{
	return !a->idle && b->idle;
}

/* Idle tests have the last numbers. Returns the number of others. */
static size_t idle_last(void)
{
	struct test test;
	size_t i, j, nr = 0;

	for (i = 0; i < nr_tests; i++) {
		test = tests[i];
		nr += !test.idle;
		for (j = i; j && is_before(&test, &tests[j - 1]); j--)
			tests[j] = tests[j - 1];
		tests[j] = test;
	}
	return nr;
}

static void *shared(size_t size)
{
	void *mem = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (mem == MAP_FAILED)
		exit(EXIT_FAILURE);
	return mem;
}

/* Run the tests from @first up to @end. Returns how many have failed. */
static size_t run_tests(size_t first, size_t end)
{
	size_t failed = 0;

	current = shared(sizeof(*current));
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (*current = first; *current < end;)
		failed += !run_some();
	return failed;
}

/*
 * Run tests in a process of its own, which prints to the file @out unless it is negative. @failed
 * is shared, and counts tests that did not come to their end as failed.
 */
static int start_tests(size_t first, size_t end, int out, size_t *failed)
{
	int pid;

	*failed = end - first;
	fflush(stdout);
	pid = fork();
	if (pid)
		return pid;
	if (out >= 0)
		dup2(out, STDOUT_FILENO);
	*failed = run_tests(first, end);
	exit(EXIT_SUCCESS);
}

static void print_all(int out)
{
	char buf[4096];
	off_t at = 0;
	ssize_t n;

	for (; (n = pread(out, buf, sizeof(buf), at)) > 0; at += n)
		fwrite(buf, 1, n, stdout);
	fflush(stdout);
}

/* Run the idle tests beside the others, and print their results behind those of the others. */
static size_t run_all(void)
{
	size_t busy = idle_last(), *failed;
	int out, idle, others;

	if (busy == nr_tests || !busy || rounds() > 1 || after_each)
		return run_tests(0, nr_tests);
	failed = shared(2 * sizeof(*failed));
	out = memfd_create("idle tests", MFD_CLOEXEC);
	if (out < 0)
		exit(EXIT_FAILURE);
	idle = start_tests(busy, nr_tests, out, &failed[1]);
	others = start_tests(0, busy, -1, &failed[0]);
	waitpid(others, NULL, 0);
	waitpid(idle, NULL, 0);
	print_all(out);
	return failed[0] + failed[1];
}

/* Arguments: words; a test runs if its name contains one of them. Exit status 4: none matched. */
int main(int argc, char **argv)
{
	size_t i, failed;

	for (i = 0; i < nr_groups; i++)
		groups[i]();
	drop_unwanted(argc, argv);
	printf("KTAP version 1\n1..%zu\n", nr_tests);
	fflush(stdout);
	failed = run_all();
	printf("# %zu of %zu failed\n", failed, nr_tests);
	if (failed)
		return EXIT_FAILURE;
	return nr_tests ? EXIT_SUCCESS : EXIT_SKIP;
}
