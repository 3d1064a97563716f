/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A host for kverbs doctor: a directory with the files of the kernel, and commands that print
 * prepared output. The host has no problem until a test creates one.
 */
#ifndef DOCTOR_HOST_H
#define DOCTOR_HOST_H

#include <errno.h>

#include <json-c/json.h>

#include "cli/out.h"
#include "doctor/doctor.h"
#include "fake_kernel.h"
#include "tmp.h"

#define HOST_UP "\"BROADCAST\",\"UP\",\"LOWER_UP\""
#define HOST_ADDRESS "{\"family\":\"inet\",\"local\":\"192.0.2.9\",\"prefixlen\":24}"
#define HOST_LO "{\"ifname\":\"lo\",\"flags\":[\"LOOPBACK\",\"UP\"],\"mtu\":65536}"
#define HOST_MAC "\"address\":\"52:54:00:00:00:01\""
#define HOST_ETH0 "\"ifname\":\"eth0\",\"flags\":[%s],\"mtu\":%u," HOST_MAC
#define HOST_ROUTE "[{\"dst\":\"192.0.2.1\",\"dev\":\"eth0\",\"prefsrc\":\"192.0.2.9\"}]"
#define HOST_PORT "sys/class/infiniband/rxe0/ports/1/"

/**
 * struct host - the host of one test
 * @tmp: its root directory
 * @path: the original PATH
 * @d: findings of doctor
 * @status: exit status of doctor
 */
struct host {
	struct tmp *tmp;
	char *path;
	struct doctor d;
	int status;
};

/* Replace a file; missing directories are created. */
static inline void host_write(struct host *h, const char *path, const char *text)
{
	char part[PATH_MAX], *slash;

	snprintf(part, sizeof(part), "%s", path);
	for (slash = strchr(part, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdirat(h->tmp->fd, part, 0755);
		*slash = '/';
	}
	tmp_write(h->tmp, path, text);
}

static inline void host_remove(struct host *h, const char *path)
{
	char full[2 * PATH_MAX];

	snprintf(full, sizeof(full), "%s/%s", h->tmp->path, path);
	assert_int_equal(nftw(full, tmp_remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static inline void host_script(struct host *h, const char *name, const char *script)
{
	char path[64];

	snprintf(path, sizeof(path), "bin/%s", name);
	host_write(h, path, script);
	fchmodat(h->tmp->fd, path, 0755, 0);
}

/* eth0 with this MTU, flags and addresses, and more interfaces, or "". */
static inline void host_interfaces(struct host *h, unsigned int mtu, const char *flags,
				   const char *addrs, const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text), "[" HOST_LO ",{" HOST_ETH0 ",\"addr_info\":[%s]}%s%s]\n",
		 flags, mtu, addrs, *more ? "," : "", more);
	host_write(h, "address", text);
}

static inline void host_rules(struct host *h, const char *rules)
{
	char text[2048];

	snprintf(text, sizeof(text), "{\"nftables\":[{\"metainfo\":{}}%s%s]}\n",
		 *rules ? "," : "", rules);
	host_write(h, "rules", text);
}

static inline void host_commands(struct host *h)
{
	char script[3 * PATH_MAX];

	snprintf(script, sizeof(script), "#!/bin/sh\n"
		 "[ \"$3\" = get ] && file=route || file=address\n"
		 "[ -e %1$s/$file ] || { echo 'Network is unreachable' >&2; exit 2; }\n"
		 "cat %1$s/$file\n", h->tmp->path);
	host_script(h, "ip", script);
	snprintf(script, sizeof(script), "#!/bin/sh\ncat %s/rules\n", h->tmp->path);
	host_script(h, "nft", script);
	snprintf(script, sizeof(script), "%s/bin:%s", h->tmp->path, h->path);
	setenv("PATH", script, 1);
}

static inline void host_files(struct host *h)
{
	host_write(h, "sys/module/kverbs/version", KVERBS_LIB_VERSION "\n");
	host_write(h, "dev/kverbs", "");
	host_write(h, "sys/class/infiniband/rxe0/node_type", "1: CA\n");
	host_write(h, HOST_PORT "link_layer", "Ethernet\n");
	host_write(h, HOST_PORT "state", "4: ACTIVE\n");
	host_write(h, HOST_PORT "phys_state", "5: LinkUp\n");
	host_write(h, HOST_PORT "gids/0", "0000:0000:0000:0000:0000:ffff:c000:0209\n");
	host_write(h, HOST_PORT "gid_attrs/types/0", "RoCE v2\n");
	host_write(h, HOST_PORT "gid_attrs/ndevs/0", "eth0\n");
	host_write(h, "proc/self/status", "CapEff:\t000001ffffffffff\n");
	host_write(h, "route", HOST_ROUTE);
}

/* One Soft-RoCE device, rxe0, on eth0 with 192.0.2.9; root; the module is loaded. */
static inline int host_setup(void **state)
{
	struct host *h = calloc(1, sizeof(*h));
	void *tmp;

	assert_non_null(h);
	tmp_setup(&tmp);
	h->tmp = tmp;
	chmod(h->tmp->path, 0755);
	h->path = strdup(getenv("PATH"));
	host_files(h);
	host_interfaces(h, 1500, HOST_UP, HOST_ADDRESS, "");
	host_rules(h, "");
	host_commands(h);
	fake_reset();
	fake.port_mtu = 1024;
	fake_add_device(0, "rxe0", 1, 0);
	h->d.to.port = WIRE_DEFAULT_PORT;
	h->d.to.timeout_ms = FAKE_PATIENCE_MS;
	*state = h;
	return 0;
}

static inline int host_teardown(void **state)
{
	struct host *h = *state;
	void *tmp = h->tmp;
	int bad = fake_leftovers();

	setenv("PATH", h->path, 1);
	tmp_teardown(&tmp);
	free(h->path);
	free(h);
	return bad ? -1 : 0;
}

/* Run all checks; their output does not mix with the output of the test. */
static inline void host_examine(struct host *h)
{
	int out = dup(STDOUT_FILENO), null = open("/dev/null", O_WRONLY);

	fflush(stdout);
	dup2(null, STDOUT_FILENO);
	h->d.root = h->tmp->path;
	h->status = doctor_examine(&h->d);
	fflush(stdout);
	dup2(out, STDOUT_FILENO);
	close(out);
	close(null);
}

/* Whether a check is about flow control or InfiniBand, which a software device of RoCE lacks. */
static inline bool host_lacks(unsigned int id)
{
	return id == DOCTOR_PFC || id == DOCTOR_IPOIB || id == DOCTOR_SM;
}

static inline bool host_has(const char *text, const char *part)
{
	if (strstr(text, part))
		return true;
	print_error("'%s' has no '%s'\n", text, part);
	return false;
}

/*
 * Only check @id has this verdict; its observation and one of its commands contain these texts.
 * NULL: it has no command.
 */
static inline void host_blames(struct host *h, enum doctor_id id,
			       enum finding_verdict verdict, const char *seen,
			       const char *remedy)
{
	const struct finding *f = &h->d.finding[id];
	unsigned int i;
	bool found;

	host_examine(h);
	for (i = 0; i < DOCTOR_CHECKS; i++)
		if ((unsigned int)id != i && h->d.finding[i].verdict > FINDING_OK)
			fail_msg("check %d: %s", i, h->d.finding[i].seen);
	if (f->verdict != verdict)
		fail_msg("%s: %s", finding_verdict_name(f->verdict), f->seen);
	assert_true(host_has(f->seen, seen));
	found = !remedy && !f->nr;
	for (i = 0; remedy && i < f->nr && !found; i++)
		found = strstr(f->remedy[i], remedy);
	if (!found)
		fail_msg("%u commands, the first '%s'", f->nr, f->remedy[0]);
}

#define host_test(name) cmocka_unit_test_setup_teardown(name, host_setup, host_teardown)

#endif /* DOCTOR_HOST_H */
