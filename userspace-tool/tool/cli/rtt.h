/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Statistics of round trips, in seconds. */
#ifndef KVERBS_TOOL_RTT_H
#define KVERBS_TOOL_RTT_H

#include <stdint.h>

/**
 * struct rtt - round trips so far; all zero before the first
 * @count: how many
 * @min: shortest
 * @max: longest
 * @mean: average
 * @m2: sum of squared distances from the mean
 */
struct rtt {
	uint64_t count;
	double min;
	double max;
	double mean;
	double m2;
};

void rtt_add(struct rtt *rtt, double seconds);
double rtt_mdev(const struct rtt *rtt);

#endif /* KVERBS_TOOL_RTT_H */
