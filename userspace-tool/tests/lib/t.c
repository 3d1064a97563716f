// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <sched.h>
#include <stdlib.h>

#include "internal.h"
#include "t.h"

int t_setup(void **state)
{
	struct t *t = test_calloc(1, sizeof(*t));

	fake_reset();
	if (kverbs_open(&t->kv, NULL))
		return -1;
	*state = t;
	return 0;
}

int t_setup_conn(void **state)
{
	struct t *t;

	if (t_setup(state))
		return -1;
	t = *state;
	t->conn = t_connect(t->kv);
	return kverbs_buf_alloc(t->kv, T_SIZE, &t->buf);
}

int t_teardown(void **state)
{
	struct t *t = *state;

	kverbs_close(t->kv);
	test_free(t);
	return fake_leftovers() ? -1 : 0;
}

struct kverbs_conn *t_connect(struct kverbs *kv)
{
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_connect(kv, "192.0.2.1", "7472", NULL, &conn), 0);
	return conn;
}

struct kverbs_token t_token(unsigned int nr_segs, uint64_t seg_size)
{
	struct kverbs_token token = {
		.length = nr_segs * seg_size,
		.access = KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE,
		.nr_segs = nr_segs,
	};
	unsigned int i;

	token.segs = calloc(nr_segs, sizeof(*token.segs));
	assert_non_null(token.segs);
	for (i = 0; i < nr_segs; i++) {
		token.segs[i].addr = 4096u * (1 + i);
		token.segs[i].length = seg_size;
		token.segs[i].rkey = 0x100 + i;
	}
	return token;
}

static unsigned int followers(struct kverbs *kv)
{
	struct list_head *pos;
	unsigned int n = 0;

	pthread_mutex_lock(&kv->lock);
	for (pos = kv->waiters.next; pos != &kv->waiters; pos = pos->next)
		n++;
	pthread_mutex_unlock(&kv->lock);
	return n;
}

void t_wait_followers(struct kverbs *kv, unsigned int n)
{
	while (followers(kv) != n)
		sched_yield();
}

void t_shrink_queue(struct t *t, unsigned int depth)
{
	struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.param = &(struct kverbs_conn_param){ .sq_depth = depth },
		.param_sz = sizeof(struct kverbs_conn_param),
	};

	kverbs_conn_free(t->conn);
	assert_int_equal(kverbs_connect(t->kv, "192.0.2.1", "1", &opts, &t->conn), 0);
}
