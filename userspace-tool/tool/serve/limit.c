// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/util.h"
#include "peer/wire.h"
#include "serve/limit.h"

static int compare(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct kverbs_addr));
}

void limit_init(struct limit *l)
{
	pthread_mutex_init(&l->lock, NULL);
	TAILQ_INIT(&l->idle);
}

void limit_free(struct limit *l)
{
	tdestroy(l->peers, free);
	l->peers = NULL;
	pthread_mutex_destroy(&l->lock);
}

/* A host is one whatever port it comes from; the address comes first in its peer. */
static struct kverbs_addr host_of(const struct kverbs_addr *addr)
{
	struct kverbs_addr host = { .family = addr->family };

	memcpy(host.addr, addr->addr, sizeof(host.addr));
	return host;
}

static struct limit_peer *add_peer(struct limit *l, const struct kverbs_addr *host)
{
	struct limit_peer *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->addr = *host;
	if (!tsearch(p, &l->peers, compare)) {
		free(p);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&l->idle, p, idle);
	l->nr_idle++;
	return p;
}

static struct limit_peer *find_peer(struct limit *l, const struct kverbs_addr *addr)
{
	struct kverbs_addr host = host_of(addr);
	void *found = tfind(&host, &l->peers, compare);

	return found ? *(struct limit_peer **)found : add_peer(l, &host);
}

static void forget(struct limit *l, struct limit_peer *p)
{
	TAILQ_REMOVE(&l->idle, p, idle);
	l->nr_idle--;
	tdelete(p, &l->peers, compare);
	free(p);
}

/* The one that came last is kept: it is the one that is looked at. */
static void forget_some(struct limit *l)
{
	while (l->nr_idle > LIMIT_IDLE_MAX)
		forget(l, TAILQ_FIRST(&l->idle));
}

static void rest(struct limit *l, struct limit_peer *p)
{
	TAILQ_INSERT_TAIL(&l->idle, p, idle);
	l->nr_idle++;
	forget_some(l);
}

static bool has_room(const struct limit *l, const struct limit_peer *p, uint64_t bytes)
{
	return !l->bytes || (p->bytes <= l->bytes && bytes <= l->bytes - p->bytes);
}

static unsigned int check(const struct limit *l, struct limit_peer *p, uint64_t bytes,
			  bool unproven, double now)
{
	if (p->clients >= l->clients)
		return WIRE_REFUSED_PEER;
	if (!has_room(l, p, bytes))
		return WIRE_REFUSED_MEMORY;
	if (unproven && (l->unproven >= LIMIT_UNPROVEN_MAX ||
			 p->unproven >= LIMIT_UNPROVEN_PEER_MAX))
		return WIRE_REFUSED_BUSY;
	if (!bucket_take(&p->bucket, l->rate, max(l->rate, 1.), now))
		return WIRE_REFUSED_RATE;
	return 0;
}

static void enter(struct limit *l, struct visit *v, struct limit_peer *p)
{
	v->limit = l;
	v->peer = p;
	if (!p->clients++) {
		TAILQ_REMOVE(&l->idle, p, idle);
		l->nr_idle--;
	}
	p->unproven += v->unproven;
	l->unproven += v->unproven;
	p->bytes += v->bytes;
}

unsigned int limit_enter(struct limit *l, struct visit *v, const struct kverbs_addr *addr,
			 uint64_t bytes, bool unproven, double now)
{
	struct limit_peer *p;
	unsigned int why;

	*v = (struct visit){ .bytes = bytes, .unproven = unproven };
	pthread_mutex_lock(&l->lock);
	p = find_peer(l, addr);
	why = p ? check(l, p, bytes, unproven, now) : WIRE_REFUSED_BUSY;
	if (!why)
		enter(l, v, p);
	else
		forget_some(l);
	pthread_mutex_unlock(&l->lock);
	return why;
}

static void prove(struct visit *v)
{
	v->limit->unproven -= v->unproven;
	v->peer->unproven -= v->unproven;
	v->unproven = false;
}

void limit_proven(struct visit *v)
{
	pthread_mutex_lock(&v->limit->lock);
	prove(v);
	pthread_mutex_unlock(&v->limit->lock);
}

int limit_charge(struct visit *v, uint64_t bytes)
{
	int ret = 0;

	if (!v)
		return 0;
	pthread_mutex_lock(&v->limit->lock);
	if (has_room(v->limit, v->peer, bytes)) {
		v->peer->bytes += bytes;
		v->bytes += bytes;
	} else {
		ret = -EDQUOT;
	}
	pthread_mutex_unlock(&v->limit->lock);
	return ret;
}

void limit_uncharge(struct visit *v, uint64_t bytes)
{
	if (!v)
		return;
	pthread_mutex_lock(&v->limit->lock);
	v->peer->bytes -= bytes;
	v->bytes -= bytes;
	pthread_mutex_unlock(&v->limit->lock);
}

void limit_leave(struct visit *v)
{
	struct limit *l = v->limit;

	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	prove(v);
	v->peer->bytes -= v->bytes;
	if (!--v->peer->clients)
		rest(l, v->peer);
	pthread_mutex_unlock(&l->lock);
	memset(v, 0, sizeof(*v));
}
