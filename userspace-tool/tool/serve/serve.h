/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A server and its clients, each of which has a thread. */
#ifndef KVERBS_TOOL_SERVE_H
#define KVERBS_TOOL_SERVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "peer/session.h"
#include "serve/guard.h"

struct server;

/**
 * struct client - one connection and its thread
 * @next: in the server's list
 * @server: whose it is
 * @thread: it
 * @s: the connection
 * @visit: what it is counted as
 * @service: what it came for
 * @over: it has gone
 * @done: the thread has ended, but for being joined; under the server's lock
 */
struct client {
	struct client *next;
	struct server *server;
	pthread_t thread;
	struct session s;
	struct visit visit;
	const char *service;
	bool over;
	bool done;
};

/**
 * struct server - a run
 * @kv: the context
 * @listener: where clients come from
 * @bind: local address, or NULL
 * @port: port
 * @root_path: what is served, or NULL
 * @root: the same, open, or -1
 * @read_only: nothing is written there
 * @rping: clients are rping's
 * @verbose: a line for each client
 * @max_clients: at a time
 * @idle_ms: how long a client may say nothing
 * @grace_ms: how long clients may go on when it is to end
 * @guard: who may come, and what is told of it
 * @lock: of what clients have under it
 * @clients: all of them
 * @nr_clients: how many
 * @served: so far
 */
struct server {
	struct kverbs *kv;
	struct kverbs_listener *listener;
	const char *bind;
	const char *port;
	const char *root_path;
	int root;
	bool read_only;
	bool rping;
	bool verbose;
	uint64_t max_clients;
	int idle_ms;
	int grace_ms;
	struct guard guard;
	pthread_mutex_t lock;
	struct client *clients;
	unsigned int nr_clients;
	uint64_t served;
};

/* A request becomes a client: 0, or why it is refused, enum wire_refusal. */
unsigned int serve_client_take(struct server *srv, struct kverbs_conn *conn,
			       const struct wire_hello *hello);
/* Join threads that have ended; with @all every one. */
void serve_clients_reap(struct server *srv, bool all);
/* End the connections of all. */
void serve_clients_disconnect(struct server *srv);

#endif /* KVERBS_TOOL_SERVE_H */
