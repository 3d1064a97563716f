/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A server in a thread of the test, over the fake kernel, with all of its peers in this process. It
 * serves "root" in a directory that is deleted after the test.
 */
#ifndef SERVER_H
#define SERVER_H

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "fake_kernel.h"
#include "peer/session.h"
#include "tmp.h"

#define SERVER_ARGS_MAX 256
#define SERVER_LOOK_MS 1000

/* How long a server waits for silent clients, in tests of that timeout */
#define SERVER_IDLE_S "600"
#define SERVER_IDLE_MS 600000

/**
 * struct server_run - the server of one test
 * @tmp: directory of the test
 * @root: directory that is served
 * @thread: thread of the server
 * @argv: its command line
 * @argc: number of words in @argv
 * @status: its exit status
 */
struct server_run {
	struct tmp *tmp;
	char root[PATH_MAX + 8];
	pthread_t thread;
	char *argv[SERVER_ARGS_MAX];
	int argc;
	int status;
};

static inline void *server_main(void *arg)
{
	struct server_run *r = arg;

	r->status = cmd_serve.run(r->argc, r->argv);
	return NULL;
}

static inline void server_word(struct server_run *r, const char *word)
{
	assert_true(r->argc < SERVER_ARGS_MAX - 1);
	r->argv[r->argc++] = strdup(word);
}

/* Start it with more words on its command line, up to NULL. */
static inline int server_start(void **state, const char *const *more)
{
	struct server_run *r = calloc(1, sizeof(*r));
	void *tmp;

	assert_non_null(r);
	tmp_setup(&tmp);
	r->tmp = tmp;
	snprintf(r->root, sizeof(r->root), "%s/root", r->tmp->path);
	assert_int_equal(mkdir(r->root, 0755), 0);
	fake_reset();
	fake.loopback = true;
	server_word(r, "serve");
	server_word(r, "--bind");
	server_word(r, "192.0.2.1");
	for (; *more; more++)
		server_word(r, strcmp(*more, "ROOT") ? *more : r->root);
	err_command("test");
	assert_int_equal(pthread_create(&r->thread, NULL, server_main, r), 0);
	fake_wait_sleepers(1);
	*state = r;
	return 0;
}

static inline int server_setup(void **state)
{
	static const char * const words[] = { "--root", "ROOT", NULL };

	return server_start(state, words);
}

/* The server polls for signals. */
static inline void server_signal(int nr)
{
	kill(getpid(), nr);
	fake_advance(SERVER_LOOK_MS);
}

static inline int server_teardown(void **state)
{
	struct server_run *r = *state;
	void *tmp = r->tmp;
	int bad;

	server_signal(SIGTERM);
	pthread_join(r->thread, NULL);
	bad = r->status || fake_leftovers();
	tmp_teardown(&tmp);
	while (r->argc)
		free(r->argv[--r->argc]);
	free(r);
	return bad ? -1 : 0;
}

static inline unsigned int server_threads(void)
{
	DIR *d = opendir("/proc/self/task");
	struct dirent *de;
	unsigned int n = 0;

	assert_non_null(d);
	while ((de = readdir(d)))
		n += de->d_name[0] != '.';
	closedir(d);
	return n;
}

/* Return when the server is done with all clients and has freed their resources. */
static inline void server_wait_idle(void)
{
	while (server_threads() > 2)
		sched_yield();
}

/* Connect a client that may violate the protocol. */
static inline int server_connect(struct session *s, struct kverbs **kv,
				 const struct wire_hello *hello)
{
	struct session_to to = {
		.host = "192.0.2.1", .port = WIRE_DEFAULT_PORT, .timeout_ms = FAKE_PATIENCE_MS,
	};

	assert_int_equal(kverbs_open(kv, NULL), 0);
	return session_connect(s, *kv, &to, hello);
}

/* Receive until a message of this type arrives. */
static inline void await_message(struct session *s, unsigned int type, struct wire_msg *msg)
{
	do {
		assert_int_equal(session_recv(s, msg, FAKE_PATIENCE_MS), 0);
	} while (msg->type != type);
}

static inline void server_leave(struct session *s, struct kverbs *kv)
{
	session_free(s);
	kverbs_close(kv);
}

#define server_test(name) \
	cmocka_unit_test_setup_teardown(name, server_setup, server_teardown)

#endif /* SERVER_H */
