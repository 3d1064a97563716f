// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Several threads serve the clients of one listener: each message is sent back.
 *
 *	workers [THREADS]	run until SIGINT or SIGTERM
 *
 * Each thread has a worker, that is a ring of its own, so the threads do not wait for each other.
 * They share the memory of the context. Clients: any number of "pingpong HOST".
 */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "example.h"

#define THREADS	16
#define BUFS	256
#define SIZE	4096
/* Buffers that a connection takes from the pool, so that there are some for others */
#define DEPTH	32

struct worker;

/* A buffer of a worker's pool: it receives a message, is sent back, and returns to the pool. */
struct slot {
	struct worker *worker;
	size_t offset;
	struct kverbs_req recv, send;
};

struct worker {
	struct kverbs *kv;
	struct kverbs_pool *pool;
	struct slot slots[BUFS];
	pthread_t thread;
	int served;
};

static struct kverbs *kv;
static struct kverbs_buf *memory;
static struct worker workers[THREADS];
static int nr_workers = 2;

static void add(struct slot *slot)
{
	must(kverbs_pool_add(slot->worker->pool, memory, slot->offset, SIZE, &slot->recv),
	     "give a buffer to the pool");
}

static void received(struct kverbs_req *req)
{
	struct slot *slot = req->data;

	/* The connection has ended, or ends now: the buffer is free again. */
	if (req->result || kverbs_send(kverbs_req_conn(req), memory, slot->offset, req->byte_len,
				       &slot->send))
		add(slot);
}

static void sent(struct kverbs_req *req)
{
	add(req->data);
}

static void open_worker(struct worker *worker, size_t offset)
{
	struct slot *slot = worker->slots;

	must(kverbs_worker_open(kv, NULL, &worker->kv), "open a worker");
	must(kverbs_pool_create(worker->kv, BUFS, &worker->pool), "create a pool");
	for (; slot < worker->slots + BUFS; slot++, offset += SIZE) {
		slot->worker = worker;
		slot->offset = offset;
		slot->recv.done = received;
		slot->recv.data = slot;
		slot->send.done = sent;
		slot->send.data = slot;
		add(slot);
	}
}

static void *work(void *arg)
{
	struct worker *worker = arg;

	while (kverbs_process(worker->kv, -1) != -EINTR)
		;
	return NULL;
}

/* A connection belongs to its worker from now on. It is freed with it. */
static void welcome(struct worker *worker, struct kverbs_conn *conn)
{
	const struct kverbs_conn_param param = { .rq_depth = DEPTH };
	const struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &param,
		.param_sz = sizeof(param),
		.worker = worker->kv,
		.pool = worker->pool,
	};

	if (kverbs_accept_start(conn, &opts))
		kverbs_conn_free(conn);
	else
		worker->served++;
}

/* All threads wait in the library, or are about to. */
static void stop(int sig)
{
	int i;

	(void)sig;
	kverbs_wakeup(kv);
	for (i = 0; i < nr_workers; i++)
		kverbs_wakeup(workers[i].kv);
}

static void start(void)
{
	struct worker *worker;

	must(kverbs_buf_alloc(kv, nr_workers * BUFS * SIZE, &memory), "allocate");
	for (worker = workers; worker < workers + nr_workers; worker++)
		open_worker(worker, (worker - workers) * BUFS * SIZE);
	signal(SIGINT, stop);
	signal(SIGTERM, stop);
	for (worker = workers; worker < workers + nr_workers; worker++)
		must(-pthread_create(&worker->thread, NULL, work, worker), "create a thread");
}

int main(int argc, char **argv)
{
	struct kverbs_listener *listener;
	struct kverbs_conn *conn;
	int i, next = 0;

	if (argc > 1)
		nr_workers = atoi(argv[1]);
	must(nr_workers > 0 && nr_workers <= THREADS ? 0 : -EINVAL, "number of threads");
	must(kverbs_open(&kv, NULL), "open");
	start();
	listener = listen_here(kv);
	while (!kverbs_next_request(listener, -1, &conn))
		welcome(&workers[next++ % nr_workers], conn);
	for (i = 0; i < nr_workers; i++) {
		pthread_join(workers[i].thread, NULL);
		printf("thread %d has served %d clients\n", i, workers[i].served);
	}
	kverbs_close(kv);
	return 0;
}
