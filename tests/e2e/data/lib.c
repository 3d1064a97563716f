// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The same operations through libkverbs, which adds tokens, splitting and waiting. */
#include <fcntl.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <kverbs.h>

#include "buf.h"

#define LARGE	(8 * MIB + 12345)

/**
 * struct link - two connected contexts
 * @client: context of the client
 * @server: context of the server
 * @c: the client's connection
 * @s: the server's connection
 * @listener: the server's listener
 * @pooled: the server's connection receives into @pool
 * @pool: the server's pool
 */
static struct link {
	struct kverbs *client;
	struct kverbs *server;
	struct kverbs_conn *c;
	struct kverbs_conn *s;
	struct kverbs_listener *listener;
	bool pooled;
	struct kverbs_pool *pool;
} both;

static void *serve(void *arg)
{
	struct kverbs_conn_opts patient = { .sz = sizeof(patient),
					    .timeout_ms = test_patience_ms() };
	struct link *l = arg;

	patient.pool = l->pool;
	CHECK_OK(kverbs_next_request(l->listener, test_patience_ms(), &l->s));
	CHECK_OK(kverbs_accept(l->s, &patient));
	return NULL;
}

static void link_open(struct link *l)
{
	struct kverbs_conn_opts patient = { .sz = sizeof(patient),
					    .timeout_ms = test_patience_ms() };
	pthread_t thread;
	char port[8];

	CHECK_OK(kverbs_open(&l->client, NULL));
	CHECK_OK(kverbs_open(&l->server, NULL));
	if (l->pooled)
		CHECK_OK(kverbs_pool_create(l->server, 4, &l->pool));
	CHECK_OK(kverbs_listen(l->server, "a", "0", 0, &l->listener));
	snprintf(port, sizeof(port), "%u", kverbs_listener_port(l->listener));
	CHECK_EQ(pthread_create(&thread, NULL, serve, l), 0);
	CHECK_OK(kverbs_connect(l->client, "a", port, &patient, &l->c));
	pthread_join(thread, NULL);
}

static void link_close(struct link *l)
{
	kverbs_close(l->client);
	kverbs_close(l->server);
}

static struct kverbs_buf *new_buf(struct kverbs *kv, size_t size, unsigned int seed)
{
	struct kverbs_buf *buf;
	unsigned char *bytes;
	size_t i;

	CHECK_OK(kverbs_buf_alloc(kv, size, &buf));
	bytes = kverbs_buf_addr(buf);
	for (i = 0; i < size; i++)
		bytes[i] = i * 31 + (i >> 12) + seed;
	return buf;
}

static bool same(struct kverbs_buf *a, size_t a_offset, struct kverbs_buf *b,
		 size_t b_offset, size_t length)
{
	return !memcmp((char *)kverbs_buf_addr(a) + a_offset,
		       (char *)kverbs_buf_addr(b) + b_offset, length);
}

/* Returns the token as the peer receives it: packed and unpacked. */
static struct kverbs_token travelled(const struct kverbs_token *token)
{
	size_t size = kverbs_token_packed_size(token);
	struct kverbs_token there;
	char *packed = malloc(size);

	CHECK_EQ(kverbs_token_pack(token, packed, size), size);
	CHECK_EQ(kverbs_token_unpack(&there, packed, size), size);
	free(packed);
	return there;
}

static void await_end(struct kverbs *kv, struct kverbs_conn *conn)
{
	long long end = test_now_ms() + test_patience_ms();

	while (!kverbs_conn_error(conn)) {
		CHECK(test_now_ms() < end);
		CHECK(kverbs_process(kv, 1000) >= 0);
	}
}

/* Returns when the server's connection has taken @nr buffers. */
static void await_posted(unsigned int nr)
{
	long long end = test_now_ms() + test_patience_ms();
	struct kverbs_cmd_conn_query query;

	do {
		CHECK(test_now_ms() < end);
		CHECK_OK(kverbs_conn_query(both.s, &query, sizeof(query)));
	} while (query.out_rq_used < nr);
}

TEST(libkverbs_receives_into_a_pool)
{
	struct kverbs_req send = { 0 }, recv[2] = { { 0 } };
	struct kverbs_buf *from, *to;
	unsigned int i;

	both.pooled = true;
	link_open(&both);
	from = new_buf(both.client, 2 * PAGE, 1);
	to = new_buf(both.server, 2 * PAGE, 100);
	CHECK_OK(kverbs_pool_add(both.pool, to, 0, PAGE, &recv[0]));
	CHECK_OK(kverbs_pool_add(both.pool, to, PAGE, PAGE, &recv[1]));
	for (i = 0; i < 100; i++) {
		await_posted(1);
		CHECK_OK(kverbs_send(both.c, from, i, PAGE, &send));
		CHECK_OK(kverbs_wait(&send, test_patience_ms()));
		CHECK_OK(kverbs_wait(&recv[i % 2], test_patience_ms()));
		CHECK(kverbs_req_conn(&recv[i % 2]) == both.s);
		CHECK(same(to, i % 2 * PAGE, from, i, PAGE));
		CHECK_OK(kverbs_pool_add(both.pool, to, i % 2 * PAGE, PAGE, &recv[i % 2]));
	}
	CHECK_ERR(kverbs_pool_destroy(both.pool), EBUSY);
	/* A buffer that is still in the pool would stay there. */
	await_posted(2);
	kverbs_conn_free(both.s);
	CHECK_EQ(recv[0].result, -ECANCELED);
	CHECK_OK(kverbs_pool_destroy(both.pool));
	link_close(&both);
}

TEST(libkverbs_sends_and_receives)
{
	struct kverbs_req send = { 0 }, recv = { 0 };
	struct kverbs_buf *from, *to;

	link_open(&both);
	from = new_buf(both.client, 2 * PAGE, 1);
	to = new_buf(both.server, 2 * PAGE, 100);
	CHECK_OK(kverbs_recv(both.s, to, 3, PAGE, &recv));
	CHECK_OK(kverbs_send(both.c, from, 5, PAGE, &send));
	CHECK_OK(kverbs_wait(&send, test_patience_ms()));
	CHECK_OK(kverbs_wait(&recv, test_patience_ms()));
	CHECK_EQ(recv.byte_len, PAGE);
	CHECK(same(to, 3, from, 5, PAGE));
	link_close(&both);
}

static int new_memfd(size_t size)
{
	int fd = memfd_create("memory", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	CHECK(fd >= 0);
	CHECK_EQ(ftruncate(fd, size), 0);
	return fd;
}

TEST(libkverbs_sends_from_a_file_that_is_not_mapped)
{
	struct kverbs_req send = { 0 }, recv = { 0 };
	struct kverbs_buf *from, *to;
	int fd = new_memfd(3 * PAGE);
	char text[] = "from the file";

	link_open(&both);
	CHECK_EQ(pwrite(fd, text, sizeof(text), PAGE + 100), sizeof(text));
	CHECK_OK(kverbs_buf_register_fd(both.client, fd, PAGE + 90, PAGE, 0, &from));
	close(fd);
	to = new_buf(both.server, PAGE, 100);
	CHECK_OK(kverbs_recv(both.s, to, 0, PAGE, &recv));
	CHECK_OK(kverbs_send(both.c, from, 10, sizeof(text), &send));
	CHECK_OK(kverbs_wait(&send, test_patience_ms()));
	CHECK_OK(kverbs_wait(&recv, test_patience_ms()));
	CHECK(!memcmp(kverbs_buf_addr(to), text, sizeof(text)));
	link_close(&both);
}

static int register_page(int fd, unsigned int flags)
{
	struct kverbs_buf *buf;
	int ret = kverbs_buf_register_fd(both.client, fd, 0, PAGE, flags, &buf);

	return ret ? ret : kverbs_buf_free(buf);
}

TEST(libkverbs_registers_no_more_of_a_file_than_may_be_mapped)
{
	int fd = new_memfd(PAGE), readable;
	struct kverbs_buf *buf;
	char path[32];

	link_open(&both);
	CHECK_ERR(kverbs_buf_register_fd(both.client, fd, PAGE, PAGE, 0, &buf), EFAULT);
	CHECK_ERR(register_page(-1, 0), EBADF);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	readable = open(path, O_RDONLY);
	CHECK(readable >= 0);
	CHECK_ERR(register_page(readable, 0), EACCES);
	CHECK_OK(register_page(readable, KVERBS_REGION_READ_ONLY));
	CHECK_OK(register_page(fd, 0));
	CHECK_EQ(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE), 0);
	CHECK_ERR(register_page(fd, 0), EPERM);
	CHECK_OK(register_page(readable, KVERBS_REGION_READ_ONLY));
	link_close(&both);
}

/* True if the descriptor becomes readable. */
static bool readable(const struct kverbs *kv, int timeout_ms)
{
	struct pollfd look = { .fd = kverbs_fd(kv), .events = POLLIN };

	return poll(&look, 1, timeout_ms) == 1;
}

TEST(a_worker_has_its_own_completions_and_the_memory_of_its_context)
{
	struct kverbs_conn_opts opts = { .sz = sizeof(opts), .timeout_ms = test_patience_ms() };
	struct kverbs_req send = { 0 }, recv = { 0 };
	struct kverbs_buf *from, *to;
	struct addrinfo *address;
	struct kverbs_conn *conn;
	struct kverbs *worker;
	char port[8];

	both.pooled = true;
	link_open(&both);
	from = new_buf(both.client, PAGE, 1);
	to = new_buf(both.server, PAGE, 100);
	CHECK_OK(kverbs_worker_open(both.server, NULL, &opts.worker));
	CHECK_OK(kverbs_pool_create(opts.worker, 4, &opts.pool));
	CHECK_OK(kverbs_pool_add(opts.pool, to, 0, PAGE, &recv));
	snprintf(port, sizeof(port), "%u", kverbs_listener_port(both.listener));
	CHECK_OK(kverbs_worker_open(both.client, NULL, &worker));
	CHECK_EQ(getaddrinfo("a", port, NULL, &address), 0);
	CHECK_OK(kverbs_connect_start(worker, address->ai_addr, NULL, &conn));
	freeaddrinfo(address);
	CHECK_OK(kverbs_next_request(both.listener, test_patience_ms(), &both.s));
	CHECK_OK(kverbs_accept(both.s, &opts));
	CHECK_OK(kverbs_conn_wait(conn, test_patience_ms()));
	while (kverbs_process(both.server, 0))
		;
	CHECK_OK(kverbs_send(conn, from, 0, PAGE, &send));
	CHECK(readable(opts.worker, test_patience_ms()));
	CHECK(!readable(both.server, 0));
	CHECK_OK(kverbs_wait(&recv, test_patience_ms()));
	CHECK(same(to, 0, from, 0, PAGE));
	CHECK_OK(kverbs_wait(&send, test_patience_ms()));
	kverbs_close(opts.worker);
	CHECK_OK(kverbs_wakeup(both.client));
	CHECK_ERR(kverbs_process(both.client, -1), EINTR);
	CHECK(readable(both.client, 0));
	link_close(&both);
}

TEST(libkverbs_writes_and_reads_across_segments)
{
	struct kverbs_buf *from, *remote, *back;
	struct kverbs_token token, there;
	struct kverbs_req req = { 0 };

	link_open(&both);
	from = new_buf(both.client, LARGE, 1);
	back = new_buf(both.client, LARGE, 2);
	remote = new_buf(both.server, LARGE + 2, 3);
	CHECK_OK(kverbs_export(both.s, remote, 1, LARGE,
			       KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE, &token));
	CHECK(token.nr_segs > 1);
	there = travelled(&token);
	CHECK_OK(kverbs_write(both.c, from, 0, LARGE, &there, 0, &req));
	CHECK_OK(kverbs_wait(&req, test_patience_ms()));
	CHECK_EQ(req.byte_len, LARGE);
	CHECK_OK(kverbs_read(both.c, back, 0, LARGE, &there, 0, &req));
	CHECK_OK(kverbs_wait(&req, test_patience_ms()));
	CHECK(same(remote, 1, from, 0, LARGE));
	CHECK(same(back, 0, from, 0, LARGE));
	CHECK_EQ(((unsigned char *)kverbs_buf_addr(remote))[0], 3);
	link_close(&both);
}

/* Pieces of three sizes, one after another in @buf, with gaps of 7 bytes. */
static size_t list_pieces(struct kverbs_buf *buf, struct kverbs_vec *vec, size_t nr)
{
	static const size_t sizes[] = { 1, 3 * PAGE + 5, 300 };
	size_t i, offset = 0, length = 0;

	for (i = 0; i < nr; i++) {
		vec[i] = (struct kverbs_vec){ buf, offset, sizes[i % ARRAY_SIZE(sizes)] };
		offset += vec[i].length + 7;
		length += vec[i].length;
	}
	return length;
}

TEST(libkverbs_writes_from_and_reads_into_lists_longer_than_one_entry_takes)
{
	struct kverbs_vec out[3 * KVERBS_LIST_MAX], in[3 * KVERBS_LIST_MAX];
	struct kverbs_buf *from, *remote, *back;
	struct kverbs_token token, there;
	struct kverbs_req req = { 0 };
	size_t i, length;

	link_open(&both);
	from = new_buf(both.client, MIB, 1);
	back = new_buf(both.client, MIB, 2);
	remote = new_buf(both.server, MIB, 3);
	length = list_pieces(from, out, ARRAY_SIZE(out));
	list_pieces(back, in, ARRAY_SIZE(in));
	CHECK_OK(kverbs_export(both.s, remote, 0, length,
			       KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE, &token));
	there = travelled(&token);
	CHECK_OK(kverbs_writev(both.c, out, ARRAY_SIZE(out), &there, 0, &req));
	CHECK_OK(kverbs_wait(&req, test_patience_ms()));
	CHECK_EQ(req.byte_len, length);
	CHECK_OK(kverbs_readv(both.c, in, ARRAY_SIZE(in), &there, 0, &req));
	CHECK_OK(kverbs_wait(&req, test_patience_ms()));
	for (i = 0; i < ARRAY_SIZE(out); i++)
		CHECK(same(back, in[i].offset, from, out[i].offset, in[i].length));
	/* The bytes between the pieces are as they were. */
	CHECK_EQ(((unsigned char *)kverbs_buf_addr(back))[1], 31 + 2);
	link_close(&both);
}

TEST(libkverbs_sends_copies_and_queues_what_is_complete)
{
	struct kverbs_req recv[8] = { 0 }, send[8] = { 0 }, *done[16];
	struct kverbs_buf *to;
	char text[32];
	int i, nr = 0, ret;

	link_open(&both);
	to = new_buf(both.server, 8 * PAGE, 100);
	for (i = 0; i < 8; i++) {
		recv[i].done = KVERBS_QUEUE;
		CHECK_OK(kverbs_recv(both.s, to, i * PAGE, PAGE, &recv[i]));
	}
	for (i = 0; i < 8; i++) {
		snprintf(text, sizeof(text), "message %d", i);
		CHECK_OK(kverbs_send_copy(both.c, text, sizeof(text), &send[i]));
	}
	while (nr < 8) {
		ret = kverbs_poll(both.server, done + nr, ARRAY_SIZE(done) - nr,
				  test_patience_ms());
		CHECK(ret > 0);
		nr += ret;
	}
	for (i = 0; i < 8; i++) {
		snprintf(text, sizeof(text), "message %d", i);
		CHECK(done[i] == &recv[i]);
		CHECK_EQ(recv[i].byte_len, sizeof(text));
		CHECK(!strcmp((char *)kverbs_buf_addr(to) + i * PAGE, text));
		CHECK_OK(kverbs_wait(&send[i], test_patience_ms()));
	}
	link_close(&both);
}

TEST(libkverbs_shuts_a_connection_down_behind_its_operations)
{
	struct kverbs_buf *from, *remote;
	struct kverbs_token token, there;
	struct kverbs_op op = { .opcode = KVERBS_OP_WRITE, .length = 4 * MIB, .token = &there };

	link_open(&both);
	from = new_buf(both.client, 4 * MIB, 1);
	remote = new_buf(both.server, 4 * MIB, 3);
	CHECK_OK(kverbs_export(both.s, remote, 0, 4 * MIB, KVERBS_REMOTE_WRITE, &token));
	there = travelled(&token);
	op.buf = from;
	/* Without a request: only the end tells that it is complete. */
	CHECK_EQ(kverbs_post(both.c, &op, 1), 1);
	CHECK_OK(kverbs_shutdown(both.c, test_patience_ms()));
	await_end(both.server, both.s);
	CHECK(same(remote, 0, from, 0, 4 * MIB));
	link_close(&both);
}

TEST(libkverbs_refuses_what_a_token_does_not_cover)
{
	struct kverbs_buf *from, *remote;
	struct kverbs_token token, there;
	struct kverbs_req req = { 0 };

	link_open(&both);
	from = new_buf(both.client, PAGE, 1);
	remote = new_buf(both.server, PAGE, 3);
	CHECK_OK(kverbs_export(both.s, remote, 0, 100, KVERBS_REMOTE_READ, &token));
	there = travelled(&token);
	CHECK_ERR(kverbs_write(both.c, from, 0, 10, &there, 0, &req), EACCES);
	CHECK_ERR(kverbs_read(both.c, from, 0, 101, &there, 0, &req), ERANGE);
	CHECK_ERR(kverbs_read(both.c, from, 0, 10, &there, 91, &req), ERANGE);
	CHECK_ERR(kverbs_read(both.c, from, PAGE, 1, &there, 0, &req), EINVAL);
	CHECK_OK(kverbs_read(both.c, from, 0, 10, &there, 90, &req));
	CHECK_OK(kverbs_wait(&req, test_patience_ms()));
	link_close(&both);
}

TEST(libkverbs_takes_an_export_back)
{
	struct kverbs_buf *from, *remote;
	struct kverbs_token token, there;
	struct kverbs_req req = { 0 };

	link_open(&both);
	from = new_buf(both.client, PAGE, 1);
	remote = new_buf(both.server, PAGE, 3);
	CHECK_OK(kverbs_export(both.s, remote, 0, PAGE, KVERBS_REMOTE_READ, &token));
	there = travelled(&token);
	CHECK_ERR(kverbs_buf_free(remote), EBUSY);
	CHECK_OK(kverbs_unexport(both.s, &token));
	CHECK_OK(kverbs_buf_free(remote));
	CHECK_OK(kverbs_read(both.c, from, 0, 10, &there, 0, &req));
	CHECK_ERR(kverbs_wait(&req, test_patience_ms()), EIO);
	await_end(both.client, both.c);
	link_close(&both);
}

TEST(libkverbs_writes_with_immediate_data)
{
	struct kverbs_req recv = { 0 }, req = { 0 };
	struct kverbs_buf *from, *remote;
	struct kverbs_token token, there;

	link_open(&both);
	from = new_buf(both.client, LARGE, 1);
	remote = new_buf(both.server, LARGE, 3);
	CHECK_OK(kverbs_export(both.s, remote, 0, LARGE, KVERBS_REMOTE_WRITE, &token));
	there = travelled(&token);
	CHECK_OK(kverbs_recv(both.s, NULL, 0, 0, &recv));
	if (dev_is_iwarp()) {
		CHECK_OK(kverbs_write_imm(both.c, from, 0, 8, &there, 0, 7, &req));
		CHECK_ERR(kverbs_wait(&req, 0), EOPNOTSUPP);
		link_close(&both);
		return;
	}
	CHECK_OK(kverbs_write_imm(both.c, from, 0, LARGE, &there, 0, 7, &req));
	CHECK_OK(kverbs_wait(&req, test_patience_ms()));
	CHECK_OK(kverbs_wait(&recv, test_patience_ms()));
	CHECK_EQ(recv.imm, 7);
	CHECK(recv.flags & KVERBS_CQE_F_IMM);
	CHECK(same(remote, 0, from, 0, LARGE));
	link_close(&both);
}

TEST(libkverbs_says_why_nobody_is_there)
{
	struct kverbs_conn *conn;
	struct kverbs *kv;

	CHECK_OK(kverbs_open(&kv, NULL));
	CHECK_ERR(kverbs_connect(kv, "a", "9", NULL, &conn), ECONNREFUSED);
	CHECK_ERR(kverbs_connect(kv, "no.such.host.invalid", "9", NULL, &conn), ENXIO);
	kverbs_close(kv);
}

TEST(libkverbs_frees_a_connection_with_requests_in_flight)
{
	struct kverbs_req recvs[20] = { 0 };
	struct kverbs_buf *to;
	unsigned int i;

	link_open(&both);
	to = new_buf(both.server, PAGE, 1);
	for (i = 0; i < ARRAY_SIZE(recvs); i++)
		CHECK_OK(kverbs_recv(both.s, to, 0, PAGE, &recvs[i]));
	kverbs_conn_free(both.s);
	for (i = 0; i < ARRAY_SIZE(recvs); i++) {
		CHECK(kverbs_complete(&recvs[i]));
		CHECK(recvs[i].result == -ECANCELED || recvs[i].result == -EIO);
	}
	CHECK_OK(kverbs_buf_free(to));
	link_close(&both);
}

TEST(the_descriptor_is_readable_until_the_change_of_a_tracked_buffer_is_processed)
{
	char *memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct pollfd wait = { .events = POLLIN };
	struct kverbs_buf *buf;
	struct kverbs *kv;

	CHECK(memory != MAP_FAILED);
	CHECK_OK(kverbs_open(&kv, NULL));
	wait.fd = kverbs_fd(kv);
	CHECK_OK(kverbs_buf_register(kv, memory, PAGE, KVERBS_REGION_TRACK, &buf));
	CHECK_EQ(poll(&wait, 1, 0), 0);
	CHECK(!kverbs_buf_stale(buf));
	CHECK_EQ(munmap(memory, PAGE), 0);
	CHECK_EQ(poll(&wait, 1, 0), 1);
	CHECK_EQ(kverbs_process(kv, 0), 0);
	CHECK_EQ(poll(&wait, 1, 0), 0);
	CHECK(kverbs_buf_stale(buf));
	CHECK_OK(kverbs_buf_free(buf));
	kverbs_close(kv);
}
