/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection over a registered fake device, as far on its way as a test wants. */
#ifndef KVERBS_FAKE_CONN_H
#define KVERBS_FAKE_CONN_H

#include "conn_cm.h"
#include "conn_io.h"
#include "conn_qp.h"
#include "fake_device.h"
#include "listener.h"
#include "region.h"

#define FAKE_MEM	(16 * PAGE_SIZE)
#define FAKE_OPS	16
#define FAKE_DEPTH	16

/**
 * enum fake_stage - how far it is
 * @FAKE_MADE: not started, on no device
 * @FAKE_ADDRESSED: the CM knows the device, kverbs does not know that yet
 * @FAKE_ROUTED: a tenant of the device, and kverbs does not know the route yet
 * @FAKE_ASKING: the peer is asked
 * @FAKE_REQUESTED: the peer asks
 * @FAKE_ACCEPTING: the peer is told so
 * @FAKE_UP: this side asked, and it is established
 * @FAKE_UP_PASSIVE: the peer asked, and it is established
 * @FAKE_CLOSING: ended, and its memory is still with the device
 * @FAKE_DEAD: torn down
 * @FAKE_STAGES: how many there are
 */
enum fake_stage {
	FAKE_MADE,
	FAKE_ADDRESSED,
	FAKE_ROUTED,
	FAKE_ASKING,
	FAKE_REQUESTED,
	FAKE_ACCEPTING,
	FAKE_UP,
	FAKE_UP_PASSIVE,
	FAKE_CLOSING,
	FAKE_DEAD,
	FAKE_STAGES,
};

extern const char *const fake_stage_names[FAKE_STAGES];

/**
 * struct fake_work - an operation
 * @req: the operation
 * @done: it is over
 */
struct fake_work {
	struct kverbs_req req;
	struct completion done;
};

/**
 * struct fake_conn - a connection and its owner
 * @test: the test, at whose end it ends
 * @hca: the device
 * @cqs: its completion queues
 * @listener: where the peer asked, or NULL
 * @conn: the connection, or NULL
 * @handler: kverbs' handler of the CM's events
 * @held: an event that does not get there, or -1
 * @held_back: it came
 * @requested: the peer asked
 * @up: it was told that it is established
 * @ended: it was told that it is over
 * @nr_up: how often
 * @nr_ended: how often
 * @nr_removed: how often the listener was told that its device went
 * @addr: FAKE_MEM bytes of user memory
 * @region: that
 * @chain: room to build operations in
 * @works: operations, which outlive the connection
 * @nr_works: how many were used
 */
struct fake_conn {
	struct kunit *test;
	struct fake_hca *hca;
	struct kverbs_cq_set cqs;
	struct kverbs_listener *listener;
	struct kverbs_conn *conn;
	int (*handler)(struct rdma_cm_id *id, struct rdma_cm_event *event);
	int held;
	struct completion held_back;
	struct completion requested;
	struct completion up;
	struct completion ended;
	unsigned int nr_up;
	unsigned int nr_ended;
	unsigned int nr_removed;
	unsigned long addr;
	struct kverbs_region *region;
	struct kverbs_chain *chain;
	struct fake_work works[FAKE_OPS];
	unsigned int nr_works;
};

bool fake_await(struct completion *what);
struct fake_conn *fake_conn_create(struct kunit *test, struct fake_hca *hca);
struct kverbs_conn_attr fake_conn_attr(struct fake_conn *fake);
void fake_conn_listen(struct fake_conn *fake, __be32 address);
void fake_conn_begin(struct fake_conn *fake);
void fake_conn_go(struct fake_conn *fake, enum fake_stage stage);
struct fake_conn *fake_conn_at(struct kunit *test, struct fake_hca *hca,
			       enum fake_stage stage);
void fake_conn_destroy(struct fake_conn *fake);
int fake_conn_try_post(struct fake_conn *fake, struct fake_work *work);
struct fake_work *fake_conn_work(struct fake_conn *fake, u8 opcode, u64 offset, u64 length);
struct fake_work *fake_conn_post(struct fake_conn *fake, u8 opcode, u64 offset, u64 length);

#endif /* KVERBS_FAKE_CONN_H */
