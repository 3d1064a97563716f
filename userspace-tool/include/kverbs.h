/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * libkverbs: connect, register, export, read, write, send, wait.
 *
 * Every function that can fail returns 0 (or a count) or a negative errno and
 * leaves errno alone. Timeouts are milliseconds: 0 does not wait, negative
 * waits for ever. All functions may be called from any thread; one connection
 * may be used by several threads at a time. Objects must outlive the calls that
 * use them.
 *
 * Whatever waits may also return -EINTR, when a signal handler has run, and from
 * a request's callback -EDEADLK at once. Both leave things as -ETIMEDOUT does.
 *
 * Structs may grow at their ends. Options begin with their own size, and functions that
 * fill in a struct of the uAPI take it as an argument: a program that was built with an
 * older library gets what it knows of, one built with a newer finds zeros in the rest.
 */
#ifndef KVERBS_H
#define KVERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include <linux/kverbs.h>

#ifdef __cplusplus
extern "C" {
#endif

#define KVERBS_API __attribute__((visibility("default")))

/* A context: an open file, its ring, and what was made with it. */
struct kverbs;
/* A connection, from CONNECT or from a listener's request to kverbs_conn_free. */
struct kverbs_conn;
/* A listener. */
struct kverbs_listener;
/* Registered memory. */
struct kverbs_buf;

/* Each part that a line such as the next one begins is a manual page, see scripts/lib/kdoc.py. */
/* ---- context ---------------------------------------------------------- */

/**
 * struct kverbs_opts - how to open a context
 * @sz: sizeof(struct kverbs_opts)
 * @path: the device node, NULL: /dev/kverbs
 * @sq_entries: submission entries, a power of two, 0: 256
 * @cq_entries: completions, a power of two, 0: 4096
 * @busy_poll: waiting polls the device instead of sleeping: the shortest latency,
 *	for a whole CPU. Operations complete only while a thread waits, in
 *	kverbs_process() or elsewhere, and kverbs_fd() reports only connections.
 * @softirq: the kernel takes completions in a softirq, not in a thread; not with
 *	@busy_poll
 */
struct kverbs_opts {
	size_t sz;
	const char *path;
	unsigned int sq_entries;
	unsigned int cq_entries;
	bool busy_poll;
	bool softirq;
};

/**
 * kverbs_open() - open a context with its ring
 * @kv: where to put it
 * @opts: options, or NULL
 *
 * Return: 0; -ENOENT, -EACCES: the node is missing or not for us; -EPROTO: the
 * module's ABI is not ours; -EINVAL, -ENOMEM.
 */
KVERBS_API int kverbs_open(struct kverbs **kv, const struct kverbs_opts *opts);

/**
 * kverbs_close() - close a context and everything that is left in it
 * @kv: the context, or NULL
 *
 * Connections, listeners and buffers that were not freed are freed.
 */
KVERBS_API void kverbs_close(struct kverbs *kv);

/**
 * kverbs_fd() - a descriptor that polls readable while completions are unread
 * @kv: the context
 *
 * Return: the descriptor; for poll(2) and its like only. Call kverbs_process()
 * when it is readable.
 */
KVERBS_API int kverbs_fd(const struct kverbs *kv);

/**
 * kverbs_process() - read completions and run callbacks
 * @kv: the context
 * @timeout_ms: how long to wait for the first one
 *
 * Return: the number of completions read meanwhile, by this thread or another one,
 * 0 if the time ran out, -errno.
 */
KVERBS_API int kverbs_process(struct kverbs *kv, int timeout_ms);

/**
 * kverbs_info() - what the module can do
 * @kv: the context
 * @info: filled in
 * @sz: sizeof(struct kverbs_cmd_info)
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_info(struct kverbs *kv, struct kverbs_cmd_info *info, size_t sz);

/**
 * struct kverbs_device - a device with its ports and used GIDs
 * @attr: what KVERBS_DEVICE_QUERY says of it; what comes to be said one day stands there
 * @ports: @nr_ports of them
 * @gids: @nr_gids of them
 * @nr_ports: ports
 * @nr_gids: GIDs
 */
struct kverbs_device {
	const struct kverbs_cmd_device_query *attr;
	struct kverbs_port *ports;
	struct kverbs_gid *gids;
	unsigned int nr_ports;
	unsigned int nr_gids;
};

/**
 * kverbs_device_list() - all devices
 * @kv: the context
 * @list: where to put the array; free it with kverbs_device_list_free()
 *
 * Return: the number of devices or -errno.
 */
KVERBS_API int kverbs_device_list(struct kverbs *kv, struct kverbs_device **list);

/**
 * kverbs_device_list_free() - free what kverbs_device_list() gave
 * @list: the array, or NULL
 * @nr: its length
 */
KVERBS_API void kverbs_device_list_free(struct kverbs_device *list, int nr);

/* ---- memory ----------------------------------------------------------- */

/**
 * kverbs_buf_alloc() - allocate page-aligned, zeroed memory and register it
 * @kv: the context
 * @size: bytes, at least 1
 * @buf: where to put it
 *
 * Return: 0, -EPERM or -ENOMEM (RLIMIT_MEMLOCK, memory), another -errno.
 */
KVERBS_API int kverbs_buf_alloc(struct kverbs *kv, size_t size,
				struct kverbs_buf **buf);

/**
 * kverbs_buf_register() - register the caller's own memory
 * @kv: the context
 * @addr: its start, any alignment
 * @size: bytes, at least 1
 * @flags: 0 or KVERBS_REGION_READ_ONLY
 * @buf: where to put it
 *
 * Return: 0, -EPERM or -ENOMEM (RLIMIT_MEMLOCK, memory), -EFAULT or
 * -EOPNOTSUPP (memory that cannot be pinned), another -errno.
 */
KVERBS_API int kverbs_buf_register(struct kverbs *kv, void *addr, size_t size,
				   unsigned int flags, struct kverbs_buf **buf);

/**
 * kverbs_buf_free() - unregister, and free what kverbs_buf_alloc() allocated
 * @buf: the buffer, or NULL
 *
 * Return: 0, or -EBUSY while an export or a request uses it.
 */
KVERBS_API int kverbs_buf_free(struct kverbs_buf *buf);

/**
 * kverbs_buf_addr() - where a buffer starts
 * @buf: the buffer
 *
 * Return: its address.
 */
KVERBS_API void *kverbs_buf_addr(const struct kverbs_buf *buf);

/**
 * kverbs_buf_size() - how long a buffer is
 * @buf: the buffer
 *
 * Return: bytes.
 */
KVERBS_API size_t kverbs_buf_size(const struct kverbs_buf *buf);

/* ---- connections ------------------------------------------------------ */

/**
 * struct kverbs_conn_opts - how to connect or accept
 * @sz: sizeof(struct kverbs_conn_opts)
 * @param: depths, retries and timers; zero is default
 * @source: local address (a name or number) to connect from, or NULL
 * @priv: private data for the peer
 * @priv_len: its length: at most KVERBS_PRIV_CONNECT_MAX or _ACCEPT_MAX
 * @timeout_ms: how long it may take, 0: 10000, negative: for ever
 */
struct kverbs_conn_opts {
	size_t sz;
	struct kverbs_conn_param param;
	const char *source;
	const void *priv;
	size_t priv_len;
	int timeout_ms;
};

/**
 * kverbs_connect() - connect to a host and wait until it is done
 * @kv: the context
 * @host: name or number; "fe80::1%eth0" for a link-local address
 * @port: service name or port number
 * @opts: options, or NULL
 * @conn: where to put the connection
 *
 * Tries every address that @host resolves to. A peer that sends as soon as it has
 * accepted must find a receive: on iWARP the connection ends if there is none. For
 * that use kverbs_connect_start(), kverbs_recv(), kverbs_conn_wait().
 *
 * Return: 0; -ECONNREFUSED, -ETIMEDOUT, -EHOSTUNREACH, -ENETUNREACH, -ENODEV;
 * -ENXIO: the name does not resolve; another -errno.
 */
KVERBS_API int kverbs_connect(struct kverbs *kv, const char *host, const char *port,
			      const struct kverbs_conn_opts *opts,
			      struct kverbs_conn **conn);

/**
 * kverbs_connect_start() - begin to connect to one address
 * @kv: the context
 * @dst: the peer
 * @opts: options, or NULL
 * @conn: where to put the connection
 *
 * Receives may be posted at once. Wait with kverbs_conn_wait().
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_connect_start(struct kverbs *kv, const struct sockaddr *dst,
				    const struct kverbs_conn_opts *opts,
				    struct kverbs_conn **conn);

/**
 * kverbs_conn_wait() - wait until a connection is up, or has failed
 * @conn: the connection
 * @timeout_ms: how long
 *
 * Return: 0 established; -ETIMEDOUT not yet; otherwise why it failed.
 */
KVERBS_API int kverbs_conn_wait(struct kverbs_conn *conn, int timeout_ms);

/**
 * kverbs_listen() - listen for connections
 * @kv: the context
 * @host: local name or number, NULL: any
 * @port: service name or port number, NULL or "0": any
 * @backlog: requests that may wait, 0: 128
 * @listener: where to put it
 *
 * Return: 0, -EADDRINUSE, -EADDRNOTAVAIL, -EACCES, another -errno.
 */
KVERBS_API int kverbs_listen(struct kverbs *kv, const char *host, const char *port,
			     unsigned int backlog,
			     struct kverbs_listener **listener);

/**
 * kverbs_listener_port() - the port that a listener is bound to
 * @listener: the listener
 *
 * Return: port in host order.
 */
KVERBS_API uint16_t kverbs_listener_port(const struct kverbs_listener *listener);

/**
 * kverbs_listener_free() - stop listening; requests not taken are refused
 * @listener: the listener, or NULL
 */
KVERBS_API void kverbs_listener_free(struct kverbs_listener *listener);

/**
 * kverbs_next_request() - wait for a connection request
 * @listener: the listener
 * @timeout_ms: how long
 * @conn: where to put the connection that a peer asks for
 *
 * Look at kverbs_conn_priv() and kverbs_conn_query(), post receives with
 * kverbs_recv(), then kverbs_accept() or kverbs_reject() it.
 *
 * Return: 0, -ETIMEDOUT, -ENODEV (the listener lost its device), -errno.
 */
KVERBS_API int kverbs_next_request(struct kverbs_listener *listener, int timeout_ms,
				   struct kverbs_conn **conn);

/**
 * kverbs_accept() - accept a request and wait until the connection is up
 * @conn: from kverbs_next_request()
 * @opts: options, or NULL; @timeout_ms 0: 10000
 *
 * Return: 0, even if the peer has left since: what it sent before is there; or -errno,
 * and the connection is still there to be freed.
 */
KVERBS_API int kverbs_accept(struct kverbs_conn *conn,
			     const struct kverbs_conn_opts *opts);

/**
 * kverbs_accept_start() - accept a request without waiting
 * @conn: from kverbs_next_request()
 * @opts: options, or NULL
 *
 * Return: 0 or -errno. Wait with kverbs_conn_wait().
 */
KVERBS_API int kverbs_accept_start(struct kverbs_conn *conn,
				   const struct kverbs_conn_opts *opts);

/**
 * kverbs_reject() - refuse a request, and free the connection
 * @conn: from kverbs_next_request()
 * @priv: private data for the peer, or NULL
 * @priv_len: its length, at most KVERBS_PRIV_REJECT_MAX
 *
 * Return: 0 or -errno; the connection is freed either way.
 */
KVERBS_API int kverbs_reject(struct kverbs_conn *conn, const void *priv,
			     size_t priv_len);

/**
 * kverbs_disconnect() - begin to end a connection
 * @conn: the connection
 *
 * What is outstanding completes with -EIO, flushed.
 *
 * Return: 0 or -ENOTCONN.
 */
KVERBS_API int kverbs_disconnect(struct kverbs_conn *conn);

/**
 * kverbs_conn_free() - end and free a connection, its tokens and requests
 * @conn: the connection, or NULL
 *
 * Requests not complete yet are completed with -ECANCELED before it returns.
 */
KVERBS_API void kverbs_conn_free(struct kverbs_conn *conn);

/**
 * kverbs_conn_error() - why a connection ended
 * @conn: the connection
 *
 * Return: 0 while it has not ended, else -errno: -ECONNRESET if the peer ended
 * it, -ENODEV if the device went away, and so on.
 */
KVERBS_API int kverbs_conn_error(struct kverbs_conn *conn);

/**
 * kverbs_conn_query() - all that the kernel knows of a connection
 * @conn: the connection
 * @query: filled in; the private data fields are left zero
 * @sz: sizeof(struct kverbs_cmd_conn_query)
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_conn_query(struct kverbs_conn *conn,
				 struct kverbs_cmd_conn_query *query, size_t sz);

/**
 * kverbs_conn_priv() - the peer's private data
 * @conn: the connection
 * @buf: where to copy it
 * @len: room there
 *
 * Return: bytes copied, maybe padded with zeroes by the CM; or -errno.
 */
KVERBS_API int kverbs_conn_priv(struct kverbs_conn *conn, void *buf, size_t len);

/**
 * kverbs_conn_set_data() - hang something of the caller's on a connection
 * @conn: the connection
 * @data: what kverbs_conn_data() shall return
 */
KVERBS_API void kverbs_conn_set_data(struct kverbs_conn *conn, void *data);

/**
 * kverbs_conn_data() - what kverbs_conn_set_data() was given
 * @conn: the connection
 *
 * Return: it, or NULL.
 */
KVERBS_API void *kverbs_conn_data(const struct kverbs_conn *conn);

/**
 * kverbs_addr_format() - write an address as text
 * @addr: the address
 * @buf: where to
 * @len: room there, 64 is enough
 *
 * Return: @buf: "192.0.2.1:7472", "[2001:db8::1]:7472", or "-" if there is none.
 */
KVERBS_API const char *kverbs_addr_format(const struct kverbs_addr *addr, char *buf,
					  size_t len);

/* ---- exports and tokens ------------------------------------------------ */

/**
 * struct kverbs_token - remote access to a range of a buffer
 * @length: bytes it covers
 * @access: KVERBS_REMOTE_*
 * @nr_segs: segments
 * @segs: the segments, in order
 * @id: the export's id on the exporter's side, 0 on the peer's
 *
 * The exporter sends it to the peer packed; how it travels is up to them. A peer
 * with a protocol of its own names memory by address, key and length: a token for
 * that is made by hand, from one segment and @length, @access, @nr_segs and @segs,
 * and need not be freed. Likewise @segs tell such a peer what an export is called.
 */
struct kverbs_token {
	uint64_t length;
	uint32_t access;
	uint32_t nr_segs;
	struct kverbs_segment *segs;
	uint32_t id;
};

/**
 * kverbs_export() - let the connection's peer at a range of a buffer
 * @conn: an established connection
 * @buf: the buffer
 * @offset: first byte
 * @length: bytes, at least 1
 * @access: KVERBS_REMOTE_READ, _WRITE and _ATOMIC, or some of them
 * @token: filled in; kverbs_unexport() it
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_export(struct kverbs_conn *conn, struct kverbs_buf *buf,
			     size_t offset, size_t length, unsigned int access,
			     struct kverbs_token *token);

/**
 * kverbs_unexport() - take an export back
 * @conn: the connection it was made on
 * @token: from kverbs_export(); freed
 *
 * When it returns the peer can no longer reach the memory.
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_unexport(struct kverbs_conn *conn, struct kverbs_token *token);

/**
 * kverbs_token_packed_size() - bytes that a packed token takes
 * @token: the token
 *
 * Return: bytes.
 */
KVERBS_API size_t kverbs_token_packed_size(const struct kverbs_token *token);

/**
 * kverbs_token_pack() - write a token in the form that any host can read
 * @token: the token
 * @buf: where to
 * @len: room there
 *
 * Return: bytes written or -EMSGSIZE. The form is in Documentation/reference/protocol.rst.
 */
KVERBS_API int kverbs_token_pack(const struct kverbs_token *token, void *buf,
				 size_t len);

/**
 * kverbs_token_unpack() - read a packed token
 * @token: filled in; free it with kverbs_token_free()
 * @buf: the packed token, from a peer that need not be trusted
 * @len: bytes there are
 *
 * Return: bytes read, -EBADMSG if it is none, -ENOMEM.
 */
KVERBS_API int kverbs_token_unpack(struct kverbs_token *token, const void *buf,
				   size_t len);

/**
 * kverbs_token_free() - free a token that kverbs_token_unpack() gave
 * @token: the token
 */
KVERBS_API void kverbs_token_free(struct kverbs_token *token);

/* ---- requests --------------------------------------------------------- */

struct kverbs_req;

/**
 * typedef kverbs_done_fn - what to call when a request is complete
 * @req: the request; it may be used again from here
 *
 * Called by the thread that happens to process completions, with no lock of the
 * library held: one that waits, or one that posts and had to wait for room. It
 * may post, but not wait. The callbacks of a context run one at a time and in
 * the order of completion.
 */
typedef void (*kverbs_done_fn)(struct kverbs_req *req);

/**
 * struct kverbs_req - one request, in memory of the caller's
 * @done: called on completion, or NULL; set it before posting
 * @data: the caller's, not looked at
 * @result: 0 or -errno, valid once complete: -EIO for a failed work request,
 *	-ECANCELED if the connection was freed first
 * @wc_status: the first failed work request's status, see kverbs_wc_status_str()
 * @flags: KVERBS_CQE_F_*
 * @imm: immediate data as the peer gave it, or the key that it took back
 * @byte_len: bytes moved
 * @priv: the library's
 *
 * Zero it before its first use. It must stay where it is until complete.
 */
struct kverbs_req {
	kverbs_done_fn done;
	void *data;
	int result;
	unsigned int wc_status;
	unsigned int flags;
	uint32_t imm;
	uint64_t byte_len;
	struct {
		struct kverbs *kv;
		struct kverbs_conn *conn;
		struct kverbs_req *next, *prev, *early;
		unsigned int pending;
		int state;
		uint64_t reserved[2];
	} priv;
};

/**
 * kverbs_send() - send a message
 * @conn: the connection
 * @buf: where it is; may be NULL if @length is 0
 * @offset: where it starts there
 * @length: its length
 * @req: the request
 *
 * This function, like all below that post, waits for room in the queues if there is
 * none, until the connection ends, and completes other operations in the meantime.
 *
 * Return: 0 posted, else -errno, and @req will not complete: -EBUSY it is in use,
 * -EINVAL not within the buffer, -ENOTCONN not up yet, or why the connection
 * ended.
 */
KVERBS_API int kverbs_send(struct kverbs_conn *conn, struct kverbs_buf *buf,
			   size_t offset, size_t length, struct kverbs_req *req);

/**
 * kverbs_send_imm() - send a message with four bytes for its completion
 * @conn: the connection
 * @buf: where it is; may be NULL if @length is 0
 * @offset: where it starts there
 * @length: its length
 * @imm: the four bytes, as they are
 * @req: the request
 *
 * Return: as kverbs_send(), or -EOPNOTSUPP on iWARP.
 */
KVERBS_API int kverbs_send_imm(struct kverbs_conn *conn, struct kverbs_buf *buf,
			       size_t offset, size_t length, uint32_t imm,
			       struct kverbs_req *req);

/**
 * kverbs_send_inv() - send a message and take a key of the peer's export back
 * @conn: the connection
 * @buf: where it is; may be NULL if @length is 0
 * @offset: where it starts there
 * @length: its length
 * @rkey: the key of a segment of the peer's token
 * @req: the request
 *
 * The peer's receive says which: KVERBS_CQE_F_INV is in its flags, the key in its
 * imm. A key that is none ends the connection.
 *
 * Return: as kverbs_send().
 */
KVERBS_API int kverbs_send_inv(struct kverbs_conn *conn, struct kverbs_buf *buf,
			       size_t offset, size_t length, uint32_t rkey,
			       struct kverbs_req *req);

/**
 * struct kverbs_vec - one of several pieces of a message
 * @buf: where it is
 * @offset: where it starts there
 * @length: bytes, at least 1
 */
struct kverbs_vec {
	struct kverbs_buf *buf;
	size_t offset;
	size_t length;
};

/**
 * kverbs_sendv() - send a message that lies in pieces
 * @conn: the connection
 * @vec: the pieces, in order; not used after the call
 * @nr: how many, 1 to KVERBS_LIST_MAX
 * @req: the request
 *
 * Return: as kverbs_send(); -EMSGSIZE if they take more scatter/gather entries
 * than the connection has.
 */
KVERBS_API int kverbs_sendv(struct kverbs_conn *conn, const struct kverbs_vec *vec,
			    size_t nr, struct kverbs_req *req);

/**
 * kverbs_recvv() - post a receive whose message goes into pieces
 * @conn: the connection, which need not be established yet
 * @vec: the pieces, filled in order; not used after the call
 * @nr: how many, 1 to KVERBS_LIST_MAX
 * @req: the request; it fails if they take more scatter/gather entries than the
 *	connection has
 *
 * Return: as kverbs_recv().
 */
KVERBS_API int kverbs_recvv(struct kverbs_conn *conn, const struct kverbs_vec *vec,
			    size_t nr, struct kverbs_req *req);

/**
 * kverbs_recv() - post a receive
 * @conn: the connection, which need not be established yet
 * @buf: where the message shall go
 * @offset: where there
 * @length: how long it may be
 * @req: the request
 *
 * A message that comes before this side knows that the connection is up completes
 * when it does, so that its callback can answer.
 *
 * Return: 0 posted, -EAGAIN the receive queue is full, else -errno.
 */
KVERBS_API int kverbs_recv(struct kverbs_conn *conn, struct kverbs_buf *buf,
			   size_t offset, size_t length, struct kverbs_req *req);

/**
 * kverbs_write() - write into what a peer's token covers
 * @conn: the connection
 * @buf: the source
 * @offset: where it starts in @buf
 * @length: bytes
 * @token: the peer's token
 * @remote_offset: where to in the token's range
 * @req: the request
 *
 * Splits at the token's segments; @req completes once, when all is done.
 *
 * Return: 0 posted, -ERANGE not within the token, -EACCES not its right, else
 * -errno.
 */
KVERBS_API int kverbs_write(struct kverbs_conn *conn, struct kverbs_buf *buf,
			    size_t offset, size_t length,
			    const struct kverbs_token *token, uint64_t remote_offset,
			    struct kverbs_req *req);

/**
 * kverbs_write_imm() - the same, and complete a receive of the peer
 * @conn: the connection
 * @buf: the source; may be NULL if @length is 0
 * @offset: where it starts in @buf
 * @length: bytes
 * @token: the peer's token; may be NULL if @length is 0
 * @remote_offset: where to in the token's range
 * @imm: four bytes for the peer, as they are
 * @req: the request
 *
 * Return: as kverbs_write(), or -EOPNOTSUPP on iWARP.
 */
KVERBS_API int kverbs_write_imm(struct kverbs_conn *conn, struct kverbs_buf *buf,
				size_t offset, size_t length,
				const struct kverbs_token *token,
				uint64_t remote_offset, uint32_t imm,
				struct kverbs_req *req);

/**
 * kverbs_read() - read from what a peer's token covers
 * @conn: the connection
 * @buf: the sink
 * @offset: where to in @buf
 * @length: bytes
 * @token: the peer's token
 * @remote_offset: where from in the token's range
 * @req: the request
 *
 * Return: as kverbs_write().
 */
KVERBS_API int kverbs_read(struct kverbs_conn *conn, struct kverbs_buf *buf,
			   size_t offset, size_t length,
			   const struct kverbs_token *token, uint64_t remote_offset,
			   struct kverbs_req *req);

/**
 * kverbs_fetch_add() - add to 8 bytes of what a peer's token covers
 * @conn: the connection
 * @buf: where what was there goes to
 * @offset: where there; those 8 bytes are aligned in memory
 * @token: the peer's token, for KVERBS_REMOTE_ATOMIC
 * @remote_offset: where in the token's range; a multiple of 8 in the peer's memory
 * @add: what to add, modulo 2^64
 * @req: the request
 *
 * Both hosts must have the same byte order. No other atomic of the peer's device
 * comes between reading and writing; what the peer's processor does may, unless
 * the device says otherwise.
 *
 * Return: as kverbs_write(); -EINVAL not aligned; -EOPNOTSUPP iWARP, or the
 * device has no atomics.
 */
KVERBS_API int kverbs_fetch_add(struct kverbs_conn *conn, struct kverbs_buf *buf,
				size_t offset, const struct kverbs_token *token,
				uint64_t remote_offset, uint64_t add,
				struct kverbs_req *req);

/**
 * kverbs_cmp_swap() - replace 8 bytes of what a peer's token covers, if as expected
 * @conn: the connection
 * @buf: where what was there goes to
 * @offset: where there; those 8 bytes are aligned in memory
 * @token: the peer's token, for KVERBS_REMOTE_ATOMIC
 * @remote_offset: where in the token's range; a multiple of 8 in the peer's memory
 * @expected: what must be there
 * @desired: what is then put there
 * @req: the request; it succeeds either way: look at what was there
 *
 * Return: as kverbs_fetch_add().
 */
KVERBS_API int kverbs_cmp_swap(struct kverbs_conn *conn, struct kverbs_buf *buf,
			       size_t offset, const struct kverbs_token *token,
			       uint64_t remote_offset, uint64_t expected,
			       uint64_t desired, struct kverbs_req *req);

/**
 * struct kverbs_op - an operation, for kverbs_post()
 * @opcode: enum kverbs_opcode
 * @imm: SEND_IMM, WRITE_IMM: four bytes for the peer, as they are
 * @rkey: SEND_INV: the key to take back
 * @buf: the local buffer
 * @offset: where it starts in @buf
 * @length: bytes; an atomic's are 8, whatever this says
 * @token: WRITE, WRITE_IMM, READ, atomics: the peer's
 * @remote_offset: where in the token's range
 * @operand: FETCH_ADD: what to add; CMP_SWAP: what must be there
 * @swap: CMP_SWAP: what is then put there
 * @req: the request; NULL: it completes in silence, which a RECV cannot
 *
 * All as the operation's own function has it. What an opcode does not have is not
 * looked at.
 */
struct kverbs_op {
	unsigned int opcode;
	uint32_t imm;
	uint32_t rkey;
	struct kverbs_buf *buf;
	size_t offset;
	size_t length;
	const struct kverbs_token *token;
	uint64_t remote_offset;
	uint64_t operand;
	uint64_t swap;
	struct kverbs_req *req;
};

/**
 * kverbs_post() - post operations together
 * @conn: the connection
 * @ops: the operations, in order; not used after the call
 * @nr: how many
 *
 * They are handed over in as few system calls as the context's sq_entries let. Where
 * there is no room it waits, as kverbs_send() does, but not for room for a receive.
 *
 * An operation without a request costs no completion. It is known to be complete when
 * a request is that was posted after it on this connection, other than a receive's. If
 * it fails, so does that request, with its status, and the connection ends. It ends as
 * well if such an operation goes over several segments and only some can be posted.
 *
 * Return: how many were posted, from the first on, and the requests of the others will
 * not complete; -errno if none was: why the first one was not, as its own function
 * says it.
 */
KVERBS_API int kverbs_post(struct kverbs_conn *conn, const struct kverbs_op *ops,
			   size_t nr);

/**
 * kverbs_post_wait() - post an operation, then wait until a request is complete
 * @conn: the connection
 * @op: the operation
 * @req: the request, often @op's own, or that of the receive for the answer
 * @timeout_ms: how long
 *
 * As kverbs_post() and then kverbs_wait(), with one system call if no other thread waits
 * at the moment.
 *
 * Return: as kverbs_post() if @op was not posted, and its request is not in use then;
 * else as kverbs_wait(). Both may be -EINTR: in the first case kverbs_wait() says -EINVAL
 * of @op's request at once.
 */
KVERBS_API int kverbs_post_wait(struct kverbs_conn *conn, const struct kverbs_op *op,
				struct kverbs_req *req, int timeout_ms);

/**
 * kverbs_wait() - wait until a request is complete
 * @req: the request
 * @timeout_ms: how long
 *
 * A request with a callback is waited for until that has returned.
 *
 * Return: the request's result; -ETIMEDOUT, -EINTR: not complete, @req is still
 * in use; -EINVAL: it was never posted.
 */
KVERBS_API int kverbs_wait(struct kverbs_req *req, int timeout_ms);

/**
 * kverbs_watch() - wait until a peer has changed a byte
 * @conn: the connection that it comes by, whose end ends the wait
 * @byte: its address, often the last byte of what the peer is to write
 * @old: what it has been so far
 * @timeout_ms: how long
 *
 * A peer's WRITE or atomic generates no completion on this side. The calling thread
 * polls all the time, yields the processor to other threads, and runs callbacks of
 * operations that complete. RDMA does not promise in which order the bytes of a WRITE
 * arrive, but today's devices put the last one last.
 *
 * Return: 0 the byte is other than @old; -ETIMEDOUT; -EINTR; -EDEADLK: from a callback;
 * else what ended the connection.
 */
KVERBS_API int kverbs_watch(struct kverbs_conn *conn, const void *byte, uint8_t old,
			    int timeout_ms);

/**
 * kverbs_post_watch() - post an operation, then wait until a peer has changed a byte
 * @conn: the connection
 * @op: the operation
 * @byte: its address
 * @old: what it has been so far
 * @timeout_ms: how long
 *
 * As kverbs_post() and then kverbs_watch(), with one system call if no other thread waits
 * at the moment.
 *
 * Return: as kverbs_post() if @op was not posted, and its request is not in use then;
 * else as kverbs_watch(), while @op may not be complete yet. -EINTR as with
 * kverbs_post_wait().
 */
KVERBS_API int kverbs_post_watch(struct kverbs_conn *conn, const struct kverbs_op *op,
				 const void *byte, uint8_t old, int timeout_ms);

/**
 * kverbs_complete() - whether a request is complete
 * @req: the request
 *
 * Return: true if it is, without looking for new completions. Its callback may
 * still be running then, in another thread.
 */
KVERBS_API bool kverbs_complete(const struct kverbs_req *req);

/* ---- measuring -------------------------------------------------------- */

/**
 * struct kverbs_bench_opts - traffic for the kernel to make
 * @sz: sizeof(struct kverbs_bench_opts)
 * @flags: KVERBS_BENCH_*
 * @opcode: KVERBS_OP_SEND, SEND_IMM, WRITE, WRITE_IMM, READ or FETCH_ADD, of 1
 * @buf: where all local bytes are
 * @offset: of the operations' buffer in it
 * @length: bytes of an operation
 * @token: the peer's memory, for all but SEND*, else NULL
 * @remote_offset: of the operations in it
 * @depth: operations in flight, 0: 1
 * @post_list: operations posted together, 0: 1
 * @cq_mod: of so many operations one tells of those before it, too, 0: each does
 * @warm_up: operations before it counts
 * @iterations: operations that count, or 0 with @duration_ms
 * @duration_ms: how long it counts, or 0 with @iterations
 * @timeout_ms: how long nothing may complete, 0: 10000
 * @recvs: receives to keep posted
 * @recv_offset: of the first one's buffer in @buf; of a WRITE's latency where the peer
 *	answers
 * @recv_length: bytes of each
 * @recv_stride: from one receive's buffer to the next one's
 * @credit: messages that the peer has receives for to begin with, or 0
 */
struct kverbs_bench_opts {
	size_t sz;
	unsigned int flags;
	unsigned int opcode;
	struct kverbs_buf *buf;
	size_t offset;
	size_t length;
	const struct kverbs_token *token;
	size_t remote_offset;
	unsigned int depth;
	unsigned int post_list;
	unsigned int cq_mod;
	uint64_t warm_up;
	uint64_t iterations;
	unsigned int duration_ms;
	unsigned int timeout_ms;
	unsigned int recvs;
	size_t recv_offset;
	unsigned int recv_length;
	unsigned int recv_stride;
	unsigned int credit;
};

/**
 * kverbs_bench() - have the kernel make traffic on a connection, and time it
 * @conn: an established connection with nothing in flight, which it has to itself
 * @opts: what traffic; struct kverbs_cmd_bench says how the two sides play together
 * @result: filled in; its out_ fields are what came of it
 * @sz: sizeof(struct kverbs_cmd_bench)
 * @hist: with KVERBS_BENCH_LATENCY room for KVERBS_BENCH_BUCKETS counts; else NULL
 *
 * It goes the way of users within the kernel, as NVMe over Fabrics does; completions
 * are taken as the context was opened: by a thread, a softirq, or by polling. When it
 * returns nothing is in flight. If there were receives, or if it failed, the
 * connection is over.
 *
 * Return: 0; -errno: if out_sent is not 0 it had begun, and @result tells what was
 * done until then. -EBUSY: work is in flight; -EOPNOTSUPP: not on this device or
 * transport; -EIO: an operation failed, out_wc_status says how; -EINTR, -ETIMEDOUT,
 * -ENOTCONN; -ENOTTY: the module knows no such command.
 */
KVERBS_API int kverbs_bench(struct kverbs_conn *conn, const struct kverbs_bench_opts *opts,
			    struct kverbs_cmd_bench *result, size_t sz, uint64_t *hist);

/* ---- names ------------------------------------------------------------ */

/**
 * kverbs_wc_status_str() - name of a work completion status
 * @status: enum ibv_wc_status by number
 *
 * Return: such as "remote access error", never NULL.
 */
KVERBS_API const char *kverbs_wc_status_str(unsigned int status);

/**
 * kverbs_conn_state_str() - name of a connection state
 * @state: enum kverbs_conn_state
 *
 * Return: such as "established", never NULL.
 */
KVERBS_API const char *kverbs_conn_state_str(unsigned int state);

/**
 * kverbs_transport_str() - name of a transport
 * @transport: enum kverbs_transport
 *
 * Return: "InfiniBand", "RoCE", "iWARP" or "unknown".
 */
KVERBS_API const char *kverbs_transport_str(unsigned int transport);

/**
 * kverbs_version() - the library's version
 *
 * Return: such as "0.1.0".
 */
KVERBS_API const char *kverbs_version(void);

#ifdef __cplusplus
}
#endif

#endif /* KVERBS_H */
