// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A header and a payload in one message, in separate buffers at both ends.
 *
 *	gather			receive a message and print it
 *	gather HOST TEXT	send a message
 */
#include <stdio.h>
#include <string.h>

#include "example.h"

#define PAYLOAD	4096

struct header {
	char kind[16];
	char length[16];
};

static void take_text(struct kverbs *kv, struct kverbs_buf *header, struct kverbs_buf *payload)
{
	struct kverbs_vec vec[] = {
		{ header, 0, sizeof(struct header) },
		{ payload, 0, PAYLOAD },
	};
	const struct header *h = kverbs_buf_addr(header);
	struct kverbs_listener *listener;
	struct kverbs_req req = { 0 };
	struct kverbs_conn *conn;

	listener = listen_here(kv);
	must(kverbs_next_request(listener, -1, &conn), "wait for a peer");
	must(kverbs_recvv(conn, vec, 2, &req), "post a receive");
	must(kverbs_accept(conn, NULL), "accept");
	finish(&req, "receive");
	printf("%s of %s bytes: %s\n", h->kind, h->length,
	       (char *)kverbs_buf_addr(payload));
	await_end(conn, payload);
}

static void send_text(struct kverbs *kv, const char *host, const char *text,
		      struct kverbs_buf *header, struct kverbs_buf *payload)
{
	/* Longer texts are refused below, since they exceed the buffer. */
	int length = snprintf(kverbs_buf_addr(payload), PAYLOAD, "%s", text);
	struct kverbs_vec vec[] = {
		{ header, 0, sizeof(struct header) },
		{ payload, 0, length + 1 },
	};
	struct header *h = kverbs_buf_addr(header);
	struct kverbs_req req = { 0 };
	struct kverbs_conn *conn;

	snprintf(h->kind, sizeof(h->kind), "text");
	snprintf(h->length, sizeof(h->length), "%d", length);
	must(kverbs_connect(kv, host, PORT, NULL, &conn), "connect");
	must(kverbs_sendv(conn, vec, 2, &req), "send");
	finish(&req, "send");
	kverbs_conn_free(conn);
}

int main(int argc, char **argv)
{
	struct kverbs_buf *header, *payload;
	struct kverbs *kv;

	must(kverbs_open(&kv, NULL), "open");
	must(kverbs_buf_alloc(kv, sizeof(struct header), &header), "allocate");
	must(kverbs_buf_alloc(kv, PAYLOAD, &payload), "allocate");
	if (argc > 2)
		send_text(kv, argv[1], argv[2], header, payload);
	else
		take_text(kv, header, payload);
	kverbs_close(kv);
	return 0;
}
