// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "cli/units.h"
#include "cli/util.h"

const char *units_bytes(uint64_t bytes, char *buf, size_t room)
{
	static const char * const names[] = { "B", "kB", "MB", "GB", "TB", "PB", "EB" };
	double v = bytes;
	unsigned int i = 0;

	/* 999.95 would be printed as 1000.0 */
	while (v >= 999.95 && i < ARRAY_SIZE(names) - 1) {
		v /= 1000;
		i++;
	}
	if (i)
		snprintf(buf, room, "%.1f %s", v, names[i]);
	else
		snprintf(buf, room, "%" PRIu64 " B", bytes);
	return buf;
}

const char *units_time(double seconds, char *buf, size_t room)
{
	uint64_t s;

	if (!(seconds >= 0 && seconds < 100 * 3600)) {
		snprintf(buf, room, "--:--");
		return buf;
	}
	s = seconds + 0.5;
	if (s < 3600)
		snprintf(buf, room, "%02" PRIu64 ":%02" PRIu64, s / 60, s % 60);
	else
		snprintf(buf, room, "%" PRIu64 ":%02" PRIu64 ":%02" PRIu64, s / 3600,
			 s / 60 % 60, s % 60);
	return buf;
}

double units_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

void units_sleep_until(double at)
{
	const struct timespec ts = { at, (at - (time_t)at) * 1e9 };

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}
