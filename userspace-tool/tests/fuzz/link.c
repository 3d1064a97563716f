// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <arpa/inet.h>

#include "fake_kernel.h"
#include "fuzz.h"
#include "link.h"

#define SLOT	WIRE_MSG_MAX

static uint8_t slots[(LINK_RECVS + LINK_MSGS_MAX) * SLOT];
static uint8_t windows[LINK_WINDOWS * LINK_WINDOW];

static const struct wire_hello files_hello = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_FILES,
	.msg_max = WIRE_MSG_MAX,
	.depth = LINK_DEPTH,
};

static size_t send_at(unsigned int i)
{
	return (LINK_RECVS + i) * (size_t)SLOT;
}

static void dial(struct link *l)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	unsigned int i;

	to.sin_port = htons(kverbs_listener_port(l->listener));
	inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
	assert(!kverbs_connect_start(l->kv, (void *)&to, NULL, &l->conn));
	assert(!kverbs_buf_register(l->kv, slots, sizeof(slots), 0, &l->mem));
	for (i = 0; i < LINK_RECVS; i++)
		assert(!kverbs_recv(l->conn, l->mem, i * (size_t)SLOT, SLOT, &l->recv[i]));
}

static void answer(struct link *l)
{
	struct kverbs_conn *conn;

	assert(!kverbs_next_request(l->listener, 1000, &conn));
	session_init(&l->s, l->kv, conn, &files_hello);
	assert(!session_accept(&l->s, 0, 0));
	assert(!kverbs_conn_wait(l->conn, 1000));
}

void link_open(struct link *l)
{
	memset(l, 0, sizeof(*l));
	fake_reset();
	fake.loopback = true;
	assert(!kverbs_open(&l->kv, NULL));
	assert(!kverbs_listen(l->kv, "192.0.2.1", "0", 0, &l->listener));
	dial(l);
	answer(l);
	assert(!kverbs_buf_register(l->kv, windows, sizeof(windows), 0, &l->windows));
}

void link_send(struct link *l, const void *bytes, size_t len)
{
	assert(l->sent < LINK_MSGS_MAX && len <= SLOT);
	if (len)
		memcpy(slots + send_at(l->sent), bytes, len);
	assert(!kverbs_send(l->conn, l->mem, send_at(l->sent), len, &l->send[l->sent]));
	l->sent++;
}

const struct kverbs_token *link_token(struct link *l, unsigned int window)
{
	struct kverbs_token *token = &l->tokens[window];

	if (!token->segs)
		assert(!kverbs_export(l->conn, l->windows, window * (size_t)LINK_WINDOW,
				      LINK_WINDOW, KVERBS_REMOTE_WRITE, token));
	return token;
}

void *link_window(const struct link *l, unsigned int window)
{
	(void)l;
	return windows + window * (size_t)LINK_WINDOW;
}

/* The last message may be cut off, but not within a word. */
static void check_said(struct link *l)
{
	struct wire_msg msg;
	unsigned int i;

	for (i = 0; i < LINK_RECVS && !kverbs_wait(&l->recv[i], 0); i++) {
		assert(!wire_decode(&msg, slots + i * (size_t)SLOT, l->recv[i].byte_len));
		assert(msg.type >= WIRE_SINK);
	}
}

void link_close(struct link *l)
{
	unsigned int i;

	session_free(&l->s);
	check_said(l);
	kverbs_conn_free(l->conn);
	kverbs_listener_free(l->listener);
	for (i = 0; i < LINK_WINDOWS; i++)
		kverbs_token_free(&l->tokens[i]);
	kverbs_buf_free(l->windows);
	kverbs_buf_free(l->mem);
	kverbs_close(l->kv);
	assert(!fake_leftovers());
}
