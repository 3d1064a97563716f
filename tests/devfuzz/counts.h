/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Counters of commands, entries and completions. */
#ifndef FUZZ_COUNTS_H
#define FUZZ_COUNTS_H

#include <stdint.h>
#include <linux/kverbs.h>

/* Sizes of the tables: command numbers, opcodes and types from 1, errnos */
#define COMMANDS	18
#define OPCODES		(KVERBS_OP_FETCH_ADD + 1)
#define CQE_TYPES	(KVERBS_CQE_REGION_STALE + 1)
#define ERRNOS		134
#define STATUSES	24

/**
 * struct counts - counters, shared by all processes
 * @results: number of commands that ended with an errno, 0: success
 * @entries: number of entries that were refused with an errno, by SUBMIT or by their
 *	completion, 0: accepted
 * @statuses: number of completed entries with a status
 * @events: number of completions that are not of entries
 * @generations: generations that have ended
 * @killed: generations that had to be killed
 * @dying: longest time in ms that a killed one took to exit
 */
struct counts {
	uint64_t results[COMMANDS][ERRNOS];
	uint64_t entries[OPCODES][ERRNOS];
	uint64_t statuses[OPCODES][STATUSES];
	uint64_t events[CQE_TYPES];
	uint64_t generations;
	uint64_t killed;
	uint64_t dying;
};

void count_command(struct counts *counts, unsigned int number, int err);
void count_entry(struct counts *counts, unsigned int opcode, int err);
void count_completion(struct counts *counts, const struct kverbs_cqe *cqe);
void counts_print(const struct counts *counts, uint64_t seed);

#endif /* FUZZ_COUNTS_H */
