// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* On host a: accepts one peer at a time and kills itself on request. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kverbs.h>

#include "patience.h"

static void must(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-ret));
	_exit(EXIT_FAILURE);
}

static void serve_until_told(struct kverbs_listener *listener, struct kverbs_buf *buf)
{
	/* Keepalive ends connections of peers that vanished, so that other peers can connect. */
	const struct kverbs_conn_param param = {
		.keepalive_ns = MS_TO_NS(test_keepalive_ms()),
	};
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
		.timeout_ms = test_patience_ms(),
	};
	struct kverbs_req reqs[8] = { 0 };
	struct kverbs_conn *conn;
	unsigned int i;

	must(kverbs_next_request(listener, -1, &conn), "next request");
	for (i = 0; i < 8; i++)
		must(kverbs_recv(conn, buf, 64 * i, 64, &reqs[i]), "recv");
	must(kverbs_accept(conn, &opts), "accept");
	for (i = 0; i < 8 && !kverbs_wait(&reqs[i], -1); i++)
		if (!strncmp((char *)kverbs_buf_addr(buf) + 64 * i, "die", 3))
			kill(getpid(), SIGKILL);
}

static void live(void)
{
	struct kverbs_listener *listener;
	struct kverbs_buf *buf;
	struct kverbs *kv;

	must(kverbs_open(&kv, NULL), "open");
	must(kverbs_buf_alloc(kv, 4096, &buf), "alloc");
	must(kverbs_listen(kv, "a", "7000", 0, &listener), "listen");
	serve_until_told(listener, buf);
	_exit(EXIT_SUCCESS);
}

/* Each restart opens a new file, whatever ended the server before. */
int main(void)
{
	int status;

	for (;;) {
		if (!fork())
			live();
		wait(&status);
		if (WIFEXITED(status) && WEXITSTATUS(status))
			return EXIT_FAILURE;
	}
}
