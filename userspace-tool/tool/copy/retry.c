// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>

#include "copy/retry.h"
#include "peer/wire.h"

#define DELAY_MAX 30

/* EIO: a device gave up sending before the end of the connection is known. */
bool retry_is_lost(int err)
{
	switch (err) {
	case -ECONNRESET:
	case -EHOSTUNREACH:
	case -EIO:
	case -ENETDOWN:
	case -ENETUNREACH:
	case -ENODEV:
	case -ENOTCONN:
	case -ETIMEDOUT:
		return true;
	default:
		return false;
	}
}

bool retry_may_pass(int err, unsigned int refusal)
{
	switch (refusal) {
	case 0:
		/* No server, perhaps not yet; no address, while the device is being reset */
		return retry_is_lost(err) || err == -ECONNREFUSED || err == -EADDRNOTAVAIL;
	case WIRE_REFUSED_BUSY:
	case WIRE_REFUSED_PEER:
	case WIRE_REFUSED_MEMORY:
	case WIRE_REFUSED_RATE:
	case WIRE_REFUSED_ENDING:
		return true;
	default:
		return false;
	}
}

/* A connection that copied something was a success, whatever ended it. */
int retry_begin(struct retry *r, uint64_t moved)
{
	unsigned int late, delay;

	if (moved != r->moved)
		r->nr = 0;
	r->moved = moved;
	if (r->nr >= retry_max(r))
		return -1;
	late = r->nr < r->paths ? 0 : r->nr - r->paths + !!r->paths;
	delay = late ? 1u << (late < 6 ? late - 1 : 5) : 0;
	r->nr++;
	return delay < DELAY_MAX ? delay : DELAY_MAX;
}
