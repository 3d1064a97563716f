// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of the sink, and the connections of a relay.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "cli/util.h"
#include "copy/relay.h"

static struct session *sink_of(const struct relay *r)
{
	return r->copy->session;
}

const uint8_t *relay_source_key(const struct relay *r)
{
	return session_mac_key(r->from.session);
}

const uint8_t *relay_sink_key(const struct relay *r)
{
	return session_mac_key(sink_of(r));
}

static int pass(struct relay *r, struct session *to, const struct wire_msg *msg)
{
	int ret = session_queue(to, msg);

	if (ret)
		r->last = to;
	return ret;
}

int relay_to_source(struct relay *r, const struct wire_msg *msg)
{
	return pass(r, r->from.session, msg);
}

int relay_to_sink(struct relay *r, const struct wire_msg *msg)
{
	return pass(r, sink_of(r), msg);
}

/*
 * Of what was received so far of a file only the source has the digest with the key of its
 * connection, so with a key all of the file must come.
 */
static int on_ready(struct relay *r, const struct wire_msg *msg)
{
	struct wire_msg ready = *msg;

	if (r->keyed) {
		ready.offset = 0;
		ready.tail_len = 0;
	}
	return relay_to_source(r, &ready);
}

/* Names that the sink has removed are none of the source's business. */
static int on_done(struct relay *r, const struct wire_msg *msg)
{
	struct source_pending *p = msg->id ? source_pending(&r->src, msg->id) : NULL;
	struct wire_msg done = *msg;
	struct relay_entry entry;
	int ret;

	if (!p)
		return -EPROTO;
	entry = r->entries[p - r->src.pending];
	if (entry.failed)
		r->copy->where = r->src_host;
	ret = source_message(&r->src, msg);
	if (!ret)
		ret = relay_await_window(r, msg->window);
	/* Without READY nothing follows FILE. */
	if (!ret && msg->id == r->src.stream.id && !r->src.stream.ready)
		source_end_stream(&r->src);
	done.tail_len = 0;
	if (!ret && !msg->status)
		ret = hash_confirm(relay_source_key(r), entry.digest, msg->flags, &done.digest);
	return ret ? ret : relay_to_source(r, &done);
}

static int on_credit(struct relay *r, const struct wire_msg *msg)
{
	int ret = relay_await_window(r, msg->window);

	return ret ? ret : relay_to_source(r, msg);
}

static int from_sink(struct relay *r, const struct wire_msg *msg)
{
	int ret;

	if (msg->type == WIRE_DONE)
		return on_done(r, msg);
	ret = source_message(&r->src, msg);
	if (ret)
		return ret;
	switch (msg->type) {
	case WIRE_GRANT:
		return relay_grant(r, msg);
	case WIRE_READY:
		return on_ready(r, msg);
	case WIRE_CREDIT:
		return on_credit(r, msg);
	default:
		return relay_to_source(r, msg);
	}
}

/* The connection on which a message is overdue */
static struct session *late(const struct relay *r)
{
	const struct source_pending *p = r->src.pending;
	unsigned int i;

	for (i = 0; i < COPY_PENDING_MAX; i++)
		if (p[i].id && !p[i].wanted && p[i].id != r->src.stream.id)
			return sink_of(r);
	if (!r->src.stream.id)
		return r->from.session;
	/* Either the source has the next window, or it waits for one. */
	return r->last == sink_of(r) ? r->from.session : sink_of(r);
}

static int take(struct relay *r, bool of_source)
{
	struct session *s = of_source ? r->from.session : sink_of(r);
	struct wire_msg msg;
	int ret;

	r->last = s;
	r->copy->where = of_source ? r->src_host : r->dst_host;
	ret = session_recv(s, &msg, 0);
	if (!ret)
		ret = of_source ? relay_from_source(r, &msg) : from_sink(r, &msg);
	r->copy->where = NULL;
	return ret;
}

int relay_pump(void *arg)
{
	struct relay *r = arg;
	struct session *const both[] = { sink_of(r), r->from.session };
	int ret = session_await(both, ARRAY_SIZE(both), both[0]->timeout_ms);

	if (ret == -ETIMEDOUT)
		r->last = late(r);
	return ret < 0 ? ret : take(r, ret);
}

void relay_init(struct relay *r, struct copy *copy, struct session *from)
{
	memset(r, 0, sizeof(*r));
	r->copy = copy;
	r->from.session = from;
	r->last = copy->session;
	r->keyed = session_mac_key(copy->session) || session_mac_key(from);
	r->gate.copy = &r->from;
	r->gate.s = from;
	r->gate.files_only = !(copy->opts & (WIRE_F_RECURSIVE | WIRE_F_RELATIVE));
	r->src.copy = copy;
}

int relay_greet(struct relay *r)
{
	const unsigned int windows = COPY_EAGER_WINDOWS;
	const uint64_t size = COPY_EAGER_SIZE;
	struct wire_msg msg = {
		.type = WIRE_SINK,
		.window = min(r->src.nr_eager, windows),
		.size = min(r->src.eager_size, size),
		.flags = r->copy->opts & WIRE_F_AS_NAMED,
	};
	int ret = 0;

	if (msg.window)
		ret = landing_open(&r->eager, &r->from, 0, msg.window, msg.size);
	if (!ret)
		ret = relay_add_own(r);
	if (ret == -ENOMEM || ret == -EPERM)
		return err_report(ERR_MEMORY, -ENOMEM, "register windows");
	r->last = r->from.session;
	if (!ret)
		ret = session_send(r->from.session, &msg);
	return ret ? ret : landing_announce(&r->eager);
}

static int flush(struct relay *r, struct session *s)
{
	r->last = s;
	return session_flush(s);
}

int relay_flush(struct relay *r)
{
	int ret = relay_await_all(r);

	if (!ret)
		ret = flush(r, sink_of(r));
	return ret ? ret : flush(r, r->from.session);
}

void relay_close(struct relay *r)
{
	unsigned int i;

	landing_close(&r->eager);
	for (i = 0; i < r->nr_slots; i++)
		landing_close(&r->slots[i].landing);
}

void relay_free(struct relay *r)
{
	unsigned int i;

	landing_free(&r->eager);
	for (i = 0; i < r->nr_slots; i++)
		landing_free(&r->slots[i].landing);
	for (i = 0; i < r->nr_own; i++)
		kverbs_buf_free(r->own[i].buf);
	tdestroy(r->links, free);
	attrs_free(&r->gate.attrs);
	source_free(&r->src);
}
