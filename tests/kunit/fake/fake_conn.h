/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection over a registered fake device, at a stage chosen by the test. */
#ifndef KVERBS_FAKE_CONN_H
#define KVERBS_FAKE_CONN_H

#include "conn_cm.h"
#include "conn_io.h"
#include "conn_qp.h"
#include "fake_device.h"
#include "listener.h"
#include "region.h"

#define FAKE_MEM	(16 * PAGE_SIZE)
#define FAKE_OPS	40
#define FAKE_DEPTH	16

/**
 * enum fake_stage - stage of the connection
 * @FAKE_MADE: not started, on no device
 * @FAKE_ADDRESSED: the CM knows the device, kverbs does not know it yet
 * @FAKE_ROUTED: a tenant of the device, kverbs does not know the route yet
 * @FAKE_ASKING: the request was sent to the peer
 * @FAKE_REQUESTED: the peer has requested it
 * @FAKE_ACCEPTING: accepted, the answer was sent to the peer
 * @FAKE_UP: active side, established
 * @FAKE_UP_PASSIVE: passive side, established
 * @FAKE_CLOSING: ended, and the device still holds its memory
 * @FAKE_DEAD: torn down
 * @FAKE_STAGES: number of stages
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
 * @done: signalled when it has completed
 */
struct fake_work {
	struct kverbs_req req;
	struct completion done;
};

/**
 * struct fake_conn - a connection and its owner
 * @test: the test, at whose end both are destroyed
 * @hca: the device
 * @cqs: its completion queues
 * @listener: the listener of the peer's request, or NULL
 * @conn: the connection, or NULL
 * @handler: kverbs' handler of CM events
 * @held: CM event that is not passed to @handler, or -1
 * @held_back: signalled when @held has arrived
 * @requested: signalled when the peer has requested a connection
 * @up: signalled when the connection is reported as established
 * @ended: signalled when the connection is reported as ended
 * @nr_up: how often @up was signalled
 * @nr_ended: how often @ended was signalled
 * @nr_removed: how often the removal of the listener's device was reported
 * @addr: FAKE_MEM bytes of user memory
 * @region: region of @addr
 * @chain: memory to build operations in
 * @works: operations, which outlive the connection
 * @nr_works: number of @works in use
 * @max_sge: entries of a work request, 0 for the default
 * @group: its group, or NULL
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
	u8 max_sge;
	struct kverbs_group *group;
};

bool fake_await(struct completion *what);
struct fake_conn *fake_conn_create(struct kunit *test, struct fake_hca *hca);
struct kverbs_conn_attr fake_conn_attr(struct fake_conn *fake);
int fake_conn_try_listen(struct fake_conn *fake, __be32 address);
void fake_conn_listen(struct fake_conn *fake, __be32 address);
int fake_conn_try_begin(struct fake_conn *fake, bool bound);
void fake_conn_begin(struct fake_conn *fake);
void fake_conn_go(struct fake_conn *fake, enum fake_stage stage);
void fake_conn_scatter(struct fake_conn *fake);
struct fake_conn *fake_conn_at(struct kunit *test, struct fake_hca *hca,
			       enum fake_stage stage);
void fake_conn_destroy(struct fake_conn *fake);
int fake_conn_try_post(struct fake_conn *fake, struct fake_work *work);
struct fake_work *fake_conn_work(struct fake_conn *fake, u8 opcode, u64 offset, u64 length);
struct fake_work *fake_conn_post(struct fake_conn *fake, u8 opcode, u64 offset, u64 length);
struct kverbs_group *fake_group_create(struct kunit *test, struct fake_hca *hca);

#endif /* KVERBS_FAKE_CONN_H */
