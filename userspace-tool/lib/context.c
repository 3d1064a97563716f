// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Opening and closing a context.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "buf.h"
#include "conn.h"
#include "copy.h"
#include "group.h"
#include "internal.h"
#include "listener.h"
#include "pool.h"
#include "queue.h"
#include "request.h"
#include "sys.h"
#include "wait.h"

#define DEFAULT_PATH "/dev/kverbs"
#define DEFAULT_SQ_ENTRIES 256
#define DEFAULT_CQ_ENTRIES 4096
/* At least a byte: the kernel maps whole pages. */
#define OWNED_SIZE 1

static bool all_zero(const unsigned char *p, size_t n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

int kverbs_opts_copy(void *dst, size_t size, const void *src)
{
	size_t given;

	memset(dst, 0, size);
	if (!src)
		return 0;
	/* Every options struct begins with its own size. */
	memcpy(&given, src, sizeof(given));
	if (given < sizeof(given))
		return -EINVAL;
	if (given > size) {
		if (!all_zero((const unsigned char *)src + size, given - size))
			return -E2BIG;
		given = size;
	}
	memcpy(dst, src, given);
	return 0;
}

void kverbs_answer(void *dst, size_t size, const void *src, size_t known)
{
	memset(dst, 0, size);
	memcpy(dst, src, size < known ? size : known);
}

int kverbs_ioctl(struct kverbs *kv, unsigned long cmd, void *arg)
{
	return kverbs_is_child(kv) ? -ECHILD : kverbs_sys_ioctl(kv->fd, cmd, arg);
}

int kverbs_destroy(struct kverbs *kv, uint32_t id)
{
	return kverbs_is_child(kv) ? -ECHILD : kverbs_sys_destroy(kv->fd, id);
}

static int map_owned(struct kverbs *kv)
{
	void *page;
	int ret = kverbs_sys_mmap_anon(OWNED_SIZE, &page);

	if (ret)
		return ret;
	*(uint8_t *)page = 1;
	kverbs_sys_madvise(page, OWNED_SIZE, MADV_WIPEONFORK);
	kv->owned = page;
	return 0;
}

static void unmap_owned(struct kverbs *kv)
{
	kverbs_sys_munmap((void *)kv->owned, OWNED_SIZE);
}

static int check_abi(struct kverbs *kv)
{
	struct kverbs_cmd_info info;
	int ret = kverbs_info(kv, &info, sizeof(info));

	if (ret == -ENOTTY)
		return -EPROTO;
	if (ret)
		return ret;
	return info.out_abi == KVERBS_ABI_VERSION ? 0 : -EPROTO;
}

static int open_ring(struct kverbs *kv, const struct kverbs_opts *opts, unsigned int flags)
{
	return kverbs_ring_open(&kv->ring, kv->fd,
				opts->sq_entries ? opts->sq_entries : DEFAULT_SQ_ENTRIES,
				opts->cq_entries ? opts->cq_entries : DEFAULT_CQ_ENTRIES,
				(opts->busy_poll ? KVERBS_RING_BUSY_POLL : 0) |
				(opts->softirq ? KVERBS_RING_SOFTIRQ : 0) | flags, 0);
}

static int open_device(struct kverbs *kv, const struct kverbs_opts *opts)
{
	int ret;

	ret = kverbs_sys_open(opts->path ? opts->path : DEFAULT_PATH);
	if (ret < 0)
		return ret;
	kv->fd = ret;
	ret = check_abi(kv);
	if (!ret)
		ret = open_ring(kv, opts, 0);
	if (ret)
		kverbs_sys_close(kv->fd);
	return ret;
}

/* Without a ring. */
static struct kverbs *alloc_context(void)
{
	struct kverbs *kv = calloc(1, sizeof(*kv));

	if (!kv)
		return NULL;
	list_init(&kv->conns);
	list_init(&kv->listeners);
	list_init(&kv->bufs);
	list_init(&kv->groups);
	list_init(&kv->pools);
	list_init(&kv->workers);
	list_init(&kv->worker);
	list_init(&kv->anys);
	kverbs_waiters_init(kv);
	if (kverbs_table_init(&kv->table)) {
		free(kv);
		return NULL;
	}
	kv->root = kv;
	pthread_mutex_init(&kv->lock, NULL);
	return kv;
}

static void free_context(struct kverbs *kv)
{
	pthread_mutex_destroy(&kv->lock);
	kverbs_table_destroy(&kv->table);
	free(kv);
}

int kverbs_open(struct kverbs **kv, const struct kverbs_opts *opts)
{
	struct kverbs_opts o;
	struct kverbs *k;
	int ret;

	ret = kverbs_opts_copy(&o, sizeof(o), opts);
	if (ret)
		return ret;
	k = alloc_context();
	if (!k)
		return -ENOMEM;
	ret = map_owned(k);
	if (ret)
		goto out_free_context;
	ret = open_device(k, &o);
	if (ret)
		goto out_unmap_owned;
	*kv = k;
	return 0;

out_unmap_owned:
	unmap_owned(k);
out_free_context:
	free_context(k);
	return ret;
}

int kverbs_worker_open(struct kverbs *kv, const struct kverbs_opts *opts,
		       struct kverbs **worker)
{
	struct kverbs_opts o;
	struct kverbs *w;
	int ret;

	ret = kverbs_opts_copy(&o, sizeof(o), opts);
	if (ret)
		return ret;
	if (o.path)
		return -EINVAL;
	if (kverbs_is_child(kv))
		return -ECHILD;
	w = alloc_context();
	if (!w)
		return -ENOMEM;
	w->root = kv->root;
	w->fd = kv->fd;
	w->owned = kv->owned;
	ret = open_ring(w, &o, KVERBS_RING_FD);
	if (ret) {
		free_context(w);
		return ret;
	}
	pthread_mutex_lock(&w->root->lock);
	list_add_tail(&w->worker, &w->root->workers);
	pthread_mutex_unlock(&w->root->lock);
	*worker = w;
	return 0;
}

static void free_conns(struct kverbs *kv)
{
	while (!list_empty(&kv->listeners))
		kverbs_listener_free(list_entry(kv->listeners.next,
						struct kverbs_listener, node));
	while (!list_empty(&kv->conns))
		kverbs_conn_free(list_entry(kv->conns.next, struct kverbs_conn, node));
}

/* A group with an export stays, until the file is closed. */
static void free_groups(struct kverbs *kv)
{
	struct kverbs_group *group;

	while (!list_empty(&kv->groups)) {
		group = list_entry(kv->groups.next, struct kverbs_group, node);
		if (!kverbs_group_free(group))
			continue;
		list_del(&group->node);
		free(group);
	}
}

/* A region that the kernel does not release stays as well. */
static void free_bufs(struct kverbs *kv)
{
	struct kverbs_buf *buf;

	while (!list_empty(&kv->bufs)) {
		buf = list_entry(kv->bufs.next, struct kverbs_buf, node);
		if (!kverbs_buf_free(buf))
			continue;
		list_del(&buf->node);
		if (buf->mapped)
			kverbs_sys_munmap(buf->addr, buf->mapped);
		free(buf);
	}
}

/* The thread that runs callbacks uses the context after each of them. */
static bool is_in_callback(struct kverbs *kv)
{
	bool here;

	pthread_mutex_lock(&kv->lock);
	here = kverbs_done_here(kv);
	pthread_mutex_unlock(&kv->lock);
	return here;
}

static void close_worker(struct kverbs *worker)
{
	struct kverbs *root = worker->root;

	pthread_mutex_lock(&root->lock);
	list_del(&worker->worker);
	pthread_mutex_unlock(&root->lock);
	free_conns(worker);
	kverbs_queue_clear(worker);
	kverbs_copies_free(worker);
	kverbs_pools_free(worker);
	kverbs_ring_close(&worker->ring);
	free_context(worker);
}

static void close_root(struct kverbs *kv)
{
	while (!list_empty(&kv->workers))
		close_worker(list_entry(kv->workers.next, struct kverbs, worker));
	free_conns(kv);
	kverbs_queue_clear(kv);
	kverbs_copies_free(kv);
	free_groups(kv);
	kverbs_pools_free(kv);
	free_bufs(kv);
	kverbs_stale_close(kv);
	kverbs_ring_close(&kv->ring);
	kverbs_sys_close(kv->fd);
	unmap_owned(kv);
	free_context(kv);
}

/* A child's descriptors are all that it can free. */
static void close_in_child(struct kverbs *kv)
{
	kverbs_sys_close(kverbs_fd(kv));
}

void kverbs_close(struct kverbs *kv)
{
	if (!kv)
		return;
	if (kverbs_is_child(kv))
		close_in_child(kv);
	else if (is_in_callback(kv))
		return;
	else if (kv->root == kv)
		close_root(kv);
	else
		close_worker(kv);
}

int kverbs_fd(const struct kverbs *kv)
{
	return kv->ring.poll_fd ? kv->ring.poll_fd : kv->fd;
}

int kverbs_info(struct kverbs *kv, struct kverbs_cmd_info *info, size_t sz)
{
	struct kverbs_cmd_info cmd = { .size = sizeof(cmd) };
	int ret = kverbs_ioctl(kv, KVERBS_INFO, &cmd);

	kverbs_answer(info, sz, &cmd, sizeof(cmd));
	return ret;
}
