// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connections of endpoints, and waiting for events and completions */
#include <poll.h>
#include <stdlib.h>

#include "fi_t.h"

static void private_data_travel_both_ways(void **state)
{
	struct t *t = *state;
	struct fi_eq_cm_entry entry;
	struct fi_info *info;
	uint8_t data[KVF_PRIV_MAX];

	info = t_request(t, "question", 8);
	t->server = t_ep(t, info);
	fi_freeinfo(info);
	assert_int_equal(fi_accept(t->server, "answer", 6), 0);
	assert_int_equal(t_event(t, FI_CONNECTED, &entry, data), 6);
	assert_ptr_equal(entry.fid, &t->client->fid);
	assert_memory_equal(data, "answer", 6);
	assert_int_equal(t_event(t, FI_CONNECTED, &entry, NULL), 0);
	assert_ptr_equal(entry.fid, &t->server->fid);
}

static void an_endpoint_connects_from_the_address_that_it_was_given(void **state)
{
	struct sockaddr_in addr, from = { .sin_family = AF_INET, .sin_port = htons(1234) };
	struct t *t = *state;
	size_t len = sizeof(addr);

	from.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_int_equal(fi_getname(&t->pep->fid, &addr, &len), 0);
	t->client = t_ep(t, t->info);
	assert_int_equal(fi_setname(&t->client->fid, &from, sizeof(from) - 1), -FI_EINVAL);
	assert_int_equal(fi_setname(&t->client->fid, &from, sizeof(from)), 0);
	assert_int_equal(fi_connect(t->client, &addr, NULL, 0), 0);
	assert_int_equal(fake.last_connect.src.port, htons(1234));
	assert_int_equal(fi_setname(&t->client->fid, &from, sizeof(from)), -FI_EINVAL);
}

static struct kvf_domain *domain_of(struct t *t)
{
	return kvf_of(t->domain, struct kvf_domain, fid);
}

/* The next completion is that of the receive into the byte with this number. */
static void expect_receive(struct t *t, unsigned int nr)
{
	struct fi_cq_data_entry comp;

	do {
		comp = t_comp(t);
	} while (!(comp.flags & FI_RECV));
	assert_ptr_equal(comp.op_context, t->mem + nr);
	assert_int_equal(t->mem[nr], 'a' + nr);
}

static void on_iwarp_receives_are_there_before_the_peer_may_send(void **state)
{
	struct t *t = *state;
	struct fi_eq_cm_entry entry;
	struct fi_info *info;
	void *desc = fi_mr_desc(t->mr);
	uint8_t *text = t->mem + 4096;
	unsigned int i;

	domain_of(t)->is_iwarp = true;
	info = t_request(t, NULL, 0);
	t->server = t_ep(t, info);
	fi_freeinfo(info);
	for (i = 0; i < 3; i++)
		assert_int_equal(fi_recv(t->server, t->mem + i, 1, desc, 0, t->mem + i), 0);
	assert_int_equal(fake_pending(), 0);
	assert_int_equal(fi_accept(t->server, NULL, 0), 0);
	assert_int_equal(fake_pending(), 3);
	for (; i < 5; i++)
		assert_int_equal(fi_recv(t->server, t->mem + i, 1, desc, 0, t->mem + i), 0);
	t_event(t, FI_CONNECTED, &entry, NULL);
	t_event(t, FI_CONNECTED, &entry, NULL);
	for (i = 0; i < 5; i++) {
		text[i] = (uint8_t)('a' + i);
		assert_int_equal(fi_send(t->client, text + i, 1, desc, 0, NULL), 0);
	}
	for (i = 0; i < 5; i++)
		expect_receive(t, i);
	assert_int_equal(fi_injectdata(t->client, NULL, 0, 1, 0), -FI_EOPNOTSUPP);
}

/* The listener's queue may be closed before its request is accepted. */
static void a_request_outlives_its_event_queue(void **state)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct t *t = *state;
	struct fid_eq *eq, *first = t->eq;
	struct fi_info *info;

	domain_of(t)->is_iwarp = true;
	info = t_request(t, NULL, 0);
	assert_int_equal(fi_close(&t->client->fid), 0);
	t->client = NULL;
	assert_int_equal(fi_close(&t->pep->fid), 0);
	t->pep = NULL;
	assert_int_equal(fi_close(&first->fid), 0);
	assert_int_equal(fi_eq_open(t->fabric, &attr, &eq, NULL), 0);
	t->eq = eq;
	t->server = t_ep(t, info);
	fi_freeinfo(info);
	assert_int_equal(fi_recv(t->server, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_accept(t->server, NULL, 0), -FI_ENOTCONN);
}

static void a_request_brings_addresses_device_and_data(void **state)
{
	struct t *t = *state;
	struct sockaddr_in addr;
	size_t addrlen = sizeof(addr);
	struct fi_eq_cm_entry entry;
	uint8_t data[KVF_PRIV_MAX];

	assert_int_equal(fi_getname(&t->pep->fid, &addr, &addrlen), 0);
	t->client = t_ep(t, t->info);
	assert_int_equal(fi_connect(t->client, &addr, "question", 8), 0);
	assert_int_equal(t_event(t, FI_CONNREQ, &entry, data), 8);
	assert_memory_equal(data, "question", 8);
	assert_ptr_equal(entry.fid, &t->pep->fid);
	assert_string_equal(entry.info->domain_attr->name, "fake0");
	assert_int_equal(((struct sockaddr_in *)entry.info->src_addr)->sin_port, addr.sin_port);
	assert_int_equal(((struct sockaddr_in *)entry.info->dest_addr)->sin_addr.s_addr,
			 htonl(INADDR_LOOPBACK));
	assert_int_equal(fi_reject(t->pep, entry.info->handle, NULL, 0), 0);
	fi_freeinfo(entry.info);
}

/* The verbs provider begins private data with their length, and so must this one. */
static void the_wire_is_that_of_verbs(void **state)
{
	const uint8_t padded[KVERBS_PRIV_CONNECT_MAX] = { 3, 'a', 'b', 'c' };
	const uint8_t lying[] = { 200, 'a', 'b', 'c' };
	struct t *t = *state;
	uint8_t data[KVF_PRIV_MAX];
	struct fi_eq_cm_entry entry;
	struct sockaddr_in addr;
	size_t addrlen = sizeof(addr);

	assert_int_equal(fi_getname(&t->pep->fid, &addr, &addrlen), 0);
	fake_request(ntohs(addr.sin_port), padded, sizeof(padded));
	assert_int_equal(t_event(t, FI_CONNREQ, &entry, data), 3);
	assert_memory_equal(data, "abc", 3);
	assert_int_equal(fi_reject(t->pep, entry.info->handle, NULL, 0), 0);
	fi_freeinfo(entry.info);
	fake_request(ntohs(addr.sin_port), lying, sizeof(lying));
	assert_int_equal(t_event(t, FI_CONNREQ, &entry, data), 3);
	assert_int_equal(fi_reject(t->pep, entry.info->handle, NULL, 0), 0);
	fi_freeinfo(entry.info);
	t->client = t_ep(t, t->info);
	assert_int_equal(fi_connect(t->client, &addr, "xy", 2), 0);
	assert_int_equal(fake.last_connect.priv_len, 3);
	assert_int_equal(fake.connect_param.rnr_retry, 7);
}

static void connect_with_keepalive(const char *ms, uint64_t want_ns, struct t *t)
{
	struct sockaddr_in addr;
	size_t addrlen = sizeof(addr);

	if (ms)
		setenv("FI_KVERBS_KEEPALIVE", ms, 1);
	fi_prov_ini();
	unsetenv("FI_KVERBS_KEEPALIVE");
	assert_int_equal(fi_getname(&t->pep->fid, &addr, &addrlen), 0);
	t->client = t_ep(t, t->info);
	assert_int_equal(fi_connect(t->client, &addr, NULL, 0), 0);
	assert_int_equal(fake.connect_param.keepalive_ns, want_ns);
	fi_close(&t->client->fid);
	t->client = NULL;
}

static void idle_connections_are_probed(void **state)
{
	struct t *t = *state;

	connect_with_keepalive(NULL, 60000000000, t);
	connect_with_keepalive("250", 250000000, t);
	/* The kernel's least interval */
	connect_with_keepalive("1", 10000000, t);
	connect_with_keepalive("0", 0, t);
	connect_with_keepalive("60000", 60000000000, t);
}

static void a_rejection_brings_its_data(void **state)
{
	struct t *t = *state;
	struct fi_eq_err_entry error;
	struct fi_info *info;

	info = t_request(t, NULL, 0);
	assert_int_equal(fi_reject(t->pep, info->handle, "no", 2), 0);
	fi_freeinfo(info);
	error = t_event_error(t);
	assert_ptr_equal(error.fid, &t->client->fid);
	assert_ptr_equal(error.context, t);
	assert_int_equal(error.err, FI_ECONNREFUSED);
	assert_int_equal(error.err_data_size, 2);
	assert_memory_equal(error.err_data, "no", 2);
}

static void the_end_of_a_request_that_was_not_accepted_is_no_event(void **state)
{
	const struct kverbs_cqe end = {
		.type = KVERBS_CQE_FAILED,
		.id = 12345,
		.result = -ECANCELED,
	};
	struct t *t = *state;
	struct fi_eq_cm_entry entry;
	uint32_t type;

	fake_cqe(&end);
	assert_int_equal(fi_eq_read(t->eq, &type, &entry, sizeof(entry), 0), -FI_EAGAIN);
}

static void a_connection_that_fails_is_an_error(void **state)
{
	struct t *t = *state;
	struct sockaddr_in addr = { .sin_family = AF_INET, .sin_port = htons(1) };

	fake_script_connect(-ETIMEDOUT);
	t->client = t_ep(t, t->info);
	assert_int_equal(fi_connect(t->client, &addr, NULL, 0), 0);
	assert_int_equal(t_event_error(t).err, FI_ETIMEDOUT);
	assert_int_equal(fi_connect(t->client, &addr, NULL, 0), -FI_EISCONN);
}

static void receives_are_posted_before_there_is_a_connection(void **state)
{
	struct t *t = *state;
	struct fi_eq_cm_entry entry;
	struct fi_info *info;

	info = t_request(t, NULL, 0);
	t->server = t_ep(t, info);
	fi_freeinfo(info);
	assert_int_equal(fi_recv(t->server, NULL, 0, NULL, 0, t), 0);
	assert_int_equal(fake_pending(), 0);
	assert_int_equal(fi_accept(t->server, NULL, 0), 0);
	assert_int_equal(fake_pending(), 1);
	t_event(t, FI_CONNECTED, &entry, NULL);
	t_event(t, FI_CONNECTED, &entry, NULL);
	assert_int_equal(fi_inject(t->client, NULL, 0, 0), 0);
	assert_ptr_equal(t_comp(t).op_context, t);
}

static void receives_of_an_unconnected_endpoint_are_cancelled(void **state)
{
	struct t *t = *state;

	t->client = t_ep(t, t->info);
	assert_int_equal(fi_recv(t->client, NULL, 0, NULL, 0, t), 0);
	assert_int_equal(fi_send(t->client, NULL, 0, NULL, 0, NULL), -FI_ENOTCONN);
	assert_int_equal(fi_close(&t->client->fid), 0);
	t->client = NULL;
	assert_int_equal(t_comp_error(t).err, FI_ECANCELED);
}

static void the_peer_is_told_of_a_shutdown(void **state)
{
	struct t *t = *state;
	struct fi_eq_cm_entry entry;
	uint32_t type;

	assert_int_equal(fi_shutdown(t->client, 0), 0);
	t_event(t, FI_SHUTDOWN, &entry, NULL);
	assert_ptr_equal(entry.fid, &t->server->fid);
	assert_int_equal(fi_eq_read(t->eq, &type, &entry, sizeof(entry), 0), -FI_EAGAIN);
}

static void events_of_a_closed_endpoint_vanish(void **state)
{
	struct t *t = *state;
	struct fi_eq_cm_entry entry;
	uint32_t type;

	assert_int_equal(fi_shutdown(t->client, 0), 0);
	assert_int_equal(fi_eq_read(t->eq, &type, &entry, sizeof(entry), FI_PEEK),
			 sizeof(entry));
	assert_int_equal(fi_close(&t->server->fid), 0);
	t->server = NULL;
	assert_int_equal(fi_eq_read(t->eq, &type, &entry, sizeof(entry), 0), -FI_EAGAIN);
}

static void a_request_that_was_not_read_is_rejected_with_its_listener(void **state)
{
	struct t *t = *state;
	struct sockaddr_in addr;
	size_t addrlen = sizeof(addr);

	assert_int_equal(fi_getname(&t->pep->fid, &addr, &addrlen), 0);
	t->client = t_ep(t, t->info);
	assert_int_equal(fi_connect(t->client, &addr, NULL, 0), 0);
	assert_int_equal(fi_close(&t->pep->fid), 0);
	t->pep = NULL;
	assert_int_equal(t_event_error(t).err, FI_ECONNREFUSED);
}

static void a_request_outlives_its_listener(void **state)
{
	struct t *t = *state;
	struct fi_eq_cm_entry entry;
	struct fi_info *info;

	info = t_request(t, NULL, 0);
	assert_int_equal(fi_close(&t->pep->fid), 0);
	t->pep = NULL;
	t->server = t_ep(t, info);
	fi_freeinfo(info);
	assert_int_equal(fi_accept(t->server, NULL, 0), 0);
	t_event(t, FI_CONNECTED, &entry, NULL);
}

static void an_endpoint_needs_its_queues(void **state)
{
	struct t *t = *state;

	assert_int_equal(fi_endpoint(t->domain, t->info, &t->client, NULL), 0);
	assert_int_equal(fi_enable(t->client), -FI_ENOEQ);
	assert_int_equal(fi_ep_bind(t->client, &t->eq->fid, 0), 0);
	assert_int_equal(fi_enable(t->client), -FI_ENOCQ);
	assert_int_equal(fi_ep_bind(t->client, &t->cq->fid, FI_TRANSMIT), 0);
	assert_int_equal(fi_recv(t->client, NULL, 0, NULL, 0, NULL), -FI_EOPBADSTATE);
	assert_int_equal(fi_close(&t->cq->fid), -FI_EBUSY);
	assert_int_equal(fi_close(&t->eq->fid), -FI_EBUSY);
	assert_int_equal(fi_close(&t->domain->fid), -FI_EBUSY);
	assert_int_equal(fi_close(&t->fabric->fid), -FI_EBUSY);
}

static void a_written_event_is_read_as_it_is(void **state)
{
	struct t *t = *state;
	const struct fi_eq_entry in = { .data = 42 };
	struct fi_eq_entry out;
	uint32_t type;

	assert_int_equal(fi_eq_write(t->eq, FI_NOTIFY, &in, sizeof(in), 0), sizeof(in));
	assert_int_equal(fi_eq_sread(t->eq, &type, &out, sizeof(out), -1, 0), sizeof(out));
	assert_int_equal(type, FI_NOTIFY);
	assert_int_equal(out.data, 42);
}

static bool is_readable(struct fid *fid)
{
	struct pollfd pfd = { .events = POLLIN };

	assert_int_equal(fi_control(fid, FI_GETWAIT, &pfd.fd), 0);
	return poll(&pfd, 1, 0) == 1;
}

static void the_descriptor_of_a_queue_is_readable_when_it_has_entries(void **state)
{
	struct t *t = *state;
	struct fid *fids[] = { &t->cq->fid };
	enum fi_wait_obj obj;

	assert_int_equal(fi_control(&t->cq->fid, FI_GETWAITOBJ, &obj), 0);
	assert_int_equal(obj, FI_WAIT_FD);
	assert_int_equal(fi_trywait(t->fabric, fids, 1), 0);
	assert_false(is_readable(&t->cq->fid));
	assert_int_equal(fi_send(t->client, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_recv(t->server, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_inject(t->server, NULL, 0, 0), 0);
	assert_true(is_readable(&t->cq->fid));
	assert_int_equal(fi_trywait(t->fabric, fids, 1), -FI_EAGAIN);
	t_comp(t);
	t_comp(t);
	assert_int_equal(fi_trywait(t->fabric, fids, 1), 0);
	assert_false(is_readable(&t->cq->fid));
	assert_int_equal(fi_recv(t->client, NULL, 0, NULL, 0, NULL), 0);
}

/* A thread that reads the rings must wake those that sleep on other queues. */
static void a_completion_that_another_thread_moves_wakes_a_sleeper(void **state)
{
	struct t *t = *state;
	struct fid *cq[] = { &t->cq->fid }, *eq[] = { &t->eq->fid };

	assert_int_equal(fi_trywait(t->fabric, cq, 1), 0);
	assert_int_equal(fi_recv(t->server, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_send(t->client, NULL, 0, NULL, 0, NULL), 0);
	/* A reader of the event queue resets the eventfds of all rings. */
	assert_int_equal(fi_trywait(t->fabric, eq, 1), 0);
	assert_true(is_readable(&t->cq->fid));
	t_comp(t);
	t_comp(t);
}

static void a_signal_ends_a_wait(void **state)
{
	struct t *t = *state;
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_signal(t->cq), 0);
	assert_int_equal(fi_cq_sread(t->cq, &entry, 1, NULL, -1), -FI_EAGAIN);
	assert_int_equal(fi_cq_sread(t->cq, &entry, 1, NULL, 0), -FI_EAGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test(private_data_travel_both_ways),
		t_test(an_endpoint_connects_from_the_address_that_it_was_given),
		t_test(on_iwarp_receives_are_there_before_the_peer_may_send),
		t_test(a_request_outlives_its_event_queue),
		t_test(a_request_brings_addresses_device_and_data),
		t_test(the_wire_is_that_of_verbs),
		t_test(idle_connections_are_probed),
		t_test(a_rejection_brings_its_data),
		t_test(the_end_of_a_request_that_was_not_accepted_is_no_event),
		t_test(a_connection_that_fails_is_an_error),
		t_test(receives_are_posted_before_there_is_a_connection),
		t_test(receives_of_an_unconnected_endpoint_are_cancelled),
		t_test_pair(the_peer_is_told_of_a_shutdown),
		t_test_pair(events_of_a_closed_endpoint_vanish),
		t_test(a_request_that_was_not_read_is_rejected_with_its_listener),
		t_test(a_request_outlives_its_listener),
		t_test(an_endpoint_needs_its_queues),
		t_test(a_written_event_is_read_as_it_is),
		t_test_pair(the_descriptor_of_a_queue_is_readable_when_it_has_entries),
		t_test_pair(a_completion_that_another_thread_moves_wakes_a_sleeper),
		t_test_pair(a_signal_ends_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
