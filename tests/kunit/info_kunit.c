// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* DEVICE_QUERY: devices that no test machine has. */
#include <linux/kverbs.h>
#include <linux/mman.h>
#include <linux/uaccess.h>

#include "fake_device.h"
#include "file.h"
#include "info.h"

/**
 * struct told - what user space is told of a device
 * @cmd: the answer
 * @port: the first port
 */
struct told {
	struct kverbs_cmd_device_query cmd;
	struct kverbs_port port;
};

static struct told ask(struct kunit *test, struct fake_hca *hca)
{
	unsigned long addr = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					   MAP_ANONYMOUS | MAP_PRIVATE, 0);
	struct told told = {
		.cmd.size = sizeof(told.cmd),
		.cmd.index = hca->ib.index,
		.cmd.inout_ports_len = 1,
		.cmd.ports_uptr = addr,
	};
	struct kverbs_ucmd ucmd = { .cmd = &told.cmd };
	int ret;

	KUNIT_ASSERT_NE(test, 0, addr);
	ret = kverbs_cmd_device_query(&ucmd);
	/* There is no room for the GID. */
	KUNIT_ASSERT_EQ(test, told.cmd.inout_gids_len ? -EMSGSIZE : 0, ret);
	KUNIT_EXPECT_EQ(test, hca->ib.index, told.cmd.out_index);
	KUNIT_EXPECT_EQ(test, 0, copy_from_user(&told.port, (void __user *)addr,
						sizeof(told.port)));
	return told;
}

/* Port of a usable device. */
static struct kverbs_port query(struct kunit *test, struct fake_hca *hca)
{
	struct told told = ask(test, hca);

	KUNIT_EXPECT_EQ(test, KVERBS_USABLE, told.cmd.out_unusable);
	KUNIT_EXPECT_EQ(test, 1, told.cmd.inout_ports_len);
	KUNIT_EXPECT_EQ(test, 1, told.cmd.inout_gids_len);
	return told.port;
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

static void info_has_an_unusable_device_with_its_port(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);
	struct told told;

	hca->limits.max_fast_reg_page_list_len = 0;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	told = ask(test, hca);
	KUNIT_EXPECT_EQ(test, KVERBS_UNUSABLE_NO_MR_PAGES, told.cmd.out_unusable);
	KUNIT_EXPECT_EQ(test, 0, told.cmd.out_max_mr_pages);
	KUNIT_EXPECT_EQ(test, 1, told.cmd.inout_ports_len);
	KUNIT_EXPECT_EQ(test, 1, told.port.port);
}

static void info_has_an_unusable_device_whose_port_cannot_be_queried(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);
	struct told told;

	hca->limits.max_fast_reg_page_list_len = 0;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	hca->errors[FAKE_QUERY_PORT] = -EIO;
	told = ask(test, hca);
	KUNIT_EXPECT_EQ(test, KVERBS_UNUSABLE_NO_MR_PAGES, told.cmd.out_unusable);
	KUNIT_EXPECT_EQ(test, 0, told.cmd.inout_ports_len);
	KUNIT_EXPECT_EQ(test, 0, told.cmd.inout_gids_len);
}

static void info_has_the_entries_of_sends_and_receives_apart(struct kunit *test)
{
	struct fake_hca *hca = fake_device_new(test);
	struct told told;

	hca->limits.max_send_sge = 6;
	hca->limits.max_recv_sge = 1;
	KUNIT_ASSERT_EQ(test, 0, fake_device_register(hca));
	told = ask(test, hca);
	KUNIT_EXPECT_EQ(test, 6, told.cmd.out_max_send_sge);
	KUNIT_EXPECT_EQ(test, 1, told.cmd.out_max_recv_sge);
}

static struct kunit_case info_cases[] = {
	KUNIT_CASE_PARAM(info_has_the_rate_of_a_port, rates_gen_params),
	KUNIT_CASE(info_has_the_port_of_a_switch),
	KUNIT_CASE(info_has_an_unusable_device_with_its_port),
	KUNIT_CASE(info_has_an_unusable_device_whose_port_cannot_be_queried),
	KUNIT_CASE(info_has_the_entries_of_sends_and_receives_apart),
	{}
};

static struct kunit_suite info_suite = {
	.name = "kverbs_info",
	.test_cases = info_cases,
};

kunit_test_suite(info_suite);
