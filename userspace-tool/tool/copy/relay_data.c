// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Data of files that passes through a relay. The source writes to a window here, from where it is
 * written to the sink's. Each window here belongs to one of the sink, so the sink's grants and
 * credits bound what is here. Without a key the data is not looked at: the sink verifies it with
 * the digests of the source, and the source verifies the sink's answer.
 */
#include <errno.h>
#include <string.h>

#include "cli/util.h"
#include "copy/relay.h"

/**
 * struct piece - data that has landed
 * @buf: where it is
 * @at: offset there
 * @len: bytes
 * @write: what is sent from there
 */
struct piece {
	struct kverbs_buf *buf;
	size_t at;
	size_t len;
	struct relay_write *write;
};

static struct session *sink_of(const struct relay *r)
{
	return r->copy->session;
}

static struct relay_entry *entry_of(struct relay *r, const struct source_pending *p)
{
	return &r->entries[p - r->src.pending];
}

static int no_memory(int err)
{
	if (err != -ENOMEM && err != -EPERM)
		return err;
	return err_report(ERR_MEMORY, -ENOMEM, "register windows");
}

static int wait_write(struct relay *r, struct relay_write *w)
{
	int ret;

	if (!w->busy)
		return 0;
	ret = session_wait(sink_of(r), &w->req, sink_of(r)->timeout_ms);
	if (ret)
		r->last = sink_of(r);
	else
		w->busy = false;
	return ret;
}

int relay_await_window(struct relay *r, uint32_t window)
{
	unsigned int slot;

	if (window < r->eager.count)
		return wait_write(r, &r->eager_writes[window]);
	slot = window < WIRE_WINDOWS_MAX ? r->slot_of[window] : 0;
	return slot ? wait_write(r, &r->slots[slot - 1].write) : 0;
}

int relay_await_all(struct relay *r)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < r->nr_slots && !ret; i++)
		ret = wait_write(r, &r->slots[i].write);
	for (i = 0; i < r->eager.count && !ret; i++)
		ret = wait_write(r, &r->eager_writes[i]);
	for (i = 0; i < r->nr_own && !ret; i++)
		ret = wait_write(r, &r->own[i].write);
	return ret;
}

static void *data_of(const struct piece *p)
{
	return (char *)kverbs_buf_addr(p->buf) + p->at;
}

/*
 * The source, or an attacker on its path, can still write to a window that is exported. With a key
 * a copy is verified and sent, which cannot change any more.
 */
static int secure(struct relay *r, struct piece *p)
{
	struct relay_own *own;
	int ret;

	if (!r->nr_own)
		return 0;
	own = &r->own[r->secured++ % r->nr_own];
	ret = wait_write(r, &own->write);
	if (ret)
		return ret;
	memcpy(kverbs_buf_addr(own->buf), data_of(p), p->len);
	*p = (struct piece){ .buf = own->buf, .len = p->len, .write = &own->write };
	return 0;
}

int relay_add_own(struct relay *r)
{
	int ret;

	if (!relay_source_key(r) || r->nr_own == RELAY_OWN)
		return 0;
	ret = kverbs_buf_alloc(sink_of(r)->kv, COPY_CHUNK, &r->own[r->nr_own].buf);
	r->nr_own += !ret;
	return ret;
}

static int send_piece(struct relay *r, const struct piece *p, const struct kverbs_token *token)
{
	int ret = wait_write(r, p->write);

	if (ret)
		return ret;
	ret = kverbs_write(sink_of(r)->conn, p->buf, p->at, p->len, token, 0, &p->write->req);
	if (ret) {
		r->last = sink_of(r);
		if (ret == -ERANGE || ret == -EACCES)
			return -EPROTO;
		return ret == -ENOTCONN ? -ECONNRESET : ret;
	}
	p->write->busy = true;
	r->copy->moved += p->len;
	progress_add(&r->copy->progress, p->len);
	return 0;
}

static int begin_hash(struct relay *r, struct relay_hash *hash, const struct wire_msg *msg,
		      const struct wire_msg *out)
{
	int ret = hash_begin(&hash->in, relay_source_key(r), msg);

	return ret ? ret : hash_begin(&hash->out, relay_sink_key(r), out);
}

static void note_method(struct relay *r, const struct wire_msg *msg)
{
	r->copy->source_methods |= 1u << (msg->mode >> 16 & 0xf);
}

/* ---- small files ----------------------------------------------------------------- */

/* -EBADMSG: the file is not what the source sent. */
static int rehash(struct relay *r, const struct wire_msg *msg, struct wire_msg *out,
		  const struct piece *p)
{
	struct relay_hash hash;
	uint64_t piece, value = 0;
	int ret = begin_hash(r, &hash, msg, out);

	if (!ret && p->len)
		ret = hash_add(&hash.in, data_of(p), p->len, &piece);
	if (!ret && p->len)
		ret = hash_add(&hash.out, data_of(p), p->len, &piece);
	if (!ret)
		ret = hash_value(&hash.in, &value);
	if (!ret && value != msg->digest)
		ret = -EBADMSG;
	return ret ? ret : hash_value(&hash.out, &out->digest);
}

/* The window of FILE, which DONE gives back; an empty file has none. */
static int take_eager(struct relay *r, const struct wire_msg *msg, struct piece *p)
{
	struct source_window *w;

	if (msg->window == WIRE_NO_WINDOW)
		return msg->size && !msg->status ? -EPROTO : 0;
	if (msg->window >= r->eager.count || msg->size > r->eager.size)
		return -EPROTO;
	w = &r->src.windows[msg->window];
	if (!w->free)
		return -EPROTO;
	w->free = false;
	*p = (struct piece){
		.buf = r->eager.buf,
		.at = msg->window * r->eager.size,
		.len = msg->status ? 0 : msg->size,
		.write = &r->eager_writes[msg->window],
	};
	return 0;
}

int relay_eager(struct relay *r, const struct wire_msg *msg, struct wire_msg *out,
		struct source_pending *p)
{
	struct piece piece = { .len = 0 };
	int ret = take_eager(r, msg, &piece);

	if (!ret && piece.len)
		ret = secure(r, &piece);
	if (ret)
		return ret;
	if (r->keyed && !msg->status)
		ret = rehash(r, msg, out, &piece);
	if (ret) {
		if (msg->window != WIRE_NO_WINDOW)
			r->src.windows[msg->window].free = true;
		source_forget(&r->src, p);
		return relay_refuse(r, msg, ret);
	}
	entry_of(r, p)->failed = msg->status;
	p->digest = out->digest;
	note_method(r, msg);
	if (piece.len)
		ret = send_piece(r, &piece, &r->src.windows[msg->window].token);
	return ret ? ret : relay_to_sink(r, out);
}

/* ---- large files ----------------------------------------------------------------- */

int relay_begin(struct relay *r, const struct wire_msg *msg, const struct wire_msg *out)
{
	int ret;

	if (r->src.stream.id || !msg->size)
		return -EPROTO;
	r->src.stream.id = msg->id;
	r->lent = 0;
	r->started = false;
	ret = begin_hash(r, &r->hash, msg, out);
	return ret ? ret : relay_to_sink(r, out);
}

int relay_start(struct relay *r, const struct wire_msg *msg)
{
	const struct source_stream *st = &r->src.stream;
	uint64_t offered = r->keyed ? 0 : st->offset;

	if (!st->id || msg->id != st->id || !st->ready || r->started ||
	    (msg->offset && msg->offset != offered))
		return -EPROTO;
	r->started = true;
	r->copy->resumed += msg->offset;
	progress_resume(&r->copy->progress, msg->offset);
	return relay_to_sink(r, msg);
}

static int add_slot(struct relay *r)
{
	int ret = landing_open(&r->slots[r->nr_slots].landing, &r->from, 0, 1, COPY_CHUNK);

	r->nr_slots += !ret;
	return ret;
}

/* As many as there is memory for, at least one */
static int open_slots(struct relay *r)
{
	int ret;

	if (r->nr_slots)
		return 0;
	ret = add_slot(r);
	if (ret)
		return no_memory(ret);
	ret = relay_add_own(r);
	while (!ret && r->nr_slots < COPY_STREAM_WINDOWS)
		ret = add_slot(r);
	return 0;
}

static int grant(struct relay *r, struct relay_slot *slot, struct wire_msg *msg)
{
	int ret = wait_write(r, &slot->write);

	if (ret)
		return ret;
	ret = landing_grant(r->from.session, msg, slot->landing.tokens);
	if (ret)
		r->last = r->from.session;
	return ret;
}

/* Windows that go without a slot are not used: the source does not know them. */
static int grant_lasting(struct relay *r, const struct wire_msg *msg)
{
	const uint64_t size = COPY_CHUNK;
	struct wire_msg out = { .window = msg->window, .size = min(msg->size, size) };

	if (r->nr_lasting == r->nr_slots)
		return 0;
	r->slot_of[msg->window] = ++r->nr_lasting;
	return grant(r, &r->slots[r->nr_lasting - 1], &out);
}

/* Grants of a file come in its order, and so do the slots that they get. */
static int lend(struct relay *r)
{
	struct source_stream *st = &r->src.stream;
	struct source_grant *g;
	struct wire_msg out;
	int ret = 0;

	/* Grants that a hole has made void are not lent. */
	if ((int)(st->head - r->lent) > 0)
		r->lent = st->head;
	while (!ret && r->lent != st->tail && r->lent - st->head < r->nr_slots) {
		g = &st->grants[r->lent % COPY_STREAM_WINDOWS];
		out = (struct wire_msg){
			.id = st->id, .window = g->window, .offset = g->at, .size = g->len,
		};
		ret = grant(r, &r->slots[r->lent++ % r->nr_slots], &out);
	}
	return ret;
}

int relay_grant(struct relay *r, const struct wire_msg *msg)
{
	int ret = open_slots(r);

	if (ret)
		return ret;
	return msg->id ? lend(r) : grant_lasting(r, msg);
}

static struct relay_slot *lent_slot(struct relay *r, const struct wire_msg *msg,
				    const struct kverbs_token **token)
{
	struct source_stream *st = &r->src.stream;
	struct source_grant *g = &st->grants[st->head % COPY_STREAM_WINDOWS];

	if (r->lent == st->head || g->window != msg->window || g->at != msg->offset ||
	    g->len != msg->size)
		return NULL;
	*token = &g->token;
	return &r->slots[st->head % r->nr_slots];
}

static struct relay_slot *lasting_slot(struct relay *r, const struct wire_msg *msg,
				       const struct kverbs_token **token)
{
	if (msg->window >= WIRE_WINDOWS_MAX || !r->slot_of[msg->window] ||
	    !r->src.windows[msg->window].free)
		return NULL;
	*token = &r->src.windows[msg->window].token;
	return &r->slots[r->slot_of[msg->window] - 1];
}

/* If a window differs from what the source sent, the sink is told a digest that is as wrong. */
static int digest_of(struct relay *r, const struct wire_msg *msg, struct wire_msg *out,
		     const struct piece *p)
{
	uint64_t in = 0;
	int ret;

	if (!r->keyed)
		return 0;
	ret = p ? hash_add(&r->hash.in, data_of(p), p->len, &in) :
		  hash_add_zeros(&r->hash.in, msg->size, &in);
	if (!ret)
		ret = p ? hash_add(&r->hash.out, data_of(p), p->len, &out->digest) :
			  hash_add_zeros(&r->hash.out, msg->size, &out->digest);
	if (!ret && in != msg->digest)
		out->digest = ~out->digest;
	return ret;
}

static int pass_window(struct relay *r, const struct wire_msg *msg)
{
	const struct kverbs_token *token;
	struct wire_msg out = *msg;
	struct relay_slot *slot;
	struct piece piece;
	int ret;

	slot = r->src.stream.mapped ? lent_slot(r, msg, &token) : lasting_slot(r, msg, &token);
	if (!slot || !msg->size || msg->size > COPY_CHUNK || msg->size > token->length)
		return -EPROTO;
	piece = (struct piece){
		.buf = slot->landing.buf, .len = msg->size, .write = &slot->write,
	};
	ret = secure(r, &piece);
	if (!ret)
		ret = digest_of(r, msg, &out, &piece);
	if (!ret)
		ret = send_piece(r, &piece, token);
	if (ret)
		return ret;
	source_use(&r->src, msg->window);
	ret = relay_to_sink(r, &out);
	return ret ? ret : lend(r);
}

static int pass_hole(struct relay *r, const struct wire_msg *msg)
{
	struct wire_msg out = *msg;
	int ret;

	if (!msg->size || msg->size > COPY_HOLE_MAX)
		return -EPROTO;
	ret = digest_of(r, msg, &out, NULL);
	if (ret)
		return ret;
	source_skip(&r->src, msg->offset + msg->size);
	progress_add(&r->copy->progress, msg->size);
	ret = relay_to_sink(r, &out);
	return ret ? ret : lend(r);
}

static bool is_streamed(const struct relay *r, const struct wire_msg *msg)
{
	return r->src.stream.id && msg->id == r->src.stream.id && r->started;
}

int relay_data(struct relay *r, const struct wire_msg *msg)
{
	if (!is_streamed(r, msg))
		return -EPROTO;
	return msg->flags & WIRE_F_HOLE ? pass_hole(r, msg) : pass_window(r, msg);
}

static int digest_of_end(struct relay *r, const struct wire_msg *msg, struct wire_msg *out)
{
	uint64_t in = 0;
	int ret;

	if (!r->keyed)
		return 0;
	ret = hash_value(&r->hash.in, &in);
	if (!ret)
		ret = hash_value(&r->hash.out, &out->digest);
	if (!ret && in != msg->digest)
		out->digest = ~out->digest;
	return ret;
}

int relay_end(struct relay *r, const struct wire_msg *msg)
{
	struct source_pending *p = source_pending(&r->src, msg->id);
	struct wire_msg out = *msg;
	int ret = 0;

	if (!is_streamed(r, msg))
		return -EPROTO;
	if (msg->type == WIRE_END)
		ret = digest_of_end(r, msg, &out);
	if (ret)
		return ret;
	/* The sink may have given the file up. */
	if (p) {
		p->digest = out.digest;
		entry_of(r, p)->digest = msg->digest;
		entry_of(r, p)->failed = msg->type == WIRE_ABORT;
		note_method(r, msg);
	}
	source_end_stream(&r->src);
	return relay_to_sink(r, &out);
}
