// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Rings: push entries, read completions. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev.h"

/* enum ib_wc_status by number */
#define WC_WR_FLUSH	5
#define WC_REM_ACCESS	10

static void *map_part(int fd, uint64_t offset, uint64_t size, int prot)
{
	void *addr = mmap(NULL, size, prot, MAP_SHARED, fd, offset);

	CHECK(addr != MAP_FAILED);
	return addr;
}

static void map_ring(struct ring *ring)
{
	const struct kverbs_cmd_ring_create *made = &ring->made;

	ring->sqes = map_part(ring->fd, made->out_sq_offset, made->out_sq_size,
			      PROT_READ | PROT_WRITE);
	ring->kernel = map_part(ring->fd, made->out_cq_offset, made->out_cq_size,
				PROT_READ);
	ring->user = map_part(ring->fd, made->out_idx_offset, made->out_idx_size,
			      PROT_READ | PROT_WRITE);
	ring->cqes = (struct kverbs_cqe *)((char *)ring->kernel + made->out_cqes_offset);
}

/* Flags of the test's rings: RING_FLAGS=1 runs any test on BUSY_POLL rings, 4 on SOFTIRQ rings. */
static uint32_t default_flags(void)
{
	const char *flags = getenv("RING_FLAGS");

	return flags ? strtoul(flags, NULL, 0) : 0;
}

void ring_open(struct ring *ring, int fd, uint32_t sq_entries, uint32_t cq_entries)
{
	ring_open_as(ring, fd, sq_entries, cq_entries, default_flags(), 0);
}

void ring_open_as(struct ring *ring, int fd, uint32_t sq_entries, uint32_t cq_entries,
		  uint32_t flags, int event_fd)
{
	*ring = (struct ring){
		.fd = fd,
		.next_data = 1,
		.made.size = sizeof(ring->made),
		.made.flags = flags,
		.made.sq_entries = sq_entries,
		.made.cq_entries = cq_entries,
		.made.event_fd = event_fd,
		.stash = calloc(STASH_MAX, sizeof(*ring->stash)),
	};
	CHECK_OK(dev_cmd(fd, KVERBS_RING_CREATE, &ring->made));
	ring->id = ring->made.out_id;
	map_ring(ring);
}

void ring_unmap(struct ring *ring)
{
	munmap(ring->sqes, ring->made.out_sq_size);
	munmap(ring->kernel, ring->made.out_cq_size);
	munmap(ring->user, ring->made.out_idx_size);
}

void ring_push(struct ring *ring, const struct kverbs_sqe *sqe)
{
	uint32_t tail = ring->user->sq_tail;

	ring->sqes[tail & (ring->made.sq_entries - 1)] = *sqe;
	__atomic_store_n(&ring->user->sq_tail, tail + 1, __ATOMIC_RELEASE);
}

/* SUBMIT without waiting; @out may be NULL. */
int ring_submit(struct ring *ring, uint32_t to_submit, struct kverbs_cmd_submit *out)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.ring_id = ring->id,
		.to_submit = to_submit,
	};
	int ret = dev_cmd(ring->fd, KVERBS_SUBMIT, &cmd);

	if (out)
		*out = cmd;
	return ret;
}

/* Returns 0, even if the timeout expires, or -errno. */
int ring_wait(struct ring *ring, uint32_t min_complete, int timeout_ms)
{
	struct kverbs_cmd_submit cmd = {
		.size = sizeof(cmd),
		.ring_id = ring->id,
		.min_complete = min_complete,
		.timeout_ns = MS_TO_NS(timeout_ms),
	};

	return dev_cmd(ring->fd, KVERBS_SUBMIT, &cmd);
}

uint32_t ring_unread(const struct ring *ring)
{
	return __atomic_load_n(&ring->kernel->cq_tail, __ATOMIC_ACQUIRE) -
	       ring->user->cq_head;
}

/* Return the next completion in ring order, if there is one. */
bool ring_peek(struct ring *ring, struct kverbs_cqe *cqe)
{
	uint32_t head = ring->user->cq_head;

	if (!ring_unread(ring))
		return false;
	*cqe = ring->cqes[head & (ring->made.cq_entries - 1)];
	__atomic_store_n(&ring->user->cq_head, head + 1, __ATOMIC_RELEASE);
	return true;
}

/* A completion of an entry that was never posted: it has an error, but no status of the HCA. */
static bool is_refusal(const struct kverbs_cqe *cqe, const struct kverbs_sqe *sqe)
{
	return cqe->type == KVERBS_CQE_WORK && cqe->user_data == sqe->user_data &&
	       cqe->id == sqe->conn_id && cqe->result && cqe->result != -EIO;
}

/* Takes the refusal out of the ring; what is before it is stashed. Returns 0 if there is none. */
static int take_refusal(struct ring *ring, const struct kverbs_sqe *sqe)
{
	uint32_t head = ring->user->cq_head, i, nr = ring_unread(ring);
	struct kverbs_cqe cqe;

	for (i = 0; i < nr; i++)
		if (is_refusal(&ring->cqes[(head + i) & (ring->made.cq_entries - 1)], sqe))
			break;
	if (i == nr)
		return 0;
	for (; i; i--) {
		CHECK(ring->nr_stash < STASH_MAX);
		ring_peek(ring, &ring->stash[ring->nr_stash++]);
	}
	ring_peek(ring, &cqe);
	return cqe.result;
}

/*
 * Push and submit one entry. Returns why it was not accepted, and removes it from the ring; or
 * the error of its completion, if it was refused.
 */
int ring_put(struct ring *ring, const struct kverbs_sqe *sqe)
{
	uint32_t tail = ring->user->sq_tail;
	int ret;

	ring_push(ring, sqe);
	ret = ring_submit(ring, 1, NULL);
	if (!ret)
		return take_refusal(ring, sqe);
	__atomic_store_n(&ring->user->sq_tail, tail, __ATOMIC_RELEASE);
	return ret;
}

struct kverbs_cqe ring_next(struct ring *ring)
{
	struct kverbs_cqe cqe;

	if (!ring_unread(ring))
		CHECK_OK(ring_wait(ring, 1, test_patience_ms()));
	if (!ring_peek(ring, &cqe))
		FAIL("no completion in %d ms", test_patience_ms());
	return cqe;
}

typedef bool (*match_fn)(const struct kverbs_cqe *cqe, uint8_t type, uint64_t what);

static bool take_stashed(struct ring *ring, match_fn match, uint8_t type, uint64_t what,
			 struct kverbs_cqe *cqe)
{
	unsigned int i;

	for (i = 0; i < ring->nr_stash; i++) {
		if (!match(&ring->stash[i], type, what))
			continue;
		*cqe = ring->stash[i];
		ring->nr_stash--;
		memmove(&ring->stash[i], &ring->stash[i + 1],
			(ring->nr_stash - i) * sizeof(*cqe));
		return true;
	}
	return false;
}

static struct kverbs_cqe await(struct ring *ring, match_fn match, uint8_t type,
			       uint64_t what)
{
	struct kverbs_cqe cqe;

	if (take_stashed(ring, match, type, what, &cqe))
		return cqe;
	for (;;) {
		if (!ring_unread(ring))
			CHECK_OK(ring_wait(ring, 1, test_patience_ms()));
		if (!ring_peek(ring, &cqe))
			FAIL("no completion of type %u for %#llx in %d ms", type,
			     (unsigned long long)what, test_patience_ms());
		if (match(&cqe, type, what))
			return cqe;
		CHECK(ring->nr_stash < STASH_MAX);
		ring->stash[ring->nr_stash++] = cqe;
	}
}

static bool is_event(const struct kverbs_cqe *cqe, uint8_t type, uint64_t id)
{
	return cqe->type == type && (!id || cqe->id == id);
}

static bool is_end(const struct kverbs_cqe *cqe, uint8_t type, uint64_t id)
{
	return cqe->type >= type && cqe->id == id;
}

static bool is_work(const struct kverbs_cqe *cqe, uint8_t type, uint64_t user_data)
{
	return cqe->type == type && cqe->user_data == user_data;
}

/* Wait for an event of this type of a connection or listener, @id 0: any. */
struct kverbs_cqe ring_event(struct ring *ring, uint8_t type, uint32_t id)
{
	return await(ring, is_event, type, id);
}

/* Wait for the final event of a connection, whichever of the four it is. */
struct kverbs_cqe ring_end_of(struct ring *ring, uint32_t conn)
{
	return await(ring, is_end, KVERBS_CQE_DISCONNECTED, conn);
}

struct kverbs_cqe ring_work(struct ring *ring, uint64_t user_data)
{
	return await(ring, is_work, KVERBS_CQE_WORK, user_data);
}

/* Submit an entry, which must be accepted, and wait until it completes. */
struct kverbs_cqe ring_do(struct ring *ring, struct kverbs_sqe sqe)
{
	sqe.user_data = 0xd0000000 + ring->next_data++;
	if (sqe.opcode != KVERBS_OP_RECV)
		sqe.flags |= KVERBS_SQE_SIGNAL;
	CHECK_OK(ring_put(ring, &sqe));
	return ring_work(ring, sqe.user_data);
}

/*
 * Check the status of an operation that the peer has refused, on IB or RoCE. With rxe on
 * Linux 7.x the operation may be flushed instead: see driver-quirks.rst.
 */
void ring_check_refusal(uint8_t wc_status)
{
	if (wc_status == WC_WR_FLUSH && (test_kernel_is("7") || test_kernel_is("debug-7")))
		return;
	CHECK_EQ(wc_status, WC_REM_ACCESS);
}

void ring_check_refused(struct kverbs_cqe cqe)
{
	CHECK_EQ(cqe.result, -EIO);
	ring_check_refusal(cqe.wc_status);
}

struct kverbs_sqe sqe_send(uint32_t conn, uint32_t region, uint64_t offset,
			   uint64_t length)
{
	return (struct kverbs_sqe){
		.opcode = KVERBS_OP_SEND,
		.flags = KVERBS_SQE_SIGNAL,
		.conn_id = conn,
		.region_id = region,
		.offset = offset,
		.length = length,
	};
}

struct kverbs_sqe sqe_recv(uint32_t conn, uint32_t region, uint64_t offset,
			   uint64_t length)
{
	return (struct kverbs_sqe){
		.opcode = KVERBS_OP_RECV,
		.conn_id = conn,
		.region_id = region,
		.offset = offset,
		.length = length,
	};
}

struct kverbs_sqe sqe_rdma(uint8_t opcode, uint32_t conn, uint32_t region,
			   uint64_t offset, uint64_t length,
			   const struct kverbs_segment *to)
{
	return (struct kverbs_sqe){
		.opcode = opcode,
		.flags = KVERBS_SQE_SIGNAL,
		.conn_id = conn,
		.region_id = region,
		.offset = offset,
		.length = length,
		.remote_addr = to->addr,
		.rkey = to->rkey,
	};
}
