/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A session and whoever it talks to, in one thread over the fake kernel: all that
 * comes has been sent before the session is asked to look, and it waits for nothing.
 */
#ifndef LINK_H
#define LINK_H

#include "peer/session.h"

/* Receives of the session, and one less, as the protocol has it. */
#define LINK_DEPTH	32
#define LINK_MSGS_MAX	(LINK_DEPTH - 1)

/* Ours, for all that it can have to say. */
#define LINK_RECVS	96

#define LINK_WINDOWS	4
#define LINK_WINDOW	WIRE_BLOCK

/**
 * struct link - both ends
 * @kv: the context that they share
 * @listener: how they met
 * @s: the end that is tried
 * @conn: the other one
 * @mem: its slots: LINK_RECVS to receive into, then those to send from
 * @recv: one for each receive slot
 * @send: one for each send slot
 * @sent: messages so far
 * @windows: its memory that @s may be let at
 * @tokens: leave for that, once asked for
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
/* What the session has said must be messages, and nothing of it may be left. */
void link_close(struct link *l);

#endif /* LINK_H */
