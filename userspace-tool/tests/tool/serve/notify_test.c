// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Notifications from a service to its manager. */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "serve/notify.h"
#include "tmp.h"

static char said[256];

/* A manager that listens on this name. */
static int listen_at(const char *name)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	assert_true(strlen(name) < sizeof(at.sun_path));
	strcpy(at.sun_path, name);
	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at)), 0);
	setenv("NOTIFY_SOCKET", name, 1);
	return fd;
}

/* Listen on an abstract name chosen by the kernel, which is unique. */
static int listen_somewhere(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	socklen_t len = sizeof(at);

	assert_int_equal(bind(fd, (struct sockaddr *)&at, sizeof(at.sun_family)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &len), 0);
	at.sun_path[len - offsetof(struct sockaddr_un, sun_path)] = '\0';
	at.sun_path[0] = '@';
	setenv("NOTIFY_SOCKET", at.sun_path, 1);
	return fd;
}

static const char *hear(int fd)
{
	memset(said, 0, sizeof(said));
	assert_true(recv(fd, said, sizeof(said) - 1, MSG_DONTWAIT) > 0);
	return said;
}

static void the_manager_hears_what_is_said(void **state)
{
	const struct tmp *tmp = *state;
	char path[64];
	int fd;

	/* A short path, wherever the directory is. */
	snprintf(path, sizeof(path), "/proc/self/fd/%d/notify", tmp->fd);
	fd = listen_at(path);
	assert_int_equal(notify("READY=1"), 0);
	assert_string_equal(hear(fd), "READY=1");
	close(fd);
}

static void its_name_may_be_abstract(void **state)
{
	int fd = listen_somewhere();

	(void)state;
	assert_int_equal(notify("STOPPING=1"), 0);
	assert_string_equal(hear(fd), "STOPPING=1");
	close(fd);
}

static void reading_again_says_when(void **state)
{
	int fd = listen_somewhere();

	(void)state;
	assert_int_equal(notify_reloading(), 0);
	assert_int_equal(strncmp(hear(fd), "RELOADING=1\nMONOTONIC_USEC=", 27), 0);
	assert_true(strtoull(said + 27, NULL, 10) > 0);
	close(fd);
}

static void without_a_manager_nothing_is_wrong(void **state)
{
	(void)state;
	unsetenv("NOTIFY_SOCKET");
	assert_int_equal(notify("READY=1"), 0);
	setenv("NOTIFY_SOCKET", "", 1);
	assert_int_equal(notify("READY=1"), 0);
}

static void a_name_that_is_none_is_refused(void **state)
{
	char longest[300];

	(void)state;
	setenv("NOTIFY_SOCKET", "here", 1);
	assert_int_equal(notify("READY=1"), -EINVAL);
	memset(longest, 'x', sizeof(longest));
	longest[0] = '/';
	longest[sizeof(longest) - 1] = '\0';
	setenv("NOTIFY_SOCKET", longest, 1);
	assert_int_equal(notify("READY=1"), -EINVAL);
	setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
	assert_int_equal(notify("READY=1"), -ENOENT);
	unsetenv("NOTIFY_SOCKET");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tmp_test(the_manager_hears_what_is_said),
		cmocka_unit_test(its_name_may_be_abstract),
		cmocka_unit_test(reading_again_says_when),
		cmocka_unit_test(without_a_manager_nothing_is_wrong),
		cmocka_unit_test(a_name_that_is_none_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
