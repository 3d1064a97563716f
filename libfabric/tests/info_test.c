// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Infos that fi_getinfo() offers, and hints that they match */
#include <stdlib.h>

#include "fi_t.h"

static uint32_t version;

uint32_t __wrap_fi_version(void)
{
	return version;
}

/* Hints that name an endpoint of the provider, as fi_getinfo() passes them */
static struct fi_info *hints_new(void)
{
	struct fi_info *hints = fi_allocinfo();

	assert_non_null(hints);
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = KVF_MR_MODE;
	return hints;
}

static int get(const char *node, uint64_t flags, const struct fi_info *hints)
{
	struct fi_info *info;
	int ret = kvf_getinfo(FI_VERSION(1, 17), node, NULL, flags, hints, &info);

	if (!ret)
		fi_freeinfo(info);
	return ret;
}

#define EXPECT(result, change) do {					\
		struct fi_info *hints = hints_new();			\
		change;							\
		assert_int_equal(get(NULL, 0, hints), result);		\
		fi_freeinfo(hints);					\
	} while (0)

static void hints_that_match(void **state)
{
	(void)state;
	assert_int_equal(get(NULL, 0, NULL), 0);
	EXPECT(0, hints->caps = FI_MSG | FI_RMA | FI_LOCAL_COMM | FI_REMOTE_COMM);
	EXPECT(0, hints->ep_attr->type = FI_EP_UNSPEC);
	EXPECT(0, hints->domain_attr->mr_mode = FI_MR_UNSPEC);
	EXPECT(0, hints->domain_attr->mr_mode |= FI_MR_ENDPOINT);
	EXPECT(0, hints->domain_attr->mr_mode = FI_MR_BASIC; hints->mode = FI_LOCAL_MR);
	EXPECT(0, hints->domain_attr->cq_data_size = 4; hints->mode = FI_RX_CQ_DATA);
	EXPECT(0, hints->domain_attr->name = strdup("FAKE0"));
	EXPECT(0, hints->tx_attr->msg_order = FI_ORDER_SAS);
	EXPECT(0, hints->tx_attr->msg_order = FI_ORDER_RMA_WAW);
	EXPECT(0, hints->domain_attr->cntr_cnt = 2);
	EXPECT(0, hints->addr_format = FI_SOCKADDR);
}

static void hints_that_do_not_match(void **state)
{
	(void)state;
	EXPECT(-FI_ENODATA, hints->caps = FI_TAGGED);
	EXPECT(-FI_ENODATA, hints->caps = FI_ATOMIC);
	EXPECT(-FI_ENODATA, hints->ep_attr->type = FI_EP_RDM);
	EXPECT(-FI_ENODATA, hints->domain_attr->mr_mode = FI_MR_SCALABLE);
	EXPECT(-FI_ENODATA, hints->domain_attr->mr_mode &= ~FI_MR_LOCAL);
	EXPECT(-FI_ENODATA, hints->domain_attr->mr_mode = FI_MR_BASIC);
	EXPECT(-FI_ENODATA, hints->domain_attr->cq_data_size = 4);
	EXPECT(-FI_ENODATA, hints->domain_attr->cq_data_size = 8; hints->mode = FI_RX_CQ_DATA);
	EXPECT(-FI_ENODATA, hints->domain_attr->name = strdup("other"));
	EXPECT(-FI_ENODATA, hints->fabric_attr->name = strdup("other"));
	EXPECT(-FI_ENODATA, hints->tx_attr->inject_size = kvf_param.inject + 1);
	EXPECT(-FI_ENODATA, hints->tx_attr->iov_limit = KVF_IOV_LIMIT + 1);
	EXPECT(-FI_ENODATA, hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE);
	EXPECT(-FI_ENODATA, hints->rx_attr->size = 1u << 20);
	EXPECT(-FI_ENODATA, hints->ep_attr->rx_ctx_cnt = FI_SHARED_CONTEXT);
	EXPECT(-FI_ENODATA, hints->ep_attr->max_msg_size = (1u << 20) + 1);
	EXPECT(-FI_ENODATA, hints->addr_format = FI_SOCKADDR_IB);
}

static void sizes_are_those_of_the_hints(void **state)
{
	struct fi_info *hints = hints_new(), *info;

	(void)state;
	hints->tx_attr->size = 1;
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	assert_int_equal(info->tx_attr->size, 1);
	assert_int_equal(info->mode, 0);
	assert_int_equal(info->domain_attr->mr_mode, KVF_MR_MODE);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

static void source_and_destination_choose_the_address(void **state)
{
	struct sockaddr_in *addr;
	struct fi_info *info;

	(void)state;
	assert_int_equal(get("127.0.0.1", FI_SOURCE, NULL), 0);
	assert_int_equal(get("192.0.2.1", FI_SOURCE, NULL), -FI_ENODATA);
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 17), "127.0.0.1", "47592", 0, NULL, &info), 0);
	assert_null(info->next);
	addr = info->dest_addr;
	assert_int_equal(addr->sin_port, htons(47592));
	addr = info->src_addr;
	assert_int_equal(addr->sin_port, 0);
	assert_int_equal(addr->sin_addr.s_addr, htonl(INADDR_LOOPBACK));
	fi_freeinfo(info);
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 17), NULL, "47592", FI_SOURCE, NULL, &info), 0);
	addr = info->src_addr;
	assert_int_equal(addr->sin_port, htons(47592));
	fi_freeinfo(info);
}

static void ports_that_cannot_be_used_are_left_out(void **state)
{
	(void)state;
	fake.port.state = 1;
	assert_int_equal(get(NULL, 0, NULL), -FI_ENODATA);
	fake.port.state = 4;
	fake_make_unusable(0, KVERBS_UNUSABLE_NO_FAST_REG);
	assert_int_equal(get(NULL, 0, NULL), -FI_ENODATA);
	fake_fail(FAKE_OPEN, 1, -ENOENT);
	assert_int_equal(get(NULL, 0, NULL), -FI_ENODATA);
}

static void iwarp_has_no_data_and_no_layer_above(void **state)
{
	struct fi_info *hints = hints_new(), *info;

	(void)state;
	fake.port.transport = KVERBS_TRANSPORT_IWARP;
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	assert_int_equal(info->ep_attr->protocol, FI_PROTO_IWARP);
	assert_int_equal(info->domain_attr->cq_data_size, 0);
	assert_int_equal(info->domain_attr->resource_mgmt, FI_RM_DISABLED);
	fi_freeinfo(info);
	hints->mode = FI_RX_CQ_DATA;
	hints->domain_attr->cq_data_size = 4;
	assert_int_equal(get(NULL, 0, hints), -FI_ENODATA);
	fi_freeinfo(hints);
	assert_int_equal(get(NULL, 1ull << 59, NULL), -FI_ENODATA);
}

static void an_old_api_registers_local_memory_by_its_mode(void **state)
{
	struct fi_info *hints = hints_new(), *info;

	(void)state;
	hints->domain_attr->mr_mode = FI_MR_BASIC;
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 0), NULL, NULL, 0, hints, &info), -FI_ENODATA);
	hints->domain_attr->mr_mode = FI_MR_UNSPEC;
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 4), NULL, NULL, 0, hints, &info), -FI_ENODATA);
	hints->mode = FI_LOCAL_MR;
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 4), NULL, NULL, 0, hints, &info), 0);
	assert_int_equal(info->domain_attr->mr_mode, FI_MR_BASIC);
	assert_int_equal(info->mode, FI_LOCAL_MR);
	assert_int_equal(info->caps, KVF_TX_CAPS | KVF_RX_CAPS);
	fi_freeinfo(info);
	hints->domain_attr->mr_mode = FI_MR_SCALABLE;
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 4), NULL, NULL, 0, hints, &info), -FI_ENODATA);
	fi_freeinfo(hints);
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 0), NULL, NULL, 0, NULL, &info), 0);
	assert_int_equal(info->domain_attr->mr_mode, FI_MR_BASIC);
	assert_true(info->mode & FI_LOCAL_MR);
	fi_freeinfo(info);
}

static uint64_t caps_for(uint64_t wanted)
{
	struct fi_info *hints = hints_new(), *info;
	uint64_t caps;

	hints->caps = wanted;
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info), 0);
	caps = info->caps;
	assert_int_equal(info->tx_attr->caps & ~caps, 0);
	assert_int_equal(info->rx_attr->caps & ~caps, 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
	return caps & ~(FI_LOCAL_COMM | FI_REMOTE_COMM);
}

static void capabilities_are_those_that_were_asked_for(void **state)
{
	(void)state;
	assert_int_equal(caps_for(0), KVF_TX_CAPS | KVF_RX_CAPS);
	assert_int_equal(caps_for(FI_MSG), FI_MSG | FI_SEND | FI_RECV);
	assert_int_equal(caps_for(FI_MSG | FI_SEND), FI_MSG | FI_SEND);
	assert_int_equal(caps_for(FI_RMA), FI_RMA | FI_READ | FI_WRITE | FI_REMOTE_READ |
			 FI_REMOTE_WRITE);
	assert_int_equal(caps_for(FI_MSG | FI_RMA | FI_RECV | FI_REMOTE_WRITE),
			 FI_MSG | FI_RMA | FI_RECV | FI_REMOTE_WRITE);
}

static void other_layouts_of_libfabric_are_refused(void **state)
{
	(void)state;
	version = FI_VERSION(1, 16);
	assert_null(fi_prov_ini());
	version = FI_VERSION(1, 20);
	assert_null(fi_prov_ini());
	version = FI_VERSION(2, 0);
	assert_null(fi_prov_ini());
	version = FI_VERSION(1, 19);
	assert_non_null(fi_prov_ini());
	version = FI_VERSION(1, 17);
	assert_string_equal(fi_prov_ini()->name, "kverbs");
}

static void it_takes_the_name_verbs_if_it_is_told_to(void **state)
{
	struct fi_provider *prov;

	(void)state;
	setenv("FI_KVERBS_NAME", "verbs", 1);
	prov = fi_prov_ini();
	assert_string_equal(prov->name, "verbs");
	assert_true(FI_VERSION_GE(prov->version, FI_VERSION(9999, 0)));
	setenv("FI_KVERBS_NAME", "tcp", 1);
	assert_string_equal(fi_prov_ini()->name, "kverbs");
	unsetenv("FI_KVERBS_NAME");
	prov = fi_prov_ini();
	assert_string_equal(prov->name, "kverbs");
	assert_true(FI_VERSION_LT(prov->version, FI_VERSION(1, 0)));
}

static int setup(void **state)
{
	version = FI_VERSION(1, 17);
	return t_setup(state);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, t_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		test(hints_that_match),
		test(hints_that_do_not_match),
		test(sizes_are_those_of_the_hints),
		test(source_and_destination_choose_the_address),
		test(ports_that_cannot_be_used_are_left_out),
		test(iwarp_has_no_data_and_no_layer_above),
		test(an_old_api_registers_local_memory_by_its_mode),
		test(capabilities_are_those_that_were_asked_for),
		test(other_layouts_of_libfabric_are_refused),
		test(it_takes_the_name_verbs_if_it_is_told_to),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
