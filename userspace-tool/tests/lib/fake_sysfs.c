// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The fake kernel's files: those of a directory of the test. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "fake_internal.h"
#include "sys.h"

static bool path_of(const char *path, char *real)
{
	return fake.root && snprintf(real, PATH_MAX, "%s%s", fake.root, path) < PATH_MAX;
}

int kverbs_sys_read_text(const char *path, char *buf, size_t room)
{
	char real[PATH_MAX];
	ssize_t n;
	int fd;

	fake_check(room);
	*buf = '\0';
	fd = path_of(path, real) ? open(real, O_RDONLY | O_CLOEXEC) : -1;
	if (fd < 0)
		return -ENOENT;
	n = read(fd, buf, room - 1);
	close(fd);
	fake_check(n >= 0);
	buf[n] = '\0';
	buf[strcspn(buf, "\n")] = '\0';
	return 0;
}

DIR *kverbs_sys_opendir(const char *path)
{
	char real[PATH_MAX];

	return path_of(path, real) ? opendir(real) : NULL;
}

uint64_t kverbs_sys_memlock(void)
{
	return fake.memlock ? fake.memlock : UINT64_MAX;
}
