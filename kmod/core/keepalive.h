/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_KEEPALIVE_H
#define KVERBS_KEEPALIVE_H

#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct kverbs_cq_set;
struct kverbs_queue;

/* Send slots that only probes use. */
#define KVERBS_PROBE_WRS	1

/**
 * struct kverbs_keepalive - whether an idle peer is still there
 * @queue: where probes are posted
 * @cqs: where their completions come, to be polled if nobody else might
 * @work: looks
 * @cqe: completion of a probe
 * @ms: how often it looks, 0: once
 * @opcode: of a probe: an operation of no bytes that the peer's device answers
 * @always: completed work is no proof of the peer
 * @probing: a probe is with the HCA
 * @seen: operations that were completed when it looked last
 *
 * Life: zeroed by its owner; started once when the connection is up; stopped
 * before the queue is closed, and again when the CM's handler, which may start it late,
 * cannot run any more: before queue pair and queues go.
 */
struct kverbs_keepalive {
	struct kverbs_queue *queue;
	struct kverbs_cq_set *cqs;
	struct delayed_work work;
	struct ib_cqe cqe;
	unsigned int ms;
	enum ib_wr_opcode opcode;
	bool always;
	bool probing;
	u64 seen;
};

void kverbs_keepalive_init(struct kverbs_keepalive *keepalive,
			   struct kverbs_queue *queue);
void kverbs_keepalive_start(struct kverbs_keepalive *keepalive, unsigned int first_ms);
void kverbs_keepalive_stop(struct kverbs_keepalive *keepalive);

#endif /* KVERBS_KEEPALIVE_H */
