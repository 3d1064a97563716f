// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Connections of endpoints: made, accepted, ended. The wire is that of the verbs provider:
 * private data begin with one byte that has their length, because the CM pads them.
 */
#include <stdlib.h>
#include <string.h>

#include "fi_kverbs.h"
#include "sys.h"

/* The kernel's least interval */
#define KEEPALIVE_MIN_MS 10

size_t kvf_priv_pack(uint8_t wire[KVF_CM_DATA_SIZE + 1], const void *param, size_t len)
{
	wire[0] = (uint8_t)len;
	if (len)
		memcpy(wire + 1, param, len);
	return len + 1;
}

ssize_t kvf_priv_query(int fd, uint32_t conn_id, uint8_t data[KVF_PRIV_MAX],
		       struct kverbs_cmd_conn_query *query)
{
	uint8_t wire[KVF_PRIV_MAX];
	size_t len;
	int ret;

	*query = (struct kverbs_cmd_conn_query){
		.size = sizeof(*query),
		.conn_id = conn_id,
		.inout_priv_len = sizeof(wire),
		.priv_uptr = (uintptr_t)wire,
	};
	ret = kverbs_sys_ioctl(fd, KVERBS_CONN_QUERY, query);
	if (ret)
		return ret;
	if (!query->inout_priv_len)
		return 0;
	len = wire[0];
	if (len > query->inout_priv_len - 1)
		len = query->inout_priv_len - 1;
	memcpy(data, wire + 1, len);
	return (ssize_t)len;
}

int kvf_conn_destroy(int fd, uint32_t conn_id)
{
	return kverbs_sys_destroy(fd, conn_id);
}

/* ---- events ---- */

static void add_priv(struct kvf_ep *ep, struct kvf_event *event)
{
	struct kverbs_cmd_conn_query query;
	ssize_t len;

	if (!event)
		return;
	len = kvf_priv_query(kvf_ep_fabric(ep)->fd, ep->conn_id, event->data, &query);
	event->len = len > 0 ? (size_t)len : 0;
}

static void established(struct kvf_ep *ep)
{
	struct kvf_event *event = kvf_eq_add(ep->eq, FI_CONNECTED, &ep->fid.fid, 0);

	ep->state = KVF_EP_UP;
	if (ep->is_active)
		add_priv(ep, event);
}

void kvf_ep_event(struct kvf_ep *ep, const struct kverbs_cqe *cqe)
{
	bool was_up = ep->state == KVF_EP_UP;

	if (cqe->type == KVERBS_CQE_ESTABLISHED) {
		established(ep);
		return;
	}
	ep->state = KVF_EP_DOWN;
	switch (cqe->type) {
	case KVERBS_CQE_REJECTED:
		add_priv(ep, kvf_eq_add(ep->eq, 0, &ep->fid.fid, FI_ECONNREFUSED));
		break;
	case KVERBS_CQE_FAILED:
		if (cqe->result != -ECANCELED)
			kvf_eq_add(ep->eq, 0, &ep->fid.fid, cqe->result ? -cqe->result : FI_EIO);
		break;
	case KVERBS_CQE_DEVICE_REMOVED:
		kvf_eq_add(ep->eq, 0, &ep->fid.fid, FI_ENODEV);
		break;
	}
	if (was_up && !ep->is_shut)
		kvf_eq_add(ep->eq, FI_SHUTDOWN, &ep->fid.fid, 0);
}

/* ---- calls ---- */

static struct kvf_ep *ep_of(fid_t fid)
{
	return kvf_of(fid, struct kvf_ep, fid.fid);
}

/*
 * A peer that was killed while the connection was being established may never be heard of again,
 * and a device may retry for ever.
 */
static uint64_t keepalive_ns(void)
{
	size_t ms = kvf_param.keepalive_ms;

	if (ms && ms < KEEPALIVE_MIN_MS)
		ms = KEEPALIVE_MIN_MS;
	return ms * 1000000ull;
}

static struct kverbs_conn_param param_of(const struct kvf_ep *ep)
{
	/* A peer without a receive is waited for: FI_RM_ENABLED. */
	return (struct kverbs_conn_param){
		.valid = KVERBS_PARAM_RNR_RETRY,
		.sq_depth = ep->info->tx_attr->size + KVF_OWN_SENDS,
		.rq_depth = ep->info->rx_attr->size,
		.rnr_retry = 7,
		.keepalive_ns = keepalive_ns(),
	};
}

static uint64_t timeout_ns(void)
{
	return kvf_param.conn_timeout_ms * 1000000ull;
}

static int reserve_events(struct kvf_ep *ep)
{
	struct kvf_ring *ring = ep->ring;

	if (ring->ring.cq_entries - ring->used < KVF_CONN_EVENTS) {
		kvf_warn(EP_CTRL, "the completion queue is too small for another connection\n");
		return -FI_ENOSPC;
	}
	ring->used += KVF_CONN_EVENTS;
	return 0;
}

static int do_connect(struct kvf_ep *ep, const union kvf_addr *addr, const void *param,
		      size_t paramlen)
{
	uint8_t wire[KVF_CM_DATA_SIZE + 1];
	struct kverbs_conn_param conn_param = param_of(ep);
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = ep->ring->ring.id,
		.user_data = (uintptr_t)ep,
		.timeout_ns = timeout_ns(),
		.param_uptr = (uintptr_t)&conn_param,
		.param_size = sizeof(conn_param),
		.priv_len = kvf_priv_pack(wire, param, paramlen),
		.priv_uptr = (uintptr_t)wire,
		.group_id = ep->domain->group_id,
	};
	union kvf_addr src;
	int ret;

	kvf_addr_to_kernel(&cmd.dst, addr);
	if (ep->info->src_addr && kvf_addr_set(&src, ep->info->src_addr))
		kvf_addr_to_kernel(&cmd.src, &src);
	ret = reserve_events(ep);
	if (ret)
		return ret;
	ret = kverbs_sys_ioctl(kvf_ep_fabric(ep)->fd, KVERBS_CONNECT, &cmd);
	if (ret) {
		ep->ring->used -= KVF_CONN_EVENTS;
		return ret;
	}
	ep->conn_id = cmd.out_id;
	ep->state = KVF_EP_CONNECTING;
	ep->is_active = true;
	kvf_post_pending(ep);
	return 0;
}

static int ep_connect(struct fid_ep *fid, const void *addr, const void *param, size_t paramlen)
{
	struct kvf_ep *ep = ep_of(&fid->fid);
	struct kvf_fabric *fabric = kvf_ep_fabric(ep);
	union kvf_addr dst;
	int ret;

	if (!addr)
		addr = ep->info->dest_addr;
	if (paramlen > KVF_CM_DATA_SIZE || !addr || !kvf_addr_set(&dst, addr))
		return -FI_EINVAL;
	ret = kvf_ep_enable(ep);
	if (ret)
		return ret;
	pthread_mutex_lock(&fabric->lock);
	ret = ep->state == KVF_EP_IDLE ? do_connect(ep, &dst, param, paramlen) : -FI_EISCONN;
	pthread_mutex_unlock(&fabric->lock);
	return ret;
}

static int do_accept(struct kvf_ep *ep, const void *param, size_t paramlen)
{
	uint8_t wire[KVF_CM_DATA_SIZE + 1];
	struct kverbs_conn_param conn_param = param_of(ep);
	struct kverbs_cmd_accept cmd = {
		.size = sizeof(cmd),
		.conn_id = ep->conn_id,
		.ring_id = ep->ring->ring.id,
		.user_data = (uintptr_t)ep,
		.timeout_ns = timeout_ns(),
		.param_uptr = (uintptr_t)&conn_param,
		.param_size = sizeof(conn_param),
		.priv_len = kvf_priv_pack(wire, param, paramlen),
		.priv_uptr = (uintptr_t)wire,
		.group_id = ep->domain->group_id,
	};
	int ret;

	ret = reserve_events(ep);
	if (ret)
		return ret;
	if (ep->domain->is_iwarp && ep->early_eq)
		kvf_post_early(ep);
	ret = kverbs_sys_ioctl(kvf_ep_fabric(ep)->fd, KVERBS_ACCEPT, &cmd);
	if (ret) {
		kvf_info(EP_CTRL, "accept: %s\n", fi_strerror(-ret));
		ep->state = KVF_EP_DOWN;
		return ret;
	}
	ep->state = KVF_EP_CONNECTING;
	kvf_post_pending(ep);
	return 0;
}

static int ep_accept(struct fid_ep *fid, const void *param, size_t paramlen)
{
	struct kvf_ep *ep = ep_of(&fid->fid);
	struct kvf_fabric *fabric = kvf_ep_fabric(ep);
	int ret;

	if (paramlen > KVF_CM_DATA_SIZE)
		return -FI_EINVAL;
	ret = kvf_ep_enable(ep);
	if (ret)
		return ret;
	pthread_mutex_lock(&fabric->lock);
	ret = ep->state == KVF_EP_REQUESTED ? do_accept(ep, param, paramlen) : -FI_EINVAL;
	pthread_mutex_unlock(&fabric->lock);
	return ret;
}

static int ep_shutdown(struct fid_ep *fid, uint64_t flags)
{
	struct kvf_ep *ep = ep_of(&fid->fid);
	struct kverbs_cmd_disconnect cmd = { .size = sizeof(cmd) };

	if (flags)
		return -FI_EINVAL;
	pthread_mutex_lock(&kvf_ep_fabric(ep)->lock);
	ep->is_shut = true;
	cmd.conn_id = ep->conn_id;
	pthread_mutex_unlock(&kvf_ep_fabric(ep)->lock);
	if (!cmd.conn_id)
		return -FI_ENOTCONN;
	return kverbs_sys_ioctl(kvf_ep_fabric(ep)->fd, KVERBS_DISCONNECT, &cmd);
}

static int query(struct kvf_ep *ep, struct kverbs_cmd_conn_query *cmd)
{
	*cmd = (struct kverbs_cmd_conn_query){ .size = sizeof(*cmd), .conn_id = ep->conn_id };
	return ep->conn_id ? kverbs_sys_ioctl(kvf_ep_fabric(ep)->fd, KVERBS_CONN_QUERY, cmd) :
			     -FI_ENOTCONN;
}

/* The address that the endpoint connects from */
static int ep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct kvf_ep *ep = ep_of(fid);
	union kvf_addr to;
	void *copy;

	if (ep->state != KVF_EP_IDLE || addrlen < sizeof(to.in) || !kvf_addr_set(&to, addr) ||
	    addrlen < kvf_addr_len(&to))
		return -FI_EINVAL;
	copy = malloc(kvf_addr_len(&to));
	if (!copy)
		return -FI_ENOMEM;
	memcpy(copy, &to, kvf_addr_len(&to));
	free(ep->info->src_addr);
	ep->info->src_addr = copy;
	ep->info->src_addrlen = kvf_addr_len(&to);
	return 0;
}

static int ep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	struct kvf_ep *ep = ep_of(fid);
	struct kverbs_cmd_conn_query cmd;
	union kvf_addr local;

	if (!query(ep, &cmd) && cmd.out_local.family)
		kvf_addr_from_kernel(&local, &cmd.out_local);
	else if (!ep->info->src_addr || !kvf_addr_set(&local, ep->info->src_addr))
		return -FI_EADDRNOTAVAIL;
	return kvf_addr_copy(&local, addr, addrlen);
}

static int ep_getpeer(struct fid_ep *fid, void *addr, size_t *addrlen)
{
	struct kverbs_cmd_conn_query cmd;
	union kvf_addr remote;
	int ret;

	ret = query(ep_of(&fid->fid), &cmd);
	if (ret)
		return ret;
	kvf_addr_from_kernel(&remote, &cmd.out_remote);
	return kvf_addr_copy(&remote, addr, addrlen);
}

struct fi_ops_cm kvf_ep_cm_ops = {
	.size = sizeof(kvf_ep_cm_ops),
	.setname = ep_setname,
	.getname = ep_getname,
	.getpeer = ep_getpeer,
	.connect = ep_connect,
	.listen = kvf_no_listen,
	.accept = ep_accept,
	.reject = kvf_no_reject,
	.shutdown = ep_shutdown,
	.join = kvf_no_join,
};
