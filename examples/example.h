/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What all examples begin with: a connection, and a word with the peer. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <kverbs.h>

#define PORT "7480"

/* End the program with what failed, unless nothing did. Returns what it was given. */
int must(int ret, const char *what);

/* Wait for a request, which must succeed. */
void finish(struct kverbs_req *req, const char *what);

/* Listen, and say so. */
struct kverbs_listener *listen_here(struct kverbs *kv);

/* Accept one peer, with a receive posted before it can send. */
struct kverbs_conn *accept_one(struct kverbs_listener *listener, struct kverbs_buf *buf,
			       struct kverbs_req *recv);

/* Send a token to the peer, and take what the peer sends so. Both use all of @buf. */
void send_token(struct kverbs_conn *conn, struct kverbs_buf *buf,
		const struct kverbs_token *token);
void take_token(struct kverbs_buf *buf, struct kverbs_req *recv, struct kverbs_token *token);

/* Wait until the peer has left; who leaves first may take his last acknowledgment along. */
void await_end(struct kverbs_conn *conn, struct kverbs_buf *buf);

#endif /* EXAMPLE_H */
