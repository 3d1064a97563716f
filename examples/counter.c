// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A counter that several clients share, without a lock and without the server's help.
 *
 *	counter CLIENTS		serve a counter to this many clients, print its last value
 *	counter HOST ADDS	draw this many numbers
 *
 * iWARP has no atomics.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

#define CLIENTS_MAX	64
#define MESSAGE		4096

static void lend(struct kverbs *kv, int clients)
{
	struct kverbs_buf *counter, *message[CLIENTS_MAX];
	struct kverbs_req recv[CLIENTS_MAX] = { 0 };
	struct kverbs_conn *conn[CLIENTS_MAX];
	struct kverbs_listener *listener;
	struct kverbs_token token;
	int i;

	must(kverbs_buf_alloc(kv, sizeof(uint64_t), &counter), "allocate");
	listener = listen_here(kv);
	for (i = 0; i < clients; i++) {
		must(kverbs_buf_alloc(kv, MESSAGE, &message[i]), "allocate");
		conn[i] = accept_one(listener, message[i], &recv[i]);
		finish(&recv[i], "receive a greeting");
		must(kverbs_export(conn[i], counter, 0, sizeof(uint64_t),
				   KVERBS_REMOTE_ATOMIC, &token), "export");
		send_token(conn[i], message[i], &token);
		must(kverbs_recv(conn[i], message[i], 0, MESSAGE, &recv[i]),
		     "post a receive");
	}
	for (i = 0; i < clients; i++)
		kverbs_wait(&recv[i], -1);
	printf("the counter is %" PRIu64 "\n", *(uint64_t *)kverbs_buf_addr(counter));
}

static void draw(struct kverbs *kv, const char *host, int adds)
{
	struct kverbs_req req = { 0 }, recv = { 0 };
	struct kverbs_buf *message, *was;
	struct kverbs_token token;
	struct kverbs_conn *conn;
	int i;

	must(kverbs_buf_alloc(kv, MESSAGE, &message), "allocate");
	must(kverbs_buf_alloc(kv, sizeof(uint64_t), &was), "allocate");
	must(kverbs_connect(kv, host, PORT, NULL, &conn), "connect");
	must(kverbs_recv(conn, message, 0, MESSAGE, &recv), "post a receive");
	must(kverbs_send(conn, NULL, 0, 0, &req), "send a greeting");
	finish(&req, "send a greeting");
	take_token(message, &recv, &token);
	for (i = 0; i < adds; i++) {
		must(kverbs_fetch_add(conn, was, 0, &token, 0, 1, &req), "fetch and add");
		finish(&req, "fetch and add");
		printf("%" PRIu64 "\n", *(uint64_t *)kverbs_buf_addr(was));
	}
	kverbs_token_free(&token);
	kverbs_conn_free(conn);
}

int main(int argc, char **argv)
{
	int number = argc > 1 ? atoi(argv[argc - 1]) : 0;
	struct kverbs *kv;

	must(number < 1 || (argc == 2 && number > CLIENTS_MAX) ? -EINVAL : 0,
	     "a number of clients, or a host and a number");
	must(kverbs_open(&kv, NULL), "open");
	if (argc > 2)
		draw(kv, argv[1], number);
	else
		lend(kv, number);
	kverbs_close(kv);
	return 0;
}
