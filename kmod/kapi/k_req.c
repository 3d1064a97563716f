// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Requests of other modules, documented in include/kverbs/kverbs.h. */
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "chain.h"
#include "compat.h"
#include "conn_cm.h"
#include "conn_io.h"
#include "export.h"
#include "k_conn.h"
#include "k_req.h"
#include "opcode.h"
#include "quirks.h"
#include "region.h"
#include "wr.h"

/* Of one request, so that its chain is far below the limits of memory. */
#define MAX_SGES	65536U
#define FLAGS		((u32)(KVERBS_K_FENCE | KVERBS_K_SOLICITED | KVERBS_K_UNSIGNALLED))

static_assert((int)KVERBS_K_SEND == KVERBS_OP_SEND);
static_assert((int)KVERBS_K_RECV == KVERBS_OP_RECV);
static_assert((int)KVERBS_K_WRITE == KVERBS_OP_WRITE);
static_assert((int)KVERBS_K_WRITE_IMM == KVERBS_OP_WRITE_IMM);
static_assert((int)KVERBS_K_READ == KVERBS_OP_READ);
static_assert((int)KVERBS_K_SEND_IMM == KVERBS_OP_SEND_IMM);
static_assert((int)KVERBS_K_SEND_INV == KVERBS_OP_SEND_INV);
static_assert((int)KVERBS_K_CMP_SWAP == KVERBS_OP_CMP_SWAP);
static_assert((int)KVERBS_K_FETCH_ADD == KVERBS_OP_FETCH_ADD);

static unsigned int smallest_wr(const struct kverbs_queue *queue)
{
	return min(queue->max_sge, queue->max_read_sge);
}

/* Work requests for @sges entries, and one for a registration. */
static unsigned int count_wrs(struct kverbs_conn *conn, unsigned int sges)
{
	if (kverbs_queue_check_up(&conn->queue))
		return 2;
	return DIV_ROUND_UP(sges, smallest_wr(&conn->queue)) + 1;
}

static int reserve_mr(struct k_req *request, unsigned int pages)
{
	struct kverbs_conn *conn = request->conn;
	struct kverbs_mr *mr;
	int ret;

	down_read(&conn->use);
	ret = kverbs_queue_check_up(&conn->queue);
	if (!ret && request->may_expose && conn->queue.quirks & KVERBS_QUIRK_NO_LOCAL_INV)
		ret = -EOPNOTSUPP;
	if (!ret) {
		mr = kverbs_mr_reserve(&conn->pool, pages);
		ret = PTR_ERR_OR_ZERO(mr);
	}
	if (!ret)
		request->mr = mr;
	up_read(&conn->use);
	return ret;
}

static unsigned int count_pages(const struct kverbs_conn *conn,
				const struct kverbs_k_req_size *size)
{
	if (conn->queue.quirks & KVERBS_QUIRK_READ_SINK)
		return max(size->expose_pages, size->read_pages);
	return size->expose_pages;
}

struct kverbs_k_req *kverbs_k_req_alloc(struct kverbs_k_conn *k_conn,
					const struct kverbs_k_req_size *size, gfp_t gfp)
{
	unsigned int sges = max(size->sges, 1U), pages;
	struct k_req *request;
	int ret = -ENOMEM;

	if (sges > MAX_SGES)
		return ERR_PTR(-EINVAL);
	/* Until then it is not known what the device needs. */
	if ((size->expose_pages || size->read_pages) &&
	    kverbs_queue_check_up(&k_conn->conn->queue))
		return ERR_PTR(-ENOTCONN);
	request = kzalloc_node(sizeof(*request), gfp, k_conn->conn->node);
	if (!request)
		return ERR_PTR(-ENOMEM);
	request->conn = k_conn->conn;
	request->lent = k_conn->lent;
	if (request->lent)
		return &request->k;
	request->may_expose = size->expose_pages;
	request->chain = kverbs_chain_alloc(count_wrs(request->conn, sges), sges, gfp,
					    request->conn->node);
	if (!request->chain)
		goto out_free_request;
	pages = count_pages(request->conn, size);
	if (pages) {
		ret = reserve_mr(request, pages);
		if (ret)
			goto out_free_chain;
	}
	return &request->k;

out_free_chain:
	kverbs_chain_free(request->chain);
out_free_request:
	kfree(request);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_req_alloc);

void kverbs_k_req_free(struct kverbs_k_req *k)
{
	struct k_req *request = to_k_req(k);
	struct kverbs_conn *conn = request->conn;
	int ret = 0;

	down_read(&conn->use);
	/* Without the queue pair the MRs of the connection are gone. */
	if (request->mr && conn->qp)
		ret = kverbs_mr_free(&conn->pool, request->mr);
	up_read(&conn->use);
	if (ret)
		kverbs_conn_close(conn);
	kverbs_chain_free(request->chain);
	kfree(request);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_req_free);

static void note_recv(struct k_req *request)
{
	const struct kverbs_req *req = &request->req;

	if (req->flags & KVERBS_CQE_F_IMM) {
		request->k.out_flags |= KVERBS_K_HAS_IMM;
		request->k.out_imm = (__force __be32)req->imm;
	}
	if (req->flags & KVERBS_CQE_F_INV) {
		request->k.out_flags |= KVERBS_K_HAS_REVOKED;
		request->k.out_revoked = req->imm;
	}
	if (req->flags & KVERBS_CQE_F_WRITE)
		request->k.out_flags |= KVERBS_K_IS_WRITE;
}

/* After a failure the MR is in an unknown state, and ends with the connection. */
static void complete_request(struct k_req *request)
{
	const struct kverbs_req *req = &request->req;

	if (!req->result && (request->is_sink || req->opcode == KVERBS_OP_NONE))
		kverbs_mr_uncover(&request->conn->pool, request->mr);
	request->k.result = req->result;
	request->k.wc_status = req->wc_status;
	request->k.byte_len = req->byte_len;
	request->k.out_flags = 0;
	if (req->opcode == KVERBS_OP_RECV)
		note_recv(request);
	request->k.done(&request->k);
}

/*
 * The module of a lent connection cannot wait for its callbacks by closing the connection, so it
 * waits for a grace period.
 */
static void req_done(struct list_head *done_list)
{
	struct kverbs_req *req;

	rcu_read_lock();
	while ((req = kverbs_req_pop(done_list, req_done)))
		complete_request(container_of(req, struct k_req, req));
	rcu_read_unlock();
}

static bool is_valid(const struct kverbs_k_req *k)
{
	const struct kverbs_opdef *op = kverbs_opdef_find(k->opcode);

	if (!op || !k->done || k->flags & ~FLAGS)
		return false;
	if (op->flags & KVERBS_OPF_RECV && k->flags)
		return false;
	if (op->flags & KVERBS_OPF_ATOMIC && k->length != sizeof(u64))
		return false;
	if (!k->length)
		return true;
	return k->region && kverbs_region_covers(k->region, k->offset, k->length) &&
	       (!(op->flags & KVERBS_OPF_WRITES) || k->region->writable);
}

static void fill_req(struct k_req *request)
{
	const struct kverbs_k_req *k = &request->k;
	bool key = k->opcode == KVERBS_K_SEND_INV;

	request->req = (struct kverbs_req) {
		.opcode = k->opcode,
		.region = k->length ? k->region : NULL,
		.offset = k->offset,
		.length = k->length,
		.remote_addr = k->remote_addr,
		.rkey = k->rkey,
		.imm = key ? 0 : (__force u32)k->imm,
		.operand = k->operand,
		.swap = k->swap,
		.fence = k->flags & KVERBS_K_FENCE,
		.solicited = k->flags & KVERBS_K_SOLICITED,
		.unsignalled = k->flags & KVERBS_K_UNSIGNALLED,
		.direct = !request->lent,
		.privileged = request->lent,
		.done = req_done,
	};
	request->is_sink = !request->lent &&
			   kverbs_wr_needs_sink(&request->conn->queue, &request->req);
}

/**
 * kverbs_k_req_begin() - check a request, and keep its memory until it completes
 * @request: the request
 *
 * kverbs_req_unuse() is due if the request is not posted.
 *
 * Context: process or softirq.
 * Return: 0 or -EINVAL.
 */
int kverbs_k_req_begin(struct k_req *request)
{
	if (!is_valid(&request->k))
		return -EINVAL;
	fill_req(request);
	kverbs_req_use(&request->req);
	return 0;
}

/**
 * kverbs_k_req_post() - post a request alone
 * @request: the request, begun
 *
 * Only RECVs of a lent connection are posted alone.
 *
 * Context: process or softirq; process, may sleep, if the connection is lent.
 * Return: as kverbs_k_post(). After 0 the request may be gone.
 */
int kverbs_k_req_post(struct k_req *request)
{
	if (request->lent)
		return request->k.opcode == KVERBS_K_RECV ?
		       kverbs_conn_recv(request->conn, &request->req) : -EINVAL;
	if (request->k.opcode == KVERBS_K_RECV)
		return kverbs_conn_recv_now(request->conn, &request->req, request->chain);
	return kverbs_conn_post_now(request->conn, &request->req, request->chain, request->mr);
}

int kverbs_k_post(struct kverbs_k_req *k)
{
	struct k_req *request = to_k_req(k);
	int ret;

	ret = kverbs_k_req_begin(request);
	if (ret)
		return ret;
	ret = kverbs_k_req_post(request);
	if (ret)
		kverbs_req_unuse(&request->req);
	return ret;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_post);

/* The caller holds "use" of the connection. */
static int cover(struct k_req *request, const struct kverbs_export_range *range)
{
	struct kverbs_conn *conn = request->conn;
	const struct kverbs_map *map;
	int ret;

	ret = kverbs_export_check(conn, range->rights);
	if (ret)
		return ret;
	if (request->mr->state != KVERBS_MR_FREE)
		return -EBUSY;
	map = kverbs_map_lookup(range->region, conn->pool.pd->device, &conn->tenant);
	if (!map)
		return -ENXIO;
	ret = kverbs_mr_cover(&conn->pool, request->mr, map, range->offset, range->length,
			      kverbs_export_access(range->rights));
	if (!ret)
		kverbs_mr_publish(&conn->pool, request->mr);
	return ret;
}

int kverbs_k_expose(struct kverbs_k_req *k, struct kverbs_region *region, u64 offset,
		    u64 length, u32 rights, struct kverbs_k_segment *segment)
{
	const struct kverbs_export_range range = {
		.region = region,
		.offset = offset,
		.length = length,
		.rights = rights,
	};
	struct k_req *request = to_k_req(k);
	int ret = -ENOTCONN;

	if (!request->may_expose || !kverbs_export_fits(&range))
		return -EINVAL;
	kverbs_region_use(region);
	if (down_read_trylock(&request->conn->use)) {
		ret = cover(request, &range);
		if (!ret)
			*segment = (struct kverbs_k_segment) {
				.addr = request->mr->ib->iova,
				.length = request->mr->ib->length,
				.rkey = request->mr->ib->rkey,
			};
		up_read(&request->conn->use);
	}
	kverbs_region_unuse(region);
	return ret;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_expose);

/* Returns 1 if the MR is not valid, so nothing has to be posted. */
static int uncover_idle(struct k_req *request)
{
	struct kverbs_conn *conn = request->conn;
	int ret = -ENOTCONN;

	if (!down_read_trylock(&conn->use))
		return ret;
	if (kverbs_queue_check_up(&conn->queue))
		goto out_unlock;
	switch (READ_ONCE(request->mr->state)) {
	case KVERBS_MR_FREE:
		ret = -EINVAL;
		break;
	case KVERBS_MR_MAPPED:
	case KVERBS_MR_REVOKED:
		kverbs_mr_uncover(&conn->pool, request->mr);
		ret = 1;
		break;
	default:
		ret = 0;
		break;
	}
out_unlock:
	up_read(&conn->use);
	return ret;
}

int kverbs_k_conceal(struct kverbs_k_req *k)
{
	struct k_req *request = to_k_req(k);
	int ret;

	if (!request->may_expose || !k->done)
		return -EINVAL;
	ret = uncover_idle(request);
	if (ret)
		return ret;
	request->req = (struct kverbs_req) { .opcode = KVERBS_OP_NONE, .done = req_done };
	request->is_sink = false;
	ret = kverbs_conn_invalidate_now(request->conn, &request->req, request->chain,
					 request->mr);
	/* The peer may just have revoked the key. */
	return ret == -EBUSY && uncover_idle(request) == 1 ? 1 : ret;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_conceal);
