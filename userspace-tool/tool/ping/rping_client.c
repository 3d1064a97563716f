// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <limits.h>
#include <string.h>

#include "cli/units.h"
#include "cli/util.h"
#include "ping/rping.h"
#include "ping/rping_client.h"

/* Of the text that comes back, in the buffer: on a page of its own. */
#define ECHO_AT 65536

/**
 * struct rping_client - a run
 * @p: what is asked for, and how it goes
 * @buf: both texts
 * @out: what the server may read
 * @back: what it may write
 */
struct rping_client {
	struct ping *p;
	struct kverbs_buf *buf;
	struct kverbs_token out;
	struct kverbs_token back;
};

static char *text(const struct rping_client *c)
{
	return kverbs_buf_addr(c->buf);
}

static char *echo(const struct rping_client *c)
{
	return text(c) + ECHO_AT;
}

static int send_info(struct rping_client *c, const struct kverbs_token *token)
{
	struct rping_info info = {
		.addr = token->segs->addr,
		.rkey = token->segs->rkey,
		.size = token->length,
	};
	uint8_t msg[RPING_INFO_LEN];

	rping_info_encode(&info, msg);
	return session_send_raw(&c->p->s, msg, sizeof(msg));
}

static int await_go_ahead(struct rping_client *c)
{
	const void *msg;
	size_t len;
	int ret;

	ret = session_recv_raw(&c->p->s, &msg, &len, c->p->timeout_ms);
	if (!ret && len != RPING_INFO_LEN)
		ret = -EBADMSG;
	return ret;
}

static int offer(struct rping_client *c, const struct kverbs_token *token)
{
	int ret;

	ret = send_info(c, token);
	return ret ? ret : await_go_ahead(c);
}

static int ping_once(struct rping_client *c)
{
	struct ping *p = c->p;
	double start = units_now();
	int ret;

	rping_text_fill(text(c), p->size, p->sent);
	/* What the last one left must not pass for an echo. */
	memset(echo(c), 0, p->size);
	p->sent++;
	ret = offer(c, &c->out);
	if (!ret)
		ret = offer(c, &c->back);
	if (!ret)
		ping_take(p, units_now() - start,
			  memcmp(text(c), echo(c), p->size) != 0);
	return ret;
}

/* Nothing may come meanwhile, but the server may leave. */
static int pause_until(struct rping_client *c, double next)
{
	double left = (next - units_now()) * 1e3;
	const void *msg;
	size_t len;
	int ret;

	if (left <= 0)
		return 0;
	ret = session_recv_raw(&c->p->s, &msg, &len, min(left + 1, (double)INT_MAX));
	if (ret == -ETIMEDOUT && !kverbs_conn_error(c->p->s.conn))
		return 0;
	return ret ? ret : -EPROTO;
}

static int ping_all(struct rping_client *c)
{
	struct ping *p = c->p;
	double next = p->start;
	int ret = 0;

	while (!ret && !(p->count && p->sent == p->count)) {
		ret = pause_until(c, next);
		next += p->interval_ms / 1e3;
		if (!ret && session_stopped(&p->s))
			ret = -EINTR;
		if (!ret)
			ret = ping_once(c);
	}
	return ret;
}

/* One name for each range is all that a message can carry. */
static int export(struct rping_client *c, size_t at, unsigned int access,
		  struct kverbs_token *token)
{
	int ret;

	ret = kverbs_export(c->p->s.conn, c->buf, at, c->p->size, access, token);
	if (!ret && token->nr_segs != 1)
		ret = -EMSGSIZE;
	return ret == -ENOTCONN ? -ECONNRESET : ret;
}

int rping_exchange(struct ping *p)
{
	struct rping_client c = { .p = p };
	int ret;

	ret = kverbs_buf_alloc(p->s.kv, 2 * ECHO_AT, &c.buf);
	if (ret)
		return ret;
	ret = export(&c, 0, KVERBS_REMOTE_READ, &c.out);
	if (!ret)
		ret = export(&c, ECHO_AT, KVERBS_REMOTE_WRITE, &c.back);
	if (!ret)
		ret = ping_all(&c);
	/* The exports end with the connection. */
	session_stop(&p->s);
	kverbs_token_free(&c.out);
	kverbs_token_free(&c.back);
	kverbs_buf_free(c.buf);
	return ret;
}
