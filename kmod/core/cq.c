// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Completion queues that cannot overflow. */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "cq.h"
#include "verbs.h"
#include "wait.h"
#include "workqueue.h"

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

static struct kverbs_cq_share *find_share(const struct kverbs_cq *cq,
					  const struct kverbs_cq_need *need)
{
	struct kverbs_cq_share *share;

	list_for_each_entry(share, &cq->shares, entry)
		if (share->srq == need->srq)
			return share;
	return NULL;
}

/* Receives of a shared queue that @cq has no room for yet. */
static unsigned int missing_recvs(const struct kverbs_cq *cq, const struct kverbs_cq_need *need)
{
	return need->srq && !find_share(cq, need) ? need->srq_depth : 0;
}

static bool suits(const struct kverbs_cq_set *set, const struct kverbs_cq *cq,
		  const struct ib_device *ib, const struct kverbs_cq_need *need)
{
	if (cq->ib->device != ib || (!set->direct && !(cq->work.func && find_share(cq, need))))
		return false;
	return cq->size - cq->used >= need->nr + missing_recvs(cq, need);
}

/*
 * The work of ib_alloc_cq() does the same, but cannot be waited for. The lock lets kverbs_cq_put()
 * wait for this one.
 */
static void poll_work(struct work_struct *work)
{
	struct kverbs_cq *cq = container_of(work, struct kverbs_cq, work);
	bool more = false;

	mutex_lock(&cq->poll_lock);
	if (!cq->closing)
		more = poll_cq(cq) >= PASS_SIZE ||
		       ib_req_notify_cq(cq->ib, IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0;
	mutex_unlock(&cq->poll_lock);
	if (more)
		queue_work(kverbs_cq_workqueue, work);
}

/* In interrupt context or not. */
static void queue_poll(struct ib_cq *ib, void *context)
{
	struct kverbs_cq *cq = context;

	queue_work(kverbs_cq_workqueue, &cq->work);
}

/* Spreads interrupts over the CPUs, like ib_alloc_cq_any(). */
static unsigned int next_vector(const struct ib_device *ib)
{
	static atomic_t last;

	if (ib->num_comp_vectors <= 1)
		return 0;
	return (unsigned int)atomic_inc_return(&last) %
	       min_t(unsigned int, ib->num_comp_vectors, num_online_cpus());
}

static int open_shared(struct kverbs_cq *cq, struct ib_device *ib, unsigned int size)
{
	INIT_WORK(&cq->work, poll_work);
	mutex_init(&cq->poll_lock);
	cq->ib = kverbs_ib_create_cq(ib, queue_poll, cq, size, next_vector(ib));
	if (IS_ERR(cq->ib))
		return PTR_ERR(cq->ib);
	ib_req_notify_cq(cq->ib, IB_CQ_NEXT_COMP);
	return 0;
}

/* An interrupt may queue the work until the queue is destroyed. */
static void close_shared(struct kverbs_cq *cq)
{
	mutex_lock(&cq->poll_lock);
	cq->closing = true;
	mutex_unlock(&cq->poll_lock);
	ib_destroy_cq(cq->ib);
	cancel_work_sync(&cq->work);
	mutex_destroy(&cq->poll_lock);
}

static int open_cq(struct kverbs_cq_set *set, struct kverbs_cq *cq, struct ib_device *ib,
		   const struct kverbs_cq_need *need)
{
	if (need->srq && !set->direct && kverbs_cq_set_shares(set))
		return open_shared(cq, ib, cq->size);
	cq->ib = kverbs_ib_alloc_cq(ib, cq, cq->size, set->context);
	return PTR_ERR_OR_ZERO(cq->ib);
}

static void close_cq(struct kverbs_cq *cq)
{
	if (cq->work.func)
		close_shared(cq);
	else
		ib_free_cq(cq->ib);
}

/*
 * One that only connections of a shared receive queue use has as much room again for the
 * connections as it has for all receives, or for one connection if that needs more.
 */
static unsigned int best_size(const struct kverbs_cq_set *set, const struct kverbs_cq_need *need)
{
	unsigned int nr = need->nr + need->srq_depth;

	if (set->direct)
		return max(nr, SHARED_SIZE);
	return kverbs_cq_set_shares(set) ? max(nr, 2 * need->srq_depth) : nr;
}

static struct kverbs_cq *new_cq(struct kverbs_cq_set *set, struct ib_device *ib,
				const struct kverbs_cq_need *need)
{
	unsigned int size = min_t(unsigned int, best_size(set, need), ib->attrs.max_cqe);
	struct kverbs_cq *cq;
	int ret;

	if (need->nr + need->srq_depth > size)
		return ERR_PTR(-EINVAL);
	cq = kzalloc_node(sizeof(*cq), GFP_KERNEL_ACCOUNT, ibdev_to_node(ib));
	if (!cq)
		return ERR_PTR(-ENOMEM);
	cq->size = size;
	INIT_LIST_HEAD(&cq->shares);
	ret = open_cq(set, cq, ib, need);
	if (ret) {
		kfree(cq);
		return ERR_PTR(ret);
	}
	list_add(&cq->entry, &set->cqs);
	return cq;
}

static void free_if_unused(struct kverbs_cq *cq)
{
	if (cq->users)
		return;
	list_del(&cq->entry);
	close_cq(cq);
	kfree(cq);
}

static int promise(struct kverbs_cq *cq, const struct kverbs_cq_need *need)
{
	struct kverbs_cq_share *share = need->srq ? find_share(cq, need) : NULL;

	if (need->srq && !share) {
		share = kzalloc(sizeof(*share), GFP_KERNEL_ACCOUNT);
		if (!share)
			return -ENOMEM;
		share->srq = need->srq;
		list_add(&share->entry, &cq->shares);
		cq->used += need->srq_depth;
	}
	if (share)
		share->users++;
	cq->used += need->nr;
	cq->users++;
	return 0;
}

static void take_promise_back(struct kverbs_cq *cq, const struct kverbs_cq_need *need)
{
	struct kverbs_cq_share *share = need->srq ? find_share(cq, need) : NULL;

	if (share && !--share->users) {
		cq->used -= need->srq_depth;
		list_del(&share->entry);
		kfree(share);
	}
	cq->used -= need->nr;
	cq->users--;
}

static struct kverbs_cq *choose(struct kverbs_cq_set *set, struct ib_device *ib,
				const struct kverbs_cq_need *need)
{
	struct kverbs_cq *cq;

	list_for_each_entry(cq, &set->cqs, entry)
		if (suits(set, cq, ib, need))
			return cq;
	return new_cq(set, ib, need);
}

/**
 * kverbs_cq_get() - reserve completions of a queue
 * @set: the set, which gets another queue, unless one that can be shared has room
 * @ib: the device; the caller is its tenant
 * @need: the completions that may be outstanding; at least one of its own
 *
 * Context: process, may sleep.
 * Return: the queue or an ERR_PTR: -EINVAL if the device has no such queue,
 * -ENOMEM, or the error of the device.
 */
struct kverbs_cq *kverbs_cq_get(struct kverbs_cq_set *set, struct ib_device *ib,
				const struct kverbs_cq_need *need)
{
	struct kverbs_cq *cq;
	int ret;

	mutex_lock(&set->lock);
	cq = choose(set, ib, need);
	if (IS_ERR(cq))
		goto out_unlock;
	ret = promise(cq, need);
	if (ret) {
		free_if_unused(cq);
		cq = ERR_PTR(ret);
	}
out_unlock:
	mutex_unlock(&set->lock);
	return cq;
}

/* Handles what is there; other connections may add to it all the time. */
static void poll_all(struct kverbs_cq *cq)
{
	unsigned int nr = 0;
	int batch;

	do {
		batch = max(poll_batch(cq), 0);
		nr += batch;
	} while (batch == KVERBS_CQ_BATCH && nr < cq->size);
}

static void empty(struct kverbs_cq_set *set, struct kverbs_cq *cq)
{
	if (set->direct) {
		ib_process_cq_direct(cq->ib, cq->size);
	} else if (cq->work.func) {
		mutex_lock(&cq->poll_lock);
		poll_all(cq);
		mutex_unlock(&cq->poll_lock);
	}
}

/**
 * kverbs_cq_put() - give reserved completions back
 * @set: the set
 * @cq: from kverbs_cq_get()
 * @need: as given to kverbs_cq_get()
 *
 * After this no completion of the caller's queue pair, which is destroyed, is being handled
 * or will be: a queue that is shared is emptied, and any other belongs to one connection and is
 * freed, as ib_free_cq() waits for the handlers.
 *
 * Context: process, may sleep; not from a completion handler.
 */
void kverbs_cq_put(struct kverbs_cq_set *set, struct kverbs_cq *cq,
		   const struct kverbs_cq_need *need)
{
	mutex_lock(&set->lock);
	empty(set, cq);
	take_promise_back(cq, need);
	free_if_unused(cq);
	mutex_unlock(&set->lock);
}
