/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What was done, and what came of it. */
#ifndef FUZZ_COUNTS_H
#define FUZZ_COUNTS_H

#include <stdint.h>
#include <linux/kverbs.h>

/* Command numbers, one more than there are; opcodes and types from 1; errnos. */
#define COMMANDS	15
#define OPCODES		(KVERBS_OP_FETCH_ADD + 1)
#define CQE_TYPES	(KVERBS_CQE_DEVICE_REMOVED + 1)
#define ERRNOS		134
#define STATUSES	24

/**
 * struct counts - what was done; shared by all processes
 * @results: how often a command ended with an errno, 0: with success
 * @entries: how often an entry was refused with an errno, 0: taken
 * @statuses: how entries ended of which a completion told
 * @events: completions that are not of entries
 * @generations: worlds that came and went
 * @killed: those of them that did not end by themselves
 * @dying: ms that the longest of those took to end then
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
