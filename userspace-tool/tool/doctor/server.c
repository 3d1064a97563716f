// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: a real connection to the other host, and messages over it.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cli/err.h"
#include "cli/units.h"
#include "doctor/doctor.h"
#include "peer/auth.h"

#define DEPTH 4
#define SMALL 56
/* Several packets at the largest MTU. */
#define LARGE 16384
#define PINGS 3
/* Bytes that the headers of RDMA and of the layers below it take in a packet. */
#define HEADERS 96

static void refused(struct doctor *d, struct finding *f)
{
	finding_fail(f, "no server listens on port %s of %s", d->to.port, d->to.host);
	if (strcmp(d->to.port, WIRE_DEFAULT_PORT))
		finding_mend(f, "kverbs serve --port %s", d->to.port);
	else
		finding_mend(f, "kverbs serve");
	f->there = true;
}

static void silent(struct doctor *d, struct finding *f)
{
	const char *what = "RDMA";

	finding_fail(f, "%s does not answer within %g s", d->to.host, d->to.timeout_ms / 1e3);
	if (d->on && d->on->transport == KVERBS_TRANSPORT_ROCE)
		what = "UDP port 4791";
	if (d->on && d->on->transport == KVERBS_TRANSPORT_IWARP)
		what = "the server's TCP port";
	finding_advise(f, "Is it up, with its address on an RDMA device whose port is ACTIVE? ");
	finding_advise(f, "Do firewalls, including its own, let %s pass? ", what);
	if (d->on && d->on->software)
		finding_advise(f, "A software device may have to be created anew on either host. ");
	finding_advise(f, "To check it there, as root:");
	finding_mend(f, "kverbs doctor");
	f->there = true;
}

static void no_way(struct doctor *d, struct finding *f, int err)
{
	finding_fail(f, "connecting to %s failed: %s (%s)", d->to.host, strerror(-err),
		     err_name(err));
	if (err == -EHOSTUNREACH || err == -ENETUNREACH)
		finding_mend(f, "ip neigh show to %s", d->peer_text);
}

static void failed(struct doctor *d, struct finding *f, int err)
{
	if (d->s.refusal || err == -EPROTO)
		finding_ok(f, "port %s of %s answers", d->to.port, d->to.host);
	else if (err == -ECONNREFUSED)
		refused(d, f);
	else if (err == -ETIMEDOUT)
		silent(d, f);
	else
		no_way(d, f, err);
}

void doctor_server(struct doctor *d, struct finding *f)
{
	struct wire_hello hello = {
		.version = WIRE_VERSION,
		.what = WIRE_SERVICE_ECHO,
		.msg_max = WIRE_HEAD_LEN + LARGE,
		.depth = DEPTH,
	};
	struct session_to to = d->to;

	to.host = d->peer_text;
	if (d->key)
		auth_hello(&hello);
	d->connect_err = session_connect(&d->s, d->kv, &to, &hello);
	d->connected = !d->connect_err;
	if (d->connected)
		finding_ok(f, "%s accepts a connection", d->s.peer);
	else
		failed(d, f, d->connect_err);
}

void doctor_protocol(struct doctor *d, struct finding *f)
{
	unsigned int version = d->s.welcome.version;

	if (version == WIRE_VERSION && d->s.refusal != WIRE_REFUSED_VERSION) {
		finding_ok(f, "version %u, the same as this command", version);
	} else if (!version) {
		finding_fail(f, "the program on port %s is not a kverbs server", d->to.port);
		finding_advise(f, "Give the server's port with --port.");
	} else {
		finding_fail(f, "the server has protocol version %u, this command %u", version,
			     WIRE_VERSION);
		finding_advise(f, "Install the same kverbs on both hosts, ");
		finding_advise(f, "and restart the server.");
	}
}

static void want_key(struct doctor *d, struct finding *f)
{
	finding_advise(f, "Get a copy of its key file, and run:");
	finding_mend(f, "kverbs doctor --key FILE %s", d->to.host);
}

static void not_let_in(struct doctor *d, struct finding *f)
{
	finding_fail(f, "the server refuses: %s", wire_refusal_name(d->s.refusal));
	switch (d->s.refusal) {
	case WIRE_REFUSED_ADDRESS:
		finding_mend(f, "kverbs serve --allow %s", d->route.source);
		f->there = true;
		break;
	case WIRE_REFUSED_KEY:
		want_key(d, f);
		break;
	default:
		finding_advise(f, "Try again later, or raise the server's limits: its options ");
		finding_advise(f, "--max-clients, --peer-clients and so on.");
		break;
	}
}

void doctor_access(struct doctor *d, struct finding *f)
{
	int ret = 0;

	if (!d->connected) {
		not_let_in(d, f);
		return;
	}
	if (d->key)
		ret = auth_connect(&d->s, d->key);
	if (!ret) {
		finding_ok(f, d->key ? "the server has the same key, and accepts this host" :
			   "the server accepts this host");
	} else if (ret == -EKEYREJECTED) {
		finding_fail(f, "the server has another key");
		want_key(d, f);
	} else if (ret == -EREMCHG) {
		finding_fail(f, "the server sees other addresses of the connection");
		finding_advise(f, "Another host or a translation of addresses is in between.");
	} else if (ret == -EOPNOTSUPP) {
		finding_fail(f, "the key does not permit ping, which this check uses");
		finding_advise(f, "Allow the service in the server's key file.");
	} else {
		finding_fail(f, "the server does not prove that it has the key (%s)",
			     err_name(ret));
		finding_advise(f, "It may have been started without one.");
	}
}

static int echo(struct doctor *d, const uint8_t *payload, size_t size, unsigned int nr)
{
	struct wire_msg msg = {
		.type = WIRE_ECHO,
		.id = nr,
		.offset = nr,
		.window = WIRE_NO_WINDOW,
		.tail = payload,
		.tail_len = size,
	};
	struct wire_msg answer;
	int ret;

	ret = session_send(&d->s, &msg);
	if (!ret)
		ret = session_recv(&d->s, &answer, d->to.timeout_ms);
	if (ret)
		return ret;
	if (answer.type != WIRE_ECHO || answer.tail_len != size ||
	    memcmp(answer.tail, payload, size))
		return -EBADMSG;
	return 0;
}

static void fill(uint8_t *payload, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		payload[i] = i * 7 + (i >> 8) * 13;
}

void doctor_ping(struct doctor *d, struct finding *f)
{
	uint8_t payload[SMALL];
	double start = units_now();
	unsigned int i;
	int ret = 0;

	fill(payload, sizeof(payload));
	for (i = 0; i < PINGS && !ret; i++)
		ret = echo(d, payload, sizeof(payload), i + 1);
	if (!ret) {
		finding_ok(f, "%u of %u messages came back unchanged, %.3f ms each", PINGS,
			   PINGS, (units_now() - start) / PINGS * 1e3);
		return;
	}
	finding_fail(f, "a message did not come back: %s (%s)", strerror(-ret), err_name(ret));
	finding_advise(f, ret == -EBADMSG ?
		       "The data differs: memory, a device or its driver corrupts it." :
		       "The connection was established, so the network is fine: see the server's log.");
}

/* The bytes of a packet on the wire, for ping(8): without IP and ICMP headers. */
static void too_large(struct doctor *d, struct finding *f, unsigned int mtu, int err)
{
	finding_fail(f, "%d bytes come back, %d do not (%s): packets of %u get lost", SMALL,
		     LARGE, err_name(err), mtu);
	finding_advise(f, "All interfaces and switches between must carry them with %d more of ",
		       HEADERS);
	finding_advise(f, "headers. To check, and to use smaller packets with a smaller MTU:");
	finding_mend(f, "ping -M do -c 3 -s %u %s", mtu + HEADERS - 28, d->peer_text);
	if (mtu > 1024 && d->on && d->on->transport == KVERBS_TRANSPORT_ROCE)
		finding_mend(f, "ip link set dev %s mtu 1500", d->route.dev);
}

void doctor_path_mtu(struct doctor *d, struct finding *f)
{
	struct kverbs_cmd_conn_query query = { };
	uint8_t payload[LARGE];
	int ret;

	fill(payload, sizeof(payload));
	kverbs_conn_query(d->s.conn, &query, sizeof(query));
	ret = echo(d, payload, sizeof(payload), PINGS + 1);
	if (ret)
		too_large(d, f, query.out_mtu, ret);
	else
		finding_ok(f, "%d bytes come back too, in packets of %u", LARGE, query.out_mtu);
}
