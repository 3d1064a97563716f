// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor --for: on hosts with one problem each it reports that problem and no other. On a
 * host without problems it reports none.
 */
#define _GNU_SOURCE
#include "doctor_host.h"

#include <sys/utsname.h>

#include "cli/err.h"

#define REJ_INVALID_SERVICE_ID 8
#define REJ_CONSUMER_DEFINED 28

static const char * const names[] = { "nvme", "iser", "srp", "nfs", "smb" };

/* The host of this protocol's client has its module and its command. */
static void equip(struct host *h, const char *name)
{
	char path[64], *at;

	h->d.storage = storage_find(name);
	assert_non_null(h->d.storage);
	snprintf(path, sizeof(path), "sys/module/%s/refcnt", h->d.storage->module);
	for (at = strchr(path, '-'); at; at = strchr(at, '-'))
		*at = '_';
	host_write(h, path, "0\n");
	if (h->d.storage->command) {
		snprintf(path, sizeof(path), "usr/sbin/%s", h->d.storage->command);
		host_write(h, path, "");
	}
	host_write(h, "proc/fs/cifs/DebugData", "Features: DFS,SMB_DIRECT,STATS\n");
	h->d.to.port = h->d.storage->port ? h->d.storage->port : "4444";
}

static void connect_to(struct host *h, const char *name, int outcome, uint32_t reason)
{
	equip(h, name);
	h->d.to.host = "192.0.2.1";
	fake.reject_reason = reason;
	fake.port = (struct kverbs_port){ .transport = KVERBS_TRANSPORT_ROCE, .state = 4 };
	fake_script_connect(outcome);
}

/* Only this check has this verdict; its observation and its command contain these texts. */
static void blames(struct host *h, enum storage_id id, enum finding_verdict verdict,
		   const char *seen, const char *remedy)
{
	const struct finding *f = &h->d.storage_finding[id];
	unsigned int i;

	host_examine(h);
	for (i = 0; i < DOCTOR_CHECKS; i++)
		if (h->d.finding[i].verdict > FINDING_OK)
			fail_msg("check %d: %s", i, h->d.finding[i].seen);
	for (i = 0; i < STORAGE_CHECKS; i++)
		if (i != (unsigned int)id && h->d.storage_finding[i].verdict > FINDING_OK)
			fail_msg("%s: %s", storage_check_name(i), h->d.storage_finding[i].seen);
	if (f->verdict != verdict)
		fail_msg("%s: %s", finding_verdict_name(f->verdict), f->seen);
	assert_true(host_has(f->seen, seen));
	if (remedy)
		assert_true(host_has(f->remedy[0], remedy));
	assert_int_equal(h->status, verdict == FINDING_FAIL ? storage_exit_status(id) : EXIT_OK);
}

static void a_healthy_client_of_each_protocol_passes_all_checks(void **state)
{
	struct host *h = *state;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		connect_to(h, names[i], -ECONNREFUSED, REJ_CONSUMER_DEFINED);
		host_examine(h);
		assert_int_equal(h->status, EXIT_OK);
		for (j = 0; j < STORAGE_CHECKS; j++)
			if (h->d.storage_finding[j].verdict > FINDING_OK)
				fail_msg("%s: %s", names[i], h->d.storage_finding[j].seen);
		assert_int_equal(h->d.storage_finding[STORAGE_LISTENER].verdict, FINDING_OK);
	}
	assert_null(storage_find("nbd"));
}

static void what_only_kverbs_needs_is_not_asked(void **state)
{
	struct host *h = *state;

	equip(h, "nvme");
	host_remove(h, "sys/module/kverbs");
	host_remove(h, "dev/kverbs");
	fake_fail(FAKE_OPEN, 1, -ENOENT);
	host_examine(h);
	assert_int_equal(h->status, EXIT_OK);
	assert_int_equal(h->d.finding[DOCTOR_MODULE].verdict, FINDING_SKIP);
	assert_int_equal(h->d.finding[DOCTOR_DEVICE].verdict, FINDING_OK);
	assert_int_equal(h->d.storage_finding[STORAGE_MODULE].verdict, FINDING_OK);
	assert_int_equal(h->d.storage_finding[STORAGE_REGISTRATION].verdict, FINDING_SKIP);
}

static void a_module_that_is_loaded_on_demand_is_no_problem(void **state)
{
	struct host *h = *state;

	equip(h, "iser");
	host_remove(h, "sys/module/ib_iser");
	host_script(h, "modprobe", "#!/bin/sh\necho insmod /lib/modules/x/ib_iser.ko\n");
	host_examine(h);
	assert_int_equal(h->status, EXIT_OK);
	assert_true(host_has(h->d.storage_finding[STORAGE_MODULE].seen, "will be loaded"));
}

static void a_module_that_nothing_loads_is_to_be_loaded(void **state)
{
	struct host *h = *state;

	equip(h, "srp");
	host_remove(h, "sys/module/ib_srp");
	host_script(h, "modprobe", "#!/bin/sh\necho insmod /lib/modules/x/ib_srp.ko\n");
	blames(h, STORAGE_MODULE, FINDING_FAIL, "ib_srp is not loaded", "modprobe ib_srp");
}

static void a_module_that_modprobe_may_not_load_is_reported(void **state)
{
	struct host *h = *state;

	equip(h, "nvme");
	host_remove(h, "sys/module/nvme_rdma");
	host_script(h, "modprobe", "#!/bin/sh\necho install /bin/false\n");
	blames(h, STORAGE_MODULE, FINDING_FAIL, "keeps nvme-rdma from being loaded",
	       "modprobe --ignore-install nvme-rdma");
}

static void a_module_that_the_kernel_does_not_have_is_reported(void **state)
{
	struct host *h = *state;

	equip(h, "iser");
	host_remove(h, "sys/module/ib_iser");
	host_script(h, "modprobe", "#!/bin/sh\necho not found >&2\nexit 1\n");
	blames(h, STORAGE_MODULE, FINDING_FAIL, "this kernel has no module ib_iser",
	       "find /lib/modules -name 'ib_iser.ko*'");
}

static void a_client_of_smb_needs_smb_direct(void **state)
{
	struct host *h = *state;

	equip(h, "smb");
	host_write(h, "proc/fs/cifs/DebugData", "Features: DFS,STATS\n");
	blames(h, STORAGE_MODULE, FINDING_FAIL, "built without SMB Direct",
	       "grep CIFS_SMB_DIRECT");
}

static void the_kernels_configuration_tells_of_smb_direct_before_it_is_loaded(void **state)
{
	struct host *h = *state;
	struct utsname uts;
	char path[256];

	equip(h, "smb");
	host_remove(h, "proc/fs/cifs");
	uname(&uts);
	snprintf(path, sizeof(path), "boot/config-%s", uts.release);
	host_write(h, path, "CONFIG_CIFS=m\n# CONFIG_CIFS_SMB_DIRECT is not set\n");
	blames(h, STORAGE_MODULE, FINDING_FAIL, "built without SMB Direct",
	       "grep CIFS_SMB_DIRECT");
	host_write(h, path, "CONFIG_CIFS=m\nCONFIG_CIFS_SMB_DIRECT=y\n");
	host_examine(h);
	assert_int_equal(h->status, EXIT_OK);
}

static void a_missing_command_is_to_be_installed(void **state)
{
	struct host *h = *state;

	equip(h, "nfs");
	host_remove(h, "usr/sbin/mount.nfs");
	blames(h, STORAGE_COMMAND, FINDING_FAIL, "there is no command mount.nfs",
	       "apt-get install nfs-common");
}

static void a_small_limit_of_locked_memory_is_a_warning(void **state)
{
	struct host *h = *state;

	equip(h, "nvme");
	host_write(h, "proc/self/status", "CapEff:\t0000000000000000\n");
	host_write(h, "proc/self/limits", "Max locked memory  65536  65536  bytes\n");
	blames(h, STORAGE_MEMLOCK, FINDING_WARN, "only 64 KiB may be locked; the kernel's NVMe",
	       "prlimit --pid");
}

static void a_device_without_registrations_by_work_requests_is_reported(void **state)
{
	struct host *h = *state;
	const struct finding *f = &h->d.storage_finding[STORAGE_REGISTRATION];

	equip(h, "nvme");
	fake_make_unusable(0, KVERBS_UNUSABLE_NO_FAST_REG);
	host_examine(h);
	assert_int_equal(f->verdict, FINDING_FAIL);
	assert_true(host_has(f->seen, "rxe0 does not register memory by work requests"));
	assert_true(host_has(f->remedy[0], "rdma link add rxe1 type rxe"));
}

static void a_port_without_listener_is_reported_for_the_peer(void **state)
{
	static const char * const remedies[] = {
		"/sys/kernel/config/nvmet/ports", "/sys/kernel/config/target/iscsi",
		"echo 4444 > /sys/kernel/config/target/srpt/discovery_auth/rdma_cm_port",
		"echo rdma 20049 > /proc/fs/nfsd/portlist", "modprobe ksmbd",
	};
	struct host *h = *state;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		connect_to(h, names[i], -ECONNREFUSED, REJ_INVALID_SERVICE_ID);
		blames(h, STORAGE_LISTENER, FINDING_FAIL, "listens for RDMA on port",
		       remedies[i]);
		assert_true(h->d.storage_finding[STORAGE_LISTENER].there);
	}
}

static void a_server_that_accepts_any_connection_is_no_problem(void **state)
{
	struct host *h = *state;

	connect_to(h, "nfs", 0, 0);
	host_examine(h);
	assert_int_equal(h->status, EXIT_OK);
}

static void a_peer_that_does_not_answer_is_explained(void **state)
{
	struct host *h = *state;
	const struct finding *f = &h->d.storage_finding[STORAGE_LISTENER];

	connect_to(h, "nvme", -ETIMEDOUT, 0);
	blames(h, STORAGE_LISTENER, FINDING_FAIL, "cannot be connected to", "kverbs doctor");
	assert_true(host_has(f->advice, "Most likely a firewall drops the packets. Open UDP"));
}

static void without_a_port_srp_has_no_listener_to_ask(void **state)
{
	struct host *h = *state;

	connect_to(h, "srp", 0, 0);
	h->d.to.port = NULL;
	host_examine(h);
	assert_int_equal(h->status, EXIT_OK);
	assert_true(host_has(h->d.storage_finding[STORAGE_LISTENER].seen, "rdma_cm_port"));
}

static void the_listener_is_not_asked_until_the_way_there_is_open(void **state)
{
	struct host *h = *state;

	connect_to(h, "nvme", 0, 0);
	host_remove(h, "route");
	host_examine(h);
	assert_int_equal(h->status, EXIT_UNREACHABLE);
	assert_int_equal(h->d.finding[DOCTOR_ROUTE].verdict, FINDING_FAIL);
	assert_string_equal(h->d.storage_finding[STORAGE_LISTENER].seen, "until route is fixed");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		host_test(a_healthy_client_of_each_protocol_passes_all_checks),
		host_test(what_only_kverbs_needs_is_not_asked),
		host_test(a_module_that_is_loaded_on_demand_is_no_problem),
		host_test(a_module_that_nothing_loads_is_to_be_loaded),
		host_test(a_module_that_modprobe_may_not_load_is_reported),
		host_test(a_module_that_the_kernel_does_not_have_is_reported),
		host_test(a_client_of_smb_needs_smb_direct),
		host_test(the_kernels_configuration_tells_of_smb_direct_before_it_is_loaded),
		host_test(a_missing_command_is_to_be_installed),
		host_test(a_small_limit_of_locked_memory_is_a_warning),
		host_test(a_device_without_registrations_by_work_requests_is_reported),
		host_test(a_port_without_listener_is_reported_for_the_peer),
		host_test(a_server_that_accepts_any_connection_is_no_problem),
		host_test(a_peer_that_does_not_answer_is_explained),
		host_test(without_a_port_srp_has_no_listener_to_ask),
		host_test(the_listener_is_not_asked_until_the_way_there_is_open),
	};

	return cmocka_run_group_tests_name("doctor storage", tests, NULL, NULL);
}
