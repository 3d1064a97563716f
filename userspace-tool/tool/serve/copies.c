// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>

#include "serve/copies.h"

void copies_init(struct copies *copies)
{
	pthread_mutex_init(&copies->lock, NULL);
	pthread_cond_init(&copies->changed, NULL);
	copies->first = NULL;
}

static struct copies_entry *find(const struct copies *copies, uint64_t id)
{
	struct copies_entry *e = copies->first;

	while (e && e->id != id)
		e = e->next;
	return e;
}

static bool is_entered(const struct copies *copies, const struct copies_entry *e)
{
	return copies && e->id;
}

static void disconnect(const struct copies_entry *e)
{
	unsigned int i;

	session_disconnect(e->session);
	for (i = 0; i < e->nr_lanes; i++)
		session_disconnect(e->lanes[i]);
}

void copies_enter(struct copies *copies, struct copies_entry *e)
{
	struct copies_entry *before;

	if (!is_entered(copies, e))
		return;
	pthread_mutex_lock(&copies->lock);
	while ((before = find(copies, e->id))) {
		disconnect(before);
		pthread_cond_wait(&copies->changed, &copies->lock);
	}
	e->next = copies->first;
	copies->first = e;
	pthread_mutex_unlock(&copies->lock);
}

void copies_leave(struct copies *copies, struct copies_entry *e)
{
	struct copies_entry **at;

	if (!is_entered(copies, e))
		return;
	pthread_mutex_lock(&copies->lock);
	for (at = &copies->first; *at != e; at = &(*at)->next)
		;
	*at = e->next;
	e->over = true;
	pthread_cond_broadcast(&copies->changed);
	while (e->nr_lanes)
		pthread_cond_wait(&copies->changed, &copies->lock);
	pthread_mutex_unlock(&copies->lock);
}

static int answer(struct session *s, int err)
{
	struct wire_msg done = {
		.type = WIRE_DONE, .window = WIRE_NO_WINDOW, .status = wire_status(err),
	};

	return session_send(s, &done);
}

static void lend(struct copies *copies, struct copies_entry *e, struct session *s)
{
	e->lanes[e->nr_lanes++] = s;
	while (!e->over)
		pthread_cond_wait(&copies->changed, &copies->lock);
	e->nr_lanes--;
	pthread_cond_broadcast(&copies->changed);
}

int copies_join(struct copies *copies, uint64_t id, struct session *s)
{
	struct copies_entry *e;
	int ret;

	if (!copies)
		return answer(s, -ENOENT);
	pthread_mutex_lock(&copies->lock);
	e = find(copies, id);
	if (e && e->nr_lanes == COPY_LANES_MAX)
		e = NULL;
	/* The client goes on when it has the answer: until then it must not find fewer lanes. */
	ret = answer(s, e ? 0 : -ENOENT);
	if (e && !ret)
		lend(copies, e, s);
	pthread_mutex_unlock(&copies->lock);
	return ret || e ? ret : session_flush(s);
}

void copies_lanes(struct copies *copies, const struct copies_entry *e, struct copy *copy)
{
	if (!is_entered(copies, e))
		return;
	pthread_mutex_lock(&copies->lock);
	memcpy(copy->lanes, e->lanes, sizeof(copy->lanes));
	copy->nr_lanes = e->nr_lanes;
	pthread_mutex_unlock(&copies->lock);
}
