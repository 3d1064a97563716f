// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A connection between two pieces of memory that outlive it, and its operations. */
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "transfer.h"

#define RECV	0x4ec

/* Processes that are forked share it, so it can be looked at when they are dead. */
char *memory_new(void)
{
	char *memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
			    0);

	CHECK(memory != MAP_FAILED);
	return memory;
}

static char pattern(unsigned int seed, size_t at)
{
	return (at * 2654435761u >> 13) + seed + at;
}

void memory_fill(char *memory, unsigned int seed)
{
	size_t at;

	for (at = 0; at < SIZE; at++)
		memory[at] = pattern(seed, at);
}

static void check_range(const char *memory, size_t at, size_t end, unsigned int seed)
{
	for (; at < end; at++)
		if (memory[at] != pattern(seed, at))
			FAIL("byte %zu is %#hhx, not %#hhx", at, memory[at], pattern(seed, at));
}

void memory_check(const char *memory, unsigned int seed)
{
	check_range(memory, 0, SIZE, seed);
}

/* Check that a range has the bytes of another memory, and the rest its own. */
void memory_check_moved(const char *memory, size_t to, unsigned int to_seed, size_t from,
			unsigned int from_seed, size_t length)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (memory[to + i] != pattern(from_seed, from + i))
			FAIL("byte %zu of %zu is %#hhx, not %#hhx", i, length, memory[to + i],
			     pattern(from_seed, from + i));
	check_range(memory, 0, to, to_seed);
	check_range(memory, to + length, SIZE, to_seed);
}

/* Return the physical address of memory that is in use. */
uint64_t memory_physical(const char *memory)
{
	int fd = open("/proc/self/pagemap", O_RDONLY);
	uintptr_t addr = (uintptr_t)memory;
	uint64_t entry;

	CHECK(fd >= 0);
	CHECK_EQ(pread(fd, &entry, sizeof(entry), addr / PAGE * sizeof(entry)), sizeof(entry));
	close(fd);
	CHECK(entry >> 63);
	return (entry & ((1ULL << 55) - 1)) * PAGE + addr % PAGE;
}

static void open_side(struct side *side, char *memory)
{
	*side = (struct side){ .memory = memory };
	ring_open(&side->ring, dev_open(), 256, 1024);
	side->region = dev_region(side->ring.fd, memory, SIZE, 0);
}

/* Connect open sides. */
void link_connect(struct link *link)
{
	link->listener = dev_listen(&link->server.ring, &link->addr);
	link->client.conn = dev_connect(&link->client.ring, &link->addr);
	link->server.conn = ring_event(&link->server.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_OK(dev_accept(&link->server.ring, link->server.conn, NULL));
	CHECK_OK(ring_event(&link->client.ring, KVERBS_CQE_ESTABLISHED, 0).result);
	CHECK_OK(ring_event(&link->server.ring, KVERBS_CQE_ESTABLISHED, 0).result);
}

/* The client writes from @from to @to, or reads from @to into @from. */
void link_between(struct link *link, char *from, char *to)
{
	*link = (struct link){ .addr = addr_of("a", 0) };
	open_side(&link->client, from);
	open_side(&link->server, to);
	link_connect(link);
}

static struct kverbs_cqe rdma(struct link *link, uint8_t opcode, size_t local, size_t remote,
			      size_t length)
{
	struct kverbs_sqe sqe = sqe_rdma(opcode, link->client.conn, link->client.region, local,
					 length, &link->seg);

	sqe.remote_addr += remote;
	return ring_do(&link->client.ring, sqe);
}

struct kverbs_cqe link_write(struct link *link, size_t from, size_t to, size_t length)
{
	return rdma(link, KVERBS_OP_WRITE, from, to, length);
}

/* @from: at the server; @to: at the client */
struct kverbs_cqe link_read(struct link *link, size_t from, size_t to, size_t length)
{
	return rdma(link, KVERBS_OP_READ, to, from, length);
}

/* Return the completion of the receive. */
struct kverbs_cqe link_send(struct link *link, size_t from, size_t to, size_t length)
{
	struct kverbs_sqe recv = sqe_recv(link->server.conn, link->server.region, to, length);

	recv.user_data = RECV;
	CHECK_OK(ring_put(&link->server.ring, &recv));
	CHECK_DONE(ring_do(&link->client.ring, sqe_send(link->client.conn, link->client.region,
							from, length)));
	return ring_work(&link->server.ring, RECV);
}

/* @from and @to: the memory of both sides, filled with 1 and 2 */
void link_check_write(struct link *link, const char *from, const char *to)
{
	CHECK_DONE(link_write(link, MOVED_FROM, MOVED_TO, MOVED_LENGTH));
	memory_check_moved(to, MOVED_TO, 2, MOVED_FROM, 1, MOVED_LENGTH);
	memory_check(from, 1);
}

void link_check_read(struct link *link, const char *from, const char *to)
{
	CHECK_DONE(link_read(link, MOVED_FROM, MOVED_TO, MOVED_LENGTH));
	memory_check_moved(from, MOVED_TO, 1, MOVED_FROM, 2, MOVED_LENGTH);
	memory_check(to, 2);
}

void link_check_send(struct link *link, const char *from, const char *to)
{
	CHECK_DONE(link_send(link, MOVED_FROM, MOVED_TO, MOVED_LENGTH));
	memory_check_moved(to, MOVED_TO, 2, MOVED_FROM, 1, MOVED_LENGTH);
	memory_check(from, 1);
}
