// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Each allocation and each command fails once: the call says so, and nothing is left behind. */
#include "fi_t.h"

#define RIGHTS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV)

/* Objects that were opened, in the order in which they are closed */
struct objects {
	struct fi_info *info;
	struct fi_info *request;
	struct fid_ep *client;
	struct fid_ep *server;
	struct fid_pep *pep;
	struct fid_mr *mr;
	struct fid_cq *cq;
	struct fid_domain *domain;
	struct fid_eq *eq;
	struct fid_fabric *fabric;
};

static uint8_t mem[65536] __attribute__((aligned(4096)));

static int open_queues(struct objects *o)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	return kvf_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, NULL, &o->info) ||
	       kvf_fabric(o->info->fabric_attr, &o->fabric, NULL) ||
	       fi_eq_open(o->fabric, &eq_attr, &o->eq, NULL) ||
	       fi_domain(o->fabric, o->info, &o->domain, NULL) ||
	       fi_cq_open(o->domain, &cq_attr, &o->cq, NULL) ||
	       fi_mr_reg(o->domain, mem, sizeof(mem), RIGHTS, 0, 0, 0, &o->mr, NULL);
}

static int open_ep(struct objects *o, struct fi_info *info, struct fid_ep **ep)
{
	return fi_endpoint(o->domain, info, ep, NULL) ||
	       fi_ep_bind(*ep, &o->eq->fid, 0) ||
	       fi_ep_bind(*ep, &o->cq->fid, FI_TRANSMIT | FI_RECV) || fi_enable(*ep) ||
	       fi_recv(*ep, mem, 8, fi_mr_desc(o->mr), 0, NULL);
}

static bool is_event(struct objects *o, uint32_t wanted)
{
	struct fi_eq_cm_entry entry;
	uint32_t type;

	if (fi_eq_read(o->eq, &type, &entry, sizeof(entry), 0) != sizeof(entry))
		return false;
	if (type == FI_CONNREQ)
		o->request = entry.info;
	return type == wanted;
}

static int connect_pair(struct objects *o)
{
	struct sockaddr_in addr;
	size_t len = sizeof(addr);

	return fi_passive_ep(o->fabric, o->info, &o->pep, NULL) ||
	       fi_pep_bind(o->pep, &o->eq->fid, 0) || fi_listen(o->pep) ||
	       fi_getname(&o->pep->fid, &addr, &len) || open_ep(o, o->info, &o->client) ||
	       fi_connect(o->client, &addr, NULL, 0) || !is_event(o, FI_CONNREQ) ||
	       open_ep(o, o->request, &o->server) || fi_accept(o->server, NULL, 0) ||
	       !is_event(o, FI_CONNECTED) || !is_event(o, FI_CONNECTED);
}

static int move_data(struct objects *o)
{
	ssize_t ret;

	ret = fi_inject(o->client, "x", 1, 0);
	if (ret)
		return (int)ret;
	do {
		ret = fi_read(o->client, mem + 40000, 9000, fi_mr_desc(o->mr), 0,
			      (uintptr_t)mem, fi_mr_key(o->mr), NULL);
	} while (ret == -FI_EAGAIN);
	return (int)ret;
}

static void close_if(void *object)
{
	if (object)
		assert_int_equal(fi_close(object), 0);
}

static void close_objects(struct objects *o)
{
	close_if(o->client);
	close_if(o->server);
	close_if(o->pep);
	close_if(o->mr);
	close_if(o->cq);
	close_if(o->domain);
	close_if(o->eq);
	close_if(o->fabric);
	if (o->request)
		fi_freeinfo(o->request);
	if (o->info)
		fi_freeinfo(o->info);
}

static void nothing_is_left_whatever_fails(void **state)
{
	unsigned int n = 0;
	bool failed, hit;

	do {
		struct objects o = { 0 };

		t_add_device();
		fake.max_segment = 4096;
		fake_fail_nth(++n);
		failed = open_queues(&o) || connect_pair(&o) || move_data(&o);
		hit = fake_fail_nth_hit();
		assert_true(hit || !failed);
		fake_fail_nth(0);
		close_objects(&o);
		assert_int_equal(fake_leftovers(), 0);
	} while (hit);
	assert_true(n > 30);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_is_left_whatever_fails),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
