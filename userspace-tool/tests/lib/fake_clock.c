// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fake kernel's monotonic clock. Tests advance it, so that long timeouts take no time and the
 * order of events does not depend on the machine.
 */
#include <errno.h>

#include "fake_internal.h"

#define NSEC_PER_SEC 1000000000u
/* Waiting threads notice an advanced clock after this time */
#define SLICE_NS 5000000u

/* Time of the clock while it is stopped, and by how much it was advanced. */
static uint64_t stands_at, moved;

static uint64_t ns_of(const struct timespec *ts)
{
	return (uint64_t)ts->tv_sec * NSEC_PER_SEC + (uint64_t)ts->tv_nsec;
}

static struct timespec ts_of(uint64_t ns)
{
	return (struct timespec){
		.tv_sec = (time_t)(ns / NSEC_PER_SEC),
		.tv_nsec = (long)(ns % NSEC_PER_SEC),
	};
}

static uint64_t real_now(void)
{
	struct timespec ts;

	__real_clock_gettime(CLOCK_MONOTONIC, &ts);
	return ns_of(&ts);
}

void fake_clock_reset(void)
{
	__atomic_store_n(&moved, 0, __ATOMIC_RELAXED);
	stands_at = real_now();
}

uint64_t fake_clock_now(void)
{
	uint64_t now = fake.time_jumps ? stands_at : real_now();

	return now + __atomic_load_n(&moved, __ATOMIC_RELAXED);
}

void fake_clock_jump(uint64_t deadline)
{
	uint64_t now = fake_clock_now();

	if (now < deadline)
		__atomic_add_fetch(&moved, deadline - now, __ATOMIC_RELAXED);
}

/*
 * Wait on @cond until it is signalled or @deadline of the fake clock has passed. A return of 0
 * may be spurious, as that of pthread_cond_timedwait(): a signal that comes when a slice has just
 * ended is reported by neither, so the caller must check its condition after each slice.
 */
int fake_clock_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline)
{
	uint64_t now = fake_clock_now();
	struct timespec ts;
	int ret;

	if (now >= deadline)
		return -ETIMEDOUT;
	if (fake.time_jumps) {
		fake_clock_jump(deadline);
		return -ETIMEDOUT;
	}
	now = deadline - now;
	ts = ts_of(real_now() + (now < SLICE_NS ? now : SLICE_NS));
	ret = __real_pthread_cond_timedwait(cond, lock, &ts);
	return ret == ETIMEDOUT ? 0 : -ret;
}

int __wrap_clock_gettime(clockid_t id, struct timespec *ts)
{
	if (id != CLOCK_MONOTONIC)
		return __real_clock_gettime(id, ts);
	*ts = ts_of(fake_clock_now());
	return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
				  const struct timespec *ts)
{
	return -fake_clock_wait(cond, lock, ns_of(ts));
}

void fake_advance(unsigned int ms)
{
	__atomic_add_fetch(&moved, ms * 1000000ull, __ATOMIC_RELAXED);
}
