// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>

#include <linux/kverbs.h>

#include "object.h"
#include "sys.h"

int kverbs_object_destroy(int fd, uint32_t id)
{
	struct kverbs_cmd_destroy cmd = { .size = sizeof(cmd), .id = id };
	int ret;

	do {
		ret = kverbs_sys_ioctl(fd, KVERBS_DESTROY, &cmd);
	} while (ret == -EINTR);
	return ret;
}
