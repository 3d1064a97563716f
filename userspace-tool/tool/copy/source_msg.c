// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages from the sink to the source.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/prune.h"
#include "copy/source.h"

struct source_pending *source_pending(struct source *src, uint32_t id)
{
	int i;

	for (i = 0; i < COPY_PENDING_MAX; i++)
		if (src->pending[i].id == id)
			return &src->pending[i];
	return NULL;
}

void source_forget(struct source *src, struct source_pending *p)
{
	if (p->kind == SOURCE_FILE && !p->sent)
		src->asked--;
	if (p->fd >= 0)
		close(p->fd);
	free(p->path);
	free(p->target);
	memset(p, 0, sizeof(*p));
}

static struct source_pending *find_unused(struct source *src)
{
	unsigned int i;

	for (i = 0; i < src->max_pending; i++)
		if (!src->pending[i].id)
			return &src->pending[i];
	return NULL;
}

/*
 * Number an entry; waits while too many are not done. Files that are asked for leave room for
 * others, so some get done without any data being sent.
 */
struct source_pending *source_pend(struct source *src, const char *path, uint64_t size,
				   enum source_kind kind, int *ret)
{
	struct source_pending *p;

	*ret = 0;
	while (!(p = find_unused(src))) {
		*ret = source_pump(src);
		if (*ret)
			return NULL;
	}
	memset(p, 0, sizeof(*p));
	p->path = strdup(path);
	if (!p->path) {
		*ret = -ENOMEM;
		return NULL;
	}
	if (!++src->next_id)
		src->next_id = 1;
	p->id = src->next_id;
	p->size = size;
	p->kind = kind;
	p->fd = -1;
	if (kind == SOURCE_FILE)
		src->asked++;
	return p;
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
	if (w->files)
		w->files--;
	w->free = !w->files;
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
	/* The file may have been given up, or skipped so far, while the grant was on its way. */
	if (msg->id != st->id || msg->offset < st->skipped)
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

void source_say(struct source *src, const struct source_pending *p, uint32_t bits)
{
	static const char types[] = {
		[SOURCE_FILE] = 'f', [SOURCE_DIR] = 'd', [SOURCE_LINK] = 'L', [SOURCE_HARD] = 'f',
		[SOURCE_NODE] = 'S',
	};
	struct item item = {
		.type = types[p->kind], .bits = bits, .path = p->path, .target = p->target,
	};
	char path[PATH_MAX];

	if (p->kind == SOURCE_DIR) {
		snprintf(path, sizeof(path), "%s/", p->path);
		item.path = path;
	}
	if (p->kind == SOURCE_NODE && (S_ISCHR(p->st.st_mode) || S_ISBLK(p->st.st_mode)))
		item.type = 'D';
	if (p->kind == SOURCE_FILE)
		item.action = p->wanted ? ITEM_SENT : ITEM_NOTHING;
	else if (bits & (WIRE_I_NEW | WIRE_I_DATA))
		item.action = p->kind == SOURCE_HARD ? ITEM_LINKED : ITEM_CREATED;
	copy_item(src->copy, &item);
}

static void file_done(struct source *src, const struct source_pending *p, uint32_t bits)
{
	struct copy *c = src->copy;

	if (p->sent) {
		copy_done(c, p->path, p->size);
		return;
	}
	c->same++;
	c->same_bytes += p->size;
	progress_resume(&c->progress, p->size);
	source_say(src, p, bits);
}

/* The names that a PRUNE has removed, or failed to */
static int note_removed(struct source *src, const struct wire_msg *msg)
{
	char path[PATH_MAX];
	ssize_t at = 0;
	int err;

	while (at < (ssize_t)msg->tail_len) {
		at = prune_read(msg->tail, msg->tail_len, at, path, &err);
		if (at < 0)
			return at;
		if (err)
			copy_failed(src->copy, ERR_REMOTE, err, path);
		else
			copy_removed(src->copy, path);
	}
	return 0;
}

static int dir_done(struct source *src, const struct source_pending *p, uint32_t bits)
{
	if (!p->begin) {
		src->copy->dirs++;
		return 0;
	}
	source_say(src, p, bits);
	if (!(bits & WIRE_I_NEW) || src->fresh)
		return 0;
	src->fresh = strdup(p->path);
	return src->fresh ? 0 : -ENOMEM;
}

static int note_done(struct source *src, struct source_pending *p, const struct wire_msg *msg)
{
	if (p->err) {
		copy_failed(src->copy, ERR_LOCAL, p->err, p->path);
		return 0;
	}
	if (msg->status) {
		copy_failed(src->copy, ERR_REMOTE, wire_errno(msg->status), p->path);
		return 0;
	}
	switch (p->kind) {
	case SOURCE_FILE:
		file_done(src, p, msg->flags);
		return 0;
	case SOURCE_DIR:
		return dir_done(src, p, msg->flags);
	case SOURCE_LINK:
	case SOURCE_HARD:
	case SOURCE_NODE:
		src->copy->others++;
		source_say(src, p, msg->flags);
		return 0;
	case SOURCE_PRUNE:
		return note_removed(src, msg);
	default:
		return 0;
	}
}

/* Verify that DONE is the sink's answer to this message. */
static int check_done(struct source *src, struct source_pending *p, const struct wire_msg *msg)
{
	uint64_t confirm = 0;
	int ret;

	ret = hash_confirm(session_mac_key(src->s), p->digest, msg->flags, &confirm);
	if (ret)
		return ret;
	/* The sink has stored another file, or DONE is forged. */
	if (msg->digest != confirm)
		p->err = -EBADMSG;
	if (p->kind == SOURCE_FILE && p->sent) {
		src->copy->sink_methods |= 1u << (msg->mode >> 16 & 0xf);
		src->copy->digest = p->digest;
	}
	return 0;
}

static int on_done(struct source *src, const struct wire_msg *msg)
{
	struct source_pending *p = source_pending(src, msg->id);
	int ret = 0;

	/* Of a file that the sink wants, the data comes first. */
	if (!msg->id || !p || p->wanted || (msg->tail_len && p->kind != SOURCE_PRUNE))
		return -EPROTO;
	if (!msg->status)
		ret = check_done(src, p, msg);
	if (!ret)
		ret = note_done(src, p, msg);
	if (ret)
		return ret;
	if (p->kind == SOURCE_PRUNE && msg->flags & WIRE_I_MORE && !msg->status && !p->err)
		p->more = true;
	else
		source_forget(src, p);
	return give_back(src, msg->window);
}

static int on_want(struct source *src, const struct wire_msg *msg)
{
	struct source_pending *p = source_pending(src, msg->id);

	if (!msg->id || !p || p->kind != SOURCE_FILE || p->sent || p->wanted)
		return -EPROTO;
	p->wanted = true;
	source_say(src, p, msg->flags);
	if (!(src->copy->opts & WIRE_F_DRY_RUN))
		return 0;
	/* A dry run ends here. */
	src->copy->files++;
	src->copy->bytes += p->size;
	progress_resume(&src->copy->progress, p->size);
	source_forget(src, p);
	return 0;
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
	case WIRE_WANT:
		return on_want(src, msg);
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

	ret = copy_recv(src->copy, src->s, &msg);
	return ret ? ret : source_message(src, &msg);
}
