// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "serve/notify.h"

int notify(const char *lines)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	size_t len = path ? strlen(path) : 0;
	int fd, ret = 0;

	if (!len)
		return 0;
	if (len >= sizeof(to.sun_path) || (*path != '/' && *path != '@'))
		return -EINVAL;
	memcpy(to.sun_path, path, len);
	/* An abstract name. */
	if (*path == '@')
		to.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (sendto(fd, lines, strlen(lines), MSG_NOSIGNAL, (struct sockaddr *)&to,
		   offsetof(struct sockaddr_un, sun_path) + len) < 0)
		ret = -errno;
	close(fd);
	return ret;
}

int notify_reloading(void)
{
	struct timespec now;
	char lines[64];

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(lines, sizeof(lines), "RELOADING=1\nMONOTONIC_USEC=%" PRIu64,
		 (uint64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	return notify(lines);
}
