// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* On host a: accepts one peer at a time; on request it lends it memory, or kills itself. */
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

/* The peer may read the second half of the buffer. */
static void lend(struct kverbs_conn *conn, struct kverbs_buf *buf)
{
	struct kverbs_token token;
	struct kverbs_req req = { 0 };
	int size;

	memset((char *)kverbs_buf_addr(buf) + 2048, 'l', 2048);
	must(kverbs_export(conn, buf, 2048, 2048, KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE, &token),
	     "export");
	size = kverbs_token_pack(&token, (char *)kverbs_buf_addr(buf) + 1024, 1024);
	must(size, "pack a token");
	must(kverbs_send(conn, buf, 1024, kverbs_token_packed_size(&token), &req), "send");
	must(kverbs_wait(&req, -1), "wait for the send");
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
	const char *message;
	unsigned int i;

	must(kverbs_next_request(listener, -1, &conn), "next request");
	for (i = 0; i < 8; i++)
		must(kverbs_recv(conn, buf, 64 * i, 64, &reqs[i]), "recv");
	must(kverbs_accept(conn, &opts), "accept");
	for (i = 0; i < 8 && !kverbs_wait(&reqs[i], -1); i++) {
		message = (char *)kverbs_buf_addr(buf) + 64 * i;
		if (!strncmp(message, "die", 3))
			kill(getpid(), SIGKILL);
		if (!strncmp(message, "lend", 4))
			lend(conn, buf);
	}
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
