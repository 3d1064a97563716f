/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A session and its peer, in one thread over the fake kernel: all messages are sent before the
 * session reads them, so it never waits.
 */
#ifndef LINK_H
#define LINK_H

#include "peer/session.h"

/* Receives of the session; the protocol reserves one of them. */
#define LINK_DEPTH	32
#define LINK_MSGS_MAX	(LINK_DEPTH - 1)

/* Receives of the peer, enough for all that the session may send */
#define LINK_RECVS	96

#define LINK_WINDOWS	4
#define LINK_WINDOW	WIRE_BLOCK

/**
 * struct link - both ends
 * @kv: the context that they share
 * @listener: the session's listener
 * @s: the session under test
 * @conn: the peer's connection
 * @mem: the peer's slots: LINK_RECVS to receive into, then those to send from
 * @recv: a request for each receive slot
 * @send: a request for each send slot
 * @sent: messages sent so far
 * @windows: the peer's memory that @s may access
 * @tokens: access to @windows, once requested
 */
struct link {
	struct kverbs *kv;
	struct kverbs_listener *listener;
	struct session s;
	struct kverbs_conn *conn;
	struct kverbs_buf *mem;
	struct kverbs_req recv[LINK_RECVS];
	struct kverbs_req send[LINK_MSGS_MAX];
	unsigned int sent;
	struct kverbs_buf *windows;
	struct kverbs_token tokens[LINK_WINDOWS];
};

void link_open(struct link *l);
void link_send(struct link *l, const void *bytes, size_t len);
const struct kverbs_token *link_token(struct link *l, unsigned int window);
void *link_window(const struct link *l, unsigned int window);
/* Check that the session has sent valid messages, and that it leaks nothing. */
void link_close(struct link *l);

#endif /* LINK_H */
