// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>

#include "bench/conn.h"

#define CQ_MIN 4096

const struct wire_hello bench_echo = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_ECHO,
	.msg_max = WIRE_HEAD_LEN,
	.depth = WIRE_BENCH_DEPTH,
};

static unsigned int cq_entries(const struct bench_param *p)
{
	uint64_t need = bench_param_completions(p);
	unsigned int entries = CQ_MIN;

	while (entries < need && entries < BENCH_CQ_MAX)
		entries *= 2;
	return entries;
}

/* A side that is only written to or read from has no completions to poll for. */
static bool polls(const struct bench_param *p, bool drives)
{
	const struct bench_rule *rule = bench_rule(p->op);

	if (p->flags & BENCH_F_EVENTS)
		return false;
	return drives || rule->receives || rule->access_back ||
	       p->flags & BENCH_F_BOTH_WAYS;
}

int bench_open_as(struct kverbs **kv, const struct bench_param *p, bool busy_poll,
		  bool softirq)
{
	struct kverbs_opts opts = {
		.sz = sizeof(opts),
		.cq_entries = cq_entries(p),
		.busy_poll = busy_poll,
		.softirq = softirq,
	};

	return kverbs_open(kv, &opts);
}

int bench_open(struct kverbs **kv, const struct bench_param *p, bool drives)
{
	return bench_open_as(kv, p, polls(p, drives), false);
}

int bench_expect(struct session *s, enum wire_type type, struct wire_msg *msg)
{
	int ret;

	ret = session_recv(s, msg, s->timeout_ms);
	if (ret)
		return ret;
	if (msg->type != type)
		return -EPROTO;
	return wire_errno(msg->status);
}

int bench_tell(struct session *s, enum wire_type type)
{
	struct wire_msg msg = { .type = type, .window = WIRE_NO_WINDOW };

	return session_send(s, &msg);
}

/* More pieces than a message has room for: the peer is told, too. */
static int tell_no_token(struct session *s, struct wire_msg *msg)
{
	int ret;

	msg->status = wire_status(-EOVERFLOW);
	ret = session_send(s, msg);
	if (!ret)
		ret = session_flush(s);
	return ret ? ret : -EOVERFLOW;
}

/* Nothing, if the peer needs none of this lane's memory. */
int bench_tell_token(struct session *s, struct lane *l)
{
	uint8_t packed[WIRE_TAIL_MAX];
	struct wire_msg msg = {
		.type = WIRE_BENCH_TOKEN,
		.id = l->number + 1,
		.window = WIRE_NO_WINDOW,
		.tail = packed,
	};
	int ret;

	ret = lane_export(l);
	if (!ret && l->mine.nr_segs)
		ret = kverbs_token_pack(&l->mine, packed, sizeof(packed));
	if (ret == -EMSGSIZE)
		return tell_no_token(s, &msg);
	if (ret < 0)
		return ret;
	msg.tail_len = ret;
	return session_send(s, &msg);
}

static bool covers(const struct lane *l)
{
	unsigned int access = l->drives ? l->rule->access : l->rule->access_back;

	return !access || (l->theirs.access & access && l->theirs.length >= l->param->size);
}

int bench_take_token(struct session *s, struct lane *l)
{
	struct wire_msg msg;
	int ret;

	ret = bench_expect(s, WIRE_BENCH_TOKEN, &msg);
	if (ret)
		return ret;
	if (msg.id != l->number + 1)
		return -EPROTO;
	if (msg.tail_len)
		ret = kverbs_token_unpack(&l->theirs, msg.tail, msg.tail_len);
	if (ret < 0)
		return ret;
	return covers(l) ? 0 : -EPROTO;
}
