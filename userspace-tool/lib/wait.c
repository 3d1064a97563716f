// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Leading and following, see wait.h.
 */
#include <errno.h>
#include <limits.h>

#include "dispatch.h"
#include "internal.h"
#include "request.h"
#include "sys.h"
#include "wait.h"

/* A follower, on its own stack. It sleeps while @woken is 0. */
struct waiter {
	struct list_head node, keyed;
	uint32_t woken;
	const void *key;
	bool may_lead;
};

/* A wait for @key, ended by @deadline, and by kverbs_wakeup() unless @nowake. */
struct wait {
	const void *key;
	uint64_t deadline;
	bool nowake;
};

/* How long a thread sleeps that goes on waiting after kverbs_wakeup(). */
#define NOWAKE_NAP_NS 1000000

/* A deadline long ago, for callers that do not wait: it costs no reading of the clock. */
#define NOW 1

uint64_t kverbs_deadline(int timeout_ms)
{
	if (timeout_ms < 0)
		return 0;
	if (!timeout_ms)
		return NOW;
	return kverbs_sys_now() + (uint64_t)timeout_ms * NSEC_PER_MSEC;
}

bool kverbs_deadline_passed(uint64_t deadline)
{
	return deadline == NOW || (deadline && kverbs_sys_now() >= deadline);
}

bool kverbs_deadline_is_now(uint64_t deadline)
{
	return deadline == NOW;
}

int kverbs_deadline_left(uint64_t deadline)
{
	uint64_t now = kverbs_sys_now(), ms;

	if (!deadline)
		return -1;
	if (now >= deadline)
		return 0;
	ms = (deadline - now + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return ms > INT_MAX ? INT_MAX : (int)ms;
}

void kverbs_waiters_init(struct kverbs *kv)
{
	unsigned int i;

	list_init(&kv->waiters);
	for (i = 0; i < KVERBS_KEYED; i++)
		list_init(&kv->keyed[i]);
}

/* Keys are addresses of objects, whose lowest bits are all the same. */
static struct list_head *keyed(struct kverbs *kv, const void *key)
{
	uintptr_t bits = (uintptr_t)key;

	return &kv->keyed[(bits >> 4 ^ bits >> 10) & (KVERBS_KEYED - 1)];
}

/* True if kverbs_wakeup() ends the wait. */
static bool is_over(const struct kverbs *kv, const struct wait *wait)
{
	return !wait->nowake && kverbs_ring_may_not_wait(&kv->ring);
}

/* Also returns when there is nothing to wait for any more: the caller looks again. */
static int follow(struct kverbs *kv, const struct wait *wait, bool may_lead)
{
	struct waiter w = { .key = wait->key, .may_lead = may_lead };
	int ret;

	if (kverbs_deadline_passed(wait->deadline))
		return -ETIMEDOUT;
	if (is_over(kv, wait))
		return -EINTR;
	list_add_tail(&w.node, &kv->waiters);
	list_add_tail(&w.keyed, keyed(kv, wait->key));
	pthread_mutex_unlock(&kv->lock);
	ret = kverbs_sys_sleep(&w.woken, wait->deadline);
	pthread_mutex_lock(&kv->lock);
	list_del(&w.keyed);
	list_del(&w.node);
	return ret == -EINTR && !w.woken ? -EINTR : 0;
}

/* A waiter leaves its stack only with kv->lock, which the caller has. */
static void wake(struct waiter *w)
{
	if (w->woken)
		return;
	__atomic_store_n(&w->woken, 1, __ATOMIC_RELEASE);
	kverbs_sys_wake(&w->woken);
}

static struct waiter *first_heir(struct kverbs *kv)
{
	struct list_head *pos;
	struct waiter *w;

	for (pos = kv->waiters.next; pos != &kv->waiters; pos = pos->next) {
		w = list_entry(pos, struct waiter, node);
		if (w->may_lead)
			return w;
	}
	return NULL;
}

bool kverbs_wake_heir(struct kverbs *kv)
{
	struct waiter *w = first_heir(kv);

	if (w)
		wake(w);
	return w;
}

/*
 * The thread woken here leads or runs callbacks, or hands over in turn when it leaves. If no
 * thread waits, callbacks that are due are run here: another event may never come.
 */
static void hand_over(struct kverbs *kv)
{
	bool due = kverbs_done_due(kv);

	if (kv->led && !due)
		return;
	if (!kverbs_wake_heir(kv) && due)
		kverbs_done_run(kv, kverbs_at_once, NULL, 0);
}

/* SUBMIT stopped waiting, perhaps because an unsignalled operation freed a completion slot. */
void kverbs_room_found(struct kverbs *kv)
{
	if (!kv->room_wanted)
		return;
	__atomic_store_n(&kv->rooms, kv->rooms + 1, __ATOMIC_RELEASE);
	kverbs_wake(kv, kv);
}

/* A signal handler cannot wake the followers: the leader does, which SUBMIT sends back. */
static void pass_on_wakeup(struct kverbs *kv)
{
	struct list_head *pos;

	if (!kverbs_ring_may_not_wait(&kv->ring))
		return;
	for (pos = kv->waiters.next; pos != &kv->waiters; pos = pos->next)
		wake(list_entry(pos, struct waiter, node));
}

static int sleep_in_kernel(struct kverbs *kv, const struct wait *wait)
{
	int ret;

	kv->led = true;
	pthread_mutex_unlock(&kv->lock);
	ret = kverbs_ring_wait(&kv->ring, wait->deadline, NULL);
	if (!ret && wait->nowake && kverbs_ring_may_not_wait(&kv->ring))
		kverbs_sys_nap(NOWAKE_NAP_NS);
	pthread_mutex_lock(&kv->lock);
	kv->led = false;
	/* After kverbs_wakeup() that SUBMIT returns says nothing of slots. */
	if (!ret && !is_over(kv, wait))
		kverbs_room_found(kv);
	pass_on_wakeup(kv);
	return ret;
}

/* The kernel knows when it is late; a clock is read only if it brings nothing. */
static int reap(struct kverbs *kv, const struct wait *wait)
{
	int ret = 0;

	if (kverbs_reap(kv))
		return 0;
	/* A poll-only caller may be the only thread that ever polls the device. */
	if (wait->deadline == NOW)
		kverbs_ring_poll(&kv->ring);
	else
		ret = sleep_in_kernel(kv, wait);
	if (kverbs_reap(kv) || ret)
		return ret;
	if (is_over(kv, wait))
		return -EINTR;
	return kverbs_deadline_passed(wait->deadline) ? -ETIMEDOUT : 0;
}

static void run_due(struct kverbs *kv, kverbs_met_fn met, const void *arg,
		    uint64_t deadline)
{
	if (!kverbs_done_due(kv))
		return;
	/* Callbacks may be slow: another thread leads in the meantime. */
	if (!kv->led)
		kverbs_wake_heir(kv);
	kverbs_done_run(kv, met, arg, deadline);
}

bool kverbs_lead_begin(struct kverbs *kv)
{
	if (kv->led || kverbs_done_here(kv))
		return false;
	kv->led = true;
	return true;
}

void kverbs_lead_end(struct kverbs *kv)
{
	pthread_mutex_lock(&kv->lock);
	kv->led = false;
	if (!kverbs_ring_may_not_wait(&kv->ring))
		kverbs_room_found(kv);
	pass_on_wakeup(kv);
	kverbs_reap(kv);
	run_due(kv, kverbs_at_once, NULL, 0);
	hand_over(kv);
	pthread_mutex_unlock(&kv->lock);
}

static int wait_met(struct kverbs *kv, kverbs_met_fn met, const void *arg,
		    const struct wait *wait)
{
	uint64_t deadline = wait->deadline;
	bool again = false;
	int ret = 0;

	while (!ret && !met(kv, arg)) {
		/* Completions for others may come without end, so that it never sleeps. */
		if (again && kverbs_deadline_passed(deadline))
			ret = -ETIMEDOUT;
		else if (kverbs_done_due(kv))
			run_due(kv, met, arg, deadline);
		else if (kv->led || kverbs_done_is_offered(kv))
			ret = follow(kv, wait, true);
		else
			ret = reap(kv, wait);
		again = true;
	}
	if (kverbs_done_due(kv))
		run_due(kv, kverbs_at_once, NULL, 0);
	/* The last completion may have arrived together with the error. */
	if (ret && met(kv, arg))
		ret = 0;
	hand_over(kv);
	return ret;
}

int kverbs_wait_met(struct kverbs *kv, kverbs_met_fn met, const void *arg,
		    const void *key, uint64_t deadline)
{
	const struct wait wait = { .key = key, .deadline = deadline };

	return wait_met(kv, met, arg, &wait);
}

int kverbs_wait_met_nowake(struct kverbs *kv, kverbs_met_fn met, const void *arg,
			   const void *key)
{
	const struct wait wait = { .key = key, .nowake = true };

	return wait_met(kv, met, arg, &wait);
}

bool kverbs_at_once(struct kverbs *kv, const void *arg)
{
	(void)kv;
	(void)arg;
	return true;
}

int kverbs_wait_woken(struct kverbs *kv, const void *key, uint64_t deadline)
{
	const struct wait wait = { .key = key, .deadline = deadline };

	return follow(kv, &wait, false);
}

void kverbs_wait_woken_nowake(struct kverbs *kv, const void *key)
{
	const struct wait wait = { .key = key, .nowake = true };

	follow(kv, &wait, false);
}

int kverbs_wakeup(struct kverbs *kv)
{
	return kverbs_is_child(kv) ? -ECHILD : kverbs_ring_stop_waits(&kv->ring);
}

void kverbs_wakeup_clear(struct kverbs *kv)
{
	if (!kverbs_is_child(kv))
		kverbs_ring_permit_waits(&kv->ring);
}

void kverbs_wake(struct kverbs *kv, const void *key)
{
	struct list_head *pos, *list = keyed(kv, key);
	struct waiter *w;

	for (pos = list->next; pos != list; pos = pos->next) {
		w = list_entry(pos, struct waiter, keyed);
		if (w->key == key)
			wake(w);
	}
}
