// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A sweep as a diagram: the one that is made, or some that are there as JSON. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "bench/bench.h"
#include "cli/err.h"
#include "cli/json.h"
#include "cli/out.h"

/* What the legend has room for. */
#define NAME_ROOM 36

static const char *const values[] = {
	[BENCH_BANDWIDTH] = "bw_avg_MiBps",
	[BENCH_LATENCY] = "t_typical_us",
};

static void set_kind(struct plot *p, enum bench_kind kind)
{
	p->label = kind == BENCH_LATENCY ? "t_typical [usec]" : "BW average [MiB/sec]";
	p->decades = kind == BENCH_LATENCY;
}

static int save(struct bench *b, const char *path)
{
	int ret = plot_save(&b->plot, path);

	if (ret)
		return err_report(ERR_LOCAL, ret, "write %s", path);
	if (out_is_json())
		json_put_str(out_root(), "plot", path);
	return EXIT_OK;
}

int bench_plot_row(struct bench *b)
{
	double value = bench_MiBps(b);
	int ret = 0;

	if (b->rule->kind == BENCH_LATENCY)
		value = hist_us(&b->f.hist, 50);
	if (!b->plot.nr_lines)
		ret = plot_begin(&b->plot, b->rule->name);
	set_kind(&b->plot, b->rule->kind);
	if (!ret)
		ret = plot_add(&b->plot, b->f.param.size, value);
	/* A row that took no time at all has no place, but is none to fail for. */
	if (ret == -EINVAL)
		ret = 0;
	return ret ? err_report(ERR_LOCAL, ret, "draw a row") : EXIT_OK;
}

int bench_plot_end(struct bench *b)
{
	int status = EXIT_OK;

	if (!plot_empty(&b->plot))
		status = save(b, b->plot_to);
	plot_free(&b->plot);
	return status;
}

/**
 * struct source - a file that is drawn
 * @path: of it
 * @rows: in it
 * @op: of the first row
 * @kind: of that
 */
struct source {
	const char *path;
	struct json_object *rows;
	const char *op;
	enum bench_kind kind;
};

static int bad(const struct source *src, const char *why)
{
	return err_report(ERR_LOCAL, -EINVAL, "draw %s: %s", src->path, why);
}

static int load(const char *path, struct json_object **root)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return err_report(ERR_LOCAL, -errno, "read %s", path);
	*root = json_object_from_fd(fd);
	close(fd);
	if (!*root)
		return err_report(ERR_LOCAL, -EINVAL, "read %s as JSON", path);
	return EXIT_OK;
}

/* 0: there is no such number. */
static double number(struct json_object *row, const char *key)
{
	struct json_object *v;

	if (!json_object_object_get_ex(row, key, &v))
		return 0;
	return json_object_get_double(v);
}

static const char *operation(struct json_object *row)
{
	const char *name = NULL;
	struct json_object *v;

	if (json_object_object_get_ex(row, "operation", &v))
		name = json_object_get_string(v);
	return name ? name : "";
}

/* Rows of steps have latencies, too, but several of each size. */
static int look(struct source *src, struct json_object *root)
{
	struct json_object *first;

	if (!json_object_object_get_ex(root, "rows", &src->rows) ||
	    !json_object_is_type(src->rows, json_type_array) ||
	    !json_object_array_length(src->rows))
		return bad(src, "there are no rows in it");
	first = json_object_array_get_idx(src->rows, 0);
	src->op = operation(first);
	if (!bench_op_find(src->op))
		return bad(src, "its rows are of no operation");
	src->kind = bench_rule(bench_op_find(src->op))->kind;
	return EXIT_OK;
}

/* A file's name without what all of them have. */
static void name_run(const struct source *src, char *name)
{
	const char *slash = strrchr(src->path, '/');
	const char *base = slash ? slash + 1 : src->path;
	const char *end = strstr(base, ".json");
	int len = end && !end[5] ? (int)(end - base) : (int)strlen(base);

	snprintf(name, NAME_ROOM, "%s, %.*s", src->op, len, base);
}

static int draw_rows(struct plot *p, const struct source *src)
{
	size_t i, nr = json_object_array_length(src->rows);
	struct json_object *row;

	for (i = 0; i < nr; i++) {
		row = json_object_array_get_idx(src->rows, i);
		if (strcmp(operation(row), src->op))
			return bad(src, "it has rows of more than one operation");
		if (plot_add(p, number(row, "size_bytes"), number(row, values[src->kind])))
			return bad(src, "it has a row without size or value");
	}
	return EXIT_OK;
}

static int draw(struct plot *p, const struct source *src)
{
	bool latency = src->kind == BENCH_LATENCY;
	char name[NAME_ROOM];

	if (p->nr_lines && p->decades != latency)
		return bad(src, "bandwidths and latencies do not go together");
	set_kind(p, src->kind);
	name_run(src, name);
	if (plot_begin(p, name))
		return bad(src, "there are too many of them");
	return draw_rows(p, src);
}

static int draw_file(struct plot *p, const char *path)
{
	struct source src = { .path = path };
	struct json_object *root;
	int status;

	status = load(path, &root);
	if (status)
		return status;
	status = look(&src, root);
	if (!status)
		status = draw(p, &src);
	json_object_put(root);
	return status;
}

int bench_plot(struct bench *b)
{
	int status = EXIT_OK;
	char **file;

	for (file = b->files; *file && !status; file++)
		status = draw_file(&b->plot, *file);
	if (!status)
		status = save(b, b->output);
	plot_free(&b->plot);
	return status;
}
