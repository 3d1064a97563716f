// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Getting connections up: connect and accept.
 */
#include <errno.h>
#include <netdb.h>
#include <stdbool.h>
#include <stdlib.h>

#include "addr.h"
#include "conn.h"
#include "group.h"
#include "internal.h"
#include "pool.h"
#include "wait.h"

static int opts_get(struct kverbs_conn_opts *opts, const struct kverbs_conn_opts *from)
{
	int ret = kverbs_opts_copy(opts, sizeof(*opts), from);

	if (ret)
		return ret;
	opts->sz = sizeof(*opts);
	if (!opts->timeout_ms)
		opts->timeout_ms = KVERBS_DEFAULT_TIMEOUT_MS;
	return 0;
}

/* "Never" is the longest time that the kernel accepts. */
static uint64_t kernel_timeout(int timeout_ms)
{
	return (uint64_t)(timeout_ms < 0 ? INT32_MAX : timeout_ms) * NSEC_PER_MSEC;
}

/* @flags: AI_NUMERICHOST for a caller that must not wait for a name service */
static int resolve_source(const char *source, int family, int flags, struct kverbs_addr *addr)
{
	struct addrinfo *list;
	int ret;

	if (!source)
		return 0;
	ret = kverbs_addr_resolve(source, NULL, family, AI_PASSIVE | flags, &list);
	if (ret)
		return ret == -ENXIO ? -EADDRNOTAVAIL : ret;
	ret = kverbs_addr_from_sockaddr(addr, list->ai_addr);
	freeaddrinfo(list);
	return ret;
}

/* Sets *id to the pool's, 0 without one. */
static int pool_id(const struct kverbs *kv, const struct kverbs_pool *pool, uint32_t *id)
{
	if (pool && pool->kv != kv)
		return -EINVAL;
	*id = pool ? pool->id : 0;
	return 0;
}

static int connect_ioctl(struct kverbs *kv, struct kverbs_cmd_connect *cmd,
			 struct kverbs_pool *pool, struct kverbs_conn **conn)
{
	struct kverbs_conn *c;
	int ret;

	if (kverbs_is_child(kv))
		return -ECHILD;
	c = kverbs_conn_alloc();
	if (!c)
		return -ENOMEM;
	c->pool = pool;
	/* Its first event must find it in the table. */
	pthread_mutex_lock(&kv->lock);
	ret = kverbs_ioctl(kv, KVERBS_CONNECT, cmd);
	if (!ret)
		kverbs_conn_publish(kv, c, cmd->out_id);
	pthread_mutex_unlock(&kv->lock);
	if (ret)
		free(c);
	else
		*conn = c;
	return ret;
}

static int start(struct kverbs *kv, const struct sockaddr *dst, int flags,
		 const struct kverbs_conn_opts *opts, struct kverbs_conn **conn)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = kv->ring.id,
		.timeout_ns = kernel_timeout(opts->timeout_ms),
		.param_uptr = (uintptr_t)opts->param,
		.param_size = (uint32_t)opts->param_sz,
		.priv_uptr = (uintptr_t)opts->priv,
		.priv_len = (uint32_t)opts->priv_len,
	};
	int ret;

	if (opts->priv_len > KVERBS_PRIV_CONNECT_MAX)
		return -EINVAL;
	ret = kverbs_addr_from_sockaddr(&cmd.dst, dst);
	if (ret)
		return ret;
	ret = resolve_source(opts->source, dst->sa_family, flags, &cmd.src);
	if (!ret)
		ret = kverbs_group_id(opts->group, kv, &cmd.group_id);
	if (!ret)
		ret = pool_id(kv, opts->pool, &cmd.pool_id);
	if (ret)
		return ret;
	return connect_ioctl(kv, &cmd, opts->pool, conn);
}

int kverbs_connect_start(struct kverbs *kv, const struct sockaddr *dst,
			 const struct kverbs_conn_opts *opts, struct kverbs_conn **conn)
{
	struct kverbs_conn_opts o;
	int ret = opts_get(&o, opts);

	if (ret)
		return ret;
	return start(kv, dst, AI_NUMERICHOST, &o, conn);
}

/* @last: set if no other address is to be tried */
static int connect_one(struct kverbs *kv, const struct sockaddr *dst,
		       const struct kverbs_conn_opts *opts, struct kverbs_conn **conn,
		       bool *last)
{
	struct kverbs_conn *c;
	int ret = start(kv, dst, 0, opts, &c);

	if (ret)
		return ret;
	if (opts->prepare)
		ret = opts->prepare(c, opts->arg);
	/* A peer that refused so soon has ended the connection: the wait returns its reason. */
	if (!ret || ret == -ENOTCONN)
		ret = kverbs_conn_wait(c, opts->timeout_ms);
	if (!ret) {
		*conn = c;
		return 0;
	}
	if (ret == -ECONNREFUSED && opts->refused)
		*last = opts->refused(c, opts->arg);
	if (opts->failed)
		opts->failed(c, ret, opts->arg);
	kverbs_conn_free(c);
	return ret;
}

/* An error from the remote host says more than a local one on the way to it. */
static int error_rank(int error)
{
	switch (error) {
	case 0:
		return 0;
	case -EADDRNOTAVAIL:
	case -EAFNOSUPPORT:
		return 1;
	case -ENODEV:
		return 2;
	case -ENETUNREACH:
	case -EHOSTUNREACH:
		return 3;
	case -ETIMEDOUT:
		return 5;
	case -ECONNRESET:
	case -ECONNREFUSED:
		return 6;
	default:
		return 4;
	}
}

static int worse_known(int known, int error)
{
	return error_rank(error) >= error_rank(known) ? error : known;
}

/* A fair part of the time that is left, so that a dead address costs no more. */
static int time_for(const struct addrinfo *ai, uint64_t deadline)
{
	int left = kverbs_deadline_left(deadline), addrs = 0;

	if (left < 0)
		return ai->ai_next ? KVERBS_DEFAULT_TIMEOUT_MS : -1;
	for (; ai; ai = ai->ai_next)
		addrs++;
	return left >= addrs ? left / addrs : left;
}

static int connect_any(struct kverbs *kv, const struct addrinfo *ai,
		       struct kverbs_conn_opts *opts, struct kverbs_conn **conn)
{
	uint64_t deadline = kverbs_deadline(opts->timeout_ms);
	bool last = false;
	int ret, error = 0;

	for (; ai && !last; ai = ai->ai_next) {
		opts->timeout_ms = time_for(ai, deadline);
		if (!opts->timeout_ms)
			return worse_known(error, -ETIMEDOUT);
		ret = connect_one(kv, ai->ai_addr, opts, conn, &last);
		if (!ret || ret == -EINTR || ret == -EDEADLK)
			return ret;
		error = worse_known(error, ret);
	}
	return error;
}

int kverbs_connect(struct kverbs *kv, const char *host, const char *port,
		   const struct kverbs_conn_opts *opts, struct kverbs_conn **conn)
{
	struct kverbs_conn_opts o;
	struct addrinfo *list;
	int ret;

	ret = opts_get(&o, opts);
	if (ret)
		return ret;
	ret = kverbs_addr_resolve(host, port, AF_UNSPEC, 0, &list);
	if (ret)
		return ret;
	ret = connect_any(kv, list, &o, conn);
	freeaddrinfo(list);
	return ret;
}

static void lock_both(struct kverbs *a, struct kverbs *b)
{
	pthread_mutex_lock(a < b ? &a->lock : &b->lock);
	pthread_mutex_lock(a < b ? &b->lock : &a->lock);
}

static void unlock_both(struct kverbs *a, struct kverbs *b)
{
	pthread_mutex_unlock(&a->lock);
	pthread_mutex_unlock(&b->lock);
}

/* After these errors the connection is as it was; others end it, on the ring that ACCEPT names. */
static bool stays(int error)
{
	switch (error) {
	case -EINVAL:
	case -E2BIG:
	case -EFAULT:
	case -ENOENT:
	case -EAGAIN:
	case -ENOTCONN:
		return true;
	default:
		return false;
	}
}

/*
 * Accept on another ring than the listener's. No event of the connection is unread there: the
 * request was read, and an event that ends it makes ACCEPT fail. The first one on the new ring
 * must find it in the table of that.
 */
static int accept_on(struct kverbs *home, struct kverbs_conn *conn,
		     struct kverbs_cmd_accept *cmd, struct kverbs_pool *pool)
{
	struct kverbs *from = conn->kv;
	int ret = -EBUSY;

	cmd->ring_id = home->ring.id;
	lock_both(from, home);
	/* The requests of receives are those of the old ring. */
	if (!conn->reqs) {
		conn->pool = pool;
		ret = kverbs_ioctl(from, KVERBS_ACCEPT, cmd);
		if (!stays(ret))
			kverbs_conn_move(conn, home);
	}
	unlock_both(from, home);
	return ret;
}

static int accept_ioctl(struct kverbs_conn *conn, const struct kverbs_conn_opts *opts)
{
	struct kverbs_cmd_accept cmd = {
		.size = sizeof(cmd),
		.conn_id = conn->obj.id,
		.timeout_ns = kernel_timeout(opts->timeout_ms),
		.param_uptr = (uintptr_t)opts->param,
		.param_size = (uint32_t)opts->param_sz,
		.priv_uptr = (uintptr_t)opts->priv,
		.priv_len = (uint32_t)opts->priv_len,
	};
	struct kverbs *home = opts->worker ? opts->worker : conn->kv;
	int ret;

	if (opts->priv_len > KVERBS_PRIV_ACCEPT_MAX || home->root != conn->kv->root ||
	    pool_id(home, opts->pool, &cmd.pool_id))
		return -EINVAL;
	ret = kverbs_group_id(opts->group, conn->kv, &cmd.group_id);
	if (ret)
		return ret;
	if (kverbs_is_child(conn->kv))
		return -ECHILD;
	if (home != conn->kv)
		return accept_on(home, conn, &cmd, opts->pool);
	/* Its first buffer may complete before ACCEPT returns. */
	pthread_mutex_lock(&conn->kv->lock);
	conn->pool = opts->pool;
	pthread_mutex_unlock(&conn->kv->lock);
	return kverbs_ioctl(conn->kv, KVERBS_ACCEPT, &cmd);
}

int kverbs_accept_start(struct kverbs_conn *conn, const struct kverbs_conn_opts *opts)
{
	struct kverbs_conn_opts o;
	int ret = opts_get(&o, opts);

	if (ret)
		return ret;
	ret = accept_ioctl(conn, &o);
	/* If the peer has gone already, that is the reason. */
	if (ret == -ENOTCONN && kverbs_conn_error(conn))
		ret = kverbs_conn_error(conn);
	return ret;
}

int kverbs_accept(struct kverbs_conn *conn, const struct kverbs_conn_opts *opts)
{
	struct kverbs_conn_opts o;
	int ret = opts_get(&o, opts);

	if (ret)
		return ret;
	ret = kverbs_accept_start(conn, &o);
	if (ret)
		return ret;
	ret = kverbs_conn_wait(conn, o.timeout_ms);
	/* A peer that connected, sent and left counts as accepted: its message can be received. */
	return kverbs_conn_was_up(conn) ? 0 : ret;
}
