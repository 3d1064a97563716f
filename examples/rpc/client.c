// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Call a server many times: rpc_client PROVIDER ADDRESS PORT CALLS TIMEOUT_MS RECORDS
 *
 * Several calls are under way at a time: to echo bytes, to have memory pulled and its digest
 * returned, to have memory filled. What comes back is checked. Each call that was answered is
 * recorded in the file RECORDS.
 */
#include <errno.h>
#include <unistd.h>

#include "rpc.h"
#include "work.h"

#define WINDOW 8
/* Bytes behind those that the server fills, which it must not change */
#define GUARD 64
#define GUARD_BYTE 0x5a

/* A call that is under way, and its memory for bulk */
struct slot {
	int is_busy;
	struct work work;
	unsigned int kind;
	uint8_t data[RPC_DATA_MAX];
	size_t length;
	uint8_t *bytes;
	size_t bulk_length;
	struct rpc_mem *mem;
};

static struct rpc *rpc;
static struct slot slots[WINDOW];
static FILE *records;
static unsigned long ended, answered, late, busy;

static void fail(const struct slot *slot, const char *what)
{
	fprintf(stderr, "call %llu: %s\n", (unsigned long long)slot->work.number, what);
	exit(EXIT_FAILURE);
}

/* ---- checks ---- */

static void check_echo(const struct slot *slot, const void *data, size_t length)
{
	size_t echoed = slot->length - sizeof(slot->work);

	if (length != echoed || memcmp(data, slot->data + sizeof(slot->work), echoed))
		fail(slot, "the echo differs");
}

static void check_digest(const struct slot *slot, const void *data, size_t length)
{
	uint64_t sum = work_digest(slot->bytes, slot->bulk_length);

	if (length != sizeof(sum) || memcmp(data, &sum, sizeof(sum)))
		fail(slot, "the digest of what was pulled differs");
}

static void check_fill(const struct slot *slot)
{
	size_t i;

	for (i = 0; i < slot->bulk_length; i++)
		if (slot->bytes[i] != work_byte(slot->work.seed, i))
			fail(slot, "a byte that was pushed differs");
	for (i = 0; i < GUARD; i++)
		if (slot->bytes[slot->bulk_length + i] != GUARD_BYTE)
			fail(slot, "a byte behind those that were pushed has changed");
}

static void check(const struct slot *slot, const void *data, size_t length)
{
	switch (slot->kind) {
	case 0:
		check_echo(slot, data, length);
		break;
	case 1:
		check_digest(slot, data, length);
		break;
	default:
		check_fill(slot);
	}
}

/* ---- calls ---- */

static void close_mem(struct slot *slot)
{
	if (slot->mem)
		rpc_mem_close(slot->mem);
	slot->mem = NULL;
}

static void done(void *arg, int status, const void *data, size_t length)
{
	struct slot *slot = arg;

	if (!slot->is_busy)
		fail(slot, "it ends twice");
	slot->is_busy = 0;
	ended++;
	/* Before this returns, the server may still be using the memory of a call that failed. */
	close_mem(slot);
	if (status == -ETIMEDOUT) {
		late++;
		return;
	}
	answered++;
	fprintf(records, RECORD, (unsigned long long)slot->work.client,
		(unsigned long long)slot->work.number);
	if (status == -EBUSY)
		busy++;
	else if (status && status != -EIO && status != -ECANCELED)
		fail(slot, fi_strerror(-status));
	else if (!status)
		check(slot, data, length);
}

static uint64_t random_number(void)
{
	static uint64_t state;

	if (!state)
		state = (uint64_t)getpid() * 0x9e3779b97f4a7c15ull;
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

static void lend(struct slot *slot, struct rpc_bulk *bulk)
{
	slot->bulk_length = 1 + random_number() % BULK_MAX;
	if (slot->kind == 1)
		work_fill(slot->bytes, slot->bulk_length, slot->work.seed);
	memset(slot->bytes + slot->bulk_length, GUARD_BYTE, GUARD);
	must(rpc_mem_open(rpc, slot->bytes, slot->bulk_length, slot->kind == 1, slot->kind == 2,
			  &slot->mem), "register memory");
	*bulk = rpc_mem_bulk(slot->mem);
}

/* Two of three calls are echoes, as most calls are small. */
static void start(struct slot *slot, uint64_t peer, unsigned int timeout_ms)
{
	static const char *const names[] = { ECHO, DIGEST, FILL };
	struct rpc_bulk bulk = { 0 };

	slot->is_busy = 1;
	slot->work.number++;
	slot->work.seed = random_number();
	slot->kind = random_number() % 6;
	if (slot->kind > 2)
		slot->kind = 0;
	slot->length = sizeof(slot->work);
	if (slot->kind)
		lend(slot, &bulk);
	else
		slot->length += random_number() % (RPC_DATA_MAX - sizeof(slot->work));
	memcpy(slot->data, &slot->work, sizeof(slot->work));
	work_fill(slot->data + sizeof(slot->work), slot->length - sizeof(slot->work),
		  slot->work.seed);
	must(rpc_call(rpc, peer, names[slot->kind], slot->data, slot->length, &bulk, timeout_ms,
		      done, slot), "call");
}

static void open_slots(void)
{
	uint64_t base = random_number();
	unsigned int i;

	for (i = 0; i < WINDOW; i++) {
		slots[i].work.client = base + i;
		slots[i].bytes = aligned_alloc(4096, BULK_MAX + 4096);
		if (!slots[i].bytes)
			must(-ENOMEM, "buffers");
	}
}

static void close_slots(void)
{
	unsigned int i;

	for (i = 0; i < WINDOW; i++) {
		close_mem(&slots[i]);
		free(slots[i].bytes);
	}
}

static void run(uint64_t peer, unsigned long calls, unsigned int timeout_ms)
{
	unsigned long started = 0;
	unsigned int i;

	while (ended < calls) {
		for (i = 0; i < WINDOW && started < calls; i++)
			if (!slots[i].is_busy) {
				start(&slots[i], peer, timeout_ms);
				started++;
			}
		must(rpc_progress(rpc, -1), "progress");
	}
}

int main(int argc, char **argv)
{
	uint64_t peer;

	if (argc != 7) {
		fputs("usage: rpc_client PROVIDER ADDRESS PORT CALLS TIMEOUT_MS RECORDS\n", stderr);
		return 2;
	}
	records = fopen(argv[6], "w");
	if (!records)
		must(-errno, argv[6]);
	must(rpc_open(&rpc, argv[1], NULL, NULL), "open");
	must(rpc_lookup(rpc, argv[2], argv[3], &peer), "look the server up");
	open_slots();
	run(peer, strtoul(argv[4], NULL, 0), strtoul(argv[5], NULL, 0));
	close_slots();
	rpc_close(rpc);
	if (fclose(records))
		must(-errno, argv[6]);
	printf("%lu calls: %lu answered, %lu of them as busy, %lu failed at their deadline\n",
	       ended, answered, busy, late);
	return EXIT_SUCCESS;
}
