// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

#include <kverbs.h>

#include "cli/err.h"
#include "doctor/doctor.h"
#include "doctor/host.h"
#include "doctor/storage.h"

/* Pages of a registration that clients ask for to move 256 KiB at once */
#define MR_PAGES 64

static const struct storage protocols[] = {
	{
		.name = "nvme", .title = "NVMe over Fabrics", .module = "nvme-rdma",
		.command = "nvme", .package = "nvme-cli", .port = "4420",
		.listen = "grep -H . /sys/kernel/config/nvmet/ports/*/addr_*",
	}, {
		.name = "iser", .title = "iSER", .module = "ib_iser", .on_demand = true,
		.command = "iscsiadm", .package = "open-iscsi", .port = "3260",
		.listen = "grep -H . /sys/kernel/config/target/iscsi/iqn*/tpgt_1/np/*/iser",
	}, {
		.name = "srp", .title = "SRP", .module = "ib_srp",
		.listen = "echo %s > /sys/kernel/config/target/srpt/discovery_auth/rdma_cm_port",
	}, {
		.name = "nfs", .title = "NFS over RDMA", .module = "rpcrdma", .on_demand = true,
		.command = "mount.nfs", .package = "nfs-common", .port = "20049",
		.listen = "echo rdma %s > /proc/fs/nfsd/portlist",
	}, {
		.name = "smb", .title = "SMB Direct", .module = "cifs", .on_demand = true,
		.command = "mount.cifs", .package = "cifs-utils", .port = "445",
		.listen = "modprobe ksmbd",
	},
};

const struct storage *storage_find(const char *name)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(protocols); i++)
		if (!strcmp(protocols[i].name, name))
			return &protocols[i];
	return NULL;
}

/* In sysfs a module's name has underscores. */
static bool is_loaded(const struct doctor *d, const char *module)
{
	char name[64], *at;

	snprintf(name, sizeof(name), "%s", module);
	for (at = strchr(name, '-'); at; at = strchr(at, '-'))
		*at = '_';
	return doctor_exists(d->root, "/sys/module/%s", name);
}

/* Ask modprobe, which says "install ..." if a command replaces the module; 0 or -errno. */
static int how_to_load(const char *module, char *how, size_t room)
{
	const char * const argv[] = { "modprobe", "-n", "-v", "--", module, NULL };

	return doctor_ask_text(argv, how, room);
}

/* The client of SMB names what it was built with; before it is loaded, the kernel's config does. */
static bool lacks_smb_direct(const struct doctor *d)
{
	char text[65536];
	struct utsname uts;

	if (!doctor_read(d->root, text, sizeof(text), "/proc/fs/cifs/DebugData"))
		return !strstr(text, "SMB_DIRECT");
	uname(&uts);
	if (doctor_read(d->root, text, sizeof(text), "/boot/config-%s", uts.release))
		return false;
	return strstr(text, "CONFIG_CIFS=") && !strstr(text, "CONFIG_CIFS_SMB_DIRECT=y");
}

static void look_module(struct doctor *d, struct finding *f)
{
	const struct storage *s = d->storage;
	char how[512];
	int ret;

	if (!is_loaded(d, s->module)) {
		ret = how_to_load(s->module, how, sizeof(how));
		if (ret == -ENOENT) {
			finding_skip(f, "the command modprobe cannot be run");
		} else if (ret) {
			finding_fail(f, "this kernel has no module %s", s->module);
			finding_advise(f, "Install a kernel that has it, ");
			finding_advise(f, "or the package of this kernel's further modules:");
			finding_mend(f, "find /lib/modules -name '%s.ko*'", s->module);
		} else if (!strncmp(how, "install ", 8)) {
			finding_fail(f, "a line of modprobe.d keeps %s from being loaded: %s",
				     s->module, how);
			finding_mend(f, "modprobe --ignore-install %s", s->module);
		} else if (!s->on_demand) {
			finding_fail(f, "%s is not loaded", s->module);
			finding_mend(f, "modprobe %s", s->module);
		} else {
			finding_ok(f, "%s will be loaded when it is needed", s->module);
		}
	} else {
		finding_ok(f, "%s is loaded", s->module);
	}
	if (f->verdict != FINDING_OK || strcmp(s->name, "smb") || !lacks_smb_direct(d))
		return;
	finding_fail(f, "this kernel's cifs was built without SMB Direct");
	finding_advise(f, "Use a kernel built with CONFIG_CIFS_SMB_DIRECT. To see it:");
	finding_mend(f, "grep CIFS_SMB_DIRECT /boot/config-*");
}

static void look_command(struct doctor *d, struct finding *f)
{
	static const char * const dirs[] = {
		"/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin",
	};
	const struct storage *s = d->storage;
	unsigned int i;

	if (!s->command) {
		finding_skip(f, "%s needs no program: add_target of sysfs connects", s->title);
		return;
	}
	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		if (!doctor_exists(d->root, "%s/%s", dirs[i], s->command))
			continue;
		finding_ok(f, "%s/%s is there", dirs[i], s->command);
		return;
	}
	finding_fail(f, "there is no command %s", s->command);
	finding_mend(f, "apt-get install %s", s->package);
}

static bool is_on_way(const struct doctor *d, const char *device)
{
	return !d->on || !strcmp(d->on->device, device);
}

/* All of these clients register memory by work requests (FRWR). */
static void look_registration(struct doctor *d, struct finding *f)
{
	struct kverbs_device *list;
	unsigned int pages = 0;
	int i, nr;

	if (!d->kv) {
		finding_skip(f, "only the module kverbs knows: modprobe kverbs");
		return;
	}
	for (i = 0; i < (int)d->nr_unusable; i++) {
		if (d->unusable[i].reason != KVERBS_UNUSABLE_NO_FAST_REG &&
		    d->unusable[i].reason != KVERBS_UNUSABLE_NO_MR_PAGES)
			continue;
		finding_fail(f, "%s does not register memory by work requests (FRWR)",
			     d->unusable[i].name);
		finding_advise(f, "Use another device, or Soft-RoCE:");
		doctor_mend_with_rxe(d, f, *d->route.dev ? d->route.dev : "DEV");
		return;
	}
	nr = kverbs_device_list(d->kv, &list);
	for (i = 0; i < nr; i++)
		if (!list[i].attr->out_unusable && is_on_way(d, list[i].attr->out_name))
			pages = list[i].attr->out_max_mr_pages;
	if (nr >= 0)
		kverbs_device_list_free(list, nr);
	if (pages && pages < MR_PAGES) {
		finding_warn(f, "a registration covers %u pages only: large requests are split",
			     pages);
		finding_advise(f, "Lower the largest request of the client.");
	} else {
		finding_ok(f, "the device registers memory by work requests (FRWR)");
	}
}

/* The clients in the kernel charge no user, but programs such as SPDK do. */
static void look_memlock(struct doctor *d, struct finding *f)
{
	char seen[sizeof(f->seen)];

	doctor_memlock(d, f);
	if (f->verdict != FINDING_FAIL)
		return;
	snprintf(seen, sizeof(seen), "%.*s", (int)strcspn(f->seen, ";"), f->seen);
	finding_warn(f, "%.200s; the kernel's %s needs none, but programs such as SPDK do", seen,
		     d->storage->title);
}

/* Why an attempt at connecting failed */
static void note_cause(struct kverbs_conn *conn, int err, void *arg)
{
	struct kverbs_failure failure = { .sz = sizeof(failure), .conn = conn, .error = err };
	struct kverbs_explanation why;
	struct doctor *d = arg;

	d->storage_cause = KVERBS_CAUSE_NONE;
	if (!kverbs_conn_explain(d->kv, &failure, &why, sizeof(why)) && why.nr_causes)
		d->storage_cause = why.causes[0];
}

static void no_listener(struct doctor *d, struct finding *f)
{
	const struct storage *s = d->storage;

	finding_fail(f, "no server of %s listens for RDMA on port %s of %s", s->title, d->to.port,
		     d->to.host);
	if (strstr(s->listen, "%s"))
		finding_mend(f, "%.*s%s%s", (int)(strstr(s->listen, "%s") - s->listen), s->listen,
			     d->to.port, strstr(s->listen, "%s") + 2);
	else
		finding_mend(f, "%s", s->listen);
	f->there = true;
}

static void no_answer(struct doctor *d, struct finding *f, int err)
{
	finding_fail(f, "port %s of %s cannot be connected to: %s (%s)", d->to.port, d->to.host,
		     strerror(-err), err_name(err));
	finding_advise(f, "Most likely %s. %s.", kverbs_cause_str(d->storage_cause),
		       kverbs_cause_remedy(d->storage_cause));
	finding_mend(f, "kverbs doctor");
	f->there = true;
}

/* A server of another protocol refuses a connection without its own data, if it listens. */
static void look_listener(struct doctor *d, struct finding *f)
{
	const struct kverbs_conn_opts opts = {
		.sz = sizeof(opts),
		.source = d->to.source,
		.timeout_ms = d->to.timeout_ms,
		.failed = note_cause,
		.arg = d,
	};
	struct kverbs_conn *conn = NULL;
	int ret;

	if (!d->to.port) {
		finding_skip(f, "give the target's rdma_cm_port with --port");
		return;
	}
	if (!d->kv) {
		finding_skip(f, "only the module kverbs can try: modprobe kverbs");
		return;
	}
	ret = kverbs_connect(d->kv, d->peer_text, d->to.port, &opts, &conn);
	kverbs_conn_free(conn);
	/* Some attempts fail before there is a connection. */
	if (ret && !d->storage_cause)
		note_cause(NULL, ret, d);
	if (!ret || (ret == -ECONNREFUSED && d->storage_cause != KVERBS_CAUSE_NO_LISTENER) ||
	    ret == -ECONNRESET)
		finding_ok(f, "port %s of %s answers", d->to.port, d->to.host);
	else if (ret == -ECONNREFUSED)
		no_listener(d, f);
	else
		no_answer(d, f, ret);
}

/**
 * struct storage_check - a row of the table
 * @name: the check's name
 * @needs: bits of the doctor's checks that must not have failed
 * @remote: only with a HOST
 * @exit_status: if it is the first that fails
 * @look: fills the finding in
 */
static const struct storage_check {
	const char *name;
	unsigned int needs;
	bool remote;
	int exit_status;
	void (*look)(struct doctor *d, struct finding *f);
} checks[STORAGE_CHECKS] = {
	[STORAGE_MODULE] = { "module", 0, false, EXIT_DENIED, look_module },
	[STORAGE_COMMAND] = { "command", 0, false, EXIT_FAILED, look_command },
	[STORAGE_REGISTRATION] = { "frwr", 0, false, EXIT_DENIED, look_registration },
	[STORAGE_MEMLOCK] = { "memlock", 0, false, EXIT_FAILED, look_memlock },
	[STORAGE_LISTENER] = { "listener", 1u << DOCTOR_DEVICE | 1u << DOCTOR_PORT |
			       1u << DOCTOR_ADDRESS | 1u << DOCTOR_MTU | 1u << DOCTOR_ROCE |
			       1u << DOCTOR_NAME | 1u << DOCTOR_ROUTE | 1u << DOCTOR_SOURCE |
			       1u << DOCTOR_FIREWALL, true, EXIT_UNREACHABLE, look_listener },
};

const char *storage_check_name(enum storage_id id)
{
	return checks[id].name;
}

int storage_exit_status(enum storage_id id)
{
	return checks[id].exit_status;
}

bool storage_is_asked(const struct doctor *d, enum storage_id id)
{
	return d->storage && (d->to.host || !checks[id].remote);
}

void storage_look(struct doctor *d, enum storage_id id, struct finding *f)
{
	unsigned int i;

	memset(f, 0, sizeof(*f));
	for (i = 0; i < DOCTOR_CHECKS; i++) {
		if (!(checks[id].needs & 1u << i) || d->cause[i] == DOCTOR_CHECKS)
			continue;
		finding_skip(f, "until %s is fixed", doctor_check_name(d->cause[i]));
		return;
	}
	checks[id].look(d, f);
}
