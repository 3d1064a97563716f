// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Write into a peer's memory and read it back; the peer's CPU is not involved.
 *
 *	onesided		export memory to one peer until it disconnects
 *	onesided HOST		write and read the memory
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "example.h"

#define SIZE	(3 << 20)
#define MESSAGE	4096

static void lend(struct kverbs *kv, struct kverbs_buf *message)
{
	struct kverbs_req recv = { 0 };
	struct kverbs_listener *listener;
	struct kverbs_token token;
	struct kverbs_conn *conn;
	struct kverbs_buf *memory;

	must(kverbs_buf_alloc(kv, SIZE, &memory), "allocate");
	listener = listen_here(kv);
	conn = accept_one(listener, message, &recv);
	/* On iWARP the active side must send first. */
	finish(&recv, "receive a greeting");
	must(kverbs_export(conn, memory, 0, SIZE, KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE,
			   &token), "export");
	send_token(conn, message, &token);
	await_end(conn, message);
	printf("the peer wrote: %s\n", (char *)kverbs_buf_addr(memory));
}

static void borrow(struct kverbs *kv, const char *host, struct kverbs_buf *message)
{
	struct kverbs_req req = { 0 }, recv = { 0 };
	struct kverbs_buf *out, *back;
	struct kverbs_token token;
	struct kverbs_conn *conn;

	must(kverbs_buf_alloc(kv, SIZE, &out), "allocate");
	must(kverbs_buf_alloc(kv, SIZE, &back), "allocate");
	must(kverbs_connect(kv, host, PORT, NULL, &conn), "connect");
	must(kverbs_recv(conn, message, 0, MESSAGE, &recv), "post a receive");
	must(kverbs_send(conn, NULL, 0, 0, &req), "send a greeting");
	finish(&req, "send a greeting");
	take_token(message, &recv, &token);

	memset(kverbs_buf_addr(out), 'x', SIZE);
	strcpy(kverbs_buf_addr(out), "hello from afar");
	must(kverbs_write(conn, out, 0, SIZE, &token, 0, &req), "write");
	finish(&req, "write");
	must(kverbs_read(conn, back, 0, SIZE, &token, 0, &req), "read");
	finish(&req, "read");
	must(memcmp(kverbs_buf_addr(out), kverbs_buf_addr(back), SIZE) ? -EIO : 0, "compare");
	printf("%d bytes came back as they were\n", SIZE);
	kverbs_token_free(&token);
	kverbs_conn_free(conn);
}

int main(int argc, char **argv)
{
	struct kverbs_buf *message;
	struct kverbs *kv;

	must(kverbs_open(&kv, NULL), "open");
	must(kverbs_buf_alloc(kv, MESSAGE, &message), "allocate");
	if (argc > 1)
		borrow(kv, argv[1], message);
	else
		lend(kv, message);
	kverbs_close(kv);
	return 0;
}
