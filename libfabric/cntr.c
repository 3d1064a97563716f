// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters: of operations that have completed, also of those that no queue reports.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fi_kverbs.h"

static struct kvf_cntr *cntr_of(struct fid_cntr *fid)
{
	return kvf_of(fid, struct kvf_cntr, fid);
}

static bool is_empty(const struct kvf_queue *q)
{
	return !kvf_of(q, struct kvf_cntr, queue)->changed;
}

/* A thread in fi_cntr_wait(): one that wakes first must not keep others from seeing the change. */
struct waiter {
	struct list_head node;
	int fd;
};

static void wake(struct kvf_cntr *cntr)
{
	struct list_head *at;

	cntr->changed = true;
	kvf_queue_wake(&cntr->queue);
	for (at = cntr->waiters.next; at != &cntr->waiters; at = at->next)
		eventfd_write(list_entry(at, struct waiter, node)->fd, 1);
}

void kvf_cntr_count(struct kvf_cntr *cntr, bool succeeded)
{
	if (succeeded)
		cntr->value++;
	else
		cntr->errors++;
	wake(cntr);
}

static uint64_t look(struct kvf_cntr *cntr, const uint64_t *at)
{
	struct kvf_fabric *fabric = cntr->queue.fabric;
	uint64_t value;

	pthread_mutex_lock(&fabric->lock);
	kvf_progress(fabric);
	value = *at;
	cntr->changed = false;
	pthread_mutex_unlock(&fabric->lock);
	return value;
}

static uint64_t cntr_read(struct fid_cntr *fid)
{
	return look(cntr_of(fid), &cntr_of(fid)->value);
}

static uint64_t cntr_readerr(struct fid_cntr *fid)
{
	return look(cntr_of(fid), &cntr_of(fid)->errors);
}

static int set(struct kvf_cntr *cntr, uint64_t *at, bool is_sum, uint64_t value)
{
	pthread_mutex_lock(&cntr->queue.fabric->lock);
	*at = is_sum ? *at + value : value;
	wake(cntr);
	pthread_mutex_unlock(&cntr->queue.fabric->lock);
	return 0;
}

static int cntr_add(struct fid_cntr *fid, uint64_t value)
{
	return set(cntr_of(fid), &cntr_of(fid)->value, true, value);
}

static int cntr_adderr(struct fid_cntr *fid, uint64_t value)
{
	return set(cntr_of(fid), &cntr_of(fid)->errors, true, value);
}

static int cntr_set(struct fid_cntr *fid, uint64_t value)
{
	return set(cntr_of(fid), &cntr_of(fid)->value, false, value);
}

static int cntr_seterr(struct fid_cntr *fid, uint64_t value)
{
	return set(cntr_of(fid), &cntr_of(fid)->errors, false, value);
}

/* 0: the threshold is reached; -FI_EAVAIL: an operation has failed; -FI_EAGAIN: neither. */
static int check(struct kvf_cntr *cntr, uint64_t threshold, uint64_t errors)
{
	int ret = -FI_EAGAIN;

	pthread_mutex_lock(&cntr->queue.fabric->lock);
	cntr->changed = false;
	if (cntr->value >= threshold)
		ret = 0;
	else if (cntr->errors != errors)
		ret = -FI_EAVAIL;
	pthread_mutex_unlock(&cntr->queue.fabric->lock);
	return ret;
}

static uint64_t add_waiter(struct kvf_cntr *cntr, struct waiter *waiter)
{
	uint64_t errors;

	pthread_mutex_lock(&cntr->queue.fabric->lock);
	list_add_tail(&waiter->node, &cntr->waiters);
	errors = cntr->errors;
	pthread_mutex_unlock(&cntr->queue.fabric->lock);
	return errors;
}

static void remove_waiter(struct kvf_cntr *cntr, struct waiter *waiter)
{
	pthread_mutex_lock(&cntr->queue.fabric->lock);
	list_del(&waiter->node);
	pthread_mutex_unlock(&cntr->queue.fabric->lock);
	close(waiter->fd);
}

static int cntr_wait(struct fid_cntr *fid, uint64_t threshold, int timeout)
{
	struct kvf_cntr *cntr = cntr_of(fid);
	uint64_t errors, deadline = kvf_deadline(timeout);
	struct waiter waiter;
	eventfd_t count;
	int ret, slept;

	if (cntr->queue.wait_obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	waiter.fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (waiter.fd < 0)
		return -errno;
	errors = add_waiter(cntr, &waiter);
	do {
		eventfd_read(waiter.fd, &count);
		kvf_queue_trywait(&cntr->queue);
		ret = check(cntr, threshold, errors);
		slept = ret == -FI_EAGAIN ? kvf_queue_sleep(&cntr->queue, waiter.fd, deadline) : 0;
	} while (ret == -FI_EAGAIN && !slept);
	remove_waiter(cntr, &waiter);
	if (slept)
		return slept == -FI_EAGAIN ? -FI_ETIMEDOUT : slept;
	return ret;
}

static int cntr_close(struct fid *fid)
{
	struct kvf_cntr *cntr = kvf_of(fid, struct kvf_cntr, fid.fid);

	if (cntr->users)
		return -FI_EBUSY;
	kvf_queue_close(&cntr->queue);
	kvf_put(cntr->queue.fabric, &cntr->domain->users);
	free(cntr);
	return 0;
}

static int cntr_control(struct fid *fid, int command, void *arg)
{
	struct kvf_cntr *cntr = kvf_of(fid, struct kvf_cntr, fid.fid);

	return kvf_queue_getwait(&cntr->queue, command, arg);
}

static struct fi_ops cntr_fid_ops = {
	.size = sizeof(cntr_fid_ops),
	.close = cntr_close,
	.bind = kvf_no_bind,
	.control = cntr_control,
	.ops_open = kvf_no_ops_open,
};

static struct fi_ops_cntr cntr_ops = {
	.size = sizeof(cntr_ops),
	.read = cntr_read,
	.readerr = cntr_readerr,
	.add = cntr_add,
	.set = cntr_set,
	.wait = cntr_wait,
	.adderr = cntr_adderr,
	.seterr = cntr_seterr,
};

int kvf_cntr_open(struct fid_domain *domain_fid, struct fi_cntr_attr *attr, struct fid_cntr **fid,
		  void *context)
{
	struct kvf_domain *domain = kvf_of(domain_fid, struct kvf_domain, fid);
	struct kvf_cntr *cntr;
	int ret;

	if (attr && attr->events != FI_CNTR_EVENTS_COMP)
		return -FI_ENOSYS;
	cntr = calloc(1, sizeof(*cntr));
	if (!cntr)
		return -FI_ENOMEM;
	cntr->queue.is_empty = is_empty;
	ret = kvf_queue_open(&cntr->queue, domain->fabric, 0,
			     attr ? attr->wait_obj : FI_WAIT_UNSPEC);
	if (ret) {
		free(cntr);
		return ret;
	}
	list_init(&cntr->waiters);
	cntr->domain = domain;
	cntr->fid.fid.fclass = FI_CLASS_CNTR;
	cntr->fid.fid.context = context;
	cntr->fid.fid.ops = &cntr_fid_ops;
	cntr->fid.ops = &cntr_ops;
	kvf_get(domain->fabric, &domain->users);
	*fid = &cntr->fid;
	return 0;
}
