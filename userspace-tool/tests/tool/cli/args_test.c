// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The command line: commands, options, HOST:PATH, exit statuses. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "cli/err.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "commands.h"
#include "peer/target.h"

static void check_target(const char *arg, const char *host, const char *path)
{
	struct target t;

	assert_int_equal(target_parse(&t, arg), 0);
	assert_string_equal(t.host, host);
	assert_string_equal(t.path, path);
}

static void targets_are_read_as_scp_does(void **state)
{
	(void)state;
	check_target("file", "", "file");
	check_target("dir/a:b", "", "dir/a:b");
	check_target("./a:b", "", "./a:b");
	check_target("/a:b", "", "/a:b");
	check_target("host:file", "host", "file");
	check_target("host:", "host", "");
	check_target("host:a:b", "host", "a:b");
	check_target("192.0.2.1:dir/x y", "192.0.2.1", "dir/x y");
	check_target("[2001:db8::1]:f", "2001:db8::1", "f");
	check_target("[fe80::1%eth0]:f", "fe80::1%eth0", "f");
	check_target("[odd]name", "", "[odd]name");
}

static void targets_without_a_host_are_refused(void **state)
{
	char longest[300];
	struct target t;

	(void)state;
	assert_int_equal(target_parse(&t, ":file"), -EINVAL);
	assert_int_equal(target_parse(&t, "[]:file"), -EINVAL);
	assert_int_equal(target_parse(&t, ""), -EINVAL);
	memset(longest, 'h', sizeof(longest));
	memcpy(longest + sizeof(longest) - 3, ":f", 3);
	assert_int_equal(target_parse(&t, longest), -EINVAL);
}

static void check_basename(const char *path, const char *want)
{
	char buf[256];

	assert_string_equal(target_basename(path, buf, sizeof(buf)), want);
}

static void a_copy_is_named_after_the_basename(void **state)
{
	(void)state;
	check_basename("a", "a");
	check_basename("d/a", "a");
	check_basename("/d/a//", ".");
	check_basename(".", ".");
	check_basename("..", ".");
	check_basename("a/..", ".");
	check_basename("/", ".");
	check_basename("", ".");
	check_basename("...", "...");
}

static void numbers_accept_suffixes_and_have_bounds(void **state)
{
	uint64_t v;

	(void)state;
	assert_int_equal(opts_number("-s", "64k", 0, 1 << 20, &v), 0);
	assert_int_equal(v, 65536);
	assert_int_equal(opts_number("-s", "010", 0, 100, &v), 0);
	assert_int_equal(v, 10);
	assert_int_equal(opts_number("-s", "08", 0, 100, &v), 0);
	assert_int_equal(v, 8);
	assert_int_equal(opts_number("-s", "0x10", 0, 100, &v), 0);
	assert_int_equal(v, 16);
	assert_int_equal(opts_number("-s", "1M", 0, 1 << 20, &v), 0);
	assert_int_equal(v, 1 << 20);
	assert_int_equal(opts_number("-s", "1M", 0, (1 << 20) - 1, &v), -EINVAL);
	assert_int_equal(opts_number("-s", "0", 1, 10, &v), -EINVAL);
	assert_int_equal(opts_number("-s", "-1", 0, UINT64_MAX, &v), -EINVAL);
	assert_int_equal(opts_number("-s", "", 0, 10, &v), -EINVAL);
	assert_int_equal(opts_number("-s", "1kk", 0, 1 << 20, &v), -EINVAL);
	assert_int_equal(opts_number("-s", "18446744073709551616", 0, UINT64_MAX, &v),
			 -EINVAL);
	assert_int_equal(opts_number("-s", "18446744073709551615k", 0, UINT64_MAX, &v),
			 -EINVAL);
}

static void times_are_read_in_seconds(void **state)
{
	int ms;

	(void)state;
	assert_int_equal(opts_millis("-i", "0.25", 0, 1000, &ms), 0);
	assert_int_equal(ms, 250);
	assert_int_equal(opts_millis("-i", "0", 0, 1000, &ms), 0);
	assert_int_equal(ms, 0);
	assert_int_equal(opts_millis("-i", "1.001", 0, 1000, &ms), -EINVAL);
	assert_int_equal(opts_millis("-i", "-1", 0, 1000, &ms), -EINVAL);
	assert_int_equal(opts_millis("-i", "nan", 0, 1000, &ms), -EINVAL);
	assert_int_equal(opts_millis("-i", "1s", 0, 1000, &ms), -EINVAL);
	assert_int_equal(opts_millis("-i", "1e99", 0, 1000, &ms), -EINVAL);
}

static void limits_accept_fractions(void **state)
{
	double v = 0;

	(void)state;
	assert_int_equal(opts_real("--limit", "0.25", &v), 0);
	assert_true(v == 0.25);
	assert_int_equal(opts_real("--limit", "1e3", &v), 0);
	assert_true(v == 1000);
	assert_int_equal(opts_real("--limit", "0", &v), -EINVAL);
	assert_int_equal(opts_real("--limit", "-1", &v), -EINVAL);
	assert_int_equal(opts_real("--limit", "nan", &v), -EINVAL);
	assert_int_equal(opts_real("--limit", "inf", &v), -EINVAL);
	assert_int_equal(opts_real("--limit", "1M", &v), -EINVAL);
	assert_int_equal(opts_real("--limit", "", &v), -EINVAL);
}

static void ports_have_bounds(void **state)
{
	const char *port = NULL;

	(void)state;
	assert_int_equal(opts_port("--port", "7472", &port), 0);
	assert_string_equal(port, "7472");
	assert_int_equal(opts_port("--port", "65536", &port), -EINVAL);
	assert_int_equal(opts_port("--port", "http", &port), -EINVAL);
	assert_int_equal(opts_port("--port", "", &port), -EINVAL);
	assert_int_equal(opts_port("--port", "-1", &port), -EINVAL);
}

/* The resolver accepts neither suffixes nor other bases, and would truncate 77777. */
static void ports_are_decimal(void **state)
{
	const char *port = NULL;

	(void)state;
	assert_int_equal(opts_port("--port", "1k", &port), -EINVAL);
	assert_int_equal(opts_port("--port", "0x10", &port), -EINVAL);
	assert_int_equal(opts_port("--port", "077777", &port), -EINVAL);
	assert_int_equal(opts_port("--port", "99999999999999999999", &port), -EINVAL);
	assert_null(port);
	assert_int_equal(opts_port("--port", "00080", &port), 0);
	assert_string_equal(port, "00080");
}

struct words {
	bool quiet;
	bool bar;
	const char *source;
	const char *port;
	uint64_t size;
	int wait_ms;
};

static const struct opts_option table[] = {
	OPTS_OPTION("quiet", 'q', OPTS_SET, struct words, quiet),
	OPTS_OPTION("no-bar", 0, OPTS_CLEAR, struct words, bar),
	OPTS_OPTION("source", 'I', OPTS_TEXT, struct words, source),
	OPTS_OPTION("port", 'p', OPTS_PORT, struct words, port),
	OPTS_RANGE("size", 's', OPTS_NUMBER, struct words, size, 1, 4096),
	OPTS_RANGE("wait", 0, OPTS_MILLIS, struct words, wait_ms, 0, 1000),
	{ }
};

#define PARSE(words, ...)							\
	opts_parse(sizeof((char *[]){ "x", __VA_ARGS__ }) / sizeof(char *),	\
		   (char *[]){ "x", __VA_ARGS__, NULL }, table, words)

static void options_fill_a_struct(void **state)
{
	struct words words = { .bar = true };

	(void)state;
	out_begin("x", false);
	assert_int_equal(PARSE(&words, "-q", "--no-bar", "-I", "here", "-p", "5", "--size=1K",
			       "--wait", "0.5", "-j", "--json", "rest"), 12);
	assert_true(words.quiet);
	assert_false(words.bar);
	assert_string_equal(words.source, "here");
	assert_string_equal(words.port, "5");
	assert_int_equal(words.size, 1024);
	assert_int_equal(words.wait_ms, 500);
	out_end(0);
}

static bool is_json_after(char *word)
{
	struct words words = { 0 };
	bool json;

	out_begin("x", false);
	assert_int_equal(PARSE(&words, word), 2);
	json = out_is_json();
	out_end(0);
	return json;
}

/* Every way to write options; only the option parser knows all of them. */
static void json_is_accepted_like_other_options(void **state)
{
	(void)state;
	assert_false(is_json_after("-q"));
	assert_true(is_json_after("-j"));
	assert_true(is_json_after("-qj"));
	assert_true(is_json_after("--json"));
	assert_true(is_json_after("--js"));
}

static void check_utf8(const char *bytes, const char *want)
{
	char text[32];

	snprintf(text, sizeof(text), "%s", bytes);
	out_make_utf8(text);
	assert_string_equal(text, want);
}

/* A file name is a string of bytes and may be cut anywhere, but JSON is UTF-8. */
static void json_is_valid_utf8(void **state)
{
	(void)state;
	check_utf8("plain", "plain");
	check_utf8("\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80",
		   "\xc3\xa4 \xe2\x82\xac \xf0\x9f\x98\x80");
	check_utf8("x\xff y", "x? y");
	check_utf8("cut \xe2\x82", "cut ??");
	/* Overlong, half of a surrogate pair, and beyond the last code point. */
	check_utf8("\xc0\x80 \xe0\x9f\xbf", "?? ???");
	check_utf8("\xed\xa0\x80 \xf4\x90\x80\x80", "??? ????");
}

static void wrong_options_are_refused(void **state)
{
	struct words words = { 0 };

	(void)state;
	assert_int_equal(PARSE(&words, "-x"), -EINVAL);
	assert_int_equal(PARSE(&words, "--bogus"), -EINVAL);
	assert_int_equal(PARSE(&words, "-s"), -EINVAL);
	assert_int_equal(PARSE(&words, "-s", "4097"), -EINVAL);
	assert_int_equal(PARSE(&words, "--quiet=yes"), -EINVAL);
	assert_int_equal(PARSE(&words, "--", "-x"), 2);
}

static void commands_are_found(void **state)
{
	unsigned int i;

	(void)state;
	for (i = 0; cmd_at(i); i++) {
		assert_ptr_equal(cmd_find(cmd_at(i)->name), cmd_at(i));
		assert_non_null(strstr(cmd_at(i)->notes, "Exit status"));
		assert_non_null(cmd_at(i)->json);
	}
	assert_true(i >= 6);
	assert_null(cmd_find("cpp"));
}

static void each_option_has_a_help(void **state)
{
	const struct opts_option *o;
	unsigned int i;

	(void)state;
	for (i = 0; cmd_at(i); i++) {
		for (o = cmd_at(i)->options; o->name; o++) {
			assert_non_null(o->help);
			assert_int_equal(!o->arg, o->kind == OPTS_SET || o->kind == OPTS_CLEAR);
		}
	}
}

static void mistyped_commands_are_suggested(void **state)
{
	(void)state;
	assert_string_equal(cmd_nearest("pnig")->name, "ping");
	assert_string_equal(cmd_nearest("server")->name, "serve");
	assert_string_equal(cmd_nearest("cpp")->name, "cp");
	assert_null(cmd_nearest("frobnicate"));
	assert_null(cmd_nearest("xx"));
	assert_int_equal(cmd_distance("kitten", "sitting"), 3);
	assert_int_equal(cmd_distance("", "abc"), 3);
	assert_int_equal(cmd_distance("abc", "abc"), 0);
}

static void exit_statuses_depend_on_the_kind_of_error(void **state)
{
	(void)state;
	assert_int_equal(err_exit(ERR_OPEN, -ENOENT), EXIT_DENIED);
	assert_int_equal(err_exit(ERR_DEVICE, -ENODEV), EXIT_DENIED);
	assert_int_equal(err_exit(ERR_CONNECT, -ECONNREFUSED), EXIT_UNREACHABLE);
	assert_int_equal(err_exit(ERR_CONNECT, -ETIMEDOUT), EXIT_UNREACHABLE);
	assert_int_equal(err_exit(ERR_CONNECT, -ENXIO), EXIT_UNREACHABLE);
	assert_int_equal(err_exit(ERR_PEER, -ECONNRESET), EXIT_FAILED);
	assert_int_equal(err_exit(ERR_PEER, -ETIMEDOUT), EXIT_FAILED);
	assert_int_equal(err_exit(ERR_REMOTE, -EPERM), EXIT_DENIED);
	assert_int_equal(err_exit(ERR_REMOTE, -EROFS), EXIT_DENIED);
	assert_int_equal(err_exit(ERR_REMOTE, -ENOENT), EXIT_FAILED);
	assert_int_equal(err_exit(ERR_LOCAL, -EACCES), EXIT_DENIED);
	assert_int_equal(err_exit(ERR_LOCAL, -EBADMSG), EXIT_FAILED);
	assert_int_equal(err_exit(ERR_LISTEN, -EADDRINUSE), EXIT_FAILED);
}

static void the_first_failure_is_kept(void **state)
{
	(void)state;
	err_command("cp");
	assert_null(err_last());
	assert_int_equal(err_report(ERR_OPEN, -ENOENT, "open %s", "x"), EXIT_DENIED);
	err_report(ERR_PEER, -EPROTO, "later");
	assert_string_equal(err_last()->step, "open x");
	assert_int_equal(err_last()->err, -ENOENT);
	assert_non_null(strstr(err_last()->remedy, "modprobe kverbs"));
	assert_string_equal(err_name(-ENOENT), "ENOENT");
	assert_null(err_remedy(ERR_PEER, -ENOENT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_read_as_scp_does),
		cmocka_unit_test(targets_without_a_host_are_refused),
		cmocka_unit_test(a_copy_is_named_after_the_basename),
		cmocka_unit_test(numbers_accept_suffixes_and_have_bounds),
		cmocka_unit_test(times_are_read_in_seconds),
		cmocka_unit_test(limits_accept_fractions),
		cmocka_unit_test(ports_have_bounds),
		cmocka_unit_test(ports_are_decimal),
		cmocka_unit_test(options_fill_a_struct),
		cmocka_unit_test(json_is_accepted_like_other_options),
		cmocka_unit_test(json_is_valid_utf8),
		cmocka_unit_test(wrong_options_are_refused),
		cmocka_unit_test(commands_are_found),
		cmocka_unit_test(each_option_has_a_help),
		cmocka_unit_test(mistyped_commands_are_suggested),
		cmocka_unit_test(exit_statuses_depend_on_the_kind_of_error),
		cmocka_unit_test(the_first_failure_is_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
