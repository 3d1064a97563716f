// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs dev shows all that ibv_devices, ibv_devinfo and ibstat show, in 80 columns. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <json-c/json.h>
#include <unistd.h>

#include "cli/out.h"
#include "cli/util.h"
#include "dev/dev.h"
#include "dev/unusable.h"

#define TEXT 8192

static struct kverbs_port ports[] = {
	{ .port = 1, .transport = KVERBS_TRANSPORT_ROCE, .state = 4, .phys_state = 5,
	  .max_mtu = 4096, .active_mtu = 1024, .rate_100mbps = 1000, .ifindex = 3,
	  .ifname = "ens1f0np0", .max_msg_size = 1u << 30, .gid_table_len = 256 },
	{ .port = 2, .transport = KVERBS_TRANSPORT_IB, .state = 2, .phys_state = 2,
	  .max_mtu = 4096, .active_mtu = 2048, .rate_100mbps = 2000, .lid = 17,
	  .sm_lid = 9 },
};

static struct kverbs_gid gids[] = {
	{ .gid = { 0xfe, 0x80, [8] = 0x50, 0x54, 0x98, 0xff, 0xfe, 0x76, 0x54, 0x32 },
	  .port = 1, .index = 0, .type = KVERBS_GID_ROCE_V1, .ifindex = 3 },
	{ .gid = { [10] = 0xff, 0xff, 192, 0, 2, 1 },
	  .port = 1, .index = 3, .type = KVERBS_GID_ROCE_V2, .ifindex = 3 },
};

static struct kverbs_cmd_device_query attr = {
	.out_name = "mlx5_0",
	.out_driver = "mlx5_ib",
	.out_fw_version = "28.39.1002",
	.out_node_guid = { 0x98, 0x03, 0x9b, 0x03, 0, 0x91, 0x2a, 0x4c },
	.out_sys_image_guid = { 0x98, 0x03, 0x9b, 0x03, 0, 0x91, 0x2a, 0x4d },
	.out_vendor_id = 0x2c9, .out_vendor_part_id = 4129, .out_hw_version = 2,
	.out_max_qp = 131072, .out_max_qp_wr = 32768, .out_max_cqe = 4194303,
	.out_caps = KVERBS_CAP_ATOMIC,
	.out_max_send_sge = 30, .out_max_recv_sge = 32, .out_max_read_sge = 30,
	.out_numa_node = 1,
};

/* Without a port that can be queried. */
static struct kverbs_cmd_device_query unusable_attr = {
	.out_name = "hns_0",
	.out_driver = "hns_roce_hw_v2",
	.out_numa_node = -1,
};

static struct kverbs_device unusable = { .attr = &unusable_attr };

static struct kverbs_device device = {
	.attr = &attr,
	.ports = ports,
	.gids = gids,
	.nr_ports = ARRAY_SIZE(ports),
	.nr_gids = ARRAY_SIZE(gids),
};

/* Returns the output of a table with one device, to be freed. */
static char *shown_of(const struct kverbs_device *dev, bool limits)
{
	char *text = calloc(1, TEXT);
	int out = dup(STDOUT_FILENO);
	FILE *file = tmpfile();

	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	assert_int_equal(dev_table(dev, 1, limits), 0);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(file);
	assert_true(fread(text, 1, TEXT - 1, file) > 0);
	fclose(file);
	return text;
}

static char *shown(bool limits)
{
	return shown_of(&device, limits);
}

/*
 * Returns true if one line has these words in this order, with any number of blanks between them.
 */
static bool has_line(const char *text, const char *wanted)
{
	char line[256], *at;
	const char *p;

	for (p = text; *p; p += strcspn(p, "\n") + 1) {
		for (at = line; *p && *p != '\n'; p++)
			if (*p != ' ' || (at > line && at[-1] != ' '))
				*at++ = *p;
		*at = '\0';
		if (!strcmp(line, wanted))
			return true;
		if (!*p)
			break;
		p -= strcspn(p, "\n");
	}
	print_error("no line '%s' in\n%s", wanted, text);
	return false;
}

static void a_port_has_its_states_mtus_rate_and_lids(void **state)
{
	char *text = shown(false);

	(void)state;
	assert_true(has_line(text, "mlx5_0 1 RoCE ACTIVE LinkUp 1024 4096 100 Gb/s - -"));
	assert_true(has_line(text, "mlx5_0 2 InfiniBand INIT Polling 2048 4096 200 Gb/s 17 9"));
	free(text);
}

static void a_gid_has_its_type_and_interface(void **state)
{
	char *text = shown(false);

	(void)state;
	assert_true(has_line(text, "0 RoCE v1 ens1f0np0 fe80::5054:98ff:fe76:5432"));
	assert_true(has_line(text, "3 RoCE v2 ens1f0np0 ::ffff:192.0.2.1"));
	free(text);
}

static void a_device_has_its_guids_driver_firmware_and_vendor(void **state)
{
	char *text = shown(false);

	(void)state;
	assert_non_null(strstr(text, "node GUID 9803:9b03:0091:2a4c"));
	assert_non_null(strstr(text, "system image GUID 9803:9b03:0091:2a4d"));
	assert_non_null(strstr(text, "driver mlx5_ib, firmware 28.39.1002, NUMA node 1"));
	assert_non_null(strstr(text, "vendor 0x2c9, part 4129, revision 0x2, Ethernet"));
	free(text);
}

static void verbose_shows_limits(void **state)
{
	char *text = shown(false);

	(void)state;
	assert_null(strstr(text, "queue pairs"));
	free(text);
	text = shown(true);
	assert_non_null(strstr(text, "queue pairs 131072, work requests in a queue 32768"));
	assert_non_null(strstr(text, "of a SEND 30, of a RECV 32, of a READ 30"));
	assert_non_null(strstr(text, "largest message 1073741824 bytes, GIDs 256 at most"));
	free(text);
}

static void check_width(char *text)
{
	char *line;

	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		if (strlen(line) > 80)
			fail_msg("%zu: %s", strlen(line), line);
	free(text);
}

static void lines_fit_eighty_columns(void **state)
{
	uint32_t reason;

	(void)state;
	check_width(shown(true));
	for (reason = 1; reason <= KVERBS_UNUSABLE_FIXED_IOVA; reason++) {
		attr.out_unusable = reason;
		check_width(shown(true));
	}
	attr.out_unusable = KVERBS_USABLE;
}

static void a_device_that_cannot_be_used_has_the_reason_and_advice(void **state)
{
	const char *line =
		"hns_0 kverbs cannot use it: it does not register memory by work requests";
	char *text;

	(void)state;
	unusable_attr.out_unusable = KVERBS_UNUSABLE_NO_FAST_REG;
	text = shown_of(&unusable, false);
	assert_true(has_line(text, line));
	assert_non_null(strstr(text, "newer firmware"));
	assert_non_null(strstr(text, "driver hns_roce_hw_v2, firmware -, NUMA node -"));
	free(text);
}

static void each_reason_has_words_of_its_own(void **state)
{
	uint32_t a, b;

	(void)state;
	for (a = 1; a <= KVERBS_UNUSABLE_FIXED_IOVA; a++)
		for (b = 0; b < a; b++)
			assert_string_not_equal(unusable_why(a), unusable_why(b));
}

static void a_reason_of_a_newer_module_is_reported_as_unknown(void **state)
{
	(void)state;
	assert_non_null(strstr(unusable_why(KVERBS_UNUSABLE_FIXED_IOVA + 1), "does not know"));
	assert_non_null(strstr(unusable_advice(UINT32_MAX), "module's version"));
}

static void json_has_the_same_information(void **state)
{
	struct json_object *o;
	const char *text;

	(void)state;
	out_begin("dev", true);
	dev_json(&device, 1);
	json_object_object_get_ex(out_root(), "devices", &o);
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	assert_non_null(strstr(text, "\"physical_state\":\"LinkUp\""));
	assert_non_null(strstr(text, "\"link_layer\":\"InfiniBand\""));
	assert_non_null(strstr(text, "\"sm_lid\":9"));
	assert_non_null(strstr(text, "\"sys_image_guid\":\"9803:9b03:0091:2a4d\""));
	assert_non_null(strstr(text, "\"usable\":true"));
	assert_non_null(strstr(text, "\"numa_node\":1"));
	assert_null(strstr(text, "unusable_why"));
	out_end(0);
}

static void json_has_the_reason_too(void **state)
{
	struct json_object *o;
	const char *text;

	(void)state;
	unusable_attr.out_unusable = KVERBS_UNUSABLE_SWITCH;
	out_begin("dev", true);
	dev_json(&unusable, 1);
	json_object_object_get_ex(out_root(), "devices", &o);
	text = json_object_to_json_string_ext(o, JSON_C_TO_STRING_PLAIN);
	assert_non_null(strstr(text, "\"usable\":false"));
	assert_non_null(strstr(text, "\"unusable_why\":\"it is a switch\""));
	assert_non_null(strstr(text, "\"advice\":\"Use an adapter"));
	out_end(0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_port_has_its_states_mtus_rate_and_lids),
		cmocka_unit_test(a_gid_has_its_type_and_interface),
		cmocka_unit_test(a_device_has_its_guids_driver_firmware_and_vendor),
		cmocka_unit_test(verbose_shows_limits),
		cmocka_unit_test(lines_fit_eighty_columns),
		cmocka_unit_test(a_device_that_cannot_be_used_has_the_reason_and_advice),
		cmocka_unit_test(each_reason_has_words_of_its_own),
		cmocka_unit_test(a_reason_of_a_newer_module_is_reported_as_unknown),
		cmocka_unit_test(json_has_the_same_information),
		cmocka_unit_test(json_has_the_reason_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
