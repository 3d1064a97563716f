// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Memory regions: pinned memory, and an export of it to the group if peers may access it.
 */
#include <stdlib.h>

#include "fi_kverbs.h"
#include "sys.h"

#define REMOTE (FI_REMOTE_READ | FI_REMOTE_WRITE)
#define STORES (FI_RECV | FI_READ | FI_REMOTE_WRITE)
#define ACCESS (FI_SEND | FI_WRITE | REMOTE | STORES)

/* Other flags are hints, such as that of ofi_rxm not to cache its buffers. */
#define REFUSED_FLAGS (FI_RMA_EVENT | FI_RMA_PMEM)

/* Segments that an export is first tried with */
#define FIRST_SEGS 16

int kvf_region_create(int fd, const void *addr, size_t length, bool read_only, uint32_t *id)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = read_only ? KVERBS_REGION_READ_ONLY : 0,
		.addr = (uintptr_t)addr,
		.length = length,
	};
	int ret;

	do {
		ret = kverbs_sys_ioctl(fd, KVERBS_REGION_CREATE, &cmd);
	} while (ret == -EINTR);
	if (ret == -ENOMEM || ret == -EPERM)
		kvf_warn(MR, "cannot pin %zu bytes: see RLIMIT_MEMLOCK (ulimit -l)\n", length);
	*id = cmd.out_id;
	return ret;
}

int kvf_export(struct kvf_domain *domain, struct kverbs_cmd_export *cmd)
{
	uint32_t room = cmd->inout_segs_len;
	bool tried = false;
	int ret;

	do {
		cmd->inout_segs_len = room;
		ret = kverbs_sys_ioctl(domain->fabric->fd, KVERBS_EXPORT, cmd);
		if (ret == -ENOTCONN && !tried) {
			tried = true;
			ret = kvf_self_connect(domain);
			if (!ret)
				ret = -EINTR;
		}
	} while (ret == -EINTR);
	return ret;
}

static uint32_t rights(uint64_t access)
{
	return (access & FI_REMOTE_READ ? KVERBS_REMOTE_READ : 0) |
	       (access & FI_REMOTE_WRITE ? KVERBS_REMOTE_WRITE : 0);
}

/* Export all of it at the address that it has here, so that remote addresses are virtual ones. */
static int export(struct kvf_mr *mr, uint64_t access)
{
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_EXPORT_IOVA,
		.conn_id = mr->domain->group_id,
		.region_id = mr->region_id,
		.access = rights(access),
		.offset = mr->offset,
		.length = mr->length,
		.segs_stride = sizeof(struct kverbs_segment),
		.inout_segs_len = FIRST_SEGS,
		.iova = (uintptr_t)mr->base,
	};
	struct kverbs_segment *segs;
	int ret;

	do {
		segs = calloc(cmd.inout_segs_len, sizeof(*segs));
		if (!segs)
			return -FI_ENOMEM;
		cmd.segs_uptr = (uintptr_t)segs;
		ret = kvf_export(mr->domain, &cmd);
		if (ret)
			free(segs);
	} while (ret == -EMSGSIZE);
	if (ret)
		return ret;
	mr->export_id = cmd.out_id;
	if (cmd.inout_segs_len == 1)
		mr->fid.key = segs->rkey;
	else
		ret = kvf_dir_create(mr, segs, cmd.inout_segs_len, &mr->fid.key);
	free(segs);
	return ret;
}

static int destroy(struct kvf_fabric *fabric, uint32_t *id)
{
	int ret = 0;

	if (*id)
		ret = kverbs_sys_destroy(fabric->fd, *id);
	if (!ret)
		*id = 0;
	return ret;
}

/* libfabric's own flag of layered providers for buffers that live long */
#define NOCACHE (1ull << 60)

/* Take a region of the cache; its pages stay pinned as long as @mr uses it. */
static int get_cached(struct kvf_mr *mr, bool writable)
{
	struct kvf_fabric *fabric = mr->domain->fabric;
	int ret;

	pthread_mutex_lock(&fabric->lock);
	ret = kvf_cache_get(fabric, mr->base, mr->length, writable, &mr->reg);
	pthread_mutex_unlock(&fabric->lock);
	if (ret)
		return ret;
	mr->region_id = mr->reg->region_id;
	mr->offset = (uintptr_t)mr->base - mr->reg->start;
	return 0;
}

static int get_region(struct kvf_mr *mr, uint64_t access, uint64_t flags)
{
	bool writable = access & STORES;
	int ret = flags & NOCACHE ? -FI_ENOSYS : get_cached(mr, writable);

	if (ret != -FI_ENOSYS)
		return ret;
	return kvf_region_create(mr->domain->fabric->fd, mr->base, mr->length, !writable,
				 &mr->region_id);
}

static int put_region(struct kvf_mr *mr)
{
	struct kvf_fabric *fabric = mr->domain->fabric;

	if (!mr->reg)
		return destroy(fabric, &mr->region_id);
	pthread_mutex_lock(&fabric->lock);
	kvf_cache_put(fabric, mr->reg);
	pthread_mutex_unlock(&fabric->lock);
	mr->reg = NULL;
	mr->region_id = 0;
	return 0;
}

/* -FI_EBUSY: work uses it. Peers have lost their access by then, and it can be closed later. */
static int mr_close(struct fid *fid)
{
	struct kvf_mr *mr = kvf_of(fid, struct kvf_mr, fid.fid);
	struct kvf_fabric *fabric = mr->domain->fabric;
	int ret;

	kvf_dir_destroy(mr);
	ret = destroy(fabric, &mr->export_id);
	if (!ret)
		ret = put_region(mr);
	if (ret)
		return ret;
	kvf_put(fabric, &mr->domain->users);
	free(mr);
	return 0;
}

static struct fi_ops mr_fid_ops = {
	.size = sizeof(mr_fid_ops),
	.close = mr_close,
	.bind = kvf_no_bind,
	.control = kvf_no_control,
	.ops_open = kvf_no_ops_open,
};

static int mr_create(struct kvf_domain *domain, const struct fi_mr_attr *attr, uint64_t flags,
		     struct kvf_mr *mr)
{
	int ret;

	mr->domain = domain;
	mr->base = attr->mr_iov->iov_base;
	mr->length = attr->mr_iov->iov_len;
	ret = get_region(mr, attr->access, flags);
	if (ret)
		return ret;
	mr->fid.key = FI_KEY_NOTAVAIL;
	if (attr->access & REMOTE)
		ret = export(mr, attr->access);
	if (ret) {
		kvf_warn(MR, "cannot export %zu bytes: %s\n", mr->length, fi_strerror(-ret));
		kvf_dir_destroy(mr);
		destroy(domain->fabric, &mr->export_id);
		put_region(mr);
	}
	return ret;
}

static int mr_regattr(struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
		      struct fid_mr **mr_fid)
{
	struct kvf_domain *domain = kvf_of(fid, struct kvf_domain, fid.fid);
	struct kvf_mr *mr;
	int ret;

	if (flags & REFUSED_FLAGS || attr->iov_count != 1 || attr->offset ||
	    !attr->mr_iov->iov_len || !attr->access || attr->access & ~ACCESS)
		return -FI_EINVAL;
	if (attr->iface != FI_HMEM_SYSTEM)
		return -FI_ENOSYS;
	mr = calloc(1, sizeof(*mr));
	if (!mr)
		return -FI_ENOMEM;
	ret = mr_create(domain, attr, flags, mr);
	if (ret) {
		free(mr);
		return ret;
	}
	mr->fid.fid.fclass = FI_CLASS_MR;
	mr->fid.fid.context = attr->context;
	mr->fid.fid.ops = &mr_fid_ops;
	mr->fid.mem_desc = mr;
	kvf_get(domain->fabric, &domain->users);
	*mr_fid = &mr->fid;
	return 0;
}

static int mr_regv(struct fid *fid, const struct iovec *iov, size_t count, uint64_t access,
		   uint64_t offset, uint64_t requested_key, uint64_t flags,
		   struct fid_mr **mr, void *context)
{
	struct fi_mr_attr attr = {
		.mr_iov = iov,
		.iov_count = count,
		.access = access,
		.offset = offset,
		.requested_key = requested_key,
		.context = context,
	};

	return mr_regattr(fid, &attr, flags, mr);
}

static int mr_reg(struct fid *fid, const void *buf, size_t len, uint64_t access,
		  uint64_t offset, uint64_t requested_key, uint64_t flags,
		  struct fid_mr **mr, void *context)
{
	const struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return mr_regv(fid, &iov, 1, access, offset, requested_key, flags, mr, context);
}

struct fi_ops_mr kvf_mr_ops = {
	.size = sizeof(kvf_mr_ops),
	.reg = mr_reg,
	.regv = mr_regv,
	.regattr = mr_regattr,
};
