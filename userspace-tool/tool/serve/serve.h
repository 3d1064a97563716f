/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A server and its clients, each of which has a thread. */
#ifndef KVERBS_TOOL_SERVE_H
#define KVERBS_TOOL_SERVE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "peer/session.h"
#include "serve/files.h"
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
 * @keys: those that it could choose from, or NULL
 * @key: the one of them that it has proved to have, or NULL
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
	struct keyring *keys;
	const struct key *key;
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
 * @share_words: named directories that are served in place of it
 * @shares: those, open
 * @files: what clients may do with it
 * @copies: those that run
 * @umask: of that, as it was given, or NULL
 * @services_list: names of services, or NULL
 * @services: bits of enum wire_service, 0: any
 * @rping: clients are rping's
 * @announced: by DNS-SD
 * @announce: the announcement, or NULL
 * @verbose: a line for each client
 * @max_clients: at a time
 * @idle_ms: how long a client may say nothing
 * @auth_ms: how long a client may take to prove that it has the key
 * @grace_ms: how long clients may go on when it is to end
 * @guard: who may come, and what is told of it
 * @base: counters that new clients begin with, or NULL; the main thread's
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
	struct opts_many share_words;
	struct shares shares;
	struct files_conf files;
	struct copies copies;
	const char *umask;
	const char *services_list;
	unsigned int services;
	bool rping;
	bool announced;
	struct announce *announce;
	bool verbose;
	uint64_t max_clients;
	int idle_ms;
	int auth_ms;
	int grace_ms;
	struct guard guard;
	struct explain_base *base;
	pthread_mutex_t lock;
	struct client *clients;
	unsigned int nr_clients;
	uint64_t served;
};

/* A request becomes a client: 0, or why it is refused, enum wire_refusal. */
unsigned int serve_client_take(struct server *srv, struct kverbs_conn *conn,
			       const struct wire_hello *hello);
/* End the connection of a client that has not proved yet, to make room. */
void serve_client_evict(struct visit *v);
/* Join threads that have ended; with @all every one. */
void serve_clients_reap(struct server *srv, bool all);
/* End the connections of all. */
void serve_clients_disconnect(struct server *srv);

#endif /* KVERBS_TOOL_SERVE_H */
