/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Requests about files on a server, without copying them. */
#ifndef KVERBS_TOOL_REMOTE_H
#define KVERBS_TOOL_REMOTE_H

#include "peer/session.h"
#include "peer/target.h"

/**
 * struct remote - a connection to a server of files
 * @to: the server
 * @kv: the context
 * @session: the connection
 * @next_id: of the next request
 */
struct remote {
	struct session_to to;
	struct kverbs *kv;
	struct session session;
	uint32_t next_id;
};

/* All words must be paths on the same host. 0 or an exit status; free() @targets. */
int remote_parse(struct remote *r, int argc, char **argv, struct target **targets);
/* 0 or an exit status */
int remote_open(struct remote *r);
void remote_close(struct remote *r);
/*
 * Send a request until its answer is complete; @take is called with each part. @err: the status of
 * the answer. Returns 0, or -errno of the connection.
 */
int remote_ask(struct remote *r, struct wire_msg *msg, int *err,
	       int (*take)(void *arg, const struct wire_msg *done), void *arg);

#endif /* KVERBS_TOOL_REMOTE_H */
