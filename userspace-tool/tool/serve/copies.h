/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Copies to this server that run. A client that has lost a connection knows it first. When it
 * connects again, the connection before is ended, so that the file of it is closed and kept.
 */
#ifndef KVERBS_TOOL_COPIES_H
#define KVERBS_TOOL_COPIES_H

#include <pthread.h>
#include <stdint.h>

#include "peer/session.h"

/**
 * struct copies_entry - one of them
 * @next: in the list
 * @id: a random number of the client, which all connections of a copy tell; 0: none
 * @session: the connection
 */
struct copies_entry {
	struct copies_entry *next;
	uint64_t id;
	struct session *session;
};

/**
 * struct copies - all of them
 * @lock: of @first
 * @left: one of them has left
 * @first: list of them
 */
struct copies {
	pthread_mutex_t lock;
	pthread_cond_t left;
	struct copies_entry *first;
};

void copies_init(struct copies *copies);
/*
 * End the connection of the same copy, wait until it has left, and enter. Without an id, or if
 * @copies is NULL, nothing is done.
 */
void copies_enter(struct copies *copies, struct copies_entry *e);
void copies_leave(struct copies *copies, struct copies_entry *e);

#endif /* KVERBS_TOOL_COPIES_H */
