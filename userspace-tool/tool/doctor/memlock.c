// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: how much memory this user may register.
 */
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/json.h"
#include "cli/out.h"
#include "doctor/doctor.h"
#include "doctor/host.h"

#define CAP_IPC_LOCK 14
/* Locked memory that cp needs, and that lets most programs run at full speed. */
#define LEAST (4ull << 20)
#define PLENTY (64ull << 20)

/* CAP_IPC_LOCK knows no limit. */
static bool is_exempt(const struct doctor *d)
{
	char status[4096];
	const char *caps;

	doctor_read(d->root, status, sizeof(status), "/proc/self/status");
	caps = strstr(status, "CapEff:");
	return caps && strtoull(caps + strlen("CapEff:"), NULL, 16) >> CAP_IPC_LOCK & 1;
}

static uint64_t limit_of(const char *word)
{
	return *word == 'u' ? UINT64_MAX : strtoull(word, NULL, 10);
}

/* "Max locked memory    8388608    8388608    bytes" */
static int read_limits(const struct doctor *d, uint64_t *soft, uint64_t *hard)
{
	char limits[4096], one[32], other[32];
	const char *line;

	doctor_read(d->root, limits, sizeof(limits), "/proc/self/limits");
	line = strstr(limits, "Max locked memory");
	if (!line || sscanf(line, "Max locked memory %31s %31s", one, other) != 2)
		return -1;
	*soft = limit_of(one);
	*hard = limit_of(other);
	return 0;
}

/*
 * A job is charged the pages of each registered range, one more if it does not begin at a
 * page. Rings are not charged.
 */
static uint64_t need_of_job(const struct doctor *d)
{
	uint64_t page = sysconf(_SC_PAGESIZE);
	uint64_t connections = d->job_connections ? d->job_connections : 1;

	return connections * ((d->job_size + page - 1) / page * page + page);
}

/* For this shell at once, as far as its user may. */
static void mend_for_job(struct finding *f, uint64_t hard, uint64_t need)
{
	if (hard >= need)
		finding_mend(f, "ulimit -Sl %" PRIu64, need >> 10);
	else
		finding_mend(f, "prlimit --pid %d --memlock=%" PRIu64, (int)getppid(), need);
	finding_advise(f, "For this shell%s:", hard < need ? ", as root" : "");
}

static void judge_job(const struct doctor *d, struct finding *f, uint64_t soft, uint64_t hard)
{
	uint64_t need = need_of_job(d);

	if (soft >= need) {
		finding_ok(f, "the job needs %" PRIu64 " KiB of what may be locked", need >> 10);
		return;
	}
	finding_fail(f, "only %" PRIu64 " KiB may be locked; the job needs %" PRIu64,
		     soft >> 10, need >> 10);
	mend_for_job(f, hard, need);
}

static void name_user(char *name, size_t room)
{
	const struct passwd *user = getpwuid(geteuid());

	if (user)
		snprintf(name, room, "%s", user->pw_name);
	else
		snprintf(name, room, "%u", (unsigned int)geteuid());
}

/* The limits of pam_limits(8) are in KiB, the others in bytes. */
void doctor_job(const struct doctor *d)
{
	char limits[128], systemd[64], container[64], user[64];
	uint64_t need = need_of_job(d);
	struct json_object *o;

	name_user(user, sizeof(user));
	snprintf(limits, sizeof(limits), "%s - memlock %" PRIu64, user, need >> 10);
	snprintf(systemd, sizeof(systemd), "LimitMEMLOCK=%" PRIu64, need);
	snprintf(container, sizeof(container), "--ulimit memlock=%" PRIu64 ":%" PRIu64, need,
		 need);
	if (out_is_json()) {
		o = json_object_new_object();
		json_put_int(o, "bytes", need);
		json_put_str(o, "limits_d", limits);
		json_put_str(o, "systemd", systemd);
		json_put_str(o, "container", container);
		json_object_object_add(out_root(), "limit", o);
		return;
	}
	out_text("\nThe job needs a limit of %" PRIu64 " bytes. One of these lines sets it:\n",
		 need);
	out_text("  for logins, in a file in /etc/security/limits.d\n    %s\n", limits);
	out_text("  for a service, in its unit\n    %s\n", systemd);
	out_text("  for a container, as an option of podman or docker run\n    %s\n",
		 container);
}

/* For this shell at once, as far as its user may; and for good. */
static void mend(struct finding *f, uint64_t hard)
{
	if (hard == UINT64_MAX)
		finding_mend(f, "ulimit -l unlimited");
	else if (hard >= LEAST)
		finding_mend(f, "ulimit -l %" PRIu64, hard >> 10);
	else
		finding_mend(f, "prlimit --pid %d --memlock=unlimited", (int)getppid());
	finding_advise(f, "LimitMEMLOCK= sets it for a service, /etc/security/limits.d ");
	finding_advise(f, "for logins, and this command for this shell%s:",
		       hard < LEAST ? ", as root" : "");
}

void doctor_memlock(struct doctor *d, struct finding *f)
{
	uint64_t soft, hard;

	if (is_exempt(d)) {
		finding_ok(f, "this user has no limit of locked memory");
		return;
	}
	if (read_limits(d, &soft, &hard)) {
		finding_skip(f, "/proc/self/limits does not show it");
		return;
	}
	if (d->job_size)
		judge_job(d, f, soft, hard);
	else if (soft == UINT64_MAX)
		finding_ok(f, "all memory may be locked");
	else if (soft >= PLENTY)
		finding_ok(f, "%" PRIu64 " MiB may be locked", soft >> 20);
	else if (soft >= LEAST)
		finding_ok(f, "%" PRIu64 " MiB may be locked, enough for kverbs itself",
			   soft >> 20);
	else
		finding_fail(f, "only %" PRIu64 " KiB may be locked; kverbs cp needs 4096",
			     soft >> 10);
	if (f->verdict == FINDING_FAIL && !d->job_size)
		mend(f, hard);
}
