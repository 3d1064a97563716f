// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>

#include "copy/path.h"
#include "tmp.h"

static int parse(struct path *path, const char *text)
{
	return path_parse(path, text, strlen(text));
}

static void names_are_split(void **state)
{
	struct path p;

	(void)state;
	assert_int_equal(parse(&p, "a/b c/\xc3\xa9"), 0);
	assert_string_equal(p.dir, "a/b c");
	assert_string_equal(p.name, "\xc3\xa9");
	assert_int_equal(parse(&p, "file"), 0);
	assert_string_equal(p.dir, ".");
	assert_string_equal(p.name, "file");
	assert_int_equal(parse(&p, "dir///"), 0);
	assert_string_equal(p.text, "dir");
	assert_int_equal(parse(&p, ""), 0);
	assert_string_equal(p.text, ".");
	assert_true(path_is_top(&p));
	assert_int_equal(parse(&p, "..a/b.."), 0);
	assert_false(path_is_top(&p));
}

static void ways_out_are_refused(void **state)
{
	struct path p;

	(void)state;
	assert_int_equal(parse(&p, ".."), -EPERM);
	assert_int_equal(parse(&p, "../x"), -EPERM);
	assert_int_equal(parse(&p, "a/../../x"), -EPERM);
	assert_int_equal(parse(&p, "a/.."), -EPERM);
	assert_int_equal(parse(&p, "a/..//"), -EPERM);
	assert_int_equal(parse(&p, "/.."), -EPERM);
	assert_int_equal(path_parse(&p, "a\0b", 3), -EINVAL);
}

static void a_leading_slash_is_the_root(void **state)
{
	struct path p;

	(void)state;
	assert_int_equal(parse(&p, "//etc/passwd"), 0);
	assert_string_equal(p.text, "etc/passwd");
	assert_int_equal(parse(&p, "/"), 0);
	assert_true(path_is_top(&p));
}

static void slashes_separate(void **state)
{
	struct path p;

	(void)state;
	assert_int_equal(parse(&p, "/a//b///c//"), 0);
	assert_string_equal(p.text, "a/b/c");
	assert_string_equal(p.dir, "a/b");
	assert_string_equal(p.name, "c");
	assert_int_equal(parse(&p, "///"), 0);
	assert_true(path_is_top(&p));
	assert_int_equal(parse(&p, "a//..//b"), -EPERM);
}

static void lengths_have_bounds(void **state)
{
	char text[PATH_MAX + 1];
	struct path p;

	(void)state;
	memset(text, 'x', sizeof(text));
	assert_int_equal(path_parse(&p, text, NAME_MAX), 0);
	assert_int_equal(path_parse(&p, text, NAME_MAX + 1), -ENAMETOOLONG);
	assert_int_equal(path_parse(&p, text, PATH_MAX), -ENAMETOOLONG);
}

static int open_in(const struct tmp *tmp, const char *text)
{
	struct path p;
	int fd;

	if (parse(&p, text))
		return -EINVAL;
	fd = path_open(tmp->fd, p.text, O_RDONLY);
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : fd;
}

static void what_is_beneath_opens(void **state)
{
	struct tmp *tmp = *state;

	assert_int_equal(mkdirat(tmp->fd, "d", 0755), 0);
	tmp_write(tmp, "d/f", "x");
	assert_int_equal(symlinkat("d/f", tmp->fd, "in"), 0);
	assert_int_equal(open_in(tmp, "d/f"), 0);
	assert_int_equal(open_in(tmp, "./d/./f"), 0);
	assert_int_equal(open_in(tmp, "in"), 0);
	assert_int_equal(open_in(tmp, "none"), -ENOENT);
}

static void links_do_not_lead_out(void **state)
{
	struct tmp *tmp = *state;

	assert_int_equal(symlinkat("/etc/passwd", tmp->fd, "abs"), 0);
	assert_int_equal(symlinkat("../../etc/passwd", tmp->fd, "rel"), 0);
	assert_int_equal(symlinkat("/", tmp->fd, "root"), 0);
	assert_int_equal(symlinkat("/proc/self/root", tmp->fd, "magic"), 0);
	assert_int_equal(open_in(tmp, "abs"), -EPERM);
	assert_int_equal(open_in(tmp, "rel"), -EPERM);
	assert_int_equal(open_in(tmp, "root/etc/passwd"), -EPERM);
	assert_int_equal(open_in(tmp, "magic/etc/passwd"), -EPERM);
}

static void parents_stay_beneath(void **state)
{
	struct tmp *tmp = *state;
	struct path p;
	int fd;

	assert_int_equal(mkdirat(tmp->fd, "d", 0755), 0);
	assert_int_equal(symlinkat("/tmp", tmp->fd, "out"), 0);
	assert_int_equal(parse(&p, "d/new"), 0);
	fd = path_open_parent(tmp->fd, &p);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(parse(&p, "out/new"), 0);
	assert_int_equal(path_open_parent(tmp->fd, &p), -EPERM);
	assert_int_equal(parse(&p, "none/new"), 0);
	assert_int_equal(path_open_parent(tmp->fd, &p), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_split),
		cmocka_unit_test(ways_out_are_refused),
		cmocka_unit_test(a_leading_slash_is_the_root),
		cmocka_unit_test(slashes_separate),
		cmocka_unit_test(lengths_have_bounds),
		tmp_test(what_is_beneath_opens),
		tmp_test(links_do_not_lead_out),
		tmp_test(parents_stay_beneath),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
