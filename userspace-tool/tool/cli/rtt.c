// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cli/rtt.h"

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
