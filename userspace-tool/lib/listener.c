// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listeners and the requests that wait at them.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>

#include "addr.h"
#include "conn.h"
#include "dispatch.h"
#include "internal.h"
#include "listener.h"
#include "request.h"
#include "wait.h"

/* A port that is free in one family may be taken in the other. */
#define FREE_PORT_TRIES 8

static struct kverbs_listener *find_key(struct kverbs *kv, uint64_t key)
{
	struct kverbs_listener *l;
	struct list_head *pos;

	for (pos = kv->listeners.next; pos != &kv->listeners; pos = pos->next) {
		l = list_entry(pos, struct kverbs_listener, node);
		if (l->key == key)
			return l;
	}
	return NULL;
}

void kverbs_listener_request(struct kverbs *kv, const struct kverbs_cqe *cqe)
{
	struct kverbs_listener *l = find_key(kv, cqe->user_data);
	struct kverbs_conn *conn = l ? kverbs_conn_alloc() : NULL;

	if (!conn) {
		/* No thread will ever take this request: refuse it now. */
		kverbs_destroy(kv, cqe->id);
		return;
	}
	kverbs_conn_publish(kv, conn, cqe->id);
	list_add_tail(&conn->request, &l->requests);
	kverbs_wake(kv, l);
}

void kverbs_listener_event(struct kverbs_listener *l, const struct kverbs_cqe *cqe)
{
	l->error = cqe->result ? cqe->result : -ENODEV;
	kverbs_wake(l->kv, l);
}

static int listen_ioctl(struct kverbs *kv, struct kverbs_cmd_listen *cmd,
			struct kverbs_listener *l)
{
	int ret;

	if (kverbs_is_child(kv))
		return -ECHILD;
	/* Its first request must find it in the list. */
	pthread_mutex_lock(&kv->lock);
	cmd->user_data = ++kv->next_key;
	ret = kverbs_ioctl(kv, KVERBS_LISTEN, cmd);
	if (ret)
		goto out_unlock;
	l->kv = kv;
	l->key = cmd->user_data;
	l->port = ntohs(cmd->inout_addr.port);
	l->obj.id = cmd->out_id;
	l->obj.type = KVERBS_OBJ_LISTENER;
	kverbs_table_add(&kv->table, &l->obj);
	list_add_tail(&l->node, &kv->listeners);
out_unlock:
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

static int listen_at(struct kverbs *kv, const struct sockaddr *sa, unsigned int backlog,
		     struct kverbs_listener **listener)
{
	struct kverbs_cmd_listen cmd = {
		.size = sizeof(cmd),
		.ring_id = kv->ring.id,
		.backlog = backlog,
	};
	struct kverbs_listener *l;
	int ret;

	ret = kverbs_addr_from_sockaddr(&cmd.inout_addr, sa);
	if (ret)
		return ret;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	list_init(&l->requests);
	ret = listen_ioctl(kv, &cmd, l);
	if (ret)
		free(l);
	else
		*listener = l;
	return ret;
}

/* Any address of the other family, on the same port and for the same listener. */
static int listen_twin(struct kverbs_listener *l, const struct addrinfo *ai,
		       unsigned int backlog)
{
	struct kverbs_cmd_listen cmd = {
		.size = sizeof(cmd),
		.ring_id = l->kv->ring.id,
		.backlog = backlog,
		.user_data = l->key,
	};
	int ret;

	ret = kverbs_addr_from_sockaddr(&cmd.inout_addr, ai->ai_addr);
	if (ret)
		return ret;
	cmd.inout_addr.port = htons(l->port);
	ret = kverbs_ioctl(l->kv, KVERBS_LISTEN, &cmd);
	if (!ret)
		l->twin_id = cmd.out_id;
	return ret;
}

/* Whether another address of the same host may do better. */
static bool try_next(int error)
{
	return error == -EADDRNOTAVAIL || error == -EAFNOSUPPORT || error == -ENODEV;
}

/* Listen at the first address that will do; *ai is then the one after it. */
static int listen_first(struct kverbs *kv, const struct addrinfo **ai,
			unsigned int backlog, struct kverbs_listener **listener)
{
	int ret = -EADDRNOTAVAIL;

	for (; *ai && try_next(ret); *ai = (*ai)->ai_next)
		ret = listen_at(kv, (*ai)->ai_addr, backlog, listener);
	return ret;
}

static int listen_any(struct kverbs *kv, const struct addrinfo *ai,
		      unsigned int backlog, struct kverbs_listener **listener)
{
	int ret = listen_first(kv, &ai, backlog, listener);

	if (ret || !ai)
		return ret;
	ret = listen_twin(*listener, ai, backlog);
	/* One family is all that there is. */
	if (try_next(ret))
		ret = 0;
	if (ret)
		kverbs_listener_free(*listener);
	return ret;
}

int kverbs_listen(struct kverbs *kv, const char *host, const char *port,
		  unsigned int backlog, struct kverbs_listener **listener)
{
	int ret, tries = port && strcmp(port, "0") ? 1 : FREE_PORT_TRIES;
	const struct addrinfo *ai;
	struct kverbs_listener *l;
	struct addrinfo *list;

	ret = kverbs_addr_resolve(host, port ? port : "0", AF_UNSPEC, AI_PASSIVE, &list);
	if (ret)
		return ret;
	do {
		ai = list;
		ret = host ? listen_first(kv, &ai, backlog, &l) :
			     listen_any(kv, ai, backlog, &l);
	} while (ret == -EADDRINUSE && --tries);
	freeaddrinfo(list);
	if (!ret)
		*listener = l;
	return ret;
}

uint16_t kverbs_listener_port(const struct kverbs_listener *listener)
{
	return listener->port;
}

static bool request_or_error(struct kverbs *kv, const void *arg)
{
	const struct kverbs_listener *l = arg;

	(void)kv;
	return !list_empty(&l->requests) || l->error;
}

/* NULL: there is none. Under kv->lock. */
static struct kverbs_conn *pop_request(struct kverbs_listener *l)
{
	struct kverbs_conn *conn;

	if (list_empty(&l->requests))
		return NULL;
	conn = list_entry(l->requests.next, struct kverbs_conn, request);
	list_del(&conn->request);
	return conn;
}

/* Callbacks that the wait has run at its end, or another thread, may have taken the request. */
static int wait_locked(struct kverbs_listener *l, uint64_t deadline, struct kverbs_conn **conn)
{
	struct kverbs *kv = l->kv;
	int ret = 0;

	*conn = NULL;
	while (!ret && !*conn) {
		if (!request_or_error(kv, l) && kverbs_done_here(kv))
			return -EDEADLK;
		ret = kverbs_wait_met(kv, request_or_error, l, l, deadline);
		if (ret)
			return ret;
		*conn = pop_request(l);
		if (!*conn)
			ret = l->error;
	}
	return ret;
}

static int wait_request(struct kverbs_listener *l, uint64_t deadline,
			struct kverbs_conn **conn)
{
	struct kverbs *kv = l->kv;
	int ret;

	if (kverbs_is_child(kv))
		return -ECHILD;
	pthread_mutex_lock(&kv->lock);
	ret = wait_locked(l, deadline, conn);
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

int kverbs_next_request(struct kverbs_listener *listener, int timeout_ms,
			struct kverbs_conn **conn)
{
	uint64_t deadline = kverbs_deadline(timeout_ms);
	struct kverbs_conn *c;
	int ret;

	for (;;) {
		ret = wait_request(listener, deadline, &c);
		if (ret)
			return ret;
		/* Skip a request whose peer has given up. */
		if (!kverbs_conn_error(c))
			break;
		kverbs_conn_free(c);
	}
	*conn = c;
	return 0;
}

void kverbs_listener_free(struct kverbs_listener *listener)
{
	struct kverbs_conn *conn;
	struct kverbs *kv;

	if (!listener || kverbs_is_child(listener->kv))
		return;
	kv = listener->kv;
	if (listener->twin_id)
		kverbs_destroy(kv, listener->twin_id);
	kverbs_destroy(kv, listener->obj.id);

	pthread_mutex_lock(&kv->lock);
	/* Requests that it announced are in the ring by now. */
	kverbs_drain(kv);
	kverbs_table_del(&kv->table, &listener->obj);
	list_del(&listener->node);
	while ((conn = pop_request(listener))) {
		pthread_mutex_unlock(&kv->lock);
		kverbs_conn_free(conn);
		pthread_mutex_lock(&kv->lock);
	}
	pthread_mutex_unlock(&kv->lock);
	free(listener);
}
