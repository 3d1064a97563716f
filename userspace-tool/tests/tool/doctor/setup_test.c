// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor on the set-up of RoCE and InfiniBand: files of sysfs and configfs as drivers of
 * adapters write them, and what dcb(8) and sminfo(8) print.
 */
#define _GNU_SOURCE
#include "doctor_host.h"

#include "cli/err.h"

#define CONFIGFS "sys/kernel/config/rdma_cm/rxe0/ports/1/"
#define IB_GID "fe80:0000:0000:0000:0002:c903:0000:0abc"
#define IB_MAC "80:00:00:29:fe:80:00:00:00:00:00:00:00:02:c9:03:00:00:0a:bc"
#define IB_NETDEV "{\"ifname\":\"ib0\",\"flags\":[" HOST_UP "],\"mtu\":2044,"		\
	"\"address\":\"" IB_MAC "\",\"addr_info\":[{\"family\":\"inet\","		\
	"\"local\":\"198.51.100.9\",\"prefixlen\":24}]}"

/* ---- type of service --------------------------------------------------------- */

static void a_port_sends_with_tos_0_unless_it_was_set(void **state)
{
	struct host *h = *state;

	host_examine(h);
	assert_true(host_has(h->d.finding[DOCTOR_TOS].seen, "with ToS 0, DSCP 0"));
}

/* DSCP 26, and that its packets may be marked. */
static void a_tos_with_a_dscp_is_fine(void **state)
{
	struct host *h = *state;

	host_write(h, CONFIGFS "default_roce_tos", "106\n");
	host_examine(h);
	assert_int_equal(h->status, EXIT_OK);
	assert_int_equal(h->d.finding[DOCTOR_TOS].verdict, FINDING_OK);
	assert_true(host_has(h->d.finding[DOCTOR_TOS].seen, "with ToS 106, DSCP 26"));
}

static void a_tos_that_reports_congestion_is_a_failure(void **state)
{
	struct host *h = *state;

	host_write(h, CONFIGFS "default_roce_tos", "107\n");
	host_blames(h, DOCTOR_TOS, FINDING_FAIL, "tells receivers that there is congestion",
		    "echo 104 >/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos");
	assert_int_equal(h->status, EXIT_FAILED);
}

static void a_dscp_that_was_written_as_tos_is_reported(void **state)
{
	struct host *h = *state;

	host_write(h, CONFIGFS "default_roce_tos", "26\n");
	host_blames(h, DOCTOR_TOS, FINDING_WARN, "ToS 26 of rxe0 port 1 is DSCP 6", "echo 104 >");
}

/* ---- flow control ------------------------------------------------------------ */

/* An adapter on eth0, whose driver tells dcb(8) this of priorities. */
static void make_adapter(struct host *h, const char *prio_pfc, const char *dscp_prio)
{
	char script[512];

	host_write(h, "sys/class/infiniband/rxe0/device/vendor", "0x15b3\n");
	snprintf(script, sizeof(script), "#!/bin/sh\n"
		 "[ \"$1 $3 $4 $5\" = '-j show dev eth0' ] || exit 1\n"
		 "case $2 in\n"
		 "pfc) echo '{\"ifname\":\"eth0\",\"pfc_cap\":8,\"prio_pfc\":[%s]}' ;;\n"
		 "app) echo '{\"ifname\":\"eth0\",\"dscp_prio\":[%s]}' ;;\n"
		 "esac\n", prio_pfc, dscp_prio);
	host_script(h, "dcb", script);
}

#define PFC_3 "false,false,false,true,false,false,false,false"
#define PFC_NONE "false,false,false,false,false,false,false,false"

static void roce_in_a_priority_with_flow_control_is_fine(void **state)
{
	struct host *h = *state;

	make_adapter(h, PFC_3, "[26,3],[46,6]");
	host_write(h, CONFIGFS "default_roce_tos", "106\n");
	host_examine(h);
	assert_int_equal(h->d.finding[DOCTOR_PFC].verdict, FINDING_OK);
	assert_true(host_has(h->d.finding[DOCTOR_PFC].seen, "priority 3 of eth0; PFC is on for 3"));
}

static void without_flow_control_the_priority_is_told(void **state)
{
	struct host *h = *state;

	make_adapter(h, PFC_NONE, "");
	host_examine(h);
	assert_int_equal(h->d.finding[DOCTOR_PFC].verdict, FINDING_OK);
	assert_true(host_has(h->d.finding[DOCTOR_PFC].seen, "PFC is off on eth0"));
}

static void roce_gets_the_dscp_whose_priority_has_flow_control(void **state)
{
	struct host *h = *state;

	make_adapter(h, PFC_3, "[46,6],[26,3]");
	host_blames(h, DOCTOR_PFC, FINDING_WARN,
		    "PFC of eth0 is for priority 3, but RoCE is sent with DSCP 0, priority 0",
		    "echo 104 >/sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_tos");
	assert_string_equal(h->d.finding[DOCTOR_PFC].remedy[0],
			    "mkdir /sys/kernel/config/rdma_cm/rxe0");
}

static void a_dscp_gets_the_priority_with_flow_control_if_none_has_it(void **state)
{
	struct host *h = *state;

	make_adapter(h, PFC_3, "");
	host_write(h, CONFIGFS "default_roce_tos", "104\n");
	host_blames(h, DOCTOR_PFC, FINDING_WARN, "RoCE is sent with DSCP 26, priority 0",
		    "dcb app add dev eth0 dscp-prio 26:3");
}

static void congestion_control_of_the_priority_is_turned_on(void **state)
{
	struct host *h = *state;
	const struct finding *f = &h->d.finding[DOCTOR_PFC];

	make_adapter(h, PFC_3, "[26,3]");
	host_write(h, CONFIGFS "default_roce_tos", "106\n");
	host_write(h, "sys/class/net/eth0/ecn/roce_np/enable/3", "0\n");
	host_write(h, "sys/class/net/eth0/ecn/roce_rp/enable/3", "0\n");
	host_write(h, "sys/class/net/eth0/ecn/roce_rp/enable/4", "0\n");
	host_blames(h, DOCTOR_PFC, FINDING_WARN, "ECN is off for priority 3 of eth0",
		    "echo 1 >/sys/class/net/eth0/ecn/roce_np/enable/3");
	assert_int_equal(f->nr, 2);
	assert_string_equal(f->remedy[1], "echo 1 >/sys/class/net/eth0/ecn/roce_rp/enable/3");
}

static void a_driver_that_does_not_tell_of_flow_control_is_not_judged(void **state)
{
	struct host *h = *state;

	make_adapter(h, PFC_3, "");
	host_script(h, "dcb", "#!/bin/sh\necho 'Attribute not found' >&2\nexit 1\n");
	host_examine(h);
	assert_int_equal(h->d.finding[DOCTOR_PFC].verdict, FINDING_SKIP);
	assert_true(host_has(h->d.finding[DOCTOR_PFC].seen, "does not tell"));
}

static void nonsense_of_dcb_is_not_judged(void **state)
{
	struct host *h = *state;

	make_adapter(h, "3", "[26],[\"x\",\"y\"],[99,3],[26,-7],7");
	host_examine(h);
	assert_true(h->d.finding[DOCTOR_PFC].verdict <= FINDING_WARN);
	host_script(h, "dcb", "#!/bin/sh\necho '[]'\n");
	host_examine(h);
	assert_int_equal(h->d.finding[DOCTOR_PFC].verdict, FINDING_SKIP);
}

/* ---- GIDs -------------------------------------------------------------------- */

static void the_gid_of_the_address_is_told(void **state)
{
	struct host *h = *state;

	host_examine(h);
	assert_string_equal(h->d.finding[DOCTOR_GID].seen,
			    "192.0.2.9 is GID 0 of rxe0 port 1, RoCE v2");
}

static void of_two_gids_of_an_address_that_of_v2_is_used(void **state)
{
	struct host *h = *state;

	host_write(h, HOST_PORT "gid_attrs/types/0", "IB/RoCE v1\n");
	host_write(h, HOST_PORT "gids/3", "0000:0000:0000:0000:0000:ffff:c000:0209\n");
	host_write(h, HOST_PORT "gid_attrs/types/3", "RoCE v2\n");
	host_write(h, HOST_PORT "gid_attrs/ndevs/3", "eth0\n");
	host_examine(h);
	assert_true(host_has(h->d.finding[DOCTOR_GID].seen, "is GID 3 of rxe0 port 1, RoCE v2"));
}

static void an_address_without_a_gid_is_a_failure(void **state)
{
	struct host *h = *state;

	host_write(h, HOST_PORT "gids/0", "fe80:0000:0000:0000:5054:00ff:fe00:0001\n");
	host_blames(h, DOCTOR_GID, FINDING_FAIL, "192.0.2.9 of eth0 is none of the GIDs of rxe0",
		    "ip link set dev eth0 up");
}

static void a_gid_of_another_interface_is_not_that_of_the_address(void **state)
{
	struct host *h = *state;

	host_write(h, HOST_PORT "gids/1", "0000:0000:0000:0000:0000:ffff:c000:0209\n");
	host_write(h, HOST_PORT "gid_attrs/types/1", "RoCE v2\n");
	host_write(h, HOST_PORT "gid_attrs/ndevs/1", "eth0.7\n");
	host_write(h, HOST_PORT "gids/0", "fe80:0000:0000:0000:5054:00ff:fe00:0001\n");
	host_blames(h, DOCTOR_GID, FINDING_FAIL, "is none of the GIDs", "ip link set dev eth0");
}

/* ---- InfiniBand -------------------------------------------------------------- */

/* The port is one of InfiniBand, whose subnet manager answers; ib0 is on it. */
static void make_infiniband(struct host *h)
{
	host_write(h, HOST_PORT "link_layer", "InfiniBand\n");
	host_write(h, HOST_PORT "sm_lid", "0x1\n");
	host_write(h, HOST_PORT "pkeys/0", "0xffff\n");
	host_write(h, HOST_PORT "pkeys/1", "0x0000\n");
	host_write(h, HOST_PORT "gids/0", IB_GID "\n");
	host_write(h, HOST_PORT "gid_attrs/ndevs/0", "ib0\n");
	host_write(h, "sys/class/net/ib0/mode", "datagram\n");
	host_write(h, "sys/class/net/ib0/pkey", "0xffff\n");
	host_interfaces(h, 1500, HOST_UP, HOST_ADDRESS, IB_NETDEV);
	host_script(h, "sminfo", "#!/bin/sh\n"
		    "[ \"$*\" = '-C rxe0 -P 1' ] || exit 1\n"
		    "echo 'sminfo: sm lid 1 sm guid 0x2c90300000abd, state 3 SMINFO_MASTER'\n");
}

static void a_fabric_with_a_manager_and_a_full_member_is_fine(void **state)
{
	struct host *h = *state;

	make_infiniband(h);
	host_examine(h);
	assert_int_equal(h->status, EXIT_OK);
	assert_string_equal(h->d.finding[DOCTOR_SM].seen, "rxe0 port 1 has one, LID 1; it answers");
	assert_string_equal(h->d.finding[DOCTOR_IPOIB].seen,
			    "ib0 is in datagram mode and has P_Key 0xffff");
	assert_int_equal(h->d.finding[DOCTOR_TOS].verdict, FINDING_SKIP);
}

static void a_port_that_knows_no_subnet_manager_needs_one(void **state)
{
	struct host *h = *state;

	make_infiniband(h);
	host_write(h, HOST_PORT "sm_lid", "0x0\n");
	host_blames(h, DOCTOR_SM, FINDING_FAIL, "rxe0 port 1 has no subnet manager",
		    "systemctl start opensm");
}

static void a_subnet_manager_that_does_not_answer_is_a_failure(void **state)
{
	struct host *h = *state;

	make_infiniband(h);
	host_script(h, "sminfo", "#!/bin/sh\necho 'sminfo: query' >&2\nexit 1\n");
	host_blames(h, DOCTOR_SM, FINDING_FAIL, "LID 1, does not answer",
		    "systemctl start opensm");
}

/* The tests may run as root, which may open every file. */
static void without_the_right_to_ask_the_subnet_manager_its_lid_suffices(void **state)
{
	struct host *h = *state;
	bool root = !geteuid();

	make_infiniband(h);
	host_script(h, "sminfo", "#!/bin/sh\nexit 1\n");
	host_write(h, "dev/infiniband/umad0", "");
	fchmodat(h->tmp->fd, "dev/infiniband/umad0", 0, 0);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	host_examine(h);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(h->d.finding[DOCTOR_SM].verdict, FINDING_OK);
	assert_true(host_has(h->d.finding[DOCTOR_SM].seen, "sminfo cannot be run"));
}

static void a_limited_member_of_a_partition_is_a_warning(void **state)
{
	struct host *h = *state;

	make_infiniband(h);
	host_write(h, HOST_PORT "pkeys/0", "0x7fff\n");
	host_write(h, "sys/class/net/ib0/pkey", "0x7fff\n");
	host_blames(h, DOCTOR_IPOIB, FINDING_WARN, "limited member of partition 0x7fff", NULL);
	assert_true(host_has(h->d.finding[DOCTOR_IPOIB].advice, "ALL=full"));
}

static void an_interface_of_a_partition_that_the_port_lacks_is_a_failure(void **state)
{
	struct host *h = *state;

	make_infiniband(h);
	host_write(h, "sys/class/net/ib0/pkey", "0x8002\n");
	host_blames(h, DOCTOR_IPOIB, FINDING_FAIL,
		    "ib0 is in partition 0x8002, but rxe0 port 1 is not", NULL);
	host_write(h, "sys/class/net/ib0/parent", "ib1\n");
	host_blames(h, DOCTOR_IPOIB, FINDING_FAIL, "ib0 is in partition 0x8002",
		    "echo 0x8002 >/sys/class/net/ib1/delete_child");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		host_test(a_port_sends_with_tos_0_unless_it_was_set),
		host_test(a_tos_with_a_dscp_is_fine),
		host_test(a_tos_that_reports_congestion_is_a_failure),
		host_test(a_dscp_that_was_written_as_tos_is_reported),
		host_test(roce_in_a_priority_with_flow_control_is_fine),
		host_test(without_flow_control_the_priority_is_told),
		host_test(roce_gets_the_dscp_whose_priority_has_flow_control),
		host_test(a_dscp_gets_the_priority_with_flow_control_if_none_has_it),
		host_test(congestion_control_of_the_priority_is_turned_on),
		host_test(a_driver_that_does_not_tell_of_flow_control_is_not_judged),
		host_test(nonsense_of_dcb_is_not_judged),
		host_test(the_gid_of_the_address_is_told),
		host_test(of_two_gids_of_an_address_that_of_v2_is_used),
		host_test(an_address_without_a_gid_is_a_failure),
		host_test(a_gid_of_another_interface_is_not_that_of_the_address),
		host_test(a_fabric_with_a_manager_and_a_full_member_is_fine),
		host_test(a_port_that_knows_no_subnet_manager_needs_one),
		host_test(a_subnet_manager_that_does_not_answer_is_a_failure),
		host_test(without_the_right_to_ask_the_subnet_manager_its_lid_suffices),
		host_test(a_limited_member_of_a_partition_is_a_warning),
		host_test(an_interface_of_a_partition_that_the_port_lacks_is_a_failure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
