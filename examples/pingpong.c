// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages to a peer and back.
 *
 *	pingpong		wait for a peer and answer it
 *	pingpong HOST		send it ten messages
 *
 * A receive must be posted before its message arrives.
 */
#include <stdio.h>
#include <string.h>

#include "example.h"

#define ROUNDS	10
#define SIZE	4096

static void answer(struct kverbs *kv, struct kverbs_buf *in, struct kverbs_buf *out)
{
	struct kverbs_req recv = { 0 }, send = { 0 };
	struct kverbs_listener *listener;
	struct kverbs_conn *conn;
	int i, len;

	listener = listen_here(kv);
	conn = accept_one(listener, in, &recv);
	for (i = 0; i < ROUNDS; i++) {
		finish(&recv, "receive");
		/* The peer has received the previous answer, and is still connected. */
		if (i)
			finish(&send, "send");
		len = snprintf(kverbs_buf_addr(out), SIZE, "pong to %s",
			       (char *)kverbs_buf_addr(in));
		/* The next message may arrive as soon as the peer has this answer. */
		must(kverbs_recv(conn, in, 0, SIZE, &recv), "post a receive");
		must(kverbs_send(conn, out, 0, len + 1, &send), "send");
	}
	/* The peer leaves after the last answer, perhaps before it has acknowledged it. */
	kverbs_wait(&recv, -1);
	kverbs_wait(&send, -1);
}

static void ask(struct kverbs *kv, const char *host, struct kverbs_buf *in,
		struct kverbs_buf *out)
{
	struct kverbs_req recv = { 0 }, send = { 0 };
	struct kverbs_conn *conn;
	int i, len;

	must(kverbs_connect(kv, host, PORT, NULL, &conn), "connect");
	for (i = 0; i < ROUNDS; i++) {
		must(kverbs_recv(conn, in, 0, SIZE, &recv), "post a receive");
		len = snprintf(kverbs_buf_addr(out), SIZE, "ping %d", i);
		must(kverbs_send(conn, out, 0, len + 1, &send), "send");
		finish(&send, "send");
		finish(&recv, "receive");
		puts(kverbs_buf_addr(in));
	}
	kverbs_conn_free(conn);
}

int main(int argc, char **argv)
{
	struct kverbs_buf *in, *out;
	struct kverbs *kv;

	must(kverbs_open(&kv, NULL), "open");
	must(kverbs_buf_alloc(kv, SIZE, &in), "allocate");
	must(kverbs_buf_alloc(kv, SIZE, &out), "allocate");
	if (argc > 1)
		ask(kv, argv[1], in, out);
	else
		answer(kv, in, out);
	kverbs_close(kv);
	return 0;
}
