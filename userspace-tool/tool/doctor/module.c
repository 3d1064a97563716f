// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: the module, its node, and whether it is of our version.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <kverbs.h>

#include "cli/err.h"
#include "doctor/doctor.h"
#include "doctor/host.h"
#include "doctor/ib_core.h"

#define NODE "/dev/kverbs"
#define GROUP "rdma"

/* Whether modprobe would find it for the running kernel. */
static bool is_installed(const struct doctor *d, char *release, size_t room)
{
	char line[PATH_MAX];
	struct utsname uts;
	bool found = false;
	FILE *deps;

	uname(&uts);
	snprintf(release, room, "%s", uts.release);
	snprintf(line, sizeof(line), "%s/lib/modules/%s/modules.dep", d->root, release);
	deps = fopen(line, "re");
	while (deps && !found && fgets(line, sizeof(line), deps))
		found = strstr(line, "/kverbs.ko");
	if (deps)
		fclose(deps);
	return found;
}

void doctor_module(struct doctor *d, struct finding *f)
{
	char release[sizeof(((struct utsname *)0)->release)], version[64];

	if (doctor_exists(d->root, "/sys/module/kverbs")) {
		doctor_read(d->root, version, sizeof(version), "/sys/module/kverbs/version");
		finding_ok(f, "kverbs %s is loaded", version);
		return;
	}
	if (is_installed(d, release, sizeof(release))) {
		if (doctor_ib_core_differs(d, release, f))
			return;
		finding_fail(f, "kverbs is installed, but not loaded");
		finding_mend(f, "modprobe kverbs");
		return;
	}
	finding_fail(f, "kverbs is neither loaded nor installed for kernel %s", release);
	if (doctor_exists(d->root, "/var/lib/dkms/kverbs")) {
		finding_advise(f, "With this kernel's headers installed, DKMS builds it:");
		finding_mend(f, "dkms autoinstall");
	} else {
		finding_advise(f, "Install the package kverbs-dkms, or run in the source tree:");
		finding_mend(f, "make install");
	}
	finding_mend(f, "modprobe kverbs");
}

static void name_owner(const struct stat *st, char *text, size_t room)
{
	const struct passwd *user = getpwuid(st->st_uid);
	const struct group *group = getgrgid(st->st_gid);

	snprintf(text, room, "%s:%s, mode %04o", user ? user->pw_name : "?",
		 group ? group->gr_name : "?", st->st_mode & 07777);
}

static void missing_node(struct doctor *d, struct finding *f)
{
	char number[32], *colon;

	finding_fail(f, NODE " does not exist, though the module is loaded");
	if (doctor_read(d->root, number, sizeof(number), "/sys/class/misc/kverbs/dev"))
		return;
	colon = strchr(number, ':');
	if (!colon)
		return;
	*colon = ' ';
	finding_mend(f, "mknod -m 600 " NODE " c %s", number);
}

static const char *user_name(void)
{
	const struct passwd *user = getpwuid(geteuid());

	return user ? user->pw_name : "USER";
}

static void closed_node(const struct stat *st, struct finding *f)
{
	const struct group *group = getgrgid(st->st_gid);
	char owner[128];

	name_owner(st, owner, sizeof(owner));
	finding_fail(f, NODE " cannot be opened by user %s: it belongs to %s", user_name(), owner);
	if (group && !strcmp(group->gr_name, GROUP) && (st->st_mode & 0060) == 0060) {
		finding_advise(f, "Run as root; it takes effect at the user's next login:");
		finding_mend(f, "usermod -aG " GROUP " %s", user_name());
		return;
	}
	finding_advise(f, "Run as root; a udev rule makes it last. Add the user to the group.");
	if (!getgrnam(GROUP))
		finding_mend(f, "groupadd --system " GROUP);
	finding_mend(f, "chgrp " GROUP " " NODE);
	finding_mend(f, "chmod 660 " NODE);
	finding_mend(f, "usermod -aG " GROUP " %s", user_name());
}

void doctor_node(struct doctor *d, struct finding *f)
{
	char path[PATH_MAX], owner[128];
	struct stat st;

	snprintf(path, sizeof(path), "%s" NODE, d->root);
	if (stat(path, &st)) {
		missing_node(d, f);
	} else if (faccessat(AT_FDCWD, path, R_OK | W_OK, AT_EACCESS)) {
		closed_node(&st, f);
	} else if (d->kv || d->kv_err == -EPROTO) {
		name_owner(&st, owner, sizeof(owner));
		finding_ok(f, NODE " can be opened: %s", owner);
	} else {
		finding_fail(f, NODE " cannot be opened: %s (%s)", strerror(-d->kv_err),
			     err_name(d->kv_err));
	}
}

void doctor_version(struct doctor *d, struct finding *f)
{
	char version[64];

	doctor_read(d->root, version, sizeof(version), "/sys/module/kverbs/version");
	if (d->kv_err == -EPROTO)
		finding_fail(f, "this command, %s, and the module, %s, have different ABIs",
			     kverbs_version(), version);
	else if (strcmp(version, kverbs_version()))
		finding_warn(f, "this command is %s, and the module %s", kverbs_version(),
			     version);
	else
		finding_ok(f, "the module and this command are kverbs %s", version);
	if (f->verdict == FINDING_OK)
		return;
	finding_advise(f, "Install both from the same source, then load the new module:");
	finding_mend(f, doctor_exists(d->root, "/sys/module/kverbs_bench") ?
			"modprobe -r kverbs_bench kverbs" : "modprobe -r kverbs");
	finding_mend(f, "modprobe kverbs");
}
