/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A directory for one test, deleted afterwards. */
#ifndef TMP_H
#define TMP_H

#include <ftw.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

/**
 * struct tmp - the directory
 * @path: its path
 * @fd: its file descriptor
 */
struct tmp {
	char path[PATH_MAX];
	int fd;
};

static int tmp_remove_one(const char *path, const struct stat *st, int type,
			  struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static inline int tmp_setup_in(void **state, const char *where)
{
	struct tmp *tmp = malloc(sizeof(*tmp));

	assert_non_null(tmp);
	snprintf(tmp->path, sizeof(tmp->path), "%s/kverbs-test-XXXXXX", where);
	assert_non_null(mkdtemp(tmp->path));
	tmp->fd = open(tmp->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(tmp->fd >= 0);
	*state = tmp;
	return 0;
}

static inline int tmp_setup(void **state)
{
	const char *where = getenv("TMPDIR");

	return tmp_setup_in(state, where ? where : "/tmp");
}

static inline int tmp_teardown(void **state)
{
	struct tmp *tmp = *state;

	close(tmp->fd);
	nftw(tmp->path, tmp_remove_one, 16, FTW_DEPTH | FTW_PHYS);
	free(tmp);
	return 0;
}

static inline void tmp_write(const struct tmp *tmp, const char *name, const char *text)
{
	int fd = openat(tmp->fd, name, O_WRONLY | O_CREAT | O_TRUNC, 0644);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static inline int tmp_exists(const struct tmp *tmp, const char *name)
{
	return !faccessat(tmp->fd, name, F_OK, AT_SYMLINK_NOFOLLOW);
}

static inline size_t tmp_read(const struct tmp *tmp, const char *name, void *buf,
			      size_t room)
{
	int fd = openat(tmp->fd, name, O_RDONLY);
	ssize_t n;

	assert_true(fd >= 0);
	n = read(fd, buf, room);
	close(fd);
	assert_true(n >= 0);
	return n;
}

#define tmp_test(name) cmocka_unit_test_setup_teardown(name, tmp_setup, tmp_teardown)

#endif /* TMP_H */
