// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* In steady state, moving data allocates no kernel memory, neither slab objects nor pages. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"

#define BATCH	32
#define OPS	100000
#define WARM_UP	1000
#define TRACING	"/sys/kernel/tracing"
#define EVENTS	"kmalloc kmalloc_node kmem_cache_alloc kmem_cache_alloc_node"
#define PAGES	TRACING "/events/kmem/mm_page_alloc"

/**
 * struct range - range of kernel addresses
 * @from: first address
 * @to: first address behind it
 */
struct range {
	uint64_t from;
	uint64_t to;
};

static struct pair pair;
static struct buf buf;
static struct kverbs_segment seg;

static struct range module_range(void)
{
	FILE *file = fopen("/proc/modules", "r");
	struct range range = {};
	char line[512];
	uint64_t size;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "kverbs %" SCNu64 " %*s %*s %*s %" SCNx64, &size,
			   &range.from) == 2)
			range.to = range.from + size;
	fclose(file);
	CHECK(range.from);
	return range;
}

/* Address range of kvmalloc(), which allocates for its caller. */
static struct range kvmalloc_range(void)
{
	FILE *file = fopen("/proc/kallsyms", "r");
	struct range range = { .to = UINT64_MAX };
	char line[512], name[256];
	uint64_t addr;

	CHECK(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64 " %*c %255s", &addr, name) == 2 &&
		    (!strcmp(name, "kvmalloc_node") || !strcmp(name, "__kvmalloc_node_noprof")))
			range.from = addr;
	CHECK(range.from);
	rewind(file);
	while (fgets(line, sizeof(line), file))
		if (sscanf(line, "%" SCNx64, &addr) == 1 && addr > range.from &&
		    addr < range.to)
			range.to = addr;
	fclose(file);
	return range;
}

/* Trace slab allocations of kverbs, but not those of rxe and the network, and the stacks of page
 * allocations.
 */
static void watch(void)
{
	struct range module = module_range(), large = kvmalloc_range();

	CHECK_EQ(test_shell("cd " TRACING " || { mount -t tracefs nodev " TRACING
			    " && cd " TRACING "; } || exit 1; echo >trace; for e in " EVENTS
			    "; do d=events/kmem/$e; [ -d $d ] || continue;"
			    " echo '(call_site >= %#" PRIx64 " && call_site < %#" PRIx64
			    ") || (call_site >= %#" PRIx64 " && call_site < %#" PRIx64
			    ")' >$d/filter && echo 1 >$d/enable || exit 1; done;"
			    " echo hist:keys=stacktrace >" PAGES "/trigger",
			    module.from, module.to, large.from, large.to), 0);
}

/**
 * pages_watched() - number of page allocations whose innermost module on the stack is kverbs
 *
 * Frames outside an interrupt or a page fault are those of the interrupted function, and not
 * looked at.
 */
static unsigned int pages_watched(void)
{
	FILE *file = fopen(PAGES "/hist", "r");
	bool kverbs = false, known = false;
	unsigned int nr = 0, hits;
	char line[512];

	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '{') {
			kverbs = false;
			known = false;
		} else if (sscanf(line, "} hitcount: %u", &hits) == 1) {
			nr += kverbs ? hits : 0;
		} else if (!known && (strstr(line, "asm_") || strchr(line, '['))) {
			known = true;
			kverbs = strstr(line, "[kverbs]");
			if (kverbs)
				test_note("pages: %.*s", (int)strcspn(line, "\n"), line);
		}
	}
	fclose(file);
	return nr;
}

/* Returns the number of traced allocations; prints the first ones. */
static unsigned int watched(void)
{
	unsigned int nr = 0;
	char line[512];
	FILE *file;

	CHECK_EQ(test_shell("cd " TRACING " && for e in " EVENTS
			    "; do d=events/kmem/$e; [ -d $d ] || continue;"
			    " echo 0 >$d/enable; echo 0 >$d/filter; done"), 0);
	file = fopen(TRACING "/trace", "r");
	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		if (line[0] == '#')
			continue;
		if (nr++ < 5)
			test_note("%.*s", (int)strcspn(line, "\n"), line);
	}
	fclose(file);
	nr += pages_watched();
	CHECK_EQ(test_shell("echo '!hist:keys=stacktrace' >" PAGES "/trigger"), 0);
	return nr;
}

static void set_up(void)
{
	uint32_t nr = 1;

	pair_open(&pair);
	buf_open(&buf, pair.fd, BUF_SCATTERED, 64 * PAGE);
	dev_export(pair.fd, pair.server, buf.region, 0, 32 * PAGE,
		   KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE, &seg, &nr);
}

/* Submit all pushed entries and read their completions. */
static void run(unsigned int nr, unsigned int completions)
{
	struct kverbs_cqe cqe;

	CHECK_OK(ring_submit(&pair.ring, nr, NULL));
	while (completions) {
		CHECK_OK(ring_wait(&pair.ring, 1, test_patience_ms()));
		while (completions && ring_peek(&pair.ring, &cqe)) {
			CHECK_DONE(cqe);
			completions--;
		}
	}
}

static void push_many(struct kverbs_sqe sqe, bool all_signalled)
{
	unsigned int i;

	for (i = 0; i < BATCH; i++) {
		if (sqe.opcode != KVERBS_OP_RECV)
			sqe.flags &= ~KVERBS_SQE_SIGNAL;
		if (sqe.opcode != KVERBS_OP_RECV && (all_signalled || i == BATCH - 1))
			sqe.flags |= KVERBS_SQE_SIGNAL;
		ring_push(&pair.ring, &sqe);
	}
}

static void write_silently(void)
{
	push_many(sqe_rdma(KVERBS_OP_WRITE, pair.client, buf.region, 33 * PAGE, 64, &seg), false);
	run(BATCH, 1);
}

static void write_one_by_one(void)
{
	push_many(sqe_rdma(KVERBS_OP_WRITE, pair.client, buf.region, 33 * PAGE, 64, &seg), true);
	run(BATCH, BATCH);
}

/* Read into two pages that are not adjacent. */
static void read_scattered(void)
{
	push_many(sqe_rdma(KVERBS_OP_READ, pair.client, buf.region, 34 * PAGE - 32, 64, &seg),
		  true);
	run(BATCH, BATCH);
}

/* Write more pages than a WR has entries: with a registration, created on first use. */
static void write_registered(void)
{
	struct kverbs_sqe sqe = sqe_rdma(KVERBS_OP_WRITE, pair.client, buf.region, 32 * PAGE,
					 32 * PAGE, &seg);

	ring_push(&pair.ring, &sqe);
	run(1, 1);
}

static void receive_registered(void)
{
	struct kverbs_sqe recv = sqe_recv(pair.server, buf.region, 0, 32 * PAGE);
	struct kverbs_sqe send = sqe_send(pair.client, buf.region, 32 * PAGE, 32 * PAGE);

	ring_push(&pair.ring, &recv);
	ring_push(&pair.ring, &send);
	run(2, 2);
}

static void send_and_receive(void)
{
	push_many(sqe_recv(pair.server, buf.region, 0, 64), true);
	push_many(sqe_send(pair.client, buf.region, 33 * PAGE, 64), false);
	run(2 * BATCH, BATCH + 1);
}

static void send_lists(void)
{
	struct kverbs_piece pieces[] = {
		{ .region_id = buf.region, .offset = 33 * PAGE, .length = 20 },
		{ .region_id = buf.region, .offset = 40 * PAGE, .length = 30 },
	};
	struct kverbs_sqe sqe = sqe_send(pair.client, 0, 0, 0);

	sqe.flags |= KVERBS_SQE_LIST;
	sqe.offset = (uintptr_t)pieces;
	sqe.length = ARRAY_SIZE(pieces);
	push_many(sqe_recv(pair.server, buf.region, 0, 64), true);
	push_many(sqe, false);
	run(2 * BATCH, BATCH + 1);
}

/**
 * struct load - a repeated operation
 * @name: what it does
 * @round: runs some operations
 * @ops: number of operations in a round
 * @total: number of operations to trace
 */
static const struct load {
	const char *name;
	void (*round)(void);
	unsigned int ops;
	unsigned int total;
} loads[] = {
	{ "unsignalled WRITEs", write_silently, BATCH, OPS },
	{ "signalled WRITEs", write_one_by_one, BATCH, OPS },
	{ "READs into two pages", read_scattered, BATCH, OPS / 4 },
	{ "WRITEs from registered memory", write_registered, 1, OPS / 100 },
	{ "RECVs into registered memory", receive_registered, 2, OPS / 100 },
	{ "SENDs and RECVs", send_and_receive, 2 * BATCH, OPS },
	{ "SENDs of lists", send_lists, 2 * BATCH, OPS / 4 },
};

static void repeat(const struct load *load, unsigned int total)
{
	unsigned int done;

	for (done = 0; done < total; done += load->ops)
		load->round();
}

static void take_nothing(const void *arg)
{
	const struct load *load = arg;
	unsigned int total = load->total / (test_kernel_is("debug") ? 20 : 1);

	set_up();
	repeat(load, WARM_UP);
	watch();
	repeat(load, total);
	CHECK_EQ(watched(), 0);
}

TEST_GROUP(add_loads)
{
	char name[80];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(loads); i++) {
		snprintf(name, sizeof(name), "%s take no memory of the kernel", loads[i].name);
		test_add(name, take_nothing, &loads[i]);
	}
}

TEST(allocations_of_kverbs_are_counted)
{
	set_up();
	watch();
	dev_region(pair.fd, buf.addr, buf.size, 0);
	CHECK(watched() > 0);
}

TEST(pages_of_kverbs_are_counted)
{
	struct ring ring;

	set_up();
	watch();
	ring_open(&ring, pair.fd, 64, 64);
	CHECK(pages_watched() > 0);
	watched();
}
