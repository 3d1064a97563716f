// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "copy/extent.h"
#include "copy/store.h"

#define PAGE 4096

static int map_file(struct extent *x, struct kverbs *kv, int fd, uint64_t at, size_t len)
{
	void *map;
	int ret;

	map = mmap(NULL, len, PROT_READ, MAP_SHARED, fd, at);
	if (map == MAP_FAILED)
		return -errno;
	ret = kverbs_buf_register(kv, map, len, KVERBS_REGION_READ_ONLY, &x->buf);
	if (ret) {
		munmap(map, len);
		return ret;
	}
	x->map = map;
	return 0;
}

/* Whether it is the file that cannot be mapped or pinned, not a limit. */
static bool is_unpinnable(int err)
{
	return err == -EFAULT || err == -EOPNOTSUPP || err == -ENODEV ||
	       err == -EACCES || err == -EINVAL;
}

static int read_file(struct extent *x, struct kverbs *kv, int fd, uint64_t at, size_t len,
		     enum method *method)
{
	size_t room = (len + PAGE - 1) / PAGE * PAGE;
	char *p;
	int ret;

	ret = kverbs_buf_alloc(kv, room, &x->buf);
	if (ret)
		return ret;
	p = kverbs_buf_addr(x->buf);
	ret = -EINVAL;
	if (*method == METHOD_DIRECT && !store_set_direct(fd, true))
		ret = store_read(fd, p, room, len, at);
	if (ret == -EINVAL) {
		*method = METHOD_BUFFERED;
		store_set_direct(fd, false);
		ret = store_read(fd, p, len, len, at);
	}
	if (ret)
		extent_drop(x);
	return ret;
}

/*
 * Make @len bytes from @at there for the HCA: the file's own pages if they can be
 * pinned, else read past the page cache, else read. @method is what to try first
 * and then what it was. -ENOMEM, -EPERM: a limit; free another and try again.
 */
int extent_load(struct extent *x, struct kverbs *kv, int fd, uint64_t at, size_t len,
		enum method *method)
{
	int ret;

	memset(x, 0, sizeof(*x));
	x->len = len;
	if (*method == METHOD_MAPPED) {
		ret = map_file(x, kv, fd, at, len);
		if (!is_unpinnable(ret))
			return ret;
		*method = METHOD_DIRECT;
	}
	return read_file(x, kv, fd, at, len, method);
}

int extent_read(struct extent *x, struct kverbs_buf *buf, size_t at, int fd, size_t len)
{
	memset(x, 0, sizeof(*x));
	x->buf = buf;
	x->at = at;
	x->len = len;
	x->lent = true;
	return store_read(fd, (char *)kverbs_buf_addr(buf) + at, len, len, 0);
}

int extent_append(struct extent *x, int fd, size_t len)
{
	int ret = store_read(fd, (char *)kverbs_buf_addr(x->buf) + x->at + x->len, len, len, 0);

	if (!ret)
		x->len += len;
	return ret;
}

const void *extent_data(const struct extent *x)
{
	return (const char *)kverbs_buf_addr(x->buf) + x->at;
}

/* Its WRITE must be complete, or its connection gone. */
void extent_drop(struct extent *x)
{
	if (!x->lent)
		kverbs_buf_free(x->buf);
	if (x->map)
		munmap(x->map, x->len);
	memset(x, 0, sizeof(*x));
}
