// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdbool.h>
#include <stddef.h>

#include "watch/rate.h"
#include "watch/snap.h"

/* Looks are never so close; a clock that is coarse must not make it infinite. */
#define SHORTEST	0.000001

static double seconds(double now, double before)
{
	double s = now - before;

	return s > SHORTEST ? s : SHORTEST;
}

static bool goes_on(const struct snap_moved *now, const struct snap_moved *was)
{
	return now->ops >= was->ops && now->errors >= was->errors &&
	       now->bytes_out >= was->bytes_out && now->bytes_in >= was->bytes_in;
}

static struct rate between(const struct snap_moved *now, const struct snap_moved *was,
			   double s)
{
	static const struct snap_moved nothing;

	if (!was || !goes_on(now, was))
		was = &nothing;
	return (struct rate){
		.ops = (now->ops - was->ops) / s,
		.errors = (now->errors - was->errors) / s,
		.out = (now->bytes_out - was->bytes_out) / s,
		.in = (now->bytes_in - was->bytes_in) / s,
	};
}

struct rate rate_conn(const struct snap *now, const struct snap *before,
		      const struct snap_conn *conn)
{
	const struct snap_conn *was = snap_find(before, conn);

	return between(&conn->moved, was ? &was->moved : NULL, seconds(now->at, before->at));
}

/* The driver has counted since long before the module knew the device. */
static double retries(const struct snap_device *now, const struct snap_device *was)
{
	if (!was || was->retries < 0 || now->retries < was->retries)
		return 0;
	return now->retries - was->retries;
}

struct rate rate_device(const struct snap *now, const struct snap *before,
			const struct snap_device *device)
{
	const struct snap_device *was = snap_find_device(before, device->device);
	double s = seconds(now->devices_at, before->devices_at);
	struct rate rate = between(&device->moved, was ? &was->moved : NULL, s);

	rate.retries = retries(device, was) / s;
	return rate;
}
