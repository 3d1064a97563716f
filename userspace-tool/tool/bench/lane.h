/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A lane: a connection that carries load in one direction. One side drives it, the
 * other one has memory and receives there and gives credit back in notes.
 *
 * Notes: 8 bytes in a lane, a number in network order. The side that drives it asks
 * for so many operations to be verified; the other one tells for how many it has
 * receives again, or how many it has verified.
 *
 * Its memory: slots that it sends from, slots where the peer's bytes come, a note to
 * send, notes received. There is one slot of a sort, since what is in it does not
 * matter, unless every byte is verified.
 */
#ifndef KVERBS_TOOL_LANE_H
#define KVERBS_TOOL_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include <kverbs.h>

#include "bench/param.h"

struct lane;

/**
 * struct lane_op - an operation or a receive
 * @req: the request
 * @lane: whose it is
 * @at: when it was posted, ns
 */
struct lane_op {
	struct kverbs_req req;
	struct lane *lane;
	uint64_t at;
};

/**
 * struct lane - one of them
 * @param: the measurement
 * @rule: of its operation
 * @kv: the context
 * @conn: the connection
 * @drives: this side does the operations
 * @by_kernel: the kernel does them, and has its own receives
 * @number: the same on both sides
 * @mem: its memory
 * @stride: bytes between slots
 * @nr_out: slots to send from
 * @nr_in: slots that the peer's bytes come to
 * @mine: what the peer is let at
 * @theirs: what the peer lets this side at
 * @tx: operations
 * @nr_tx: how many there may be in flight
 * @rx: receives
 * @nr_rx: how many are posted
 * @ops: a list of operations or receives, as it is posted
 * @recv_list: how many receives are posted again by one call
 * @note: the note that is sent
 * @note_owed: another one is to follow
 * @goal: how many operations to post
 * @granted: how many the peer is ready for
 * @posted: operations so far
 * @signalled: operations up to the last that completes by itself
 * @completed: operations complete
 * @received: messages so far
 * @reposted: of those, how many have their receives posted again
 * @noted: the last number sent in a note
 * @told: the last number that came in one
 * @differed: operations whose bytes were wrong
 * @error: why it broke, or 0
 * @wc_status: of the operation that failed
 * @complete: called for each operation of a bandwidth that is complete
 * @stirred: called when something came that may let it go on, or NULL
 * @data: for those
 * @next: of those that are to be looked at, or NULL
 * @waits: it is among those
 * @counted: it is among those that are busy
 */
struct lane {
	const struct bench_param *param;
	const struct bench_rule *rule;
	struct kverbs *kv;
	struct kverbs_conn *conn;
	bool drives;
	bool by_kernel;
	unsigned int number;
	struct kverbs_buf *mem;
	size_t stride;
	unsigned int nr_out;
	unsigned int nr_in;
	struct kverbs_token mine;
	struct kverbs_token theirs;
	struct lane_op *tx;
	unsigned int nr_tx;
	struct lane_op *rx;
	unsigned int nr_rx;
	struct kverbs_op *ops;
	unsigned int recv_list;
	struct kverbs_req note;
	bool note_owed;
	uint64_t goal;
	uint64_t granted;
	uint64_t posted;
	uint64_t signalled;
	uint64_t completed;
	uint64_t received;
	uint64_t reposted;
	uint64_t noted;
	uint64_t told;
	uint64_t differed;
	int error;
	unsigned int wc_status;
	void (*complete)(struct lane *l, const struct lane_op *op);
	void (*stirred)(struct lane *l);
	void *data;
	struct lane *next;
	bool waits;
	bool counted;
};

/* Memory that it takes, whatever for. */
uint64_t lane_bytes(const struct bench_param *param, bool drives);
int lane_init(struct lane *l, struct kverbs *kv, const struct bench_param *param,
	      unsigned int number, bool drives);
void lane_free(struct lane *l);

/* Begin to connect; with the callbacks of its receives set. */
int lane_connect(struct lane *l, const struct kverbs_addr *to, const char *source,
		 uint32_t key, int timeout_ms);
/* Take a request over, whatever becomes of it. */
int lane_accept(struct lane *l, struct kverbs_conn *conn);
int lane_export(struct lane *l);
/* An address as the resolver would give it. */
void lane_sockaddr(const struct kverbs_addr *from, struct sockaddr_storage *to);
/* Room for any number with its scope. */
#define LANE_HOST_LEN 64
/* The number of an address as text, in @host, or @other if it is none. */
const char *lane_host(const struct kverbs_addr *addr, char host[LANE_HOST_LEN],
		      const char *other);

int lane_post_recv(struct lane *l, unsigned int i);
unsigned int lane_opcode(const struct lane *l);

void *lane_out(const struct lane *l, uint64_t seq);
void *lane_in(const struct lane *l, uint64_t seq);
size_t lane_offset(const struct lane *l, const void *at);

/* Whether that operation has a completion of its own. */
bool lane_tells(const struct lane *l, uint64_t seq);
/* Post the next operation, its bytes filled in if they are verified, and wait for a request. */
int lane_post_wait(struct lane *l, struct kverbs_req *req, int timeout_ms);
/* The same, and wait until the last byte that the peer writes has changed. */
int lane_post_watch(struct lane *l, int timeout_ms);
/* Post as many as there is room for, up to the goal. */
int lane_push(struct lane *l, uint64_t now);
/* Make what has been posted the goal, or as little more as lets it complete. */
void lane_end_goal(struct lane *l);
/* Whether some of the goal is not complete, and verified if it is to be. */
bool lane_busy(const struct lane *l);
void lane_fail(struct lane *l, const struct kverbs_req *req, int err);
/* write-lat: whether the peer's last one is there, and waiting until anything is. */
bool lane_arrived(const struct lane *l);
int lane_watch(struct lane *l, int timeout_ms);
/* Answer it, and wait for the next one. */
int lane_answer(struct lane *l, int timeout_ms, int watch_ms);
/* Whether the bytes of an operation are not what they should be. */
bool lane_differs(const struct lane *l, const void *mem, uint64_t seq);
/* Whether the connection has ended. */
bool lane_over(const struct lane *l);

#define NOTE_LEN	8
#define NOTE_STRIDE	64

void *note_in(const struct lane *l, unsigned int i);

#endif /* KVERBS_TOOL_LANE_H */
