// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dmabuf.h"

bool dmabuf_is_supported(void)
{
	return !access("/dev/udmabuf", R_OK | W_OK);
}

static int make(int memfd, size_t size)
{
	const struct udmabuf_create create = {
		.memfd = memfd,
		.flags = UDMABUF_FLAGS_CLOEXEC,
		.size = size,
	};
	int device = open("/dev/udmabuf", O_RDWR | O_CLOEXEC), fd;

	if (device < 0)
		test_skip("this kernel has no udmabuf");
	fd = ioctl(device, UDMABUF_CREATE, &create);
	CHECK(fd >= 0);
	close(device);
	return fd;
}

/* Return a descriptor of memory that is mapped at @memory, or skip the test. */
int dmabuf_open(char **memory, size_t size)
{
	int memfd = memfd_create("dmabuf", MFD_CLOEXEC | MFD_ALLOW_SEALING), fd;

	CHECK(memfd >= 0);
	CHECK_EQ(ftruncate(memfd, size), 0);
	CHECK_EQ(fcntl(memfd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	*memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd, 0);
	CHECK(*memory != MAP_FAILED);
	fd = make(memfd, size);
	close(memfd);
	return fd;
}

int dmabuf_try_region(int fd, int dmabuf, uint64_t offset, uint64_t length, uint32_t flags,
		      uint32_t *id)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = flags | KVERBS_REGION_DMABUF,
		.addr = offset,
		.length = length,
		.fd = dmabuf,
	};
	int ret = dev_cmd(fd, KVERBS_REGION_CREATE, &cmd);

	if (!ret)
		CHECK_EQ(cmd.out_length, length);
	if (!ret && id)
		*id = cmd.out_id;
	return ret;
}

uint32_t dmabuf_region(int fd, int dmabuf, uint64_t offset, uint64_t length, uint32_t flags)
{
	uint32_t id = 0;

	CHECK_OK(dmabuf_try_region(fd, dmabuf, offset, length, flags, &id));
	CHECK(id);
	return id;
}
