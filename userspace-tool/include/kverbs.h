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
 * Functions that wait may also return -EINTR, when a signal handler has run in the thread
 * while it slept, even one with SA_RESTART, or after kverbs_wakeup(), and return -EDEADLK at
 * once if a request's callback calls them. Both leave the objects as -ETIMEDOUT does. A
 * thread that is cancelled while it waits is cancelled when the wait has ended.
 *
 * A child of fork() shares the open file with its parent, but cannot use what the parent
 * created with it: functions return -ECHILD there, those that free an object leave it alone,
 * and kverbs_close() only closes the child's descriptor. A child opens a context of its own.
 *
 * Options begin with their own size and may grow at their ends. Functions that fill in a
 * struct of the uAPI take its size as an argument: for a program built with an older library
 * they fill in the members it knows, for one built with a newer library they zero the rest.
 * All other structs keep their sizes: kverbs_device, kverbs_op, kverbs_req and kverbs_token
 * have reserved members, and kverbs_vec will not get others.
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

/* A context: an open file, its ring, and the objects created with it; or a worker of a context. */
struct kverbs;
/* A connection, from CONNECT or from a listener's request to kverbs_conn_free. */
struct kverbs_conn;
/* A listener. */
struct kverbs_listener;
/* Registered memory. */
struct kverbs_buf;
/* Connections on which the same keys are valid. */
struct kverbs_group;
/* A pool of receive buffers, which several connections share. */
struct kverbs_pool;
/* Counters of this host's devices at one time. */
struct kverbs_counters;

/* scripts/lib/kdoc.py makes each part that a line such as the next one begins a manual page. */
/* ---- context ---------------------------------------------------------- */

/**
 * struct kverbs_opts - how to open a context
 * @sz: sizeof(struct kverbs_opts)
 * @path: the device node, NULL: /dev/kverbs
 * @sq_entries: submission entries, a power of two, 0: 256
 * @cq_entries: completions, a power of two, 0: 4096
 * @busy_poll: poll the device instead of sleeping: the shortest latency, at the cost
 *	of a whole CPU. Operations complete only while a thread waits, in
 *	kverbs_process() or elsewhere, and kverbs_fd() reports only events of
 *	connections.
 * @softirq: the kernel polls for completions in a softirq, not in a thread; not with
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
 * @kv: set to the context
 * @opts: options, or NULL
 *
 * Return: 0; -ENOENT, -EACCES: the node is missing or not accessible; -EPROTO: the
 * module's ABI is not the library's; -EINVAL, -ENOMEM.
 */
KVERBS_API int kverbs_open(struct kverbs **kv, const struct kverbs_opts *opts);

/**
 * kverbs_worker_open() - open another ring of a context
 * @kv: the context, or any of its workers
 * @opts: options, or NULL; @path must be NULL
 * @worker: set to the worker
 *
 * A worker is used like a context, by all functions that take one. Its completions, its lock, its
 * callbacks and its waits are its own: threads that use different workers do not wait for each
 * other. Connections, listeners and pools belong to the worker that they were created with; a
 * connection can be accepted on another worker than its listener's, see struct kverbs_conn_opts.
 * Buffers and groups belong to the context, whichever worker created them, and can be used with
 * all of its workers.
 *
 * kverbs_close() closes a worker. Closing the context closes its workers as well.
 *
 * Return: 0; -EINVAL; -ENOMEM: memory, or the context has 256 rings; -EMFILE.
 */
KVERBS_API int kverbs_worker_open(struct kverbs *kv, const struct kverbs_opts *opts,
				  struct kverbs **worker);

/**
 * kverbs_close() - close a context and free all its objects
 * @kv: the context, or NULL
 *
 * Connections, listeners and buffers that were not freed are freed. In a request's callback the
 * function does nothing, since the context is in use there.
 */
KVERBS_API void kverbs_close(struct kverbs *kv);

/**
 * kverbs_fd() - descriptor that is readable while completions are unread
 * @kv: the context
 *
 * Return: the descriptor, for poll(2), select(2) and epoll(7) only. Call
 * kverbs_process() when it is readable. Each worker has one of its own.
 */
KVERBS_API int kverbs_fd(const struct kverbs *kv);

/**
 * kverbs_process() - read completions and run callbacks
 * @kv: the context
 * @timeout_ms: how long to wait for the first completion
 *
 * Return: the number of completions that this or another thread has read during the
 * call, 0 if the time ran out, -errno.
 */
KVERBS_API int kverbs_process(struct kverbs *kv, int timeout_ms);

/**
 * kverbs_wakeup() - end all waits
 * @kv: the context
 *
 * Functions that wait return -EINTR, in all threads, unless what they wait for has happened, and
 * so do those that are called later, with any timeout, until kverbs_wakeup_clear(). kverbs_fd() is
 * readable meanwhile. A thread that waits for a callback to return may wait that long. Waits of
 * functions that free something, and of kverbs_post() after a part of an operation, go on.
 *
 * A signal handler may call this: a program that sets a variable and calls kverbs_wakeup() there
 * ends all of its waits, however many threads it has. An event loop that another thread has to
 * interrupt calls kverbs_wakeup_clear() when kverbs_process() has returned -EINTR, and then looks
 * what it has to do.
 *
 * Context: any, a signal handler too.
 * Return: 0 or -ECHILD.
 */
KVERBS_API int kverbs_wakeup(struct kverbs *kv);

/**
 * kverbs_wakeup_clear() - undo kverbs_wakeup()
 * @kv: the context
 *
 * Context: any, a signal handler too.
 */
KVERBS_API void kverbs_wakeup_clear(struct kverbs *kv);

/**
 * kverbs_info() - query limits and features of the module
 * @kv: the context
 * @info: filled in
 * @sz: sizeof(struct kverbs_cmd_info)
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_info(struct kverbs *kv, struct kverbs_cmd_info *info, size_t sz);

/**
 * struct kverbs_device - a device with its ports and used GIDs
 * @attr: attributes from KVERBS_DEVICE_QUERY; only its first @size bytes are there, fewer
 *	than in the struct that a program knows if the program is newer than the library
 * @ports: array of ports
 * @gids: array of used GIDs
 * @nr_ports: length of @ports
 * @nr_gids: length of @gids
 * @reserved: zero
 */
struct kverbs_device {
	const struct kverbs_cmd_device_query *attr;
	struct kverbs_port *ports;
	struct kverbs_gid *gids;
	unsigned int nr_ports;
	unsigned int nr_gids;
	uint64_t reserved[4];
};

/**
 * kverbs_device_list() - list all devices
 * @kv: the context
 * @list: set to the array; free it with kverbs_device_list_free()
 *
 * Return: the number of devices or -errno.
 */
KVERBS_API int kverbs_device_list(struct kverbs *kv, struct kverbs_device **list);

/**
 * kverbs_device_list_free() - free an array from kverbs_device_list()
 * @list: the array, or NULL
 * @nr: its length
 */
KVERBS_API void kverbs_device_list_free(struct kverbs_device *list, int nr);

/* ---- memory ----------------------------------------------------------- */

/**
 * kverbs_buf_alloc() - allocate page-aligned, zeroed memory and register it
 * @kv: the context
 * @size: bytes, at least 1
 * @buf: set to the buffer
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
 * @flags: any of KVERBS_REGION_READ_ONLY, and KVERBS_REGION_TRACK for kverbs_buf_stale()
 * @buf: set to the buffer
 *
 * The buffer keeps the pages that are there now, even if the memory is unmapped, or other memory
 * is mapped at its address. A context has 1024 buffers with KVERBS_REGION_TRACK at most.
 *
 * Return: 0, -EPERM or -ENOMEM (RLIMIT_MEMLOCK, memory), -EFAULT or
 * -EOPNOTSUPP (memory that cannot be pinned, or KVERBS_REGION_TRACK without
 * KVERBS_FEATURE_TRACK), -EAGAIN (too many with KVERBS_REGION_TRACK), another -errno.
 */
KVERBS_API int kverbs_buf_register(struct kverbs *kv, void *addr, size_t size,
				   unsigned int flags, struct kverbs_buf **buf);

/**
 * kverbs_buf_register_fd() - register memory of a file
 * @kv: the context
 * @fd: such as from memfd_create(2), open for reading and, without KVERBS_REGION_READ_ONLY,
 *	for writing; may be closed afterwards
 * @offset: start of the memory in the file, bytes
 * @size: bytes, at least 1
 * @flags: KVERBS_REGION_READ_ONLY or 0
 * @buf: set to the buffer, whose address is NULL
 *
 * The memory is mapped only while it is registered. The buffer keeps its pages, even if the file is
 * truncated. Files that mmap(2) can map qualify if their memory can be pinned: memfds, tmpfs and
 * hugetlbfs; with KVERBS_REGION_READ_ONLY also files on disk.
 *
 * Return: 0; -EBADF; -EACCES, -EPERM: the file is not open for it, or sealed against writing;
 * -EFAULT: beyond the end of the file; -EPERM or -ENOMEM (RLIMIT_MEMLOCK, memory); another -errno.
 */
KVERBS_API int kverbs_buf_register_fd(struct kverbs *kv, int fd, uint64_t offset, size_t size,
				      unsigned int flags, struct kverbs_buf **buf);

/**
 * kverbs_buf_register_dmabuf() - register a part of a dma-buf
 * @kv: the context
 * @fd: of the dma-buf, such as memory of a GPU; may be closed afterwards
 * @offset: start of the part in the dma-buf, bytes
 * @size: bytes, at least 1
 * @flags: KVERBS_REGION_READ_ONLY or 0
 * @buf: set to the buffer, whose address is NULL
 *
 * The memory belongs to the driver that exports it, and does not count for RLIMIT_MEMLOCK. A
 * request or export that is the first to use the buffer on a device fails with the error of that
 * driver if the device cannot reach the memory, and with -EOPNOTSUPP on Soft-RoCE and Soft-iWARP.
 * If the driver takes the memory back, the connections that have used the buffer end with -ESTALE,
 * and so do those of a group for which an export or a shared receive queue has used it. Later uses
 * of the buffer fail with -ESTALE.
 *
 * Return: 0; -EBADF; -EINVAL: @fd is no dma-buf, or has no such part; -EACCES: the dma-buf is
 * read-only, and KVERBS_REGION_READ_ONLY is not set; -EOPNOTSUPP without KVERBS_FEATURE_DMABUF;
 * another -errno.
 */
KVERBS_API int kverbs_buf_register_dmabuf(struct kverbs *kv, int fd, uint64_t offset, size_t size,
					  unsigned int flags, struct kverbs_buf **buf);

/**
 * kverbs_buf_stale() - whether the memory of a buffer has changed
 * @buf: the buffer, registered with KVERBS_REGION_TRACK
 *
 * The buffer is stale once a part of its memory was unmapped, remapped or discarded: by
 * munmap(2), mremap(2), mmap(2) over it, MADV_DONTNEED, a hole in its file and so on, as
 * struct kverbs_cmd_region_create describes. The function knows of each such call that has returned
 * before, in any thread or process, and reads one counter if nothing has changed; it makes no
 * system call. A stale buffer stays stale, and is of no use but to be freed. What is in flight
 * completes, with the pages that the memory had.
 *
 * Return: true if it is stale, always in a child of fork(2); false without KVERBS_REGION_TRACK.
 */
KVERBS_API bool kverbs_buf_stale(struct kverbs_buf *buf);

/**
 * kverbs_buf_share() - share the memory of a buffer by a descriptor
 * @buf: the buffer
 * @flags: KVERBS_REGION_READ_ONLY: buffers made of the descriptor are read-only; or 0
 *
 * The descriptor has FD_CLOEXEC, and can be passed to another process, which gives it to
 * kverbs_buf_import(). The memory is pinned and charged once, until its last buffer and
 * descriptor are gone. The caller closes the descriptor.
 *
 * Return: the descriptor, -EACCES for a read-only buffer without KVERBS_REGION_READ_ONLY,
 * -EMFILE, another -errno.
 */
KVERBS_API int kverbs_buf_share(struct kverbs_buf *buf, unsigned int flags);

/**
 * kverbs_buf_import() - a buffer with the memory of another one
 * @kv: the context, which need not be that of the other buffer
 * @fd: from kverbs_buf_share(); may be closed afterwards
 * @addr: where the caller has mapped the memory, for kverbs_buf_addr(), or NULL
 * @flags: KVERBS_REGION_READ_ONLY or 0
 * @buf: set to the buffer, whose size is that of the other one
 *
 * The memory is not mapped by this: processes that shall read and write it map the same file,
 * such as one of memfd_create(2).
 *
 * Return: 0, -EBADF or -EINVAL (@fd is not such a descriptor), -EACCES (it is read-only, and
 * KVERBS_REGION_READ_ONLY is not set), another -errno.
 */
KVERBS_API int kverbs_buf_import(struct kverbs *kv, int fd, void *addr, unsigned int flags,
				 struct kverbs_buf **buf);

/**
 * kverbs_buf_free() - unregister memory, and free it if kverbs_buf_alloc() allocated it
 * @buf: the buffer, or NULL
 *
 * Return: 0, or -EBUSY while an export or a request uses it.
 */
KVERBS_API int kverbs_buf_free(struct kverbs_buf *buf);

/**
 * kverbs_buf_addr() - address of a buffer
 * @buf: the buffer
 *
 * Return: the address of its first byte, or what the caller gave to kverbs_buf_import().
 */
KVERBS_API void *kverbs_buf_addr(const struct kverbs_buf *buf);

/**
 * kverbs_buf_size() - size of a buffer
 * @buf: the buffer
 *
 * Return: its size in bytes.
 */
KVERBS_API size_t kverbs_buf_size(const struct kverbs_buf *buf);

/* ---- groups ----------------------------------------------------------- */

/**
 * kverbs_group_create() - create a group of connections
 * @kv: the context
 * @device_index: the device of its connections: @out_index of the attributes from
 *	kverbs_device_list(), or @out_device_index from kverbs_conn_query()
 * @group: set to the group
 *
 * One kverbs_group_export() grants the peers of all connections of the group access to
 * memory. Each of these peers can use any key of the group and of its connections that it
 * is told or guesses, and revoke it with kverbs_send_inv().
 *
 * Return: 0; -ENODEV: no such device, or one that kverbs cannot use; another -errno.
 */
KVERBS_API int kverbs_group_create(struct kverbs *kv, uint32_t device_index,
				   struct kverbs_group **group);

/**
 * kverbs_group_free() - free a group
 * @group: the group, or NULL
 *
 * Return: 0, or -EBUSY while a connection or an export belongs to it.
 */
KVERBS_API int kverbs_group_free(struct kverbs_group *group);

/* ---- connections ------------------------------------------------------ */

/**
 * struct kverbs_conn_opts - options of connecting and accepting
 * @sz: sizeof(struct kverbs_conn_opts)
 * @param: depths, retries and timers, or NULL for the defaults
 * @param_sz: sizeof(struct kverbs_conn_param), or 0 without @param
 * @source: local address to connect from, or NULL: a number, or for kverbs_connect() a name
 * @priv: private data for the peer
 * @priv_len: length of @priv, at most KVERBS_PRIV_CONNECT_MAX or _ACCEPT_MAX
 * @timeout_ms: time limit, 0: 10000, negative: none
 * @prepare: called by kverbs_connect() with each connection before it waits for the peer's
 *	answer, or NULL: posts receives that the peer may fill as soon as it has accepted.
 *	-ENOTCONN is ignored, because the peer may have refused by then; any other -errno ends
 *	the attempt
 * @refused: called by kverbs_connect() with a connection that the peer refused, or NULL:
 *	kverbs_conn_priv() returns the private data of the refusal. True: no other address is
 *	tried
 * @arg: argument of @prepare, @refused and @failed
 * @group: the group of the connection, or NULL. A connection to a peer that another device
 *	leads to fails with -ENODEV; kverbs_accept() of a request on another device returns
 *	-EINVAL
 * @pool: the pool that the connection receives into, or NULL: kverbs_recv() posts its receives
 * @failed: called by kverbs_connect() with each connection that was not established, before it
 *	is freed, and with the -errno, or NULL: kverbs_conn_explain() tells more
 * @worker: kverbs_accept(): the worker, or the context, that the connection belongs to from now
 *	on, or NULL: that of its listener. -EBUSY if a receive was posted before: give @pool, or
 *	post receives when the connection is established. No other thread may use the connection
 *	meanwhile
 */
struct kverbs_conn_opts {
	size_t sz;
	const struct kverbs_conn_param *param;
	size_t param_sz;
	const char *source;
	const void *priv;
	size_t priv_len;
	int timeout_ms;
	int (*prepare)(struct kverbs_conn *conn, void *arg);
	bool (*refused)(struct kverbs_conn *conn, void *arg);
	void *arg;
	struct kverbs_group *group;
	struct kverbs_pool *pool;
	void (*failed)(struct kverbs_conn *conn, int error, void *arg);
	struct kverbs *worker;
};

/**
 * kverbs_connect() - connect to a host and wait until the connection is established
 * @kv: the context
 * @host: name or number; "fe80::1%eth0" for a link-local address
 * @port: service name or port number
 * @opts: options, or NULL
 * @conn: set to the connection
 *
 * Tries every address that @host resolves to. If the peer may send as soon as it has
 * accepted, @opts->prepare must post a receive first, or on iWARP the connection ends.
 *
 * Return: 0; -ECONNREFUSED, -ETIMEDOUT, -EHOSTUNREACH, -ENETUNREACH, -ENODEV;
 * -ENXIO: the name does not resolve; another -errno.
 */
KVERBS_API int kverbs_connect(struct kverbs *kv, const char *host, const char *port,
			      const struct kverbs_conn_opts *opts,
			      struct kverbs_conn **conn);

/**
 * kverbs_connect_start() - start to connect to one address
 * @kv: the context
 * @dst: the peer
 * @opts: options, or NULL
 * @conn: set to the connection
 *
 * Receives may be posted at once. Wait with kverbs_conn_wait().
 *
 * Return: 0 or -errno; -EADDRNOTAVAIL: @opts->source is a name, which would have to be resolved.
 */
KVERBS_API int kverbs_connect_start(struct kverbs *kv, const struct sockaddr *dst,
				    const struct kverbs_conn_opts *opts,
				    struct kverbs_conn **conn);

/**
 * kverbs_conn_wait() - wait until a connection is established or has failed
 * @conn: the connection
 * @timeout_ms: how long to wait
 *
 * Return: 0 established; -ETIMEDOUT not yet; else the -errno it failed with.
 */
KVERBS_API int kverbs_conn_wait(struct kverbs_conn *conn, int timeout_ms);

/**
 * kverbs_listen() - listen for connections
 * @kv: the context
 * @host: local name or number, NULL: any
 * @port: service name or port number, NULL or "0": any
 * @backlog: requests that may wait for an answer, 0: 128
 * @listener: set to the listener
 *
 * Return: 0, -EADDRINUSE, -EADDRNOTAVAIL, -EACCES, another -errno.
 */
KVERBS_API int kverbs_listen(struct kverbs *kv, const char *host, const char *port,
			     unsigned int backlog,
			     struct kverbs_listener **listener);

/**
 * kverbs_listener_port() - port that a listener is bound to
 * @listener: the listener
 *
 * Return: port in host order.
 */
KVERBS_API uint16_t kverbs_listener_port(const struct kverbs_listener *listener);

/**
 * kverbs_listener_free() - stop listening, and reject requests not yet read
 * @listener: the listener, or NULL
 */
KVERBS_API void kverbs_listener_free(struct kverbs_listener *listener);

/**
 * kverbs_next_request() - wait for a connection request
 * @listener: the listener
 * @timeout_ms: how long to wait
 * @conn: set to the connection that a peer requests
 *
 * Check it with kverbs_conn_priv() and kverbs_conn_query(), post receives with
 * kverbs_recv(), then call kverbs_accept() or kverbs_reject().
 *
 * Return: 0, -ETIMEDOUT, -ENODEV (the listener lost its device), -errno.
 */
KVERBS_API int kverbs_next_request(struct kverbs_listener *listener, int timeout_ms,
				   struct kverbs_conn **conn);

/**
 * kverbs_accept() - accept a request and wait until the connection is established
 * @conn: from kverbs_next_request()
 * @opts: options, or NULL; @timeout_ms 0: 10000
 *
 * Return: 0, even if the peer has disconnected since: messages that it sent before can
 * be received; or -errno, and the caller still has to free the connection.
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
 * kverbs_reject() - reject a request, and free the connection
 * @conn: from kverbs_next_request()
 * @priv: private data for the peer, or NULL
 * @priv_len: length of @priv, at most KVERBS_PRIV_REJECT_MAX
 *
 * Return: 0 or -errno; the connection is freed either way.
 */
KVERBS_API int kverbs_reject(struct kverbs_conn *conn, const void *priv,
			     size_t priv_len);

/**
 * kverbs_disconnect() - start to close a connection
 * @conn: the connection
 *
 * Outstanding requests complete with -EIO (flushed). Operations that shall reach the peer must be
 * complete before, see kverbs_shutdown().
 *
 * Return: 0 or -ENOTCONN.
 */
KVERBS_API int kverbs_disconnect(struct kverbs_conn *conn);

/**
 * kverbs_shutdown() - end a connection when its operations are complete
 * @conn: the connection
 * @timeout_ms: how long to wait
 *
 * Waits until all operations that were posted before the call are complete, those without a
 * request as well, but not receives. Then it ends the connection as kverbs_disconnect() does, and
 * waits for the end. The peer's program takes no part in this: the operations are followed by a
 * WRITE of no bytes. On iWARP a SEND or WRITE is complete before the peer has it, and TCP delivers
 * it unless the connection breaks.
 *
 * After -ETIMEDOUT or -EINTR the connection can be used as before, unless its end has begun, and
 * another call goes on from there. Operations that other threads post during the call may be lost.
 *
 * Return: 0: the connection has ended, and was ended by this function; -ETIMEDOUT, -EINTR: not
 * yet; -ENOTCONN: it is not established yet; -EDEADLK: called from a callback; else the error that
 * ended it, perhaps before all operations were complete. That may be -ETIMEDOUT, too:
 * kverbs_conn_error() tells.
 */
KVERBS_API int kverbs_shutdown(struct kverbs_conn *conn, int timeout_ms);

/**
 * kverbs_conn_free() - close and free a connection, its tokens and requests
 * @conn: the connection, or NULL
 *
 * Outstanding requests complete with -ECANCELED before it returns.
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
 * kverbs_conn_query() - query state and counters of a connection
 * @conn: the connection
 * @query: filled in; the private data fields are left zero
 * @sz: sizeof(struct kverbs_cmd_conn_query)
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_conn_query(struct kverbs_conn *conn,
				 struct kverbs_cmd_conn_query *query, size_t sz);

/**
 * kverbs_conn_priv() - copy the peer's private data
 * @conn: the connection
 * @buf: destination
 * @len: size of @buf
 *
 * Return: bytes copied, which the CM may have padded with zeroes; or -errno.
 */
KVERBS_API int kverbs_conn_priv(struct kverbs_conn *conn, void *buf, size_t len);

/**
 * kverbs_conn_set_data() - attach a pointer of the caller to a connection
 * @conn: the connection
 * @data: the pointer, not dereferenced; kverbs_conn_data() returns it
 */
KVERBS_API void kverbs_conn_set_data(struct kverbs_conn *conn, void *data);

/**
 * kverbs_conn_data() - get the pointer that kverbs_conn_set_data() attached
 * @conn: the connection
 *
 * Return: the pointer, or NULL.
 */
KVERBS_API void *kverbs_conn_data(const struct kverbs_conn *conn);

/**
 * kverbs_addr_format() - write an address as text
 * @addr: the address
 * @buf: destination
 * @len: size of @buf, 64 is enough
 *
 * Return: @buf: "192.0.2.1:7472", "[2001:db8::1]:7472", or "-" if @addr is empty.
 */
KVERBS_API const char *kverbs_addr_format(const struct kverbs_addr *addr, char *buf,
					  size_t len);

/* ---- exports and tokens ------------------------------------------------ */

/**
 * struct kverbs_token - remote access to a range of a buffer
 * @length: bytes covered
 * @access: KVERBS_REMOTE_*
 * @nr_segs: length of @segs
 * @segs: the segments, in order
 * @id: the export's id on the exporter's side, 0 on the peer's
 * @reserved: zero
 *
 * The exporter packs the token and sends it to the peer by any means. A peer with
 * another protocol names memory by address, key and length: set up a token for that
 * by hand, with one segment and @length, @access, @nr_segs and @segs; it need not be
 * freed. In the other direction, send such a peer the members of @segs.
 */
struct kverbs_token {
	uint64_t length;
	uint32_t access;
	uint32_t nr_segs;
	struct kverbs_segment *segs;
	uint32_t id;
	uint32_t reserved[5];
};

/**
 * kverbs_export() - grant the connection's peer access to a range of a buffer
 * @conn: an established connection
 * @buf: the buffer
 * @offset: first byte
 * @length: bytes, at least 1
 * @access: one or more of KVERBS_REMOTE_READ, _WRITE and _ATOMIC
 * @token: filled in; free it with kverbs_unexport()
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_export(struct kverbs_conn *conn, struct kverbs_buf *buf,
			     size_t offset, size_t length, unsigned int access,
			     struct kverbs_token *token);

/**
 * kverbs_unexport() - revoke an export
 * @conn: the connection of the export
 * @token: from kverbs_export(); freed
 *
 * When it has returned, the peer can no longer access the memory.
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_unexport(struct kverbs_conn *conn, struct kverbs_token *token);

/**
 * kverbs_group_export() - grant the peers of a group access to a range of a buffer
 * @group: a group with an established connection
 * @buf: the buffer
 * @offset: first byte
 * @length: bytes, at least 1
 * @access: one or more of KVERBS_REMOTE_READ, _WRITE and _ATOMIC
 * @token: filled in; free it with kverbs_group_unexport()
 *
 * The keys are valid on all connections of the group, whether established before or after
 * the call. The export outlives all connections.
 *
 * Return: 0; -ENOTCONN: no connection of the group is established; -ENODEV: its device was
 * removed; another -errno.
 */
KVERBS_API int kverbs_group_export(struct kverbs_group *group, struct kverbs_buf *buf,
				   size_t offset, size_t length, unsigned int access,
				   struct kverbs_token *token);

/**
 * kverbs_group_unexport() - revoke an export of a group
 * @group: the group
 * @token: from kverbs_group_export(); freed
 *
 * When it has returned, no peer can access the memory any more.
 *
 * Return: 0 or -errno.
 */
KVERBS_API int kverbs_group_unexport(struct kverbs_group *group, struct kverbs_token *token);

/**
 * kverbs_token_packed_size() - size of a packed token
 * @token: the token
 *
 * Return: its size in bytes.
 */
KVERBS_API size_t kverbs_token_packed_size(const struct kverbs_token *token);

/**
 * kverbs_token_pack() - write a token in a form that any host can read
 * @token: the token
 * @buf: destination
 * @len: size of @buf
 *
 * Return: bytes written or -EMSGSIZE. Documentation/reference/protocol.rst describes the
 * form.
 */
KVERBS_API int kverbs_token_pack(const struct kverbs_token *token, void *buf,
				 size_t len);

/**
 * kverbs_token_unpack() - read a packed token
 * @token: filled in; free it with kverbs_token_free()
 * @buf: the packed token; it is checked, since it comes from the peer
 * @len: size of @buf
 *
 * Return: bytes read, -EBADMSG if @buf is not a packed token, -ENOMEM.
 */
KVERBS_API int kverbs_token_unpack(struct kverbs_token *token, const void *buf,
				   size_t len);

/**
 * kverbs_token_free() - free a token from kverbs_token_unpack()
 * @token: the token
 */
KVERBS_API void kverbs_token_free(struct kverbs_token *token);

/* ---- requests --------------------------------------------------------- */

struct kverbs_req;

/**
 * typedef kverbs_done_fn - callback for a completed request
 * @req: the request; the callback may post it again
 *
 * The thread that processes completions calls it, with no lock of the library held:
 * a thread that waits, or one that posts and has to wait for room. The callback may
 * post, but not wait. The callbacks of a context run one at a time and in the order
 * of completion.
 */
typedef void (*kverbs_done_fn)(struct kverbs_req *req);

/* In place of a callback: the request goes to the context's queue, for kverbs_poll() */
#define KVERBS_QUEUE	((kverbs_done_fn)~(uintptr_t)0)

/**
 * struct kverbs_req - one request, in the caller's memory
 * @done: called on completion, or NULL, or KVERBS_QUEUE; set it before posting
 * @data: for the caller, not used by the library
 * @result: 0 or -errno, valid once complete: -EIO for a failed work request,
 *	-ECANCELED if the connection was freed first, or if an operation that was posted
 *	together with it was refused; or why the kernel refused it: -EMSGSIZE, -ENOTCONN,
 *	-EOPNOTSUPP, -ENOMEM, or the error that ended the connection
 * @wc_status: the first failed work request's status, see kverbs_wc_status_str()
 * @flags: KVERBS_CQE_F_*
 * @imm: the peer's immediate data, not converted, or the key that the peer revoked
 * @byte_len: bytes moved
 * @priv: private to the library
 *
 * Zero the struct before its first use. Do not move or free it before the request is
 * complete.
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
		struct kverbs_conn *from;
		unsigned int slot;
		uint32_t unused;
		uint64_t reserved[3];
	} priv;
};

/**
 * kverbs_send() - send a message
 * @conn: the connection
 * @buf: the buffer with the message; may be NULL if @length is 0
 * @offset: start of the message in @buf
 * @length: length of the message, bytes
 * @req: the request
 *
 * If the context's completion ring is full, this function, like all below that post, waits for
 * room or until the connection ends, and completes other operations in the meantime.
 *
 * Return: 0 posted, else -errno, and @req will not complete: -EBUSY @req is in use,
 * -EINVAL not within the buffer, or the error that ended the connection. What only the
 * kernel can know is the result of @req, such as -ENOTCONN if the connection is not
 * established yet.
 */
KVERBS_API int kverbs_send(struct kverbs_conn *conn, struct kverbs_buf *buf,
			   size_t offset, size_t length, struct kverbs_req *req);

/**
 * kverbs_send_imm() - send a message with four bytes of immediate data
 * @conn: the connection
 * @buf: the buffer with the message; may be NULL if @length is 0
 * @offset: start of the message in @buf
 * @length: length of the message, bytes
 * @imm: the four bytes, not converted
 * @req: the request
 *
 * Return: as kverbs_send(); the result is -EOPNOTSUPP on iWARP.
 */
KVERBS_API int kverbs_send_imm(struct kverbs_conn *conn, struct kverbs_buf *buf,
			       size_t offset, size_t length, uint32_t imm,
			       struct kverbs_req *req);

/**
 * kverbs_send_inv() - send a message and revoke a key of the peer's export
 * @conn: the connection
 * @buf: the buffer with the message; may be NULL if @length is 0
 * @offset: start of the message in @buf
 * @length: length of the message, bytes
 * @rkey: the key of a segment of the peer's token
 * @req: the request
 *
 * The peer's receive completes with KVERBS_CQE_F_INV in @flags and the key in @imm of
 * its request. An invalid key ends the connection.
 *
 * Return: as kverbs_send().
 */
KVERBS_API int kverbs_send_inv(struct kverbs_conn *conn, struct kverbs_buf *buf,
			       size_t offset, size_t length, uint32_t rkey,
			       struct kverbs_req *req);

/**
 * struct kverbs_vec - one of several pieces of a local buffer
 * @buf: the buffer with the piece
 * @offset: start of the piece in @buf
 * @length: bytes, at least 1
 */
struct kverbs_vec {
	struct kverbs_buf *buf;
	size_t offset;
	size_t length;
};

/**
 * kverbs_sendv() - send a message that is in several pieces
 * @conn: the connection
 * @vec: the pieces, in order; not used after the call
 * @nr: number of pieces, 1 to KVERBS_LIST_MAX
 * @req: the request
 *
 * Return: as kverbs_send(); -EMSGSIZE if the pieces need more scatter/gather entries
 * than the connection has.
 */
KVERBS_API int kverbs_sendv(struct kverbs_conn *conn, const struct kverbs_vec *vec,
			    size_t nr, struct kverbs_req *req);

/* Most bytes of a message of kverbs_send_copy() */
#define KVERBS_COPY_MAX	4096

/**
 * kverbs_send_copy() - send a small message from any memory
 * @conn: the connection
 * @data: the message; not used after the call, may be NULL if @length is 0
 * @length: length of the message, at most KVERBS_COPY_MAX bytes
 * @req: the request
 *
 * The message is copied into registered memory of the context or worker. The first call allocates
 * it: room for 64 messages, 256 KiB, which kverbs_close() frees and RLIMIT_MEMLOCK is charged with.
 * A message has its place there until @req is complete. If messages of this or other connections
 * take all places, the function waits for one, as kverbs_send() does for room.
 *
 * Return: as kverbs_send(); -EMSGSIZE: @length is above KVERBS_COPY_MAX; -EPERM or -ENOMEM:
 * RLIMIT_MEMLOCK, or no memory.
 */
KVERBS_API int kverbs_send_copy(struct kverbs_conn *conn, const void *data, size_t length,
				struct kverbs_req *req);

/**
 * kverbs_recvv() - post a receive into several pieces
 * @conn: the connection, which need not be established yet
 * @vec: the pieces, filled in order; not used after the call
 * @nr: number of pieces, 1 to KVERBS_LIST_MAX
 * @req: the request; it fails if the pieces need more scatter/gather entries than the
 *	connection has
 *
 * Return: as kverbs_recv().
 */
KVERBS_API int kverbs_recvv(struct kverbs_conn *conn, const struct kverbs_vec *vec,
			    size_t nr, struct kverbs_req *req);

/**
 * kverbs_recv() - post a receive
 * @conn: the connection, which need not be established yet
 * @buf: the buffer for the message
 * @offset: start of the message in @buf
 * @length: longest message, bytes
 * @req: the request
 *
 * If a message arrives before the connection is established on this side, its receive
 * completes after that, so that the callback can answer. On a connection with a pool the
 * request fails with -EINVAL.
 *
 * Return: 0 posted, -EAGAIN the context's completion ring is full, else -errno.
 */
KVERBS_API int kverbs_recv(struct kverbs_conn *conn, struct kverbs_buf *buf,
			   size_t offset, size_t length, struct kverbs_req *req);

/**
 * kverbs_pool_create() - create a pool of receive buffers
 * @kv: the context
 * @entries: most buffers in the pool or posted, a power of two up to 65536, 0: 256
 * @pool: set to the pool
 *
 * The connections that name the pool in their options share its buffers: the kernel keeps
 * the receives of each of them posted, up to its rq_depth, without a system call for each
 * message. Each buffer that is posted takes a place in the context's completion ring.
 *
 * Connections of a group share the receives as well, where the device can: idle ones then hold
 * no buffer, and the buffers return when the last of the connections ends.
 *
 * Return: 0, -EINVAL, -ENOMEM, -ENOTTY: the module has no pools; another -errno.
 */
KVERBS_API int kverbs_pool_create(struct kverbs *kv, unsigned int entries,
				  struct kverbs_pool **pool);

/**
 * kverbs_pool_add() - add a buffer to a pool
 * @pool: the pool
 * @buf: the memory
 * @offset: start of the buffer in @buf
 * @length: longest message, bytes, at least 1
 * @req: the request, as for kverbs_recv(); kverbs_req_conn() is the connection that the
 *	message came on
 *
 * The request completes when a message has arrived in the buffer, or when the connection
 * that took the buffer has ended: with -EIO (flushed), or -ECANCELED in kverbs_conn_free().
 * Add it again in either case. KVERBS_CQE_F_MORE in its flags: the connection went on.
 *
 * Does not wait, so a callback may call it. It calls the kernel only if a connection has fewer
 * than half of its receives left.
 *
 * Return: 0 added, -EAGAIN the pool is full, -EBUSY @req is in use, -EINVAL not within
 * @buf.
 */
KVERBS_API int kverbs_pool_add(struct kverbs_pool *pool, struct kverbs_buf *buf,
			       size_t offset, size_t length, struct kverbs_req *req);

/**
 * kverbs_pool_destroy() - destroy a pool
 * @pool: the pool, or NULL
 *
 * Requests of buffers that are still in the pool do not complete. No thread may wait for one.
 *
 * Return: 0, or -EBUSY while a connection uses it.
 */
KVERBS_API int kverbs_pool_destroy(struct kverbs_pool *pool);

/**
 * kverbs_req_conn() - connection of a request
 * @req: the request, posted before
 *
 * Return: the connection, even if it is freed by now; NULL while the buffer is in a pool.
 */
KVERBS_API struct kverbs_conn *kverbs_req_conn(const struct kverbs_req *req);

/**
 * kverbs_write() - write into the peer's memory
 * @conn: the connection
 * @buf: the source
 * @offset: start of the data in @buf
 * @length: bytes
 * @token: the peer's token
 * @remote_offset: destination in the token's range
 * @req: the request
 *
 * The data is split at the token's segments; @req completes once, when all of it is
 * written.
 *
 * Return: 0 posted, -ERANGE not within the token, -EACCES the token does not grant
 * this access, -EMSGSIZE more than 1024 segments that are smaller than a page of 4 KiB on
 * average, else -errno.
 */
KVERBS_API int kverbs_write(struct kverbs_conn *conn, struct kverbs_buf *buf,
			    size_t offset, size_t length,
			    const struct kverbs_token *token, uint64_t remote_offset,
			    struct kverbs_req *req);

/**
 * kverbs_write_imm() - write into the peer's memory, and complete a receive of the peer
 * @conn: the connection
 * @buf: the source; may be NULL if @length is 0
 * @offset: start of the data in @buf
 * @length: bytes
 * @token: the peer's token; may be NULL if @length is 0
 * @remote_offset: destination in the token's range
 * @imm: four bytes for the peer, not converted
 * @req: the request
 *
 * Return: as kverbs_write(); the result is -EOPNOTSUPP on iWARP.
 */
KVERBS_API int kverbs_write_imm(struct kverbs_conn *conn, struct kverbs_buf *buf,
				size_t offset, size_t length,
				const struct kverbs_token *token,
				uint64_t remote_offset, uint32_t imm,
				struct kverbs_req *req);

/**
 * kverbs_read() - read from the peer's memory
 * @conn: the connection
 * @buf: the sink
 * @offset: destination in @buf
 * @length: bytes
 * @token: the peer's token
 * @remote_offset: start of the data in the token's range
 * @req: the request
 *
 * Return: as kverbs_write().
 */
KVERBS_API int kverbs_read(struct kverbs_conn *conn, struct kverbs_buf *buf,
			   size_t offset, size_t length,
			   const struct kverbs_token *token, uint64_t remote_offset,
			   struct kverbs_req *req);

/**
 * kverbs_writev() - write from several pieces into the peer's memory
 * @conn: the connection
 * @vec: the pieces, in order; not used after the call
 * @nr: number of pieces, at least 1, even more than KVERBS_LIST_MAX
 * @token: the peer's token
 * @remote_offset: destination in the token's range, of all pieces one after the other
 * @req: the request
 *
 * The data is split as that of kverbs_write(), and after KVERBS_LIST_MAX pieces.
 *
 * Return: as kverbs_write(); -EINVAL: a piece is not within its buffer.
 */
KVERBS_API int kverbs_writev(struct kverbs_conn *conn, const struct kverbs_vec *vec,
			     size_t nr, const struct kverbs_token *token,
			     uint64_t remote_offset, struct kverbs_req *req);

/**
 * kverbs_readv() - read from the peer's memory into several pieces
 * @conn: the connection
 * @vec: the pieces, filled in order; not used after the call
 * @nr: number of pieces, at least 1, even more than KVERBS_LIST_MAX
 * @token: the peer's token
 * @remote_offset: start of the data in the token's range
 * @req: the request
 *
 * Return: as kverbs_writev().
 */
KVERBS_API int kverbs_readv(struct kverbs_conn *conn, const struct kverbs_vec *vec,
			    size_t nr, const struct kverbs_token *token,
			    uint64_t remote_offset, struct kverbs_req *req);

/**
 * kverbs_fetch_add() - add to 8 bytes of the peer's memory
 * @conn: the connection
 * @buf: receives the previous value
 * @offset: destination in @buf; its 8 bytes must be aligned in memory
 * @token: the peer's token, with KVERBS_REMOTE_ATOMIC
 * @remote_offset: position in the token's range; must be aligned to 8 bytes in the
 *	peer's memory
 * @add: the number to add, modulo 2^64
 * @req: the request
 *
 * Both hosts must have the same byte order. The operation is atomic with respect to
 * other atomics of the peer's device, but not to the peer's CPU unless the device
 * guarantees more.
 *
 * Return: as kverbs_write(); -EINVAL not aligned; -EOPNOTSUPP on iWARP, or if the
 * device has no atomics.
 */
KVERBS_API int kverbs_fetch_add(struct kverbs_conn *conn, struct kverbs_buf *buf,
				size_t offset, const struct kverbs_token *token,
				uint64_t remote_offset, uint64_t add,
				struct kverbs_req *req);

/**
 * kverbs_cmp_swap() - replace 8 bytes of the peer's memory if they are as expected
 * @conn: the connection
 * @buf: receives the previous value
 * @offset: destination in @buf; its 8 bytes must be aligned in memory
 * @token: the peer's token, with KVERBS_REMOTE_ATOMIC
 * @remote_offset: position in the token's range; must be aligned to 8 bytes in the
 *	peer's memory
 * @expected: the expected value
 * @desired: the new value
 * @req: the request; it succeeds in either case: compare the previous value
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
 * @imm: SEND_IMM, WRITE_IMM: four bytes for the peer, not converted
 * @rkey: SEND_INV: the key to revoke
 * @flags: KVERBS_SQE_FENCE: the operation begins when earlier READs and atomics of the
 *	connection are complete; KVERBS_SQE_SOLICITED: a SEND or WRITE_IMM asks for a solicited
 *	event at the peer
 * @buf: the local buffer
 * @offset: start of the data in @buf
 * @length: bytes; ignored for an atomic, which has 8
 * @token: WRITE, WRITE_IMM, READ, atomics: the peer's token
 * @remote_offset: position in the token's range
 * @operand: FETCH_ADD: the number to add; CMP_SWAP: the expected value
 * @swap: CMP_SWAP: the new value
 * @req: the request; NULL: unsignalled, not possible for a RECV
 * @vec: all but atomics: the pieces of the local buffer, in order, in place of @buf, @offset
 *	and @length, which must be zero then; used if @nr_vec is not 0
 * @nr_vec: number of pieces, 0: the local buffer is one piece of @buf. A message has
 *	KVERBS_LIST_MAX pieces at most; a WRITE or READ may have more
 * @reserved: zero
 *
 * Members mean the same as the arguments of the operation's own function. Members
 * that an opcode does not use are ignored.
 */
struct kverbs_op {
	unsigned int opcode;
	uint32_t imm;
	uint32_t rkey;
	uint32_t flags;
	struct kverbs_buf *buf;
	size_t offset;
	size_t length;
	const struct kverbs_token *token;
	uint64_t remote_offset;
	uint64_t operand;
	uint64_t swap;
	struct kverbs_req *req;
	const struct kverbs_vec *vec;
	size_t nr_vec;
	uint64_t reserved[2];
};

/**
 * kverbs_post() - post operations together
 * @conn: the connection
 * @ops: the operations, in order; not used after the call
 * @nr: number of operations
 *
 * The operations are submitted with as few system calls as the context's sq_entries
 * permits. If the context's completion ring is full, kverbs_post() waits for room as
 * kverbs_send() does, but not for receives.
 *
 * An operation without a request generates no completion. It is complete once a later
 * request on the connection, other than a receive's, is complete. If it fails, that
 * request fails with its status, and the connection ends. If the kernel refuses it, the next
 * kverbs_post() of an operation without a request returns the error. The connection also
 * ends if such an operation covers several segments and only some of them can be posted.
 *
 * Return: the number of operations posted, from the first on; the requests of the
 * others will not complete. If none was posted, the -errno that the first one's own
 * function would return.
 */
KVERBS_API int kverbs_post(struct kverbs_conn *conn, const struct kverbs_op *ops,
			   size_t nr);

/**
 * kverbs_try_post() - post the operations that there is room for
 * @conn: the connection
 * @ops: the operations, in order; not used after the call
 * @nr: number of operations
 *
 * Like kverbs_post(), but never waits for room, which peers that take nothing may keep from
 * coming. An event loop or a request's callback posts with it and tries again when a request
 * has completed.
 *
 * Return: number of operations posted, from the first on; if none was, -EAGAIN: the
 * context's completion ring is full, -EMSGSIZE: the operation needs several entries, which
 * could be posted in part only, or what kverbs_post() returns.
 */
KVERBS_API int kverbs_try_post(struct kverbs_conn *conn, const struct kverbs_op *ops,
			       size_t nr);

/**
 * kverbs_post_wait() - post an operation, then wait until a request is complete
 * @conn: the connection
 * @op: the operation
 * @req: the request, often @op's own, or that of the receive for the answer
 * @timeout_ms: how long to wait
 *
 * The same as kverbs_post() and then kverbs_wait(), but with one system call if no other
 * thread waits at the moment.
 *
 * Return: as kverbs_post() if @op was not posted, and its request is then not in use, or
 * -EINVAL: @req has KVERBS_QUEUE; else as kverbs_wait(). Either may be -EINTR: if @op was not
 * posted, kverbs_wait() of its request returns -EINVAL at once.
 */
KVERBS_API int kverbs_post_wait(struct kverbs_conn *conn, const struct kverbs_op *op,
				struct kverbs_req *req, int timeout_ms);

/**
 * kverbs_wait() - wait until a request is complete
 * @req: the request
 * @timeout_ms: how long to wait
 *
 * If the request has a callback, kverbs_wait() waits until the callback has returned.
 *
 * Return: the request's result; -ETIMEDOUT, -EINTR: not complete, @req is still
 * in use; -EINVAL: it was never posted, or has KVERBS_QUEUE.
 */
KVERBS_API int kverbs_wait(struct kverbs_req *req, int timeout_ms);

/**
 * kverbs_wait_any() - wait until one of several requests is complete
 * @reqs: the requests, of connections of one context or worker; elements that are NULL or were
 *	never posted are skipped
 * @nr: length of @reqs, 1 to INT_MAX
 * @timeout_ms: how long to wait
 *
 * A request that has a callback counts when the callback has returned. Each completion costs time
 * in proportion to @nr: use kverbs_poll() for many requests.
 *
 * Return: the index of the first request in @reqs that is complete, and whose @result tells
 * whether it has failed; -ETIMEDOUT, -EINTR: none is complete, all are still in use; -EINVAL:
 * none was ever posted, one has KVERBS_QUEUE, they are of different contexts or workers, or @nr is
 * out of range.
 */
KVERBS_API int kverbs_wait_any(struct kverbs_req *const reqs[], size_t nr, int timeout_ms);

/**
 * kverbs_poll() - take complete requests from the queue of a context
 * @kv: the context
 * @reqs: set to the requests, in the order of completion
 * @nr: room in @reqs, at least 1
 * @timeout_ms: how long to wait for the first one
 *
 * A request with KVERBS_QUEUE as its @done goes to the queue when it is complete, even if
 * its connection is freed meanwhile. Until it is taken from there it is in use: it cannot be
 * posted again, and kverbs_complete() is false. Several threads may take requests; each request
 * is returned once.
 *
 * Functions that read completions, such as kverbs_process(), leave requests in the queue, and
 * kverbs_fd() is not readable because of them. An event loop calls kverbs_poll() with a time of
 * 0 until fewer than @nr are returned. kverbs_close() returns what is in the queue to the caller.
 *
 * Return: the number of requests, 0 if the time ran out; -EINVAL: @nr is 0; -EDEADLK: called
 * from a callback, the queue is empty, and the time is not 0; another -errno.
 */
KVERBS_API int kverbs_poll(struct kverbs *kv, struct kverbs_req *reqs[], size_t nr,
			   int timeout_ms);

/**
 * kverbs_watch() - wait until a peer has changed a byte
 * @conn: the connection of the peer; its end ends the wait
 * @byte: address of the byte, often the last one that the peer will write
 * @old: previous value of the byte
 * @timeout_ms: how long to wait
 *
 * A peer's WRITE or atomic generates no completion on this side. The calling thread
 * polls continuously, yields the CPU to other threads, and runs callbacks of
 * operations that complete. The byte says nothing about other bytes: those of the same
 * WRITE may arrive later, with mlx5 for instance. Let data be followed by a message or a
 * WRITE_IMM, or verify it.
 *
 * Return: 0 the byte differs from @old; -ETIMEDOUT; -EINTR; -EDEADLK: called from a
 * callback; else the error that ended the connection.
 */
KVERBS_API int kverbs_watch(struct kverbs_conn *conn, const void *byte, uint8_t old,
			    int timeout_ms);

/**
 * kverbs_post_watch() - post an operation, then wait until a peer has changed a byte
 * @conn: the connection
 * @op: the operation
 * @byte: address of the byte
 * @old: previous value of the byte
 * @timeout_ms: how long to wait
 *
 * The same as kverbs_post() and then kverbs_watch(), but with one system call if no other
 * thread waits at the moment.
 *
 * Return: as kverbs_post() if @op was not posted, and its request is then not in use;
 * else as kverbs_watch(), and @op may not be complete yet. -EINTR as with
 * kverbs_post_wait().
 */
KVERBS_API int kverbs_post_watch(struct kverbs_conn *conn, const struct kverbs_op *op,
				 const void *byte, uint8_t old, int timeout_ms);

/**
 * kverbs_complete() - check whether a request is complete
 * @req: the request
 *
 * Does not read new completions.
 *
 * Return: true if the request is complete. Its callback may still be running in
 * another thread. One with KVERBS_QUEUE is complete when kverbs_poll() has returned it.
 */
KVERBS_API bool kverbs_complete(const struct kverbs_req *req);

/* ---- failures --------------------------------------------------------- */

#define KVERBS_COUNTER_NAME	48	/* bytes of a counter's name, with its NUL */
#define KVERBS_EXPLAIN_COUNTERS	24	/* counters in an explanation */
#define KVERBS_EXPLAIN_CAUSES	3	/* causes in an explanation */

/**
 * kverbs_counters_read() - read the counters of all devices
 * @counters: set to them; free them with kverbs_counters_free()
 *
 * Reads some fifty files of sysfs for each port: below /sys/class/infiniband/DEVICE/ports/PORT all
 * of hw_counters, and those of counters/ that tell of errors and packets. The kernel may keep what
 * a device counts for 10 ms before it asks the device again.
 *
 * Return: 0, or -ENOMEM.
 */
KVERBS_API int kverbs_counters_read(struct kverbs_counters **counters);

/**
 * kverbs_counters_free() - free counters
 * @counters: from kverbs_counters_read(), or NULL
 */
KVERBS_API void kverbs_counters_free(struct kverbs_counters *counters);

/**
 * enum kverbs_counter_kind - what a device's counter counts
 * @KVERBS_COUNTER_OTHER: something else
 * @KVERBS_COUNTER_SENT: packets of RDMA sent
 * @KVERBS_COUNTER_RECEIVED: packets of RDMA received
 * @KVERBS_COUNTER_OUT_OF_SEQUENCE: packets that arrived, or whose loss a peer reported, out of
 *	sequence, and those sent again
 * @KVERBS_COUNTER_ACK_TIMEOUT: packets that were not acknowledged in time
 * @KVERBS_COUNTER_RNR_NAK: messages that a peer had no receive for
 * @KVERBS_COUNTER_NO_RECEIVE: messages that this host had no receive for
 * @KVERBS_COUNTER_CNP: congestion notifications (CNP), and packets marked by ECN
 * @KVERBS_COUNTER_DISCARD: packets discarded, or received with errors
 * @KVERBS_COUNTER_ACCESS: accesses to remote memory that were refused
 * @KVERBS_COUNTER_LINK: times that the link was down
 * @KVERBS_COUNTER_KINDS: number of kinds
 */
enum kverbs_counter_kind {
	KVERBS_COUNTER_OTHER = 0,
	KVERBS_COUNTER_SENT = 1,
	KVERBS_COUNTER_RECEIVED = 2,
	KVERBS_COUNTER_OUT_OF_SEQUENCE = 3,
	KVERBS_COUNTER_ACK_TIMEOUT = 4,
	KVERBS_COUNTER_RNR_NAK = 5,
	KVERBS_COUNTER_NO_RECEIVE = 6,
	KVERBS_COUNTER_CNP = 7,
	KVERBS_COUNTER_DISCARD = 8,
	KVERBS_COUNTER_ACCESS = 9,
	KVERBS_COUNTER_LINK = 10,
	KVERBS_COUNTER_KINDS = 11,
};

/**
 * struct kverbs_counter - a counter that has changed
 * @name: the driver's name of it
 * @kind: enum kverbs_counter_kind
 * @change: by how much
 */
struct kverbs_counter {
	char name[KVERBS_COUNTER_NAME];
	unsigned int kind;
	uint64_t change;
};

/**
 * enum kverbs_cause - why a connection or an operation may have failed
 * @KVERBS_CAUSE_NONE: none is known
 * @KVERBS_CAUSE_NO_LISTENER: no program listens on that port
 * @KVERBS_CAUSE_REFUSED: the program there refused the connection
 * @KVERBS_CAUSE_VERSION: the program there has another protocol, or another version of it
 * @KVERBS_CAUSE_NO_DEVICE: the route to the peer uses no RDMA device, or the device is gone
 * @KVERBS_CAUSE_ROUTE: there is no route to the peer, or it does not answer ARP or ND
 * @KVERBS_CAUSE_LINK: the port of this host's device is not ACTIVE
 * @KVERBS_CAUSE_FIREWALL: a firewall drops the packets
 * @KVERBS_CAUSE_PEER_DOWN: the peer's host, program or device is gone
 * @KVERBS_CAUSE_GID_TYPE: this host and the peer use different versions of RoCE
 * @KVERBS_CAUSE_PKEY: the partitions (P_Key) of this host and the peer do not match
 * @KVERBS_CAUSE_MTU: packets of the path's MTU do not pass
 * @KVERBS_CAUSE_LOSS: the network loses packets
 * @KVERBS_CAUSE_CONGESTION: the network is congested
 * @KVERBS_CAUSE_NO_RECEIVE: the peer has posted no receive
 * @KVERBS_CAUSE_SLOW: the program there does not answer
 * @KVERBS_CAUSE_LENGTH: a message is longer than its receive, or than the device permits
 * @KVERBS_CAUSE_ACCESS: the peer has not granted access to that memory, or has revoked it
 * @KVERBS_CAUSE_MEMLOCK: the limit of locked memory is too small
 * @KVERBS_CAUSE_RESOURCES: a device, or the limits of a cgroup, lack resources
 * @KVERBS_CAUSE_CLOSED: the program there ended the connection
 */
enum kverbs_cause {
	KVERBS_CAUSE_NONE = 0,
	KVERBS_CAUSE_NO_LISTENER = 1,
	KVERBS_CAUSE_REFUSED = 2,
	KVERBS_CAUSE_VERSION = 3,
	KVERBS_CAUSE_NO_DEVICE = 4,
	KVERBS_CAUSE_ROUTE = 5,
	KVERBS_CAUSE_LINK = 6,
	KVERBS_CAUSE_FIREWALL = 7,
	KVERBS_CAUSE_PEER_DOWN = 8,
	KVERBS_CAUSE_GID_TYPE = 9,
	KVERBS_CAUSE_PKEY = 10,
	KVERBS_CAUSE_MTU = 11,
	KVERBS_CAUSE_LOSS = 12,
	KVERBS_CAUSE_CONGESTION = 13,
	KVERBS_CAUSE_NO_RECEIVE = 14,
	KVERBS_CAUSE_SLOW = 15,
	KVERBS_CAUSE_LENGTH = 16,
	KVERBS_CAUSE_ACCESS = 17,
	KVERBS_CAUSE_MEMLOCK = 18,
	KVERBS_CAUSE_RESOURCES = 19,
	KVERBS_CAUSE_CLOSED = 20,
};

/* An end's GID type, enum kverbs_gid_type, or this: it is not known. */
#define KVERBS_GID_UNKNOWN	0xffu

/**
 * struct kverbs_failure - what has failed
 * @sz: sizeof(struct kverbs_failure)
 * @conn: the connection, in any state, or NULL: there was none
 * @error: the -errno, 0: the connection is only slow, or that which ended @conn
 * @wc_status: status of the operation that failed, enum ibv_wc_status by number, or 0: that of the
 *	first one that failed on @conn
 * @before: counters from before it, or NULL
 */
struct kverbs_failure {
	size_t sz;
	struct kverbs_conn *conn;
	int error;
	unsigned int wc_status;
	const struct kverbs_counters *before;
};

/**
 * struct kverbs_explanation - why it may have failed
 * @error: the -errno
 * @wc_status: as in struct kverbs_failure
 * @was_up: the connection was established
 * @device: the device's name, empty if it is not known
 * @port: its port
 * @transport: enum kverbs_transport
 * @port_state: enum ib_port_state by number, 4: ACTIVE; 0: not known
 * @mtu: the path's MTU in bytes; before it is known, the port's; 0: not known
 * @gid_type: of this host's end, enum kverbs_gid_type or KVERBS_GID_UNKNOWN
 * @peer_gid_type: of the peer's end
 * @nr_causes: length of @causes
 * @causes: enum kverbs_cause, the likeliest first
 * @nr_counters: length of @counters
 * @counters: counters of the port that have changed, those of known kinds first
 * @counted: bits of the kinds of counters that the device has
 * @total: changes of all counters of a kind, by kind
 */
struct kverbs_explanation {
	int error;
	unsigned int wc_status;
	bool was_up;
	char device[64];
	unsigned int port;
	unsigned int transport;
	unsigned int port_state;
	unsigned int mtu;
	unsigned int gid_type;
	unsigned int peer_gid_type;
	unsigned int nr_causes;
	unsigned int causes[KVERBS_EXPLAIN_CAUSES];
	unsigned int nr_counters;
	struct kverbs_counter counters[KVERBS_EXPLAIN_COUNTERS];
	unsigned int counted;
	uint64_t total[KVERBS_COUNTER_KINDS];
};

/**
 * kverbs_conn_explain() - say why a connection or an operation may have failed
 * @kv: the context
 * @failure: what has failed
 * @why: filled in
 * @sz: sizeof(struct kverbs_explanation)
 *
 * Ranks causes by the error, the state of the port, partitions and GIDs, and by what the device
 * has counted since @failure->before. Others that use the port are counted, too. Call it before the
 * connection is freed; in kverbs_connect() that is in @failed of struct kverbs_conn_opts. A
 * connection that is not known yet to use a device is explained by the only device, if there is
 * only one.
 *
 * Context: reads files of sysfs and calls the kernel; does not wait for the peer.
 * Return: 0; -EINVAL: @failure->conn is of another context; -ENOMEM, another -errno.
 */
KVERBS_API int kverbs_conn_explain(struct kverbs *kv, const struct kverbs_failure *failure,
				   struct kverbs_explanation *why, size_t sz);

/**
 * kverbs_cause_name() - name of a cause
 * @cause: enum kverbs_cause
 *
 * Return: a word such as "no-listener", never NULL.
 */
KVERBS_API const char *kverbs_cause_name(unsigned int cause);

/**
 * kverbs_cause_str() - describe a cause
 * @cause: enum kverbs_cause
 *
 * Return: such as "no program listens on that port", never NULL.
 */
KVERBS_API const char *kverbs_cause_str(unsigned int cause);

/**
 * kverbs_cause_remedy() - how to check or fix a cause
 * @cause: enum kverbs_cause
 *
 * Return: a sentence without a full stop, never NULL.
 */
KVERBS_API const char *kverbs_cause_remedy(unsigned int cause);

/**
 * kverbs_gid_type_str() - name of a GID type
 * @type: enum kverbs_gid_type, or KVERBS_GID_UNKNOWN
 *
 * Return: such as "RoCE v2", never NULL.
 */
KVERBS_API const char *kverbs_gid_type_str(unsigned int type);

/* ---- measuring -------------------------------------------------------- */

/**
 * struct kverbs_bench_opts - traffic to be generated by the kernel
 * @sz: sizeof(struct kverbs_bench_opts)
 * @flags: KVERBS_BENCH_*
 * @opcode: KVERBS_OP_SEND, SEND_IMM, WRITE, WRITE_IMM, READ or FETCH_ADD; FETCH_ADD
 *	adds 1
 * @buf: the buffer for all local data
 * @offset: start of the operations' data in @buf
 * @length: bytes of an operation
 * @token: the peer's memory, NULL for SEND*
 * @remote_offset: start of the operations' data in @token
 * @depth: operations in flight, 0: 1
 * @post_list: operations posted together, 0: 1
 * @cq_mod: signal one operation in this many, 0: each
 * @warm_up: operations before the measurement
 * @iterations: operations measured, or 0 with @duration_ms
 * @duration_ms: duration of the measurement, or 0 with @iterations
 * @timeout_ms: longest time without a completion, 0: 10000
 * @recvs: receives to keep posted
 * @recv_offset: start of the first receive in @buf; for the latency of a WRITE, of the
 *	memory where the peer answers
 * @recv_length: bytes of each receive
 * @recv_stride: distance of the receives' buffers, bytes
 * @credit: receives that the peer has posted at the start, or 0: no flow control
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
 * kverbs_bench() - let the kernel generate traffic on a connection, and time it
 * @conn: an established connection with nothing in flight; no other thread may use it
 * @opts: the traffic; struct kverbs_cmd_bench describes what the peer has to do
 * @result: filled in; its out_ fields are the result
 * @sz: sizeof(struct kverbs_cmd_bench)
 * @hist: array of KVERBS_BENCH_BUCKETS counts with KVERBS_BENCH_LATENCY, else NULL
 *
 * The traffic takes the path of in-kernel users of the verbs, such as NVMe over
 * Fabrics. The context's options decide whether a thread, a softirq, or polling
 * handles completions. When the function returns nothing is in flight. If receives
 * were posted, or if it failed, the connection has ended.
 *
 * Return: 0; -errno: if out_sent is not 0, traffic had started, and @result has what
 * was done until then. -EBUSY: work is in flight; -EOPNOTSUPP: not possible on this
 * device or transport, or the module kverbs_bench cannot be loaded; -EIO: an operation
 * failed with out_wc_status; -EINTR, -ETIMEDOUT, -ENOTCONN; -ENOTTY: the module kverbs
 * has no such command.
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
