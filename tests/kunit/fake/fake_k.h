/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A module that uses the exported functions alone, over a registered fake device. */
#ifndef KVERBS_FAKE_K_H
#define KVERBS_FAKE_K_H

#include <kverbs/kverbs.h>

#include "fake_device.h"

#define FAKE_K_PAGES	12
#define FAKE_K_BYTES	(FAKE_K_PAGES * PAGE_SIZE)
#define FAKE_K_DEPTH	4
#define FAKE_K_REQS	8

/**
 * struct fake_k_req - a request and what became of it
 * @k: the request
 * @done: signalled when it has completed
 * @nr_done: how often it has completed
 * @in_softirq: the last time it did so in softirq context
 * @task: the task in which it did so
 */
struct fake_k_req {
	struct kverbs_k_req *k;
	struct completion done;
	unsigned int nr_done;
	bool in_softirq;
	const struct task_struct *task;
};

/**
 * struct fake_k - the module
 * @test: the test, at whose end all of it is freed
 * @hca: the device
 * @param: parameters of the connection
 * @listener: its listener, or NULL
 * @answer: what to do about a request: 0 nothing, 1 accept it, -1 reject it
 * @answered: what the answer has returned
 * @requested: signalled when a request was reported
 * @removed: signalled when the listener was reported as removed
 * @conn: the connection, or NULL
 * @up: signalled when it is established
 * @ended: signalled when it has ended
 * @error: why
 * @nr_ended: how often it has ended
 * @memory: FAKE_K_BYTES, contiguous
 * @region: region of @memory
 * @reqs: requests
 * @nr_reqs: number of @reqs in use
 */
struct fake_k {
	struct kunit *test;
	struct fake_hca *hca;
	struct kverbs_k_conn_param param;
	struct kverbs_k_listener *listener;
	int answer;
	int answered;
	struct completion requested;
	struct completion removed;
	struct kverbs_k_conn *conn;
	struct completion up;
	struct completion ended;
	int error;
	unsigned int nr_ended;
	u8 *memory;
	struct kverbs_region *region;
	struct fake_k_req reqs[FAKE_K_REQS];
	unsigned int nr_reqs;
};

bool fake_k_await(struct completion *what);
struct fake_k *fake_k_create(struct kunit *test);
int fake_k_try_listen(struct fake_k *fake, unsigned int backlog);
void fake_k_listen(struct fake_k *fake);
void fake_k_make(struct fake_k *fake);
void fake_k_ask(struct fake_k *fake);
void fake_k_connect(struct fake_k *fake);
struct fake_k *fake_k_up(struct kunit *test);
struct fake_k_req *fake_k_req(struct fake_k *fake, enum kverbs_k_opcode opcode,
			      struct kverbs_k_req_size size);
int fake_k_post_locked(struct fake_k_req *req);
void fake_k_succeed(struct fake_k *fake, struct fake_k_req *req);

#endif /* KVERBS_FAKE_K_H */
