// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters that survive processes killed at any moment, and their tables. */
#include <stdio.h>
#include <string.h>

#include "counts.h"

static const char *const commands[COMMANDS] = {
	"INFO", "DEVICE_QUERY", "RING_CREATE", "SUBMIT", "REGION_CREATE", "LISTEN", "CONNECT",
	"ACCEPT", "REJECT", "DISCONNECT", "CONN_QUERY", "EXPORT", "DESTROY", "BENCH",
	"GROUP_CREATE", "POOL_CREATE", "REGION_EXPORT_FD", "(none)",
};

static const char *const opcodes[OPCODES] = {
	"(none)", "SEND", "RECV", "WRITE", "WRITE_IMM", "READ", "SEND_IMM", "SEND_INV",
	"CMP_SWAP", "FETCH_ADD",
};

static const char *const types[CQE_TYPES] = {
	"(none)", "WORK", "CONN_REQUEST", "ESTABLISHED", "DISCONNECTED", "REJECTED", "FAILED",
	"DEVICE_REMOVED", "REGION_STALE",
};

/* From enum ib_wc_status */
static const char *const statuses[STATUSES] = {
	"ok", "length", "qp-op", "eec-op", "protection", "flushed", "mw-bind", "bad-response",
	"access", "remote-request", "remote-access", "remote-op", "retries", "rnr-retries",
	"rdd", "rd-request", "abort", "eecn", "eec-state", "fatal", "timeout", "general",
};

static void add(uint64_t *counter)
{
	__atomic_fetch_add(counter, 1, __ATOMIC_RELAXED);
}

/**
 * count_command() - count a command
 * @counts: the counters
 * @number: number of the command
 * @err: 0 or an errno
 */
void count_command(struct counts *counts, unsigned int number, int err)
{
	add(&counts->results[number % COMMANDS][err % ERRNOS]);
}

/**
 * count_entry() - count a submission entry
 * @counts: the counters
 * @opcode: its opcode, before anything scribbled over it
 * @err: 0 if it was accepted, or an errno
 */
void count_entry(struct counts *counts, unsigned int opcode, int err)
{
	add(&counts->entries[opcode % OPCODES][err % ERRNOS]);
}

/**
 * count_completion() - count a completion
 * @counts: the counters
 * @cqe: the completion; the last byte of an entry's user_data is its opcode
 */
void count_completion(struct counts *counts, const struct kverbs_cqe *cqe)
{
	unsigned int opcode = (cqe->user_data & 0xff) % OPCODES;

	if (cqe->type == KVERBS_CQE_WORK && cqe->result && !cqe->wc_status)
		add(&counts->entries[opcode][-cqe->result % ERRNOS]);
	else if (cqe->type == KVERBS_CQE_WORK)
		add(&counts->statuses[opcode][cqe->wc_status % STATUSES]);
	else
		add(&counts->events[cqe->type % CQE_TYPES]);
}

static uint64_t sum(const uint64_t *numbers, unsigned int nr)
{
	uint64_t all = 0;

	while (nr--)
		all += numbers[nr];
	return all;
}

static uint64_t print_errnos(const char *name, const uint64_t *errnos, uint64_t *good)
{
	uint64_t all = sum(errnos, ERRNOS);
	unsigned int err;

	printf("%-14s %9llu:", name, (unsigned long long)all);
	for (err = 0; err < ERRNOS; err++)
		if (errnos[err])
			printf(" %s %llu", err ? strerrorname_np(err) : "ok",
			       (unsigned long long)errnos[err]);
	*good += errnos[0];
	return all;
}

static uint64_t print_statuses(const uint64_t *numbers)
{
	unsigned int i;

	printf("; ended:");
	for (i = 0; i < STATUSES; i++)
		if (numbers[i])
			printf(" %s %llu", statuses[i] ?: "?", (unsigned long long)numbers[i]);
	printf("\n");
	return numbers[0];
}

static void print_events(const struct counts *counts)
{
	unsigned int i;

	printf("events:");
	for (i = KVERBS_CQE_CONN_REQUEST; i < CQE_TYPES; i++)
		printf(" %s %llu", types[i], (unsigned long long)counts->events[i]);
	printf("\n");
}

/**
 * counts_print() - print all counters and their sums
 * @counts: the counters
 * @seed: seed of the run
 */
void counts_print(const struct counts *counts, uint64_t seed)
{
	uint64_t all = 0, good = 0, tried = 0, taken = 0, ended = 0;
	unsigned int i;

	for (i = 0; i < COMMANDS; i++) {
		all += print_errnos(commands[i], counts->results[i], &good);
		printf("\n");
	}
	for (i = 1; i < OPCODES; i++) {
		tried += print_errnos(opcodes[i], counts->entries[i], &taken);
		ended += print_statuses(counts->statuses[i]);
	}
	print_events(counts);
	printf("%llu generations, %llu of them killed, which took up to %llu ms\n",
	       (unsigned long long)counts->generations, (unsigned long long)counts->killed,
	       (unsigned long long)counts->dying);
	printf("%llu commands, %llu succeeded\n", (unsigned long long)all,
	       (unsigned long long)good);
	printf("%llu entries, %llu taken, %llu completed well\n", (unsigned long long)tried,
	       (unsigned long long)taken, (unsigned long long)ended);
	printf("seed %llu\n", (unsigned long long)seed);
}
