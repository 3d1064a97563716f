/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two ends of a connection of this host to itself, over a real device. */
#ifndef KVERBS_LIVE_H
#define KVERBS_LIVE_H

#include <kunit/test.h>
#include <linux/in.h>

#include "conn_cm.h"
#include "conn_io.h"
#include "export.h"
#include "listener.h"
#include "region.h"

/* More than one MR of rxe covers */
#define LIVE_MEM	(3UL << 20)
#define LIVE_REQS	8

struct live;

/**
 * struct live_end - one end
 * @conn: the connection
 * @up: signalled when it is established
 * @ended: signalled when it has ended
 * @addr: LIVE_MEM bytes of user memory
 * @region: region of @addr
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
 * @done: signalled when it has completed
 */
struct live_req {
	struct kverbs_req req;
	struct completion done;
};

/**
 * struct live - both ends
 * @test: the test, at whose end they are closed
 * @cqs: completion queues of both ends
 * @listener: listener of the client's request
 * @requested: signalled when the request has arrived
 * @client: the active end
 * @server: the passive end
 * @export: export of the server's memory, or NULL
 * @chain: memory to build operations in
 * @reqs: operations, which outlive the connections
 * @nr_reqs: number of @reqs in use
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

void live_address(struct kunit *test, struct sockaddr_in *sin);
struct live *live_open(struct kunit *test);
void live_export(struct live *live, u32 rights);
struct live_req *live_req(struct live *live, u8 opcode, struct live_end *end,
			  u64 offset, u64 length);
int live_post(struct live *live, struct live_end *end, struct live_req *req);
bool live_await(struct completion *what);

#endif /* KVERBS_LIVE_H */
