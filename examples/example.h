/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Common code of the examples: connecting, and exchanging tokens with the peer. */
#ifndef EXAMPLE_H
#define EXAMPLE_H

#include <kverbs.h>

#define PORT "7480"

/* Exit with the message @what if @ret is an error. Returns @ret. */
int must(int ret, const char *what);

/* Wait for a request, which must succeed. */
void finish(struct kverbs_req *req, const char *what);

/* Listen, and print the port. */
struct kverbs_listener *listen_here(struct kverbs *kv);

/* Accept one peer, with a receive posted before the peer can send. */
struct kverbs_conn *accept_one(struct kverbs_listener *listener, struct kverbs_buf *buf,
			       struct kverbs_req *recv);

/* Send a token to the peer, or receive one from it. Both use all of @buf. */
void send_token(struct kverbs_conn *conn, struct kverbs_buf *buf,
		const struct kverbs_token *token);
void take_token(struct kverbs_buf *buf, struct kverbs_req *recv, struct kverbs_token *token);

/* Wait until the peer disconnects; the side that leaves first may lose its last acknowledgment. */
void await_end(struct kverbs_conn *conn, struct kverbs_buf *buf);

#endif /* EXAMPLE_H */
