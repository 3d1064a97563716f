/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Why a connection or an operation may have failed, in words. */
#ifndef KVERBS_TOOL_EXPLAIN_H
#define KVERBS_TOOL_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include <kverbs.h>

#define EXPLAIN_TEXT_MAX 400

/**
 * struct explain_base - counters of this host at one time, which several sessions share
 * @counters: the counters, NULL: they could not be read
 * @at: when they were read, units_now()
 * @users: references, atomic
 */
struct explain_base {
	struct kverbs_counters *counters;
	double at;
	unsigned int users;
};

/* Read the counters; NULL if there is no memory, and then nothing is told of them. */
struct explain_base *explain_base_new(void);
struct explain_base *explain_base_get(struct explain_base *base);
void explain_base_put(struct explain_base *base);

/* "a firewall drops the packets; ...": the causes, without a full stop */
void explain_causes(const struct kverbs_explanation *why, char *text, size_t room);
/* "rxe0 port 1, RoCE v2, path MTU 1024; meanwhile sent_pkts +8": what is known; may be empty */
void explain_facts(const struct kverbs_explanation *why, char *text, size_t room);

/*
 * Print an explanation: its causes and facts, with @in_full also how to fix each cause. The
 * result in JSON gets an object "explanation". Nothing is printed if no cause is known.
 */
void explain_print(const struct kverbs_explanation *why, bool in_full);

#endif /* KVERBS_TOOL_EXPLAIN_H */
