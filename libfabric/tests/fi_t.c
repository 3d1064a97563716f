// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <net/if.h>
#include <stdlib.h>

#include "fi_t.h"

void t_add_device(void)
{
	fake_reset();
	fake.loopback = true;
	fake.max_msg = 1u << 20;
	fake.port.transport = KVERBS_TRANSPORT_ROCE;
	fake.port.state = 4;
	fake.port.max_msg_size = 1u << 20;
	fake.port.ifindex = if_nametoindex("lo");
	fake_add_device(0, "fake0", 1, 0);
}

static int open_all(struct t *t)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	return kvf_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, NULL, &t->info) ||
	       kvf_fabric(t->info->fabric_attr, &t->fabric, NULL) ||
	       fi_eq_open(t->fabric, &eq_attr, &t->eq, NULL) ||
	       fi_domain(t->fabric, t->info, &t->domain, NULL) ||
	       fi_cq_open(t->domain, &cq_attr, &t->cq, NULL) ||
	       fi_mr_reg(t->domain, t->mem, T_SIZE, FI_SEND | FI_RECV | FI_READ | FI_WRITE |
			 FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 0, 0, &t->mr, NULL) ||
	       fi_passive_ep(t->fabric, t->info, &t->pep, t) ||
	       fi_pep_bind(t->pep, &t->eq->fid, 0) || fi_listen(t->pep);
}

int t_setup(void **state)
{
	struct t *t = test_calloc(1, sizeof(*t));

	t_add_device();
	fi_prov_ini();
	if (posix_memalign((void **)&t->mem, 4096, T_SIZE))
		return -1;
	*state = t;
	return open_all(t);
}

struct fid_ep *t_ep(struct t *t, struct fi_info *info)
{
	struct fid_ep *ep;

	assert_int_equal(fi_endpoint(t->domain, info, &ep, t), 0);
	assert_int_equal(fi_ep_bind(ep, &t->eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &t->cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(ep), 0);
	return ep;
}

size_t t_event(struct t *t, uint32_t type, struct fi_eq_cm_entry *entry, void *data)
{
	uint8_t buf[sizeof(*entry) + KVF_PRIV_MAX];
	uint32_t is;
	ssize_t n;

	n = fi_eq_sread(t->eq, &is, buf, sizeof(buf), -1, 0);
	assert_true(n >= (ssize_t)sizeof(*entry));
	assert_int_equal(is, type);
	memcpy(entry, buf, sizeof(*entry));
	if (data)
		memcpy(data, buf + sizeof(*entry), n - sizeof(*entry));
	return n - sizeof(*entry);
}

struct fi_eq_err_entry t_event_error(struct t *t)
{
	struct fi_eq_err_entry error = { 0 };
	struct fi_eq_cm_entry entry;
	uint32_t type;

	assert_int_equal(fi_eq_sread(t->eq, &type, &entry, sizeof(entry), -1, 0), -FI_EAVAIL);
	assert_int_equal(fi_eq_readerr(t->eq, &error, 0), sizeof(error));
	return error;
}

struct fi_cq_data_entry t_comp(struct t *t)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_read(t->cq, &entry, 1), 1);
	return entry;
}

struct fi_cq_err_entry t_comp_error(struct t *t)
{
	struct fi_cq_err_entry error = { 0 };
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_read(t->cq, &entry, 1), -FI_EAVAIL);
	assert_int_equal(fi_cq_readerr(t->cq, &error, 0), 1);
	return error;
}

void t_no_comp(struct t *t)
{
	struct fi_cq_data_entry entry;

	assert_int_equal(fi_cq_read(t->cq, &entry, 1), -FI_EAGAIN);
}

struct fi_info *t_request(struct t *t, const void *param, size_t len)
{
	struct sockaddr_in addr;
	size_t addrlen = sizeof(addr);
	struct fi_eq_cm_entry entry;

	assert_int_equal(fi_getname(&t->pep->fid, &addr, &addrlen), 0);
	t->client = t_ep(t, t->info);
	assert_int_equal(fi_connect(t->client, &addr, param, len), 0);
	t_event(t, FI_CONNREQ, &entry, NULL);
	return entry.info;
}

int t_setup_pair(void **state)
{
	struct fi_eq_cm_entry entry;
	struct fi_info *info;
	struct t *t;

	if (t_setup(state))
		return -1;
	t = *state;
	info = t_request(t, NULL, 0);
	t->server = t_ep(t, info);
	fi_freeinfo(info);
	assert_int_equal(fi_accept(t->server, NULL, 0), 0);
	t_event(t, FI_CONNECTED, &entry, NULL);
	t_event(t, FI_CONNECTED, &entry, NULL);
	return 0;
}

/* Each object of libfabric begins with its fid. */
static int close_if(void *object)
{
	return object ? fi_close(object) : 0;
}

int t_teardown(void **state)
{
	struct t *t = *state;
	int ret;

	ret = close_if(t->client) || close_if(t->server) || close_if(t->pep) ||
	      close_if(t->mr) || close_if(t->cq) || close_if(t->domain) || close_if(t->eq) ||
	      close_if(t->fabric);
	fi_freeinfo(t->info);
	free(t->mem);
	test_free(t);
	return ret || fake_leftovers() ? -1 : 0;
}
