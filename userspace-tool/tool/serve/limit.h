/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Limits of connections and memory for each address, and of clients that have not been
 * authenticated. An address without a client is kept only for its rate, in a table of
 * bounded size.
 */
#ifndef KVERBS_TOOL_LIMIT_H
#define KVERBS_TOOL_LIMIT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include <linux/kverbs.h>

#include "serve/bucket.h"

/* Addresses that have nothing and are remembered. */
#define LIMIT_IDLE_MAX		1024
/* Clients that have not proved yet that they have the key: of all, of one address. */
#define LIMIT_UNPROVEN_MAX	64
#define LIMIT_UNPROVEN_PEER_MAX	16

/**
 * struct limit_peer - an address
 * @addr: it; other fields than @family and @addr are 0
 * @clients: that it has
 * @unproven: those of them who have not proved
 * @bytes: memory that they have
 * @bucket: how often it came
 * @idle: in the list of those that have nothing
 */
struct limit_peer {
	struct kverbs_addr addr;
	unsigned int clients;
	unsigned int unproven;
	uint64_t bytes;
	struct bucket bucket;

	TAILQ_ENTRY(limit_peer) idle;
};

/**
 * struct limit - all addresses
 * @clients: that one may have
 * @bytes: that one may have, 0: any
 * @rate: how many may come from it in a second, 0: any
 * @lock: of what follows
 * @peers: tree of them, tsearch(3)
 * @nr_idle: those that have nothing
 * @unproven: clients who have not proved
 * @idle: those that have nothing, who came last is last
 */
struct limit {
	uint64_t clients;
	uint64_t bytes;
	double rate;
	pthread_mutex_t lock;
	void *peers;
	unsigned int nr_idle;
	unsigned int unproven;

	TAILQ_HEAD(limit_idle, limit_peer) idle;
};

/**
 * struct visit - a connected client
 * @limit: where it is counted; NULL: not at all
 * @peer: its address
 * @bytes: charged for it
 * @unproven: it is not authenticated yet
 */
struct visit {
	struct limit *limit;
	struct limit_peer *peer;
	uint64_t bytes;
	bool unproven;
};

/* @clients, @bytes and @rate are set, the rest is 0. */
void limit_init(struct limit *l);
void limit_free(struct limit *l);

/*
 * A client comes, for so many bytes: 0, or why not, enum wire_refusal. @unproven: it is
 * yet to prove. @now: seconds.
 */
unsigned int limit_enter(struct limit *l, struct visit *v, const struct kverbs_addr *addr,
			 uint64_t bytes, bool unproven, double now);
/* The client is authenticated. */
void limit_proven(struct visit *v);
/* More, or -EDQUOT; and back. A visit that is NULL may have anything. */
int limit_charge(struct visit *v, uint64_t bytes);
void limit_uncharge(struct visit *v, uint64_t bytes);
/* The client is gone: uncharge it. May be called again. */
void limit_leave(struct visit *v);

#endif /* KVERBS_TOOL_LIMIT_H */
