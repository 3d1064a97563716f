// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Active endpoints.
 */
#include <stdlib.h>
#include <string.h>

#include "fi_kverbs.h"

static struct kvf_ep *ep_of(fid_t fid)
{
	return kvf_of(fid, struct kvf_ep, fid.fid);
}

int kvf_ep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	size_t size = KVF_CM_DATA_SIZE;

	if (level != FI_OPT_ENDPOINT || optname != FI_OPT_CM_DATA_SIZE)
		return -FI_ENOPROTOOPT;
	if (*optlen < sizeof(size)) {
		*optlen = sizeof(size);
		return -FI_ETOOSMALL;
	}
	memcpy(optval, &size, sizeof(size));
	*optlen = sizeof(size);
	return 0;
}

/* Receives that were never submitted complete like those that are flushed. */
static void cancel_pending(struct kvf_ep *ep)
{
	struct kvf_op *op;

	while (!list_empty(&ep->pending)) {
		op = list_entry(ep->pending.next, struct kvf_op, node);
		list_del(&op->node);
		kvf_op_fail(op, 1, -FI_ECANCELED);
	}
}

/* After DESTROY all completions are in the ring, so none of them names the endpoint later. */
static void disconnect(struct kvf_ep *ep)
{
	struct kvf_fabric *fabric = kvf_ep_fabric(ep);

	if (ep->conn_id)
		kvf_conn_destroy(fabric->fd, ep->conn_id);
	pthread_mutex_lock(&fabric->lock);
	kvf_progress(fabric);
	cancel_pending(ep);
	if (ep->conn_id && ep->state != KVF_EP_REQUESTED)
		ep->ring->used -= KVF_CONN_EVENTS;
	if (ep->eq)
		kvf_eq_forget(ep->eq, &ep->fid.fid);
	kvf_dirs_free(ep);
	pthread_mutex_unlock(&fabric->lock);
}

static int ep_close(struct fid *fid)
{
	struct kvf_ep *ep = ep_of(fid);
	struct kvf_fabric *fabric = kvf_ep_fabric(ep);
	unsigned int i;

	disconnect(ep);
	if (ep->eq)
		kvf_put(fabric, &ep->eq->users);
	if (ep->tx_cq)
		kvf_put(fabric, &ep->tx_cq->users);
	if (ep->rx_cq)
		kvf_put(fabric, &ep->rx_cq->users);
	for (i = 0; i < KVF_COUNT_MAX; i++)
		if (ep->cntrs[i])
			kvf_put(fabric, &ep->cntrs[i]->users);
	if (ep->own_cq)
		fi_close(&ep->own_cq->fid);
	if (ep->early_eq)
		kvf_put(fabric, &ep->early_eq->users);
	kvf_put(fabric, &ep->domain->users);
	fi_freeinfo(ep->info);
	free(ep);
	return 0;
}

static int bind_eq(struct kvf_ep *ep, struct kvf_eq *eq)
{
	if (ep->eq || eq->queue.fabric != kvf_ep_fabric(ep))
		return -FI_EINVAL;
	ep->eq = eq;
	kvf_get(kvf_ep_fabric(ep), &eq->users);
	return 0;
}

static int bind_cq(struct kvf_ep *ep, struct kvf_cq *cq, uint64_t flags)
{
	if (!(flags & (FI_TRANSMIT | FI_RECV)) ||
	    flags & ~(FI_TRANSMIT | FI_RECV | FI_SELECTIVE_COMPLETION) ||
	    cq->domain != ep->domain || (flags & FI_TRANSMIT && ep->tx_cq) ||
	    (flags & FI_RECV && ep->rx_cq))
		return -FI_EINVAL;
	if (flags & FI_TRANSMIT) {
		ep->tx_cq = cq;
		ep->tx_selective = flags & FI_SELECTIVE_COMPLETION;
		kvf_get(kvf_ep_fabric(ep), &cq->users);
	}
	if (flags & FI_RECV) {
		ep->rx_cq = cq;
		ep->rx_selective = flags & FI_SELECTIVE_COMPLETION;
		kvf_get(kvf_ep_fabric(ep), &cq->users);
	}
	return 0;
}

/* Flags of a counter's binding, by enum kvf_counted. Nothing tells what peers READ and WRITE. */
static const uint64_t counted[KVF_COUNT_MAX] = { FI_SEND, FI_RECV, FI_READ, FI_WRITE };

static int bind_cntr(struct kvf_ep *ep, struct kvf_cntr *cntr, uint64_t flags)
{
	unsigned int i;

	if (flags & (FI_REMOTE_READ | FI_REMOTE_WRITE))
		return -FI_ENOSYS;
	if (!flags || flags & ~(FI_SEND | FI_RECV | FI_READ | FI_WRITE) ||
	    cntr->domain != ep->domain)
		return -FI_EINVAL;
	for (i = 0; i < KVF_COUNT_MAX; i++)
		if (flags & counted[i] && ep->cntrs[i])
			return -FI_EINVAL;
	for (i = 0; i < KVF_COUNT_MAX; i++)
		if (flags & counted[i]) {
			ep->cntrs[i] = cntr;
			kvf_get(kvf_ep_fabric(ep), &cntr->users);
		}
	return 0;
}

static int ep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct kvf_ep *ep = ep_of(fid);

	if (ep->is_enabled)
		return -FI_EINVAL;
	switch (bfid->fclass) {
	case FI_CLASS_EQ:
		return bind_eq(ep, kvf_of(bfid, struct kvf_eq, fid.fid));
	case FI_CLASS_CQ:
		return bind_cq(ep, kvf_of(bfid, struct kvf_cq, fid.fid), flags);
	case FI_CLASS_CNTR:
		return bind_cntr(ep, kvf_of(bfid, struct kvf_cntr, fid.fid), flags);
	default:
		return -FI_ENOSYS;
	}
}

/* Each direction that the endpoint is capable of needs a queue or a counter. */
static bool is_reported(const struct kvf_ep *ep)
{
	uint64_t caps = ep->info->caps ? ep->info->caps : KVF_CAPS;
	bool tx = ep->tx_cq, rx = ep->rx_cq || ep->cntrs[KVF_COUNT_RECV];

	tx |= ep->cntrs[KVF_COUNT_SEND] || ep->cntrs[KVF_COUNT_READ] ||
	      ep->cntrs[KVF_COUNT_WRITE];
	return (tx || !(caps & (FI_SEND | FI_READ | FI_WRITE))) && (rx || !(caps & FI_RECV));
}

/* The kernel reports to a ring, also if the application has no queue. */
static int open_own_cq(struct kvf_ep *ep)
{
	struct fi_cq_attr attr = {
		.size = ep->info->tx_attr->size + ep->info->rx_attr->size,
	};

	return kvf_cq_open(&ep->domain->fid, &attr, &ep->own_cq, NULL);
}

int kvf_ep_enable(struct kvf_ep *ep)
{
	struct kvf_cq *cq = ep->rx_cq ? ep->rx_cq : ep->tx_cq;
	int ret;

	if (ep->is_enabled)
		return 0;
	if (!ep->eq)
		return -FI_ENOEQ;
	if (!is_reported(ep))
		return -FI_ENOCQ;
	if (!cq) {
		ret = open_own_cq(ep);
		if (ret)
			return ret;
		cq = kvf_of(ep->own_cq, struct kvf_cq, fid);
	}
	ep->ring = &cq->queue.ring;
	ep->is_enabled = true;
	return 0;
}

/* The kernel takes no receive back, so only those can be cancelled that it does not have. */
static ssize_t ep_cancel(fid_t fid, void *context)
{
	struct kvf_ep *ep = ep_of(fid);
	struct list_head *at;
	ssize_t ret = -FI_ENOENT;
	struct kvf_op *op;

	pthread_mutex_lock(&kvf_ep_fabric(ep)->lock);
	for (at = ep->pending.next; at != &ep->pending; at = at->next) {
		op = list_entry(at, struct kvf_op, node);
		if (op->context != context)
			continue;
		list_del(&op->node);
		kvf_op_fail(op, 1, -FI_ECANCELED);
		ret = 0;
		break;
	}
	pthread_mutex_unlock(&kvf_ep_fabric(ep)->lock);
	return ret;
}

static uint64_t *op_flags(struct kvf_ep *ep, uint64_t which)
{
	if ((which & (FI_TRANSMIT | FI_RECV)) == FI_TRANSMIT)
		return &ep->tx_flags;
	if ((which & (FI_TRANSMIT | FI_RECV)) == FI_RECV)
		return &ep->rx_flags;
	return NULL;
}

static int ep_control(struct fid *fid, int command, void *arg)
{
	struct kvf_ep *ep = ep_of(fid);
	uint64_t *flags;

	switch (command) {
	case FI_ENABLE:
		return kvf_ep_enable(ep);
	case FI_GETOPSFLAG:
		flags = op_flags(ep, *(uint64_t *)arg);
		if (!flags)
			return -FI_EINVAL;
		*(uint64_t *)arg = *flags;
		return 0;
	case FI_SETOPSFLAG:
		flags = op_flags(ep, *(uint64_t *)arg);
		if (!flags)
			return -FI_EINVAL;
		*flags = *(uint64_t *)arg & ~(FI_TRANSMIT | FI_RECV);
		return 0;
	default:
		return -FI_ENOSYS;
	}
}

static struct fi_ops ep_fid_ops = {
	.size = sizeof(ep_fid_ops),
	.close = ep_close,
	.bind = ep_bind,
	.control = ep_control,
	.ops_open = kvf_no_ops_open,
};

static struct fi_ops_ep ep_ops = {
	.size = sizeof(ep_ops),
	.cancel = ep_cancel,
	.getopt = kvf_ep_getopt,
	.setopt = kvf_no_setopt,
	.tx_ctx = kvf_no_tx_ctx,
	.rx_ctx = kvf_no_rx_ctx,
	.rx_size_left = kvf_no_size_left,
	.tx_size_left = kvf_no_size_left,
};

/* Take the connection of a request. */
static int take_request(struct kvf_ep *ep, fid_t handle)
{
	struct kvf_connreq *req = kvf_of(handle, struct kvf_connreq, fid);
	struct kvf_fabric *fabric = kvf_ep_fabric(ep);

	if (handle->fclass != FI_CLASS_CONNREQ || req->fabric != fabric ||
	    req->device_index != ep->domain->device_index)
		return -FI_EINVAL;
	ep->conn_id = req->conn_id;
	ep->state = KVF_EP_REQUESTED;
	pthread_mutex_lock(&fabric->lock);
	list_del(&req->node);
	ep->early_eq = req->eq;
	if (ep->early_eq)
		ep->early_eq->users++;
	pthread_mutex_unlock(&fabric->lock);
	free(req);
	return 0;
}

static bool is_usable(const struct fi_info *info)
{
	return info->tx_attr && info->rx_attr && info->ep_attr &&
	       (info->ep_attr->type == FI_EP_MSG || info->ep_attr->type == FI_EP_UNSPEC) &&
	       info->ep_attr->rx_ctx_cnt != FI_SHARED_CONTEXT &&
	       info->ep_attr->tx_ctx_cnt != FI_SHARED_CONTEXT;
}

static int init_ep(struct kvf_ep *ep, struct fi_info *info)
{
	int ret = 0;

	ep->info = fi_dupinfo(info);
	if (!ep->info)
		return -FI_ENOMEM;
	if (!ep->info->tx_attr->size)
		ep->info->tx_attr->size = kvf_param.tx_size;
	if (!ep->info->rx_attr->size)
		ep->info->rx_attr->size = kvf_param.rx_size;
	ep->tx_flags = info->tx_attr->op_flags;
	ep->rx_flags = info->rx_attr->op_flags;
	if (info->handle)
		ret = take_request(ep, info->handle);
	if (ret)
		fi_freeinfo(ep->info);
	return ret;
}

int kvf_endpoint(struct fid_domain *domain_fid, struct fi_info *info, struct fid_ep **fid,
		 void *context)
{
	struct kvf_domain *domain = kvf_of(domain_fid, struct kvf_domain, fid);
	struct kvf_ep *ep;
	int ret;

	if (!is_usable(info))
		return -FI_EINVAL;
	ep = calloc(1, sizeof(*ep));
	if (!ep)
		return -FI_ENOMEM;
	ep->domain = domain;
	list_init(&ep->pending);
	list_init(&ep->dirs);
	ret = init_ep(ep, info);
	if (ret) {
		free(ep);
		return ret;
	}
	ep->fid.fid.fclass = FI_CLASS_EP;
	ep->fid.fid.context = context;
	ep->fid.fid.ops = &ep_fid_ops;
	ep->fid.ops = &ep_ops;
	ep->fid.cm = &kvf_ep_cm_ops;
	ep->fid.msg = &kvf_msg_ops;
	ep->fid.rma = &kvf_rma_ops;
	ep->fid.tagged = &kvf_no_tagged;
	ep->fid.atomic = &kvf_no_atomic;
	ep->fid.collective = &kvf_no_collective;
	kvf_get(domain->fabric, &domain->users);
	*fid = &ep->fid;
	return 0;
}
