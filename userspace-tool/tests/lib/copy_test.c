// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Small messages are sent from any memory, by way of slots of the context. */
#include <pthread.h>

#include "buf.h"
#include "internal.h"
#include "t.h"

#define SLOTS 64

static struct kverbs_req reqs[SLOTS];

static void send_one(struct t *t, struct kverbs_req *req)
{
	assert_int_equal(kverbs_send_copy(t->conn, "hello", 6, req), 0);
}

static void take_all_slots(struct t *t)
{
	unsigned int i;

	memset(reqs, 0, sizeof(reqs));
	for (i = 0; i < SLOTS; i++)
		send_one(t, &reqs[i]);
}

static void complete_all(void)
{
	while (fake_pending())
		fake_complete(0, 0);
}

/* Where the device finds the data of pending entry @n. */
static const char *sent(struct t *t, unsigned int n)
{
	struct kverbs_piece piece = fake_piece(n, 0);

	assert_int_equal(piece.region_id, t->kv->copies.buf->id);
	return (char *)kverbs_buf_addr(t->kv->copies.buf) + piece.offset;
}

/* Check that no slot is in use: all can be taken without waiting. */
static void check_slots(struct t *t)
{
	unsigned int i;

	take_all_slots(t);
	assert_int_equal(fake_pending(), SLOTS);
	complete_all();
	for (i = 0; i < SLOTS; i++)
		assert_int_equal(kverbs_wait(&reqs[i], 0), 0);
}

/* ---- messages ------------------------------------------------------------------------ */

static void data_may_change_once_it_is_sent(void **state)
{
	struct t *t = *state;
	struct kverbs_req req[2] = { 0 };
	char data[6] = "hello";

	assert_int_equal(kverbs_send_copy(t->conn, data, 6, &req[0]), 0);
	memcpy(data, "world", 6);
	assert_int_equal(kverbs_send_copy(t->conn, data, 6, &req[1]), 0);
	memset(data, 0, 6);
	assert_int_equal(fake_entry(0).opcode, KVERBS_OP_SEND);
	assert_int_equal(fake_entry(0).length, 6);
	assert_string_equal(sent(t, 0), "hello");
	assert_string_equal(sent(t, 1), "world");
	complete_all();
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
	assert_int_equal(req[1].byte_len, 6);
}

static void the_longest_messages_lie_side_by_side(void **state)
{
	static char data[2][KVERBS_COPY_MAX + 1];
	struct t *t = *state;
	struct kverbs_req req[2] = { 0 };

	memset(data[0], 1, sizeof(data[0]));
	memset(data[1], 2, sizeof(data[1]));
	assert_int_equal(kverbs_send_copy(t->conn, data[0], KVERBS_COPY_MAX + 1, &req[0]),
			 -EMSGSIZE);
	assert_int_equal(kverbs_send_copy(t->conn, data[0], KVERBS_COPY_MAX, &req[0]), 0);
	assert_int_equal(kverbs_send_copy(t->conn, data[1], KVERBS_COPY_MAX, &req[1]), 0);
	assert_memory_equal(sent(t, 0), data[0], KVERBS_COPY_MAX);
	assert_memory_equal(sent(t, 1), data[1], KVERBS_COPY_MAX);
	complete_all();
	assert_int_equal(kverbs_wait(&req[0], 0), 0);
	assert_int_equal(kverbs_wait(&req[1], 0), 0);
}

static void an_empty_message_needs_no_memory(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	fake_fail_nth(1);
	assert_int_equal(kverbs_send_copy(t->conn, NULL, 0, &req), 0);
	assert_false(fake_fail_nth_hit());
	fake_fail_nth(0);
	assert_int_equal(fake_entry(0).length, 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
}

static void a_request_is_required(void **state)
{
	struct t *t = *state;

	assert_int_equal(kverbs_send_copy(t->conn, "hello", 6, NULL), -EINVAL);
	assert_null(t->kv->copies.buf);
}

static void the_memory_is_registered_once(void **state)
{
	struct t *t = *state;
	unsigned int before = fake_leftovers();

	take_all_slots(t);
	assert_int_equal(fake_leftovers(), before + 1 + SLOTS);
	complete_all();
	assert_int_equal(kverbs_wait(&reqs[SLOTS - 1], 0), 0);
	check_slots(t);
	assert_int_equal(fake_leftovers(), before + 1);
}

static void without_memory_nothing_is_sent(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	fake_fail(FAKE_MMAP_ANON, 1, -ENOMEM);
	assert_int_equal(kverbs_send_copy(t->conn, "hello", 6, &req), -ENOMEM);
	fake_fail(KVERBS_REGION_CREATE, 1, -EPERM);
	assert_int_equal(kverbs_send_copy(t->conn, "hello", 6, &req), -EPERM);
	assert_int_equal(kverbs_wait(&req, 0), -EINVAL);
	check_slots(t);
}

/* ---- slots ----------------------------------------------------------------------------- */

static void a_complete_request_returns_its_slot(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	unsigned int i;

	for (i = 0; i < 2 * SLOTS; i++) {
		send_one(t, &req);
		fake_complete(0, i % 2 ? 10 : 0);
		assert_int_equal(kverbs_wait(&req, 0), i % 2 ? -EIO : 0);
	}
	check_slots(t);
}

static void a_request_that_was_not_posted_returns_its_slot(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	unsigned int i;

	for (i = 0; i < 2 * SLOTS; i++) {
		fake_fail(KVERBS_SUBMIT, 1, -EINVAL);
		assert_int_equal(kverbs_send_copy(t->conn, "hello", 6, &req), -EINVAL);
	}
	check_slots(t);
}

static void a_request_that_the_kernel_refuses_returns_its_slot(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	unsigned int i;

	fake.max_msg = 5;
	for (i = 0; i < 2 * SLOTS; i++) {
		send_one(t, &req);
		assert_int_equal(kverbs_wait(&req, 0), -EMSGSIZE);
	}
	fake.max_msg = 6;
	check_slots(t);
}

static void a_request_in_use_takes_no_slot(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };
	unsigned int i;

	send_one(t, &req);
	for (i = 0; i < 2 * SLOTS; i++)
		assert_int_equal(kverbs_send_copy(t->conn, "world", 6, &req), -EBUSY);
	assert_string_equal(sent(t, 0), "hello");
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, 0), 0);
	check_slots(t);
}

static void a_freed_connection_returns_its_slots(void **state)
{
	struct t *t = *state;

	take_all_slots(t);
	kverbs_conn_free(t->conn);
	assert_int_equal(kverbs_wait(&reqs[0], 0), -ECANCELED);
	t->conn = t_connect(t->kv);
	fake.destroy_drops = true;
	take_all_slots(t);
	kverbs_conn_free(t->conn);
	assert_int_equal(kverbs_wait(&reqs[0], 0), -ECANCELED);
	t->conn = t_connect(t->kv);
	check_slots(t);
}

static void a_request_in_the_queue_has_returned_its_slot(void **state)
{
	struct kverbs_req *taken[1];
	struct t *t = *state;
	struct kverbs_req req = { .done = KVERBS_QUEUE };

	send_one(t, &req);
	fake_complete(0, 0);
	assert_int_equal(kverbs_process(t->kv, 0), 1);
	check_slots(t);
	assert_int_equal(kverbs_poll(t->kv, taken, 1, 0), 1);
}

static void a_worker_has_slots_of_its_own_and_frees_them(void **state)
{
	struct t *t = *state, worker = { 0 };
	struct kverbs_req req = { 0 };
	unsigned int before;

	take_all_slots(t);
	before = fake_leftovers();
	assert_int_equal(kverbs_worker_open(t->kv, NULL, &worker.kv), 0);
	worker.conn = t_connect(worker.kv);
	send_one(&worker, &req);
	kverbs_close(worker.kv);
	assert_int_equal(kverbs_wait(&req, 0), -ECANCELED);
	assert_int_equal(fake_leftovers(), before);
}

/* ---- without a free slot ------------------------------------------------------------------ */

struct sender {
	pthread_t thread;
	struct kverbs_conn *conn;
	struct kverbs_req req;
	int ret;
};

static void *send_copy(void *arg)
{
	struct sender *s = arg;

	s->ret = kverbs_send_copy(s->conn, "world", 6, &s->req);
	return NULL;
}

static void start(struct sender *s, struct kverbs_conn *conn)
{
	memset(s, 0, sizeof(*s));
	s->conn = conn;
	assert_int_equal(pthread_create(&s->thread, NULL, send_copy, s), 0);
}

static int join(struct sender *s)
{
	assert_int_equal(pthread_join(s->thread, NULL), 0);
	return s->ret;
}

static void a_message_waits_for_a_slot(void **state)
{
	struct t *t = *state;
	struct sender s;

	take_all_slots(t);
	start(&s, t->conn);
	fake_wait_sleepers(1);
	assert_int_equal(fake_pending(), SLOTS);
	fake_complete(7, 0);
	assert_int_equal(join(&s), 0);
	assert_string_equal(sent(t, SLOTS - 1), "world");
	complete_all();
	assert_int_equal(kverbs_wait(&s.req, 0), 0);
	assert_int_equal(kverbs_wait(&reqs[7], 0), 0);
}

static void *wait_for(void *arg)
{
	return (void *)(intptr_t)kverbs_wait(arg, -1);
}

/* Another thread reads completions, and waits on. */
static void a_slot_wakes_a_thread_that_follows(void **state)
{
	struct kverbs_req recv = { 0 };
	struct t *t = *state;
	pthread_t leader;
	struct sender s;
	void *ret;

	take_all_slots(t);
	assert_int_equal(kverbs_recv(t->conn, t->buf, 0, 1, &recv), 0);
	assert_int_equal(pthread_create(&leader, NULL, wait_for, &recv), 0);
	fake_wait_sleepers(1);
	start(&s, t->conn);
	t_wait_followers(t->kv, 1);
	fake_complete(0, 0);
	assert_int_equal(join(&s), 0);
	fake_complete_recv(SLOTS - 1, 1, 0, 0);
	assert_int_equal(pthread_join(leader, &ret), 0);
	assert_null(ret);
	complete_all();
	assert_int_equal(kverbs_wait(&s.req, 0), 0);
}

static void another_connection_may_return_the_slot(void **state)
{
	struct t *t = *state;
	struct kverbs_conn *other = t_connect(t->kv);
	struct sender s;

	take_all_slots(t);
	start(&s, other);
	fake_wait_sleepers(1);
	kverbs_conn_free(t->conn);
	assert_int_equal(join(&s), 0);
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&s.req, 0), 0);
	kverbs_conn_free(other);
}

static void the_end_of_the_connection_ends_the_wait(void **state)
{
	struct t *t = *state;
	struct kverbs_conn *other = t_connect(t->kv);
	uint32_t id = fake.last_conn;
	struct sender s;

	take_all_slots(t);
	start(&s, other);
	fake_wait_sleepers(1);
	fake_event(id, KVERBS_CQE_DISCONNECTED, -ETIMEDOUT);
	assert_int_equal(join(&s), -ETIMEDOUT);
	assert_int_equal(kverbs_wait(&s.req, 0), -EINVAL);
	complete_all();
	assert_int_equal(kverbs_wait(&reqs[0], 0), 0);
	kverbs_conn_free(other);
}

static void a_signal_ends_the_wait(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	take_all_slots(t);
	fake_fail(KVERBS_SUBMIT, 1, -EINTR);
	assert_int_equal(kverbs_send_copy(t->conn, "world", 6, &req), -EINTR);
	assert_int_equal(kverbs_wakeup(t->kv), 0);
	assert_int_equal(kverbs_send_copy(t->conn, "world", 6, &req), -EINTR);
	kverbs_wakeup_clear(t->kv);
	assert_int_equal(kverbs_wait(&req, 0), -EINVAL);
	complete_all();
	assert_int_equal(kverbs_wait(&reqs[0], 0), 0);
	check_slots(t);
}

/* ---- callbacks ------------------------------------------------------------------------------ */

struct inside {
	struct t *t;
	struct kverbs_req req, more[2];
	unsigned int nr;
};

static void send_more(struct kverbs_req *req)
{
	struct inside *in = req->data;
	unsigned int i;

	for (i = 0; i < in->nr; i++)
		send_one(in->t, &in->more[i]);
}

static void init(struct inside *in, struct t *t, unsigned int nr)
{
	memset(in, 0, sizeof(*in));
	in->t = t;
	in->nr = nr;
	in->req.done = send_more;
	in->req.data = in;
	take_all_slots(t);
	fake_complete(SLOTS - 1, 0);
	send_one(t, &in->req);
}

static void a_callback_finds_the_slot_of_its_request_free(void **state)
{
	struct inside in;

	init(&in, *state, 1);
	fake_complete(SLOTS - 1, 0);
	assert_int_equal(kverbs_wait(&in.req, -1), 0);
	assert_int_equal(fake_pending(), SLOTS);
	complete_all();
	assert_int_equal(kverbs_wait(&in.more[0], 0), 0);
}

static void a_callback_may_wait_for_a_slot(void **state)
{
	struct inside in;

	init(&in, *state, 2);
	fake_complete(SLOTS - 1, 0);
	fake_device_start(1, 0);
	assert_int_equal(kverbs_wait(&in.req, -1), 0);
	assert_int_equal(kverbs_wait(&in.more[0], -1), 0);
	assert_int_equal(kverbs_wait(&in.more[1], -1), 0);
	fake_wait_pending(0);
	fake_device_stop();
	assert_true(kverbs_process(in.t->kv, 0) >= 0);
	check_slots(in.t);
}

/* ---- several threads ----------------------------------------------------------------------- */

#define ROUNDS 300

static void *send_often(void *arg)
{
	struct kverbs_req req[SLOTS] = { 0 };
	struct sender *s = arg;
	unsigned int i;

	for (i = 0; i < ROUNDS; i++) {
		if (i >= SLOTS)
			assert_int_equal(kverbs_wait(&req[i % SLOTS], -1), 0);
		assert_int_equal(kverbs_send_copy(s->conn, &i, sizeof(i), &req[i % SLOTS]), 0);
	}
	for (i = 0; i < SLOTS; i++)
		assert_int_equal(kverbs_wait(&req[i], -1), 0);
	return NULL;
}

static void several_threads_share_the_slots(void **state)
{
	struct t *t = *state;
	struct sender s[3];
	unsigned int i;

	fake_device_start(5, 0);
	for (i = 0; i < 3; i++) {
		s[i].conn = t->conn;
		assert_int_equal(pthread_create(&s[i].thread, NULL, send_often, &s[i]), 0);
	}
	for (i = 0; i < 3; i++)
		assert_int_equal(pthread_join(s[i].thread, NULL), 0);
	fake_device_stop();
	check_slots(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_conn(data_may_change_once_it_is_sent),
		t_test_conn(the_longest_messages_lie_side_by_side),
		t_test_conn(an_empty_message_needs_no_memory),
		t_test_conn(a_request_is_required),
		t_test_conn(the_memory_is_registered_once),
		t_test_conn(without_memory_nothing_is_sent),
		t_test_conn(a_complete_request_returns_its_slot),
		t_test_conn(a_request_that_was_not_posted_returns_its_slot),
		t_test_conn(a_request_that_the_kernel_refuses_returns_its_slot),
		t_test_conn(a_request_in_use_takes_no_slot),
		t_test_conn(a_freed_connection_returns_its_slots),
		t_test_conn(a_request_in_the_queue_has_returned_its_slot),
		t_test_conn(a_worker_has_slots_of_its_own_and_frees_them),
		t_test_conn(a_message_waits_for_a_slot),
		t_test_conn(a_slot_wakes_a_thread_that_follows),
		t_test_conn(another_connection_may_return_the_slot),
		t_test_conn(the_end_of_the_connection_ends_the_wait),
		t_test_conn(a_signal_ends_the_wait),
		t_test_conn(a_callback_finds_the_slot_of_its_request_free),
		t_test_conn(a_callback_may_wait_for_a_slot),
		t_test_conn(several_threads_share_the_slots),
	};

	return cmocka_run_group_tests_name("copy", tests, NULL, NULL);
}
