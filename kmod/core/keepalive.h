/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_KEEPALIVE_H
#define KVERBS_KEEPALIVE_H

#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

struct kverbs_cq_set;
struct kverbs_queue;

/* Send slots for probes. */
#define KVERBS_PROBE_WRS	1

/**
 * struct kverbs_keepalive - probes an idle peer
 * @queue: where probes are posted
 * @cqs: completion queues of the connection, polled if they are direct
 * @work: checks whether the peer is idle
 * @cqe: completion of a probe
 * @ms: interval between two checks, 0: check once
 * @opcode: of a probe: an operation of no bytes that the peer's device answers
 * @always: probe even if operations complete, see KVERBS_QUIRK_READ_PROBE
 * @probing: a probe is with the HCA
 * @behind: at the last check, earlier work in the send queue was not complete
 * @ahead: kverbs_queue.nr_retired when all work before the probe is complete
 * @seen: operations that were complete at the last check
 *
 * Life: zeroed by its owner; started once when the connection is up; stopped before the
 * queue is closed, and again, before the queue pair is destroyed, when the CM's handler,
 * which may have started it late, has returned.
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
	bool behind;
	u32 ahead;
	u64 seen;
};

void kverbs_keepalive_init(struct kverbs_keepalive *keepalive,
			   struct kverbs_queue *queue);
void kverbs_keepalive_start(struct kverbs_keepalive *keepalive, unsigned int first_ms);
void kverbs_keepalive_stop(struct kverbs_keepalive *keepalive);

#endif /* KVERBS_KEEPALIVE_H */
