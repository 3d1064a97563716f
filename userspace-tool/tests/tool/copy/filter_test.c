// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "cli/util.h"
#include "copy/filter.h"
#include "copy/item.h"
#include "copy/links.h"
#include "copy/mode.h"
#include "copy/names.h"

static bool excludes(const char *pattern, const char *path, bool is_dir)
{
	struct filter f = { .nr = 0 };
	bool ret;

	assert_int_equal(filter_add(&f, false, pattern, strlen(pattern)), 0);
	ret = filter_excludes(&f, path, is_dir);
	filter_free(&f);
	return ret;
}

/* As rsync's manual has them */
static void patterns_mean_what_they_mean_to_rsync(void **state)
{
	static const struct {
		const char *pattern;
		const char *path;
		bool is_dir;
		bool want;
	} cases[] = {
		{ "*.o", "a.o", false, true },
		{ "*.o", "d/e/a.o", false, true },
		{ "*.o", "a.c", false, false },
		{ "*.o", "a.o/b", false, false },
		{ "/foo", "foo", false, true },
		{ "/foo", "d/foo", false, false },
		{ "foo/", "foo", true, true },
		{ "foo/", "foo", false, false },
		{ "foo/", "d/foo", true, true },
		{ "d/foo", "d/foo", false, true },
		{ "d/foo", "x/d/foo", false, true },
		{ "d/foo", "xd/foo", false, false },
		{ "/d/foo", "x/d/foo", false, false },
		{ "foo/*/bar", "foo/x/bar", false, true },
		{ "/foo/*/bar", "foo/x/y/bar", false, false },
		{ "/foo/**/bar", "foo/x/y/bar", false, true },
		{ "/foo/**", "foo/x/y", false, true },
		{ "/foo/**", "foo", true, false },
		{ "/foo/***", "foo", true, true },
		{ "/foo/***", "foo/x/y", false, true },
		{ "/foo/***", "fool", false, false },
		{ "a?c", "abc", false, true },
		{ "a?c", "a/c", false, false },
		{ "[a-c]x", "bx", false, true },
		{ "[!a-c]x", "bx", false, false },
		{ "[^a-c]x", "dx", false, true },
		{ "[]]", "]", false, true },
		{ "[ab", "[ab", false, true },
		{ "\\*", "*", false, true },
		{ "\\*", "x", false, false },
		{ "*", "anything", false, true },
		{ "**", "d/anything", false, true },
		{ "a*b*c", "axxbxxc", false, true },
		{ "a*b*c", "axxbxx", false, false },
		{ "*x", "./x", false, true },
		{ "*", ".", true, false },
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++)
		if (excludes(cases[i].pattern, cases[i].path, cases[i].is_dir) != cases[i].want)
			fail_msg("%s and %s", cases[i].pattern, cases[i].path);
}

static void the_first_rule_that_matches_counts(void **state)
{
	struct filter f = { .nr = 0 };

	(void)state;
	assert_false(filter_excludes(&f, "x", false));
	assert_int_equal(filter_add(&f, true, "keep", 4), 0);
	assert_int_equal(filter_add(&f, false, "*", 1), 0);
	assert_false(filter_excludes(&f, "keep", false));
	assert_true(filter_excludes(&f, "other", false));
	filter_free(&f);
}

static void rules_of_a_peer_are_bounded(void **state)
{
	char longest[FILTER_PATTERN_MAX + 1];
	struct filter f = { .nr = 0 }, back = { .nr = 0 };
	struct wire_msg msg = { .type = WIRE_FILTER };
	char buf[WIRE_TAIL_MAX];
	unsigned int i, at = 0;

	(void)state;
	memset(longest, '*', sizeof(longest));
	assert_int_equal(filter_add(&f, false, "", 0), -EINVAL);
	assert_int_equal(filter_add(&f, false, "a\0b", 3), -EINVAL);
	assert_int_equal(filter_add(&f, false, longest, sizeof(longest)), -EINVAL);
	for (i = 0; i < FILTER_RULES_MAX; i++)
		assert_int_equal(filter_add(&f, i % 100 == 0, longest, FILTER_PATTERN_MAX - i), 0);
	assert_int_equal(filter_add(&f, false, "x", 1), -EFBIG);
	/* They go to the other end, as many as fit, and time is bounded whatever they are. */
	while (at < f.nr) {
		i = at;
		at = filter_fill(&f, at, buf, &msg);
		assert_true(at > i && msg.tail_len <= WIRE_TAIL_MAX);
		assert_int_equal(filter_message(&back, &msg), 0);
	}
	assert_int_equal(back.nr, f.nr);
	for (i = 0; i < f.nr; i++) {
		assert_string_equal(back.rules[i].text, f.rules[i].text);
		assert_int_equal(back.rules[i].include, f.rules[i].include);
	}
	msg.tail = "no end";
	msg.tail_len = 6;
	assert_int_equal(filter_message(&back, &msg), -EINVAL);
	filter_free(&f);
	filter_free(&back);
}

static void many_stars_take_no_time(void **state)
{
	char text[4000];

	(void)state;
	memset(text, 'a', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	assert_false(excludes("a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b", text, false));
}

static void modes_are_changed_as_chmod_does(void **state)
{
	static const struct {
		const char *text;
		mode_t from;
		mode_t want;
	} cases[] = {
		{ "F644,D755", S_IFREG | 0600, S_IFREG | 0644 },
		{ "F644,D755", S_IFDIR | 0700, S_IFDIR | 0755 },
		{ "go-w", S_IFREG | 0666, S_IFREG | 0644 },
		{ "u+x", S_IFREG | 0644, S_IFREG | 0744 },
		{ "a+X", S_IFREG | 0644, S_IFREG | 0644 },
		{ "a+X", S_IFDIR | 0644, S_IFDIR | 0755 },
		{ "go=u", S_IFREG | 0740, S_IFREG | 0777 },
		{ "o=", S_IFREG | 0777, S_IFREG | 0770 },
		{ "u+s", S_IFREG | 0755, S_IFREG | 04755 },
		{ "Dg+s", S_IFREG | 0755, S_IFREG | 0755 },
		{ "Dg+s", S_IFDIR | 0755, S_IFDIR | 02755 },
		{ "+t", S_IFDIR | 0755, S_IFDIR | 01755 },
		{ "u+rwx,g=,o-r", S_IFREG | 0044, S_IFREG | 0700 },
		{ NULL, S_IFREG | 0123, S_IFREG | 0123 },
	};
	static const char * const wrong[] = {
		"", ",", "8", "75555", "u", "z+x", "u+q", "D", "F8", "u+x,", "7x",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		if (cases[i].text)
			assert_int_equal(mode_check(cases[i].text), 0);
		assert_int_equal(mode_change(cases[i].text, cases[i].from), cases[i].want);
	}
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		assert_int_equal(mode_check(wrong[i]), -EINVAL);
}

static void changes_are_itemized_as_rsync_does(void **state)
{
	static const struct {
		struct item item;
		const char *want;
	} cases[] = {
		{ { ITEM_SENT, 'f', WIRE_I_NEW, "", NULL }, "<f+++++++++" },
		{ { ITEM_RECEIVED, 'f', WIRE_I_SIZE | WIRE_I_TIME, "", NULL }, ">f.st......" },
		{ { ITEM_NOTHING, 'd', WIRE_I_TIME, "", NULL }, ".d..t......" },
		{ { ITEM_CREATED, 'L', WIRE_I_DATA, "", NULL }, "cLc........" },
		{ { ITEM_LINKED, 'f', WIRE_I_NEW, "", NULL }, "hf+++++++++" },
		{ { ITEM_NOTHING, 'f', WIRE_I_PERMS | WIRE_I_OWNER | WIRE_I_GROUP | WIRE_I_ACL |
		    WIRE_I_XATTR, "", NULL }, ".f...pog.ax" },
	};
	char text[ITEM_TEXT_LEN];
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		item_text(&cases[i].item, text);
		assert_string_equal(text, cases[i].want);
		assert_true(item_matters(&cases[i].item));
	}
	assert_false(item_matters(&(struct item){ .bits = WIRE_I_NEWER }));
}

static void names_of_a_directory_are_known(void **state)
{
	struct names n = { .nr = 0 };

	(void)state;
	assert_int_equal(names_enter(&n, "d"), 0);
	assert_int_equal(names_add(&n, "d", "a"), 0);
	assert_int_equal(names_add(&n, "d", "sub"), 0);
	assert_int_equal(names_enter(&n, "d/sub"), 0);
	assert_int_equal(names_add(&n, "d/sub", "b"), 0);
	/* Of a directory that is not at hand */
	assert_int_equal(names_add(&n, "d", "c"), 0);
	assert_false(names_complete(&n, "d"));
	assert_true(names_complete(&n, "d/sub"));
	assert_true(names_has(&n, "b") && !names_has(&n, "a"));
	names_leave(&n, "d/sub");
	assert_true(names_complete(&n, "d"));
	assert_true(names_has(&n, "a") && names_has(&n, "sub") && !names_has(&n, "b"));
	names_leave(&n, "d");
	assert_false(names_complete(&n, "d"));
	names_free(&n);
}

static void names_of_a_peer_are_bounded(void **state)
{
	struct names n = { .nr = 0 };
	unsigned int i;

	(void)state;
	for (i = 0; i < NAMES_LEVELS; i++)
		assert_int_equal(names_enter(&n, "d"), 0);
	assert_int_equal(names_enter(&n, "d"), -EOVERFLOW);
	for (i = 0; i < NAMES_MAX; i++)
		assert_int_equal(names_add(&n, "d", "a"), 0);
	assert_true(names_complete(&n, "d"));
	/* With one too many, what is not known may be there. */
	assert_int_equal(names_add(&n, "d", "b"), 0);
	assert_false(names_complete(&n, "d"));
	names_free(&n);
}

static void links_are_found_by_inode(void **state)
{
	struct links l = { .max = 0 }, bounded = { .max = 1000 };
	struct stat st = { .st_dev = 7 };
	char path[32];
	int i;

	(void)state;
	for (i = 0; i < 5000; i++) {
		st.st_ino = i * 4096;
		snprintf(path, sizeof(path), "file %d", i);
		assert_null(links_find(&l, &st));
		assert_int_equal(links_add(&l, &st, path), 0);
		assert_int_equal(links_add(&bounded, &st, path), 0);
	}
	st.st_ino = 4096 * 4096;
	assert_string_equal(links_find(&l, &st)->path, "file 4096");
	assert_null(links_find(&bounded, &st));
	assert_true(bounded.bytes <= 1000);
	st.st_dev = 8;
	assert_null(links_find(&l, &st));
	links_free(&l);
	links_free(&bounded);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patterns_mean_what_they_mean_to_rsync),
		cmocka_unit_test(the_first_rule_that_matches_counts),
		cmocka_unit_test(rules_of_a_peer_are_bounded),
		cmocka_unit_test(many_stars_take_no_time),
		cmocka_unit_test(modes_are_changed_as_chmod_does),
		cmocka_unit_test(changes_are_itemized_as_rsync_does),
		cmocka_unit_test(names_of_a_directory_are_known),
		cmocka_unit_test(names_of_a_peer_are_bounded),
		cmocka_unit_test(links_are_found_by_inode),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
