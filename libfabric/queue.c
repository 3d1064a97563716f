// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The common part of event queues, completion queues and counters: a ring, unless it is a counter,
 * and a descriptor to wait on.
 *
 * An entry of a queue may come from any ring of the fabric, and any thread may move it there. So
 * the descriptor is an epoll(7) instance that watches the eventfds of all rings, and one of the
 * queue's own that is signalled when an entry is queued. kvf_queue_trywait() resets them before
 * it reads the rings: a completion that comes later makes the descriptor readable.
 */
#include <errno.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "fi_kverbs.h"
#include "sys.h"

#define SQ_ENTRIES 256
/* A small completion ring gets room for events in addition to what was asked for. */
#define SMALL 4096
#define EXTRA 256

static uint32_t cq_entries(const struct kvf_fabric *fabric, size_t size)
{
	uint32_t n = 1;

	if (size < SMALL)
		size += EXTRA;
	while (n < size && n < fabric->limits.out_max_cq_entries)
		n *= 2;
	return n;
}

static int new_eventfd(void)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);

	return fd < 0 ? -errno : fd;
}

static void watch(const struct kvf_queue *q, int op, int fd)
{
	struct epoll_event event = { .events = EPOLLIN };

	if (epoll_ctl(q->epoll_fd, op, fd, &event))
		kvf_warn(EQ, "epoll_ctl: %s\n", fi_strerror(errno));
}

/* Call it for the ring of every queue, with each queue that has a wait object. */
static void watch_ring(struct kvf_fabric *fabric, int op, int fd)
{
	struct list_head *at;

	for (at = fabric->queues.next; at != &fabric->queues; at = at->next)
		watch(list_entry(at, struct kvf_queue, node), op, fd);
}

static void watch_all(struct kvf_queue *q)
{
	struct list_head *at;

	watch(q, EPOLL_CTL_ADD, q->wake_fd);
	for (at = q->fabric->rings.next; at != &q->fabric->rings; at = at->next)
		watch(q, EPOLL_CTL_ADD, list_entry(at, struct kvf_ring, node)->event_fd);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static int open_wait_object(struct kvf_queue *q)
{
	int ret = 0;

	if (q->wait_obj == FI_WAIT_NONE)
		return 0;
	q->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (q->epoll_fd < 0)
		return -errno;
	q->wake_fd = new_eventfd();
	if (q->wake_fd < 0) {
		ret = q->wake_fd;
		close_fd(&q->epoll_fd);
	}
	return ret;
}

static int open_ring(struct kvf_queue *q, size_t size)
{
	struct kvf_fabric *fabric = q->fabric;
	int ret;

	q->ring.event_fd = new_eventfd();
	if (q->ring.event_fd < 0)
		return q->ring.event_fd;
	ret = kverbs_ring_open(&q->ring.ring, fabric->fd, SQ_ENTRIES, cq_entries(fabric, size),
			       KVERBS_RING_EVENTFD, q->ring.event_fd);
	if (ret)
		close_fd(&q->ring.event_fd);
	return ret;
}

int kvf_queue_open(struct kvf_queue *q, struct kvf_fabric *fabric, size_t size,
		   enum fi_wait_obj wait_obj)
{
	int ret;

	q->fabric = fabric;
	q->epoll_fd = -1;
	q->wake_fd = -1;
	switch (wait_obj) {
	case FI_WAIT_NONE:
	case FI_WAIT_FD:
	case FI_WAIT_POLLFD:
		q->wait_obj = wait_obj;
		break;
	case FI_WAIT_UNSPEC:
	case FI_WAIT_YIELD:
		q->wait_obj = FI_WAIT_FD;
		break;
	default:
		return -FI_ENOSYS;
	}
	ret = open_wait_object(q);
	if (ret)
		return ret;
	list_init(&q->ring.node);
	q->ring.event_fd = -1;
	ret = size ? open_ring(q, size) : 0;
	if (ret) {
		close_fd(&q->wake_fd);
		close_fd(&q->epoll_fd);
		return ret;
	}
	pthread_mutex_lock(&fabric->lock);
	if (size) {
		list_add_tail(&q->ring.node, &fabric->rings);
		watch_ring(fabric, EPOLL_CTL_ADD, q->ring.event_fd);
	}
	list_init(&q->node);
	if (q->wait_obj != FI_WAIT_NONE) {
		list_add_tail(&q->node, &fabric->queues);
		watch_all(q);
	}
	pthread_mutex_unlock(&fabric->lock);
	return 0;
}

void kvf_queue_close(struct kvf_queue *q)
{
	struct kvf_fabric *fabric = q->fabric;

	pthread_mutex_lock(&fabric->lock);
	list_del(&q->node);
	list_del(&q->ring.node);
	if (q->ring.event_fd >= 0)
		watch_ring(fabric, EPOLL_CTL_DEL, q->ring.event_fd);
	pthread_mutex_unlock(&fabric->lock);
	if (q->ring.event_fd >= 0)
		kverbs_ring_close(&q->ring.ring);
	close_fd(&q->ring.event_fd);
	close_fd(&q->wake_fd);
	close_fd(&q->epoll_fd);
}

void kvf_queue_wake(struct kvf_queue *q)
{
	if (q->wake_fd >= 0)
		eventfd_write(q->wake_fd, 1);
}

/* No task sleeps on a queue that has entries: see kvf_queue_trywait(). */
void kvf_queue_add(struct kvf_queue *q, struct list_head *entry, struct list_head *entries)
{
	if (list_empty(entries))
		kvf_queue_wake(q);
	list_add_tail(entry, entries);
}

static void reset(int fd)
{
	eventfd_t count;

	eventfd_read(fd, &count);
}

bool kvf_queue_trywait(struct kvf_queue *q)
{
	struct kvf_fabric *fabric = q->fabric;
	struct list_head *at;
	bool empty;

	pthread_mutex_lock(&fabric->lock);
	reset(q->wake_fd);
	for (at = fabric->rings.next; at != &fabric->rings; at = at->next)
		reset(list_entry(at, struct kvf_ring, node)->event_fd);
	kvf_progress(fabric);
	empty = q->is_empty(q);
	/* Another thread may sleep on the queue as well. */
	if (!empty)
		kvf_queue_wake(q);
	pthread_mutex_unlock(&fabric->lock);
	return empty;
}

uint64_t kvf_deadline(int timeout_ms)
{
	return timeout_ms < 0 ? 0 : kverbs_sys_now() + timeout_ms * 1000000ull;
}

int kvf_queue_sleep(struct kvf_queue *q, int fd, uint64_t deadline)
{
	struct pollfd pfds[] = {
		{ .fd = q->epoll_fd, .events = POLLIN },
		{ .fd = fd, .events = POLLIN },
	};
	uint64_t now = kverbs_sys_now();
	int ms = -1, n;

	if (deadline)
		ms = now >= deadline ? 0 : (int)((deadline - now + 999999) / 1000000);
	n = poll(pfds, 2, ms);
	if (n < 0)
		return -errno;
	return n ? 0 : -FI_EAGAIN;
}

int kvf_queue_getwait(struct kvf_queue *q, int command, void *arg)
{
	struct fi_wait_pollfd *set = arg;

	if (command == FI_GETWAITOBJ) {
		*(enum fi_wait_obj *)arg = q->wait_obj;
		return 0;
	}
	if (command != FI_GETWAIT || q->wait_obj == FI_WAIT_NONE)
		return -FI_ENOSYS;
	if (q->wait_obj == FI_WAIT_FD) {
		*(int *)arg = q->epoll_fd;
		return 0;
	}
	set->change_index = 1;
	if (set->nfds < 1) {
		set->nfds = 1;
		return -FI_ETOOSMALL;
	}
	set->nfds = 1;
	*set->fd = (struct pollfd){ .fd = q->epoll_fd, .events = POLLIN };
	return 0;
}
