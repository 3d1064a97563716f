// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Functions that the provider does not support. The inline functions of libfabric's headers call
 * through the tables without a check, so each entry must be there.
 */
#include "fi_kverbs.h"

static ssize_t no_tagged_recv(struct fid_ep *ep, void *buf, size_t len, void *desc,
			      fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_recvv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			       size_t count, fi_addr_t src_addr, uint64_t tag, uint64_t ignore,
			       void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_recvmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
				 uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_send(struct fid_ep *ep, const void *buf, size_t len, void *desc,
			      fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_sendv(struct fid_ep *ep, const struct iovec *iov, void **desc,
			       size_t count, fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_sendmsg(struct fid_ep *ep, const struct fi_msg_tagged *msg,
				 uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_inject(struct fid_ep *ep, const void *buf, size_t len,
				fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc,
				  uint64_t data, fi_addr_t dest_addr, uint64_t tag, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_tagged_injectdata(struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
				    fi_addr_t dest_addr, uint64_t tag)
{
	return -FI_ENOSYS;
}

struct fi_ops_tagged kvf_no_tagged = {
	.size = sizeof(kvf_no_tagged),
	.recv = no_tagged_recv,
	.recvv = no_tagged_recvv,
	.recvmsg = no_tagged_recvmsg,
	.send = no_tagged_send,
	.sendv = no_tagged_sendv,
	.sendmsg = no_tagged_sendmsg,
	.inject = no_tagged_inject,
	.senddata = no_tagged_senddata,
	.injectdata = no_tagged_injectdata,
};

static ssize_t no_atomic_write(struct fid_ep *ep, const void *buf, size_t count, void *desc,
			       fi_addr_t dest_addr, uint64_t addr, uint64_t key,
			       enum fi_datatype datatype, enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_atomic_writev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				enum fi_datatype datatype, enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_atomic_writemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				  uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_atomic_inject(struct fid_ep *ep, const void *buf, size_t count,
				fi_addr_t dest_addr, uint64_t addr, uint64_t key,
				enum fi_datatype datatype, enum fi_op op)
{
	return -FI_ENOSYS;
}

static ssize_t no_atomic_readwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				   void *result, void *result_desc, fi_addr_t dest_addr,
				   uint64_t addr, uint64_t key, enum fi_datatype datatype,
				   enum fi_op op, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_atomic_readwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				    size_t count, struct fi_ioc *resultv, void **result_desc,
				    size_t result_count, fi_addr_t dest_addr, uint64_t addr,
				    uint64_t key, enum fi_datatype datatype, enum fi_op op,
				    void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_atomic_readwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				      struct fi_ioc *resultv, void **result_desc,
				      size_t result_count, uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_atomic_compwrite(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				   const void *compare, void *compare_desc, void *result,
				   void *result_desc, fi_addr_t dest_addr, uint64_t addr,
				   uint64_t key, enum fi_datatype datatype, enum fi_op op,
				   void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_atomic_compwritev(struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
				    size_t count, const struct fi_ioc *comparev,
				    void **compare_desc, size_t compare_count,
				    struct fi_ioc *resultv, void **result_desc,
				    size_t result_count, fi_addr_t dest_addr, uint64_t addr,
				    uint64_t key, enum fi_datatype datatype, enum fi_op op,
				    void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_atomic_compwritemsg(struct fid_ep *ep, const struct fi_msg_atomic *msg,
				      const struct fi_ioc *comparev, void **compare_desc,
				      size_t compare_count, struct fi_ioc *resultv,
				      void **result_desc, size_t result_count, uint64_t flags)
{
	return -FI_ENOSYS;
}

static int no_atomic_writevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				size_t *count)
{
	return -FI_ENOSYS;
}

static int no_atomic_readwritevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				    size_t *count)
{
	return -FI_ENOSYS;
}

static int no_atomic_compwritevalid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
				    size_t *count)
{
	return -FI_ENOSYS;
}

struct fi_ops_atomic kvf_no_atomic = {
	.size = sizeof(kvf_no_atomic),
	.write = no_atomic_write,
	.writev = no_atomic_writev,
	.writemsg = no_atomic_writemsg,
	.inject = no_atomic_inject,
	.readwrite = no_atomic_readwrite,
	.readwritev = no_atomic_readwritev,
	.readwritemsg = no_atomic_readwritemsg,
	.compwrite = no_atomic_compwrite,
	.compwritev = no_atomic_compwritev,
	.compwritemsg = no_atomic_compwritemsg,
	.writevalid = no_atomic_writevalid,
	.readwritevalid = no_atomic_readwritevalid,
	.compwritevalid = no_atomic_compwritevalid,
};

static ssize_t no_collective_barrier(struct fid_ep *ep, fi_addr_t coll_addr, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_broadcast(struct fid_ep *ep, void *buf, size_t count, void *desc,
				       fi_addr_t coll_addr, fi_addr_t root_addr,
				       enum fi_datatype datatype, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_alltoall(struct fid_ep *ep, const void *buf, size_t count,
				      void *desc, void *result, void *result_desc,
				      fi_addr_t coll_addr, enum fi_datatype datatype,
				      uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_allreduce(struct fid_ep *ep, const void *buf, size_t count,
				       void *desc, void *result, void *result_desc,
				       fi_addr_t coll_addr, enum fi_datatype datatype,
				       enum fi_op op, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_allgather(struct fid_ep *ep, const void *buf, size_t count,
				       void *desc, void *result, void *result_desc,
				       fi_addr_t coll_addr, enum fi_datatype datatype,
				       uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_reduce_scatter(struct fid_ep *ep, const void *buf, size_t count,
					    void *desc, void *result, void *result_desc,
					    fi_addr_t coll_addr, enum fi_datatype datatype,
					    enum fi_op op, uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_reduce(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				    void *result, void *result_desc, fi_addr_t coll_addr,
				    fi_addr_t root_addr, enum fi_datatype datatype, enum fi_op op,
				    uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_scatter(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				     void *result, void *result_desc, fi_addr_t coll_addr,
				     fi_addr_t root_addr, enum fi_datatype datatype,
				     uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_gather(struct fid_ep *ep, const void *buf, size_t count, void *desc,
				    void *result, void *result_desc, fi_addr_t coll_addr,
				    fi_addr_t root_addr, enum fi_datatype datatype,
				    uint64_t flags, void *context)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_msg(struct fid_ep *ep, const struct fi_msg_collective *msg,
				 struct fi_ioc *resultv, void **result_desc, size_t result_count,
				 uint64_t flags)
{
	return -FI_ENOSYS;
}

static ssize_t no_collective_barrier2(struct fid_ep *ep, fi_addr_t coll_addr, uint64_t flags,
				      void *context)
{
	return -FI_ENOSYS;
}

struct fi_ops_collective kvf_no_collective = {
	.size = sizeof(kvf_no_collective),
	.barrier = no_collective_barrier,
	.broadcast = no_collective_broadcast,
	.alltoall = no_collective_alltoall,
	.allreduce = no_collective_allreduce,
	.allgather = no_collective_allgather,
	.reduce_scatter = no_collective_reduce_scatter,
	.reduce = no_collective_reduce,
	.scatter = no_collective_scatter,
	.gather = no_collective_gather,
	.msg = no_collective_msg,
	.barrier2 = no_collective_barrier2,
};

int kvf_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags)
{
	return -FI_ENOSYS;
}

int kvf_no_control(struct fid *fid, int command, void *arg)
{
	return -FI_ENOSYS;
}

int kvf_no_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops, void *context)
{
	return -FI_ENOSYS;
}

ssize_t kvf_no_cancel(fid_t fid, void *context)
{
	return -FI_ENOENT;
}

int kvf_no_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	return -FI_ENOPROTOOPT;
}

int kvf_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr, struct fid_ep **tx_ep,
		  void *context)
{
	return -FI_ENOSYS;
}

int kvf_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr, struct fid_ep **rx_ep,
		  void *context)
{
	return -FI_ENOSYS;
}

ssize_t kvf_no_size_left(struct fid_ep *ep)
{
	return -FI_ENOSYS;
}

int kvf_no_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen)
{
	return -FI_ENOSYS;
}

int kvf_no_connect(struct fid_ep *ep, const void *addr, const void *param, size_t paramlen)
{
	return -FI_ENOSYS;
}

int kvf_no_listen(struct fid_pep *pep)
{
	return -FI_ENOSYS;
}

int kvf_no_accept(struct fid_ep *ep, const void *param, size_t paramlen)
{
	return -FI_ENOSYS;
}

int kvf_no_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t paramlen)
{
	return -FI_ENOSYS;
}

int kvf_no_shutdown(struct fid_ep *ep, uint64_t flags)
{
	return -FI_ENOSYS;
}

int kvf_no_join(struct fid_ep *ep, const void *addr, uint64_t flags, struct fid_mc **mc,
		void *context)
{
	return -FI_ENOSYS;
}
