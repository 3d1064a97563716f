// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "example.h"

int must(int ret, const char *what)
{
	if (ret >= 0)
		return ret;
	fprintf(stderr, "%s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

void finish(struct kverbs_req *req, const char *what)
{
	if (!kverbs_wait(req, -1))
		return;
	fprintf(stderr, "%s: %s (%s)\n", what, strerror(-req->result),
		kverbs_wc_status_str(req->wc_status));
	exit(EXIT_FAILURE);
}

struct kverbs_listener *listen_here(struct kverbs *kv)
{
	struct kverbs_listener *listener;

	must(kverbs_listen(kv, NULL, PORT, 0, &listener), "listen");
	puts("listening");
	fflush(stdout);
	return listener;
}

struct kverbs_conn *accept_one(struct kverbs_listener *listener, struct kverbs_buf *buf,
			       struct kverbs_req *recv)
{
	struct kverbs_conn *conn;

	must(kverbs_next_request(listener, -1, &conn), "wait for a peer");
	must(kverbs_recv(conn, buf, 0, kverbs_buf_size(buf), recv), "post a receive");
	must(kverbs_accept(conn, NULL), "accept");
	return conn;
}

void send_token(struct kverbs_conn *conn, struct kverbs_buf *buf,
		const struct kverbs_token *token)
{
	struct kverbs_req req = { 0 };
	int len;

	len = must(kverbs_token_pack(token, kverbs_buf_addr(buf), kverbs_buf_size(buf)),
		   "pack a token");
	must(kverbs_send(conn, buf, 0, len, &req), "send a token");
	/*
	 * If the peer has used the token and left, its acknowledgment may be lost: ignore the
	 * result.
	 */
	kverbs_wait(&req, -1);
}

void take_token(struct kverbs_buf *buf, struct kverbs_req *recv, struct kverbs_token *token)
{
	finish(recv, "receive a token");
	must(kverbs_token_unpack(token, kverbs_buf_addr(buf), recv->byte_len),
	     "unpack a token");
}

void await_end(struct kverbs_conn *conn, struct kverbs_buf *buf)
{
	struct kverbs_req recv = { 0 };

	/* kverbs_recv() fails if the peer has already disconnected. */
	if (!kverbs_recv(conn, buf, 0, kverbs_buf_size(buf), &recv))
		kverbs_wait(&recv, -1);
}
