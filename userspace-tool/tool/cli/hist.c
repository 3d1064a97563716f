// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cli/hist.h"
#include "cli/util.h"

/* Welford's: sums of squares lose the digits that matter in long runs. */
void rtt_add(struct rtt *rtt, double seconds)
{
	double delta = seconds - rtt->mean;

	if (!rtt->count || seconds < rtt->min)
		rtt->min = seconds;
	if (!rtt->count || seconds > rtt->max)
		rtt->max = seconds;
	rtt->count++;
	rtt->mean += delta / rtt->count;
	rtt->m2 += delta * (seconds - rtt->mean);
}

/* Newton's, from above: not worth a library of its own. */
static double root(double v)
{
	double x = v > 1 ? v : 1, last;

	if (!(v > 0))
		return 0;
	do {
		last = x;
		x = (x + v / x) / 2;
	} while (x < last);
	return x;
}

double rtt_mdev(const struct rtt *rtt)
{
	return rtt->count ? root(rtt->m2 / rtt->count) : 0;
}

/* Values below HIST_STEPS have buckets of their own. */
static unsigned int bucket_of(uint64_t ns)
{
	unsigned int shift;

	if (ns < HIST_STEPS)
		return ns;
	if (ns >> HIST_TOP_BIT)
		return HIST_BUCKETS - 1;
	shift = 63 - __builtin_clzll(ns) - HIST_BITS;
	return shift * HIST_STEPS + (ns >> shift);
}

/* The largest value that is in a bucket. */
static uint64_t top_of(unsigned int bucket)
{
	unsigned int shift;

	if (bucket < HIST_STEPS)
		return bucket;
	if (bucket == HIST_BUCKETS - 1)
		return UINT64_MAX;
	shift = bucket / HIST_STEPS - 1;
	return ((uint64_t)(bucket % HIST_STEPS + HIST_STEPS + 1) << shift) - 1;
}

double hist_middle(unsigned int bucket)
{
	uint64_t bottom = bucket ? top_of(bucket - 1) + 1 : 0;

	return bucket == HIST_BUCKETS - 1 ? bottom : bottom / 2. + top_of(bucket) / 2.;
}

void hist_add(struct hist *h, uint64_t ns)
{
	rtt_add(&h->rtt, ns);
	h->buckets[bucket_of(ns)]++;
}

/* The nearest rank: the first sample that has so many at or below it. */
static uint64_t rank_of(uint64_t count, double percent)
{
	double exact = count * percent / 100;
	uint64_t rank = exact;

	if (!rank)
		return 1;
	/* 99.9 is a little more than it says, and 999 of 1,000 are not 1,000. */
	if (exact > rank + 0.000001)
		rank++;
	return min(rank, count);
}

uint64_t hist_percentile(const struct hist *h, double percent)
{
	uint64_t rank = rank_of(h->rtt.count, percent), seen = 0;
	uint64_t longest = h->rtt.max;
	unsigned int i;

	for (i = 0; i < HIST_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen && seen >= rank)
			return min(top_of(i), longest);
	}
	return 0;
}

double hist_us(const struct hist *h, double percent)
{
	return hist_percentile(h, percent) / 1e3;
}
