// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A program of MPI: messages, collective operations and one-sided ones, of which every byte is
 * checked. "fi_mpi SUITE" runs one suite in all ranks; a wrong byte aborts them.
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <mpi.h>

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define KIB 1024
#define MIB (1024 * KIB)
/* The longest message that Soft-RoCE carries has one byte more. */
#define LARGEST (8 * MIB - 1)
/* Bytes after a buffer that must not change */
#define GUARD 64
#define GUARD_BYTE 0xa5

static int rank, nr_ranks;

/* At the limits of packets, pages, eager messages and rendezvous, and of a key of the device */
static const int sizes[] = {
	0, 1, 7, 63, 64, 1023, 4095, 4096, 4097, 16383, 16384, 16385, 65535, 65537, 131071,
	131072, 131073, MIB - 1, MIB, 2 * MIB - 1, 2 * MIB + 1, 3000000, LARGEST,
};

__attribute__((__format__(printf, 1, 2), __noreturn__)) static void fail(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "rank %d: ", rank);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputc('\n', stderr);
	MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
	abort();
}

static int next(void)
{
	return (rank + 1) % nr_ranks;
}

static int previous(void)
{
	return (rank + nr_ranks - 1) % nr_ranks;
}

/* Roots of an operation of that size: all ranks, unless it is so large that one must do */
static int nr_roots(int size)
{
	return size < MIB ? nr_ranks : 1;
}

/* ---- buffers ---- */

static uint8_t byte_at(size_t i, unsigned int seed)
{
	return (uint8_t)(i * 7 + (i >> 8) * 13 + (i >> 16) * 5 + seed * 31);
}

static uint8_t *buf_new(size_t size)
{
	uint8_t *buf = malloc(size + GUARD);

	if (!buf)
		fail("no memory");
	memset(buf + size, GUARD_BYTE, GUARD);
	return buf;
}

static void fill(uint8_t *buf, size_t size, unsigned int seed)
{
	size_t i;

	for (i = 0; i < size; i++)
		buf[i] = byte_at(i, seed);
}

static uint8_t *buf_filled(size_t size, unsigned int seed)
{
	uint8_t *buf = buf_new(size);

	fill(buf, size, seed);
	return buf;
}

static void check(const char *what, const uint8_t *buf, size_t size, unsigned int seed)
{
	size_t i;

	for (i = 0; i < size; i++)
		if (buf[i] != byte_at(i, seed))
			fail("%s, %zu bytes: byte %zu is %u, not %u", what, size, i, buf[i],
			     byte_at(i, seed));
}

static void check_guard(const char *what, const uint8_t *buf, size_t size)
{
	size_t i;

	for (i = 0; i < GUARD; i++)
		if (buf[size + i] != GUARD_BYTE)
			fail("%s, %zu bytes: the %zuth byte behind the buffer has changed", what,
			     size, i + 1);
}

static void check_whole(const char *what, const uint8_t *buf, size_t size, unsigned int seed)
{
	check(what, buf, size, seed);
	check_guard(what, buf, size);
}

static uint32_t *words_new(size_t nr)
{
	return (uint32_t *)buf_new(nr * sizeof(uint32_t));
}

static uint32_t word_at(size_t i, unsigned int seed)
{
	return (uint32_t)(i * 2654435761u + seed * 40503u);
}

/* ---- messages ---- */

/* Each rank sends to the next one while it receives. */
static void ring(int size)
{
	uint8_t *out = buf_filled(size, rank + 1), *in = buf_new(size);
	MPI_Request requests[2];

	MPI_Irecv(in, size, MPI_BYTE, previous(), 1, MPI_COMM_WORLD, &requests[0]);
	MPI_Isend(out, size, MPI_BYTE, next(), 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	check_whole("ring", in, size, previous() + 1);
	free(out);
	free(in);
}

/* The message is there before it is expected, and its length is found out. */
static void unexpected(int size)
{
	uint8_t *out = buf_filled(size, rank + 2), *in;
	MPI_Request request;
	MPI_Status status;
	int length;

	MPI_Isend(out, size, MPI_BYTE, next(), 2, MPI_COMM_WORLD, &request);
	MPI_Probe(previous(), 2, MPI_COMM_WORLD, &status);
	MPI_Get_count(&status, MPI_BYTE, &length);
	if (length != size)
		fail("a message of %d bytes announces %d", size, length);
	in = buf_new(length);
	MPI_Recv(in, length, MPI_BYTE, previous(), 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	check_whole("unexpected", in, size, previous() + 2);
	MPI_Wait(&request, MPI_STATUS_IGNORE);
	free(out);
	free(in);
}

/* Ranks of even number begin. */
static void synchronous(int size)
{
	uint8_t *buf = buf_filled(size, rank + 3), *in = buf_new(size);
	int peer = rank ^ 1;

	if (peer < nr_ranks && !(rank & 1)) {
		MPI_Ssend(buf, size, MPI_BYTE, peer, 3, MPI_COMM_WORLD);
		MPI_Recv(in, size, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (peer < nr_ranks) {
		MPI_Recv(in, size, MPI_BYTE, peer, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Ssend(buf, size, MPI_BYTE, peer, 3, MPI_COMM_WORLD);
	}
	if (peer < nr_ranks)
		check_whole("synchronous", in, size, peer + 3);
	free(buf);
	free(in);
}

/* Parts of one buffer, at odd addresses, in both directions */
static void parts_of_a_buffer(void)
{
	enum { PARTS = 16, PART = 200003 };
	uint8_t *out = buf_filled(PARTS * PART, rank + 4), *in = buf_new(PARTS * PART);
	MPI_Request requests[2 * PARTS];
	int i;

	for (i = 0; i < PARTS; i++) {
		MPI_Irecv(in + i * PART, PART, MPI_BYTE, previous(), i, MPI_COMM_WORLD,
			  &requests[i]);
		MPI_Isend(out + i * PART, PART, MPI_BYTE, next(), i, MPI_COMM_WORLD,
			  &requests[PARTS + i]);
	}
	MPI_Waitall(2 * PARTS, requests, MPI_STATUSES_IGNORE);
	check_whole("parts", in, PARTS * PART, previous() + 4);
	free(out);
	free(in);
}

/* Short and long messages with the same tag arrive in the order of sending. */
static void messages_keep_their_order(void)
{
	enum { NR = 100 };
	static const int lengths[] = { 8, 20000, 1, 200000, 300 };
	uint8_t *out[NR], *in;
	MPI_Request requests[NR];
	int i, size;

	for (i = 0; i < NR; i++) {
		size = lengths[i % ARRAY_SIZE(lengths)];
		out[i] = buf_filled(size, rank + i);
		MPI_Isend(out[i], size, MPI_BYTE, next(), 5, MPI_COMM_WORLD, &requests[i]);
	}
	for (i = 0; i < NR; i++) {
		size = lengths[i % ARRAY_SIZE(lengths)];
		in = buf_new(size);
		MPI_Recv(in, size, MPI_BYTE, previous(), 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		check_whole("order", in, size, previous() + i);
		free(in);
	}
	MPI_Waitall(NR, requests, MPI_STATUSES_IGNORE);
	for (i = 0; i < NR; i++)
		free(out[i]);
}

static void receive_from_any(int per_rank)
{
	uint8_t *in = buf_new(MIB);
	int *seen = calloc(nr_ranks, sizeof(*seen));
	MPI_Status status;
	int i, length;

	for (i = 0; i < per_rank * (nr_ranks - 1); i++) {
		MPI_Recv(in, MIB, MPI_BYTE, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
		MPI_Get_count(&status, MPI_BYTE, &length);
		if (status.MPI_TAG != seen[status.MPI_SOURCE]++)
			fail("message %d of rank %d came in place of %d, after %d messages",
			     status.MPI_TAG, status.MPI_SOURCE, seen[status.MPI_SOURCE] - 1, i);
		check("any source", in, length, status.MPI_SOURCE + status.MPI_TAG);
	}
	check_guard("any source", in, MIB);
	free(seen);
	free(in);
}

/* All others send to rank 0, which takes what comes. */
static void any_source(void)
{
	enum { PER_RANK = 60 };
	uint8_t *out = buf_new(MIB);
	int i, size;

	if (!rank)
		receive_from_any(PER_RANK);
	for (i = 0; rank && i < PER_RANK; i++) {
		size = (i * 7919 * rank) % (i % 10 ? 5000 : MIB);
		fill(out, size, rank + i);
		MPI_Send(out, size, MPI_BYTE, 0, i, MPI_COMM_WORLD);
	}
	/* Rank 0 would also take the next messages that a faster rank sends. */
	MPI_Barrier(MPI_COMM_WORLD);
	free(out);
}

static void many_small_ones(void)
{
	enum { ROUNDS = 30, WINDOW = 64 };
	MPI_Request requests[2 * WINDOW];
	uint64_t out[WINDOW], in[WINDOW];
	int round, i;

	for (round = 0; round < ROUNDS; round++) {
		for (i = 0; i < WINDOW; i++) {
			out[i] = (uint64_t)rank << 32 | (unsigned int)(round * WINDOW + i);
			MPI_Irecv(&in[i], 8, MPI_BYTE, previous(), 6, MPI_COMM_WORLD,
				  &requests[i]);
		}
		for (i = 0; i < WINDOW; i++)
			MPI_Isend(&out[i], 8, MPI_BYTE, next(), 6, MPI_COMM_WORLD,
				  &requests[WINDOW + i]);
		MPI_Waitall(2 * WINDOW, requests, MPI_STATUSES_IGNORE);
		for (i = 0; i < WINDOW; i++)
			if (in[i] != ((uint64_t)previous() << 32 |
				      (unsigned int)(round * WINDOW + i)))
				fail("small message %d of round %d is wrong", i, round);
	}
}

/* A message to itself, and to no process */
static void itself_and_none(int size)
{
	uint8_t *out = buf_filled(size, 9), *in = buf_new(size);

	MPI_Sendrecv(out, size, MPI_BYTE, rank, 7, in, size, MPI_BYTE, rank, 7, MPI_COMM_WORLD,
		     MPI_STATUS_IGNORE);
	check_whole("itself", in, size, 9);
	MPI_Sendrecv(out, size, MPI_BYTE, MPI_PROC_NULL, 7, in, size, MPI_BYTE, MPI_PROC_NULL, 7,
		     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	free(out);
	free(in);
}

static void messages(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		ring(sizes[i]);
		unexpected(sizes[i]);
		synchronous(sizes[i]);
		itself_and_none(sizes[i]);
	}
	parts_of_a_buffer();
	messages_keep_their_order();
	any_source();
	many_small_ones();
}

/* ---- collective operations, with @size bytes of each rank ---- */

static void barrier(int size)
{
	(void)size;
	MPI_Barrier(MPI_COMM_WORLD);
}

static void bcast(int size)
{
	uint8_t *buf;
	int root;

	for (root = 0; root < nr_roots(size); root++) {
		buf = buf_new(size);
		if (rank == root)
			fill(buf, size, root + 1);
		MPI_Bcast(buf, size, MPI_BYTE, root, MPI_COMM_WORLD);
		check_whole("bcast", buf, size, root + 1);
		free(buf);
	}
}

static uint32_t *words_filled(size_t nr)
{
	uint32_t *words = words_new(nr);
	size_t i;

	for (i = 0; i < nr; i++)
		words[i] = word_at(i, rank);
	return words;
}

/* The words from @first on are the sums of those of the ranks below @ranks. */
static void check_sums(const char *what, const uint32_t *words, size_t first, size_t nr, int ranks)
{
	uint32_t sum;
	size_t i;
	int r;

	for (i = 0; i < nr; i++) {
		for (sum = 0, r = 0; r < ranks; r++)
			sum += word_at(first + i, r);
		if (words[i] != sum)
			fail("%s, %zu words: word %zu is wrong", what, nr, i);
	}
	check_guard(what, (const uint8_t *)words, nr * sizeof(*words));
}

static void reduce(int size)
{
	size_t nr = size / sizeof(uint32_t);
	uint32_t *out = words_filled(nr), *in = words_new(nr);
	int root;

	for (root = 0; root < nr_roots(size); root++) {
		MPI_Reduce(out, in, nr, MPI_UINT32_T, MPI_SUM, root, MPI_COMM_WORLD);
		if (rank == root)
			check_sums("reduce", in, 0, nr, nr_ranks);
	}
	free(out);
	free(in);
}

static void allreduce(int size)
{
	size_t nr = size / sizeof(uint32_t);
	uint32_t *out = words_filled(nr), *in = words_new(nr);

	MPI_Allreduce(out, in, nr, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
	check_sums("sum of all", in, 0, nr, nr_ranks);
	MPI_Allreduce(MPI_IN_PLACE, out, nr, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
	check_sums("in place", out, 0, nr, nr_ranks);
	free(out);
	free(in);
}

static void reduce_scatter(int size)
{
	size_t nr = size / sizeof(uint32_t);
	uint32_t *out = words_filled(nr * nr_ranks), *in = words_new(nr);

	MPI_Reduce_scatter_block(out, in, nr, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
	check_sums("reduce_scatter", in, nr * rank, nr, nr_ranks);
	free(out);
	free(in);
}

static void scan(int size)
{
	size_t nr = size / sizeof(uint32_t);
	uint32_t *out = words_filled(nr), *in = words_new(nr);

	MPI_Scan(out, in, nr, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
	check_sums("scan", in, 0, nr, rank + 1);
	free(out);
	free(in);
}

static void exscan(int size)
{
	size_t nr = size / sizeof(uint32_t);
	uint32_t *out = words_filled(nr), *in = words_new(nr);

	MPI_Exscan(out, in, nr, MPI_UINT32_T, MPI_SUM, MPI_COMM_WORLD);
	if (rank)
		check_sums("exscan", in, 0, nr, rank);
	free(out);
	free(in);
}

/* The blocks of all ranks, filled by their numbers plus @seed */
static void check_blocks(const char *what, const uint8_t *in, size_t size, unsigned int seed)
{
	int r;

	for (r = 0; r < nr_ranks; r++)
		check(what, in + r * size, size, r + seed);
	check_guard(what, in, size * nr_ranks);
}

static void gather(int size)
{
	uint8_t *out = buf_filled(size, rank + 1), *in = buf_new((size_t)size * nr_ranks);
	int root;

	for (root = 0; root < nr_roots(size); root++) {
		MPI_Gather(out, size, MPI_BYTE, in, size, MPI_BYTE, root, MPI_COMM_WORLD);
		if (rank == root)
			check_blocks("gather", in, size, 1);
	}
	free(out);
	free(in);
}

/* Rank r has r times the size. */
static void gatherv(int size)
{
	int *counts = calloc(nr_ranks, sizeof(*counts));
	int *starts = calloc(nr_ranks, sizeof(*starts));
	int r, total = 0;
	uint8_t *out = buf_filled((size_t)size * rank, rank + 1), *in;

	for (r = 0; r < nr_ranks; r++) {
		counts[r] = size * r;
		starts[r] = total;
		total += counts[r];
	}
	in = buf_new(total);
	MPI_Gatherv(out, counts[rank], MPI_BYTE, in, counts, starts, MPI_BYTE, 0, MPI_COMM_WORLD);
	for (r = 0; !rank && r < nr_ranks; r++)
		check("gatherv", in + starts[r], counts[r], r + 1);
	check_guard("gatherv", in, total);
	free(counts);
	free(starts);
	free(out);
	free(in);
}

static uint8_t *blocks_filled(size_t size, unsigned int seed)
{
	uint8_t *out = buf_new(size * nr_ranks);
	int r;

	for (r = 0; r < nr_ranks; r++)
		fill(out + r * size, size, seed + r);
	return out;
}

static void scatter(int size)
{
	uint8_t *out = blocks_filled(size, 1), *in = buf_new(size);
	int root;

	for (root = 0; root < nr_roots(size); root++) {
		memset(in, 0, size);
		MPI_Scatter(out, size, MPI_BYTE, in, size, MPI_BYTE, root, MPI_COMM_WORLD);
		check_whole("scatter", in, size, rank + 1);
	}
	free(out);
	free(in);
}

static void allgather(int size)
{
	uint8_t *out = buf_filled(size, rank + 1), *in = buf_new((size_t)size * nr_ranks);

	MPI_Allgather(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
	check_blocks("allgather", in, size, 1);
	free(out);
	free(in);
}

/* The seed of a block is that of its source plus the number of its target. */
static void alltoall(int size)
{
	uint8_t *out = blocks_filled(size, rank), *in = buf_new((size_t)size * nr_ranks);

	MPI_Alltoall(out, size, MPI_BYTE, in, size, MPI_BYTE, MPI_COMM_WORLD);
	check_blocks("alltoall", in, size, rank);
	free(out);
	free(in);
}

static const struct {
	void (*run)(int size);
	int largest;
} collectives_of[] = {
	{ barrier, 1 },
	{ bcast, LARGEST },
	{ reduce, MIB },
	{ allreduce, LARGEST },
	{ reduce_scatter, MIB },
	{ scan, MIB },
	{ exscan, MIB },
	{ gather, MIB },
	{ gatherv, MIB },
	{ scatter, MIB },
	{ allgather, MIB },
	{ alltoall, MIB },
};

static void collectives(void)
{
	static const int some[] = { 0, 1, 1000, 16384, 70000, 300001, MIB, LARGEST };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(collectives_of); i++)
		for (j = 0; j < ARRAY_SIZE(some); j++)
			if (some[j] <= collectives_of[i].largest)
				collectives_of[i].run(some[j]);
}

/* ---- one-sided operations ---- */

static void put_and_get(MPI_Win window, uint8_t *mem, int size)
{
	uint8_t *out = buf_filled(size, rank + 1), *in = buf_new(size);

	MPI_Win_fence(0, window);
	MPI_Put(out, size, MPI_BYTE, next(), 0, size, MPI_BYTE, window);
	MPI_Win_fence(0, window);
	check("put", mem, size, previous() + 1);
	MPI_Get(in, size, MPI_BYTE, next(), 0, size, MPI_BYTE, window);
	MPI_Win_fence(0, window);
	check_whole("get", in, size, rank + 1);
	free(out);
	free(in);
}

/* All ranks add to the same words of rank 0. */
static void accumulate(MPI_Win window, uint64_t *mem)
{
	uint64_t one = 1, was;
	int i;

	mem[0] = 0;
	MPI_Win_fence(0, window);
	for (i = 0; i < 20; i++)
		MPI_Accumulate(&one, 1, MPI_UINT64_T, 0, 0, 1, MPI_UINT64_T, MPI_SUM, window);
	MPI_Win_fence(0, window);
	if (!rank && mem[0] != 20 * (uint64_t)nr_ranks)
		fail("the sum is %llu", (unsigned long long)mem[0]);
	MPI_Win_fence(0, window);
	MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, window);
	MPI_Fetch_and_op(&one, &was, MPI_UINT64_T, 0, 0, MPI_SUM, window);
	MPI_Win_unlock(0, window);
	if (was < 20 * (uint64_t)nr_ranks || was >= 21 * (uint64_t)nr_ranks)
		fail("fetch and add finds %llu", (unsigned long long)was);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void onesided(void)
{
	MPI_Win window;
	uint8_t *mem;
	size_t i;

	MPI_Alloc_mem(LARGEST, MPI_INFO_NULL, &mem);
	MPI_Win_create(mem, LARGEST, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		put_and_get(window, mem, sizes[i]);
	accumulate(window, (uint64_t *)mem);
	MPI_Win_free(&window);
	MPI_Free_mem(mem);
}

static const struct {
	const char *name;
	void (*run)(void);
} suites[] = {
	{ "messages", messages },
	{ "collectives", collectives },
	{ "onesided", onesided },
};

int main(int argc, char **argv)
{
	size_t i;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &nr_ranks);
	for (i = 0; i < ARRAY_SIZE(suites); i++)
		if (argc == 2 && !strcmp(argv[1], suites[i].name))
			break;
	if (i == ARRAY_SIZE(suites))
		fail("usage: fi_mpi messages|collectives|onesided");
	suites[i].run();
	MPI_Barrier(MPI_COMM_WORLD);
	if (!rank)
		printf("%s: %d ranks, all bytes as sent\n", suites[i].name, nr_ranks);
	MPI_Finalize();
	return EXIT_SUCCESS;
}
