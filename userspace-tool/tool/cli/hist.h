/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Statistics of round trips, and a histogram of times that keeps no samples: an
 * octave has HIST_STEPS buckets of one width each, so a percentile is at most
 * 1/HIST_STEPS too high, however many samples there are.
 */
#ifndef KVERBS_TOOL_HIST_H
#define KVERBS_TOOL_HIST_H

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

#define HIST_BITS	7
#define HIST_STEPS	(1u << HIST_BITS)
/* Beyond 2^HIST_TOP_BIT ns, 18 minutes, all is one bucket. */
#define HIST_TOP_BIT	40
#define HIST_BUCKETS	((HIST_TOP_BIT - HIST_BITS + 1) * HIST_STEPS + 1)

/**
 * struct hist - a histogram; all zero before the first sample
 * @rtt: how many, extremes as they were, mean and deviation; in nanoseconds
 * @buckets: samples in each bucket
 */
struct hist {
	struct rtt rtt;
	uint64_t buckets[HIST_BUCKETS];
};

void hist_add(struct hist *h, uint64_t ns);
/* The time in the middle of a bucket. */
double hist_middle(unsigned int bucket);
/* The time that @percent of all samples do not exceed, ns; 0 without samples. */
uint64_t hist_percentile(const struct hist *h, double percent);
/* The same, in microseconds. */
double hist_us(const struct hist *h, double percent);

#endif /* KVERBS_TOOL_HIST_H */
