// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>

#include "err.h"
#include "kv.h"

#define NODE "/dev/kverbs"

int kv_open(struct kverbs **kv, unsigned int cq_entries)
{
	struct kverbs_opts opts = { .sz = sizeof(opts), .cq_entries = cq_entries };
	int ret;

	ret = kverbs_open(kv, &opts);
	/* A smaller limit than we would like is no reason to fail. */
	if (ret == -EINVAL && cq_entries)
		ret = kverbs_open(kv, NULL);
	return ret ? err_report(ERR_OPEN, ret, "open %s", NODE) : EXIT_OK;
}

static int report(const struct session *s, const struct session_to *to, int err)
{
	enum err_area area = ERR_CONNECT;

	if (err == -ENOMEM || err == -EPERM)
		area = ERR_MEMORY;
	if (s->refusal)
		return err_report(area, err, "connect to %s port %s: %s", to->host,
				  to->port, wire_refusal_name(s->refusal));
	if (err == -EPROTO)
		return err_report(area, err,
				  "connect to %s port %s: what answers there is no kverbs of version %d",
				  to->host, to->port, WIRE_VERSION);
	return err_report(area, err, "connect to %s port %s", to->host, to->port);
}

int kv_connect(struct session *s, struct kverbs *kv, const struct session_to *to,
	       const struct wire_hello *hello)
{
	int ret;

	ret = session_connect(s, kv, to, hello);
	if (!ret)
		return EXIT_OK;
	session_free(s);
	return report(s, to, ret);
}
