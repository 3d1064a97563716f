// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * READ and WRITE.
 */
#include "fi_kverbs.h"

/* Flags of an endpoint that all its transfers have */
#define FLAGS (FI_COMPLETION | FI_FENCE | FI_INJECT)

static struct kvf_ep *ep_of(struct fid_ep *fid)
{
	return kvf_of(fid, struct kvf_ep, fid);
}

static ssize_t post(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags,
		    enum kverbs_opcode opcode, bool never_reported)
{
	const struct kvf_work work = {
		.opcode = opcode,
		.iov = msg->msg_iov,
		.desc = msg->desc,
		.count = msg->iov_count,
		.addr = msg->rma_iov_count ? msg->rma_iov->addr : 0,
		.key = msg->rma_iov_count ? msg->rma_iov->key : 0,
		.data = msg->data,
		.flags = flags,
		.context = msg->context,
		.counted = opcode == KVERBS_OP_READ ? KVF_COUNT_READ : KVF_COUNT_WRITE,
		.comp_flags = FI_RMA | (opcode == KVERBS_OP_READ ? FI_READ : FI_WRITE),
		.never_reported = never_reported,
	};

	if (msg->rma_iov_count > 1)
		return -FI_EINVAL;
	return kvf_post(ep_of(fid), &work);
}

static enum kverbs_opcode write_opcode(uint64_t flags)
{
	return flags & FI_REMOTE_CQ_DATA ? KVERBS_OP_WRITE_IMM : KVERBS_OP_WRITE;
}

static ssize_t rma_readmsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	return post(fid, msg, flags & ~FI_INJECT, KVERBS_OP_READ, false);
}

static ssize_t rma_writemsg(struct fid_ep *fid, const struct fi_msg_rma *msg, uint64_t flags)
{
	return post(fid, msg, flags, write_opcode(flags), false);
}

static ssize_t rma_readv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
			 fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	const struct fi_rma_iov rma = { .addr = addr, .key = key };
	const struct fi_msg_rma msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = src_addr,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.context = context,
	};

	return rma_readmsg(fid, &msg, ep_of(fid)->tx_flags & FLAGS);
}

static ssize_t rma_read(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
{
	const struct iovec iov = { .iov_base = buf, .iov_len = len };

	return rma_readv(fid, &iov, &desc, 1, src_addr, addr, key, context);
}

static ssize_t rma_writev(struct fid_ep *fid, const struct iovec *iov, void **desc,
			  size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			  void *context)
{
	const struct fi_rma_iov rma = { .addr = addr, .key = key };
	const struct fi_msg_rma msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = dest_addr,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.context = context,
	};

	return rma_writemsg(fid, &msg, ep_of(fid)->tx_flags & FLAGS);
}

static ssize_t rma_write(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			 fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
{
	const struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return rma_writev(fid, &iov, &desc, 1, dest_addr, addr, key, context);
}

static ssize_t rma_writedata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			     uint64_t data, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			     void *context)
{
	const struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	const struct fi_rma_iov rma = { .addr = addr, .key = key };
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = dest_addr,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.context = context,
		.data = data,
	};

	return rma_writemsg(fid, &msg, (ep_of(fid)->tx_flags & FLAGS) | FI_REMOTE_CQ_DATA);
}

static ssize_t inject(struct fid_ep *fid, const void *buf, size_t len, uint64_t addr,
		      uint64_t key, uint64_t data, uint64_t flags)
{
	const struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	const struct fi_rma_iov rma = { .addr = addr, .key = key };
	const struct fi_msg_rma msg = {
		.msg_iov = &iov,
		.iov_count = 1,
		.rma_iov = &rma,
		.rma_iov_count = 1,
		.data = data,
	};

	return post(fid, &msg, flags | FI_INJECT, write_opcode(flags), true);
}

static ssize_t rma_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest_addr,
			  uint64_t addr, uint64_t key)
{
	return inject(fid, buf, len, addr, key, 0, 0);
}

static ssize_t rma_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest_addr, uint64_t addr, uint64_t key)
{
	return inject(fid, buf, len, addr, key, data, FI_REMOTE_CQ_DATA);
}

struct fi_ops_rma kvf_rma_ops = {
	.size = sizeof(kvf_rma_ops),
	.read = rma_read,
	.readv = rma_readv,
	.readmsg = rma_readmsg,
	.write = rma_write,
	.writev = rma_writev,
	.writemsg = rma_writemsg,
	.inject = rma_inject,
	.writedata = rma_writedata,
	.injectdata = rma_injectdata,
};
