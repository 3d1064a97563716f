// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Times at which a command gives up, from the caller's clock to the host's. */
#include <linux/kernel.h>
#include <linux/kverbs.h>
#include <linux/math64.h>
#include <linux/time_namespace.h>
#include <linux/timekeeping.h>

#include "timeout.h"

/* User space reads CLOCK_MONOTONIC with the offset of its time namespace. */
static u64 host_time(u64 user_ns)
{
	struct timespec64 offset = {};
	s64 offset_ns;

	timens_add_monotonic(&offset);
	offset_ns = timespec64_to_ns(&offset);
	if (likely(!offset_ns))
		return user_ns;
	if (offset_ns < 0)
		return user_ns <= U64_MAX + offset_ns ? user_ns - offset_ns : U64_MAX;
	/* 0 would be no deadline. */
	return user_ns > offset_ns ? user_ns - offset_ns : 1;
}

/**
 * kverbs_timeout_deadline() - when a command shall give up
 * @flags: of the command: with KVERBS_TIME_ABSOLUTE @timeout_ns is a time
 * @timeout_ns: of the command, 0: never
 *
 * Return: ktime_get_ns() of that time, 0: never.
 */
u64 kverbs_timeout_deadline(u32 flags, u64 timeout_ns)
{
	u64 now;

	if (!timeout_ns)
		return 0;
	if (flags & KVERBS_TIME_ABSOLUTE)
		return host_time(timeout_ns);
	now = ktime_get_ns();
	return timeout_ns <= U64_MAX - now ? now + timeout_ns : U64_MAX;
}

/**
 * kverbs_timeout_ms() - the time that is left until a command shall give up
 * @flags: as of kverbs_timeout_deadline()
 * @timeout_ns: the same, not 0
 * @ms: set to the time, at least 1
 *
 * Return: 0, or -EINVAL if it exceeds INT_MAX milliseconds, the limit of delayed work and of
 * the CM.
 */
int kverbs_timeout_ms(u32 flags, u64 timeout_ns, unsigned int *ms)
{
	u64 left = timeout_ns, now;

	if (flags & KVERBS_TIME_ABSOLUTE) {
		left = host_time(timeout_ns);
		now = ktime_get_ns();
		left = left > now ? left - now : 0;
	}
	if (left > (u64)INT_MAX * NSEC_PER_MSEC)
		return -EINVAL;
	*ms = max_t(u64, DIV_ROUND_UP_ULL(left, NSEC_PER_MSEC), 1);
	return 0;
}
