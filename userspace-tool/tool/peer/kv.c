// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>

#include "cli/err.h"
#include "cli/util.h"
#include "peer/auth.h"
#include "peer/kv.h"

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

/* Error that each refusal is reported as, which selects the remedy. */
static const struct {
	enum err_area area;
	int err;
} refusals[] = {
	[WIRE_REFUSED_BUSY] = { ERR_CONNECT, -EBUSY },
	[WIRE_REFUSED_ADDRESS] = { ERR_REFUSED, -EACCES },
	[WIRE_REFUSED_KEY] = { ERR_REFUSED, -ENOKEY },
	[WIRE_REFUSED_PEER] = { ERR_CONNECT, -EBUSY },
	[WIRE_REFUSED_MEMORY] = { ERR_CONNECT, -EDQUOT },
	[WIRE_REFUSED_RATE] = { ERR_CONNECT, -EBUSY },
	[WIRE_REFUSED_ENDING] = { ERR_CONNECT, -EBUSY },
};

static int report_refusal(const struct session *s, const struct session_to *to, int err)
{
	enum err_area area = ERR_CONNECT;

	if (s->refusal < ARRAY_SIZE(refusals) && refusals[s->refusal].err) {
		area = refusals[s->refusal].area;
		err = refusals[s->refusal].err;
	}
	if (s->refusal == WIRE_REFUSED_VERSION)
		return err_report(area, err,
				  "connect to %s port %s: it has protocol version %u, this program has %u",
				  to->host, to->port, s->welcome.version, WIRE_VERSION);
	return err_report(area, err, "connect to %s port %s: %s", to->host, to->port,
			  wire_refusal_name(s->refusal));
}

static int report(const struct session *s, const struct session_to *to, int err)
{
	const char *host = to->host, *port = to->port;

	if (s->refusal)
		return report_refusal(s, to, err);
	switch (err) {
	case -EKEYREJECTED:
		return err_report(ERR_REFUSED, err, "connect to %s port %s: it has another key",
				  host, port);
	case -EOPNOTSUPP:
		return err_report(ERR_REFUSED, err,
				  "connect to %s port %s: the key does not permit this service",
				  host, port);
	case -EREMCHG:
		return err_report(ERR_REFUSED, err,
				  "connect to %s port %s: both ends see other addresses of the connection",
				  host, port);
	case -ENOKEY:
		return err_report(ERR_PROOF, err,
				  "connect to %s port %s: it does not prove that it has the key",
				  host, port);
	case -EPROTO:
		return err_report(ERR_CONNECT, err,
				  "connect to %s port %s: the program there is not kverbs with protocol version %d",
				  host, port, WIRE_VERSION);
	default:
		return err_report(err == -ENOMEM || err == -EPERM ? ERR_MEMORY : ERR_CONNECT,
				  err, "connect to %s port %s", host, port);
	}
}

/* A refusal of a kverbs server says why, but for the version, which older ones do not name. */
int kv_report(struct session *s, const struct session_to *to, int err)
{
	int status = report(s, to, err);

	if (s->refusal == WIRE_REFUSED_VERSION) {
		s->explained = false;
		err = -EPROTO;
	}
	if (!s->refusal || s->refusal == WIRE_REFUSED_VERSION)
		session_print_why(s, err, to->explain);
	return status;
}

static int connect_with(struct session *s, struct kverbs *kv, const struct session_to *to,
			const struct wire_hello *hello, const struct key *key)
{
	struct wire_hello h = *hello;
	int ret;

	if (key)
		auth_hello(&h);
	ret = session_connect(s, kv, to, &h);
	return !ret && key ? auth_connect(s, key) : ret;
}

int kv_try(struct session *s, struct kverbs *kv, const struct session_to *to,
	   const struct wire_hello *hello)
{
	const struct key *key = NULL;
	struct keyring *ring = NULL;
	int ret;

	session_init(s, kv, NULL, hello);
	/* rping has no authentication. */
	if (hello->version) {
		ret = keyring_of_client(&ring, &key, to->key_file, to->key_name);
		if (ret)
			return ret;
	}
	ret = connect_with(s, kv, to, hello, key);
	keyring_put(ring);
	/* While the connection is there */
	if (ret < 0)
		session_explain(s, ret);
	return ret;
}

int kv_connect(struct session *s, struct kverbs *kv, const struct session_to *to,
	       const struct wire_hello *hello)
{
	int ret = kv_try(s, kv, to, hello);

	if (!ret)
		return EXIT_OK;
	session_free(s);
	return ret > 0 ? ret : kv_report(s, to, ret);
}
