// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A domain: a device, and a group of connections that share their keys.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fi_kverbs.h"
#include "sys.h"

static int domain_close(struct fid *fid)
{
	struct kvf_domain *domain = kvf_of(fid, struct kvf_domain, fid.fid);
	struct kvf_fabric *fabric = domain->fabric;
	int ret;

	if (domain->users)
		return -FI_EBUSY;
	kvf_self_close(domain);
	kvf_slots_free(domain);
	ret = kverbs_sys_destroy(fabric->fd, domain->group_id);
	if (ret)
		kvf_warn(DOMAIN, "group %u: %s\n", domain->group_id, fi_strerror(-ret));
	kvf_put(fabric, &fabric->users);
	pthread_mutex_destroy(&domain->self_lock);
	free(domain);
	return 0;
}

static int no_av_open(struct fid_domain *fid, struct fi_av_attr *attr, struct fid_av **av,
		      void *context)
{
	return -FI_ENOSYS;
}

static int no_scalable_ep(struct fid_domain *fid, struct fi_info *info, struct fid_ep **sep,
			  void *context)
{
	return -FI_ENOSYS;
}

static int no_poll_open(struct fid_domain *fid, struct fi_poll_attr *attr,
			struct fid_poll **pollset)
{
	return -FI_ENOSYS;
}

static int no_stx_ctx(struct fid_domain *fid, struct fi_tx_attr *attr, struct fid_stx **stx,
		      void *context)
{
	return -FI_ENOSYS;
}

static int no_srx_ctx(struct fid_domain *fid, struct fi_rx_attr *attr, struct fid_ep **rx_ep,
		      void *context)
{
	return -FI_ENOSYS;
}

static int no_query_atomic(struct fid_domain *fid, enum fi_datatype datatype, enum fi_op op,
			   struct fi_atomic_attr *attr, uint64_t flags)
{
	return -FI_EOPNOTSUPP;
}

static int no_query_collective(struct fid_domain *fid, enum fi_collective_op coll,
			       struct fi_collective_attr *attr, uint64_t flags)
{
	return -FI_EOPNOTSUPP;
}

static int endpoint2(struct fid_domain *fid, struct fi_info *info, struct fid_ep **ep,
		     uint64_t flags, void *context)
{
	return flags ? -FI_ENOSYS : kvf_endpoint(fid, info, ep, context);
}

/* A domain has no events, so any queue will do; registrations are complete when they return. */
static int domain_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return bfid->fclass == FI_CLASS_EQ && !flags ? 0 : -FI_ENOSYS;
}

static struct fi_ops domain_fid_ops = {
	.size = sizeof(domain_fid_ops),
	.close = domain_close,
	.bind = domain_bind,
	.control = kvf_no_control,
	.ops_open = kvf_no_ops_open,
};

static struct fi_ops_domain domain_ops = {
	.size = sizeof(domain_ops),
	.av_open = no_av_open,
	.cq_open = kvf_cq_open,
	.endpoint = kvf_endpoint,
	.scalable_ep = no_scalable_ep,
	.cntr_open = kvf_cntr_open,
	.poll_open = no_poll_open,
	.stx_ctx = no_stx_ctx,
	.srx_ctx = no_srx_ctx,
	.query_atomic = no_query_atomic,
	.query_collective = no_query_collective,
	.endpoint2 = endpoint2,
};

/* Find the device with the domain's name. */
static int find_device(struct kvf_domain *domain, const char *name)
{
	struct kverbs_cmd_device_query query;
	struct kverbs_port *ports;
	struct kverbs_gid *gids;
	uint32_t index = 0;
	int ret;

	while (!(ret = kvf_device_query(domain->fabric->fd, index, &query, &ports, &gids))) {
		if (query.inout_ports_len) {
			domain->max_msg = kvf_max_msg(&query, ports);
			domain->max_rma = ports->max_msg_size;
			domain->is_iwarp = ports->transport == KVERBS_TRANSPORT_IWARP;
		}
		free(ports);
		free(gids);
		if (!strncasecmp(name, query.out_name, sizeof(query.out_name))) {
			domain->device_index = query.out_index;
			return 0;
		}
		index = query.out_index + 1;
	}
	return ret;
}

static int create_group(struct kvf_domain *domain)
{
	struct kverbs_cmd_group_create cmd = {
		.size = sizeof(cmd),
		.device_index = domain->device_index,
	};
	int ret;

	ret = kverbs_sys_ioctl(domain->fabric->fd, KVERBS_GROUP_CREATE, &cmd);
	domain->group_id = cmd.out_id;
	return ret;
}

int kvf_domain(struct fid_fabric *fabric_fid, struct fi_info *info, struct fid_domain **fid,
	       void *context)
{
	struct kvf_fabric *fabric = kvf_of(fabric_fid, struct kvf_fabric, fid);
	struct kvf_domain *domain;
	int ret;

	if (!info->domain_attr || !info->domain_attr->name || !info->src_addr)
		return -FI_EINVAL;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return -FI_ENOMEM;
	domain->fabric = fabric;
	ret = kvf_addr_set(&domain->addr, info->src_addr) ? 0 : -FI_EINVAL;
	if (!ret)
		ret = find_device(domain, info->domain_attr->name);
	if (!ret)
		ret = create_group(domain);
	if (ret) {
		free(domain);
		return ret;
	}
	pthread_mutex_init(&domain->self_lock, NULL);
	domain->fid.fid.fclass = FI_CLASS_DOMAIN;
	domain->fid.fid.context = context;
	domain->fid.fid.ops = &domain_fid_ops;
	domain->fid.ops = &domain_ops;
	domain->fid.mr = &kvf_mr_ops;
	kvf_get(fabric, &fabric->users);
	*fid = &domain->fid;
	return 0;
}
