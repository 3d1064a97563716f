// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Completion queues.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kverbs.h>

#include "fi_kverbs.h"

#define DEFAULT_SIZE 1024

static size_t entry_size(enum fi_cq_format format)
{
	switch (format) {
	case FI_CQ_FORMAT_CONTEXT:
		return sizeof(struct fi_cq_entry);
	case FI_CQ_FORMAT_MSG:
		return sizeof(struct fi_cq_msg_entry);
	case FI_CQ_FORMAT_TAGGED:
		return sizeof(struct fi_cq_tagged_entry);
	default:
		return sizeof(struct fi_cq_data_entry);
	}
}

/* Each format begins as the shorter ones do. */
static void write_entry(const struct kvf_op *op, void *entry, size_t size)
{
	const struct fi_cq_tagged_entry whole = {
		.op_context = op->context,
		.flags = op->flags,
		.len = op->len,
		.buf = op->flags & FI_RECV ? op->buf : NULL,
		.data = op->data,
	};

	memcpy(entry, &whole, size);
}

static struct kvf_op *first(const struct kvf_cq *cq)
{
	return list_empty(&cq->done) ? NULL : list_entry(cq->done.next, struct kvf_op, node);
}

static bool is_empty(const struct kvf_queue *q)
{
	return list_empty(&kvf_of(q, struct kvf_cq, queue)->done);
}

static ssize_t cq_read(struct fid_cq *fid, void *buf, size_t count)
{
	struct kvf_cq *cq = kvf_of(fid, struct kvf_cq, fid);
	struct kvf_fabric *fabric = cq->queue.fabric;
	size_t n = 0, size = entry_size(cq->format);
	struct kvf_op *op;
	bool error;

	pthread_mutex_lock(&fabric->lock);
	kvf_progress(fabric);
	while (n < count && (op = first(cq)) && !op->err) {
		list_del(&op->node);
		write_entry(op, (char *)buf + n++ * size, size);
		kvf_op_put(fabric, op);
	}
	op = first(cq);
	error = op && op->err;
	pthread_mutex_unlock(&fabric->lock);
	if (n)
		return (ssize_t)n;
	return error ? -FI_EAVAIL : -FI_EAGAIN;
}

static ssize_t cq_readfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr)
{
	ssize_t i, n = cq_read(fid, buf, count);

	for (i = 0; src_addr && i < n; i++)
		src_addr[i] = FI_ADDR_NOTAVAIL;
	return n;
}

static ssize_t cq_readerr(struct fid_cq *fid, struct fi_cq_err_entry *entry, uint64_t flags)
{
	struct kvf_cq *cq = kvf_of(fid, struct kvf_cq, fid);
	struct kvf_fabric *fabric = cq->queue.fabric;
	struct kvf_op *op;
	ssize_t ret = -FI_EAGAIN;

	pthread_mutex_lock(&fabric->lock);
	kvf_progress(fabric);
	op = first(cq);
	if (op && op->err) {
		list_del(&op->node);
		entry->op_context = op->context;
		entry->flags = op->flags;
		entry->len = op->len;
		entry->buf = op->buf;
		entry->data = op->data;
		entry->tag = 0;
		entry->olen = 0;
		entry->err = op->err;
		entry->prov_errno = op->prov_errno;
		/* The entry of older applications ends before. */
		if (FI_VERSION_GE(fabric->fid.api_version, FI_VERSION(1, 5)))
			entry->err_data_size = 0;
		kvf_op_put(fabric, op);
		ret = 1;
	}
	pthread_mutex_unlock(&fabric->lock);
	return ret;
}

/* fi_cq_signal() ends one wait. */
static bool was_signalled(struct kvf_cq *cq)
{
	bool signalled;

	pthread_mutex_lock(&cq->queue.fabric->lock);
	signalled = cq->signalled;
	cq->signalled = false;
	pthread_mutex_unlock(&cq->queue.fabric->lock);
	return signalled;
}

static ssize_t cq_sreadfrom(struct fid_cq *fid, void *buf, size_t count, fi_addr_t *src_addr,
			    const void *cond, int timeout)
{
	struct kvf_cq *cq = kvf_of(fid, struct kvf_cq, fid);
	uint64_t deadline = kvf_deadline(timeout);
	ssize_t ret;
	int slept;

	if (cq->queue.wait_obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	for (;;) {
		ret = cq_readfrom(fid, buf, count, src_addr);
		if (ret != -FI_EAGAIN)
			return ret;
		if (!kvf_queue_trywait(&cq->queue))
			continue;
		if (was_signalled(cq))
			return -FI_EAGAIN;
		slept = kvf_queue_sleep(&cq->queue, -1, deadline);
		if (slept)
			return slept;
	}
}

static ssize_t cq_sread(struct fid_cq *fid, void *buf, size_t count, const void *cond,
			int timeout)
{
	return cq_sreadfrom(fid, buf, count, NULL, cond, timeout);
}

static int cq_signal(struct fid_cq *fid)
{
	struct kvf_cq *cq = kvf_of(fid, struct kvf_cq, fid);

	if (cq->queue.wait_obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	pthread_mutex_lock(&cq->queue.fabric->lock);
	cq->signalled = true;
	kvf_queue_wake(&cq->queue);
	pthread_mutex_unlock(&cq->queue.fabric->lock);
	return 0;
}

static const char *describe(int prov_errno)
{
	return prov_errno < 0 ? fi_strerror(-prov_errno) : kverbs_wc_status_str(prov_errno);
}

static const char *cq_strerror(struct fid_cq *fid, int prov_errno, const void *err_data,
			       char *buf, size_t len)
{
	if (buf && len)
		snprintf(buf, len, "%s", describe(prov_errno));
	return describe(prov_errno);
}

static int cq_close(struct fid *fid)
{
	struct kvf_cq *cq = kvf_of(fid, struct kvf_cq, fid.fid);
	struct kvf_fabric *fabric = cq->queue.fabric;
	struct kvf_op *op;

	if (cq->users)
		return -FI_EBUSY;
	kvf_queue_close(&cq->queue);
	pthread_mutex_lock(&fabric->lock);
	while ((op = first(cq))) {
		list_del(&op->node);
		kvf_op_put(fabric, op);
	}
	pthread_mutex_unlock(&fabric->lock);
	kvf_put(fabric, &cq->domain->users);
	free(cq);
	return 0;
}

static int cq_control(struct fid *fid, int command, void *arg)
{
	struct kvf_cq *cq = kvf_of(fid, struct kvf_cq, fid.fid);

	return kvf_queue_getwait(&cq->queue, command, arg);
}

static struct fi_ops cq_fid_ops = {
	.size = sizeof(cq_fid_ops),
	.close = cq_close,
	.bind = kvf_no_bind,
	.control = cq_control,
	.ops_open = kvf_no_ops_open,
};

static struct fi_ops_cq cq_ops = {
	.size = sizeof(cq_ops),
	.read = cq_read,
	.readfrom = cq_readfrom,
	.readerr = cq_readerr,
	.sread = cq_sread,
	.sreadfrom = cq_sreadfrom,
	.signal = cq_signal,
	.strerror = cq_strerror,
};

int kvf_cq_open(struct fid_domain *domain_fid, struct fi_cq_attr *attr, struct fid_cq **fid,
		void *context)
{
	struct kvf_domain *domain = kvf_of(domain_fid, struct kvf_domain, fid);
	struct kvf_cq *cq;
	int ret;

	if (attr->format > FI_CQ_FORMAT_TAGGED)
		return -FI_ENOSYS;
	cq = calloc(1, sizeof(*cq));
	if (!cq)
		return -FI_ENOMEM;
	cq->queue.is_empty = is_empty;
	ret = kvf_queue_open(&cq->queue, domain->fabric, attr->size ? attr->size : DEFAULT_SIZE,
			     attr->wait_obj);
	if (ret) {
		free(cq);
		return ret;
	}
	list_init(&cq->done);
	cq->domain = domain;
	cq->format = attr->format ? attr->format : FI_CQ_FORMAT_CONTEXT;
	cq->fid.fid.fclass = FI_CLASS_CQ;
	cq->fid.fid.context = context;
	cq->fid.fid.ops = &cq_fid_ops;
	cq->fid.ops = &cq_ops;
	kvf_get(domain->fabric, &domain->users);
	*fid = &cq->fid;
	return 0;
}
