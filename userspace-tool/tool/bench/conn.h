/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Messages between both sides of kverbs bench, and the context they measure with. */
#ifndef KVERBS_TOOL_BENCH_CONN_H
#define KVERBS_TOOL_BENCH_CONN_H

#include "bench/lane.h"
#include "peer/session.h"

/* The hello of a connection that exchanges only a few short messages. */
extern const struct wire_hello bench_echo;

/* A context with room for all completions; @drives: for the side that begins. */
int bench_open(struct kverbs **kv, const struct bench_param *p, bool drives);
/* The same, for the kernel engine: whether completions are polled for, or where from. */
int bench_open_as(struct kverbs **kv, const struct bench_param *p, bool busy_poll,
		  bool softirq);

/* The next message, which is to be of that type and without a failure in it. */
int bench_expect(struct session *s, enum wire_type type, struct wire_msg *msg);
int bench_tell(struct session *s, enum wire_type type);
int bench_tell_token(struct session *s, struct lane *l);
int bench_take_token(struct session *s, struct lane *l);

#endif /* KVERBS_TOOL_BENCH_CONN_H */
