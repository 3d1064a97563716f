// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Passive endpoints, and the requests that they report.
 */
#include <stdlib.h>
#include <string.h>

#include "fi_kverbs.h"
#include "sys.h"

static struct kvf_pep *pep_of(fid_t fid)
{
	return kvf_of(fid, struct kvf_pep, fid.fid);
}

/* ---- requests ---- */

void kvf_connreq_free(struct kvf_connreq *req)
{
	list_del(&req->node);
	kvf_conn_destroy(req->fabric->fd, req->conn_id);
	free(req);
}

static int set_domain_name(struct kvf_pep *pep, struct fi_info *info, uint32_t index)
{
	struct kverbs_cmd_device_query query;
	struct kverbs_port *ports;
	struct kverbs_gid *gids;
	char *name;
	int ret;

	ret = kvf_device_query(pep->fabric->fd, index, &query, &ports, &gids);
	if (ret)
		return ret;
	free(ports);
	free(gids);
	name = strndup(query.out_name, sizeof(query.out_name));
	if (!name)
		return -FI_ENOMEM;
	free(info->domain_attr->name);
	info->domain_attr->name = name;
	return 0;
}

static int set_addr(void **addr, size_t *addrlen, const struct kverbs_addr *from)
{
	union kvf_addr to;

	kvf_addr_from_kernel(&to, from);
	free(*addr);
	*addr = malloc(kvf_addr_len(&to));
	if (!*addr)
		return -FI_ENOMEM;
	*addrlen = kvf_addr_len(&to);
	memcpy(*addr, &to, *addrlen);
	return 0;
}

static struct fi_info *info_of_request(struct kvf_pep *pep,
				       const struct kverbs_cmd_conn_query *query)
{
	struct fi_info *info = fi_dupinfo(pep->info);

	if (!info)
		return NULL;
	if (set_domain_name(pep, info, query->out_device_index) ||
	    set_addr(&info->src_addr, &info->src_addrlen, &query->out_local) ||
	    set_addr(&info->dest_addr, &info->dest_addrlen, &query->out_remote)) {
		fi_freeinfo(info);
		return NULL;
	}
	return info;
}

static int report(struct kvf_pep *pep, struct kvf_connreq *req)
{
	struct kverbs_cmd_conn_query query;
	uint8_t data[KVF_PRIV_MAX];
	struct kvf_event *event;
	struct fi_info *info;
	ssize_t len;

	len = kvf_priv_query(pep->fabric->fd, req->conn_id, data, &query);
	if (len < 0)
		return (int)len;
	info = info_of_request(pep, &query);
	if (!info)
		return -FI_ENOMEM;
	event = kvf_eq_add(pep->eq, FI_CONNREQ, &pep->fid.fid, 0);
	if (!event) {
		fi_freeinfo(info);
		return -FI_ENOMEM;
	}
	req->device_index = query.out_device_index;
	info->handle = &req->fid;
	event->info = info;
	event->len = (size_t)len;
	memcpy(event->data, data, event->len);
	return 0;
}

static void request(struct kvf_pep *pep, uint32_t conn_id)
{
	struct kvf_connreq *req;

	req = calloc(1, sizeof(*req));
	if (!req) {
		kvf_conn_destroy(pep->fabric->fd, conn_id);
		return;
	}
	req->fid.fclass = FI_CLASS_CONNREQ;
	req->fabric = pep->fabric;
	req->eq = pep->eq;
	req->conn_id = conn_id;
	list_add_tail(&req->node, &pep->fabric->connreqs);
	if (report(pep, req))
		kvf_connreq_free(req);
}

/* The end of a request that was reported shows when it is accepted. */
void kvf_pep_event(struct kvf_pep *pep, const struct kverbs_cqe *cqe)
{
	if (cqe->type == KVERBS_CQE_CONN_REQUEST)
		request(pep, cqe->id);
	else if (cqe->type == KVERBS_CQE_DEVICE_REMOVED && cqe->id == pep->listener_id)
		kvf_eq_add(pep->eq, 0, &pep->fid.fid, FI_ENODEV);
}

/* ---- calls ---- */

static int do_listen(struct kvf_pep *pep)
{
	struct kverbs_cmd_listen cmd = {
		.size = sizeof(cmd),
		.ring_id = pep->eq->queue.ring.ring.id,
		.backlog = pep->backlog,
		.user_data = (uintptr_t)pep | 1,
	};
	int ret;

	kvf_addr_to_kernel(&cmd.inout_addr, &pep->addr);
	ret = kverbs_sys_ioctl(pep->fabric->fd, KVERBS_LISTEN, &cmd);
	if (ret)
		return ret;
	pep->listener_id = cmd.out_id;
	kvf_addr_from_kernel(&pep->addr, &cmd.inout_addr);
	list_add_tail(&pep->node, &pep->fabric->peps);
	return 0;
}

static int pep_listen(struct fid_pep *fid)
{
	struct kvf_pep *pep = pep_of(&fid->fid);
	int ret;

	if (!pep->eq)
		return -FI_ENOEQ;
	pthread_mutex_lock(&pep->fabric->lock);
	ret = pep->listener_id ? -FI_EINVAL : do_listen(pep);
	pthread_mutex_unlock(&pep->fabric->lock);
	return ret;
}

static int do_reject(struct kvf_connreq *req, const void *param, size_t paramlen)
{
	uint8_t wire[KVF_CM_DATA_SIZE + 1];
	struct kverbs_cmd_reject cmd = {
		.size = sizeof(cmd),
		.conn_id = req->conn_id,
		.priv_len = kvf_priv_pack(wire, param, paramlen),
		.priv_uptr = (uintptr_t)wire,
	};

	return kverbs_sys_ioctl(req->fabric->fd, KVERBS_REJECT, &cmd);
}

static int pep_reject(struct fid_pep *fid, fid_t handle, const void *param, size_t paramlen)
{
	struct kvf_pep *pep = pep_of(&fid->fid);
	struct kvf_connreq *req = kvf_of(handle, struct kvf_connreq, fid);
	int ret;

	if (paramlen > KVF_CM_DATA_SIZE || handle->fclass != FI_CLASS_CONNREQ)
		return -FI_EINVAL;
	ret = do_reject(req, param, paramlen);
	pthread_mutex_lock(&pep->fabric->lock);
	kvf_connreq_free(req);
	pthread_mutex_unlock(&pep->fabric->lock);
	return ret;
}

static int pep_setname(fid_t fid, void *addr, size_t addrlen)
{
	struct kvf_pep *pep = pep_of(fid);
	union kvf_addr to;

	if (pep->listener_id)
		return -FI_EINVAL;
	if (addrlen < sizeof(to.in) || !kvf_addr_set(&to, addr) || addrlen < kvf_addr_len(&to))
		return -FI_EINVAL;
	pep->addr = to;
	return 0;
}

static int pep_getname(fid_t fid, void *addr, size_t *addrlen)
{
	return kvf_addr_copy(&pep_of(fid)->addr, addr, addrlen);
}

static int pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	struct kvf_pep *pep = pep_of(fid);

	if (bfid->fclass != FI_CLASS_EQ || flags || pep->eq)
		return -FI_EINVAL;
	pep->eq = kvf_of(bfid, struct kvf_eq, fid.fid);
	if (pep->eq->queue.fabric != pep->fabric) {
		pep->eq = NULL;
		return -FI_EINVAL;
	}
	kvf_get(pep->fabric, &pep->eq->users);
	return 0;
}

static int pep_control(struct fid *fid, int command, void *arg)
{
	struct kvf_pep *pep = pep_of(fid);
	int backlog;

	if (command != FI_BACKLOG)
		return -FI_ENOSYS;
	memcpy(&backlog, arg, sizeof(backlog));
	if (backlog < 0)
		return -FI_EINVAL;
	pep->backlog = (uint32_t)backlog < pep->fabric->limits.out_max_backlog ?
		       (uint32_t)backlog : pep->fabric->limits.out_max_backlog;
	return 0;
}

/* Requests that were read can still be accepted; those that were not are rejected. */
static void forget_requests(struct kvf_pep *pep)
{
	struct list_head *at, *next;
	struct kvf_event *event;

	for (at = pep->eq->events.next; at != &pep->eq->events; at = next) {
		next = at->next;
		event = list_entry(at, struct kvf_event, node);
		if (event->fid == &pep->fid.fid && event->info)
			kvf_connreq_free(kvf_of(event->info->handle, struct kvf_connreq, fid));
	}
	kvf_eq_forget(pep->eq, &pep->fid.fid);
}

static void stop_listening(struct kvf_pep *pep)
{
	kverbs_sys_destroy(pep->fabric->fd, pep->listener_id);
	pthread_mutex_lock(&pep->fabric->lock);
	kvf_progress(pep->fabric);
	list_del(&pep->node);
	forget_requests(pep);
	pthread_mutex_unlock(&pep->fabric->lock);
}

static int pep_close(struct fid *fid)
{
	struct kvf_pep *pep = pep_of(fid);

	if (pep->listener_id)
		stop_listening(pep);
	if (pep->eq)
		kvf_put(pep->fabric, &pep->eq->users);
	kvf_put(pep->fabric, &pep->fabric->users);
	fi_freeinfo(pep->info);
	free(pep);
	return 0;
}

static struct fi_ops pep_fid_ops = {
	.size = sizeof(pep_fid_ops),
	.close = pep_close,
	.bind = pep_bind,
	.control = pep_control,
	.ops_open = kvf_no_ops_open,
};

static struct fi_ops_ep pep_ops = {
	.size = sizeof(pep_ops),
	.cancel = kvf_no_cancel,
	.getopt = kvf_ep_getopt,
	.setopt = kvf_no_setopt,
	.tx_ctx = kvf_no_tx_ctx,
	.rx_ctx = kvf_no_rx_ctx,
	.rx_size_left = kvf_no_size_left,
	.tx_size_left = kvf_no_size_left,
};

static struct fi_ops_cm pep_cm_ops = {
	.size = sizeof(pep_cm_ops),
	.setname = pep_setname,
	.getname = pep_getname,
	.getpeer = kvf_no_getpeer,
	.connect = kvf_no_connect,
	.listen = pep_listen,
	.accept = kvf_no_accept,
	.reject = pep_reject,
	.shutdown = kvf_no_shutdown,
	.join = kvf_no_join,
};

int kvf_passive_ep(struct fid_fabric *fabric_fid, struct fi_info *info, struct fid_pep **fid,
		   void *context)
{
	struct kvf_fabric *fabric = kvf_of(fabric_fid, struct kvf_fabric, fid);
	struct kvf_pep *pep;

	if (!info->src_addr || info->handle)
		return -FI_EINVAL;
	pep = calloc(1, sizeof(*pep));
	if (!pep)
		return -FI_ENOMEM;
	if (!kvf_addr_set(&pep->addr, info->src_addr)) {
		free(pep);
		return -FI_EINVAL;
	}
	pep->info = fi_dupinfo(info);
	if (!pep->info) {
		free(pep);
		return -FI_ENOMEM;
	}
	pep->fabric = fabric;
	list_init(&pep->node);
	pep->fid.fid.fclass = FI_CLASS_PEP;
	pep->fid.fid.context = context;
	pep->fid.fid.ops = &pep_fid_ops;
	pep->fid.ops = &pep_ops;
	pep->fid.cm = &pep_cm_ops;
	kvf_get(fabric, &fabric->users);
	*fid = &pep->fid;
	return 0;
}
