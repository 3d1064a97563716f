// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Peers that fail. On host a, explain_server accepts one peer at a time on two ports: on port 7000
 * it receives all messages, on port 7001 it posts no receive. "explain_server mute HOST PORT" is a
 * client of kverbs serve that wants an echo, but posts no receive for it.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kverbs.h>

#include "patience.h"
#include "peer/wire.h"

#define DEPTH 16
#define MESSAGE 65536

static void must(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-ret));
	_exit(EXIT_FAILURE);
}

static void receive_all(struct kverbs_conn *conn, struct kverbs_buf *buf,
			struct kverbs_req *reqs)
{
	unsigned int i;

	for (i = 0; !kverbs_wait(&reqs[i % DEPTH], -1); i++)
		if (kverbs_recv(conn, buf, (size_t)(i % DEPTH) * MESSAGE, MESSAGE,
				&reqs[i % DEPTH]))
			return;
}

static void serve_one(struct kverbs *kv, struct kverbs_listener *listener,
		      struct kverbs_buf *buf, unsigned int depth)
{
	/* The peer sends again once, 0.01 ms later, before it gives up. */
	const struct kverbs_conn_param param = {
		.valid = KVERBS_PARAM_RNR_RETRY | KVERBS_PARAM_RNR_TIMER,
		.rnr_retry = 1,
		.rnr_timer = 1,
		.keepalive_ns = depth ? MS_TO_NS(test_keepalive_ms()) : 0,
	};
	const struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
		.timeout_ms = test_patience_ms(),
	};
	struct kverbs_req reqs[DEPTH] = { 0 };
	struct kverbs_conn *conn;
	unsigned int i;

	must(kverbs_next_request(listener, -1, &conn), "next request");
	for (i = 0; i < depth; i++)
		must(kverbs_recv(conn, buf, (size_t)i * MESSAGE, MESSAGE, &reqs[i]), "recv");
	if (!kverbs_accept(conn, &opts)) {
		if (depth)
			receive_all(conn, buf, reqs);
		while (!kverbs_conn_error(conn))
			must(kverbs_process(kv, -1), "process");
	}
	kverbs_conn_free(conn);
}

static void serve(const char *port, unsigned int depth)
{
	struct kverbs_listener *listener;
	struct kverbs_buf *buf;
	struct kverbs *kv;

	must(kverbs_open(&kv, NULL), "open");
	must(kverbs_buf_alloc(kv, DEPTH * MESSAGE, &buf), "alloc");
	must(kverbs_listen(kv, "a", port, 0, &listener), "listen");
	for (;;)
		serve_one(kv, listener, buf, depth);
}

static void put_be(uint8_t *p, uint64_t value, unsigned int bytes)
{
	while (bytes--) {
		p[bytes] = value;
		value >>= 8;
	}
}

/* See Documentation/reference/protocol.rst. */
static void fill_hello(uint8_t hello[WIRE_HELLO_LEN])
{
	put_be(hello, WIRE_MAGIC, 4);
	put_be(hello + 4, WIRE_VERSION, 2);
	put_be(hello + 6, WIRE_SERVICE_ECHO, 2);
	put_be(hello + 8, WIRE_HEAD_LEN, 4);
	put_be(hello + 12, 2, 4);
}

static void fill_echo(uint8_t *msg)
{
	put_be(msg, WIRE_ECHO, 2);
	put_be(msg + 4, WIRE_HEAD_LEN, 4);
	put_be(msg + 8, 1, 4);
	put_be(msg + 12, WIRE_NO_WINDOW, 4);
}

static int be_mute(const char *host, const char *port)
{
	const struct kverbs_conn_param param = {
		.valid = KVERBS_PARAM_RNR_RETRY | KVERBS_PARAM_RNR_TIMER,
		.rnr_retry = 1,
		.rnr_timer = 1,
	};
	uint8_t hello[WIRE_HELLO_LEN] = { 0 };
	const struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
		.priv = hello,
		.priv_len = sizeof(hello),
		.timeout_ms = test_patience_ms(),
	};
	struct kverbs_req req = { 0 };
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	struct kverbs *kv;

	fill_hello(hello);
	must(kverbs_open(&kv, NULL), "open");
	must(kverbs_buf_alloc(kv, WIRE_HEAD_LEN, &buf), "alloc");
	must(kverbs_connect(kv, host, port, &opts, &conn), "connect");
	fill_echo(kverbs_buf_addr(buf));
	must(kverbs_send(conn, buf, 0, WIRE_HEAD_LEN, &req), "send");
	while (!kverbs_conn_error(conn))
		must(kverbs_process(kv, -1), "process");
	kverbs_close(kv);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "mute"))
		return be_mute(argv[2], argv[3]);
	if (!fork()) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		serve("7001", 0);
	}
	serve("7000", DEPTH);
}
