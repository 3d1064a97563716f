/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Runs kverbs bench as a program, against the server of server.h. */
#ifndef BENCH_RUN_H
#define BENCH_RUN_H

#include <json-c/json.h>

#include "cli/out.h"
#include "server.h"

#define BENCH_WORDS 18
#define BENCH_HOST "192.0.2.1"

/* Words up to NULL; waits for completions without polling, unless that is impossible. */
static inline int bench_words(const char *const *words)
{
	char *argv[BENCH_WORDS + 6] = { "bench", "-W", FAKE_PATIENCE_S, "-e" };
	int argc = strcmp(words[0], "write-lat") ? 4 : 3;

	for (; *words; words++)
		argv[argc++] = (char *)*words;
	err_command("bench");
	return cmd_bench.run(argc, argv);
}

#define bench_alone(...) bench_words((const char *const []){ __VA_ARGS__, NULL })
#define bench(...) bench_alone(__VA_ARGS__, BENCH_HOST)

/* The result of a run as JSON, to be freed; the run must exit with @status. */
static inline struct json_object *result_words(int status, const char *const *words)
{
	struct json_object *root;

	out_begin("bench", true);
	assert_int_equal(bench_words(words), status);
	root = json_object_get(out_root());
	out_end(status);
	return root;
}

#define result_alone(status, ...) \
	result_words(status, (const char *const []){ __VA_ARGS__, NULL })
#define result(status, ...) result_alone(status, __VA_ARGS__, BENCH_HOST)

static inline struct json_object *row_of(struct json_object *root, unsigned int i)
{
	struct json_object *rows;

	assert_true(json_object_object_get_ex(root, "rows", &rows));
	return json_object_array_get_idx(rows, i);
}

static inline double number(struct json_object *row, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(row, key, &v));
	return json_object_get_double(v);
}

static inline const char *string(struct json_object *row, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(row, key, &v));
	return json_object_get_string(v);
}

#endif /* BENCH_RUN_H */
