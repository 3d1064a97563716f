// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages from the sink to the source.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "copy/source.h"

struct source_pending *source_pending(struct source *src, uint32_t id)
{
	int i;

	for (i = 0; i < COPY_PENDING_MAX; i++)
		if (src->pending[i].id == id)
			return &src->pending[i];
	return NULL;
}

/* Number a file or directory; waits while too many are not done. */
int source_pend(struct source *src, const char *path, uint64_t size,
		enum source_kind kind, uint32_t *id)
{
	struct source_pending *p;
	int ret;

	while (!(p = source_pending(src, 0))) {
		ret = source_pump(src);
		if (ret)
			return ret;
	}
	p->path = strdup(path);
	if (!p->path)
		return -ENOMEM;
	if (!++src->next_id)
		src->next_id = 1;
	p->id = src->next_id;
	p->size = size;
	p->kind = kind;
	p->err = 0;
	p->digest = 0;
	*id = p->id;
	return 0;
}

static int give_back(struct source *src, uint32_t window)
{
	struct source_window *w;

	if (window == WIRE_NO_WINDOW)
		return 0;
	if (window >= WIRE_WINDOWS_MAX)
		return -EPROTO;
	w = &src->windows[window];
	if (!w->known || w->free)
		return -EPROTO;
	w->free = true;
	return 0;
}

static int unpack(struct kverbs_token *token, const struct wire_msg *msg)
{
	int ret;

	ret = kverbs_token_unpack(token, msg->tail, msg->tail_len);
	if (ret < 0)
		return ret == -EBADMSG ? -EPROTO : ret;
	if ((size_t)ret == msg->tail_len && token->length >= msg->size && msg->size)
		return 0;
	kverbs_token_free(token);
	return -EPROTO;
}

static int on_window(struct source *src, const struct wire_msg *msg)
{
	struct source_window *w;
	int ret;

	if (msg->window >= WIRE_WINDOWS_MAX || src->windows[msg->window].known)
		return -EPROTO;
	w = &src->windows[msg->window];
	ret = unpack(&w->token, msg);
	if (ret)
		return ret;
	w->known = true;
	w->free = true;
	return 0;
}

static int on_grant(struct source *src, const struct wire_msg *msg)
{
	struct source_stream *st = &src->stream;
	struct source_grant *g = &st->grants[st->tail % COPY_STREAM_WINDOWS];
	int ret;

	if (!msg->id)
		return on_window(src, msg);
	/* The file may have been given up while the grant was on its way. */
	if (msg->id != st->id)
		return 0;
	if (!st->mapped || st->tail - st->head == COPY_STREAM_WINDOWS)
		return -EPROTO;
	ret = unpack(&g->token, msg);
	if (ret)
		return ret;
	g->window = msg->window;
	g->at = msg->offset;
	g->len = msg->size;
	st->tail++;
	return 0;
}

static int on_ready(struct source *src, const struct wire_msg *msg)
{
	struct source_stream *st = &src->stream;

	if (msg->id != st->id || st->ready)
		return -EPROTO;
	/* So much of the file is locked here at a time, 16 times over. */
	if (!msg->size || msg->size > COPY_CHUNK || msg->size % WIRE_BLOCK ||
	    msg->offset % WIRE_BLOCK)
		return -EPROTO;
	st->ready = true;
	st->mapped = msg->flags & WIRE_F_MAPPED;
	st->chunk = msg->size;
	st->offset = msg->offset;
	if (msg->offset)
		memcpy(st->sha, msg->tail, sizeof(st->sha));
	return 0;
}

static void note_done(struct source *src, const struct source_pending *p,
		      const struct wire_msg *msg)
{
	if (p->err)
		copy_failed(src->copy, ERR_LOCAL, p->err, p->path);
	else if (msg->status)
		copy_failed(src->copy, ERR_REMOTE, wire_errno(msg->status), p->path);
	else if (p->kind == SOURCE_DIR)
		src->copy->dirs++;
	else if (p->kind == SOURCE_FILE)
		copy_done(src->copy, p->path, p->size);
}

static int on_done(struct source *src, const struct wire_msg *msg)
{
	struct source_pending *p = source_pending(src, msg->id);
	uint64_t confirm = 0;
	int ret;

	if (!msg->id || !p)
		return -EPROTO;
	if (p->kind == SOURCE_FILE && !msg->status) {
		ret = hash_confirm(session_mac_key(src->s), p->digest, &confirm);
		if (ret)
			return ret;
		/* The sink has stored another file, or DONE is forged. */
		if (msg->digest != confirm)
			p->err = -EBADMSG;
		src->copy->sink_methods |= 1u << (msg->mode >> 16 & 0xf);
		src->copy->digest = p->digest;
	}
	note_done(src, p, msg);
	free(p->path);
	memset(p, 0, sizeof(*p));
	return give_back(src, msg->window);
}

int source_message(struct source *src, const struct wire_msg *msg)
{
	switch (msg->type) {
	case WIRE_GRANT:
		return on_grant(src, msg);
	case WIRE_READY:
		return on_ready(src, msg);
	case WIRE_CREDIT:
		return give_back(src, msg->window);
	case WIRE_DONE:
		return on_done(src, msg);
	case WIRE_ALIVE:
		return 0;
	default:
		return -EPROTO;
	}
}

/* Take one message. */
int source_pump(struct source *src)
{
	struct wire_msg msg;
	int ret;

	ret = session_recv(src->s, &msg, src->s->timeout_ms);
	return ret ? ret : source_message(src, &msg);
}
