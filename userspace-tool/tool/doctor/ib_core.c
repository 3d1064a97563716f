// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: whether the installed module was built for this host's RDMA subsystem, which
 * DOCA-OFED and MLNX_OFED replace.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <kverbs.h>

#include "doctor/doctor.h"
#include "doctor/host.h"
#include "doctor/ib_core.h"

/* Find the path of a module below the directory of a kernel; a built-in module has none. */
static bool find_module(const struct doctor *d, const char *release, const char *name,
			char *path, size_t room)
{
	char deps[PATH_MAX];
	bool found = false;
	FILE *file;

	snprintf(deps, sizeof(deps), "%s/lib/modules/%s/modules.dep", d->root, release);
	file = fopen(deps, "re");
	while (file && !found && fgets(path, room, file)) {
		const char *slash;

		path[strcspn(path, ":")] = '\0';
		slash = strrchr(path, '/');
		found = slash && !strncmp(slash + 1, name, strlen(name));
	}
	if (file)
		fclose(file);
	return found;
}

static void mend(const struct doctor *d, struct finding *f)
{
	if (doctor_exists(d->root, "/var/lib/dkms/kverbs")) {
		finding_advise(f, "Build it again:");
		finding_mend(f, "dkms build --force kverbs/%s", kverbs_version());
		finding_mend(f, "dkms install --force kverbs/%s", kverbs_version());
	} else {
		finding_advise(f, "Build it again, in the source tree:");
		finding_mend(f, "make install");
	}
	finding_mend(f, "modprobe kverbs");
}

bool doctor_ib_core_differs(const struct doctor *d, const char *release, struct finding *f)
{
	static const char *const argv[] = { "modinfo", "-F", "ib_core", "kverbs", NULL };
	char path[PATH_MAX], built_for[32];
	bool replaced;

	replaced = find_module(d, release, "ib_core.ko", path, sizeof(path)) &&
		   strncmp(path, "kernel/", strlen("kernel/"));
	/* The module tells, see kmod/core/ib_core.c. */
	if (doctor_ask_text(argv, built_for, sizeof(built_for)))
		return false;
	if (replaced && !strcmp(built_for, "kernel"))
		finding_fail(f, "kverbs was built for the kernel's own ib_core, but %s replaces it",
			     path);
	else if (!replaced && !strcmp(built_for, "replaced"))
		finding_fail(f, "kverbs was built for a replaced ib_core, not the kernel's own");
	else
		return false;
	mend(d, f);
	return true;
}
