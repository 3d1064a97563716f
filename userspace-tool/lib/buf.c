// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Registered memory.
 */
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "buf.h"
#include "internal.h"
#include "sys.h"

#define HUGE_SIZE ((size_t)2 << 20)
/* Tracked buffers of a context, and buffers whose end is unread */
#define STALE_ENTRIES 1024

bool kverbs_buf_holds(const struct kverbs_buf *buf, const struct kverbs *kv,
		      uint64_t offset, uint64_t length)
{
	if (!length && !buf)
		return true;
	return buf && buf->kv == kv->root && offset <= buf->size &&
	       length <= buf->size - offset;
}

/* ---- which regions became stale ---- */

static int open_stale(struct kverbs *kv)
{
	int ret = 0;

	pthread_mutex_lock(&kv->lock);
	if (!kv->stale.open) {
		ret = kverbs_ring_open(&kv->stale.ring, kv->fd, 1, STALE_ENTRIES, 0, 0);
		kv->stale.open = !ret;
	}
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

void kverbs_stale_reap(struct kverbs *kv)
{
	struct kverbs_stale *stale = &kv->stale;
	struct kverbs_cqe cqe;
	uint32_t n = 0;

	if (!stale->open)
		return;
	for (; kverbs_ring_next(&stale->ring, &cqe); n++) {
		struct kverbs_buf *buf = (struct kverbs_buf *)(uintptr_t)cqe.user_data;

		__atomic_store_n(&buf->stale, true, __ATOMIC_RELAXED);
	}
	if (!n)
		return;
	kverbs_ring_seen(&stale->ring);
	/* A thread that finds the counter equal to @seen finds the buffers marked. */
	__atomic_store_n(&stale->seen, stale->seen + n, __ATOMIC_RELEASE);
}

void kverbs_stale_close(struct kverbs *kv)
{
	if (kv->stale.open)
		kverbs_ring_close(&kv->stale.ring);
}

static bool is_news(const struct kverbs_stale *stale)
{
	uint32_t seen = __atomic_load_n(&stale->seen, __ATOMIC_ACQUIRE);

	return __atomic_load_n(&stale->ring.kernel->stale, __ATOMIC_ACQUIRE) != seen;
}

bool kverbs_buf_stale(struct kverbs_buf *buf)
{
	struct kverbs *kv = buf->kv;

	if (!buf->tracked)
		return false;
	/* The memory of a child is another one, and the ring is not mapped there. */
	if (kverbs_is_child(kv))
		return true;
	if (is_news(&kv->stale)) {
		pthread_mutex_lock(&kv->lock);
		kverbs_stale_reap(kv);
		pthread_mutex_unlock(&kv->lock);
	}
	return __atomic_load_n(&buf->stale, __ATOMIC_RELAXED);
}

/* ---- buffers ---- */

/* A signal may end the pinning of much memory. */
static int run_create(struct kverbs_buf *buf, struct kverbs_cmd_region_create *cmd)
{
	int ret;

	do {
		ret = kverbs_ioctl(buf->kv, KVERBS_REGION_CREATE, cmd);
	} while (ret == -EINTR);
	buf->id = cmd->out_id;
	return ret;
}

static int create_region(struct kverbs_buf *buf, unsigned int flags)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = flags,
		.addr = (uintptr_t)buf->addr,
		.length = buf->size,
	};
	int ret = 0;

	if (flags & KVERBS_REGION_TRACK) {
		ret = kverbs_is_child(buf->kv) ? -ECHILD : open_stale(buf->kv);
		cmd.ring_id = buf->kv->stale.ring.id;
		cmd.user_data = (uintptr_t)buf;
		buf->tracked = true;
	}
	return ret ? ret : run_create(buf, &cmd);
}

static int import_region(struct kverbs_buf *buf, int fd, unsigned int flags)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = flags | KVERBS_REGION_FD,
		.fd = fd,
	};
	int ret = run_create(buf, &cmd);

	buf->size = cmd.out_length;
	return ret;
}

static int create_of_dmabuf(struct kverbs_buf *buf, int fd, uint64_t offset, unsigned int flags)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = flags | KVERBS_REGION_DMABUF,
		.addr = offset,
		.length = buf->size,
		.fd = fd,
	};

	return flags & ~KVERBS_REGION_READ_ONLY ? -EINVAL : run_create(buf, &cmd);
}

static struct kverbs_buf *alloc_buf(struct kverbs *kv, void *addr, size_t size)
{
	struct kverbs_buf *buf = calloc(1, sizeof(*buf));

	if (!buf)
		return NULL;
	buf->kv = kv->root;
	buf->addr = addr;
	buf->size = size;
	return buf;
}

/* Keep a buffer that has a region, or free it if @ret says that it has none. */
static int finish_buf(struct kverbs_buf *new, int ret, struct kverbs_buf **buf)
{
	if (ret) {
		free(new);
		return ret;
	}
	pthread_mutex_lock(&new->kv->lock);
	list_add_tail(&new->node, &new->kv->bufs);
	pthread_mutex_unlock(&new->kv->lock);
	*buf = new;
	return 0;
}

static int new_buf(struct kverbs *kv, void *addr, size_t size, unsigned int flags,
		   struct kverbs_buf **buf)
{
	struct kverbs_buf *new = alloc_buf(kv, addr, size);

	return new ? finish_buf(new, create_region(new, flags), buf) : -ENOMEM;
}

int kverbs_buf_register(struct kverbs *kv, void *addr, size_t size, unsigned int flags,
			struct kverbs_buf **buf)
{
	return new_buf(kv, addr, size, flags, buf);
}

int kverbs_buf_share(struct kverbs_buf *buf, unsigned int flags)
{
	struct kverbs_cmd_region_export_fd cmd = {
		.size = sizeof(cmd),
		.flags = flags,
		.region_id = buf->id,
	};
	int ret = kverbs_ioctl(buf->kv, KVERBS_REGION_EXPORT_FD, &cmd);

	return ret ? ret : cmd.out_fd;
}

int kverbs_buf_import(struct kverbs *kv, int fd, void *addr, unsigned int flags,
		      struct kverbs_buf **buf)
{
	struct kverbs_buf *new = alloc_buf(kv, addr, 0);

	return new ? finish_buf(new, import_region(new, fd, flags), buf) : -ENOMEM;
}

int kverbs_buf_register_dmabuf(struct kverbs *kv, int fd, uint64_t offset, size_t size,
			       unsigned int flags, struct kverbs_buf **buf)
{
	struct kverbs_buf *new = alloc_buf(kv, NULL, size);

	return new ? finish_buf(new, create_of_dmabuf(new, fd, offset, flags), buf) : -ENOMEM;
}

/* Round up; 0: it does not fit a size_t. */
static size_t round_up(size_t size, size_t unit)
{
	return size > SIZE_MAX - unit ? 0 : (size + unit - 1) & ~(unit - 1);
}

/* Cut what mmap(2) gave down to an aligned @size. */
static void *trim(char *p, size_t size)
{
	size_t head = -(uintptr_t)p & (HUGE_SIZE - 1);

	if (head)
		kverbs_sys_munmap(p, head);
	if (head < HUGE_SIZE)
		kverbs_sys_munmap(p + head + size, HUGE_SIZE - head);
	return p + head;
}

/* Huge pages make for fewer and longer runs, which the HCA likes. */
static int map_huge(size_t size, void **addr)
{
	void *p;
	int ret;

	if (size > SIZE_MAX - HUGE_SIZE)
		return -ENOMEM;
	ret = kverbs_sys_mmap_anon(size + HUGE_SIZE, &p);
	if (ret)
		return ret;
	*addr = trim(p, size);
	kverbs_sys_madvise(*addr, size, MADV_HUGEPAGE);
	return 0;
}

static int map_memory(size_t size, void **addr)
{
	int ret;

	if (size >= HUGE_SIZE)
		ret = map_huge(size, addr);
	else
		ret = kverbs_sys_mmap_anon(size, addr);
	/* A child would share pinned pages, and one of the two lose them on write. */
	if (!ret)
		kverbs_sys_madvise(*addr, size, MADV_DONTFORK);
	return ret;
}

int kverbs_buf_register_fd(struct kverbs *kv, int fd, uint64_t offset, size_t size,
			   unsigned int flags, struct kverbs_buf **buf)
{
	int ret, prot = PROT_READ | (flags & KVERBS_REGION_READ_ONLY ? 0 : PROT_WRITE);
	size_t unit = kverbs_sys_page_size(fd), skip = offset & (unit - 1), mapped;
	void *addr;

	if (!size || flags & ~KVERBS_REGION_READ_ONLY || size > SIZE_MAX - skip)
		return -EINVAL;
	mapped = round_up(size + skip, unit);
	if (!mapped)
		return -EINVAL;
	ret = kverbs_sys_mmap(fd, offset - skip, mapped, prot, &addr);
	if (ret)
		return ret;
	ret = new_buf(kv, (char *)addr + skip, size, flags, buf);
	kverbs_sys_munmap(addr, mapped);
	/* Other memory may be mapped there now. */
	if (!ret)
		(*buf)->addr = NULL;
	return ret;
}

int kverbs_buf_alloc(struct kverbs *kv, size_t size, struct kverbs_buf **buf)
{
	size_t mapped = round_up(size, (size_t)sysconf(_SC_PAGESIZE));
	void *addr;
	int ret;

	if (!size)
		return -EINVAL;
	if (!mapped)
		return -ENOMEM;
	ret = map_memory(mapped, &addr);
	if (ret)
		return ret;
	ret = new_buf(kv, addr, size, 0, buf);
	if (ret)
		goto out_unmap_memory;
	(*buf)->mapped = mapped;
	return 0;

out_unmap_memory:
	kverbs_sys_munmap(addr, mapped);
	return ret;
}

int kverbs_buf_free(struct kverbs_buf *buf)
{
	int ret;

	if (!buf)
		return 0;
	ret = kverbs_destroy(buf->kv, buf->id);
	if (ret)
		return ret;
	pthread_mutex_lock(&buf->kv->lock);
	/* No completion that names the buffer may be left. */
	kverbs_stale_reap(buf->kv);
	list_del(&buf->node);
	pthread_mutex_unlock(&buf->kv->lock);
	if (buf->mapped)
		kverbs_sys_munmap(buf->addr, buf->mapped);
	free(buf);
	return 0;
}

void *kverbs_buf_addr(const struct kverbs_buf *buf)
{
	return buf->addr;
}

size_t kverbs_buf_size(const struct kverbs_buf *buf)
{
	return buf->size;
}
