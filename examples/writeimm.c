// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Write into a peer's memory, and notify it with four bytes of immediate data.
 *
 *	writeimm		export memory to one peer, print what it writes
 *	writeimm HOST		write three records
 *
 * iWARP has no immediate data.
 */
#include <stdio.h>
#include <string.h>

#include "example.h"

#define RECORDS	3
#define RECORD	64
#define MESSAGE	4096

static void lend(struct kverbs *kv, struct kverbs_buf *message)
{
	struct kverbs_req recv = { 0 }, told[RECORDS] = { 0 };
	struct kverbs_listener *listener;
	struct kverbs_token token;
	struct kverbs_conn *conn;
	struct kverbs_buf *memory;
	int i;

	must(kverbs_buf_alloc(kv, RECORDS * RECORD, &memory), "allocate");
	listener = listen_here(kv);
	conn = accept_one(listener, message, &recv);
	finish(&recv, "receive a greeting");
	/* The token determines where the data goes; the receive itself has no buffer. */
	for (i = 0; i < RECORDS; i++)
		must(kverbs_recv(conn, NULL, 0, 0, &told[i]), "post a receive");
	must(kverbs_export(conn, memory, 0, RECORDS * RECORD, KVERBS_REMOTE_WRITE, &token),
	     "export");
	send_token(conn, message, &token);
	for (i = 0; i < RECORDS; i++) {
		finish(&told[i], "be told");
		printf("record %u: %s\n", told[i].imm,
		       (char *)kverbs_buf_addr(memory) + told[i].imm * RECORD);
	}
	await_end(conn, message);
}

static void write_records(struct kverbs *kv, const char *host, struct kverbs_buf *message)
{
	struct kverbs_req req = { 0 }, recv = { 0 };
	struct kverbs_token token;
	struct kverbs_conn *conn;
	int i;

	must(kverbs_connect(kv, host, PORT, NULL, &conn), "connect");
	must(kverbs_recv(conn, message, 0, MESSAGE, &recv), "post a receive");
	must(kverbs_send(conn, NULL, 0, 0, &req), "send a greeting");
	finish(&req, "send a greeting");
	take_token(message, &recv, &token);
	for (i = 0; i < RECORDS; i++) {
		snprintf(kverbs_buf_addr(message), RECORD, "written by way of number %d", i);
		must(kverbs_write_imm(conn, message, 0, RECORD, &token, i * RECORD, i, &req),
		     "write with immediate data");
		finish(&req, "write with immediate data");
	}
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
		write_records(kv, argv[1], message);
	else
		lend(kv, message);
	kverbs_close(kv);
	return 0;
}
