/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Limits of connections, memory and ring slots, of all clients and for each address, and of
 * clients that have not been authenticated. An address is an IPv4 address or an IPv6 prefix of
 * 64 bits, which is what one host may have. An address without a client is kept only for its
 * rate, in a table of bounded size.
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
 * @slots: ring slots that they have
 * @bucket: how often it came
 * @idle: in the list of those that have nothing
 */
struct limit_peer {
	struct kverbs_addr addr;
	unsigned int clients;
	unsigned int unproven;
	uint64_t bytes;
	uint64_t slots;
	struct bucket bucket;

	TAILQ_ENTRY(limit_peer) idle;
};

struct visit;

/**
 * struct limit_need - what a client may use
 * @bytes: memory
 * @slots: ring slots
 */
struct limit_need {
	uint64_t bytes;
	uint64_t slots;
};

/**
 * struct limit - all addresses
 * @clients: that one may have
 * @bytes: that one may have, 0: any
 * @all_bytes: that all may have, 0: any
 * @all_slots: that all may have, and one half of them, 0: any
 * @rate: how many may come from it in a second, 0: any
 * @evict: ends the connection of a client that has not proved and must make room, or NULL
 * @lock: of what follows
 * @peers: tree of them, tsearch(3)
 * @nr_idle: those that have nothing
 * @unproven: clients who have not proved
 * @used: what all clients have
 * @strangers: clients who have not proved, who came last is last
 * @idle: those that have nothing, who came last is last
 */
struct limit {
	uint64_t clients;
	uint64_t bytes;
	uint64_t all_bytes;
	uint64_t all_slots;
	double rate;
	void (*evict)(struct visit *v);
	pthread_mutex_t lock;
	void *peers;
	unsigned int nr_idle;
	unsigned int unproven;
	struct limit_need used;

	TAILQ_HEAD(limit_strangers, visit) strangers;
	TAILQ_HEAD(limit_idle, limit_peer) idle;
};

/**
 * struct visit - a connected client
 * @limit: where it is counted; NULL: not at all
 * @peer: its address
 * @need: what is charged for it as soon as it is authenticated
 * @bytes: charged for it
 * @slots: charged for it
 * @unproven: it is not authenticated yet
 * @evicted: it had to make room before it was
 * @stranger: in the list of those who have not proved
 */
struct visit {
	struct limit *limit;
	struct limit_peer *peer;
	struct limit_need need;
	uint64_t bytes;
	uint64_t slots;
	bool unproven;
	bool evicted;

	TAILQ_ENTRY(visit) stranger;
};

/* The limits and @evict are set, the rest is 0. */
void limit_init(struct limit *l);
void limit_free(struct limit *l);

/*
 * A client comes, and needs so much: 0, or why not, enum wire_refusal. @unproven: it is yet to
 * prove, and is charged for nothing before; if there are too many of those, the oldest of the
 * address that has most makes room. @now: seconds.
 */
unsigned int limit_enter(struct limit *l, struct visit *v, const struct kverbs_addr *addr,
			 struct limit_need need, bool unproven, double now);
/* The client is authenticated. 0, or why it must leave, enum wire_refusal. */
unsigned int limit_proven(struct visit *v);
/* More, or -EDQUOT; and back. A visit that is NULL may have anything. */
int limit_charge(struct visit *v, uint64_t bytes);
void limit_uncharge(struct visit *v, uint64_t bytes);
/* The client is gone: uncharge it. May be called again. */
void limit_leave(struct visit *v);

#endif /* KVERBS_TOOL_LIMIT_H */
