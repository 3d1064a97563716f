// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* DEVICE_QUERY: devices that no test machine has. */
#include <linux/kverbs.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "fake_device.h"
#include "file.h"
#include "info.h"

/* Port of a device as user space is told of it. */
static struct kverbs_port query(struct kunit *test, struct fake_hca *hca)
{
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct kverbs_cmd_device_query cmd = {
		.size = sizeof(cmd),
		.index = hca->ib.index,
		.inout_ports_len = 1,
		.ports_uptr = addr,
	};
	struct kverbs_ucmd ucmd = { .cmd = &cmd };
	struct kverbs_port port = {};
	int ret;

	KUNIT_ASSERT_NE(test, 0, addr);
	ret = kverbs_cmd_device_query(&ucmd);
	/* There is no room for the GID. */
	KUNIT_ASSERT_EQ(test, -EMSGSIZE, ret);
	KUNIT_EXPECT_EQ(test, hca->ib.index, cmd.out_index);
	KUNIT_EXPECT_EQ(test, 1, cmd.inout_ports_len);
	KUNIT_EXPECT_EQ(test, 1, cmd.inout_gids_len);
	KUNIT_EXPECT_EQ(test, 0, copy_from_user(&port, (void __user *)addr, sizeof(port)));
	return port;
}

/**
 * struct rate - speed of a port
 * @what: its name
 * @speed: of a lane
 * @rate: of four lanes, in 100 Mb/s
 */
struct rate {
	const char *what;
	u16 speed;
	u32 rate;
};

static const struct rate rates[] = {
	{ "SDR", IB_SPEED_SDR, 100 }, { "FDR10", IB_SPEED_FDR10, 400 },
	{ "FDR", IB_SPEED_FDR, 560 }, { "EDR", IB_SPEED_EDR, 1000 },
	{ "HDR", IB_SPEED_HDR, 2000 }, { "NDR", IB_SPEED_NDR, 4000 },
	{ "XDR", 256, 8000 }, { "a speed of the future", 512, 0 },
};

KUNIT_ARRAY_PARAM_DESC(rates, rates, what);

static void info_has_the_rate_of_a_port(struct kunit *test)
{
	const struct rate *rate = test->param_value;
	struct fake_hca *hca = fake_device_create(test);
	struct kverbs_port port;

	hca->speed = rate->speed;
	port = query(test, hca);
	KUNIT_EXPECT_EQ(test, 1, port.port);
	KUNIT_EXPECT_EQ(test, rate->rate, port.rate_100mbps);
}

static void be_no_switch(void *data)
{
	struct fake_hca *hca = data;

	hca->ib.is_switch = false;
	memset(&hca->ib.port_data[0], 0, sizeof(hca->ib.port_data[0]));
}

/*
 * Only port 0, with which the switch itself communicates. An iWARP device is not registered as
 * a switch, but what ib_core knows of its port can be that of port 0 for the query.
 */
static void info_has_the_port_of_a_switch(struct kunit *test)
{
	struct fake_hca *hca = fake_device_create(test);
	struct kverbs_port port;

	hca->ib.port_data[0] = hca->ib.port_data[1];
	hca->ib.is_switch = true;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, be_no_switch, hca));
	port = query(test, hca);
	KUNIT_EXPECT_EQ(test, 0, port.port);
	KUNIT_EXPECT_EQ(test, 1000, port.rate_100mbps);
}

static struct kunit_case info_cases[] = {
	KUNIT_CASE_PARAM(info_has_the_rate_of_a_port, rates_gen_params),
	KUNIT_CASE(info_has_the_port_of_a_switch),
	{}
};

static struct kunit_suite info_suite = {
	.name = "kverbs_info",
	.test_cases = info_cases,
};

kunit_test_suite(info_suite);
