// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <string.h>
#include <sys/socket.h>

#include "fds.h"
#include "harness.h"

void fds_send(int socket, const int *fds, unsigned int nr)
{
	char control[CMSG_SPACE(FDS_MAX * sizeof(int))] = { 0 };
	struct iovec iov = { .iov_base = "", .iov_len = 1 };
	size_t bytes = nr * sizeof(*fds);
	struct msghdr msg = {
		.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = control,
		.msg_controllen = CMSG_SPACE(bytes),
	};
	struct cmsghdr *header = CMSG_FIRSTHDR(&msg);

	CHECK(nr <= FDS_MAX);
	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(bytes);
	memcpy(CMSG_DATA(header), fds, bytes);
	CHECK_EQ(sendmsg(socket, &msg, 0), 1);
}
