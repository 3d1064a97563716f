/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The side of kverbs bench that is in kverbs serve. */
#ifndef KVERBS_TOOL_BENCH_SERVER_H
#define KVERBS_TOOL_BENCH_SERVER_H

#include "peer/session.h"

/* Measure what the client asks for until it is gone; @bind: local address, or NULL. */
int bench_serve(struct session *s, const char *bind);

#endif /* KVERBS_TOOL_BENCH_SERVER_H */
