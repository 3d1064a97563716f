/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The kverbs provider of libfabric.
 *
 * One open file of /dev/kverbs is a fabric, a group of connections is a domain, a ring is a
 * completion queue or an event queue. The kernel reports all completions of a connection, work
 * and events, in one ring: that of the completion queue of its receives. kvf_progress() reads
 * all rings of a fabric and moves each completion to the queue that the application reads.
 *
 * The lock of the fabric protects everything below it. With the lock held no command is issued
 * that waits for a peer or for a device; KVERBS_SUBMIT does not wait here.
 */
#ifndef FI_KVERBS_H
#define FI_KVERBS_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_collective.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include <linux/kverbs.h>

#include "list.h"
#include "ring.h"

/* Most buffers in the list of one operation */
#define KVF_IOV_LIMIT		4
/* Private data that the application has for itself: one byte carries its length. */
#define KVF_CM_DATA_SIZE	(KVERBS_PRIV_CONNECT_MAX - 1)
/* Most private data that any message of the CM carries */
#define KVF_PRIV_MAX		KVERBS_PRIV_ACCEPT_MAX
/* Work requests of the provider itself in the send queue of an endpoint */
#define KVF_OWN_SENDS		16
/* Slots that the events of one connection may need in a ring */
#define KVF_CONN_EVENTS		3
/* Counters that a domain promises; the limit is memory. */
#define KVF_CNTR_CNT		4096

/* The cache makes FI_MR_LOCAL needless. */
#define KVF_MR_MODE	(FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY)
#define KVF_TX_CAPS	(FI_MSG | FI_RMA | FI_SEND | FI_READ | FI_WRITE)
#define KVF_RX_CAPS	(FI_MSG | FI_RMA | FI_RECV | FI_REMOTE_READ | FI_REMOTE_WRITE)
#define KVF_CAPS	(KVF_TX_CAPS | KVF_RX_CAPS | FI_LOCAL_COMM | FI_REMOTE_COMM)

#define kvf_warn(subsys, ...) FI_WARN(&kvf_prov, FI_LOG_##subsys, __VA_ARGS__)
#define kvf_info(subsys, ...) FI_INFO(&kvf_prov, FI_LOG_##subsys, __VA_ARGS__)

#define kvf_of(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

extern struct fi_provider kvf_prov;

/**
 * struct kvf_param - the FI_KVERBS_* parameters
 * @device_node: the device node
 * @inject: inject_size, bytes
 * @tx_size: default of tx_attr.size
 * @rx_size: default of rx_attr.size
 * @conn_timeout_ms: time limit for a connection to become established
 * @keepalive_ms: an idle connection is probed after this time, 0: never
 * @mr_cache: 1: cache registrations, and do not require FI_MR_LOCAL
 * @mr_cache_entries: most regions in the cache, but for those in use
 * @mr_cache_size: most bytes of them
 */
struct kvf_param {
	const char *device_node;
	size_t inject;
	size_t tx_size;
	size_t rx_size;
	size_t conn_timeout_ms;
	size_t keepalive_ms;
	size_t mr_cache;
	size_t mr_cache_entries;
	size_t mr_cache_size;
};

extern struct kvf_param kvf_param;

/* An IPv4 or IPv6 address with a port */
union kvf_addr {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct kvf_cntr;
struct kvf_dir;
struct kvf_ep;
struct kvf_pep;
struct kvf_mr;

/**
 * struct kvf_ring - a ring, and how many of its completion slots are promised
 * @ring: the ring
 * @event_fd: signalled on completions
 * @node: in kvf_fabric.rings
 * @used: slots of work in flight and of events
 */
struct kvf_ring {
	struct kverbs_ring ring;
	int event_fd;
	struct list_head node;
	uint32_t used;
};

/**
 * struct kvf_queue - what event queues, completion queues and counters have in common
 * @fabric: the fabric
 * @ring: the ring behind it; a counter has none
 * @is_empty: true if nothing is unread; called with the lock held
 * @node: in kvf_fabric.queues
 * @wait_obj: FI_WAIT_NONE or FI_WAIT_FD; FI_WAIT_POLLFD is the same descriptor
 * @epoll_fd: the wait object: readable when one of the fabric's rings has completions, or
 *	@wake_fd was signalled; -1 without a wait object
 * @wake_fd: signalled when an entry is queued, and by fi_cq_signal(); -1 without a wait object
 */
struct kvf_queue {
	struct kvf_fabric *fabric;
	struct kvf_ring ring;
	bool (*is_empty)(const struct kvf_queue *q);
	struct list_head node;
	enum fi_wait_obj wait_obj;
	int epoll_fd;
	int wake_fd;
};

/**
 * struct kvf_reg - a region of the registration cache
 * @node: in kvf_cache.entries if @is_listed, or in kvf_cache.dead or kvf_cache.busy
 * @start: address of its first page
 * @end: behind its last page
 * @region_id: the region
 * @users: operations and memory regions that use it
 * @is_writable: the device may store to it
 * @is_listed: it can be found, and counts in the cache
 * @is_stale: its pages are no longer those of its addresses
 */
struct kvf_reg {
	struct list_head node;
	uintptr_t start;
	uintptr_t end;
	uint32_t region_id;
	unsigned int users;
	bool is_writable;
	bool is_listed;
	bool is_stale;
};

/**
 * struct kvf_cache - the registration cache of a fabric
 * @ring: tells which regions are stale, and nothing else; not mapped if there is no cache
 * @entries: regions, the one that was used longest ago first
 * @dead: stale regions that nothing uses, to be destroyed
 * @busy: regions that the kernel could not destroy yet
 * @nr: length of @entries
 * @bytes: of them
 * @nr_stale: notices that were read
 * @lookups: buffers looked up
 * @hits: those of them that were found
 * @evicted: regions that were destroyed to make room
 */
struct kvf_cache {
	struct kverbs_ring ring;
	struct list_head entries;
	struct list_head dead;
	struct list_head busy;
	size_t nr;
	size_t bytes;
	uint32_t nr_stale;
	uint64_t lookups;
	uint64_t hits;
	uint64_t evicted;
};

/**
 * struct kvf_fabric - an open file
 * @fid: what the application sees
 * @fd: the file
 * @limits: answer of KVERBS_INFO
 * @lock: protects all that belongs to the fabric
 * @rings: all rings that kvf_progress() reads
 * @queues: queues with a wait object
 * @peps: passive endpoints that listen
 * @connreqs: connection requests that have not become an endpoint
 * @free_ops: operations that are not in use
 * @users: domains, event queues and passive endpoints
 * @generation: counts key directories
 * @cache: registrations of local buffers
 */
struct kvf_fabric {
	struct fid_fabric fid;
	int fd;
	struct kverbs_cmd_info limits;
	pthread_mutex_t lock;
	struct list_head rings;
	struct list_head queues;
	struct list_head peps;
	struct list_head connreqs;
	struct list_head free_ops;
	unsigned int users;
	uint32_t generation;
	struct kvf_cache cache;
};

/**
 * struct kvf_slot - a piece of registered memory for data that an application wants back at once
 * @next: the next free slot
 * @region_id: the region
 * @offset: of @data in the region
 * @data: FI_KVERBS_INJECT bytes
 */
struct kvf_slot {
	struct kvf_slot *next;
	uint32_t region_id;
	uint64_t offset;
	void *data;
};

struct kvf_chunk;

/**
 * struct kvf_domain - a device, and a group of connections on it
 * @fid: what the application sees
 * @fabric: the fabric
 * @device_index: the device
 * @group_id: the group
 * @max_msg: largest message, bytes
 * @max_rma: most bytes of a READ or WRITE
 * @is_iwarp: the device has no immediate data, and a message needs a receive that is there
 * @addr: address of the device, for the connection to itself
 * @self_lock: serialises the making of @self; taken before the lock of the fabric
 * @self: connection to itself, over which memory is registered
 * @free_slots: inject slots that are not in use
 * @chunks: memory of the inject slots
 * @users: endpoints, completion queues, counters and memory regions
 */
struct kvf_domain {
	struct fid_domain fid;
	struct kvf_fabric *fabric;
	uint32_t device_index;
	uint32_t group_id;
	uint64_t max_msg;
	uint64_t max_rma;
	bool is_iwarp;
	union kvf_addr addr;
	pthread_mutex_t self_lock;
	struct kvf_self *self;
	struct kvf_slot *free_slots;
	struct kvf_chunk *chunks;
	unsigned int users;
};

/**
 * struct kvf_mr - a memory region
 * @fid: what the application sees; its mem_desc is this struct
 * @domain: the domain
 * @base: first byte
 * @length: bytes
 * @region_id: the region, 0: destroyed
 * @offset: of @base in the region
 * @reg: entry of the cache that has the region, NULL: it is not cached
 * @export_id: the export, 0: none
 * @dir: directory of the keys, if the export has several
 * @dir_size: bytes of @dir
 * @dir_region_id: region of @dir
 * @dir_export_id: export of @dir
 */
struct kvf_mr {
	struct fid_mr fid;
	struct kvf_domain *domain;
	const char *base;
	size_t length;
	uint32_t region_id;
	uint64_t offset;
	struct kvf_reg *reg;
	uint32_t export_id;
	void *dir;
	size_t dir_size;
	uint32_t dir_region_id;
	uint32_t dir_export_id;
};

/**
 * struct kvf_op - an operation from its post to the read of its completion
 * @node: in the list that it is waiting in
 * @ep: the endpoint, NULL once it is complete
 * @ring: where the kernel reports it
 * @cq: the queue that reports it, NULL: none
 * @cntr: the counter that counts it, NULL: none
 * @context: the application's
 * @buf: the first buffer
 * @flags: of the completion entry
 * @len: bytes received
 * @data: immediate data
 * @parts: entries of the submission ring that are not complete
 * @err: 0 or FI_E*
 * @prov_errno: enum ib_wc_status by number, or the errno of an entry that was not posted
 * @is_recv: it is a receive
 * @is_silent: success is not reported
 * @slot: inject slot that holds its data
 * @regs: cached regions of its buffers
 * @nr_regs: length of @regs
 * @dir: directory that it reads
 * @sqe: of a receive: the entry, until it is submitted
 * @pieces: of a receive: the list of @sqe
 */
struct kvf_op {
	struct list_head node;
	struct kvf_ep *ep;
	struct kvf_ring *ring;
	struct kvf_cq *cq;
	struct kvf_cntr *cntr;
	void *context;
	void *buf;
	uint64_t flags;
	size_t len;
	uint64_t data;
	uint32_t parts;
	int err;
	int prov_errno;
	bool is_recv;
	bool is_silent;
	struct kvf_slot *slot;
	struct kvf_reg *regs[KVF_IOV_LIMIT];
	uint32_t nr_regs;
	struct kvf_dir *dir;
	struct kverbs_sqe sqe;
	struct kverbs_piece pieces[KVF_IOV_LIMIT];
};

/**
 * struct kvf_cq - a completion queue
 * @fid: what the application sees
 * @queue: its ring and wait object
 * @domain: the domain
 * @format: format of its entries
 * @done: operations whose completion is unread
 * @signalled: fi_cq_signal() was called since a wait ended by it
 * @users: bindings of endpoints
 */
struct kvf_cq {
	struct fid_cq fid;
	struct kvf_queue queue;
	struct kvf_domain *domain;
	enum fi_cq_format format;
	struct list_head done;
	bool signalled;
	unsigned int users;
};

/**
 * struct kvf_cntr - a counter of completed operations
 * @fid: what the application sees
 * @queue: its wait object
 * @domain: the domain
 * @value: operations that have succeeded
 * @errors: operations that have failed
 * @changed: @value or @errors is not what the application has read last
 * @waiters: threads in fi_cntr_wait()
 * @users: bindings of endpoints
 */
struct kvf_cntr {
	struct fid_cntr fid;
	struct kvf_queue queue;
	struct kvf_domain *domain;
	uint64_t value;
	uint64_t errors;
	bool changed;
	struct list_head waiters;
	unsigned int users;
};

/**
 * struct kvf_event - an unread event
 * @node: in kvf_eq.events
 * @type: FI_CONNREQ, FI_CONNECTED, FI_SHUTDOWN, or what fi_eq_write() was given
 * @fid: the endpoint that it is about
 * @info: of FI_CONNREQ
 * @err: 0, or FI_E* if the event is an error
 * @written: fi_eq_write() queued it, and @data is all of it
 * @len: bytes in @data
 * @data: private data of the peer
 */
struct kvf_event {
	struct list_head node;
	uint32_t type;
	fid_t fid;
	struct fi_info *info;
	int err;
	bool written;
	size_t len;
	uint8_t data[KVF_PRIV_MAX];
};

/**
 * struct kvf_eq - an event queue
 * @fid: what the application sees
 * @queue: its ring, of listeners, and its wait object
 * @events: unread events
 * @err_data: private data of the error that was read last
 * @users: bindings of endpoints
 */
struct kvf_eq {
	struct fid_eq fid;
	struct kvf_queue queue;
	struct list_head events;
	uint8_t err_data[KVF_PRIV_MAX];
	unsigned int users;
};

/**
 * struct kvf_pep - a passive endpoint
 * @fid: what the application sees
 * @fabric: the fabric
 * @eq: its event queue
 * @info: template of the requests' info
 * @addr: address to listen on, or that it is bound to
 * @backlog: requests that may wait
 * @listener_id: the listener, 0: none
 * @node: in kvf_fabric.peps
 */
struct kvf_pep {
	struct fid_pep fid;
	struct kvf_fabric *fabric;
	struct kvf_eq *eq;
	struct fi_info *info;
	union kvf_addr addr;
	uint32_t backlog;
	uint32_t listener_id;
	struct list_head node;
};

/**
 * struct kvf_connreq - a connection request that is not answered
 * @fid: the handle in the info of FI_CONNREQ
 * @fabric: the fabric
 * @eq: the event queue of its listener, NULL if it has been closed
 * @conn_id: the connection
 * @device_index: its device
 * @node: in kvf_fabric.connreqs
 */
struct kvf_connreq {
	struct fid fid;
	struct kvf_fabric *fabric;
	struct kvf_eq *eq;
	uint32_t conn_id;
	uint32_t device_index;
	struct list_head node;
};

/* Operations of an endpoint that a counter can count */
enum kvf_counted {
	KVF_COUNT_SEND,
	KVF_COUNT_RECV,
	KVF_COUNT_READ,
	KVF_COUNT_WRITE,
	KVF_COUNT_MAX,
};

enum kvf_ep_state {
	KVF_EP_IDLE,
	KVF_EP_REQUESTED,	/* has the connection of a request, not accepted */
	KVF_EP_CONNECTING,
	KVF_EP_UP,
	KVF_EP_DOWN,
};

/**
 * struct kvf_ep - an active endpoint
 * @fid: what the application sees
 * @domain: the domain
 * @eq: its event queue
 * @tx_cq: queue that reports operations of the sending side, NULL: none
 * @rx_cq: queue that reports receives, NULL: none
 * @own_cq: queue of an endpoint that only has counters
 * @ring: where the connection's work and events are reported, from fi_enable() on
 * @cntrs: counters by enum kvf_counted, NULL: none
 * @info: what it was created with
 * @state: state of the connection
 * @is_active: this side connects
 * @is_shut: fi_shutdown() was called
 * @is_enabled: fi_enable() was called
 * @tx_selective: only operations with FI_COMPLETION are reported
 * @rx_selective: likewise for receives
 * @tx_flags: flags of operations that have no flags argument
 * @rx_flags: likewise for receives
 * @conn_id: the connection, 0: none yet
 * @tx_used: operations in flight
 * @rx_used: receives in flight
 * @pending: receives that are not submitted, because there is no connection
 * @early_eq: event queue of the listener, on iWARP: its ring reports @early receives
 * @early: receives in flight that were submitted before the connection was accepted
 * @dirs: key directories of the peer
 */
struct kvf_ep {
	struct fid_ep fid;
	struct kvf_domain *domain;
	struct kvf_eq *eq;
	struct kvf_cq *tx_cq;
	struct kvf_cq *rx_cq;
	struct fid_cq *own_cq;
	struct kvf_ring *ring;
	struct kvf_cntr *cntrs[KVF_COUNT_MAX];
	struct fi_info *info;
	enum kvf_ep_state state;
	bool is_active;
	bool is_shut;
	bool is_enabled;
	bool tx_selective;
	bool rx_selective;
	uint64_t tx_flags;
	uint64_t rx_flags;
	uint32_t conn_id;
	size_t tx_used;
	size_t rx_used;
	struct list_head pending;
	struct kvf_eq *early_eq;
	uint32_t early;
	struct list_head dirs;
};

static inline struct kvf_fabric *kvf_ep_fabric(const struct kvf_ep *ep)
{
	return ep->domain->fabric;
}

/* ---- info.c, check.c ---- */

int kvf_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
		const struct fi_info *hints, struct fi_info **info);
/* True if @info satisfies the hints of an application of this API; they may be NULL. */
bool kvf_check(uint32_t version, const struct fi_info *info, const struct fi_info *hints);
/* Let @info, which satisfies the hints, be as the hints have it where there is a choice. */
void kvf_adopt(uint32_t version, struct fi_info *info, const struct fi_info *hints);

/* ---- addr.c ---- */

socklen_t kvf_addr_len(const union kvf_addr *addr);
/* False: neither IPv4 nor IPv6. */
bool kvf_addr_set(union kvf_addr *addr, const void *sa);
void kvf_addr_to_kernel(struct kverbs_addr *to, const union kvf_addr *from);
void kvf_addr_from_kernel(union kvf_addr *to, const struct kverbs_addr *from);
bool kvf_addr_same_host(const union kvf_addr *a, const union kvf_addr *b);
/* Copy out as fi_getname() does. */
int kvf_addr_copy(const union kvf_addr *from, void *addr, size_t *addrlen);

/* ---- device.c ---- */

/* Open the device node. Returns the descriptor, or -errno if kverbs cannot be used. */
int kvf_device_open(struct kverbs_cmd_info *limits);
/*
 * Query the device with this index or the next one above it; @ports and @gids are to be
 * freed. -ENODEV: there is none.
 */
int kvf_device_query(int fd, uint32_t index, struct kverbs_cmd_device_query *query,
		     struct kverbs_port **ports, struct kverbs_gid **gids);
/* Largest message of a port, bytes */
uint64_t kvf_max_msg(const struct kverbs_cmd_device_query *query, const struct kverbs_port *port);

/* ---- fabric.c, domain.c ---- */

int kvf_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
int kvf_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
	       void *context);
/* Count users of a fabric or a domain; they take the fabric's lock. */
void kvf_get(struct kvf_fabric *fabric, unsigned int *users);
void kvf_put(struct kvf_fabric *fabric, unsigned int *users);

/* ---- slot.c: inject slots, with the lock of the fabric held ---- */

/* NULL: no memory. */
struct kvf_slot *kvf_slot_get(struct kvf_domain *domain);
void kvf_slot_put(struct kvf_domain *domain, struct kvf_slot *slot);
void kvf_slots_free(struct kvf_domain *domain);

/* ---- mr.c ---- */

extern struct fi_ops_mr kvf_mr_ops;
int kvf_region_create(int fd, const void *addr, size_t length, bool read_only, uint32_t *id);
/* Export memory to the group of a domain, whether or not it has connections. */
int kvf_export(struct kvf_domain *domain, struct kverbs_cmd_export *cmd);

/* ---- cache.c: registrations, with the lock of the fabric held ---- */

static inline bool kvf_cache_is_wanted(const struct kverbs_cmd_info *limits)
{
	return kvf_param.mr_cache && limits->out_features & KVERBS_FEATURE_TRACK;
}

/* Without the lock, before the fabric is used; no error without a cache. */
int kvf_cache_open(struct kvf_fabric *fabric);
/* The last user of the fabric is gone. */
void kvf_cache_close(struct kvf_fabric *fabric);
/*
 * Find or make a region that has the bytes, at least 1, and count a user of it. -FI_ENOSYS:
 * there is no cache.
 */
int kvf_cache_get(struct kvf_fabric *fabric, const void *addr, size_t length, bool writable,
		  struct kvf_reg **reg);
void kvf_cache_put(struct kvf_fabric *fabric, struct kvf_reg *reg);

/* ---- self.c: the connection of a domain to itself ---- */

/* Without the lock of the fabric. Replaces a connection that has ended. */
int kvf_self_connect(struct kvf_domain *domain);
void kvf_self_close(struct kvf_domain *domain);

/* ---- keys.c ---- */

/* Make the directory of an export and the key that names it. */
int kvf_dir_create(struct kvf_mr *mr, const struct kverbs_segment *segs, uint32_t nr,
		   uint64_t *key);
void kvf_dir_destroy(struct kvf_mr *mr);
/*
 * Find the segments of a key. @one is used for a key that has only one. -FI_EAGAIN: the
 * directory is being read. With the lock held.
 */
int kvf_key_resolve(struct kvf_ep *ep, uint64_t key, struct kverbs_segment *one,
		    const struct kverbs_segment **segs, uint32_t *nr);
/* A READ of a directory has completed. */
void kvf_dir_read_done(struct kvf_dir *dir, bool succeeded);
/* Free what the endpoint knows of its peer's keys, when nothing is in flight. */
void kvf_dirs_free(struct kvf_ep *ep);

/* ---- queue.c, progress.c ---- */

/* @size: entries of the ring, 0: without a ring. The caller has set @q->is_empty. */
int kvf_queue_open(struct kvf_queue *q, struct kvf_fabric *fabric, size_t size,
		   enum fi_wait_obj wait_obj);
void kvf_queue_close(struct kvf_queue *q);
/* Append an entry to the entries of @q and wake those that sleep on it. With the lock held. */
void kvf_queue_add(struct kvf_queue *q, struct list_head *entry, struct list_head *entries);
void kvf_queue_wake(struct kvf_queue *q);
/* True if @q may be slept on: nothing is unread. Without the lock. */
bool kvf_queue_trywait(struct kvf_queue *q);
/*
 * Sleep until something may have happened or @deadline, in ns, 0: never. @fd, unless it is -1,
 * ends the sleep when it is readable.
 */
int kvf_queue_sleep(struct kvf_queue *q, int fd, uint64_t deadline);
int kvf_queue_getwait(struct kvf_queue *q, int command, void *arg);
/* Time at which a wait of @timeout_ms ends, 0: never. */
uint64_t kvf_deadline(int timeout_ms);

/* Read all rings of a fabric, or one of them. With the lock held. */
void kvf_progress(struct kvf_fabric *fabric);
void kvf_ring_read(struct kvf_fabric *fabric, struct kvf_ring *ring);

/* ---- op.c, with the lock held ---- */

struct kvf_op *kvf_op_get(struct kvf_fabric *fabric);
/* Its buffers are used no more. */
void kvf_op_release_regs(struct kvf_fabric *fabric, struct kvf_op *op);
void kvf_op_put(struct kvf_fabric *fabric, struct kvf_op *op);
/* One entry of an operation is complete. */
void kvf_op_complete(struct kvf_op *op, const struct kverbs_cqe *cqe);
/* @parts entries of an operation were not taken. */
void kvf_op_fail(struct kvf_op *op, uint32_t parts, int error);

/* ---- cntr.c ---- */

int kvf_cntr_open(struct fid_domain *domain, struct fi_cntr_attr *attr, struct fid_cntr **cntr,
		  void *context);
/* Count an operation that has completed. With the lock held. */
void kvf_cntr_count(struct kvf_cntr *cntr, bool succeeded);

/* ---- cq.c, eq.c ---- */

int kvf_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
		void *context);
int kvf_eq_open(struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
		void *context);
/* Queue an event. With the lock held; no memory: the event is lost, with a warning. */
struct kvf_event *kvf_eq_add(struct kvf_eq *eq, uint32_t type, fid_t fid, int err);
/* Drop the unread events of an endpoint. With the lock held. */
void kvf_eq_forget(struct kvf_eq *eq, fid_t fid);
int kvf_trywait(struct fid_fabric *fabric, struct fid **fids, int count);

/* ---- cm.c ---- */

/* Private data that begins with its length, in @wire; returns the bytes of it. */
size_t kvf_priv_pack(uint8_t wire[KVF_CM_DATA_SIZE + 1], const void *param, size_t len);
/* The peer's private data; returns the bytes of it, -errno. */
ssize_t kvf_priv_query(int fd, uint32_t conn_id, uint8_t data[KVF_PRIV_MAX],
		       struct kverbs_cmd_conn_query *query);
int kvf_conn_destroy(int fd, uint32_t conn_id);
/* An event of an endpoint's connection. With the lock held. */
void kvf_ep_event(struct kvf_ep *ep, const struct kverbs_cqe *cqe);
extern struct fi_ops_cm kvf_ep_cm_ops;

/* ---- pep.c, ep.c ---- */

int kvf_passive_ep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
		   void *context);
/* An event of a listener, or of a connection that it reported. With the lock held. */
void kvf_pep_event(struct kvf_pep *pep, const struct kverbs_cqe *cqe);
void kvf_connreq_free(struct kvf_connreq *req);
int kvf_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
		 void *context);
int kvf_ep_enable(struct kvf_ep *ep);
int kvf_ep_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen);

/* ---- post.c, msg.c, rma.c ---- */

/**
 * struct kvf_work - an operation as the application describes it
 * @opcode: enum kverbs_opcode
 * @iov: local buffers
 * @desc: their descriptors, or NULL
 * @count: length of both
 * @addr: remote address
 * @key: remote key
 * @data: immediate data
 * @flags: FI_COMPLETION, FI_INJECT, FI_FENCE
 * @context: the application's
 * @counted: counter that counts it
 * @comp_flags: flags of the completion entry
 * @never_reported: no queue reports it, whatever its flags and its result
 */
struct kvf_work {
	enum kverbs_opcode opcode;
	const struct iovec *iov;
	void **desc;
	size_t count;
	uint64_t addr;
	uint64_t key;
	uint64_t data;
	uint64_t flags;
	void *context;
	enum kvf_counted counted;
	uint64_t comp_flags;
	bool never_reported;
};

ssize_t kvf_post(struct kvf_ep *ep, const struct kvf_work *work);
ssize_t kvf_post_recv(struct kvf_ep *ep, const struct kvf_work *work);
/* READ a directory of the peer. With the lock held. */
int kvf_post_dir_read(struct kvf_ep *ep, struct kvf_dir *dir, uint32_t region_id,
		      uint32_t length, uint32_t rkey);
/* Submit the receives that were posted before there was a connection. With the lock held. */
void kvf_post_pending(struct kvf_ep *ep);
/* The same before the connection is accepted, as far as the listener's ring has room. */
void kvf_post_early(struct kvf_ep *ep);
extern struct fi_ops_msg kvf_msg_ops;
extern struct fi_ops_rma kvf_rma_ops;

/* ---- none.c: what is not supported ---- */

extern struct fi_ops_tagged kvf_no_tagged;
extern struct fi_ops_atomic kvf_no_atomic;
extern struct fi_ops_collective kvf_no_collective;
int kvf_no_bind(struct fid *fid, struct fid *bfid, uint64_t flags);
int kvf_no_control(struct fid *fid, int command, void *arg);
int kvf_no_ops_open(struct fid *fid, const char *name, uint64_t flags, void **ops,
		    void *context);
ssize_t kvf_no_cancel(fid_t fid, void *context);
int kvf_no_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen);
int kvf_no_tx_ctx(struct fid_ep *sep, int index, struct fi_tx_attr *attr,
		  struct fid_ep **tx_ep, void *context);
int kvf_no_rx_ctx(struct fid_ep *sep, int index, struct fi_rx_attr *attr,
		  struct fid_ep **rx_ep, void *context);
ssize_t kvf_no_size_left(struct fid_ep *ep);
int kvf_no_getpeer(struct fid_ep *ep, void *addr, size_t *addrlen);
int kvf_no_connect(struct fid_ep *ep, const void *addr, const void *param, size_t paramlen);
int kvf_no_listen(struct fid_pep *pep);
int kvf_no_accept(struct fid_ep *ep, const void *param, size_t paramlen);
int kvf_no_reject(struct fid_pep *pep, fid_t handle, const void *param, size_t paramlen);
int kvf_no_shutdown(struct fid_ep *ep, uint64_t flags);
int kvf_no_join(struct fid_ep *ep, const void *addr, uint64_t flags, struct fid_mc **mc,
		void *context);

#endif /* FI_KVERBS_H */
