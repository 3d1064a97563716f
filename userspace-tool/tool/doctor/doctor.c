// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: a table of checks, each with what it needs of others.
 */
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/server_opts.h"
#include "doctor/doctor.h"

#define BIT(id) (1u << (id))

#define NEEDED_TO_CONNECT							\
	(BIT(DOCTOR_MODULE) | BIT(DOCTOR_NODE) | BIT(DOCTOR_VERSION) |		\
	 BIT(DOCTOR_DEVICE) | BIT(DOCTOR_PORT) | BIT(DOCTOR_ADDRESS) |		\
	 BIT(DOCTOR_MTU) | BIT(DOCTOR_ROCE) | BIT(DOCTOR_MEMLOCK) |		\
	 BIT(DOCTOR_NAME) | BIT(DOCTOR_ROUTE) | BIT(DOCTOR_SOURCE) |		\
	 BIT(DOCTOR_FIREWALL) | BIT(DOCTOR_IPOIB) | BIT(DOCTOR_SM) |		\
	 BIT(DOCTOR_GID))

/* Checks of kverbs itself, which clients of a storage protocol do not need */
#define NOT_FOR_STORAGE								\
	(BIT(DOCTOR_MODULE) | BIT(DOCTOR_NODE) | BIT(DOCTOR_VERSION) |		\
	 BIT(DOCTOR_MEMLOCK) | BIT(DOCTOR_SERVER) | BIT(DOCTOR_PROTOCOL) |	\
	 BIT(DOCTOR_ACCESS) | BIT(DOCTOR_PING) | BIT(DOCTOR_PATH_MTU))

/**
 * struct doctor_check - a row of the table
 * @name: its name
 * @needs: bits of the checks that must not have failed before
 * @remote: only with a HOST
 * @exit_status: if it is the first that fails
 * @look: fills the finding in
 */
struct doctor_check {
	const char *name;
	unsigned int needs;
	bool remote;
	int exit_status;
	void (*look)(struct doctor *d, struct finding *f);
};

static const struct doctor_check checks[DOCTOR_CHECKS] = {
	[DOCTOR_MODULE] = { "module", 0, false, EXIT_DENIED, doctor_module },
	[DOCTOR_NODE] = { "node", BIT(DOCTOR_MODULE), false, EXIT_DENIED, doctor_node },
	[DOCTOR_VERSION] = { "version", BIT(DOCTOR_NODE), false, EXIT_FAILED, doctor_version },
	[DOCTOR_DEVICE] = { "device", 0, false, EXIT_DENIED, doctor_device },
	[DOCTOR_PORT] = { "port", BIT(DOCTOR_DEVICE), false, EXIT_FAILED, doctor_port },
	[DOCTOR_ADDRESS] = { "address", BIT(DOCTOR_DEVICE), false, EXIT_FAILED,
			     doctor_address },
	[DOCTOR_MTU] = { "mtu", BIT(DOCTOR_PORT), false, EXIT_FAILED, doctor_mtu },
	[DOCTOR_ROCE] = { "roce", BIT(DOCTOR_DEVICE), false, EXIT_FAILED, doctor_roce },
	[DOCTOR_TOS] = { "tos", BIT(DOCTOR_DEVICE), false, EXIT_FAILED, doctor_tos },
	[DOCTOR_PFC] = { "pfc", BIT(DOCTOR_DEVICE), false, EXIT_FAILED, doctor_pfc },
	[DOCTOR_IPOIB] = { "ipoib", BIT(DOCTOR_DEVICE), false, EXIT_FAILED, doctor_ipoib },
	[DOCTOR_SM] = { "sm", BIT(DOCTOR_PORT), false, EXIT_FAILED, doctor_sm },
	[DOCTOR_MEMLOCK] = { "memlock", 0, false, EXIT_FAILED, doctor_memlock },
	[DOCTOR_NAME] = { "name", 0, true, EXIT_UNREACHABLE, doctor_name },
	[DOCTOR_ROUTE] = { "route", BIT(DOCTOR_NAME) | BIT(DOCTOR_PORT), true,
			   EXIT_UNREACHABLE, doctor_route },
	[DOCTOR_SOURCE] = { "source", BIT(DOCTOR_ROUTE) | BIT(DOCTOR_PORT) |
			    BIT(DOCTOR_ADDRESS), true, EXIT_UNREACHABLE, doctor_source },
	[DOCTOR_GID] = { "gid", BIT(DOCTOR_PORT) | BIT(DOCTOR_ADDRESS) | BIT(DOCTOR_SOURCE),
			 false, EXIT_FAILED, doctor_gid },
	[DOCTOR_FIREWALL] = { "firewall", BIT(DOCTOR_DEVICE), false, EXIT_FAILED,
			      doctor_firewall },
	[DOCTOR_SERVER] = { "server", NEEDED_TO_CONNECT, true, EXIT_UNREACHABLE,
			    doctor_server },
	[DOCTOR_PROTOCOL] = { "protocol", BIT(DOCTOR_SERVER), true, EXIT_FAILED,
			      doctor_protocol },
	[DOCTOR_ACCESS] = { "access", BIT(DOCTOR_PROTOCOL), true, EXIT_DENIED,
			    doctor_access },
	[DOCTOR_PING] = { "ping", BIT(DOCTOR_ACCESS), true, EXIT_FAILED, doctor_ping },
	[DOCTOR_PATH_MTU] = { "path-mtu", BIT(DOCTOR_PING), true, EXIT_FAILED,
			      doctor_path_mtu },
};

const char *doctor_check_name(enum doctor_id id)
{
	return checks[id].name;
}

/* The check whose failure stands in the way, or DOCTOR_CHECKS. */
static enum doctor_id obstacle(const struct doctor *d, const struct doctor_check *check)
{
	unsigned int i;

	for (i = 0; i < DOCTOR_CHECKS; i++)
		if (check->needs & BIT(i) && d->cause[i] != DOCTOR_CHECKS)
			return d->cause[i];
	return DOCTOR_CHECKS;
}

static bool is_asked(const struct doctor *d, unsigned int id)
{
	if (d->storage && NOT_FOR_STORAGE & BIT(id))
		return false;
	return d->to.host || !checks[id].remote;
}

static void look(struct doctor *d, unsigned int id)
{
	struct finding *f = &d->finding[id];

	memset(f, 0, sizeof(*f));
	d->cause[id] = obstacle(d, &checks[id]);
	if (d->cause[id] != DOCTOR_CHECKS)
		finding_skip(f, "until %s is fixed", checks[d->cause[id]].name);
	else
		checks[id].look(d, f);
	if (f->verdict == FINDING_FAIL)
		d->cause[id] = id;
}

/* Checks of ports and addresses are about devices that can be used. */
static void learn_unusable(struct doctor *d, const struct kverbs_cmd_device_query *attr)
{
	struct doctor_unusable *unusable = &d->unusable[d->nr_unusable];

	rdma_forget(&d->rdma, attr->out_name);
	if (d->nr_unusable == ARRAY_SIZE(d->unusable))
		return;
	snprintf(unusable->name, sizeof(unusable->name), "%s", attr->out_name);
	unusable->reason = attr->out_unusable;
	d->nr_unusable++;
}

static void learn_device(struct doctor *d, const struct kverbs_device *dev)
{
	unsigned int port;

	if (dev->attr->out_unusable) {
		learn_unusable(d, dev->attr);
		return;
	}
	d->nr_devices++;
	for (port = 0; port < dev->nr_ports; port++)
		rdma_learn(&d->rdma, dev->attr->out_name, &dev->ports[port]);
}

static void learn_devices(struct doctor *d)
{
	struct kverbs_device *list;
	int i, nr = kverbs_device_list(d->kv, &list);

	d->nr_devices = 0;
	d->nr_unusable = 0;
	for (i = 0; i < nr; i++)
		learn_device(d, &list[i]);
	if (nr >= 0)
		kverbs_device_list_free(list, nr);
}

static void gather(struct doctor *d)
{
	net_look(&d->net);
	rdma_look(&d->rdma, &d->net, d->root);
	d->kv_err = kverbs_open(&d->kv, NULL);
	if (d->kv_err)
		d->kv = NULL;
	else
		learn_devices(d);
}

static void summarize(const struct doctor *d)
{
	static const char * const names[] = { "not asked", "ok", "warned of", "failed" };
	unsigned int nr[ARRAY_SIZE(names)] = { }, i;

	for (i = 0; i < DOCTOR_CHECKS; i++)
		nr[d->finding[i].verdict] += is_asked(d, i);
	for (i = 0; i < STORAGE_CHECKS; i++)
		nr[d->storage_finding[i].verdict] += storage_is_asked(d, i);
	out_text("\n%u %s", nr[FINDING_OK], names[FINDING_OK]);
	if (nr[FINDING_WARN])
		out_text(", %u %s", nr[FINDING_WARN], names[FINDING_WARN]);
	out_text(", %u %s", nr[FINDING_FAIL], names[FINDING_FAIL]);
	if (nr[FINDING_SKIP])
		out_text(", %u %s", nr[FINDING_SKIP], names[FINDING_SKIP]);
	out_text("\n");
}

static int status_of(const struct doctor *d)
{
	unsigned int i;

	for (i = 0; i < DOCTOR_CHECKS; i++)
		if (is_asked(d, i) && d->finding[i].verdict == FINDING_FAIL)
			return checks[i].exit_status;
	for (i = 0; i < STORAGE_CHECKS; i++)
		if (d->storage_finding[i].verdict == FINDING_FAIL)
			return storage_exit_status(i);
	return EXIT_OK;
}

static void tell(const struct doctor *d, struct json_object *list, const struct finding *f,
		 const char *name)
{
	if (list)
		json_object_array_add(list, finding_json(f, name, d->to.host));
	else
		finding_print(f, name, d->to.host, finding_width());
}

static void look_at_storage(struct doctor *d, struct json_object *list)
{
	unsigned int i;

	for (i = 0; i < STORAGE_CHECKS; i++) {
		if (!storage_is_asked(d, i))
			continue;
		storage_look(d, i, &d->storage_finding[i]);
		tell(d, list, &d->storage_finding[i], storage_check_name(i));
	}
}

int doctor_examine(struct doctor *d)
{
	struct json_object *list = out_is_json() ? json_object_new_array() : NULL;
	unsigned int i;

	gather(d);
	for (i = 0; i < DOCTOR_CHECKS; i++)
		d->cause[i] = DOCTOR_CHECKS;
	for (i = 0; i < DOCTOR_CHECKS; i++) {
		if (!is_asked(d, i))
			continue;
		look(d, i);
		tell(d, list, &d->finding[i], checks[i].name);
	}
	look_at_storage(d, list);
	if (d->job_size)
		doctor_job(d);
	if (list)
		json_object_object_add(out_root(), "checks", list);
	else
		summarize(d);
	if (d->s.kv)
		session_free(&d->s);
	kverbs_close(d->kv);
	d->kv = NULL;
	return status_of(d);
}

static const char usage[] =
"usage: kverbs doctor [options] [HOST]\n"
"\n"
"Diagnose RDMA problems on this host and, with HOST, of connections to the server there,\n"
"and print the commands that fix them. Some checks need root. With --for, the client is that\n"
"of a storage protocol.\n";

static const char notes[] =
"Exit status: 0 nothing failed, 2 usage; else that of the first failed check: 3 cannot\n"
"reach HOST, 4 no permission, module or RDMA device, 1 any other.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("for", 0, OPTS_TEXT, struct doctor, storage_name,
		    OPTS_HELP("PROTOCOL", "check what a storage protocol needs to reach HOST:\n"
			      "nvme, iser, srp, nfs or smb"),
		    OPTS_DOC("Check what the kernel's client of a storage protocol needs, in\n"
			     "place of what **kverbs** itself needs: ``nvme`` (NVMe over\n"
			     "Fabrics), ``iser``, ``srp``, ``nfs`` (NFS over RDMA) or ``smb``\n"
			     "(SMB Direct). With *HOST*, whether its server listens there."),
		    OPTS_VALUES(STORAGE_NAMES)),
	OPTS_RANGE("for-size", 0, OPTS_NUMBER, struct doctor, job_size, 1, 1ull << 50,
		   OPTS_HELP("SIZE", "compute the limit of locked memory of a job that registers\n"
			     "SIZE bytes for each connection"),
		   OPTS_DOC("Compute the limit of locked memory that a job needs which registers\n"
			    "*SIZE* bytes for each of its connections. The check *memlock* fails\n"
			    "if this user's limit is lower, and the lines are printed that set\n"
			    "the limit for logins, for a service, and for a container.")),
	OPTS_RANGE("connections", 0, OPTS_NUMBER, struct doctor, job_connections, 1, 1 << 20,
		   OPTS_HELP("N", "connections of that job (default 1)"),
		   OPTS_DOC("The number of connections of that job; default 1. Processes of one\n"
			    "user share the limit, so count the connections of all.")),
	OPTS_RANGE("timeout", 'W', OPTS_MILLIS, struct doctor, to.timeout_ms, 1, 86400000,
		   OPTS_HELP("S", "wait up to S seconds for HOST to answer (default 5)"),
		   OPTS_DOC("Wait up to *S* seconds for *HOST* to answer; default 5.")),
	SERVER_OPTS_SOURCE(struct doctor, to),
	SERVER_OPTS_KEY(struct doctor, to, ""),
	SERVER_OPTS_KEY_NAME(struct doctor, to),
	SERVER_OPTS_PORT(struct doctor, to, "",
			 "; with ``--for`` 4420 for ``nvme``, 3260\n"
			 "for ``iser``, 20049 for ``nfs``, 445 for ``smb``."),
	{ }
};

static int doctor_run(int argc, char **argv)
{
	static struct doctor d;
	int first, status = EXIT_OK;

	d = (struct doctor){
		.root = "",
		.to = { .timeout_ms = 5000 },
	};
	first = opts_parse(argc, argv, options, &d);
	if (first < 0)
		return EXIT_USAGE;
	if (first + 1 < argc)
		return err_usage("give one HOST");
	if (d.storage_name) {
		d.storage = storage_find(d.storage_name);
		if (!d.storage)
			return err_usage("--for: '%s' is none of " STORAGE_NAMES,
					 d.storage_name);
	}
	if (!d.to.port)
		d.to.port = d.storage ? d.storage->port : WIRE_DEFAULT_PORT;
	if (d.job_connections && !d.job_size)
		return err_usage("--connections requires --for-size");
	d.to.host = first < argc ? argv[first] : NULL;
	if (d.to.host && !d.storage)
		status = keyring_of_client(&d.keys, &d.key, d.to.key_file, d.to.key_name);
	if (status)
		return status;
	status = doctor_examine(&d);
	keyring_put(d.keys);
	return status;
}

const struct command cmd_doctor = {
	.name = "doctor",
	.summary = "Diagnose RDMA problems and suggest fixes",
	.usage = usage,
	.options = options,
	.json = "print the findings as JSON",
	.json_doc = "Print the findings as JSON: ``checks`` is an array of objects with ``id``,\n"
		    "``verdict``, ``seen``, and ``remedy``, an array of commands. ``remedy_on``\n"
		    "is present if they are for another host, ``advice`` if there is further\n"
		    "advice. With ``--for-size``, ``limit`` has ``bytes``, and the lines\n"
		    "``limits_d``, ``systemd`` and ``container``.",
	.notes = notes,
	.run = doctor_run,
};
