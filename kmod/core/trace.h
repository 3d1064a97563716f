/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The trace events "kverbs", for tracefs, perf and bpftrace. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kverbs

#if !defined(KVERBS_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KVERBS_TRACE_H

#include <linux/kverbs.h>
#include <linux/tracepoint.h>

struct ib_mr;
struct kverbs_conn;
struct kverbs_memory;
struct kverbs_queue;
struct kverbs_req;
struct rdma_cm_event;

/* Names as the contract, the verbs and the CM have them: X(name, text), the last one E(). */
#define KVERBS_TRACE_OPCODES(X, E)					\
	X(KVERBS_OP_SEND, "SEND")					\
	X(KVERBS_OP_SEND_IMM, "SEND_IMM")				\
	X(KVERBS_OP_SEND_INV, "SEND_INV")				\
	X(KVERBS_OP_RECV, "RECV")					\
	X(KVERBS_OP_WRITE, "WRITE")					\
	X(KVERBS_OP_WRITE_IMM, "WRITE_IMM")				\
	X(KVERBS_OP_READ, "READ")					\
	X(KVERBS_OP_CMP_SWAP, "CMP_SWAP")				\
	E(KVERBS_OP_FETCH_ADD, "FETCH_ADD")

#define KVERBS_TRACE_STATES(X, E)					\
	X(KVERBS_CONN_CONNECTING, "CONNECTING")				\
	X(KVERBS_CONN_REQUESTED, "REQUESTED")				\
	X(KVERBS_CONN_ACCEPTING, "ACCEPTING")				\
	X(KVERBS_CONN_ESTABLISHED, "ESTABLISHED")			\
	X(KVERBS_CONN_CLOSING, "CLOSING")				\
	E(KVERBS_CONN_DEAD, "DEAD")

#define KVERBS_TRACE_CM_EVENTS(X, E)					\
	X(RDMA_CM_EVENT_ADDR_RESOLVED, "ADDR_RESOLVED")			\
	X(RDMA_CM_EVENT_ADDR_ERROR, "ADDR_ERROR")			\
	X(RDMA_CM_EVENT_ROUTE_RESOLVED, "ROUTE_RESOLVED")		\
	X(RDMA_CM_EVENT_ROUTE_ERROR, "ROUTE_ERROR")			\
	X(RDMA_CM_EVENT_CONNECT_REQUEST, "CONNECT_REQUEST")		\
	X(RDMA_CM_EVENT_CONNECT_RESPONSE, "CONNECT_RESPONSE")		\
	X(RDMA_CM_EVENT_CONNECT_ERROR, "CONNECT_ERROR")			\
	X(RDMA_CM_EVENT_UNREACHABLE, "UNREACHABLE")			\
	X(RDMA_CM_EVENT_REJECTED, "REJECTED")				\
	X(RDMA_CM_EVENT_ESTABLISHED, "ESTABLISHED")			\
	X(RDMA_CM_EVENT_DISCONNECTED, "DISCONNECTED")			\
	X(RDMA_CM_EVENT_DEVICE_REMOVAL, "DEVICE_REMOVAL")		\
	X(RDMA_CM_EVENT_ADDR_CHANGE, "ADDR_CHANGE")			\
	E(RDMA_CM_EVENT_TIMEWAIT_EXIT, "TIMEWAIT_EXIT")

#define KVERBS_TRACE_WC(X, E)						\
	X(IB_WC_SUCCESS, "SUCCESS")					\
	X(IB_WC_LOC_LEN_ERR, "LOC_LEN_ERR")				\
	X(IB_WC_LOC_QP_OP_ERR, "LOC_QP_OP_ERR")				\
	X(IB_WC_LOC_PROT_ERR, "LOC_PROT_ERR")				\
	X(IB_WC_WR_FLUSH_ERR, "WR_FLUSH_ERR")				\
	X(IB_WC_MW_BIND_ERR, "MW_BIND_ERR")				\
	X(IB_WC_BAD_RESP_ERR, "BAD_RESP_ERR")				\
	X(IB_WC_LOC_ACCESS_ERR, "LOC_ACCESS_ERR")			\
	X(IB_WC_REM_INV_REQ_ERR, "REM_INV_REQ_ERR")			\
	X(IB_WC_REM_ACCESS_ERR, "REM_ACCESS_ERR")			\
	X(IB_WC_REM_OP_ERR, "REM_OP_ERR")				\
	X(IB_WC_RETRY_EXC_ERR, "RETRY_EXC_ERR")				\
	X(IB_WC_RNR_RETRY_EXC_ERR, "RNR_RETRY_EXC_ERR")			\
	X(IB_WC_FATAL_ERR, "FATAL_ERR")					\
	E(IB_WC_GENERAL_ERR, "GENERAL_ERR")

/* For programs, which read numbers, and then for people. */
#undef KVERBS_TRACE_NUMBER
#define KVERBS_TRACE_NUMBER(name, text)	TRACE_DEFINE_ENUM(name);

KVERBS_TRACE_OPCODES(KVERBS_TRACE_NUMBER, KVERBS_TRACE_NUMBER)
KVERBS_TRACE_STATES(KVERBS_TRACE_NUMBER, KVERBS_TRACE_NUMBER)
KVERBS_TRACE_CM_EVENTS(KVERBS_TRACE_NUMBER, KVERBS_TRACE_NUMBER)
KVERBS_TRACE_WC(KVERBS_TRACE_NUMBER, KVERBS_TRACE_NUMBER)

#define KVERBS_TRACE_TEXT(name, text)		{ name, text },
#define KVERBS_TRACE_LAST_TEXT(name, text)	{ name, text }
#define kverbs_trace_show(number, names)				\
	__print_symbolic(number, names(KVERBS_TRACE_TEXT, KVERBS_TRACE_LAST_TEXT))

/*
 * A connection is identified by its hashed address, as %p prints it, and its queue pair by the
 * number that "rdma resource show qp" shows, 0 before there is one.
 */
TRACE_EVENT(kverbs_conn_state,
	TP_PROTO(const struct kverbs_conn *conn, enum kverbs_conn_state to),
	TP_ARGS(conn, to),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, qp)
		__field(u32, from)
		__field(u32, to)
		__array(u8, remote, sizeof(struct sockaddr_in6))
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->qp = conn->qp ? conn->qp->qp_num : 0;
		__entry->from = conn->state;
		__entry->to = to;
		memcpy(__entry->remote, &conn->remote, sizeof(struct sockaddr_in6));
	),
	TP_printk("conn=%p qp=%u remote=%pISpc %s -> %s",
		  __entry->conn, __entry->qp, __entry->remote,
		  kverbs_trace_show(__entry->from, KVERBS_TRACE_STATES),
		  kverbs_trace_show(__entry->to, KVERBS_TRACE_STATES))
);

TRACE_EVENT(kverbs_conn_end,
	TP_PROTO(const struct kverbs_conn *conn),
	TP_ARGS(conn),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, qp)
		__field(int, error)
		__field(u32, reason)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->qp = conn->qp ? conn->qp->qp_num : 0;
		__entry->error = conn->end.error;
		__entry->reason = conn->end.reason;
	),
	TP_printk("conn=%p qp=%u error=%d reason=%u",
		  __entry->conn, __entry->qp, __entry->error, __entry->reason)
);

TRACE_EVENT(kverbs_cm_event,
	TP_PROTO(const struct kverbs_conn *conn, const struct rdma_cm_event *event),
	TP_ARGS(conn, event),
	TP_STRUCT__entry(
		__field(const void *, conn)
		__field(u32, event)
		__field(int, status)
	),
	TP_fast_assign(
		__entry->conn = conn;
		__entry->event = event->event;
		__entry->status = event->status;
	),
	TP_printk("conn=%p %s status=%d", __entry->conn,
		  kverbs_trace_show(__entry->event, KVERBS_TRACE_CM_EVENTS),
		  __entry->status)
);

/* An operation, identified by its hashed address, was posted, or the HCA refused it. */
TRACE_EVENT(kverbs_post,
	TP_PROTO(const struct kverbs_queue *queue, const struct kverbs_req *req,
		 unsigned int nr_regs, int ret),
	TP_ARGS(queue, req, nr_regs, ret),
	TP_STRUCT__entry(
		__field(const void *, req)
		__field(u32, qp)
		__field(u32, opcode)
		__field(u64, length)
		__field(u32, wrs)
		__field(u32, regs)
		__field(int, ret)
	),
	TP_fast_assign(
		__entry->req = req;
		__entry->qp = queue->qp->qp_num;
		__entry->opcode = req->opcode;
		__entry->length = req->length;
		__entry->wrs = req->nr_wrs;
		__entry->regs = nr_regs;
		__entry->ret = ret;
	),
	TP_printk("req=%p qp=%u %s length=%llu wrs=%u registrations=%u ret=%d",
		  __entry->req, __entry->qp,
		  kverbs_trace_show(__entry->opcode, KVERBS_TRACE_OPCODES),
		  __entry->length, __entry->wrs, __entry->regs, __entry->ret)
);

/* Every accepted operation completes once. */
TRACE_EVENT(kverbs_complete,
	TP_PROTO(const struct kverbs_req *req),
	TP_ARGS(req),
	TP_STRUCT__entry(
		__field(const void *, req)
		__field(u32, opcode)
		__field(int, result)
		__field(u32, status)
		__field(u64, bytes)
	),
	TP_fast_assign(
		__entry->req = req;
		__entry->opcode = req->opcode;
		__entry->result = req->result;
		__entry->status = req->wc_status;
		__entry->bytes = req->byte_len;
	),
	TP_printk("req=%p %s result=%d %s bytes=%llu", __entry->req,
		  kverbs_trace_show(__entry->opcode, KVERBS_TRACE_OPCODES),
		  __entry->result,
		  kverbs_trace_show(__entry->status, KVERBS_TRACE_WC),
		  __entry->bytes)
);

/* Memory is registered, for local access or for the peer. */
TRACE_EVENT(kverbs_register,
	TP_PROTO(const struct ib_mr *mr, int access),
	TP_ARGS(mr, access),
	TP_STRUCT__entry(
		__array(char, device, IB_DEVICE_NAME_MAX)
		__field(u32, key)
		__field(u64, length)
		__field(int, access)
	),
	TP_fast_assign(
		strscpy(__entry->device, dev_name(&mr->device->dev), IB_DEVICE_NAME_MAX);
		__entry->key = mr->rkey;
		__entry->length = mr->length;
		__entry->access = access;
	),
	TP_printk("%s key=0x%x length=%llu %s", __entry->device, __entry->key,
		  __entry->length,
		  __print_flags(__entry->access, "|",
				{ IB_ACCESS_LOCAL_WRITE, "LOCAL_WRITE" },
				{ IB_ACCESS_REMOTE_WRITE, "REMOTE_WRITE" },
				{ IB_ACCESS_REMOTE_READ, "REMOTE_READ" },
				{ IB_ACCESS_REMOTE_ATOMIC, "REMOTE_ATOMIC" }))
);

DECLARE_EVENT_CLASS(kverbs_memory,
	TP_PROTO(const struct kverbs_memory *memory),
	TP_ARGS(memory),
	TP_STRUCT__entry(
		__field(const void *, memory)
		__field(u64, length)
		__field(unsigned long, pages)
		__field(bool, writable)
	),
	TP_fast_assign(
		__entry->memory = memory;
		__entry->length = memory->length;
		__entry->pages = memory->npages;
		__entry->writable = memory->writable;
	),
	TP_printk("memory=%p length=%llu pages=%lu%s", __entry->memory, __entry->length,
		  __entry->pages, __entry->writable ? "" : " read-only")
);

DEFINE_EVENT(kverbs_memory, kverbs_memory_pin,
	TP_PROTO(const struct kverbs_memory *memory), TP_ARGS(memory));
DEFINE_EVENT(kverbs_memory, kverbs_memory_unpin,
	TP_PROTO(const struct kverbs_memory *memory), TP_ARGS(memory));
DEFINE_EVENT(kverbs_memory, kverbs_memory_revoke,
	TP_PROTO(const struct kverbs_memory *memory), TP_ARGS(memory));

#endif /* KVERBS_TRACE_H */

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
