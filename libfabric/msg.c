// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages.
 */
#include "fi_kverbs.h"

/* Flags of an endpoint that all its messages have */
#define FLAGS (FI_COMPLETION | FI_FENCE | FI_INJECT)

static struct kvf_ep *ep_of(struct fid_ep *fid)
{
	return kvf_of(fid, struct kvf_ep, fid);
}

static ssize_t post_recv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
			 void *context, uint64_t flags)
{
	const struct kvf_work work = {
		.opcode = KVERBS_OP_RECV,
		.iov = iov,
		.desc = desc,
		.count = count,
		.context = context,
		.flags = flags,
		.counted = KVF_COUNT_RECV,
		.comp_flags = FI_MSG | FI_RECV,
	};

	return kvf_post_recv(ep_of(fid), &work);
}

static ssize_t msg_recvv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
			 fi_addr_t src_addr, void *context)
{
	return post_recv(fid, iov, desc, count, context, ep_of(fid)->rx_flags);
}

static ssize_t msg_recv(struct fid_ep *fid, void *buf, size_t len, void *desc,
			fi_addr_t src_addr, void *context)
{
	const struct iovec iov = { .iov_base = buf, .iov_len = len };

	return msg_recvv(fid, &iov, &desc, 1, src_addr, context);
}

static ssize_t msg_recvmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	return post_recv(fid, msg->msg_iov, msg->desc, msg->iov_count, msg->context, flags);
}

static ssize_t post_send(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags,
			 bool never_reported)
{
	const struct kvf_work work = {
		.opcode = flags & FI_REMOTE_CQ_DATA ? KVERBS_OP_SEND_IMM : KVERBS_OP_SEND,
		.iov = msg->msg_iov,
		.desc = msg->desc,
		.count = msg->iov_count,
		.data = msg->data,
		.flags = flags,
		.context = msg->context,
		.counted = KVF_COUNT_SEND,
		.comp_flags = FI_MSG | FI_SEND,
		.never_reported = never_reported,
	};

	return kvf_post(ep_of(fid), &work);
}

static ssize_t msg_sendmsg(struct fid_ep *fid, const struct fi_msg *msg, uint64_t flags)
{
	return post_send(fid, msg, flags, false);
}

static ssize_t msg_sendv(struct fid_ep *fid, const struct iovec *iov, void **desc, size_t count,
			 fi_addr_t dest_addr, void *context)
{
	const struct fi_msg msg = {
		.msg_iov = iov,
		.desc = desc,
		.iov_count = count,
		.addr = dest_addr,
		.context = context,
	};

	return post_send(fid, &msg, ep_of(fid)->tx_flags & FLAGS, false);
}

static ssize_t msg_send(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			fi_addr_t dest_addr, void *context)
{
	const struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };

	return msg_sendv(fid, &iov, &desc, 1, dest_addr, context);
}

static ssize_t msg_senddata(struct fid_ep *fid, const void *buf, size_t len, void *desc,
			    uint64_t data, fi_addr_t dest_addr, void *context)
{
	const struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	const struct fi_msg msg = {
		.msg_iov = &iov,
		.desc = &desc,
		.iov_count = 1,
		.addr = dest_addr,
		.context = context,
		.data = data,
	};

	return post_send(fid, &msg, (ep_of(fid)->tx_flags & FLAGS) | FI_REMOTE_CQ_DATA, false);
}

static ssize_t inject(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
		      uint64_t flags)
{
	const struct iovec iov = { .iov_base = (void *)buf, .iov_len = len };
	const struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .data = data };

	return post_send(fid, &msg, flags | FI_INJECT, true);
}

static ssize_t msg_inject(struct fid_ep *fid, const void *buf, size_t len, fi_addr_t dest_addr)
{
	return inject(fid, buf, len, 0, 0);
}

static ssize_t msg_injectdata(struct fid_ep *fid, const void *buf, size_t len, uint64_t data,
			      fi_addr_t dest_addr)
{
	return inject(fid, buf, len, data, FI_REMOTE_CQ_DATA);
}

struct fi_ops_msg kvf_msg_ops = {
	.size = sizeof(kvf_msg_ops),
	.recv = msg_recv,
	.recvv = msg_recvv,
	.recvmsg = msg_recvmsg,
	.send = msg_send,
	.sendv = msg_sendv,
	.sendmsg = msg_sendmsg,
	.inject = msg_inject,
	.senddata = msg_senddata,
	.injectdata = msg_injectdata,
};
