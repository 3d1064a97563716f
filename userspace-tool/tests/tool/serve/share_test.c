// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A server of several directories, each with rights of its own. */
#define _GNU_SOURCE
#include "cli/util.h"
#include "guarded.h"

#define OUTPUT_MAX 65536

/* Output of the last ls */
static char printed[OUTPUT_MAX];

static const char *in_etc(const char *name)
{
	static char buf[4][PATH_MAX + 64];
	static int i;

	i = (i + 1) % 4;
	snprintf(buf[i], sizeof(buf[i]), "%s/%s", etc->path, name);
	return buf[i];
}

static void make_dirs(void)
{
	static const char * const dirs[] = { "open", "open/d", "public", "public/d", "kept" };
	unsigned int i;

	make_files(NULL);
	for (i = 0; i < ARRAY_SIZE(dirs); i++)
		assert_int_equal(mkdirat(etc->fd, dirs[i], 0755), 0);
	tmp_write(etc, "open/f", "f of open");
	tmp_write(etc, "public/f", "f of public");
	tmp_write(etc, "public/d/g", "g of public");
	tmp_write(etc, "kept/f", "f of kept");
	assert_int_equal(symlinkat("../open/f", etc->fd, "public/out"), 0);
	tmp_write(etc, "mine", "a file of mine");
}

static int start_shares(void **state, const char *const *more)
{
	static char open[PATH_MAX + 64], public[PATH_MAX + 64], kept[PATH_MAX + 64];
	const char *words[16] = {
		"--share", open, "--share", public, "--share", kept,
	};
	unsigned int n = 6;

	make_dirs();
	snprintf(open, sizeof(open), "open=%s", in_etc("open"));
	snprintf(public, sizeof(public), "pub,ro,no-delete=%s", in_etc("public"));
	snprintf(kept, sizeof(kept), "kept,no-delete=%s", in_etc("kept"));
	while (more && *more)
		words[n++] = *more++;
	return server_start(state, words);
}

static int several(void **state)
{
	return start_shares(state, NULL);
}

static int read_only(void **state)
{
	return start_shares(state, (const char *const[]){ "--read-only", NULL });
}

static int with_keys(void **state)
{
	static char keys[PATH_MAX + 16];
	int ret;

	snprintf(keys, sizeof(keys), "/tmp/kverbs-share-keys.%d", getpid());
	unlink(keys);
	assert_int_equal(run_command(&cmd_key, "new", keys, "some", "dir=pub/d"), EXIT_OK);
	assert_int_equal(run_command(&cmd_key, "new", keys, "none", "dir=other"), EXIT_OK);
	ret = start_shares(state, (const char *const[]){ "--key", keys, NULL });
	rename(keys, in_etc("keys"));
	return ret;
}

static int cp(const char *from, const char *to)
{
	return run_command(&cmd_cp, "--timeout", FAKE_PATIENCE_S, "-r", from, to);
}

static int ls(const char *what)
{
	int saved = dup(STDOUT_FILENO), status;
	FILE *to = tmpfile();
	size_t n;

	fflush(stdout);
	dup2(fileno(to), STDOUT_FILENO);
	status = run_command(&cmd_ls, what);
	fflush(stdout);
	dup2(saved, STDOUT_FILENO);
	close(saved);
	rewind(to);
	n = fread(printed, 1, sizeof(printed) - 1, to);
	printed[n] = '\0';
	fclose(to);
	return status;
}

static bool is(const char *file, const char *text)
{
	char buf[256];
	size_t n = tmp_read(etc, file, buf, sizeof(buf));

	return n == strlen(text) && !memcmp(buf, text, n);
}

static void a_path_begins_with_the_name_of_a_share(void **state)
{
	(void)state;
	assert_int_equal(cp("192.0.2.1:open/f", in_etc("got")), EXIT_OK);
	assert_true(is("got", "f of open"));
	assert_int_equal(cp("192.0.2.1:/pub//d/g", in_etc("got")), EXIT_OK);
	assert_true(is("got", "g of public"));
	assert_int_equal(cp("192.0.2.1:pub", in_etc("tree")), EXIT_OK);
	assert_true(is("tree/d/g", "g of public"));
	assert_int_equal(cp("192.0.2.1:pub/", in_etc("open/in")), EXIT_OK);
	assert_true(is("open/in/f", "f of public"));
	assert_int_equal(cp(in_etc("mine"), "192.0.2.1:open"), EXIT_OK);
	assert_true(is("open/mine", "a file of mine"));
	assert_int_equal(cp(in_etc("mine"), "192.0.2.1:open/d/as"), EXIT_OK);
	assert_true(is("open/d/as", "a file of mine"));
	assert_int_equal(run_command(&cmd_rm, "192.0.2.1:open/mine"), EXIT_OK);
	assert_false(tmp_exists(etc, "open/mine"));
}

static void shares_are_listed(void **state)
{
	(void)state;
	assert_int_equal(ls("192.0.2.1:"), EXIT_OK);
	assert_string_equal(printed, "kept/\nopen/\npub/\n");
	assert_int_equal(ls("192.0.2.1:pub"), EXIT_OK);
	assert_non_null(strstr(printed, "d/\n"));
	assert_non_null(strstr(printed, "f\n"));
	assert_int_equal(ls("192.0.2.1:pub/d/g"), EXIT_OK);
	assert_non_null(strstr(printed, "g\n"));
	assert_int_equal(ls("192.0.2.1:other"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
}

static void a_share_has_rights_of_its_own(void **state)
{
	(void)state;
	assert_int_equal(cp(in_etc("mine"), "192.0.2.1:pub/mine"), EXIT_DENIED);
	assert_int_equal(err_last()->err, -EROFS);
	assert_int_equal(run_command(&cmd_rm, "192.0.2.1:pub/f"), EXIT_DENIED);
	assert_int_equal(cp(in_etc("mine"), "192.0.2.1:kept/f"), EXIT_OK);
	assert_true(is("kept/f", "a file of mine"));
	assert_int_equal(run_command(&cmd_rm, "192.0.2.1:kept/f"), EXIT_DENIED);
	assert_true(tmp_exists(etc, "kept/f"));
	assert_true(is("public/f", "f of public"));
	assert_false(tmp_exists(etc, "public/mine"));
}

static void options_of_the_server_hold_for_all_shares(void **state)
{
	(void)state;
	assert_int_equal(cp(in_etc("mine"), "192.0.2.1:open/mine"), EXIT_DENIED);
	assert_int_equal(err_last()->err, -EROFS);
	assert_int_equal(run_command(&cmd_rm, "192.0.2.1:open/f"), EXIT_DENIED);
	assert_int_equal(cp("192.0.2.1:open/f", in_etc("got")), EXIT_OK);
}

static void nothing_is_beside_the_shares(void **state)
{
	static const char * const none[] = {
		"192.0.2.1:mine", "192.0.2.1:ope/f", "192.0.2.1:openf", "192.0.2.1:public/f",
		"192.0.2.1:pub/../open/f", "192.0.2.1:pub/out", "192.0.2.1:open/../mine",
		"192.0.2.1:", "192.0.2.1:.",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(none); i++) {
		assert_int_not_equal(cp(none[i], in_etc("got")), EXIT_OK);
		assert_false(tmp_exists(etc, "got"));
		assert_int_not_equal(cp(in_etc("mine"), none[i]), EXIT_OK);
		assert_int_not_equal(run_command(&cmd_rm, "-r", none[i]), EXIT_OK);
	}
	assert_int_not_equal(run_command(&cmd_rm, "-r", "192.0.2.1:open"), EXIT_OK);
	assert_true(tmp_exists(etc, "open/f"));
	assert_true(tmp_exists(etc, "mine"));
}

static void a_key_may_have_a_part_of_a_share(void **state)
{
	(void)state;
	setenv(KEY_ENV, in_etc("keys"), 1);
	setenv(KEY_NAME_ENV, "some", 1);
	assert_int_equal(cp("192.0.2.1:g", in_etc("got")), EXIT_OK);
	assert_true(is("got", "g of public"));
	assert_int_equal(ls("192.0.2.1:"), EXIT_OK);
	assert_string_equal(printed, "g\n");
	/* The rights of the share remain. */
	assert_int_equal(cp(in_etc("mine"), "192.0.2.1:mine"), EXIT_DENIED);
	assert_int_not_equal(cp("192.0.2.1:open/f", in_etc("no")), EXIT_OK);
	setenv(KEY_NAME_ENV, "none", 1);
	assert_int_equal(cp("192.0.2.1:g", in_etc("no")), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
	unsetenv(KEY_ENV);
	unsetenv(KEY_NAME_ENV);
}

static void a_wrong_share_is_wrong_usage(void **state)
{
	static const char * const bad[] = {
		"", "a", "=/tmp", "a=", "a/b=/tmp", ".a=/tmp", "a b=/tmp", "a,rw=/tmp", "a,=/tmp",
		"a:b=/tmp", "a,ro",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(run_command(&cmd_serve, "--share", bad[i]), EXIT_USAGE);
	assert_int_equal(run_command(&cmd_serve, "--share", "a=/tmp", "--share", "a=/"),
			 EXIT_USAGE);
	assert_int_equal(run_command(&cmd_serve, "--share", "a=/none/x"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
	assert_int_equal(run_command(&cmd_serve, "--share", "a=/tmp", "--root", "/tmp"),
			 EXIT_USAGE);
	assert_int_equal(run_command(&cmd_serve, "--share", "a=/tmp", "--rping"), EXIT_USAGE);
}

/* More names than fit into one message */
static void many_shares_are_listed(void **state)
{
	char words[100][64], name[64];
	const char *argv[201];
	unsigned int i;

	make_files(NULL);
	for (i = 0; i < 100; i++) {
		snprintf(words[i], sizeof(words[i]), "a-share-with-a-name-of-some-length-%02u=/",
			 i);
		argv[2 * i] = "--share";
		argv[2 * i + 1] = words[i];
	}
	argv[200] = NULL;
	assert_int_equal(server_start(state, argv), 0);
	assert_int_equal(ls("192.0.2.1:"), EXIT_OK);
	for (i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "%.*s/\n", (int)strlen(words[i]) - 2, words[i]);
		assert_non_null(strstr(printed, name));
	}
	assert_int_equal(stop_server(state), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		guarded(a_path_begins_with_the_name_of_a_share, several),
		guarded(shares_are_listed, several),
		guarded(a_share_has_rights_of_its_own, several),
		guarded(options_of_the_server_hold_for_all_shares, read_only),
		guarded(nothing_is_beside_the_shares, several),
		guarded(a_key_may_have_a_part_of_a_share, with_keys),
		cmocka_unit_test(a_wrong_share_is_wrong_usage),
		cmocka_unit_test(many_shares_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
