/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A connection that carries messages: slots to send from and to receive into,
 * one registered buffer for all of them.
 */
#ifndef KVERBS_TOOL_SESSION_H
#define KVERBS_TOOL_SESSION_H

#include <pthread.h>
#include <stdbool.h>

#include <kverbs.h>

#include "peer/explain.h"
#include "peer/tls.h"
#include "peer/wire.h"

/* Sessions that can be awaited at a time */
#define SESSION_AWAIT_MAX 8
/* Queued messages after which a SEND goes, so that the peer works while this side goes on */
#define SESSION_QUEUED_MAX 8

struct visit;

/**
 * struct session - one connection with its messages
 * @kv: the context
 * @lock: of @conn, against session_disconnect()
 * @conn: the connection
 * @disconnected: this side has ended the connection; atomic
 * @visit: what a server counts it as, or NULL
 * @hello: what the connector asked for; version 0: its protocol has no hello
 * @welcome: what the acceptor said, also if it refused
 * @refusal: why the acceptor refused, enum wire_refusal, or 0
 * @before: counters from before the connection, or NULL
 * @explained: the first failure has an explanation
 * @why: the explanation
 * @local: this side's address
 * @addr: the other side's address
 * @peer: the same, as text
 * @param: depths of the connection
 * @timeout_ms: bound of every wait
 * @stop: ends waits when it becomes non-zero and a signal comes, or NULL
 * @mem: the slots: @depth to receive into, @depth to send from
 * @slot: bytes between slots
 * @depth: slots of each kind
 * @recv: one request for each receive slot
 * @send: one request for each send slot
 * @received: messages taken so far
 * @sent: messages sent so far
 * @bytes_in: bytes of messages taken so far
 * @bytes_out: bytes of messages sent so far
 * @end: no more messages than that, since no receive could be posted again; 0: any
 * @held: the slot of the last message is not posted again yet
 * @tls: with a key: messages are records of it, or NULL
 * @clear: with a key: the message being sent, then the last one taken
 * @several: the peer takes several messages in a SEND
 * @queued: bytes of messages in the next send slot, or in @clear, that are not sent yet
 * @nr_queued: how many of them session_queue() has added
 * @queued_at: when the first of them was queued, ns
 * @before_send: posts what queued messages tell the peer of, or NULL
 * @before_arg: for it
 * @rest: messages of the last SEND that are not taken yet
 * @rest_len: their bytes
 * @keyed: both have proved to have a key, on this connection
 * @mac_key: made of it for digests on this connection alone
 */
struct session {
	struct kverbs *kv;
	pthread_mutex_t lock;
	struct kverbs_conn *conn;
	bool disconnected;
	struct visit *visit;
	struct wire_hello hello;
	struct wire_hello welcome;
	unsigned int refusal;
	struct explain_base *before;
	bool explained;
	struct kverbs_explanation why;
	struct kverbs_addr local;
	struct kverbs_addr addr;
	char peer[64];
	struct kverbs_conn_param param;
	int timeout_ms;
	const int *stop;
	struct kverbs_buf *mem;
	size_t slot;
	unsigned int depth;
	struct kverbs_req *recv;
	struct kverbs_req *send;
	uint64_t received;
	uint64_t sent;
	uint64_t bytes_in;
	uint64_t bytes_out;
	uint64_t end;
	bool held;
	struct tls *tls;
	uint8_t *clear;
	bool several;
	size_t queued;
	unsigned int nr_queued;
	uint64_t queued_at;
	int (*before_send)(void *arg);
	void *before_arg;
	const uint8_t *rest;
	size_t rest_len;
	bool keyed;
	uint8_t mac_key[WIRE_MAC_KEY_LEN];
};

/**
 * struct session_to - where to connect to
 * @host: name or number
 * @port: service name or port number
 * @source: local address or NULL
 * @key_file: of a key that both prove to have, or NULL; see kv_connect()
 * @key_name: of the key in that file, or NULL
 * @timeout_ms: for the connection, and for every wait on it
 * @connect_ms: for the connection, in place of @timeout_ms, or 0
 * @keepalive_ms: interval at which an idle peer is probed, 0: never
 * @explain: failures are explained in full
 */
struct session_to {
	const char *host;
	const char *port;
	const char *source;
	const char *key_file;
	const char *key_name;
	int timeout_ms;
	int connect_ms;
	unsigned int keepalive_ms;
	bool explain;
};

int session_connect(struct session *s, struct kverbs *kv, const struct session_to *to,
		    const struct wire_hello *hello);
/* Take a request over; session_accept() it. */
void session_init(struct session *s, struct kverbs *kv, struct kverbs_conn *conn,
		  const struct wire_hello *hello);
int session_accept(struct session *s, uint32_t flags, int timeout_ms);
/* The two that this is made of: have slots; say yes, and wait @accept_ms for the peer. */
int session_open(struct session *s);
int session_answer(struct session *s, uint32_t flags, int timeout_ms, int accept_ms);
/* Memory that the messages of a session take, without what OpenSSL allocates */
uint64_t session_bytes(const struct wire_hello *hello);
/* From another thread: all waits end. */
void session_disconnect(struct session *s);
void session_stop(struct session *s);
void session_free(struct session *s);

/*
 * Explain why @err came, unless an earlier failure is explained. The connection may have ended,
 * and before session_stop() more is known of it.
 */
void session_explain(struct session *s, int err);
/*
 * The same for another connection of the same command, in place of what is known; @wc_status 0:
 * that of its first operation that failed.
 */
void session_explain_conn(struct session *s, struct kverbs_conn *conn, int err,
			  unsigned int wc_status);
/* Print the explanation of @err. */
void session_print_why(struct session *s, int err, bool in_full);

/* For digests, or NULL without a key */
const uint8_t *session_mac_key(const struct session *s);
/* Whether an error of a call on the connection means that the connection is over. */
bool session_broken(struct session *s, int err);
/*
 * Why work on an ended connection failed, before its event is known: -ECANCELED after
 * session_disconnect(), else -ECONNRESET.
 */
int session_end_error(const struct session *s);
bool session_stopped(const struct session *s);
int session_wait(struct session *s, struct kverbs_req *req, int timeout_ms);
int session_send(struct session *s, const struct wire_msg *msg);
/*
 * Send a message for which the peer need not hurry, with others in one SEND if the peer takes them.
 * It is sent before this side waits for a message, with the next session_send(), or when the SEND
 * is full or has SESSION_QUEUED_MAX of them, or when a later call finds it 2 ms old.
 */
int session_queue(struct session *s, const struct wire_msg *msg);
/* Send what is queued; the other: if it is 2 ms old. */
int session_push(struct session *s);
int session_push_old(struct session *s);
int session_recv(struct session *s, struct wire_msg *msg, int timeout_ms);
/*
 * Wait until one of @nr sessions of one context, at most SESSION_AWAIT_MAX, has a message or has
 * ended, which session_recv() then tells at once. Returns its index, or -errno.
 */
int session_await(struct session *const sessions[], unsigned int nr, int timeout_ms);
int session_send_raw(struct session *s, const void *buf, size_t len);
int session_recv_raw(struct session *s, const void **buf, size_t *len, int timeout_ms);
/* The last message was read: post its slot before the next one is awaited. */
int session_release(struct session *s);
int session_flush(struct session *s);
int session_echo(struct session *s, const struct wire_msg *msg);

#endif /* KVERBS_TOOL_SESSION_H */
