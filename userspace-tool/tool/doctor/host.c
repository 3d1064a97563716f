// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <json-c/json.h>

#include "doctor/host.h"

/* Where ip and nft are, though a user's PATH may not have it. */
#define MORE_PATH ":/usr/sbin:/sbin"
#define NO_COMMAND 127

static int path_of(char *path, const char *root, const char *fmt, va_list ap)
{
	int n = snprintf(path, PATH_MAX, "%s", root);

	if (n >= PATH_MAX)
		return -ENAMETOOLONG;
	return vsnprintf(path + n, PATH_MAX - n, fmt, ap) < PATH_MAX - n ? 0 : -ENAMETOOLONG;
}

static int read_all(int fd, char *buf, size_t room)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, buf + len, room - 1 - len);
		if (n > 0)
			len += n;
	} while (n > 0 || (n < 0 && errno == EINTR));
	buf[len] = '\0';
	if (len && buf[len - 1] == '\n')
		buf[len - 1] = '\0';
	return n < 0 ? -errno : 0;
}

int doctor_read(const char *root, char *buf, size_t room, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int fd, ret;

	*buf = '\0';
	va_start(ap, fmt);
	ret = path_of(path, root, fmt, ap);
	va_end(ap);
	if (ret)
		return ret;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	ret = read_all(fd, buf, room);
	close(fd);
	return ret;
}

bool doctor_exists(const char *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = path_of(path, root, fmt, ap);
	va_end(ap);
	return !ret && !access(path, F_OK);
}

DIR *doctor_opendir(const char *root, const char *fmt, ...)
{
	char path[PATH_MAX];
	va_list ap;
	int ret;

	va_start(ap, fmt);
	ret = path_of(path, root, fmt, ap);
	va_end(ap);
	return ret ? NULL : opendir(path);
}

const char *doctor_next(DIR *dir)
{
	const struct dirent *entry;

	do {
		entry = dir ? readdir(dir) : NULL;
	} while (entry && entry->d_name[0] == '.');
	return entry ? entry->d_name : NULL;
}

static void run_child(const char *const *argv, int out, int err)
{
	const char *path = getenv("PATH");
	char more[PATH_MAX];

	snprintf(more, sizeof(more), "%s" MORE_PATH, path ? path : "/usr/bin:/bin");
	setenv("PATH", more, 1);
	dup2(out, STDOUT_FILENO);
	dup2(err, STDERR_FILENO);
	execvp(argv[0], (char *const *)argv);
	_exit(NO_COMMAND);
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_COMMAND)
		return -ENOENT;
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EIO;
}

static int run_command(const char *const *argv, int out, int err)
{
	pid_t pid = fork();

	if (pid < 0)
		return -errno;
	if (!pid)
		run_child(argv, out, err);
	return wait_for(pid);
}

/* Into files, so that none of the two can fill up while the other is read. */
int doctor_ask(const char *const *argv, struct json_object **answer, char *said, size_t room)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int ret = -EIO;

	*said = '\0';
	*answer = NULL;
	if (!out || !err)
		goto out_close;
	ret = run_command(argv, fileno(out), fileno(err));
	lseek(fileno(err), 0, SEEK_SET);
	read_all(fileno(err), said, room);
	lseek(fileno(out), 0, SEEK_SET);
	if (!ret)
		*answer = json_object_from_fd(fileno(out));
	if (!ret && !*answer)
		ret = -EIO;
out_close:
	if (out)
		fclose(out);
	if (err)
		fclose(err);
	return ret;
}

int doctor_ask_text(const char *const *argv, char *answer, size_t room)
{
	FILE *out = tmpfile(), *err = tmpfile();
	int ret = -EIO;

	*answer = '\0';
	if (!out || !err)
		goto out_close;
	ret = run_command(argv, fileno(out), fileno(err));
	lseek(fileno(out), 0, SEEK_SET);
	if (!ret)
		ret = read_all(fileno(out), answer, room);
out_close:
	if (out)
		fclose(out);
	if (err)
		fclose(err);
	return ret;
}
