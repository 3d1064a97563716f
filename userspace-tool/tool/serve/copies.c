// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "serve/copies.h"

void copies_init(struct copies *copies)
{
	pthread_mutex_init(&copies->lock, NULL);
	pthread_cond_init(&copies->left, NULL);
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

void copies_enter(struct copies *copies, struct copies_entry *e)
{
	struct copies_entry *before;

	if (!is_entered(copies, e))
		return;
	pthread_mutex_lock(&copies->lock);
	while ((before = find(copies, e->id))) {
		session_disconnect(before->session);
		pthread_cond_wait(&copies->left, &copies->lock);
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
	pthread_cond_broadcast(&copies->left);
	pthread_mutex_unlock(&copies->lock);
}
