/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two connections of this host to itself, over a device that is there. */
#ifndef KVERBS_LIVE_H
#define KVERBS_LIVE_H

#include <kunit/test.h>

#include "conn_cm.h"
#include "conn_io.h"
#include "export.h"
#include "listener.h"
#include "region.h"

/* More than one MR of rxe's can cover. */
#define LIVE_MEM	(3UL << 20)
#define LIVE_REQS	8

struct live;

/**
 * struct live_end - one end
 * @conn: the connection
 * @up: it is established
 * @ended: it has ended
 * @addr: LIVE_MEM bytes of user memory
 * @region: that
 */
struct live_end {
	struct kverbs_conn *conn;
	struct completion up;
	struct completion ended;
	unsigned long addr;
	struct kverbs_region *region;
};

/**
 * struct live_req - an operation
 * @req: the operation
 * @done: it is over
 */
struct live_req {
	struct kverbs_req req;
	struct completion done;
};

/**
 * struct live - all of it
 * @test: the test, at whose end it ends
 * @cqs: both ends' completion queues
 * @listener: where the client asked
 * @requested: it did
 * @client: the end that asked
 * @server: the end that was asked
 * @export: of the server's memory, or NULL
 * @chain: room to build operations in
 * @reqs: operations, which outlive the connections
 * @nr_reqs: how many were used
 */
struct live {
	struct kunit *test;
	struct kverbs_cq_set cqs;
	struct kverbs_listener *listener;
	struct completion requested;
	struct live_end client;
	struct live_end server;
	struct kverbs_export *export;
	struct kverbs_chain *chain;
	struct live_req reqs[LIVE_REQS];
	unsigned int nr_reqs;
};

struct live *live_open(struct kunit *test);
void live_export(struct live *live, u32 rights);
struct live_req *live_req(struct live *live, u8 opcode, struct live_end *end,
			  u64 offset, u64 length);
int live_post(struct live *live, struct live_end *end, struct live_req *req);
bool live_await(struct completion *what);

#endif /* KVERBS_LIVE_H */
