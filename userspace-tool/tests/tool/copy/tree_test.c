// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>

#include "cli/util.h"
#include "copy/walk.h"
#include "tmp.h"

static char seen[4096];

static void note(const char *what, const char *path)
{
	size_t n = strlen(seen);

	snprintf(seen + n, sizeof(seen) - n, "%s %s\n", what, path);
}

static int on_file(void *arg, int fd, const char *path, const struct stat *st)
{
	char c;

	assert_int_equal(read(fd, &c, 1), st->st_size ? 1 : 0);
	close(fd);
	note("file", path);
	return *(int *)arg;
}

static int on_dir(void *arg, int fd, const char *path, const struct stat *st)
{
	(void)arg;
	assert_true(fd >= 0);
	assert_true(S_ISDIR(st->st_mode));
	note("dir", path);
	return 0;
}

static int on_dir_end(void *arg, int fd, const char *path, const struct stat *st)
{
	(void)arg;
	assert_true(fd >= 0);
	(void)st;
	note("end", path);
	return 0;
}

static int on_skip(void *arg, const char *path, int err)
{
	(void)arg;
	note(err == -ELOOP ? "link" : err == -EOPNOTSUPP ? "special" :
	     err == -EISDIR ? "isdir" : "error", path);
	return 0;
}

static const struct tree_ops ops = {
	.file = on_file, .dir = on_dir, .dir_end = on_dir_end, .skip = on_skip,
};

static int on_other(void *arg, int dir, const char *name, const char *path, const struct stat *st)
{
	struct stat again;

	(void)arg;
	assert_int_equal(fstatat(dir, name, &again, AT_SYMLINK_NOFOLLOW), 0);
	assert_int_equal(again.st_ino, st->st_ino);
	note("other", path);
	return 0;
}

static bool wants_no_a(void *arg, const char *path, bool is_dir)
{
	(void)arg;
	return is_dir || !strstr(path, "/a");
}

static int walk(const struct tmp *tmp, const char *what, bool recursive, int ret)
{
	seen[0] = '\0';
	return tree_walk(openat(tmp->fd, what, O_RDONLY), "top", recursive, &ops, &ret);
}

static void file_is_walked(void **state)
{
	tmp_write(*state, "f", "x");
	assert_int_equal(walk(*state, "f", false, 0), 0);
	assert_string_equal(seen, "file top\n");
}

static void directory_needs_recursion(void **state)
{
	struct tmp *tmp = *state;

	assert_int_equal(mkdirat(tmp->fd, "d", 0755), 0);
	assert_int_equal(walk(tmp, "d", false, 0), 0);
	assert_string_equal(seen, "isdir top\n");
	assert_int_equal(walk(tmp, "d", true, 0), 0);
	assert_string_equal(seen, "dir top\nend top\n");
}

static void everything_is_met_once(void **state)
{
	static const char * const want[] = {
		"file top/a\n", "dir top/sub\n", "file top/sub/b\n", "end top/sub\n",
		"link top/link\n", "special top/fifo\n",
	};
	struct tmp *tmp = *state;
	unsigned int i;
	size_t len = 0;

	assert_int_equal(mkdirat(tmp->fd, "d", 0755), 0);
	assert_int_equal(mkdirat(tmp->fd, "d/sub", 0755), 0);
	tmp_write(tmp, "d/a", "x");
	tmp_write(tmp, "d/sub/b", "");
	assert_int_equal(symlinkat("/etc/passwd", tmp->fd, "d/link"), 0);
	assert_int_equal(mkfifoat(tmp->fd, "d/fifo", 0600), 0);
	assert_int_equal(walk(tmp, "d", true, 0), 0);
	for (i = 0; i < ARRAY_SIZE(want); i++) {
		assert_non_null(strstr(seen, want[i]));
		len += strlen(want[i]);
	}
	assert_int_equal(strlen(seen), len + strlen("dir top\nend top\n"));
	assert_true(strstr(seen, "dir top/sub\n") < strstr(seen, "file top/sub/b\n"));
	assert_true(strstr(seen, "file top/sub/b\n") < strstr(seen, "end top/sub\n"));
}

/* Each level takes a descriptor, and a client of a server chooses how many there are. */
static void depth_is_bounded(void **state)
{
	struct tree_ops bounded = ops;
	struct tmp *tmp = *state;
	int ret = 0;

	assert_int_equal(mkdirat(tmp->fd, "d", 0755), 0);
	assert_int_equal(mkdirat(tmp->fd, "d/e", 0755), 0);
	assert_int_equal(mkdirat(tmp->fd, "d/e/f", 0755), 0);
	bounded.depth_max = 2;
	seen[0] = '\0';
	assert_int_equal(tree_walk(openat(tmp->fd, "d", O_RDONLY), "top", true, &bounded, &ret), 0);
	assert_string_equal(seen, "dir top\ndir top/e\nerror top/e/f\nend top/e\nend top\n");
	bounded.depth_max = 3;
	seen[0] = '\0';
	assert_int_equal(tree_walk(openat(tmp->fd, "d", O_RDONLY), "top", true, &bounded, &ret), 0);
	assert_null(strstr(seen, "error"));
}

static void what_is_not_wanted_is_not_met(void **state)
{
	struct tree_ops some = ops;
	struct tmp *tmp = *state;
	int ret = 0;

	some.wanted = wants_no_a;
	some.other = on_other;
	assert_int_equal(mkdirat(tmp->fd, "d", 0755), 0);
	tmp_write(tmp, "d/a", "x");
	assert_int_equal(symlinkat("a", tmp->fd, "d/link"), 0);
	seen[0] = '\0';
	assert_int_equal(tree_walk(openat(tmp->fd, "d", O_RDONLY), "top", true, &some, &ret), 0);
	assert_string_equal(seen, "dir top\nother top/link\nend top\n");
	some.shallow = true;
	seen[0] = '\0';
	assert_int_equal(tree_walk(openat(tmp->fd, "d", O_RDONLY), "top", false, &some, &ret), 0);
	assert_string_equal(seen, "dir top\nend top\n");
}

static void an_error_ends_the_walk(void **state)
{
	struct tmp *tmp = *state;

	assert_int_equal(mkdirat(tmp->fd, "d", 0755), 0);
	tmp_write(tmp, "d/a", "x");
	tmp_write(tmp, "d/b", "x");
	assert_int_equal(walk(tmp, "d", true, -EPIPE), -EPIPE);
	assert_null(strstr(seen, "end"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tmp_test(file_is_walked),
		tmp_test(directory_needs_recursion),
		tmp_test(everything_is_met_once),
		tmp_test(depth_is_bounded),
		tmp_test(what_is_not_wanted_is_not_met),
		tmp_test(an_error_ends_the_walk),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
