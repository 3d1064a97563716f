// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Counters, and endpoints that have nothing else */
#include <pthread.h>

#include "fi_t.h"

static struct fid_cntr *cntr_new(struct t *t)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_cntr *cntr;

	assert_int_equal(fi_cntr_open(t->domain, &attr, &cntr, NULL), 0);
	return cntr;
}

static void *desc(const struct t *t)
{
	return fi_mr_desc(t->mr);
}

/* Let t->client be connected to t->server, with these counters and, if @cq is set, the queue. */
static void connect_counted(struct t *t, bool cq, struct fid_cntr *sent, struct fid_cntr *received)
{
	struct fi_eq_cm_entry entry;
	struct sockaddr_in addr;
	size_t len = sizeof(addr);

	assert_int_equal(fi_endpoint(t->domain, t->info, &t->client, NULL), 0);
	assert_int_equal(fi_ep_bind(t->client, &t->eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(t->client, &sent->fid, FI_SEND | FI_WRITE), 0);
	assert_int_equal(fi_ep_bind(t->client, &received->fid, FI_RECV | FI_READ), 0);
	if (cq)
		assert_int_equal(fi_ep_bind(t->client, &t->cq->fid, FI_TRANSMIT | FI_RECV |
					    FI_SELECTIVE_COMPLETION), 0);
	assert_int_equal(fi_enable(t->client), 0);
	assert_int_equal(fi_getname(&t->pep->fid, &addr, &len), 0);
	assert_int_equal(fi_connect(t->client, &addr, NULL, 0), 0);
	t_event(t, FI_CONNREQ, &entry, NULL);
	t->server = t_ep(t, entry.info);
	fi_freeinfo(entry.info);
	assert_int_equal(fi_accept(t->server, NULL, 0), 0);
	t_event(t, FI_CONNECTED, &entry, NULL);
	t_event(t, FI_CONNECTED, &entry, NULL);
}

static void close_counted(struct t *t, struct fid_cntr *sent, struct fid_cntr *received)
{
	assert_int_equal(fi_close(&sent->fid), -FI_EBUSY);
	assert_int_equal(fi_close(&t->client->fid), 0);
	t->client = NULL;
	assert_int_equal(fi_close(&sent->fid), 0);
	assert_int_equal(fi_close(&received->fid), 0);
}

static void an_endpoint_with_counters_needs_no_queue(void **state)
{
	struct t *t = *state;
	struct fid_cntr *sent = cntr_new(t), *received = cntr_new(t);

	connect_counted(t, false, sent, received);
	assert_int_equal(fi_recv(t->client, t->mem, 8, desc(t), 0, NULL), 0);
	assert_int_equal(fi_inject(t->server, "hello", 5, 0), 0);
	assert_int_equal(fi_cntr_wait(received, 1, -1), 0);
	assert_memory_equal(t->mem, "hello", 5);
	assert_int_equal(fi_write(t->client, t->mem, 5, desc(t), 0, (uintptr_t)t->mem + 100,
				  fi_mr_key(t->mr), NULL), 0);
	assert_int_equal(fi_cntr_read(sent), 1);
	assert_int_equal(fi_read(t->client, t->mem, 5, desc(t), 0, (uintptr_t)t->mem + 100,
				 fi_mr_key(t->mr), NULL), 0);
	assert_int_equal(fi_cntr_read(received), 2);
	assert_int_equal(fi_cntr_read(sent), 1);
	assert_int_equal(fi_cntr_readerr(sent), 0);
	close_counted(t, sent, received);
}

static void operations_that_no_queue_reports_are_counted(void **state)
{
	struct t *t = *state;
	struct fid_cntr *sent = cntr_new(t), *received = cntr_new(t);

	connect_counted(t, true, sent, received);
	assert_int_equal(fi_recv(t->server, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_recv(t->server, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_inject(t->client, NULL, 0, 0), 0);
	assert_int_equal(fi_send(t->client, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_cntr_wait(sent, 2, -1), 0);
	t_comp(t);
	t_comp(t);
	t_no_comp(t);
	close_counted(t, sent, received);
}

static void failures_are_counted_apart(void **state)
{
	struct t *t = *state;
	struct fid_cntr *sent = cntr_new(t), *received = cntr_new(t);

	connect_counted(t, false, sent, received);
	assert_int_equal(fi_recv(t->client, t->mem, 8, desc(t), 0, NULL), 0);
	assert_int_equal(fi_close(&t->server->fid), 0);
	t->server = NULL;
	assert_int_equal(fi_cntr_readerr(received), 1);
	assert_int_equal(fi_cntr_read(received), 0);
	assert_int_equal(fi_send(t->client, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_cntr_readerr(sent), 1);
	close_counted(t, sent, received);
}

static void a_counter_is_what_it_was_set_to(void **state)
{
	struct t *t = *state;
	struct fid_cntr *cntr = cntr_new(t);

	assert_int_equal(fi_cntr_set(cntr, 41), 0);
	assert_int_equal(fi_cntr_add(cntr, 1), 0);
	assert_int_equal(fi_cntr_read(cntr), 42);
	assert_int_equal(fi_cntr_seterr(cntr, 3), 0);
	assert_int_equal(fi_cntr_adderr(cntr, 4), 0);
	assert_int_equal(fi_cntr_readerr(cntr), 7);
	assert_int_equal(fi_cntr_wait(cntr, 42, 0), 0);
	assert_int_equal(fi_cntr_wait(cntr, 43, 0), -FI_ETIMEDOUT);
	assert_int_equal(fi_close(&cntr->fid), 0);
}

static void *wait_for_ten(void *cntr)
{
	return (void *)(intptr_t)fi_cntr_wait(cntr, 10, -1);
}

static void *wait_for_twenty(void *cntr)
{
	return (void *)(intptr_t)fi_cntr_wait(cntr, 20, -1);
}

static void several_threads_wait_for_one_counter(void **state)
{
	struct t *t = *state;
	struct fid_cntr *cntr = cntr_new(t);
	pthread_t ten, twenty;
	void *ret;

	pthread_create(&ten, NULL, wait_for_ten, cntr);
	pthread_create(&twenty, NULL, wait_for_twenty, cntr);
	fi_cntr_add(cntr, 10);
	pthread_join(ten, &ret);
	assert_null(ret);
	fi_cntr_add(cntr, 10);
	pthread_join(twenty, &ret);
	assert_null(ret);
	assert_int_equal(fi_close(&cntr->fid), 0);
}

static void an_error_ends_a_wait(void **state)
{
	struct t *t = *state;
	struct fid_cntr *sent = cntr_new(t), *received = cntr_new(t);
	pthread_t thread;
	void *ret;

	connect_counted(t, false, sent, received);
	assert_int_equal(fi_recv(t->client, t->mem, 8, desc(t), 0, NULL), 0);
	pthread_create(&thread, NULL, wait_for_ten, received);
	do {
		fi_cntr_adderr(received, 1);
	} while (pthread_tryjoin_np(thread, &ret));
	assert_int_equal((intptr_t)ret, -FI_EAVAIL);
	close_counted(t, sent, received);
}

static void a_counter_that_has_changed_is_not_slept_on(void **state)
{
	struct t *t = *state;
	struct fid_cntr *cntr = cntr_new(t);
	struct fid *fids[] = { &cntr->fid };
	int fd;

	assert_int_equal(fi_trywait(t->fabric, fids, 1), 0);
	fi_cntr_add(cntr, 1);
	assert_int_equal(fi_trywait(t->fabric, fids, 1), -FI_EAGAIN);
	fi_cntr_read(cntr);
	assert_int_equal(fi_trywait(t->fabric, fids, 1), 0);
	assert_int_equal(fi_control(&cntr->fid, FI_GETWAIT, &fd), 0);
	assert_int_equal(fi_close(&cntr->fid), 0);
}

static void bindings_that_cannot_be_kept_are_refused(void **state)
{
	struct t *t = *state;
	struct fid_cntr *cntr = cntr_new(t);
	struct fid_ep *ep;

	assert_int_equal(fi_endpoint(t->domain, t->info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_REMOTE_WRITE), -FI_ENOSYS);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, 0), -FI_EINVAL);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_SEND), 0);
	assert_int_equal(fi_ep_bind(ep, &cntr->fid, FI_SEND), -FI_EINVAL);
	assert_int_equal(fi_enable(ep), -FI_ENOEQ);
	assert_int_equal(fi_ep_bind(ep, &t->eq->fid, 0), 0);
	/* Nothing would tell of receives. */
	assert_int_equal(fi_enable(ep), -FI_ENOCQ);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_int_equal(fi_close(&cntr->fid), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test(an_endpoint_with_counters_needs_no_queue),
		t_test(operations_that_no_queue_reports_are_counted),
		t_test(failures_are_counted_apart),
		t_test(a_counter_is_what_it_was_set_to),
		t_test(several_threads_wait_for_one_counter),
		t_test(an_error_ends_a_wait),
		t_test(a_counter_that_has_changed_is_not_slept_on),
		t_test(bindings_that_cannot_be_kept_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
