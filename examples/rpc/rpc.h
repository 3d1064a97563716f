/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Remote procedure calls over one FI_EP_RDM endpoint of libfabric.
 *
 * A call names a registered handler of the server, carries some bytes and a deadline, and may
 * lend the server a piece of memory, from which the handler pulls or into which it pushes. Each
 * call ends once: with the handler's reply, or with -ETIMEDOUT at its deadline. No call is sent
 * again, so no handler runs twice for it.
 *
 * One thread at a time uses a struct rpc. Callbacks run in rpc_progress().
 */
#ifndef RPC_H
#define RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Bytes that a call or a reply carries; more goes by bulk */
#define RPC_DATA_MAX 4000

struct rpc;
struct rpc_mem;
struct rpc_request;

/**
 * struct rpc_bulk - memory that a call lends to the server, as it travels
 * @addr: address for RMA
 * @key: key for RMA
 * @length: bytes
 */
struct rpc_bulk {
	uint64_t addr;
	uint64_t key;
	uint64_t length;
};

/*
 * The end of a call: @status is the handler's, -ENOENT if there is no such handler, -ETIMEDOUT at
 * the deadline, -ECANCELED by rpc_close(); @data is valid during the callback.
 */
typedef void (*rpc_done)(void *arg, int status, const void *data, size_t length);
/* A call has come; @data is valid during the callback. The handler answers now or later. */
typedef void (*rpc_handler)(struct rpc_request *request, const void *data, size_t length,
			    void *arg);
/* The end of a transfer: 0 or -errno. */
typedef void (*rpc_moved)(struct rpc_request *request, void *arg, int error);

/**
 * rpc_open() - open an endpoint
 * @rpc: set to it
 * @provider: such as "kverbs;ofi_rxm"
 * @address: own address, NULL: any
 * @port: own port, NULL: any
 *
 * Return: 0 or -errno.
 */
int rpc_open(struct rpc **rpc, const char *provider, const char *address, const char *port);
/* Close it; calls that are under way end with -ECANCELED. All memory must be returned first. */
void rpc_close(struct rpc *rpc);

/* Register a handler of calls by this name. Returns 0 or -errno. */
int rpc_register(struct rpc *rpc, const char *name, rpc_handler handler, void *arg);

/* Find a server's number by its address. Returns 0 or -errno. */
int rpc_lookup(struct rpc *rpc, const char *address, const char *port, uint64_t *peer);

/**
 * rpc_call() - call a handler
 * @rpc: the endpoint
 * @peer: of rpc_lookup()
 * @name: of the handler
 * @data: what it gets; not used after the return
 * @length: bytes of @data, up to RPC_DATA_MAX
 * @bulk: memory that it may use, or NULL
 * @timeout_ms: the deadline, from now
 * @done: called when the call ends, with @arg
 *
 * After a call with @bulk has failed, the server may still use the memory. It must be taken back by
 * rpc_mem_close() before it is used again.
 *
 * Return: 0 or -errno, and then @done is not called.
 */
int rpc_call(struct rpc *rpc, uint64_t peer, const char *name, const void *data, size_t length,
	     const struct rpc_bulk *bulk, unsigned int timeout_ms, rpc_done done, void *arg);

/*
 * Register memory, for transfers of this side and, if the peer shall read or write it, of peers.
 * Returns 0 or -errno.
 */
int rpc_mem_open(struct rpc *rpc, void *mem, size_t length, bool peer_reads, bool peer_writes,
		 struct rpc_mem **opened);
/* Take memory back: no peer uses it when this has returned. */
void rpc_mem_close(struct rpc_mem *mem);
struct rpc_bulk rpc_mem_bulk(const struct rpc_mem *mem);

/* The memory that came with a request; its length is 0 if there is none. */
struct rpc_bulk rpc_request_bulk(const struct rpc_request *request);
/* True if the caller has given the request up. */
bool rpc_request_is_late(const struct rpc_request *request);
/*
 * Read memory of the caller, or write to it: @length bytes at @offset of its bulk, from or to those
 * at @at in @mem. Returns 0 or -errno, and then @moved is not called.
 */
int rpc_pull(struct rpc_request *request, uint64_t offset, struct rpc_mem *mem, size_t at,
	     size_t length, rpc_moved moved, void *arg);
int rpc_push(struct rpc_request *request, uint64_t offset, struct rpc_mem *mem, size_t at,
	     size_t length, rpc_moved moved, void *arg);
/* Answer, once for each request, which is gone then. Returns 0 or -errno. */
int rpc_reply(struct rpc_request *request, int status, const void *data, size_t length);

/*
 * Call the callbacks of what has happened. If there are none, wait for something to happen, up to
 * this long; -1: without a limit. Returns 0 or -errno.
 */
int rpc_progress(struct rpc *rpc, int timeout_ms);

#endif /* RPC_H */
