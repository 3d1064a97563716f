// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs hosts: descriptions and announcements that other hosts have written, and the table. */
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

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/out.h"
#include "cli/util.h"
#include "hosts/hosts.h"

#define TEXT 8192

static const struct hosts_entry server = {
	.host = "192.0.2.7", .name = "seven", .device = "mlx5_0",
	.transport = KVERBS_TRANSPORT_ROCE, .server = 7472, .services = "ping,bench",
	.key = true, .interface = "ens1f0np0",
};

static const struct hosts_entry adapter = {
	.host = "node12", .name = "node12", .device = "mlx5_1",
	.transport = KVERBS_TRANSPORT_IB, .local = true, .port = 1, .lid = 17,
	.guid = 0x0002c90300000abcull, .state = "ACTIVE",
};

static struct hosts_entry described(const char *description)
{
	struct hosts_entry e = { };

	hosts_describe(&e, description);
	return e;
}

static void a_description_is_a_host_and_its_device(void **state)
{
	struct hosts_entry e = described("node12 mlx5_1");

	(void)state;
	assert_string_equal(e.host, "node12");
	assert_string_equal(e.name, "node12");
	assert_string_equal(e.device, "mlx5_1");
	e = described("node12.example");
	assert_string_equal(e.host, "node12.example");
	assert_string_equal(e.device, "");
}

static void a_description_of_a_product_is_no_host(void **state)
{
	struct hosts_entry e = described("MT4123 ConnectX6   Mellanox Technologies");

	(void)state;
	assert_string_equal(e.host, "");
	assert_string_equal(e.name, "MT4123 ConnectX6   Mellanox Technologies");
	assert_string_equal(e.device, "");
	assert_string_equal(described("").host, "");
}

static void a_description_cannot_pose_as_an_option_or_a_command(void **state)
{
	(void)state;
	assert_string_equal(described("--key mlx5_0").host, "");
	assert_string_equal(described("$(reboot) mlx5_0").host, "");
	assert_string_equal(described(".. mlx5_0").host, "");
}

static void control_characters_do_not_get_through(void **state)
{
	char text[8];

	(void)state;
	assert_string_equal(described("a\033[2Jb x y").name, "a?[2Jb x y");
	hosts_text(text, sizeof(text), "\342\200\256ab\ncdef", 11);
	assert_string_equal(text, "???ab?c");
	hosts_text(text, sizeof(text), "ab\0cd", 5);
	assert_string_equal(text, "ab");
}

static void take(struct hosts_entry *e, const char *txt)
{
	hosts_txt(e, txt, strlen(txt));
}

static void an_announcement_tells_transport_device_services_and_key(void **state)
{
	struct hosts_entry e = { };

	(void)state;
	take(&e, "txtvers=1");
	take(&e, "transport=RoCE");
	take(&e, "Device=rxe0");
	take(&e, "services=ping,files");
	take(&e, "key=1");
	assert_int_equal(e.transport, KVERBS_TRANSPORT_ROCE);
	assert_string_equal(e.device, "rxe0");
	assert_string_equal(e.services, "ping,files");
	assert_true(e.key);
}

static void unknown_keys_of_an_announcement_are_ignored(void **state)
{
	struct hosts_entry e = { };
	const struct hosts_entry none = { };

	(void)state;
	take(&e, "transport=carrier pigeon");
	take(&e, "devices=rxe0");
	take(&e, "device");
	take(&e, "key");
	take(&e, "");
	take(&e, "=");
	assert_memory_equal(&e, &none, sizeof(e));
}

/* A string of DNS-SD is not terminated. */
static void a_value_ends_with_its_string(void **state)
{
	struct hosts_entry e = { };

	(void)state;
	hosts_txt(&e, "device=rxe0services=x", strlen("device=rxe0"));
	assert_string_equal(e.device, "rxe0");
	hosts_txt(&e, "key=10", strlen("key=1"));
	assert_true(e.key);
	hosts_txt(&e, "key=10", strlen("key=10"));
	assert_false(e.key);
}

/* A list with these entries, to be freed. */
static struct hosts list_of(const struct hosts_entry *entry, unsigned int nr)
{
	struct hosts hosts = { .asked = { true, true } };
	unsigned int i;

	for (i = 0; i < nr; i++)
		hosts_add(&hosts, &entry[i]);
	hosts_sort(&hosts);
	return hosts;
}

static void a_port_that_is_found_twice_is_listed_once(void **state)
{
	const struct hosts_entry entries[] = { adapter, server, adapter, server };
	struct hosts hosts = list_of(entries, ARRAY_SIZE(entries));

	(void)state;
	assert_int_equal(hosts.nr, 2);
	hosts_free(&hosts);
}

static void two_servers_of_a_host_are_two_lines(void **state)
{
	struct hosts_entry entries[] = { server, server };
	struct hosts hosts;

	(void)state;
	entries[1].server++;
	hosts = list_of(entries, ARRAY_SIZE(entries));
	assert_int_equal(hosts.nr, 2);
	hosts_free(&hosts);
}

static void hosts_are_sorted_by_name_and_number(void **state)
{
	struct hosts_entry entries[] = { adapter, adapter, server };
	struct hosts hosts;

	(void)state;
	snprintf(entries[1].name, sizeof(entries[1].name), "node2");
	entries[1].guid++;
	hosts = list_of(entries, ARRAY_SIZE(entries));
	assert_string_equal(hosts.list[0].name, "node2");
	assert_string_equal(hosts.list[1].name, "node12");
	assert_string_equal(hosts.list[2].name, "seven");
	hosts_free(&hosts);
}

/* Returns the output of the table, to be freed. */
static char *shown(const struct hosts *hosts)
{
	char *text = calloc(1, TEXT);
	int out = dup(STDOUT_FILENO);
	FILE *file = tmpfile();

	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	assert_int_equal(hosts_table(hosts), 0);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(file);
	assert_true(fread(text, 1, TEXT - 1, file) > 0);
	fclose(file);
	return text;
}

static void the_table_begins_with_what_commands_take_as_host(void **state)
{
	static const char wanted[] =
		"HOST       NAME    TRANSPORT   DEVICE  SERVER  STATE\n"
		"node12     node12  InfiniBand  mlx5_1  -       ACTIVE, LID 17, this host\n"
		"192.0.2.7  seven   RoCE        mlx5_0  7472    ping,bench, with a key\n";
	const struct hosts_entry entries[] = { server, adapter };
	struct hosts hosts = list_of(entries, ARRAY_SIZE(entries));
	char *text = shown(&hosts);

	(void)state;
	assert_string_equal(text, wanted);
	free(text);
	hosts_free(&hosts);
}

static struct json_object *field(struct json_object *o, const char *key)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(o, key, &value));
	return value;
}

static void assert_field(struct json_object *o, const char *key, const char *wanted)
{
	assert_string_equal(json_object_get_string(field(o, key)), wanted);
}

static void json_has_all_of_an_adapter_and_of_a_server(void **state)
{
	const struct hosts_entry entries[] = { server, adapter };
	struct hosts hosts = list_of(entries, ARRAY_SIZE(entries));
	struct json_object *list, *one;

	(void)state;
	out_begin("hosts", true);
	hosts_json(&hosts);
	list = field(out_root(), "hosts");
	assert_int_equal(json_object_array_length(list), 2);
	one = json_object_array_get_idx(list, 0);
	assert_field(one, "host", "node12");
	assert_field(one, "transport", "InfiniBand");
	assert_field(one, "port_guid", "0x0002c90300000abc");
	assert_int_equal(json_object_get_int(field(one, "lid")), 17);
	assert_true(json_object_get_boolean(field(one, "local")));
	one = json_object_array_get_idx(list, 1);
	assert_field(one, "host", "192.0.2.7");
	assert_field(one, "interface", "ens1f0np0");
	assert_int_equal(json_object_get_int(field(one, "server_port")), 7472);
	assert_true(json_object_get_boolean(field(one, "key")));
	assert_int_equal(json_object_array_length(field(one, "services")), 2);
	json_object_put(out_root());
	out_begin("", false);
	hosts_free(&hosts);
}

static void json_tells_which_source_was_not_asked_and_why(void **state)
{
	struct hosts hosts = { .asked = { [HOSTS_FABRIC] = true } };
	struct json_object *one;

	(void)state;
	hosts_miss(&hosts, HOSTS_DNSSD, "there is no %s", "daemon");
	out_begin("hosts", true);
	hosts_json(&hosts);
	one = json_object_array_get_idx(field(out_root(), "sources"), HOSTS_DNSSD);
	assert_field(one, "name", "DNS-SD");
	assert_false(json_object_get_boolean(field(one, "asked")));
	assert_field(one, "missing", "there is no daemon");
	json_object_put(out_root());
	out_begin("", false);
}

static void an_operand_is_an_error(void **state)
{
	char *argv[] = { "hosts", "here", NULL };

	(void)state;
	assert_int_equal(cmd_hosts.run(2, argv), EXIT_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_description_is_a_host_and_its_device),
		cmocka_unit_test(a_description_of_a_product_is_no_host),
		cmocka_unit_test(a_description_cannot_pose_as_an_option_or_a_command),
		cmocka_unit_test(control_characters_do_not_get_through),
		cmocka_unit_test(an_announcement_tells_transport_device_services_and_key),
		cmocka_unit_test(unknown_keys_of_an_announcement_are_ignored),
		cmocka_unit_test(a_value_ends_with_its_string),
		cmocka_unit_test(a_port_that_is_found_twice_is_listed_once),
		cmocka_unit_test(two_servers_of_a_host_are_two_lines),
		cmocka_unit_test(hosts_are_sorted_by_name_and_number),
		cmocka_unit_test(the_table_begins_with_what_commands_take_as_host),
		cmocka_unit_test(json_has_all_of_an_adapter_and_of_a_server),
		cmocka_unit_test(json_tells_which_source_was_not_asked_and_why),
		cmocka_unit_test(an_operand_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
