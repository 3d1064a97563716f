// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A `kverbs serve` started by the test, and the resources that it uses. */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "serve.h"
#include "harness.h"

/* Small, so that a test cannot fill the guest's memory */
#define ROOT_SCRIPT							\
	"mkdir -p /tmp/served; mountpoint -q /tmp/served || "		\
	"mount -t tmpfs -o size=16m served /tmp/served"

#define WORDS_MAX 20
/* A client may be silent for as long as a test waits this many times */
#define WAITS		10

/**
 * struct cost - resources that the server uses at a moment
 * @pinned: locked memory, KiB
 * @files: file descriptors
 * @threads: threads
 */
struct cost {
	long pinned;
	long files;
	long threads;
};

static int pid;
static FILE *says;
static uint16_t port;
static struct cost idle;
/* Host name under which the server serves a well-behaved client */
static const char *friend;

static long entries(const char *what)
{
	struct dirent *entry;
	char path[64];
	long nr = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/%s", pid, what);
	dir = opendir(path);
	CHECK(dir);
	while ((entry = readdir(dir)))
		nr += entry->d_name[0] != '.';
	closedir(dir);
	return nr;
}

static struct cost cost_now(void)
{
	return (struct cost){
		.pinned = test_status_kb(pid, "VmPin"),
		.files = entries("fd"),
		.threads = entries("task"),
	};
}

static const char *await_line(const char *words)
{
	static char line[512];

	do {
		if (!fgets(line, sizeof(line), says))
			FAIL("the server never says '%s'", words);
	} while (!strstr(line, words));
	return line;
}

static void await_port(void)
{
	const char *line = strstr(await_line("listening"), "port ");

	CHECK(line);
	port = strtoul(line + strlen("port "), NULL, 10);
}

static void __noreturn become_server(int out, const char *const *options)
{
	char idle_s[16];
	const char *argv[WORDS_MAX] = {
		"kverbs", "serve", "-v", "--log-rate", "0", "-p", "0", "--root", "/tmp/served",
		"--idle-timeout", idle_s,
	};
	unsigned int nr;

	snprintf(idle_s, sizeof(idle_s), "%d", WAITS * (test_patience_ms() / 1000));
	for (nr = 11; *options && nr < WORDS_MAX - 1; nr++)
		argv[nr] = *options++;
	dup2(out, STDOUT_FILENO);
	dup2(out, STDERR_FILENO);
	execvp("kverbs", (char **)argv);
	_exit(127);
}

/* Wait until the server has logged a line with these words. */
void serve_await(const char *words)
{
	await_line(words);
}

/* Wait until @nr clients have gone and the server has freed their resources. */
void serve_await_gone(unsigned int nr)
{
	while (nr--)
		await_line("gone");
}

/* Returns the exit status of one ping to @host. */
int serve_ping(const char *host)
{
	return test_shell("kverbs ping -q -c 1 -W %d -p %u %s >/dev/null",
			  test_patience_ms() / 1000, port, host);
}

static void serve_somebody_else(void)
{
	CHECK(!serve_ping(friend));
	serve_await_gone(1);
}

void serve_start_as(const char *host, const char *const *options)
{
	int out[2];

	friend = host;
	CHECK(!test_shell(ROOT_SCRIPT));
	CHECK_EQ(pipe(out), 0);
	pid = fork();
	if (!pid)
		become_server(out[1], options);
	close(out[1]);
	says = fdopen(out[0], "r");
	CHECK(says);
	await_port();
	idle = cost_now();
}

void serve_start(void)
{
	static const char *const none[] = { NULL };

	serve_start_as("a", none);
}

uint16_t serve_port(void)
{
	return port;
}

/*
 * The server serves the next client and uses no more resources; it joins threads twice a second,
 * without a message.
 */
void serve_expect_unharmed(void)
{
	const struct timespec soon = { .tv_nsec = 50000000 };
	long long end = test_now_ms() + test_patience_ms();
	struct cost now;

	serve_somebody_else();
	do {
		now = cost_now();
		if (!memcmp(&now, &idle, sizeof(now)))
			return;
		nanosleep(&soon, NULL);
	} while (test_now_ms() < end);
	FAIL("the server has %ld KiB locked, %ld files, %ld threads, not %ld, %ld, %ld",
	     now.pinned, now.files, now.threads, idle.pinned, idle.files, idle.threads);
}

void serve_stop(void)
{
	int status;

	CHECK_EQ(kill(pid, SIGTERM), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}
