// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

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
	TAILQ_INIT(&l->strangers);
	TAILQ_INIT(&l->idle);
}

void limit_free(struct limit *l)
{
	tdestroy(l->peers, free);
	l->peers = NULL;
	pthread_mutex_destroy(&l->lock);
}

/*
 * A host is one whatever port it comes from, and whatever address of its IPv6 prefix of 64 bits,
 * of which it may choose any. The same prefix of another link is another: only link-local
 * addresses have a scope. The address comes first in its peer.
 */
static struct kverbs_addr host_of(const struct kverbs_addr *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct kverbs_addr host = { .family = addr->family };

	if (addr->family == AF_INET6 && !memcmp(addr->addr, mapped, sizeof(mapped))) {
		host.family = AF_INET;
		memcpy(host.addr, addr->addr + sizeof(mapped), 4);
	} else if (addr->family == AF_INET6) {
		memcpy(host.addr, addr->addr, 8);
		if (addr->addr[0] == 0xfe && (addr->addr[1] & 0xc0) == 0x80)
			host.scope_id = addr->scope_id;
	} else {
		memcpy(host.addr, addr->addr, 4);
	}
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

static bool all_have_room(const struct limit *l, uint64_t bytes)
{
	return !l->all_bytes || (l->used.bytes <= l->all_bytes &&
				 bytes <= l->all_bytes - l->used.bytes);
}

static unsigned int check_need(const struct limit *l, const struct limit_peer *p,
			       const struct limit_need *need)
{
	if (!has_room(l, p, need->bytes))
		return WIRE_REFUSED_MEMORY;
	if (l->all_slots && p->slots + need->slots > l->all_slots / 2)
		return WIRE_REFUSED_PEER;
	if (l->all_slots && l->used.slots + need->slots > l->all_slots)
		return WIRE_REFUSED_BUSY;
	return all_have_room(l, need->bytes) ? 0 : WIRE_REFUSED_BUSY;
}

static void add_bytes(struct visit *v, uint64_t bytes)
{
	v->bytes += bytes;
	v->peer->bytes += bytes;
	v->limit->used.bytes += bytes;
}

static void add_slots(struct visit *v, uint64_t slots)
{
	v->slots += slots;
	v->peer->slots += slots;
	v->limit->used.slots += slots;
}

static void not_unproven(struct visit *v)
{
	if (!v->unproven)
		return;
	v->unproven = false;
	v->limit->unproven--;
	v->peer->unproven--;
	TAILQ_REMOVE(&v->limit->strangers, v, stranger);
}

/* The oldest client of @p, or of the address that has most, which has not proved. */
static struct visit *find_stranger(struct limit *l, const struct limit_peer *p)
{
	struct visit *v, *most = NULL;

	TAILQ_FOREACH(v, &l->strangers, stranger) {
		if (p && v->peer == p)
			return v;
		if (!p && (!most || v->peer->unproven > most->peer->unproven))
			most = v;
	}
	return most;
}

/*
 * Proving takes no longer than a few messages. So it is those who wait longest, of the address
 * with most of them, that are least likely to do it.
 */
static bool make_room(struct limit *l, const struct limit_peer *p)
{
	struct visit *v = NULL;

	if (p->unproven >= LIMIT_UNPROVEN_PEER_MAX)
		v = find_stranger(l, p);
	else if (l->unproven >= LIMIT_UNPROVEN_MAX)
		v = find_stranger(l, NULL);
	else
		return true;
	if (!v || !l->evict)
		return false;
	not_unproven(v);
	v->evicted = true;
	l->evict(v);
	return true;
}

static unsigned int check(struct limit *l, struct limit_peer *p, const struct limit_need *need,
			  bool unproven, double now)
{
	unsigned int why;

	if (p->clients >= l->clients)
		return WIRE_REFUSED_PEER;
	why = check_need(l, p, need);
	if (why)
		return why;
	if (!bucket_take(&p->bucket, l->rate, max(l->rate, 1.), now))
		return WIRE_REFUSED_RATE;
	return unproven && !make_room(l, p) ? WIRE_REFUSED_BUSY : 0;
}

static void enter(struct limit *l, struct visit *v, struct limit_peer *p)
{
	v->limit = l;
	v->peer = p;
	if (!p->clients++) {
		TAILQ_REMOVE(&l->idle, p, idle);
		l->nr_idle--;
	}
	if (v->unproven) {
		p->unproven++;
		l->unproven++;
		TAILQ_INSERT_TAIL(&l->strangers, v, stranger);
	} else {
		add_bytes(v, v->need.bytes);
		add_slots(v, v->need.slots);
	}
}

unsigned int limit_enter(struct limit *l, struct visit *v, const struct kverbs_addr *addr,
			 struct limit_need need, bool unproven, double now)
{
	struct limit_peer *p;
	unsigned int why;

	*v = (struct visit){ .need = need, .unproven = unproven };
	pthread_mutex_lock(&l->lock);
	p = find_peer(l, addr);
	why = p ? check(l, p, &need, unproven, now) : WIRE_REFUSED_BUSY;
	if (!why)
		enter(l, v, p);
	else
		forget_some(l);
	pthread_mutex_unlock(&l->lock);
	return why;
}

unsigned int limit_proven(struct visit *v)
{
	struct limit *l = v->limit;
	unsigned int why;

	pthread_mutex_lock(&l->lock);
	why = v->evicted ? WIRE_REFUSED_BUSY : check_need(l, v->peer, &v->need);
	if (!why && v->unproven) {
		not_unproven(v);
		add_bytes(v, v->need.bytes);
		add_slots(v, v->need.slots);
	}
	pthread_mutex_unlock(&l->lock);
	return why;
}

int limit_charge(struct visit *v, uint64_t bytes)
{
	int ret = 0;

	if (!v)
		return 0;
	pthread_mutex_lock(&v->limit->lock);
	if (has_room(v->limit, v->peer, bytes) && all_have_room(v->limit, bytes))
		add_bytes(v, bytes);
	else
		ret = -EDQUOT;
	pthread_mutex_unlock(&v->limit->lock);
	return ret;
}

void limit_uncharge(struct visit *v, uint64_t bytes)
{
	if (!v)
		return;
	pthread_mutex_lock(&v->limit->lock);
	add_bytes(v, -bytes);
	pthread_mutex_unlock(&v->limit->lock);
}

void limit_leave(struct visit *v)
{
	struct limit *l = v->limit;

	if (!l)
		return;
	pthread_mutex_lock(&l->lock);
	not_unproven(v);
	add_bytes(v, -v->bytes);
	add_slots(v, -v->slots);
	if (!--v->peer->clients)
		rest(l, v->peer);
	pthread_mutex_unlock(&l->lock);
	memset(v, 0, sizeof(*v));
}
