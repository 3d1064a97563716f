/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Rates between two snapshots. */
#ifndef KVERBS_TOOL_RATE_H
#define KVERBS_TOOL_RATE_H

struct snap;
struct snap_conn;
struct snap_device;

/**
 * struct rate - what is done in a second
 * @ops: operations that completed
 * @errors: operations that failed
 * @out: bytes
 * @in: bytes
 * @retries: requests that a device sent again
 */
struct rate {
	double ops;
	double errors;
	double out;
	double in;
	double retries;
};

/*
 * Both divide by the measured time. A connection that is new, or whose counters went
 * down, has begun in between: all that it counts was done since.
 */
struct rate rate_conn(const struct snap *now, const struct snap *before,
		      const struct snap_conn *conn);
struct rate rate_device(const struct snap *now, const struct snap *before,
			const struct snap_device *device);

#endif /* KVERBS_TOOL_RATE_H */
