// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>

#include <linux/kverbs.h>

#include "bench/param.h"
#include "cli/util.h"
#include "lib/byteorder.h"

#define PARAM_VERSION 1
#define RESULT_VERSION 2
#define NR_FIELDS 12

static const struct bench_rule rules[] = {
	[BENCH_SEND_BW] = {
		"send-bw", "Send BW", BENCH_BANDWIDTH, .receives = true,
		.size = 65536, .count = 1000,
	},
	[BENCH_WRITE_BW] = {
		"write-bw", "RDMA_Write BW", BENCH_BANDWIDTH,
		.access = KVERBS_REMOTE_WRITE, .size = 65536, .count = 5000,
	},
	[BENCH_READ_BW] = {
		"read-bw", "RDMA_Read BW", BENCH_BANDWIDTH,
		.access = KVERBS_REMOTE_READ, .size = 65536, .count = 1000,
	},
	[BENCH_SEND_LAT] = {
		"send-lat", "Send Latency", BENCH_LATENCY, .half = true, .receives = true,
		.size = 2, .count = 1000,
	},
	[BENCH_WRITE_LAT] = {
		"write-lat", "RDMA_Write Latency", BENCH_LATENCY, .half = true,
		.access = KVERBS_REMOTE_WRITE, .access_back = KVERBS_REMOTE_WRITE,
		.size = 2, .count = 1000,
	},
	[BENCH_READ_LAT] = {
		"read-lat", "RDMA_Read Latency", BENCH_LATENCY,
		.access = KVERBS_REMOTE_READ, .size = 2, .count = 1000,
	},
	[BENCH_IMM_LAT] = {
		"imm-lat", "RDMA_Write_imm Latency", BENCH_LATENCY, .half = true,
		.access = KVERBS_REMOTE_WRITE, .access_back = KVERBS_REMOTE_WRITE,
		.size = 2, .count = 1000,
	},
	[BENCH_ATOMIC_LAT] = {
		"atomic-lat", "Atomic FETCH_AND_ADD Latency", BENCH_LATENCY,
		.access = KVERBS_REMOTE_ATOMIC, .size = 8, .count = 1000,
	},
};

const struct bench_rule *bench_rule(unsigned int op)
{
	return op < ARRAY_SIZE(rules) && rules[op].name ? &rules[op] : NULL;
}

unsigned int bench_op_find(const char *name)
{
	unsigned int op;

	for (op = 1; op < ARRAY_SIZE(rules); op++)
		if (!strcmp(rules[op].name, name))
			return op;
	return 0;
}

int bench_param_encode(const struct bench_param *p, void *buf, size_t room)
{
	uint8_t *b = buf;

	if (room < BENCH_PARAM_LEN)
		return -EMSGSIZE;
	put_be(b, PARAM_VERSION, 2);
	put_be(b + 2, p->op, 2);
	put_be(b + 4, p->flags, 4);
	put_be(b + 8, p->lanes, 4);
	put_be(b + 12, p->tx_depth, 4);
	put_be(b + 16, p->rx_depth, 4);
	put_be(b + 20, p->duration_ms, 4);
	put_be(b + 24, p->size, 8);
	put_be(b + 32, p->count, 8);
	put_be(b + 40, p->warmup, 8);
	put_be(b + 48, p->post_list, 4);
	put_be(b + 52, p->cq_mod, 4);
	return BENCH_PARAM_LEN;
}

int bench_param_decode(struct bench_param *p, const void *buf, size_t len)
{
	const uint8_t *b = buf;

	memset(p, 0, sizeof(*p));
	if (len != BENCH_PARAM_LEN || get_be(b, 2) != PARAM_VERSION)
		return -EBADMSG;
	p->op = get_be(b + 2, 2);
	p->flags = get_be(b + 4, 4);
	p->lanes = get_be(b + 8, 4);
	p->tx_depth = get_be(b + 12, 4);
	p->rx_depth = get_be(b + 16, 4);
	p->duration_ms = get_be(b + 20, 4);
	p->size = get_be(b + 24, 8);
	p->count = get_be(b + 32, 8);
	p->warmup = get_be(b + 40, 8);
	p->post_list = get_be(b + 48, 4);
	p->cq_mod = get_be(b + 52, 4);
	return 0;
}

/* In the order of the struct. */
static void list_fields(struct bench_result *r, uint64_t *fields[NR_FIELDS])
{
	fields[0] = &r->ops;
	fields[1] = &r->bytes;
	fields[2] = &r->elapsed_ns;
	fields[3] = &r->peak_Bps;
	fields[4] = &r->received;
	fields[5] = &r->differed;
	fields[6] = &r->cpu_ns;
	fields[7] = &r->sleeps;
	fields[8] = &r->preempted;
	fields[9] = &r->host_cpu_ns;
	fields[10] = &r->host_interrupts;
	fields[11] = &r->host_switches;
}

int bench_result_encode(const struct bench_result *r, void *buf, size_t room)
{
	struct bench_result copy = *r;
	uint64_t *fields[NR_FIELDS];
	uint8_t *b = buf;
	unsigned int i;

	if (room < BENCH_RESULT_LEN)
		return -EMSGSIZE;
	list_fields(&copy, fields);
	put_be(b, RESULT_VERSION, 8);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		put_be(b + 8 * (i + 1), *fields[i], 8);
	return BENCH_RESULT_LEN;
}

int bench_result_decode(struct bench_result *r, const void *buf, size_t len)
{
	const uint8_t *b = buf;
	uint64_t *fields[NR_FIELDS];
	unsigned int i;

	memset(r, 0, sizeof(*r));
	if (len != BENCH_RESULT_LEN || get_be(b, 8) != RESULT_VERSION)
		return -EBADMSG;
	list_fields(r, fields);
	for (i = 0; i < ARRAY_SIZE(fields); i++)
		*fields[i] = get_be(b + 8 * (i + 1), 8);
	return 0;
}

static bool depths_fit(const struct bench_param *p)
{
	return p->lanes >= 1 && p->lanes <= BENCH_LANES_MAX &&
	       p->tx_depth >= 1 && p->tx_depth <= BENCH_DEPTH_MAX &&
	       p->rx_depth >= 2 && p->rx_depth <= BENCH_DEPTH_MAX;
}

/* A list fits into the room that there is once nothing is under way. */
static bool lists_fit(const struct bench_param *p, const struct bench_rule *rule)
{
	uint32_t most = rule->kind == BENCH_BANDWIDTH ? p->tx_depth : 1;

	if (p->post_list < 1 || p->post_list > most || p->cq_mod < 1 || p->cq_mod > most)
		return false;
	/* Credit is given back by quarters, of what is posted again by lists. */
	return !rule->receives || p->post_list == 1 || p->post_list <= p->rx_depth / 4;
}

static bool length_fits(const struct bench_param *p)
{
	if (p->op == BENCH_ATOMIC_LAT && p->size != 8)
		return false;
	return p->size >= 1 && p->size <= BENCH_SIZE_MAX &&
	       p->duration_ms <= BENCH_DURATION_MAX &&
	       (p->duration_ms || p->count >= 1) &&
	       p->count <= UINT32_MAX && p->warmup <= UINT32_MAX;
}

/* As many slots as differ when every byte is looked at, on both sides the most. */
static uint64_t slots_of(const struct bench_param *p)
{
	const struct bench_rule *rule = bench_rule(p->op);
	uint64_t slots = 1, lanes = p->lanes;

	if (rule->kind == BENCH_BANDWIDTH && p->flags & BENCH_F_VERIFY)
		slots = max(p->tx_depth, rule->receives ? p->rx_depth : 0);
	if (p->flags & BENCH_F_BOTH_WAYS)
		lanes *= 2;
	return lanes * slots;
}

static bool memory_fits(const struct bench_param *p)
{
	uint64_t lanes = p->flags & BENCH_F_BOTH_WAYS ? 2ull * p->lanes : p->lanes;

	return slots_of(p) <= BENCH_BYTES_MAX / p->size &&
	       lanes * (p->tx_depth + p->rx_depth) <= BENCH_REQUESTS_MAX;
}

static uint64_t receives_of(const struct bench_param *p)
{
	return (bench_rule(p->op)->receives ? p->rx_depth : BENCH_NOTES) + BENCH_CQ_SPARE;
}

static uint64_t sends_of(const struct bench_param *p)
{
	return p->tx_depth + BENCH_NOTES + BENCH_CQ_SPARE;
}

uint64_t bench_param_completions(const struct bench_param *p)
{
	return p->lanes * (receives_of(p) + sends_of(p));
}

/* Operations may wait for a place, receives of payload may not, also beside operations. */
static bool completions_fit(const struct bench_param *p, const struct bench_rule *rule)
{
	uint64_t need = receives_of(p);

	if (!rule->receives)
		return true;
	if (p->flags & BENCH_F_BOTH_WAYS)
		need += sends_of(p);
	return p->lanes * need <= BENCH_CQ_MAX;
}

/* Lanes and both ways are for bandwidths; write-lat polls memory and has no events. */
static bool flags_fit(const struct bench_param *p, const struct bench_rule *rule)
{
	if (p->flags & ~BENCH_F_ALL)
		return false;
	if (p->op == BENCH_WRITE_LAT && p->flags & BENCH_F_EVENTS)
		return false;
	return rule->kind == BENCH_BANDWIDTH ||
	       (p->lanes == 1 && !(p->flags & BENCH_F_BOTH_WAYS));
}

int bench_param_check(const struct bench_param *p)
{
	const struct bench_rule *rule = bench_rule(p->op);

	if (!rule || !depths_fit(p) || !length_fits(p) || !flags_fit(p, rule) ||
	    !lists_fit(p, rule) || !completions_fit(p, rule))
		return -EINVAL;
	return memory_fits(p) ? 0 : -EINVAL;
}
