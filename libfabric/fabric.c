// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A fabric: an open file of /dev/kverbs.
 */
#include <stdlib.h>

#include "fi_kverbs.h"
#include "sys.h"

static int fabric_close(struct fid *fid)
{
	struct kvf_fabric *fabric = kvf_of(fid, struct kvf_fabric, fid.fid);
	struct kvf_op *op;

	if (fabric->users)
		return -FI_EBUSY;
	while (!list_empty(&fabric->connreqs))
		kvf_connreq_free(list_entry(fabric->connreqs.next, struct kvf_connreq, node));
	while (!list_empty(&fabric->free_ops)) {
		op = list_entry(fabric->free_ops.next, struct kvf_op, node);
		list_del(&op->node);
		free(op);
	}
	kvf_cache_close(fabric);
	kverbs_sys_close(fabric->fd);
	pthread_mutex_destroy(&fabric->lock);
	free(fabric);
	return 0;
}

static int no_wait_open(struct fid_fabric *fid, struct fi_wait_attr *attr,
			struct fid_wait **waitset)
{
	return -FI_ENOSYS;
}

static int no_domain2(struct fid_fabric *fid, struct fi_info *info, struct fid_domain **domain,
		      uint64_t flags, void *context)
{
	return flags ? -FI_ENOSYS : kvf_domain(fid, info, domain, context);
}

static struct fi_ops fabric_fid_ops = {
	.size = sizeof(fabric_fid_ops),
	.close = fabric_close,
	.bind = kvf_no_bind,
	.control = kvf_no_control,
	.ops_open = kvf_no_ops_open,
};

static struct fi_ops_fabric fabric_ops = {
	.size = sizeof(fabric_ops),
	.domain = kvf_domain,
	.passive_ep = kvf_passive_ep,
	.eq_open = kvf_eq_open,
	.wait_open = no_wait_open,
	.trywait = kvf_trywait,
	.domain2 = no_domain2,
};

void kvf_get(struct kvf_fabric *fabric, unsigned int *users)
{
	pthread_mutex_lock(&fabric->lock);
	++*users;
	pthread_mutex_unlock(&fabric->lock);
}

void kvf_put(struct kvf_fabric *fabric, unsigned int *users)
{
	pthread_mutex_lock(&fabric->lock);
	--*users;
	pthread_mutex_unlock(&fabric->lock);
}

int kvf_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fid, void *context)
{
	struct kvf_fabric *fabric;
	int ret;

	fabric = calloc(1, sizeof(*fabric));
	if (!fabric)
		return -FI_ENOMEM;
	ret = kvf_device_open(&fabric->limits);
	if (ret < 0) {
		free(fabric);
		return ret;
	}
	fabric->fd = ret;
	ret = kvf_cache_open(fabric);
	if (ret) {
		kverbs_sys_close(fabric->fd);
		free(fabric);
		return ret;
	}
	pthread_mutex_init(&fabric->lock, NULL);
	list_init(&fabric->rings);
	list_init(&fabric->queues);
	list_init(&fabric->peps);
	list_init(&fabric->connreqs);
	list_init(&fabric->free_ops);
	fabric->fid.fid.fclass = FI_CLASS_FABRIC;
	fabric->fid.fid.context = context;
	fabric->fid.fid.ops = &fabric_fid_ops;
	fabric->fid.ops = &fabric_ops;
	fabric->fid.api_version = attr->api_version;
	*fid = &fabric->fid;
	return 0;
}
