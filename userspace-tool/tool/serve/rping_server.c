// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>

#include "ping/rping.h"
#include "serve/rping_server.h"

/**
 * struct rping_server - one client
 * @s: its connection
 * @buf: where its texts go
 * @req: what moves them, one at a time
 * @tally: what came
 */
struct rping_server {
	struct session *s;
	struct kverbs_buf *buf;
	struct kverbs_req req;
	struct rping_tally *tally;
};

static int recv_info(struct rping_server *r, struct rping_info *info)
{
	const void *msg;
	size_t len;
	int ret;

	ret = session_recv_raw(r->s, &msg, &len, r->s->timeout_ms);
	return ret ? ret : rping_info_decode(info, msg, len);
}

/* Only its length is looked at. */
static int go_ahead(struct rping_server *r)
{
	static const uint8_t msg[RPING_INFO_LEN];

	return session_send_raw(r->s, msg, sizeof(msg));
}

typedef int (*move_fn)(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		       size_t length, const struct kverbs_token *token,
		       uint64_t remote_offset, struct kverbs_req *req);

/* The first @len bytes of what @info names, and wait until that is done. */
static int move(struct rping_server *r, move_fn fn, unsigned int access,
		const struct rping_info *info, size_t len)
{
	struct kverbs_segment seg = {
		.addr = info->addr, .length = info->size, .rkey = info->rkey,
	};
	struct kverbs_token token = {
		.length = info->size, .access = access, .nr_segs = 1, .segs = &seg,
	};
	int ret;

	ret = fn(r->s->conn, r->buf, 0, len, &token, 0, &r->req);
	if (ret)
		return ret == -ENOTCONN ? -ECONNRESET : ret;
	return session_wait(r->s, &r->req, r->s->timeout_ms);
}

static int take_text(struct rping_server *r, size_t *len)
{
	struct rping_info info;
	int ret;

	ret = recv_info(r, &info);
	if (ret)
		return ret;
	if (info.size > RPING_SIZE_MAX)
		return -EMSGSIZE;
	*len = info.size;
	ret = move(r, kverbs_read, KVERBS_REMOTE_READ, &info, *len);
	if (ret)
		return ret;
	r->tally->differed += rping_text_differs(kverbs_buf_addr(r->buf), *len,
						 r->tally->pings++);
	return go_ahead(r);
}

/* As it came, right or not: the client shall see the same. */
static int give_text(struct rping_server *r, size_t len)
{
	struct rping_info info;
	int ret;

	ret = recv_info(r, &info);
	if (ret)
		return ret;
	if (info.size < len)
		return -EMSGSIZE;
	ret = move(r, kverbs_write, KVERBS_REMOTE_WRITE, &info, len);
	return ret ? ret : go_ahead(r);
}

int rping_serve(struct session *s, struct rping_tally *tally)
{
	struct rping_server r = { .s = s, .tally = tally };
	size_t len;
	int ret;

	ret = kverbs_buf_alloc(s->kv, RPING_SIZE_MAX, &r.buf);
	if (ret)
		return ret;
	while (!ret) {
		ret = take_text(&r, &len);
		if (!ret)
			ret = give_text(&r, len);
	}
	/* A request that was given up still has the buffer. */
	session_stop(s);
	kverbs_buf_free(r.buf);
	return ret;
}
