// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues that cannot overflow. */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "cq.h"
#include "verbs.h"
#include "wait.h"

/* Completions that a direct queue has room for, so that a few connections can share it. */
#define SHARED_SIZE	2048U
/* Completions that kverbs_cq_set_poll() takes of one queue before it polls the next. */
#define PASS_SIZE	64

/**
 * kverbs_cq_set_init() - make an empty set
 * @set: the set
 * @context: where completions are handled; IB_POLL_DIRECT: in tasks that poll
 */
void kverbs_cq_set_init(struct kverbs_cq_set *set, enum ib_poll_context context)
{
	mutex_init(&set->lock);
	INIT_LIST_HEAD(&set->cqs);
	kverbs_cq_set_choose(set, context);
}

/**
 * kverbs_cq_set_choose() - change where the completions of an empty set are handled
 * @set: the set
 * @context: as for kverbs_cq_set_init()
 */
void kverbs_cq_set_choose(struct kverbs_cq_set *set, enum ib_poll_context context)
{
	set->context = context;
	set->direct = context == IB_POLL_DIRECT;
}

/**
 * kverbs_cq_set_exit() - end a set that is empty again
 * @set: the set
 */
void kverbs_cq_set_exit(struct kverbs_cq_set *set)
{
	mutex_destroy(&set->lock);
}

/*
 * Like ib_process_cq_direct(), which however has 512 bytes of work completions on its stack:
 * hardened kernels clear them with every poll, whether or not there is a completion.
 */
static int poll_batch(struct kverbs_cq *cq)
{
	int i, nr = ib_poll_cq(cq->ib, KVERBS_CQ_BATCH, cq->wcs);

	for (i = 0; i < nr; i++)
		if (cq->wcs[i].wr_cqe)
			cq->wcs[i].wr_cqe->done(cq->ib, &cq->wcs[i]);
	return nr;
}

static unsigned int poll_cq(struct kverbs_cq *cq)
{
	unsigned int nr = 0;
	int batch;

	do {
		batch = max(poll_batch(cq), 0);
		nr += batch;
	} while (batch == KVERBS_CQ_BATCH && nr < PASS_SIZE);
	return nr;
}

/**
 * kverbs_cq_set_poll() - handle completions of a direct set
 * @set: the set
 *
 * Does nothing while another task polls: the next call handles what that task left.
 *
 * Context: process, may sleep; not from a completion handler.
 * Return: how many completions it has handled.
 */
unsigned int kverbs_cq_set_poll(struct kverbs_cq_set *set)
{
	struct kverbs_cq *cq;
	unsigned int nr = 0;

	if (!mutex_trylock(&set->lock))
		return 0;
	list_for_each_entry(cq, &set->cqs, entry)
		nr += poll_cq(cq);
	mutex_unlock(&set->lock);
	return nr;
}

/**
 * kverbs_cq_set_poll_all() - handle all completions that are there when this begins
 * @set: a direct set
 *
 * Unlike kverbs_cq_set_poll() it waits for a task that polls, so that the caller may
 * conclude that a completion has not arrived.
 *
 * Context: process, may sleep; not from a completion handler.
 */
void kverbs_cq_set_poll_all(struct kverbs_cq_set *set)
{
	struct kverbs_cq *cq;

	mutex_lock(&set->lock);
	list_for_each_entry(cq, &set->cqs, entry)
		ib_process_cq_direct(cq->ib, cq->size);
	mutex_unlock(&set->lock);
}

/**
 * kverbs_cq_has_passed() - whether a deadline has passed
 * @deadline_ns: ktime_get_ns() of the deadline, 0: never
 *
 * ktime_get_ns() can take longer than a poll of the queues, so it is called only when
 * ktime_get_coarse_ns() is near the deadline.
 *
 * Return: true if it has.
 */
bool kverbs_cq_has_passed(u64 deadline_ns)
{
	if (!deadline_ns || ktime_get_coarse_ns() + TICK_NSEC < deadline_ns)
		return false;
	return ktime_get_ns() >= deadline_ns;
}

/**
 * kverbs_cq_set_await() - wait within the kernel
 * @set: polled in that time, if it is direct, since user space cannot poll it
 * @check: what is waited for; set or woken by completions
 * @arg: for @check
 * @timeout: jiffies
 *
 * The caller's own time is spent for that, and it wakes often rather than sleep until woken.
 *
 * Context: process, may sleep and be killed; the set is direct.
 * Return: 0, -ETIME or -EINTR.
 */
int kverbs_cq_set_await(struct kverbs_cq_set *set, bool (*check)(void *arg), void *arg,
			unsigned long timeout)
{
	unsigned long end = jiffies + timeout;

	for (;;) {
		kverbs_cq_set_poll(set);
		if (check(arg))
			return 0;
		if (fatal_signal_pending(current))
			return -EINTR;
		if (time_after(jiffies, end))
			return -ETIME;
		kverbs_wait_us(10);
	}
}

static struct kverbs_cq *new_cq(struct kverbs_cq_set *set, struct ib_device *ib,
				unsigned int nr)
{
	unsigned int want = set->direct ? max(nr, SHARED_SIZE) : nr;
	unsigned int size = min_t(unsigned int, want, ib->attrs.max_cqe);
	struct kverbs_cq *cq;
	int ret;

	if (nr > size)
		return ERR_PTR(-EINVAL);
	cq = kzalloc_node(sizeof(*cq), GFP_KERNEL_ACCOUNT, ibdev_to_node(ib));
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->ib = kverbs_ib_alloc_cq(ib, cq, size, set->context);
	if (IS_ERR(cq->ib)) {
		ret = PTR_ERR(cq->ib);
		kfree(cq);
		return ERR_PTR(ret);
	}
	cq->size = size;
	return cq;
}

/**
 * kverbs_cq_get() - reserve completions of a queue
 * @set: the set, which gets another queue, unless it is direct and one has room
 * @ib: the device; the caller is its tenant
 * @nr: how many completions may be outstanding
 *
 * Context: process, may sleep.
 * Return: the queue or an ERR_PTR: -EINVAL if the device has no such queue,
 * -ENOMEM, or the error of the device.
 */
struct kverbs_cq *kverbs_cq_get(struct kverbs_cq_set *set, struct ib_device *ib,
				unsigned int nr)
{
	struct kverbs_cq *cq;

	mutex_lock(&set->lock);
	list_for_each_entry(cq, &set->cqs, entry)
		if (set->direct && cq->ib->device == ib && cq->size - cq->used >= nr)
			goto out_promise;
	cq = new_cq(set, ib, nr);
	if (IS_ERR(cq))
		goto out_unlock;
	list_add(&cq->entry, &set->cqs);
out_promise:
	cq->used += nr;
out_unlock:
	mutex_unlock(&set->lock);
	return cq;
}

/**
 * kverbs_cq_put() - give reserved completions back
 * @set: the set
 * @cq: from kverbs_cq_get()
 * @nr: as given to kverbs_cq_get()
 *
 * After this no completion of the caller's queue pair, which is destroyed, is being handled
 * or will be: a direct queue is emptied, and any other belongs to one connection and is
 * freed, as ib_free_cq() waits for the handlers.
 *
 * Context: process, may sleep; not from a completion handler.
 */
void kverbs_cq_put(struct kverbs_cq_set *set, struct kverbs_cq *cq, unsigned int nr)
{
	mutex_lock(&set->lock);
	if (set->direct)
		ib_process_cq_direct(cq->ib, cq->size);
	cq->used -= nr;
	if (!cq->used) {
		list_del(&cq->entry);
		ib_free_cq(cq->ib);
		kfree(cq);
	}
	mutex_unlock(&set->lock);
}
