// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Two contexts, a server and a client, and the data between them */
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>

#include "t.h"

#define LEN 50000u
#define NR_CLIENTS 8
#define NR_ECHOES 100

struct pair {
	struct kverbs *skv, *ckv;
	struct kverbs_listener *listener;
	struct kverbs_conn *server, *client;
	struct kverbs_buf *sbuf, *cbuf;
};

static int setup(void **state)
{
	struct pair *p = test_calloc(1, sizeof(*p));

	fake_reset();
	fake.loopback = true;
	fake.max_segment = 3000;
	*state = p;
	if (kverbs_open(&p->skv, NULL) || kverbs_open(&p->ckv, NULL))
		return -1;
	return kverbs_listen(p->skv, "192.0.2.1", "7472", 0, &p->listener);
}

static int teardown(void **state)
{
	struct pair *p = *state;

	kverbs_close(p->ckv);
	kverbs_close(p->skv);
	test_free(p);
	return fake_leftovers() ? -1 : 0;
}

static void *accept_one(void *arg)
{
	struct pair *p = arg;
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .priv = "hi", .priv_len = 3 };

	if (kverbs_next_request(p->listener, -1, &p->server))
		return p;
	return kverbs_accept(p->server, &opts) ? p : NULL;
}

static void join_pair(struct pair *p)
{
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .priv = "ho", .priv_len = 3 };
	pthread_t thread;
	void *failed;

	assert_int_equal(pthread_create(&thread, NULL, accept_one, p), 0);
	assert_int_equal(kverbs_connect(p->ckv, "192.0.2.1", "7472", &opts, &p->client),
			 0);
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_int_equal(kverbs_buf_alloc(p->skv, LEN, &p->sbuf), 0);
	assert_int_equal(kverbs_buf_alloc(p->ckv, LEN, &p->cbuf), 0);
}

static void fill(struct kverbs_buf *buf, unsigned int seed)
{
	uint8_t *p = kverbs_buf_addr(buf);
	size_t i;

	for (i = 0; i < kverbs_buf_size(buf); i++)
		p[i] = (uint8_t)(i * 7 + i / 251 + seed);
}

static void peers_connect_and_exchange_private_data(void **state)
{
	struct pair *p = *state;
	char priv[8];

	join_pair(p);
	assert_int_equal(kverbs_conn_priv(p->server, priv, 8), 3);
	assert_string_equal(priv, "ho");
	assert_int_equal(kverbs_conn_priv(p->client, priv, 8), 3);
	assert_string_equal(priv, "hi");
}

static void a_message_arrives(void **state)
{
	struct pair *p = *state;
	struct kverbs_req send = { 0 }, recv = { 0 };

	join_pair(p);
	fill(p->cbuf, 1);
	assert_int_equal(kverbs_recv(p->server, p->sbuf, 100, 500, &recv), 0);
	assert_int_equal(kverbs_send(p->client, p->cbuf, 7, 400, &send), 0);
	assert_int_equal(kverbs_wait(&recv, -1), 0);
	assert_int_equal(kverbs_wait(&send, -1), 0);
	assert_int_equal(recv.byte_len, 400);
	assert_memory_equal((char *)kverbs_buf_addr(p->sbuf) + 100,
			    (char *)kverbs_buf_addr(p->cbuf) + 7, 400);
}

static void a_message_from_any_memory_arrives(void **state)
{
	struct pair *p = *state;
	struct kverbs_req send = { 0 }, recv = { 0 };
	const char text[] = "from the stack";

	join_pair(p);
	assert_int_equal(kverbs_recv(p->server, p->sbuf, 100, 500, &recv), 0);
	assert_int_equal(kverbs_send_copy(p->client, text, sizeof(text), &send), 0);
	assert_int_equal(kverbs_wait(&recv, -1), 0);
	assert_int_equal(kverbs_wait(&send, -1), 0);
	assert_int_equal(recv.byte_len, sizeof(text));
	assert_string_equal((char *)kverbs_buf_addr(p->sbuf) + 100, text);
}

/* Pass the server's token to the client in packed form. */
static struct kverbs_token pass_token(struct pair *p, struct kverbs_token *own,
				      unsigned int access)
{
	struct kverbs_token token;
	uint8_t packed[4096];
	int len;

	assert_int_equal(kverbs_export(p->server, p->sbuf, 10, LEN - 10, access, own), 0);
	len = kverbs_token_pack(own, packed, sizeof(packed));
	assert_int_equal(len, kverbs_token_packed_size(own));
	assert_int_equal(kverbs_token_unpack(&token, packed, sizeof(packed)), len);
	return token;
}

static void written_bytes_arrive_over_all_segments(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_token own, token;

	join_pair(p);
	fill(p->cbuf, 2);
	token = pass_token(p, &own, KVERBS_REMOTE_WRITE);
	assert_int_equal(token.nr_segs, 17);
	assert_int_equal(kverbs_write(p->client, p->cbuf, 3, 40000, &token, 1234, &req),
			 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(req.byte_len, 40000);
	assert_memory_equal((char *)kverbs_buf_addr(p->sbuf) + 10 + 1234,
			    (char *)kverbs_buf_addr(p->cbuf) + 3, 40000);
	assert_int_equal(((char *)kverbs_buf_addr(p->sbuf))[10 + 1233], 0);
	assert_int_equal(((char *)kverbs_buf_addr(p->sbuf))[10 + 1234 + 40000], 0);
	kverbs_token_free(&token);
	assert_int_equal(kverbs_unexport(p->server, &own), 0);
}

/* Client @i is in the group of the server's end, or not. */
static void accept_two(struct pair *p, struct kverbs_group *group,
		       struct kverbs_conn *clients[2])
{
	struct kverbs_conn_opts opts = { .sz = sizeof(opts) };
	struct sockaddr_in dst = {
		.sin_family = AF_INET,
		.sin_port = htons(7472),
		.sin_addr.s_addr = htonl(0xc0000201),
	};
	struct kverbs_conn *server;
	int i;

	for (i = 0; i < 2; i++) {
		assert_int_equal(kverbs_connect_start(p->ckv, (struct sockaddr *)&dst, NULL,
						      &clients[i]), 0);
		assert_int_equal(kverbs_next_request(p->listener, -1, &server), 0);
		opts.group = i ? NULL : group;
		assert_int_equal(kverbs_accept(server, &opts), 0);
		assert_int_equal(kverbs_conn_wait(clients[i], -1), 0);
	}
}

static void a_groups_key_is_valid_on_its_connections_only(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_conn *clients[2];
	struct kverbs_group *group;
	struct kverbs_token token;

	assert_int_equal(kverbs_buf_alloc(p->skv, LEN, &p->sbuf), 0);
	assert_int_equal(kverbs_buf_alloc(p->ckv, LEN, &p->cbuf), 0);
	assert_int_equal(kverbs_group_create(p->skv, 0, &group), 0);
	accept_two(p, group, clients);
	fill(p->sbuf, 3);
	assert_int_equal(kverbs_group_export(group, p->sbuf, 0, LEN, KVERBS_REMOTE_READ,
					     &token), 0);
	assert_int_equal(kverbs_read(clients[0], p->cbuf, 0, LEN, &token, 0, &req), 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_memory_equal(kverbs_buf_addr(p->cbuf), kverbs_buf_addr(p->sbuf), LEN);
	assert_int_equal(kverbs_read(clients[1], p->cbuf, 0, LEN, &token, 0, &req), 0);
	assert_int_equal(kverbs_wait(&req, -1), -EIO);
	assert_int_equal(kverbs_group_unexport(group, &token), 0);
}

static void read_bytes_come_over_all_segments(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_token own, token;

	join_pair(p);
	fill(p->sbuf, 3);
	token = pass_token(p, &own, KVERBS_REMOTE_READ);
	assert_int_equal(kverbs_read(p->client, p->cbuf, 5, 30000, &token, 2999, &req), 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_memory_equal((char *)kverbs_buf_addr(p->cbuf) + 5,
			    (char *)kverbs_buf_addr(p->sbuf) + 10 + 2999, 30000);
	kverbs_token_free(&token);
	kverbs_token_free(&own);
}

static void immediate_data_comes_after_the_bytes(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 }, recv = { 0 };
	struct kverbs_token own, token;

	join_pair(p);
	fill(p->cbuf, 4);
	token = pass_token(p, &own, KVERBS_REMOTE_WRITE);
	assert_int_equal(kverbs_recv(p->server, NULL, 0, 0, &recv), 0);
	assert_int_equal(kverbs_write_imm(p->client, p->cbuf, 0, 9000, &token, 0,
					  0xcafe, &req), 0);
	assert_int_equal(kverbs_wait(&recv, -1), 0);
	assert_int_equal(recv.imm, 0xcafe);
	assert_true(recv.flags & KVERBS_CQE_F_WRITE);
	assert_memory_equal((char *)kverbs_buf_addr(p->sbuf) + 10,
			    kverbs_buf_addr(p->cbuf), 9000);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	kverbs_token_free(&token);
	kverbs_token_free(&own);
}

static void a_message_carries_immediate_data(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 }, recv = { 0 };

	join_pair(p);
	assert_int_equal(kverbs_recv(p->server, p->sbuf, 0, 100, &recv), 0);
	assert_int_equal(kverbs_send_imm(p->client, p->cbuf, 0, 10, 0xcafe, &req), 0);
	assert_int_equal(kverbs_wait(&recv, -1), 0);
	assert_int_equal(recv.imm, 0xcafe);
	assert_int_equal(recv.flags, KVERBS_CQE_F_RECV | KVERBS_CQE_F_IMM);
	assert_int_equal(recv.byte_len, 10);
	assert_int_equal(kverbs_wait(&req, -1), 0);
}

static void a_message_invalidates_a_key(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 }, recv = { 0 };

	join_pair(p);
	assert_int_equal(kverbs_recv(p->server, NULL, 0, 0, &recv), 0);
	assert_int_equal(kverbs_send_inv(p->client, NULL, 0, 0, 0x4711, &req), 0);
	assert_int_equal(kverbs_wait(&recv, -1), 0);
	assert_int_equal(recv.imm, 0x4711);
	assert_int_equal(recv.flags, KVERBS_CQE_F_RECV | KVERBS_CQE_F_INV);
	assert_int_equal(kverbs_wait(&req, -1), 0);
}

static void a_message_goes_from_pieces_to_pieces(void **state)
{
	struct pair *p = *state;
	struct kverbs_vec from[2] = { { NULL, 100, 50 }, { NULL, 3, 20 } };
	struct kverbs_vec to[3] = { { NULL, 900, 10 }, { NULL, 0, 45 }, { NULL, 500, 100 } };
	struct kverbs_req req = { 0 }, recv = { 0 };
	const char *src, *dst;

	join_pair(p);
	from[0].buf = p->cbuf;
	from[1].buf = p->cbuf;
	to[0].buf = p->sbuf;
	to[1].buf = p->sbuf;
	to[2].buf = p->sbuf;
	src = kverbs_buf_addr(p->cbuf);
	dst = kverbs_buf_addr(p->sbuf);
	fill(p->cbuf, 5);
	assert_int_equal(kverbs_recvv(p->server, to, 3, &recv), 0);
	assert_int_equal(kverbs_sendv(p->client, from, 2, &req), 0);
	assert_int_equal(kverbs_wait(&recv, -1), 0);
	assert_int_equal(recv.byte_len, 70);
	assert_memory_equal(dst + 900, src + 100, 10);
	assert_memory_equal(dst, src + 110, 40);
	assert_memory_equal(dst + 40, src + 3, 5);
	assert_memory_equal(dst + 500, src + 8, 15);
	assert_int_equal(kverbs_wait(&req, -1), 0);
}

/* Pieces that neither begin nor end where the segments of the token do. */
static void cut_pieces(struct kverbs_buf *buf, struct kverbs_vec vec[5])
{
	size_t i;

	for (i = 0; i < 5; i++)
		vec[i] = (struct kverbs_vec) { buf, 40000 - 9000 * i, 1000 + 1100 * i };
}

/* Check that the pieces of the client's memory are equal to the server's, from @at on. */
static void check_pieces(struct pair *p, const struct kverbs_vec vec[5], size_t at)
{
	const char *there = (char *)kverbs_buf_addr(p->sbuf) + at;
	const char *here = kverbs_buf_addr(p->cbuf);
	size_t i;

	for (i = 0; i < 5; there += vec[i++].length)
		assert_memory_equal(there, here + vec[i].offset, vec[i].length);
}

static void pieces_are_written_over_all_segments(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_token own, token;
	struct kverbs_vec vec[5];

	join_pair(p);
	fill(p->cbuf, 6);
	cut_pieces(p->cbuf, vec);
	token = pass_token(p, &own, KVERBS_REMOTE_WRITE);
	assert_int_equal(kverbs_writev(p->client, vec, 5, &token, 1234, &req), 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(req.byte_len, 16000);
	check_pieces(p, vec, 10 + 1234);
	kverbs_token_free(&token);
	kverbs_token_free(&own);
}

static void bytes_of_all_segments_are_read_into_pieces(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_token own, token;
	struct kverbs_vec vec[5];

	join_pair(p);
	fill(p->sbuf, 7);
	cut_pieces(p->cbuf, vec);
	token = pass_token(p, &own, KVERBS_REMOTE_READ);
	assert_int_equal(kverbs_readv(p->client, vec, 5, &token, 2999, &req), 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(req.byte_len, 16000);
	check_pieces(p, vec, 10 + 2999);
	/* Nothing was stored around the pieces. */
	assert_int_equal(((char *)kverbs_buf_addr(p->cbuf))[40000 - 1], 0);
	assert_int_equal(((char *)kverbs_buf_addr(p->cbuf))[40000 + 1000], 0);
	kverbs_token_free(&token);
	kverbs_token_free(&own);
}

static void wrong_pieces_are_refused(void **state)
{
	struct pair *p = *state;
	struct kverbs_vec vec[KVERBS_LIST_MAX + 1];
	struct kverbs_req req = { 0 };
	size_t i;

	join_pair(p);
	for (i = 0; i <= KVERBS_LIST_MAX; i++)
		vec[i] = (struct kverbs_vec) { p->cbuf, i, 1 };
	assert_int_equal(kverbs_sendv(p->client, vec, 0, &req), -EINVAL);
	assert_int_equal(kverbs_sendv(p->client, vec, KVERBS_LIST_MAX + 1, &req), -EINVAL);
	vec[1].length = 0;
	assert_int_equal(kverbs_sendv(p->client, vec, 2, &req), -EINVAL);
	vec[1].length = kverbs_buf_size(p->cbuf);
	assert_int_equal(kverbs_sendv(p->client, vec, 2, &req), -EINVAL);
	vec[1].buf = NULL;
	assert_int_equal(kverbs_sendv(p->client, vec, 2, &req), -EINVAL);
}

/* The token starts 10 bytes into the buffer. */
static void atomics_return_what_was_there(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_token own, token;
	uint64_t *there, *was;

	join_pair(p);
	there = (uint64_t *)((char *)kverbs_buf_addr(p->sbuf) + 16);
	was = kverbs_buf_addr(p->cbuf);
	token = pass_token(p, &own, KVERBS_REMOTE_ATOMIC);
	*there = 40;
	assert_int_equal(kverbs_fetch_add(p->client, p->cbuf, 0, &token, 6, 2, &req), 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(*was, 40);
	assert_int_equal(*there, 42);
	assert_int_equal(kverbs_cmp_swap(p->client, p->cbuf, 8, &token, 6, 41, 7, &req), 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(was[1], 42);
	assert_int_equal(*there, 42);
	assert_int_equal(kverbs_cmp_swap(p->client, p->cbuf, 8, &token, 6, 42, 7, &req), 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(*there, 7);
	kverbs_token_free(&token);
	kverbs_token_free(&own);
}

static void atomics_need_their_right_and_8_bytes_in_one_segment(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_token own, token;

	join_pair(p);
	token = pass_token(p, &own, KVERBS_REMOTE_ATOMIC);
	assert_true(token.nr_segs > 1);
	assert_int_equal(kverbs_fetch_add(p->client, p->cbuf, 0, &token,
					  token.segs[0].length - 4, 2, &req), -ERANGE);
	assert_int_equal(kverbs_fetch_add(p->client, p->cbuf, 0, &token,
					  token.length - 4, 2, &req), -ERANGE);
	assert_int_equal(kverbs_fetch_add(p->client, p->cbuf, 0, NULL, 0, 2, &req), -EINVAL);
	token.access = KVERBS_REMOTE_WRITE;
	assert_int_equal(kverbs_fetch_add(p->client, p->cbuf, 0, &token, 6, 2, &req),
			 -EACCES);
	kverbs_token_free(&token);
	kverbs_token_free(&own);
}

static void an_invalidated_key_gives_no_access(void **state)
{
	struct pair *p = *state;
	struct kverbs_req req = { 0 };
	struct kverbs_token own, token;

	join_pair(p);
	token = pass_token(p, &own, KVERBS_REMOTE_WRITE);
	assert_int_equal(kverbs_unexport(p->server, &own), 0);
	assert_int_equal(kverbs_write(p->client, p->cbuf, 0, 1, &token, 0, &req), 0);
	assert_int_equal(kverbs_wait(&req, -1), -EIO);
	assert_string_equal(kverbs_wc_status_str(req.wc_status), "remote access error");
	kverbs_token_free(&token);
}

static void the_peer_learns_of_a_disconnect(void **state)
{
	struct pair *p = *state;
	struct kverbs_req recv = { 0 };

	join_pair(p);
	assert_int_equal(kverbs_recv(p->server, p->sbuf, 0, 1, &recv), 0);
	kverbs_conn_free(p->client);
	assert_int_equal(kverbs_wait(&recv, -1), -EIO);
	assert_int_equal(kverbs_conn_wait(p->server, -1), -ECONNRESET);
}

static void a_peer_has_all_messages_when_the_connection_is_shut_down(void **state)
{
	struct pair *p = *state;
	struct kverbs_req recv[3] = { 0 };
	struct kverbs_op ops[2] = { { .opcode = KVERBS_OP_SEND }, { .opcode = KVERBS_OP_SEND } };
	unsigned int i;

	join_pair(p);
	for (i = 0; i < 3; i++)
		assert_int_equal(kverbs_recv(p->server, p->sbuf, i, 1, &recv[i]), 0);
	assert_int_equal(kverbs_post(p->client, ops, 2), 2);
	assert_int_equal(kverbs_shutdown(p->client, -1), 0);
	assert_int_equal(kverbs_wait(&recv[0], -1), 0);
	assert_int_equal(kverbs_wait(&recv[1], -1), 0);
	assert_int_equal(kverbs_wait(&recv[2], -1), -EIO);
	assert_int_equal(kverbs_shutdown(p->server, -1), -ECONNRESET);
}

static void a_port_without_listener_refuses(void **state)
{
	struct pair *p = *state;
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect(p->ckv, "192.0.2.1", "9", NULL, &conn),
			 -ECONNREFUSED);
	kverbs_listener_free(p->listener);
	assert_int_equal(kverbs_connect(p->ckv, "192.0.2.1", "7472", NULL, &conn),
			 -ECONNREFUSED);
}

static void *reject_one(void *arg)
{
	struct pair *p = arg;
	struct kverbs_conn *conn;

	if (kverbs_next_request(p->listener, -1, &conn))
		return p;
	return kverbs_reject(conn, "no", 3) ? p : NULL;
}

static bool read_reason(struct kverbs_conn *conn, void *reason)
{
	assert_int_equal(kverbs_conn_priv(conn, reason, 8), 3);
	return true;
}

static void a_rejected_connection_is_refused_with_private_data(void **state)
{
	struct pair *p = *state;
	char reason[8] = "";
	const struct kverbs_conn_opts opts = {
		.sz = sizeof(opts), .refused = read_reason, .arg = reason,
	};
	struct kverbs_conn *conn;
	pthread_t thread;
	void *failed;

	assert_int_equal(pthread_create(&thread, NULL, reject_one, p), 0);
	assert_int_equal(kverbs_connect(p->ckv, "192.0.2.1", "7472", &opts, &conn),
			 -ECONNREFUSED);
	pthread_join(thread, &failed);
	assert_null(failed);
	assert_string_equal(reason, "no");
}

/* ---- a server with callbacks, and many clients ---------------------------------------- */

/* A message of a connection, sent back from the buffer that received it. */
struct echo {
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	struct kverbs_req recv, send;
};

static void send_back(struct kverbs_req *req)
{
	struct echo *e = req->data;

	if (!req->result)
		kverbs_send(e->conn, e->buf, 0, req->byte_len, &e->send);
}

static void receive_again(struct kverbs_req *req)
{
	struct echo *e = req->data;

	if (!req->result)
		kverbs_recv(e->conn, e->buf, 0, 64, &e->recv);
}

static struct echo echoes[NR_CLIENTS];

static void *serve_echoes(void *arg)
{
	struct pair *p = arg;
	unsigned int i;

	for (i = 0; i < NR_CLIENTS; i++) {
		struct echo *e = &echoes[i];

		memset(e, 0, sizeof(*e));
		e->recv.done = send_back;
		e->send.done = receive_again;
		e->recv.data = e;
		e->send.data = e;
		if (kverbs_next_request(p->listener, -1, &e->conn) ||
		    kverbs_buf_alloc(p->skv, 64, &e->buf) ||
		    kverbs_recv(e->conn, e->buf, 0, 64, &e->recv) ||
		    kverbs_accept(e->conn, NULL))
			return p;
	}
	for (i = 0; i < NR_CLIENTS; i++)
		while (!kverbs_conn_error(echoes[i].conn))
			kverbs_process(p->skv, -1);
	return NULL;
}

static int echo_once(struct kverbs_conn *conn, struct kverbs_buf *buf, const char *text)
{
	struct kverbs_req send = { 0 }, recv = { 0 };
	char *p = kverbs_buf_addr(buf);
	int ret;

	memset(p, 0, 128);
	snprintf(p, 64, "%s", text);
	ret = kverbs_recv(conn, buf, 64, 64, &recv);
	if (!ret)
		ret = kverbs_send(conn, buf, 0, strlen(text) + 1, &send);
	if (!ret)
		ret = kverbs_wait(&recv, -1);
	if (!ret)
		ret = kverbs_wait(&send, -1);
	return ret ? ret : strcmp(p + 64, text);
}

static void *echo_client(void *arg)
{
	struct kverbs *kv = arg;
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	char text[64];
	int i, ret;

	if (kverbs_connect(kv, "192.0.2.1", "7472", NULL, &conn) ||
	    kverbs_buf_alloc(kv, 128, &buf))
		return kv;
	for (i = 0, ret = 0; i < NR_ECHOES && !ret; i++) {
		snprintf(text, sizeof(text), "%p says %d", (void *)conn, i);
		ret = echo_once(conn, buf, text);
	}
	kverbs_conn_free(conn);
	if (kverbs_buf_free(buf))
		ret = -1;
	return ret ? kv : NULL;
}

static void a_server_that_uses_callbacks_serves_many_clients(void **state)
{
	pthread_t server, client[NR_CLIENTS];
	struct pair *p = *state;
	void *failed;
	int i;

	assert_int_equal(pthread_create(&server, NULL, serve_echoes, p), 0);
	for (i = 0; i < NR_CLIENTS; i++)
		assert_int_equal(pthread_create(&client[i], NULL, echo_client, p->ckv),
				 0);
	for (i = 0; i < NR_CLIENTS; i++) {
		pthread_join(client[i], &failed);
		assert_null(failed);
	}
	pthread_join(server, &failed);
	assert_null(failed);
}

#define loop_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		loop_test(peers_connect_and_exchange_private_data),
		loop_test(a_message_arrives),
		loop_test(a_message_from_any_memory_arrives),
		loop_test(written_bytes_arrive_over_all_segments),
		loop_test(a_groups_key_is_valid_on_its_connections_only),
		loop_test(read_bytes_come_over_all_segments),
		loop_test(immediate_data_comes_after_the_bytes),
		loop_test(a_message_carries_immediate_data),
		loop_test(a_message_invalidates_a_key),
		loop_test(a_message_goes_from_pieces_to_pieces),
		loop_test(pieces_are_written_over_all_segments),
		loop_test(bytes_of_all_segments_are_read_into_pieces),
		loop_test(wrong_pieces_are_refused),
		loop_test(atomics_return_what_was_there),
		loop_test(atomics_need_their_right_and_8_bytes_in_one_segment),
		loop_test(an_invalidated_key_gives_no_access),
		loop_test(the_peer_learns_of_a_disconnect),
		loop_test(a_peer_has_all_messages_when_the_connection_is_shut_down),
		loop_test(a_port_without_listener_refuses),
		loop_test(a_rejected_connection_is_refused_with_private_data),
		loop_test(a_server_that_uses_callbacks_serves_many_clients),
	};

	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
