/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Running copies of several connections: those that carry data besides the first one, and the next
 * one after a loss. A client that has lost a connection knows it first. When the client connects
 * again, the connections before are ended, so that their file is closed and kept.
 */
#ifndef KVERBS_TOOL_COPIES_H
#define KVERBS_TOOL_COPIES_H

#include <pthread.h>
#include <stdint.h>

#include "copy/copy.h"

/**
 * struct copies_entry - one of them
 * @next: in the list
 * @id: a random number of the client, which all connections of a copy tell; 0: none
 * @session: the first connection, whose thread has the entry
 * @lanes: the others, whose threads wait
 * @nr_lanes: number of them
 * @over: the copy is over: the threads of @lanes go on
 */
struct copies_entry {
	struct copies_entry *next;
	uint64_t id;
	struct session *session;
	struct session *lanes[COPY_LANES_MAX];
	unsigned int nr_lanes;
	bool over;
};

/**
 * struct copies - all of them
 * @lock: of @first and the entries
 * @changed: an entry or a lane has left
 * @first: list of them
 */
struct copies {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct copies_entry *first;
};

void copies_init(struct copies *copies);
/* In all of these @copies may be NULL: there is no copy of several connections. */

/* End the connections of the same copy, wait until they have left, and enter. */
void copies_enter(struct copies *copies, struct copies_entry *e);
/* Wait until its lanes have left, too. An entry without an id has not entered. */
void copies_leave(struct copies *copies, struct copies_entry *e);
/*
 * Lend a connection to the copy @id as a lane, until the copy is over. The client has the answer
 * before the copy can use it. Returns 0, or -errno of the connection.
 */
int copies_join(struct copies *copies, uint64_t id, struct session *s);
/* Let @copy have the lanes that have joined. */
void copies_lanes(struct copies *copies, const struct copies_entry *e, struct copy *copy);

#endif /* KVERBS_TOOL_COPIES_H */
