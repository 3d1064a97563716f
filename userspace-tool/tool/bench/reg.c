// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs bench reg: time to register memory, export it, revoke it and unregister it. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/bench.h"
#include "bench/conn.h"
#include "bench/pages.h"
#include "cli/err.h"
#include "cli/json.h"
#include "cli/out.h"
#include "cli/signals.h"
#include "cli/table.h"

#define FIRST 4096u
#define LAST (16u << 20)
#define LAST_OF_ALL (64u << 20)

#define ACCESS (KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE)

/* A server ends a connection on which nothing is said. */
#define STAY_NS 1000000000u

enum reg_step {
	REG_REGISTER,
	REG_EXPORT,
	REG_REVOKE,
	REG_UNREGISTER,
	REG_STEPS,
};

static const char *const step_names[] = { "register", "export", "revoke", "unregister" };

/**
 * struct reg - what is measured of one size and kind of pages
 * @b: the run
 * @kind: of its pages
 * @size: bytes
 * @pages: the memory
 * @at: when the last step was over, ns
 * @counts: warm-up is over
 * @hists: times of each step
 */
struct reg {
	struct bench *b;
	enum pages_kind kind;
	size_t size;
	struct pages pages;
	uint64_t at;
	bool counts;
	struct hist hists[REG_STEPS];
};

static const char *const columns[] = {
	"#bytes  ", "pages   ", "step      ", "#iterations", TABLE_TIMES, NULL
};

static const char *pages_name(enum pages_kind kind, char *buf, size_t room)
{
	size_t kb = pages_bytes(kind) / 1024;

	snprintf(buf, room, kb < 1024 ? "%zu KiB" : "%zu MiB", kb < 1024 ? kb : kb / 1024);
	return buf;
}

static void print_begin(const struct reg *r)
{
	char name[32];

	table_number(columns[0], 0, r->size);
	table_cell(columns[1], pages_name(r->kind, name, sizeof(name)));
}

static struct json_object *new_row(const struct reg *r, bool available)
{
	struct json_object *row = bench_out_new_row(r->b, "reg");

	json_put_int(row, "size_bytes", r->size);
	json_put_str(row, "pages", r->kind == PAGES_HUGE ? "huge" : "base");
	json_put_int(row, "page_bytes", pages_bytes(r->kind));
	json_put_flag(row, "available", available);
	return row;
}

static void tell_none(const struct reg *r)
{
	if (out_is_json()) {
		new_row(r, false);
		return;
	}
	print_begin(r);
	out_text(" not available: there are no huge pages to be had\n");
}

static void tell_step(const struct reg *r, enum reg_step step)
{
	const struct hist *h = &r->hists[step];
	struct json_object *row;

	if (out_is_json()) {
		row = new_row(r, true);
		json_put_str(row, "step", step_names[step]);
		json_put_int(row, "iterations", h->rtt.count);
		json_put_times(row, h);
		return;
	}
	print_begin(r);
	table_cell(columns[2], step_names[step]);
	table_number(columns[3], 0, h->rtt.count);
	table_times(columns + 4, h);
}

static void tell(const struct reg *r)
{
	unsigned int step;

	for (step = 0; step < REG_STEPS; step++)
		if (r->hists[step].rtt.count)
			tell_step(r, step);
}

static void begin(struct bench *b)
{
	if (bench_out_rows(b))
		return;
	out_text("Registration Test\n");
	if (b->to.host)
		out_text(" Server          : %s port %s (%s)\n", b->to.host, b->to.port,
			 b->s.peer);
	else
		out_text(" Server          : none, so nothing is exported\n");
	out_text("\n");
	table_head(columns);
}

/* The step that began when the last one was over has ended with @ret. */
static int over(struct reg *r, enum reg_step step, int ret)
{
	uint64_t now = field_now();
	char name[32];

	if (ret)
		return err_report(step == REG_REGISTER ? ERR_MEMORY : ERR_PEER, ret,
				  "%s %zu bytes in pages of %s", step_names[step], r->size,
				  pages_name(r->kind, name, sizeof(name)));
	if (r->counts)
		hist_add(&r->hists[step], now - r->at);
	r->at = field_now();
	return EXIT_OK;
}

static int lend(struct reg *r, struct kverbs_buf *buf)
{
	struct kverbs_conn *conn = r->b->s.conn;
	struct kverbs_token token;
	int status;

	if (!r->b->to.host)
		return EXIT_OK;
	status = over(r, REG_EXPORT, kverbs_export(conn, buf, 0, r->size, ACCESS, &token));
	if (status)
		return status;
	return over(r, REG_REVOKE, kverbs_unexport(conn, &token));
}

static int once(struct reg *r)
{
	struct kverbs_buf *buf;
	int status, ret;

	r->at = field_now();
	ret = kverbs_buf_register(r->b->kv, r->pages.addr, r->size, 0, &buf);
	status = over(r, REG_REGISTER, ret);
	if (status)
		return status;
	status = lend(r, buf);
	ret = over(r, REG_UNREGISTER, kverbs_buf_free(buf));
	return status ? status : ret;
}

/* Say something now and then, to be answered. */
static int keep_up(struct bench *b)
{
	struct wire_msg msg = { .type = WIRE_ECHO, .id = 1, .window = WIRE_NO_WINDOW };
	uint64_t now = field_now();
	int ret;

	if (!b->to.host || now - b->stayed < STAY_NS)
		return EXIT_OK;
	b->stayed = now;
	ret = session_send(&b->s, &msg);
	if (!ret)
		ret = session_recv(&b->s, &msg, b->to.timeout_ms);
	return ret ? err_report(ERR_PEER, ret, "stay connected to %s", b->s.peer) : EXIT_OK;
}

static int repeat(struct reg *r, uint64_t count)
{
	int status = EXIT_OK;

	while (count-- && !status) {
		status = once(r);
		if (!status)
			status = keep_up(r->b);
		if (!status && signals_seen(&r->b->interrupted))
			status = err_report(ERR_MEMORY, -EINTR, "register memory");
	}
	return status;
}

static int measure(struct reg *r)
{
	int status;

	status = repeat(r, bench_warm_up(r->b, 100));
	if (status)
		return status;
	r->counts = true;
	status = repeat(r, r->b->count);
	if (!status)
		tell(r);
	return status;
}

static int measure_in(struct reg *r)
{
	int ret, status;

	ret = pages_alloc(&r->pages, r->kind, r->size);
	if (ret == -ENODATA) {
		tell_none(r);
		return EXIT_OK;
	}
	if (ret)
		return err_report(ERR_MEMORY, ret, "allocate %zu bytes", r->size);
	status = measure(r);
	pages_free(&r->pages);
	return status;
}

/* A row for each step, of each kind of pages. */
static int rows_of(struct bench *b, size_t size)
{
	int status = EXIT_OK;
	unsigned int kind;
	struct reg *r;

	for (kind = 0; kind < PAGES_KINDS && !status; kind++) {
		r = calloc(1, sizeof(*r));
		if (!r)
			return err_report(ERR_MEMORY, -ENOMEM, "measure");
		r->b = b;
		r->kind = kind;
		r->size = size;
		status = measure_in(r);
		free(r);
	}
	return status;
}

static int rows(struct bench *b)
{
	uint64_t size, last = b->all ? LAST_OF_ALL : LAST;
	int status = EXIT_OK;

	begin(b);
	if (b->size != BENCH_UNSET)
		return rows_of(b, b->size);
	for (size = FIRST; size <= last && !status; size *= b->all ? 2 : 16)
		status = rows_of(b, size);
	return status;
}

int bench_reg(struct bench *b)
{
	b->stayed = field_now();
	if (b->to.host)
		return bench_with_server(b, &bench_echo, rows);
	return bench_interruptible(b, rows);
}
