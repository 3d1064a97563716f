// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor on hosts with one problem each: it reports that problem and no other. On a host
 * without problems it reports none.
 */
#define _GNU_SOURCE
#include "doctor_host.h"

#include <inttypes.h>
#include <sys/utsname.h>

#include "cli/cmd.h"
#include "cli/err.h"

static void a_healthy_host_passes_all_checks(void **state)
{
	struct host *h = *state;
	unsigned int i;

	host_examine(h);
	assert_int_equal(h->status, EXIT_OK);
	for (i = 0; i < DOCTOR_NAME; i++)
		if (h->d.finding[i].verdict != (host_lacks(i) ? FINDING_SKIP : FINDING_OK))
			fail_msg("check %d: %s", i, h->d.finding[i].seen);
	assert_int_equal(h->d.finding[DOCTOR_FIREWALL].verdict, FINDING_OK);
}

static void without_a_host_remote_checks_are_skipped(void **state)
{
	struct host *h = *state;

	host_examine(h);
	assert_int_equal(h->d.finding[DOCTOR_SERVER].verdict, FINDING_SKIP);
	assert_string_equal(h->d.finding[DOCTOR_SERVER].seen, "");
}

/* ---- module ------------------------------------------------------------- */

/* The module is installed for this kernel, beside modules with these lines, but not loaded. */
static void only_install(struct host *h, const char *others)
{
	char path[256], deps[256];
	struct utsname uts;

	uname(&uts);
	snprintf(path, sizeof(path), "lib/modules/%s/modules.dep", uts.release);
	snprintf(deps, sizeof(deps), "%supdates/kmod/kverbs.ko.xz: kernel/b.ko\n", others);
	host_write(h, path, deps);
	host_remove(h, "sys/module/kverbs");
	host_script(h, "modinfo", "#!/bin/sh\nexit 1\n");
	fake_fail(FAKE_OPEN, 1, -ENOENT);
}

static void a_module_that_is_installed_is_to_be_loaded(void **state)
{
	struct host *h = *state;

	only_install(h, "kernel/a.ko:\n");
	host_blames(h, DOCTOR_MODULE, FINDING_FAIL, "installed, but not loaded",
		    "modprobe kverbs");
	assert_int_equal(h->status, EXIT_DENIED);
	assert_int_equal(h->d.finding[DOCTOR_MODULE].nr, 1);
	assert_string_equal(h->d.finding[DOCTOR_NODE].seen, "until module is fixed");
}

static void a_module_that_was_built_for_a_replaced_ib_core_is_to_be_loaded(void **state)
{
	struct host *h = *state;

	only_install(h, "updates/dkms/ib_core.ko: kernel/a.ko\n");
	host_script(h, "modinfo", "#!/bin/sh\necho replaced\n");
	host_blames(h, DOCTOR_MODULE, FINDING_FAIL, "installed, but not loaded",
		    "modprobe kverbs");
}

static void a_module_is_rebuilt_if_ib_core_was_replaced_after_its_build(void **state)
{
	struct host *h = *state;

	only_install(h, "kernel/a.ko:\nupdates/dkms/ib_core.ko: kernel/a.ko\n");
	host_script(h, "modinfo", "#!/bin/sh\necho kernel\n");
	host_write(h, "var/lib/dkms/kverbs/0.1.0/source", "");
	host_blames(h, DOCTOR_MODULE, FINDING_FAIL,
		    "kernel's own ib_core, but updates/dkms/ib_core.ko replaces it",
		    "dkms build --force kverbs/" KVERBS_LIB_VERSION);
	assert_int_equal(h->status, EXIT_DENIED);
}

static void a_module_is_rebuilt_if_the_replacement_of_ib_core_is_gone(void **state)
{
	struct host *h = *state;

	only_install(h, "kernel/drivers/infiniband/core/ib_core.ko.xz:\n");
	host_script(h, "modinfo", "#!/bin/sh\necho replaced\n");
	host_blames(h, DOCTOR_MODULE, FINDING_FAIL, "built for a replaced ib_core",
		    "make install");
}

static void a_module_that_is_not_installed_is_to_be_built(void **state)
{
	struct host *h = *state;

	host_remove(h, "sys/module/kverbs");
	fake_fail(FAKE_OPEN, 1, -ENOENT);
	host_blames(h, DOCTOR_MODULE, FINDING_FAIL, "nor installed for kernel",
		    "make install");
}

static void dkms_is_the_remedy_where_it_has_the_source(void **state)
{
	struct host *h = *state;

	host_remove(h, "sys/module/kverbs");
	host_write(h, "var/lib/dkms/kverbs/0.1.0/source", "");
	fake_fail(FAKE_OPEN, 1, -ENOENT);
	host_blames(h, DOCTOR_MODULE, FINDING_FAIL, "nor installed for kernel",
		    "dkms autoinstall");
}

static void a_missing_node_is_created_with_its_number(void **state)
{
	struct host *h = *state;

	host_remove(h, "dev/kverbs");
	host_write(h, "sys/class/misc/kverbs/dev", "10:123\n");
	fake_fail(FAKE_OPEN, 1, -ENOENT);
	host_blames(h, DOCTOR_NODE, FINDING_FAIL, "does not exist",
		    "mknod -m 600 /dev/kverbs c 10 123");
	assert_int_equal(h->status, EXIT_DENIED);
}

/* The tests may run as root, which may open every file. */
static void a_node_without_permission_is_opened_to_a_group(void **state)
{
	struct host *h = *state;
	bool root = !geteuid();

	fchmodat(h->tmp->fd, "dev/kverbs", 0, 0);
	fake_fail(FAKE_OPEN, 1, -EACCES);
	if (root)
		assert_int_equal(seteuid(65534), 0);
	host_blames(h, DOCTOR_NODE, FINDING_FAIL, "cannot be opened by user",
		    "chmod 660 /dev/kverbs");
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(h->status, EXIT_DENIED);
}

static void an_abi_that_differs_is_a_failure(void **state)
{
	struct host *h = *state;

	fake.abi = KVERBS_ABI_VERSION + 1;
	host_write(h, "sys/module/kverbs/version", "9.9\n");
	host_blames(h, DOCTOR_VERSION, FINDING_FAIL, "9.9, have different ABIs",
		    "modprobe -r kverbs");
	assert_int_equal(h->status, EXIT_FAILED);
}

static void a_version_that_differs_is_a_warning(void **state)
{
	struct host *h = *state;

	host_write(h, "sys/module/kverbs/version", "0.0.9\n");
	host_blames(h, DOCTOR_VERSION, FINDING_WARN, "the module 0.0.9", "modprobe kverbs");
	assert_int_equal(h->status, EXIT_OK);
}

static void a_loaded_traffic_engine_is_unloaded_with_the_module(void **state)
{
	struct host *h = *state;

	host_write(h, "sys/module/kverbs/version", "0.0.9\n");
	host_write(h, "sys/module/kverbs_bench/version", "0.0.9\n");
	host_blames(h, DOCTOR_VERSION, FINDING_WARN, "the module 0.0.9",
		    "modprobe -r kverbs_bench kverbs");
}

/* ---- device -------------------------------------------------------------- */

static void without_a_device_a_software_device_is_suggested(void **state)
{
	struct host *h = *state;

	host_remove(h, "sys/class/infiniband");
	host_blames(h, DOCTOR_DEVICE, FINDING_FAIL, "no RDMA device",
		    "rdma link add rxe0 type rxe netdev eth0");
	assert_int_equal(h->status, EXIT_DENIED);
	assert_string_equal(h->d.finding[DOCTOR_PORT].seen, "until device is fixed");
}

static void an_adapter_without_its_rdma_driver_is_reported(void **state)
{
	struct host *h = *state;

	host_remove(h, "sys/class/infiniband");
	host_write(h, "sys/class/net/eth0/device/x", "");
	assert_int_equal(symlinkat("../../drivers/mlx5_core", h->tmp->fd,
				   "sys/class/net/eth0/device/driver"), 0);
	host_blames(h, DOCTOR_DEVICE, FINDING_FAIL, "no RDMA device", "modprobe mlx5_ib");
}

static void a_device_that_cannot_be_used_is_reported_with_the_reason(void **state)
{
	struct host *h = *state;
	const struct finding *f = &h->d.finding[DOCTOR_DEVICE];

	fake_make_unusable(0, KVERBS_UNUSABLE_NO_FAST_REG);
	host_blames(h, DOCTOR_DEVICE, FINDING_FAIL,
		    "cannot use rxe0 (it does not register memory by work requests)",
		    "rdma link add rxe1 type rxe netdev eth0");
	assert_int_equal(h->status, EXIT_DENIED);
	assert_true(host_has(f->advice, "newer firmware"));
	assert_string_equal(h->d.finding[DOCTOR_PORT].seen, "until device is fixed");
}

static void a_device_beside_one_that_can_be_used_is_a_warning(void **state)
{
	struct host *h = *state;

	host_write(h, "sys/class/infiniband/efa_0/ports/1/link_layer", "Unspecified\n");
	host_write(h, "sys/class/infiniband/efa_0/ports/1/state", "1: DOWN\n");
	fake_add_device(1, "efa_0", 1, 0);
	fake_make_unusable(1, KVERBS_UNUSABLE_NO_KERNEL_VERBS);
	host_blames(h, DOCTOR_DEVICE, FINDING_WARN,
		    "; kverbs cannot use efa_0 (its driver offers RDMA to user space only)",
		    NULL);
	assert_int_equal(h->status, EXIT_OK);
	assert_int_equal(h->d.finding[DOCTOR_PORT].verdict, FINDING_OK);
}

/* sysfs shows only devices of the namespace that it is mounted in. */
static void a_device_of_another_network_namespace_is_reported(void **state)
{
	struct host *h = *state;

	host_remove(h, "sys/class/infiniband");
	fake_make_unusable(0, KVERBS_UNUSABLE_NETNS);
	host_blames(h, DOCTOR_DEVICE, FINDING_FAIL,
		    "cannot use rxe0 (it is in another network namespace)", "rdma link add");
	assert_true(host_has(h->d.finding[DOCTOR_DEVICE].advice, "rdma dev set DEV netns"));
}

static void a_device_that_the_module_does_not_list_is_reported(void **state)
{
	struct host *h = *state;

	fake_reset();
	host_blames(h, DOCTOR_DEVICE, FINDING_FAIL, "kverbs does not know of rxe0",
		    "dmesg | grep kverbs");
}

static void a_port_whose_interface_is_down_is_reported(void **state)
{
	struct host *h = *state;

	host_write(h, HOST_PORT "state", "1: DOWN\n");
	host_write(h, HOST_PORT "phys_state", "3: Disabled\n");
	host_interfaces(h, 1500, "\"BROADCAST\"", HOST_ADDRESS, "");
	host_blames(h, DOCTOR_PORT, FINDING_FAIL, "DOWN (Disabled): its interface is down",
		    "ip link set dev eth0 up");
	assert_int_equal(h->status, EXIT_FAILED);
}

static void a_port_without_carrier_suggests_checking_the_cable(void **state)
{
	struct host *h = *state;

	host_write(h, HOST_PORT "state", "1: DOWN\n");
	host_interfaces(h, 1500, "\"BROADCAST\",\"UP\"", HOST_ADDRESS, "");
	host_blames(h, DOCTOR_PORT, FINDING_FAIL, "DOWN", NULL);
	assert_true(host_has(h->d.finding[DOCTOR_PORT].advice, "no carrier"));
}

static void infiniband_needs_a_subnet_manager(void **state)
{
	struct host *h = *state;

	host_write(h, HOST_PORT "link_layer", "InfiniBand\n");
	host_write(h, HOST_PORT "state", "2: INIT\n");
	host_examine(h);
	assert_int_equal(h->d.finding[DOCTOR_PORT].verdict, FINDING_FAIL);
	assert_string_equal(h->d.finding[DOCTOR_PORT].remedy[0], "systemctl start opensm");
}

static void one_of_two_ports_may_be_down(void **state)
{
	struct host *h = *state;

	host_write(h, "sys/class/infiniband/rxe1/ports/1/link_layer", "Ethernet\n");
	host_write(h, "sys/class/infiniband/rxe1/ports/1/state", "1: DOWN\n");
	host_blames(h, DOCTOR_PORT, FINDING_WARN, "rxe1 port 1 is DOWN", NULL);
	assert_int_equal(h->status, EXIT_OK);
}

/* ---- MTU ----------------------------------------------------------------- */

static void an_mtu_too_large_for_the_interface_is_a_failure(void **state)
{
	struct host *h = *state;

	fake.port_mtu = 4096;
	host_blames(h, DOCTOR_MTU, FINDING_FAIL, "too large for MTU 1500 of eth0",
		    "ip link set dev eth0 mtu 4200");
	assert_int_equal(h->status, EXIT_FAILED);
}

static void an_mtu_smaller_than_possible_is_a_warning(void **state)
{
	struct host *h = *state;

	host_interfaces(h, 9000, HOST_UP, HOST_ADDRESS, "");
	host_blames(h, DOCTOR_MTU, FINDING_WARN, "MTU 9000 of eth0 is enough for 4096",
		    "ip link set dev eth0 up");
}

static void a_small_mtu_is_a_warning(void **state)
{
	struct host *h = *state;

	fake.port_mtu = 512;
	/* Drivers differ in the number of bytes that they reserve for headers. */
	host_interfaces(h, 600, HOST_UP, HOST_ADDRESS, "");
	host_blames(h, DOCTOR_MTU, FINDING_WARN, "leaves only 512",
		    "ip link set dev eth0 mtu 1500");
}

/* ---- RoCE ----------------------------------------------------------------- */

static void roce_v1_by_default_is_a_failure(void **state)
{
	struct host *h = *state;

	host_write(h, "sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_mode",
		   "IB/RoCE v1\n");
	host_blames(h, DOCTOR_ROCE, FINDING_FAIL, "RoCE v1 is set",
		    "echo 'RoCE v2' > /sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_mode");
	assert_int_equal(h->status, EXIT_FAILED);
}

static void roce_v2_by_default_passes(void **state)
{
	struct host *h = *state;

	host_write(h, "sys/kernel/config/rdma_cm/rxe0/ports/1/default_roce_mode",
		   "RoCE v2\n");
	host_blames(h, DOCTOR_ROCE, FINDING_OK, "RoCE v2", NULL);
}

static void gids_for_v1_alone_are_a_warning(void **state)
{
	struct host *h = *state;

	host_write(h, HOST_PORT "gid_attrs/types/0", "IB/RoCE v1\n");
	host_blames(h, DOCTOR_ROCE, FINDING_WARN, "no GID for RoCE v2", NULL);
}

static void iwarp_skips_the_checks_of_roce_and_mtu(void **state)
{
	struct host *h = *state;

	host_write(h, "sys/class/infiniband/rxe0/node_type", "4: RNIC\n");
	host_write(h, HOST_PORT "gids/0", "5254:0000:0001:0000:0000:0000:0000:0000\n");
	host_remove(h, HOST_PORT "gid_attrs");
	host_blames(h, DOCTOR_ADDRESS, FINDING_OK, "192.0.2.9 on eth0 of rxe0", NULL);
	assert_int_equal(h->d.finding[DOCTOR_ROCE].verdict, FINDING_SKIP);
	assert_int_equal(h->d.finding[DOCTOR_MTU].verdict, FINDING_SKIP);
}

/* ---- addresses ------------------------------------------------------------- */

#define ETH1 "\"ifname\":\"eth1\",\"flags\":[" HOST_UP "],\"mtu\":1500"
#define ETH1_ADDRESS "\"address\":\"52:54:00:00:00:02\",\"addr_info\":[" HOST_ADDRESS "]"

static void an_address_on_another_interface_does_not_count(void **state)
{
	struct host *h = *state;

	host_interfaces(h, 1500, HOST_UP, "", "{" ETH1 "," ETH1_ADDRESS "}");
	host_blames(h, DOCTOR_ADDRESS, FINDING_FAIL, "192.0.2.9 is on eth1 without RDMA",
		    "rdma link add rxe1 type rxe netdev eth1");
	assert_int_equal(h->status, EXIT_FAILED);
}

static void a_link_local_address_is_not_suggested_to_peers(void **state)
{
	struct host *h = *state;

	host_interfaces(h, 1500, HOST_UP, "{\"local\":\"fe80::1\",\"prefixlen\":64}", "");
	host_blames(h, DOCTOR_ADDRESS, FINDING_FAIL, "no address to connect to",
		    "ip address add ADDRESS/24 dev eth0");
}

/* ---- locked memory ---------------------------------------------------------- */

/* A user without capabilities, with these limits. */
static void limit_memory(struct host *h, const char *soft, const char *hard)
{
	char text[256];

	snprintf(text, sizeof(text), "Limit Soft Hard Units\nMax locked memory   %s   %s   bytes\n",
		 soft, hard);
	host_write(h, "proc/self/status", "CapEff:\t0000000000000000\n");
	host_write(h, "proc/self/limits", text);
}

static void a_user_may_lock_some_memory(void **state)
{
	struct host *h = *state;

	limit_memory(h, "8388608", "8388608");
	host_blames(h, DOCTOR_MEMLOCK, FINDING_OK, "8 MiB may be locked", NULL);
}

static void a_soft_limit_is_raised_by_the_user(void **state)
{
	struct host *h = *state;

	limit_memory(h, "65536", "16777216");
	host_blames(h, DOCTOR_MEMLOCK, FINDING_FAIL, "only 64 KiB", "ulimit -l 16384");
	assert_int_equal(h->status, EXIT_FAILED);
}

/* 3 connections of 1 MiB, and a page more for each. */
static const uint64_t job_needs = 3 * ((1ull << 20) + 4096);

static void give_job(struct host *h)
{
	h->d.job_size = 1 << 20;
	h->d.job_connections = 3;
}

static void a_job_that_fits_the_limit_is_fine(void **state)
{
	struct host *h = *state;
	char limit[32];

	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	give_job(h);
	snprintf(limit, sizeof(limit), "%" PRIu64, job_needs);
	limit_memory(h, limit, limit);
	host_examine(h);
	assert_int_equal(h->d.finding[DOCTOR_MEMLOCK].verdict, FINDING_OK);
	assert_true(host_has(h->d.finding[DOCTOR_MEMLOCK].seen, "needs 3084 KiB"));
}

static void a_job_that_exceeds_the_limit_by_a_byte_does_not_fit(void **state)
{
	struct host *h = *state;
	char limit[32];

	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	give_job(h);
	snprintf(limit, sizeof(limit), "%" PRIu64, job_needs - 1);
	limit_memory(h, limit, "16777216");
	host_blames(h, DOCTOR_MEMLOCK, FINDING_FAIL, "the job needs 3084", "ulimit -Sl 3084");
	limit_memory(h, limit, limit);
	host_blames(h, DOCTOR_MEMLOCK, FINDING_FAIL, "the job needs 3084", "--memlock=3158016");
}

/* More than kverbs itself needs. */
static void a_small_job_needs_less_than_a_copy(void **state)
{
	struct host *h = *state;

	h->d.job_size = 1;
	limit_memory(h, "1048576", "1048576");
	host_examine(h);
	assert_int_equal(h->d.finding[DOCTOR_MEMLOCK].verdict, FINDING_OK);
}

static const char *limit_field(const char *key)
{
	struct json_object *limit, *value;

	assert_true(json_object_object_get_ex(out_root(), "limit", &limit));
	assert_true(json_object_object_get_ex(limit, key, &value));
	return json_object_get_string(value);
}

static void the_limit_of_a_job_has_the_lines_that_set_it(void **state)
{
	struct host *h = *state;

	if (sysconf(_SC_PAGESIZE) != 4096)
		skip();
	give_job(h);
	out_begin("doctor", true);
	host_examine(h);
	assert_string_equal(limit_field("bytes"), "3158016");
	assert_true(host_has(limit_field("limits_d"), " - memlock 3084"));
	assert_string_equal(limit_field("systemd"), "LimitMEMLOCK=3158016");
	assert_string_equal(limit_field("container"), "--ulimit memlock=3158016:3158016");
	json_object_put(out_root());
	out_begin("", false);
}

static void connections_without_a_size_are_an_error(void **state)
{
	char *argv[] = { "doctor", "--connections", "3", NULL };

	(void)state;
	assert_int_equal(cmd_doctor.run(3, argv), EXIT_USAGE);
}

static void a_hard_limit_is_raised_by_root(void **state)
{
	struct host *h = *state;

	limit_memory(h, "65536", "65536");
	host_blames(h, DOCTOR_MEMLOCK, FINDING_FAIL, "only 64 KiB", "--memlock=unlimited");
	assert_true(host_has(h->d.finding[DOCTOR_MEMLOCK].advice, "as root"));
}

/* ---- output ------------------------------------------------------------------- */

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *v;

	assert_true(json_object_object_get_ex(o, key, &v));
	return v;
}

static void json_has_each_finding_with_its_commands(void **state)
{
	struct host *h = *state;
	struct json_object *check;

	host_remove(h, "sys/class/infiniband");
	out_begin("doctor", true);
	host_examine(h);
	check = json_object_array_get_idx(member(out_root(), "checks"), DOCTOR_DEVICE);
	assert_string_equal(json_object_get_string(member(check, "id")), "device");
	assert_string_equal(json_object_get_string(member(check, "verdict")), "fail");
	assert_int_equal(json_object_array_length(member(check, "remedy")), 1);
	assert_int_equal(json_object_array_length(member(out_root(), "checks")),
			 DOCTOR_CHECKS - 8);
	out_end(h->status);
}

/* Returns the output of finding_print() in @width columns, to be freed. */
static char *printed(const struct finding *f, unsigned int width)
{
	int out = dup(STDOUT_FILENO);
	FILE *file = tmpfile();
	char *text = calloc(1, 4096);

	fflush(stdout);
	dup2(fileno(file), STDOUT_FILENO);
	finding_print(f, "port", "there", width);
	dup2(out, STDOUT_FILENO);
	close(out);
	rewind(file);
	assert_true(fread(text, 1, 4095, file) > 0);
	fclose(file);
	return text;
}

static void lines_are_broken_between_words(void **state)
{
	struct finding f = { };
	char *text;

	(void)state;
	finding_fail(&f, "one two three four five six seven");
	finding_mend(&f, "a command which is longer than forty columns are");
	text = printed(&f, 40);
	assert_string_equal(text, "port      fail       one two three four\n"
			    "                     five six seven\n"
			    "                     Fix it with:\n"
			    "   a command which is longer than forty columns are\n");
	free(text);
}

static void wide_terminals_are_used(void **state)
{
	struct finding f = { };
	char *text;

	(void)state;
	finding_fail(&f, "one two three four five six seven");
	finding_mend(&f, "kverbs serve");
	f.there = true;
	text = printed(&f, 200);
	assert_string_equal(text, "port      fail       one two three four five six seven\n"
			    "                     Fix it on there with:\n"
			    "                       kverbs serve\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		host_test(a_healthy_host_passes_all_checks),
		host_test(without_a_host_remote_checks_are_skipped),
		host_test(a_module_that_is_installed_is_to_be_loaded),
		host_test(a_module_that_was_built_for_a_replaced_ib_core_is_to_be_loaded),
		host_test(a_module_is_rebuilt_if_ib_core_was_replaced_after_its_build),
		host_test(a_module_is_rebuilt_if_the_replacement_of_ib_core_is_gone),
		host_test(a_module_that_is_not_installed_is_to_be_built),
		host_test(dkms_is_the_remedy_where_it_has_the_source),
		host_test(a_missing_node_is_created_with_its_number),
		host_test(a_node_without_permission_is_opened_to_a_group),
		host_test(an_abi_that_differs_is_a_failure),
		host_test(a_version_that_differs_is_a_warning),
		host_test(a_loaded_traffic_engine_is_unloaded_with_the_module),
		host_test(without_a_device_a_software_device_is_suggested),
		host_test(an_adapter_without_its_rdma_driver_is_reported),
		host_test(a_device_that_cannot_be_used_is_reported_with_the_reason),
		host_test(a_device_beside_one_that_can_be_used_is_a_warning),
		host_test(a_device_of_another_network_namespace_is_reported),
		host_test(a_device_that_the_module_does_not_list_is_reported),
		host_test(a_port_whose_interface_is_down_is_reported),
		host_test(a_port_without_carrier_suggests_checking_the_cable),
		host_test(infiniband_needs_a_subnet_manager),
		host_test(one_of_two_ports_may_be_down),
		host_test(an_mtu_too_large_for_the_interface_is_a_failure),
		host_test(an_mtu_smaller_than_possible_is_a_warning),
		host_test(a_small_mtu_is_a_warning),
		host_test(roce_v1_by_default_is_a_failure),
		host_test(roce_v2_by_default_passes),
		host_test(gids_for_v1_alone_are_a_warning),
		host_test(iwarp_skips_the_checks_of_roce_and_mtu),
		host_test(an_address_on_another_interface_does_not_count),
		host_test(a_link_local_address_is_not_suggested_to_peers),
		host_test(a_user_may_lock_some_memory),
		host_test(a_soft_limit_is_raised_by_the_user),
		host_test(a_hard_limit_is_raised_by_root),
		host_test(a_job_that_fits_the_limit_is_fine),
		host_test(a_job_that_exceeds_the_limit_by_a_byte_does_not_fit),
		host_test(a_small_job_needs_less_than_a_copy),
		host_test(the_limit_of_a_job_has_the_lines_that_set_it),
		host_test(connections_without_a_size_are_an_error),
		host_test(json_has_each_finding_with_its_commands),
		cmocka_unit_test(lines_are_broken_between_words),
		cmocka_unit_test(wide_terminals_are_used),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
