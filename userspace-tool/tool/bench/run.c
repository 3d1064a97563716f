// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Shared by all measurements: the server, signals, and limits. */
#include "bench/bench.h"
#include "cli/err.h"
#include "cli/signals.h"
#include "cli/util.h"
#include "peer/kv.h"

int bench_interruptible(struct bench *b, int (*run)(struct bench *b))
{
	struct signals old;
	int status;

	signals_catch(&old, &b->interrupted);
	status = run(b);
	signals_restore(&old);
	return status;
}

uint64_t bench_warm_up(const struct bench *b, uint64_t most)
{
	if (!b->warm_up)
		return 0;
	return b->duration_ms ? most : min(most, b->count / 10 + 1);
}

void bench_miss(struct bench *b, const char *what, double got, double limit)
{
	b->missed = true;
	err_warn("%s is %.2f, the limit is %.2f", what, got, limit);
}

int bench_with_server(struct bench *b, const struct wire_hello *hello,
		      int (*run)(struct bench *b))
{
	int status;

	status = kv_connect(&b->s, b->kv, &b->to, hello);
	if (status)
		return status;
	b->s.stop = &b->interrupted;
	status = bench_interruptible(b, run);
	session_free(&b->s);
	return status;
}
