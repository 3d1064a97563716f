/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * RDMA connections for modules of the kernel. kverbs resolves and connects, owns queue pairs,
 * registrations and DMA mappings, and tears all of it down when a connection ends or a device is
 * removed; a module gives it memory and requests, and gets callbacks.
 *
 * The functions are exported in the namespace KVERBS. A module imports it by
 * KVERBS_K_IMPORT(), and is built with KBUILD_EXTRA_SYMBOLS set to the Module.symvers of kverbs.
 * Neither this interface nor its binary form is stable: build a module and kverbs together.
 *
 * Contexts. Functions are for process context and may sleep, unless they say otherwise.
 * kverbs_k_post(), kverbs_k_post_list(), kverbs_k_expose() and kverbs_k_conceal() never sleep: they
 * are for process and softirq context, also with a spinlock held. All that these need is allocated
 * before, by kverbs_k_req_alloc(), kverbs_k_batch_alloc() and kverbs_k_region_map().
 *
 * Callbacks. A callback must not free or close its connection, nor destroy a region or an export:
 * these wait for callbacks. A callback may post. "done" of a request runs in a workqueue, in
 * softirq context, or within kverbs_k_conn_poll(), as the connection asks for it, always in a
 * read-side critical section of RCU, and so must not sleep; all others run in process context.
 *
 * Polling. A connection that is "polled" raises no interrupt for a completion, and nothing but a
 * poll calls "done". A module with a thread of its own saves the interrupts, and the switches to
 * the workqueue and back. kverbs polls by itself only where it waits: for a registration, for a
 * peer that seems dead, and to end the connection. So "done" may also be called by another task
 * than the one that polls, but never by two at a time.
 *
 * Life. A region outlives the exports and the requests in flight that use it. Requests and exports
 * of a connection are freed after it has ended, or before, but not after kverbs_k_conn_free().
 * The module waits for "done" of a request before it frees or posts it again. A connection that
 * ends first completes all its requests, and then calls "ended".
 */
#ifndef _KVERBS_KVERBS_H
#define _KVERBS_KVERBS_H

#include <linux/bits.h>
#include <linux/socket.h>
#include <linux/types.h>

struct bio_vec;
struct kverbs_export;
struct net;

/* Memory of the kernel. */
struct kverbs_region;
/* A connection. */
struct kverbs_k_conn;
/* A listener. */
struct kverbs_k_listener;
/* Room in which requests are posted together. */
struct kverbs_k_batch;

/* Once in a module that calls any of these functions. */
#define KVERBS_K_IMPORT()	MODULE_INFO(import_ns, "KVERBS")

/* ---- memory -------------------------------------------------------------- */

/**
 * kverbs_k_region_of_buffer() - make a region of a buffer
 * @buffer: memory of kmalloc(), vmalloc() or alloc_pages(), not on a stack; it stays until
 *	kverbs_k_region_destroy() has returned
 * @length: bytes, 1 to 1 GiB
 * @writable: let devices write to it: receives, READs, and rights of the peer to write
 * @gfp: how to allocate
 *
 * Context: process; may sleep if @gfp permits it.
 * Return: the region or an ERR_PTR: -EINVAL for other memory or a bad length; -ENOMEM.
 */
struct kverbs_region *kverbs_k_region_of_buffer(void *buffer, size_t length, bool writable,
						gfp_t gfp);

/**
 * kverbs_k_region_of_bvecs() - make a region of pages, such as those of a bio
 * @bvecs: the pages, which stay until kverbs_k_region_destroy() has returned; the array is copied
 * @nr: entries of @bvecs, at least 1
 * @writable: let devices write to it
 * @gfp: how to allocate
 *
 * Bytes are numbered from the first of @bvecs on. Where an entry does not end and the next one does
 * not begin at the boundary of a page, the region has a gap. Such a region serves SEND, RECV,
 * WRITE and, but for iWARP, READ; it cannot be exported or exposed.
 *
 * Context: process; may sleep if @gfp permits it.
 * Return: the region or an ERR_PTR: -EINVAL if an entry is empty or longer than 1 GiB; -ENOMEM.
 */
struct kverbs_region *kverbs_k_region_of_bvecs(const struct bio_vec *bvecs, unsigned int nr,
					       bool writable, gfp_t gfp);

/**
 * kverbs_k_region_map() - map a region for the device of a connection
 * @conn: the connection, established
 * @region: the region
 *
 * The mapping stays until the region is destroyed or the device is removed, and serves all
 * connections on the device. kverbs_k_post() and kverbs_k_expose() need it.
 *
 * Context: process, may sleep.
 * Return: 0; -ENOTCONN; -ENOMEM; -EOPNOTSUPP if the device reaches the memory only through a bounce
 * buffer.
 */
int kverbs_k_region_map(struct kverbs_k_conn *conn, struct kverbs_region *region);

/**
 * kverbs_k_region_destroy() - unmap a region on all devices, and free it
 * @region: the region
 *
 * Waits for requests in flight and for exports of it. On return no device accesses the memory.
 *
 * Context: process, may sleep; not in a callback.
 */
void kverbs_k_region_destroy(struct kverbs_region *region);

/**
 * kverbs_k_region_byte() - where the kernel has a byte of a region
 * @region: the region, of pages that the kernel has mapped
 * @offset: of the byte, within the region
 *
 * Bytes of one page are contiguous, those of different pages need not be.
 *
 * Context: any.
 * Return: the address of the byte.
 */
u8 *kverbs_k_region_byte(const struct kverbs_region *region, u64 offset);

/**
 * kverbs_k_region_read() - copy bytes out of a region
 * @region: the region, of pages that the kernel has mapped
 * @offset: first byte, within the region
 * @to: filled in
 * @length: bytes, all of them within the region
 *
 * Context: any.
 */
void kverbs_k_region_read(const struct kverbs_region *region, u64 offset, void *to,
			  size_t length);

/* ---- connections --------------------------------------------------------- */

/**
 * struct kverbs_k_conn_ops - events of a connection
 * @established: requests can be posted; called from the handler of the connection manager, so it
 *	must not wait for anything
 * @ended: the connection is over, all requests have completed, and nothing of it is on the
 *	device; the last call. "error" is 0 if this side ended it, -ECANCELED before it was
 *	established; -ECONNREFUSED: the peer rejected it; -ECONNRESET: the peer ended it;
 *	-ENODEV: the device is removed; -ETIMEDOUT; -EIO: a request failed; or why it was
 *	never established
 */
struct kverbs_k_conn_ops {
	void (*established)(struct kverbs_k_conn *conn);
	void (*ended)(struct kverbs_k_conn *conn, int error);
};

/**
 * struct kverbs_k_conn_param - parameters of a connection, 0 for the default of each
 * @sq_depth: work requests in flight; default 128
 * @rq_depth: receives in flight; default 128
 * @max_sge: scatter/gather entries of a work request; default: up to 8, as the device has
 * @max_read: READs in flight in each direction; default: up to 16, as the device has
 * @softirq: call "done" in softirq context, which saves a switch to a workqueue
 * @polled: call "done" when kverbs_k_conn_poll() finds the completion; not with @softirq
 * @timeout_ms: time to become established; default 10000
 * @keepalive_ns: how long nothing may complete before the peer is probed; default: no probes
 * @priv: private data for the peer; copied
 * @priv_len: bytes of it, up to 56 to connect and 196 to accept
 */
struct kverbs_k_conn_param {
	u32 sq_depth;
	u32 rq_depth;
	u32 max_sge;
	u8 max_read;
	bool softirq;
	bool polled;
	u32 timeout_ms;
	u64 keepalive_ns;
	const void *priv;
	u8 priv_len;
};

/**
 * struct kverbs_k_conn_info - what a connection has and can do
 * @local: its address here
 * @remote: its address there
 * @max_sge: entries of a work request of SEND or WRITE
 * @max_recv_sge: entries of a RECV, which has one work request
 * @max_read_sge: entries of a work request of READ
 * @mr_pages: pages that one request can expose at most
 * @max_msg: bytes of a SEND
 * @node: NUMA node of the device, where memory is best; NUMA_NO_NODE before it is known
 * @is_polled: completions wait for kverbs_k_conn_poll()
 * @is_iwarp: immediate data and atomics are missing, and a READ needs
 *	kverbs_k_req_size.read_pages
 * @priv: private data of the peer
 * @priv_len: bytes of it
 *
 * Limits are 0 before the connection is established.
 */
struct kverbs_k_conn_info {
	struct sockaddr_storage local;
	struct sockaddr_storage remote;
	u32 max_sge;
	u32 max_recv_sge;
	u32 max_read_sge;
	u32 mr_pages;
	u64 max_msg;
	int node;
	bool is_polled;
	bool is_iwarp;
	u8 priv[196];
	u8 priv_len;
};

/**
 * kverbs_k_conn_create() - make a connection to a peer that listens
 * @net: network namespace
 * @ops: its events
 * @context: for kverbs_k_conn_context()
 * @param: its parameters
 * @src: local address, or NULL for any
 * @dst: address of the peer
 *
 * Context: process, may sleep.
 * Return: the connection, which takes receives but is not started, or an ERR_PTR: -EINVAL;
 * -ENOMEM; -EDQUOT; or the error of the connection manager.
 */
struct kverbs_k_conn *kverbs_k_conn_create(struct net *net, const struct kverbs_k_conn_ops *ops,
					   void *context,
					   const struct kverbs_k_conn_param *param,
					   const struct sockaddr *src,
					   const struct sockaddr *dst);

/**
 * kverbs_k_conn_start() - begin to connect
 * @conn: from kverbs_k_conn_create()
 *
 * Then "established" or "ended" is called, maybe before this returns.
 *
 * Context: process, may sleep.
 */
void kverbs_k_conn_start(struct kverbs_k_conn *conn);

/**
 * kverbs_k_conn_accept() - accept the request of a peer
 * @conn: from kverbs_k_listener_ops.request
 * @ops: its events
 * @context: for kverbs_k_conn_context()
 * @param: its parameters
 *
 * Context: process, may sleep; also in kverbs_k_listener_ops.request.
 * Return: 0, and then "established" or "ended" is called; -EINVAL; -ENOTCONN if the request is
 * gone; -EINTR if the task was killed; after any other error the connection ends, and "ended" is
 * called.
 */
int kverbs_k_conn_accept(struct kverbs_k_conn *conn, const struct kverbs_k_conn_ops *ops,
			 void *context, const struct kverbs_k_conn_param *param);

/**
 * kverbs_k_conn_reject() - reject the request of a peer
 * @conn: from kverbs_k_listener_ops.request; kverbs_k_conn_free() is still due
 * @priv: private data for the peer, or NULL
 * @priv_len: bytes of it, up to 148
 *
 * Context: process, may sleep; also in kverbs_k_listener_ops.request.
 * Return: 0; -EINVAL; -ENOTCONN if the request is gone; -EINTR if the task was killed.
 */
int kverbs_k_conn_reject(struct kverbs_k_conn *conn, const void *priv, u8 priv_len);

/**
 * kverbs_k_conn_end() - begin to end a connection
 * @conn: the connection, in any state
 *
 * Context: any; also in callbacks.
 */
void kverbs_k_conn_end(struct kverbs_k_conn *conn);

/**
 * kverbs_k_conn_close() - end a connection, and wait for that
 * @conn: the connection, in any state
 *
 * On return all requests have completed and "ended" has been called. With some drivers this waits
 * until the peer has answered a request to connect.
 *
 * Context: process, may sleep; not in a callback.
 */
void kverbs_k_conn_close(struct kverbs_k_conn *conn);

/**
 * kverbs_k_conn_free() - close a connection, and free it
 * @conn: the connection; its requests and exports are freed
 *
 * Context: process, may sleep; not in a callback of the connection, but also in
 * kverbs_k_listener_ops.request.
 */
void kverbs_k_conn_free(struct kverbs_k_conn *conn);

/**
 * kverbs_k_conn_context() - what the module calls a connection
 * @conn: the connection, created or accepted by the module
 *
 * Context: any.
 * Return: the context that was given.
 */
void *kverbs_k_conn_context(const struct kverbs_k_conn *conn);

/**
 * kverbs_k_conn_query() - ask about a connection
 * @conn: the connection
 * @info: filled in
 *
 * Context: process or softirq.
 */
void kverbs_k_conn_query(struct kverbs_k_conn *conn, struct kverbs_k_conn_info *info);

/**
 * kverbs_k_conn_is_up() - whether requests can be posted
 * @conn: the connection
 *
 * For a thread that polls memory, which shows the data of a peer but not that the peer is gone.
 *
 * Context: any.
 * Return: true from before "established" until the connection begins to end.
 */
bool kverbs_k_conn_is_up(const struct kverbs_k_conn *conn);

/**
 * kverbs_k_conn_poll() - handle completions of a connection that is polled
 * @conn: the connection, in any state
 *
 * Calls "done" of requests that have completed. At most about 64 completions are handled, so that
 * a thread can poll several connections fairly. Does nothing while another task polls.
 *
 * Do not stop polling while requests are in flight, but for kverbs_k_conn_end(),
 * kverbs_k_conn_close() and kverbs_k_conn_free(), which complete all of them. In particular
 * kverbs_k_region_destroy() waits for requests without polling.
 *
 * Context: process; not in a callback.
 * Return: how many completions were handled. One of them may complete several requests of a list,
 * or be of a work request of kverbs. 0 if there was none, another task polls, or the connection
 * is not polled.
 */
unsigned int kverbs_k_conn_poll(struct kverbs_k_conn *conn);

/* ---- listeners ----------------------------------------------------------- */

/**
 * struct kverbs_k_listener_ops - events of a listener
 * @request: a peer asks for a connection, which the module now owns: it accepts or rejects it, here
 *	or later, and frees it. Called in process context, for several requests at a time
 * @removed: the device of the address is removed, and no more requests come; may be NULL
 */
struct kverbs_k_listener_ops {
	void (*request)(struct kverbs_k_listener *listener, struct kverbs_k_conn *conn);
	void (*removed)(struct kverbs_k_listener *listener);
};

/**
 * kverbs_k_listener_create() - listen for peers
 * @net: network namespace
 * @ops: its events
 * @context: for kverbs_k_listener_context()
 * @addr: where to listen, in a buffer of struct sockaddr_storage; port 0 for any. Set to what was
 *	bound
 * @backlog: requests that may wait for an answer, 0: 128
 *
 * Context: process, may sleep.
 * Return: the listener or an ERR_PTR: -EADDRINUSE, -EADDRNOTAVAIL, -ENOMEM, or another error of the
 * connection manager. Requests may come before this returns.
 */
struct kverbs_k_listener *kverbs_k_listener_create(struct net *net,
						   const struct kverbs_k_listener_ops *ops,
						   void *context, struct sockaddr *addr,
						   unsigned int backlog);

/**
 * kverbs_k_listener_context() - what the module calls a listener
 * @listener: the listener
 *
 * Context: any.
 * Return: the context that was given.
 */
void *kverbs_k_listener_context(const struct kverbs_k_listener *listener);

/**
 * kverbs_k_listener_free() - stop listening
 * @listener: the listener
 *
 * On return "request" does not run and is not called any more. Connections stay.
 *
 * Context: process, may sleep; not in a callback of the listener.
 */
void kverbs_k_listener_free(struct kverbs_k_listener *listener);

/* ---- requests ------------------------------------------------------------ */

/**
 * enum kverbs_k_opcode - what a request does
 * @KVERBS_K_SEND: send a message into a receive of the peer
 * @KVERBS_K_RECV: receive one message
 * @KVERBS_K_WRITE: write to memory of the peer
 * @KVERBS_K_WRITE_IMM: write, and complete a receive of the peer with immediate data
 * @KVERBS_K_READ: read memory of the peer
 * @KVERBS_K_SEND_IMM: send a message with immediate data
 * @KVERBS_K_SEND_INV: send a message, and revoke a key that the peer has exposed or exported
 * @KVERBS_K_CMP_SWAP: replace 8 bytes of the peer if they equal @operand
 * @KVERBS_K_FETCH_ADD: add @operand to 8 bytes of the peer
 *
 * The atomics put what the 8 bytes were before into the local buffer of 8 bytes.
 */
enum kverbs_k_opcode {
	KVERBS_K_SEND = 1,
	KVERBS_K_RECV = 2,
	KVERBS_K_WRITE = 3,
	KVERBS_K_WRITE_IMM = 4,
	KVERBS_K_READ = 5,
	KVERBS_K_SEND_IMM = 6,
	KVERBS_K_SEND_INV = 7,
	KVERBS_K_CMP_SWAP = 8,
	KVERBS_K_FETCH_ADD = 9,
};

/* Bits of kverbs_k_req.flags */
#define KVERBS_K_FENCE		BIT(0)	/* begin after earlier READs have completed */
#define KVERBS_K_SOLICITED	BIT(1)	/* ask for an event at the peer */
#define KVERBS_K_UNSIGNALLED	BIT(2)	/* may complete as late as the list it is posted with */

/* Bits of kverbs_k_req.out_flags */
#define KVERBS_K_HAS_IMM	BIT(0)	/* @out_imm is valid */
#define KVERBS_K_IS_WRITE	BIT(1)	/* a WRITE_IMM of the peer completed the receive */
#define KVERBS_K_HAS_REVOKED	BIT(2)	/* @out_revoked is valid */

/* Rights of a peer */
#define KVERBS_K_REMOTE_READ	BIT(0)
#define KVERBS_K_REMOTE_WRITE	BIT(1)
#define KVERBS_K_REMOTE_ATOMIC	BIT(2)

/**
 * struct kverbs_k_segment - memory of a peer, as requests address it
 * @addr: of the first byte
 * @length: bytes
 * @rkey: its key
 */
struct kverbs_k_segment {
	u64 addr;
	u64 length;
	u32 rkey;
};

/**
 * struct kverbs_k_req - a request
 * @opcode: enum kverbs_k_opcode
 * @flags: KVERBS_K_FENCE, KVERBS_K_SOLICITED and KVERBS_K_UNSIGNALLED, but for a RECV
 * @region: the local buffer; NULL if @length is 0
 * @offset: first byte of the buffer in @region
 * @length: bytes of the buffer
 * @remote_addr: WRITE*, READ, atomics: address of the peer's memory
 * @rkey: WRITE*, READ, atomics, SEND_INV: key of the peer's memory
 * @imm: WRITE_IMM, SEND_IMM: immediate data
 * @operand: CMP_SWAP: what is expected; FETCH_ADD: what is added
 * @swap: CMP_SWAP: the new value
 * @done: called once for each successful post and for each kverbs_k_conceal() that returns 0. The
 *	request, and its memory, is the module's again
 * @context: for the module
 * @result: for @done: 0; -EIO: it failed or was flushed since the connection ends, and @wc_status
 *	says why; or another errno, which says that it was never with the device
 * @wc_status: enum ib_wc_status of the work request that failed
 * @out_flags: of a RECV, KVERBS_K_HAS_* and KVERBS_K_IS_WRITE
 * @byte_len: bytes that have arrived or were moved
 * @out_imm: of a RECV: immediate data
 * @out_revoked: of a RECV: the key of this side that the peer has revoked
 *
 * Allocated by kverbs_k_req_alloc(), zeroed but for its private part. The module fills in all up to
 * @context before each post.
 */
struct kverbs_k_req {
	enum kverbs_k_opcode opcode;
	u32 flags;
	struct kverbs_region *region;
	u64 offset;
	u64 length;
	u64 remote_addr;
	u32 rkey;
	__be32 imm;
	u64 operand;
	u64 swap;
	void (*done)(struct kverbs_k_req *req);
	void *context;
	int result;
	u32 wc_status;
	u32 out_flags;
	u64 byte_len;
	__be32 out_imm;
	u32 out_revoked;
};

/**
 * struct kverbs_k_req_size - what a request has room for
 * @sges: scatter/gather entries: one for each part of the buffer that is contiguous for the
 *	device, so at most one for each page that it touches; 0: 1
 * @expose_pages: pages of kverbs_k_expose(), up to kverbs_k_conn_info.mr_pages; 0: none
 * @read_pages: pages that the buffer of a READ touches, up to the same; it matters on iWARP only,
 *	where a READ registers its buffer
 *
 * With @expose_pages, or with @read_pages on iWARP, a request has one memory region of the device,
 * and either exposes memory or reads at a time.
 */
struct kverbs_k_req_size {
	u32 sges;
	u32 expose_pages;
	u32 read_pages;
};

/**
 * kverbs_k_req_alloc() - allocate a request, with all that it takes to post it
 * @conn: the connection, established if pages are asked for
 * @size: what it must have room for
 * @gfp: how to allocate, but for what the device needs
 *
 * A buffer that takes more entries than one work request has is moved by several, which the
 * connection has to be established for as well. SEND, RECV and atomics have one.
 *
 * Context: process, may sleep.
 * Return: the request or an ERR_PTR: -ENOMEM; -EINVAL if @size is beyond the limits of the device;
 * -ENOTCONN; -EOPNOTSUPP if the device cannot invalidate what a request exposes; -EDQUOT; or the
 * error of the device.
 */
struct kverbs_k_req *kverbs_k_req_alloc(struct kverbs_k_conn *conn,
					const struct kverbs_k_req_size *size, gfp_t gfp);

/**
 * kverbs_k_req_free() - free a request
 * @req: the request, not in flight; what it exposes is invalidated
 *
 * Context: process, may sleep; not in a callback.
 */
void kverbs_k_req_free(struct kverbs_k_req *req);

/**
 * kverbs_k_post() - post a request
 * @req: the request, not in flight; its region is mapped, unless it is a RECV of a connection that
 *	is not established yet
 *
 * Requests of a connection are processed in the order in which they are posted. A RECV can be
 * posted as soon as there is the connection, others once it is established.
 *
 * Context: process or softirq, never sleeps.
 * Return: 0, and "done" will be called, maybe before this returns; or nothing happens: -EAGAIN if
 * the queue has no room until another request completes; -ENOTCONN if the connection is not
 * established or is ending; -EINVAL for a bad request; -EMSGSIZE if the buffer takes more entries,
 * work requests or bytes than the request, the queue or the device has; -ENXIO if the region is not
 * mapped; -EOPNOTSUPP if the device or the transport lacks the operation; -EBUSY if a READ finds
 * memory exposed; or the error of the device.
 */
int kverbs_k_post(struct kverbs_k_req *req);

/**
 * kverbs_k_batch_alloc() - allocate room to post requests of a connection together
 * @conn: the connection
 * @nr: requests that go to the device at a time, 1 to 4096; longer lists take several turns
 * @gfp: how to allocate
 *
 * Context: process; may sleep if @gfp permits it.
 * Return: the room or an ERR_PTR: -EINVAL, -ENOMEM.
 */
struct kverbs_k_batch *kverbs_k_batch_alloc(struct kverbs_k_conn *conn, unsigned int nr,
					    gfp_t gfp);

/**
 * kverbs_k_batch_free() - free the room
 * @batch: the room, not in use, or NULL; its connection may be gone
 *
 * Context: process.
 */
void kverbs_k_batch_free(struct kverbs_k_batch *batch);

/**
 * kverbs_k_post_list() - post requests together
 * @batch: room for that, of the same connection; the caller serialises its use
 * @reqs: the requests, each as for kverbs_k_post(), and none twice
 * @nr: how many
 * @error: why not all were posted, as for kverbs_k_post(); else 0
 *
 * Consecutive requests of one work request each are handed to the device with one doorbell. Their
 * completions are coalesced: the device tells of one for up to 32 requests or 16 KiB, or of the
 * last one only if the others are KVERBS_K_UNSIGNALLED. "done" is called for each request, in
 * order. RECVs, requests of several work requests, atomics, those that expose memory, and READs on
 * iWARP are handed over one by one, in their order.
 *
 * Context: process or softirq, never sleeps.
 * Return: how many were posted, from the first on. "done" is called for these, maybe before this
 * returns, and the others are the module's.
 */
unsigned int kverbs_k_post_list(struct kverbs_k_batch *batch, struct kverbs_k_req **reqs,
				unsigned int nr, int *error);

/**
 * kverbs_k_expose() - let the peer access memory from the next post of a request on
 * @req: the request, with kverbs_k_req_size.expose_pages; not in flight, with nothing exposed
 * @region: the memory, mapped, without gaps
 * @offset: first byte
 * @length: bytes, at least 1
 * @rights: KVERBS_K_REMOTE_*, at least one; WRITE and ATOMIC need a writable region
 * @segment: filled in, to be told to the peer by the message that is posted next
 *
 * The registration goes with the work requests of the next kverbs_k_post() of @req, ahead of them,
 * so a SEND may carry @segment. It stays until kverbs_k_conceal(), kverbs_k_req_free() or the end
 * of the connection.
 *
 * Context: process or softirq, never sleeps.
 * Return: 0; -EINVAL; -EBUSY if something is exposed; -ENXIO if the region is not mapped; -EMSGSIZE
 * if the range has more pages than the request; -ENOTCONN; -EOPNOTSUPP for want of atomics; or the
 * error of the device.
 */
int kverbs_k_expose(struct kverbs_k_req *req, struct kverbs_region *region, u64 offset,
		    u64 length, u32 rights, struct kverbs_k_segment *segment);

/**
 * kverbs_k_conceal() - end the access that kverbs_k_expose() gave
 * @req: the request, not in flight
 *
 * Either the peer revokes a key by SEND_INV, or this side conceals it: if both do so at a time the
 * connection may end. A protocol lets the peer revoke, and calls this after the receive
 * that has told of it.
 *
 * Context: process or softirq, never sleeps.
 * Return: 1 if the peer cannot access the memory any more, since it has revoked the key or the
 * registration was not posted; 0: "done" will be called when that is so; -EAGAIN if the
 * queue has no room; -EINVAL if nothing is exposed; -EBUSY if the registration has not completed;
 * -ENOTCONN: the access ends with the connection, before "ended"; or the error of the device.
 */
int kverbs_k_conceal(struct kverbs_k_req *req);

/* ---- exports ------------------------------------------------------------- */

/**
 * kverbs_k_export_create() - let the peer access memory for long
 * @conn: the connection, established
 * @region: the memory, without gaps
 * @offset: first byte
 * @length: bytes, at least 1
 * @rights: KVERBS_K_REMOTE_*, at least one; WRITE and ATOMIC need a writable region
 * @segments: filled in, to be told to the peer, which may use them at once
 * @nr: entries of @segments; set to how many it takes, also if that is more
 *
 * Waits for the device, not for the peer.
 *
 * Context: process, may sleep; not in a callback.
 * Return: the export or an ERR_PTR: -EINVAL; -EMSGSIZE if there is too little room; -ENOTCONN;
 * -ENOMEM; -EOPNOTSUPP for want of atomics; -EIO: the connection has ended; -EINTR: the task was
 * killed.
 */
struct kverbs_export *kverbs_k_export_create(struct kverbs_k_conn *conn,
					     struct kverbs_region *region, u64 offset,
					     u64 length, u32 rights,
					     struct kverbs_k_segment *segments,
					     unsigned int *nr);

/**
 * kverbs_k_export_destroy() - end the access of a peer, and free the export
 * @export: the export; its connection is not freed
 *
 * Context: process, may sleep; not in a callback.
 * Return: 0 if the peer cannot access the memory any more, if necessary since the connection has
 * been closed for that; -EINTR: the task was killed, and the access ends with the connection.
 */
int kverbs_k_export_destroy(struct kverbs_export *export);

#endif /* _KVERBS_KVERBS_H */
