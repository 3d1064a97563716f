// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <openssl/crypto.h>

#include "cli/util.h"
#include "peer/session.h"

#define SLOT_ALIGN 64
#define WC_WR_FLUSH_ERR 5
#define NSEC_PER_MSEC 1000000ull
/* How long a queued message may wait for others; a disk takes longer than that for a file. */
#define QUEUED_NS (2 * NSEC_PER_MSEC)

static size_t recv_at(const struct session *s, uint64_t i)
{
	return i % s->depth * s->slot;
}

static size_t send_at(const struct session *s, uint64_t i)
{
	return (s->depth + i % s->depth) * s->slot;
}

static size_t room_of(const struct session *s)
{
	return wire_room(&s->hello);
}

static bool has_key(const struct wire_hello *hello)
{
	return hello->flags & WIRE_F_KEY;
}

uint64_t session_bytes(const struct wire_hello *hello)
{
	uint64_t clear = has_key(hello) ? 2 * (uint64_t)hello->msg_max : 0;

	return 2ull * hello->depth * wire_room(hello) + clear;
}

static int alloc_slots(struct session *s)
{
	int ret;

	s->slot = (room_of(s) + SLOT_ALIGN - 1) / SLOT_ALIGN * SLOT_ALIGN;
	s->recv = calloc(s->depth, sizeof(*s->recv));
	s->send = calloc(s->depth, sizeof(*s->send));
	ret = s->recv && s->send ? 0 : -ENOMEM;
	if (!ret && has_key(&s->hello)) {
		s->clear = calloc(2, s->hello.msg_max);
		ret = s->clear ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = kverbs_buf_alloc(s->kv, 2 * s->depth * s->slot, &s->mem);
	return ret;
}

static int post_recv(struct session *s, struct kverbs_conn *conn, uint64_t i)
{
	return kverbs_recv(conn, s->mem, recv_at(s, i), room_of(s), &s->recv[i % s->depth]);
}

static int post_all(struct session *s, struct kverbs_conn *conn)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < s->depth && !ret; i++)
		ret = post_recv(s, conn, i);
	return ret;
}

static void name_peer(struct session *s)
{
	struct kverbs_cmd_conn_query query;

	snprintf(s->peer, sizeof(s->peer), "-");
	if (kverbs_conn_query(s->conn, &query, sizeof(query)))
		return;
	s->local = query.out_local;
	s->addr = query.out_remote;
	kverbs_addr_format(&s->addr, s->peer, sizeof(s->peer));
}

void session_init(struct session *s, struct kverbs *kv, struct kverbs_conn *conn,
		  const struct wire_hello *hello)
{
	memset(s, 0, sizeof(*s));
	pthread_mutex_init(&s->lock, NULL);
	s->kv = kv;
	s->conn = conn;
	s->hello = *hello;
	s->depth = hello->depth;
	if (conn)
		name_peer(s);
}

static void read_welcome(struct session *s)
{
	uint8_t priv[KVERBS_PRIV_ACCEPT_MAX];
	int n = kverbs_conn_priv(s->conn, priv, sizeof(priv));

	memset(&s->welcome, 0, sizeof(s->welcome));
	if (n > 0)
		wire_hello_decode(&s->welcome, priv, n);
}

static void fill_opts(struct session *s, struct kverbs_conn_opts *opts, void *priv,
		      const struct wire_hello *hello)
{
	memset(opts, 0, sizeof(*opts));
	opts->sz = sizeof(*opts);
	s->param = (struct kverbs_conn_param){
		.rq_depth = s->depth,
		.sq_depth = max(s->depth, 128u),
	};
	opts->param = &s->param;
	opts->param_sz = sizeof(s->param);
	opts->timeout_ms = s->timeout_ms;
	if (!hello->version)
		return;
	opts->priv = priv;
	opts->priv_len = wire_hello_encode(hello, priv, WIRE_HELLO_LEN);
}

/* The peer accepted: check that it is a kverbs server of our version. */
static int check_welcome(const struct session *s)
{
	if (s->welcome.version != WIRE_VERSION || s->welcome.what != s->hello.what)
		return -EPROTO;
	return 0;
}

void session_explain_conn(struct session *s, struct kverbs_conn *conn, int err,
			  unsigned int wc_status)
{
	const struct kverbs_failure failure = {
		.sz = sizeof(failure),
		.conn = conn,
		.error = err,
		.wc_status = wc_status,
		.before = s->before ? s->before->counters : NULL,
	};

	s->explained = !kverbs_conn_explain(s->kv, &failure, &s->why, sizeof(s->why));
}

void session_explain(struct session *s, int err)
{
	if (!s->explained)
		session_explain_conn(s, s->conn, err, 0);
}

void session_print_why(struct session *s, int err, bool in_full)
{
	session_explain(s, err);
	if (s->explained)
		explain_print(&s->why, in_full);
}

static int prepare(struct kverbs_conn *conn, void *arg)
{
	return post_all(arg, conn);
}

/* A server of kverbs answers for the host: its other addresses are not asked. */
static bool refused(struct kverbs_conn *conn, void *arg)
{
	uint8_t priv[KVERBS_PRIV_ACCEPT_MAX];
	struct session *s = arg;
	struct wire_hello hello;
	int n = kverbs_conn_priv(conn, priv, sizeof(priv));

	if (n <= 0 || wire_hello_decode(&hello, priv, n))
		return false;
	s->refusal = hello.what;
	s->welcome = hello;
	return s->refusal;
}

/* Of several addresses, the last one that this host could try says most. */
static void failed(struct kverbs_conn *conn, int err, void *arg)
{
	session_explain_conn(arg, conn, err, 0);
}

static void explain_attempt(struct session *s, int err)
{
	/* Another address failed with the error that kverbs_connect() returns. */
	if (s->explained && s->why.error != err)
		s->explained = false;
	session_explain(s, err);
}

int session_connect(struct session *s, struct kverbs *kv, const struct session_to *to,
		    const struct wire_hello *hello)
{
	uint8_t priv[WIRE_HELLO_LEN];
	struct kverbs_conn_opts opts;
	int ret;

	session_init(s, kv, NULL, hello);
	s->hello.flags |= WIRE_F_SEVERAL;
	s->timeout_ms = to->timeout_ms;
	ret = alloc_slots(s);
	if (ret)
		return ret;
	fill_opts(s, &opts, priv, &s->hello);
	s->param.keepalive_ns = to->keepalive_ms * NSEC_PER_MSEC;
	if (to->connect_ms)
		opts.timeout_ms = to->connect_ms;
	opts.source = to->source;
	opts.prepare = prepare;
	opts.refused = refused;
	opts.failed = failed;
	opts.arg = s;
	s->before = explain_base_new();
	ret = kverbs_connect(kv, to->host, to->port, &opts, &s->conn);
	if (ret) {
		explain_attempt(s, ret);
		return ret;
	}
	s->explained = false;
	name_peer(s);
	if (!hello->version)
		return 0;
	read_welcome(s);
	s->several = s->welcome.flags & WIRE_F_SEVERAL;
	return check_welcome(s);
}

int session_open(struct session *s)
{
	int ret = alloc_slots(s);

	return ret ? ret : post_all(s, s->conn);
}

int session_answer(struct session *s, uint32_t flags, int timeout_ms, int accept_ms)
{
	uint8_t priv[WIRE_HELLO_LEN];
	struct kverbs_conn_opts opts;

	s->welcome = s->hello;
	s->welcome.flags = flags | WIRE_F_SEVERAL;
	s->several = s->hello.flags & WIRE_F_SEVERAL;
	fill_opts(s, &opts, priv, &s->welcome);
	opts.timeout_ms = accept_ms;
	s->timeout_ms = timeout_ms;
	return kverbs_accept(s->conn, &opts);
}

int session_accept(struct session *s, uint32_t flags, int timeout_ms)
{
	int ret = session_open(s);

	return ret ? ret : session_answer(s, flags, timeout_ms, 0);
}

/* End the connection. Memory stays: what it was exported or posted from too. */
void session_stop(struct session *s)
{
	struct kverbs_conn *conn;

	pthread_mutex_lock(&s->lock);
	conn = s->conn;
	s->conn = NULL;
	pthread_mutex_unlock(&s->lock);
	kverbs_conn_free(conn);
}

void session_disconnect(struct session *s)
{
	pthread_mutex_lock(&s->lock);
	__atomic_store_n(&s->disconnected, true, __ATOMIC_RELAXED);
	if (s->conn)
		kverbs_disconnect(s->conn);
	pthread_mutex_unlock(&s->lock);
}

void session_free(struct session *s)
{
	session_stop(s);
	OPENSSL_cleanse(s->mac_key, sizeof(s->mac_key));
	tls_free(s->tls);
	if (s->clear)
		OPENSSL_cleanse(s->clear, 2 * (size_t)s->hello.msg_max);
	free(s->clear);
	kverbs_buf_free(s->mem);
	explain_base_put(s->before);
	free(s->recv);
	free(s->send);
	s->before = NULL;
	s->tls = NULL;
	s->clear = NULL;
	s->mem = NULL;
	s->recv = NULL;
	s->send = NULL;
}

int session_end_error(const struct session *s)
{
	return __atomic_load_n(&s->disconnected, __ATOMIC_RELAXED) ? -ECANCELED : -ECONNRESET;
}

/* Flushed work only tells that the connection ended; it knows why. */
static int reason(struct session *s, const struct kverbs_req *req, int err)
{
	int ret = kverbs_conn_error(s->conn);

	if (ret)
		return ret;
	if (err == -EIO && req->wc_status == WC_WR_FLUSH_ERR)
		return session_end_error(s);
	return err;
}

/* A server's clients leave as they like, and this side's own end is no failure. */
static bool is_failure(const struct session *s, int err)
{
	return err && err != -ECANCELED && !(s->visit && err == -ECONNRESET);
}

static int why(struct session *s, const struct kverbs_req *req, int err)
{
	int ret = reason(s, req, err);

	if (is_failure(s, ret))
		session_explain(s, ret);
	return ret;
}

const uint8_t *session_mac_key(const struct session *s)
{
	return s->keyed ? s->mac_key : NULL;
}

bool session_broken(struct session *s, int err)
{
	return err == -ECONNRESET || err == -ECANCELED || err == -ENOTCONN ||
	       kverbs_conn_error(s->conn);
}

bool session_stopped(const struct session *s)
{
	return s->stop && __atomic_load_n(s->stop, __ATOMIC_RELAXED);
}

int session_wait(struct session *s, struct kverbs_req *req, int timeout_ms)
{
	int ret;

	do {
		ret = kverbs_wait(req, timeout_ms);
	} while (ret == -EINTR && !session_stopped(s));
	if (ret && ret != -ETIMEDOUT && ret != -EINTR)
		ret = why(s, req, ret);
	return ret;
}

static void *send_slot(const struct session *s)
{
	return (char *)kverbs_buf_addr(s->mem) + send_at(s, s->sent);
}

/* Wait until what was sent from the next slot has left it. */
static int free_slot(struct session *s)
{
	if (s->sent < s->depth)
		return 0;
	return session_wait(s, &s->send[s->sent % s->depth], s->timeout_ms);
}

static int post_send(struct session *s, size_t len)
{
	int ret;

	ret = kverbs_send(s->conn, s->mem, send_at(s, s->sent), len,
			  &s->send[s->sent % s->depth]);
	if (ret)
		return ret == -ENOTCONN ? session_end_error(s) : ret;
	s->sent++;
	s->bytes_out += len;
	return 0;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000 * NSEC_PER_MSEC + ts.tv_nsec;
}

/* Send what is queued, with a key as one record of TLS. */
int session_push(struct session *s)
{
	int len = s->queued, ret = 0;

	if (!len)
		return 0;
	if (s->before_send)
		ret = s->before_send(s->before_arg);
	if (ret)
		return ret;
	s->queued = 0;
	s->nr_queued = 0;
	if (s->tls)
		len = tls_seal(s->tls, s->clear, len, send_slot(s), room_of(s));
	return len < 0 ? len : post_send(s, len);
}

int session_push_old(struct session *s)
{
	return s->queued && now_ns() - s->queued_at >= QUEUED_NS ? session_push(s) : 0;
}

static int append(struct session *s, const struct wire_msg *msg)
{
	uint8_t *to = s->tls ? s->clear : send_slot(s);

	return wire_encode(msg, to + s->queued, s->hello.msg_max - s->queued);
}

/* Put a message behind those that are queued, which are sent if there is no room for it. */
static int put(struct session *s, const struct wire_msg *msg)
{
	int ret, len = -EMSGSIZE;

	if (s->queued)
		len = append(s, msg);
	if (len == -EMSGSIZE) {
		ret = session_push(s);
		if (!ret)
			ret = free_slot(s);
		if (ret)
			return ret;
		len = append(s, msg);
	}
	if (len > 0)
		s->queued += len;
	return len;
}

int session_queue(struct session *s, const struct wire_msg *msg)
{
	int len = put(s, msg);

	if (len < 0)
		return len;
	if (!s->several)
		return session_push(s);
	if (++s->nr_queued == SESSION_QUEUED_MAX)
		return session_push(s);
	if (s->queued > (size_t)len)
		return session_push_old(s);
	s->queued_at = now_ns();
	return 0;
}

int session_send(struct session *s, const struct wire_msg *msg)
{
	int len = put(s, msg);

	return len < 0 ? len : session_push(s);
}

/* Bytes of a protocol that is not ours. */
int session_send_raw(struct session *s, const void *buf, size_t len)
{
	int ret;

	if (len > room_of(s))
		return -EMSGSIZE;
	ret = session_push(s);
	if (!ret)
		ret = free_slot(s);
	if (ret)
		return ret;
	memcpy(send_slot(s), buf, len);
	return post_send(s, len);
}

static int release_held(struct session *s)
{
	int ret = 0;

	if (s->held)
		ret = post_recv(s, s->conn, s->received - 1);
	s->held = false;
	if (!ret || !session_broken(s, ret))
		return ret;
	/* The connection ended, but messages received before can still be read. */
	if (!s->end)
		s->end = s->received - 1 + s->depth;
	return 0;
}

int session_release(struct session *s)
{
	return release_held(s);
}

static struct kverbs_req *next_recv(const struct session *s)
{
	return &s->recv[s->received % s->depth];
}

/* Whether all that came before the end of the connection has been taken */
static bool is_drained(const struct session *s)
{
	return s->end && s->received >= s->end;
}

/*
 * Before a message is taken: the peer may wait for what is queued, unless a message has come. Of a
 * connection that has ended, what was received can still be read.
 */
static int push_before(struct session *s, bool here)
{
	int ret = here ? session_push_old(s) : session_push(s);

	return ret && session_broken(s, ret) ? 0 : ret;
}

int session_await(struct session *const sessions[], unsigned int nr, int timeout_ms)
{
	struct kverbs_req *reqs[SESSION_AWAIT_MAX];
	unsigned int i;
	int ret;

	if (nr > SESSION_AWAIT_MAX)
		return -EINVAL;
	for (i = 0; i < nr; i++) {
		if (sessions[i]->rest_len)
			return i;
		ret = release_held(sessions[i]);
		if (!ret)
			ret = push_before(sessions[i], false);
		if (ret)
			return ret;
		if (is_drained(sessions[i]))
			return i;
		reqs[i] = next_recv(sessions[i]);
	}
	do {
		ret = kverbs_wait_any(reqs, nr, timeout_ms);
	} while (ret == -EINTR && !session_stopped(sessions[0]));
	return ret;
}

/* The next message as it came; it is good until the next call. */
int session_recv_raw(struct session *s, const void **buf, size_t *len, int timeout_ms)
{
	struct kverbs_req *req = next_recv(s);
	int ret;

	ret = release_held(s);
	if (ret)
		return ret;
	if (is_drained(s))
		return why(s, req, session_end_error(s));
	ret = push_before(s, s->queued && kverbs_wait(req, 0) != -ETIMEDOUT);
	if (!ret)
		ret = session_wait(s, req, timeout_ms);
	if (ret)
		return ret;
	*buf = (char *)kverbs_buf_addr(s->mem) + recv_at(s, s->received);
	*len = req->byte_len;
	s->received++;
	s->bytes_in += *len;
	s->held = true;
	return 0;
}

/* Take the next SEND, decrypted. */
static int take_send(struct session *s, int timeout_ms)
{
	const void *buf;
	size_t len;
	int ret;

	ret = session_recv_raw(s, &buf, &len, timeout_ms);
	if (ret)
		return ret;
	if (s->tls) {
		ret = tls_open(s->tls, buf, len, s->clear + s->hello.msg_max, s->hello.msg_max);
		if (ret < 0)
			return ret;
		buf = s->clear + s->hello.msg_max;
		len = ret;
	}
	s->rest = buf;
	s->rest_len = len;
	return 0;
}

/* The next message; its tail is good until the next call. */
int session_recv(struct session *s, struct wire_msg *msg, int timeout_ms)
{
	const uint8_t *buf;
	int ret, len;

	ret = s->rest_len ? push_before(s, true) : take_send(s, timeout_ms);
	if (ret)
		return ret;
	buf = s->rest;
	len = s->several ? wire_length(buf, s->rest_len) : (int)s->rest_len;
	s->rest += max(len, 0);
	s->rest_len = len < 0 ? 0 : s->rest_len - len;
	return len < 0 ? len : wire_decode(msg, buf, len);
}

/* Send the message just received back, from where it lies unless it came encrypted. */
int session_echo(struct session *s, const struct wire_msg *msg)
{
	struct kverbs_req *req = &s->send[s->received % s->depth];
	size_t at = recv_at(s, s->received - 1);
	int ret;

	if (s->tls)
		return session_send(s, msg);
	memset(req, 0, sizeof(*req));
	ret = kverbs_send(s->conn, s->mem, at, WIRE_HEAD_LEN + msg->tail_len, req);
	if (ret)
		return ret == -ENOTCONN ? session_end_error(s) : ret;
	return session_wait(s, req, s->timeout_ms);
}

/* Wait until all that was sent has arrived: ending the connection would lose it. */
int session_flush(struct session *s)
{
	int ret = session_push(s);
	uint64_t i = s->sent > s->depth ? s->sent - s->depth : 0;

	for (; i < s->sent && !ret; i++)
		ret = session_wait(s, &s->send[i % s->depth], s->timeout_ms);
	return ret;
}
