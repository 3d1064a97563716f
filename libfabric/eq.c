// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Event queues.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fi_kverbs.h"

#define RING_SIZE 1024

static struct kvf_event *first(const struct kvf_eq *eq)
{
	if (list_empty(&eq->events))
		return NULL;
	return list_entry(eq->events.next, struct kvf_event, node);
}

static bool is_empty(const struct kvf_queue *q)
{
	return list_empty(&kvf_of(q, struct kvf_eq, queue)->events);
}

/* An info that was not handed over is freed here. */
static void drop(struct kvf_event *event)
{
	list_del(&event->node);
	if (event->info)
		fi_freeinfo(event->info);
	free(event);
}

struct kvf_event *kvf_eq_add(struct kvf_eq *eq, uint32_t type, fid_t fid, int err)
{
	struct kvf_event *event;

	event = calloc(1, sizeof(*event));
	if (!event) {
		kvf_warn(EQ, "no memory for an event\n");
		return NULL;
	}
	event->type = type;
	event->fid = fid;
	event->err = err;
	kvf_queue_add(&eq->queue, &event->node, &eq->events);
	return event;
}

void kvf_eq_forget(struct kvf_eq *eq, fid_t fid)
{
	struct list_head *at, *next;
	struct kvf_event *event;

	for (at = eq->events.next; at != &eq->events; at = next) {
		next = at->next;
		event = list_entry(at, struct kvf_event, node);
		if (event->fid == fid)
			drop(event);
	}
}

/* Returns the bytes written, or -FI_ETOOSMALL if not even the fixed part fits. */
static ssize_t write_event(const struct kvf_event *event, void *buf, size_t len)
{
	const struct fi_eq_cm_entry entry = { .fid = event->fid, .info = event->info };
	size_t data = event->len;

	if (event->written) {
		if (len < event->len)
			return -FI_ETOOSMALL;
		memcpy(buf, event->data, event->len);
		return (ssize_t)event->len;
	}
	if (len < sizeof(entry))
		return -FI_ETOOSMALL;
	if (data > len - sizeof(entry))
		data = len - sizeof(entry);
	memcpy(buf, &entry, sizeof(entry));
	memcpy((char *)buf + sizeof(entry), event->data, data);
	return (ssize_t)(sizeof(entry) + data);
}

static ssize_t eq_read(struct fid_eq *fid, uint32_t *type, void *buf, size_t len, uint64_t flags)
{
	struct kvf_eq *eq = kvf_of(fid, struct kvf_eq, fid);
	struct kvf_fabric *fabric = eq->queue.fabric;
	struct kvf_event *event;
	ssize_t ret = -FI_EAGAIN;

	pthread_mutex_lock(&fabric->lock);
	kvf_progress(fabric);
	event = first(eq);
	if (event && event->err) {
		ret = -FI_EAVAIL;
	} else if (event) {
		ret = write_event(event, buf, len);
		*type = event->type;
		if (ret >= 0 && !(flags & FI_PEEK)) {
			event->info = NULL;
			drop(event);
		}
	}
	pthread_mutex_unlock(&fabric->lock);
	return ret;
}

/* The data of the error stay in the queue until the next one is read. */
static void write_error(struct kvf_eq *eq, const struct kvf_event *event,
			struct fi_eq_err_entry *entry)
{
	bool is_old = FI_VERSION_LT(eq->queue.fabric->fid.api_version, FI_VERSION(1, 5));
	/* Older applications do not set what was an output then. */
	size_t room = is_old ? 0 : entry->err_data_size;

	entry->fid = event->fid;
	entry->context = event->fid ? event->fid->context : NULL;
	entry->data = 0;
	entry->err = event->err;
	entry->prov_errno = event->err;
	entry->err_data_size = event->len;
	if (room && entry->err_data) {
		entry->err_data_size = event->len < room ? event->len : room;
		memcpy(entry->err_data, event->data, entry->err_data_size);
		return;
	}
	memcpy(eq->err_data, event->data, event->len);
	entry->err_data = event->len ? eq->err_data : NULL;
}

static ssize_t eq_readerr(struct fid_eq *fid, struct fi_eq_err_entry *entry, uint64_t flags)
{
	struct kvf_eq *eq = kvf_of(fid, struct kvf_eq, fid);
	struct kvf_fabric *fabric = eq->queue.fabric;
	struct kvf_event *event;
	ssize_t ret = -FI_EAGAIN;

	pthread_mutex_lock(&fabric->lock);
	kvf_progress(fabric);
	event = first(eq);
	if (event && event->err) {
		write_error(eq, event, entry);
		if (!(flags & FI_PEEK))
			drop(event);
		ret = sizeof(*entry);
	}
	pthread_mutex_unlock(&fabric->lock);
	return ret;
}

static ssize_t eq_write(struct fid_eq *fid, uint32_t type, const void *buf, size_t len,
			uint64_t flags)
{
	struct kvf_eq *eq = kvf_of(fid, struct kvf_eq, fid);
	struct kvf_event *event;
	ssize_t ret = -FI_ENOMEM;

	if (flags || len > sizeof(event->data))
		return -FI_EINVAL;
	pthread_mutex_lock(&eq->queue.fabric->lock);
	event = kvf_eq_add(eq, type, NULL, 0);
	if (event) {
		event->written = true;
		event->len = len;
		memcpy(event->data, buf, len);
		ret = (ssize_t)len;
	}
	pthread_mutex_unlock(&eq->queue.fabric->lock);
	return ret;
}

static ssize_t eq_sread(struct fid_eq *fid, uint32_t *type, void *buf, size_t len, int timeout,
			uint64_t flags)
{
	struct kvf_eq *eq = kvf_of(fid, struct kvf_eq, fid);
	uint64_t deadline = kvf_deadline(timeout);
	ssize_t ret;
	int slept;

	if (eq->queue.wait_obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	for (;;) {
		ret = eq_read(fid, type, buf, len, flags);
		if (ret != -FI_EAGAIN)
			return ret;
		if (!kvf_queue_trywait(&eq->queue))
			continue;
		slept = kvf_queue_sleep(&eq->queue, -1, deadline);
		if (slept)
			return slept;
	}
}

static const char *eq_strerror(struct fid_eq *fid, int prov_errno, const void *err_data,
			       char *buf, size_t len)
{
	const char *text = fi_strerror(prov_errno < 0 ? -prov_errno : prov_errno);

	if (buf && len)
		snprintf(buf, len, "%s", text);
	return text;
}

/* Requests outlive their listener and its queue. */
static void forget_requests(struct kvf_eq *eq)
{
	struct kvf_fabric *fabric = eq->queue.fabric;
	struct kvf_connreq *req;
	struct list_head *at;

	pthread_mutex_lock(&fabric->lock);
	for (at = fabric->connreqs.next; at != &fabric->connreqs; at = at->next) {
		req = list_entry(at, struct kvf_connreq, node);
		if (req->eq == eq)
			req->eq = NULL;
	}
	pthread_mutex_unlock(&fabric->lock);
}

static int eq_close(struct fid *fid)
{
	struct kvf_eq *eq = kvf_of(fid, struct kvf_eq, fid.fid);
	struct kvf_fabric *fabric = eq->queue.fabric;

	if (eq->users)
		return -FI_EBUSY;
	forget_requests(eq);
	kvf_queue_close(&eq->queue);
	while (!list_empty(&eq->events))
		drop(first(eq));
	kvf_put(fabric, &fabric->users);
	free(eq);
	return 0;
}

static int eq_control(struct fid *fid, int command, void *arg)
{
	struct kvf_eq *eq = kvf_of(fid, struct kvf_eq, fid.fid);

	return kvf_queue_getwait(&eq->queue, command, arg);
}

static struct fi_ops eq_fid_ops = {
	.size = sizeof(eq_fid_ops),
	.close = eq_close,
	.bind = kvf_no_bind,
	.control = eq_control,
	.ops_open = kvf_no_ops_open,
};

static struct fi_ops_eq eq_ops = {
	.size = sizeof(eq_ops),
	.read = eq_read,
	.readerr = eq_readerr,
	.write = eq_write,
	.sread = eq_sread,
	.strerror = eq_strerror,
};

int kvf_eq_open(struct fid_fabric *fabric_fid, struct fi_eq_attr *attr, struct fid_eq **fid,
		void *context)
{
	struct kvf_fabric *fabric = kvf_of(fabric_fid, struct kvf_fabric, fid);
	struct kvf_eq *eq;
	int ret;

	eq = calloc(1, sizeof(*eq));
	if (!eq)
		return -FI_ENOMEM;
	eq->queue.is_empty = is_empty;
	ret = kvf_queue_open(&eq->queue, fabric, RING_SIZE, attr->wait_obj);
	if (ret) {
		free(eq);
		return ret;
	}
	list_init(&eq->events);
	eq->fid.fid.fclass = FI_CLASS_EQ;
	eq->fid.fid.context = context;
	eq->fid.fid.ops = &eq_fid_ops;
	eq->fid.ops = &eq_ops;
	kvf_get(fabric, &fabric->users);
	*fid = &eq->fid;
	return 0;
}

/* Queue behind an object that can be slept on; NULL: no such object. */
static struct kvf_queue *queue_of(struct fid *fid)
{
	switch (fid->fclass) {
	case FI_CLASS_CQ:
		return &kvf_of(fid, struct kvf_cq, fid.fid)->queue;
	case FI_CLASS_EQ:
		return &kvf_of(fid, struct kvf_eq, fid.fid)->queue;
	case FI_CLASS_CNTR:
		return &kvf_of(fid, struct kvf_cntr, fid.fid)->queue;
	default:
		return NULL;
	}
}

int kvf_trywait(struct fid_fabric *fabric, struct fid **fids, int count)
{
	struct kvf_queue *q;
	int i;

	for (i = 0; i < count; i++) {
		q = queue_of(fids[i]);
		if (!q)
			return -FI_ENOSYS;
		if (q->wait_obj == FI_WAIT_NONE)
			return -FI_EINVAL;
		if (!kvf_queue_trywait(q))
			return -FI_EAGAIN;
	}
	return 0;
}
