// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/err.h"
#include "cli/util.h"

struct remedy {
	enum err_area area;
	int err;
	const char *text;
};

static const struct remedy remedies[] = {
	{ ERR_OPEN, ENOENT, "is the module loaded? try: modprobe kverbs" },
	{ ERR_OPEN, ENXIO, "is the module loaded? try: modprobe kverbs" },
	{ ERR_OPEN, ENODEV, "is the module loaded? try: modprobe kverbs" },
	{ ERR_OPEN, EACCES, "this user may not open it, see: ls -l /dev/kverbs" },
	{ ERR_OPEN, EPERM, "this user may not open it, see: ls -l /dev/kverbs" },
	{ ERR_OPEN, EPROTO, "module and command have different versions" },
	{ ERR_DEVICE, ENODEV,
	  "load its driver, or for Soft-RoCE: rdma link add rxe0 type rxe netdev DEV" },
	{ ERR_DEVICE, ENOENT, "no port has a GID of that index, see: kverbs dev" },
	{ ERR_DEVICE, ENOTUNIQ, "several ports have one; give the source address with -I" },
	{ ERR_DEVICE, EOPNOTSUPP,
	  "only a RoCE v2 GID can be the source of a connection, see: kverbs dev" },
	{ ERR_MEMORY, ENOMEM,
	  "raise the locked memory limit: ulimit -l, LimitMEMLOCK= in a systemd unit" },
	{ ERR_MEMORY, EPERM,
	  "raise the locked memory limit: ulimit -l, LimitMEMLOCK= in a systemd unit" },
	{ ERR_CONNECT, ECONNREFUSED,
	  "is a server running there? start: kverbs serve, or for --rping: rping -s" },
	{ ERR_CONNECT, ETIMEDOUT,
	  "no answer: is it on an RDMA device? is UDP 4791 (RoCE) or its TCP port (iWARP) open?" },
	{ ERR_CONNECT, EBUSY, "try again later, or raise the limits in the server's options" },
	{ ERR_CONNECT, EDQUOT,
	  "request less memory, or raise the server's --peer-bytes, or rdma.max of this cgroup" },
	{ ERR_CONNECT, EHOSTUNREACH, "see: ip route get ADDRESS" },
	{ ERR_CONNECT, ENETUNREACH, "see: ip route get ADDRESS" },
	{ ERR_CONNECT, ENXIO, "the name does not resolve, see: getent hosts NAME" },
	{ ERR_CONNECT, ENODEV,
	  "the route there uses no RDMA device, see: kverbs dev, rdma link" },
	{ ERR_CONNECT, EADDRNOTAVAIL,
	  "the route there uses no RDMA device, see: kverbs dev, rdma link" },
	{ ERR_REFUSED, EACCES,
	  "its --allow must include this host's address, see: ip route get ADDRESS" },
	{ ERR_REFUSED, ENOKEY, "the server requires its key: --key FILE or KVERBS_KEY_FILE" },
	{ ERR_REFUSED, EKEYREJECTED,
	  "both sides need the same key, by the same name" },
	{ ERR_REFUSED, EREMCHG,
	  "no host may be in between, nor a translation of addresses (NAT): try its own address" },
	{ ERR_REFUSED, EOPNOTSUPP, "the server's key file must permit it: services=" },
	{ ERR_PROOF, ENOKEY,
	  "start it with --key FILE; or this is not the server that you expect" },
	{ ERR_KEY, EPERM, "other users can read or write it, try: chmod u=rw,go= FILE" },
	{ ERR_KEY, EINVAL, "that is no key, see: man kverbs-key" },
	{ ERR_KEY, EEXIST, "each name can occur once, see: kverbs key list FILE" },
	{ ERR_KEY, ENOKEY, "see: kverbs key list FILE" },
	{ ERR_KEY, ENOENT, "create one: kverbs key new FILE NAME" },
	{ ERR_LISTEN, EADDRINUSE, "choose another port with --port" },
	{ ERR_LISTEN, EADDRNOTAVAIL, "this host does not have that address" },
	{ ERR_LISTEN, ENODEV, "that address is not on an RDMA device, see: kverbs dev" },
	{ ERR_LISTEN, ENXIO, "the name does not resolve, see: getent hosts NAME" },
	{ ERR_ENGINE, EOPNOTSUPP, "omit it, or measure with --engine user" },
	{ ERR_TRAFFIC, EOPNOTSUPP,
	  "the module kverbs_bench cannot be loaded, or the device lacks the operation" },
	{ ERR_TRAFFIC, ENOTTY, "the module is older than this command: load a newer version" },
	{ ERR_PEER, EOVERFLOW, "one connection's memory has too many pieces: lower -s, or -t" },
	{ ERR_PEER, ECONNRESET, "the peer ended the connection, or died" },
	{ ERR_PEER, ETIMEDOUT, "the peer does not answer; wait longer with --timeout" },
	{ ERR_PEER, EPROTO, "the peer violates the protocol" },
	{ ERR_PEER, EBADMSG, "the peer violates the protocol" },
	{ ERR_PEER, ENODEV, "the RDMA device was removed" },
	{ ERR_REMOTE, EPERM, "the path leads out of the server's --root" },
	{ ERR_REMOTE, ECANCELED, "nothing is deleted there, since an entry could not be read" },
	{ ERR_REMOTE, EOVERFLOW, "nothing is deleted there, since there are too many names" },
	{ ERR_REMOTE, EROFS, "the server or its file system is read-only" },
	{ ERR_REMOTE, EBADMSG, "the copy differed from its source and was removed" },
	{ ERR_REMOTE, ENOMEM, "the server may not lock that much memory: raise its LimitMEMLOCK=" },
	{ ERR_REMOTE, EDQUOT, "the server's --peer-bytes, or the quota of its disk, is used up" },
	{ ERR_REMOTE, ESTALE, "the source changed while it was copied" },
	{ ERR_OBJECTS, ENOENT,
	  "is the module loaded? is debugfs mounted at /sys/kernel/debug?" },
	{ ERR_OBJECTS, EACCES, "only root may read it: try sudo" },
	{ ERR_LOCAL, ENOMEM,
	  "raise the locked memory limit: ulimit -l, LimitMEMLOCK= in a systemd unit" },
	{ ERR_LOCAL, EPERM, "the peer named a file outside the destination" },
	{ ERR_LOCAL, EBADMSG, "the copy differed from its source and was removed" },
	{ ERR_LOCAL, ESTALE, "the source changed while it was copied" },
};

static struct err_last last;
static const char *command = "";

const char *err_name(int err)
{
	const char *name = strerrorname_np(err < 0 ? -err : err);

	return name ? name : "?";
}

const char *err_remedy(enum err_area area, int err)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(remedies); i++)
		if (remedies[i].area == area && remedies[i].err == -err)
			return remedies[i].text;
	return NULL;
}

static int is_denial(int err)
{
	return err == -EPERM || err == -EACCES || err == -EROFS;
}

int err_exit(enum err_area area, int err)
{
	switch (area) {
	case ERR_OPEN:
	case ERR_DEVICE:
	case ERR_OBJECTS:
	case ERR_REFUSED:
	case ERR_PROOF:
		return EXIT_DENIED;
	case ERR_CONNECT:
		return err == -ENOMEM ? EXIT_FAILED : EXIT_UNREACHABLE;
	case ERR_LISTEN:
		return is_denial(err) || err == -ENODEV ? EXIT_DENIED : EXIT_FAILED;
	case ERR_PEER:
		return EXIT_FAILED;
	default:
		return is_denial(err) ? EXIT_DENIED : EXIT_FAILED;
	}
}

void err_command(const char *name)
{
	command = name;
	memset(&last, 0, sizeof(last));
}

static void prefix(void)
{
	fflush(stdout);
	fprintf(stderr, *command ? "kverbs: %s: " : "kverbs: ", command);
}

static void remember(int status, int err, const char *remedy, const char *fmt,
		     va_list ap)
{
	if (last.set)
		return;
	last.set = 1;
	last.exit_status = status;
	last.err = err;
	last.remedy = remedy;
	vsnprintf(last.step, sizeof(last.step), fmt, ap);
}

/* Say that a step failed, and why, and what may help. Returns the exit status. */
int err_report(enum err_area area, int err, const char *fmt, ...)
{
	const char *remedy = err_remedy(area, err);
	int status = err_exit(area, err);
	va_list ap;

	va_start(ap, fmt);
	remember(status, err, remedy, fmt, ap);
	va_end(ap);

	prefix();
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, ": %s (%s)%s%s\n", strerror(-err), err_name(err),
		remedy ? ": " : "", remedy ? remedy : "");
	return status;
}

int err_usage(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	remember(EXIT_USAGE, -EINVAL, NULL, fmt, ap);
	va_end(ap);

	prefix();
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fprintf(stderr, "; try: kverbs %s%s--help\n", command, *command ? " " : "");
	return EXIT_USAGE;
}

void err_warn(const char *fmt, ...)
{
	va_list ap;

	prefix();
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

const struct err_last *err_last(void)
{
	return last.set ? &last : NULL;
}
