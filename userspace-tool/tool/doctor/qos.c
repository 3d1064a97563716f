// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: the class of service that RoCE packets have, and what adapters do for it:
 * priority flow control (PFC), and notification of congestion (ECN).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "doctor/doctor.h"
#include "doctor/host.h"

#define CONFIGFS "/sys/kernel/config/rdma_cm"
#define PRIORITIES 8
#define DSCPS 64
/* Bits of the ToS byte below the DSCP: 1 and 2: ECN is possible, 3: there was congestion. */
#define ECN_MASK 3

/* The connection manager's default, 0 if it was never set. */
static unsigned int tos_of(const struct doctor *d, const struct rdma_port *port)
{
	char text[16];

	doctor_read(d->root, text, sizeof(text), CONFIGFS "/%s/ports/%u/default_roce_tos",
		    port->device, port->port);
	return strtoul(text, NULL, 0) & 0xff;
}

static void mend_tos(struct finding *f, const struct rdma_port *port, unsigned int tos)
{
	finding_mend(f, "echo %u >" CONFIGFS "/%s/ports/%u/default_roce_tos", tos, port->device,
		     port->port);
}

/* DSCPs that guides of RoCE recommend, and that are unlikely as a ToS. */
static bool is_likely_dscp(unsigned int tos)
{
	return tos == 24 || tos == 26 || tos == 34 || tos == 46;
}

static void judge_tos(const struct doctor *d, struct finding *f, const struct rdma_port *port)
{
	unsigned int tos = tos_of(d, port);

	if ((tos & ECN_MASK) == ECN_MASK) {
		finding_fail(f, "ToS %u of %s port %u tells receivers that there is congestion",
			     tos, port->device, port->port);
		finding_advise(f, "They make the sender slow down. Without the ECN bits:");
		mend_tos(f, port, tos & ~ECN_MASK);
	} else if (is_likely_dscp(tos)) {
		finding_warn(f, "ToS %u of %s port %u is DSCP %u", tos, port->device,
			     port->port, tos >> 2);
		finding_advise(f, "ToS is the whole byte. If DSCP %u was meant:", tos);
		mend_tos(f, port, tos << 2);
	} else if (f->verdict == FINDING_SKIP) {
		finding_ok(f, "%s port %u sends with ToS %u, DSCP %u", port->device, port->port,
			   tos, tos >> 2);
	}
}

void doctor_tos(struct doctor *d, struct finding *f)
{
	const struct rdma_port *port;

	finding_skip(f, "no port has RoCE");
	for (port = d->rdma.port; port < d->rdma.port + d->rdma.nr; port++)
		if (port->transport == KVERBS_TRANSPORT_ROCE && f->verdict < FINDING_WARN)
			judge_tos(d, f, port);
}

/**
 * struct qos - what an interface's driver tells
 * @pfc: priorities with PFC, as bits
 * @priority: of each DSCP, -1: not set
 */
struct qos {
	unsigned int pfc;
	int priority[DSCPS];
};

/* A member of what "dcb -j OBJECT show dev NETDEV" answers; NULL: the driver does not tell. */
static struct json_object *ask_dcb(const char *object, const char *netdev, const char *key,
				   struct json_object **answer)
{
	const char *const argv[] = { "dcb", "-j", object, "show", "dev", netdev, NULL };
	struct json_object *o, *value = NULL;
	char said[256];

	if (doctor_ask(argv, answer, said, sizeof(said)))
		return NULL;
	o = *answer;
	if (json_object_is_type(o, json_type_array))
		o = json_object_array_get_idx(o, 0);
	json_object_object_get_ex(o, key, &value);
	return json_object_is_type(value, json_type_array) ? value : NULL;
}

static bool read_pfc(const char *netdev, struct qos *qos)
{
	struct json_object *answer, *list = ask_dcb("pfc", netdev, "prio_pfc", &answer);
	size_t i;

	for (i = 0; list && i < json_object_array_length(list) && i < PRIORITIES; i++)
		if (json_object_get_boolean(json_object_array_get_idx(list, i)))
			qos->pfc |= 1u << i;
	json_object_put(answer);
	return list;
}

/* Pairs of a DSCP and its priority. */
static void read_priorities(const char *netdev, struct qos *qos)
{
	struct json_object *answer, *list = ask_dcb("app", netdev, "dscp_prio", &answer);
	struct json_object *pair;
	size_t i;
	int dscp;

	for (i = 0; i < DSCPS; i++)
		qos->priority[i] = -1;
	for (i = 0; list && i < json_object_array_length(list); i++) {
		pair = json_object_array_get_idx(list, i);
		if (!json_object_is_type(pair, json_type_array) ||
		    json_object_array_length(pair) != 2)
			continue;
		dscp = json_object_get_int(json_object_array_get_idx(pair, 0));
		if (dscp >= 0 && dscp < DSCPS)
			qos->priority[dscp] =
				json_object_get_int(json_object_array_get_idx(pair, 1));
	}
	json_object_put(answer);
}

static void list_priorities(unsigned int bits, char *text, size_t room)
{
	size_t at = 0;
	unsigned int i;

	*text = '\0';
	for (i = 0; i < PRIORITIES; i++)
		if (bits & 1u << i)
			at += snprintf(text + at, room - at, "%s%u", at ? ", " : "", i);
}

/* The first DSCP whose priority has PFC, or -1. */
static int protected_dscp(const struct qos *qos)
{
	int i;

	for (i = 0; i < DSCPS; i++)
		if (qos->priority[i] >= 0 && qos->priority[i] < PRIORITIES &&
		    qos->pfc & 1u << qos->priority[i])
			return i;
	return -1;
}

/* PFC is for others than RoCE: an adapter maps a DSCP without a priority of its own to 0. */
static void unprotected(const struct doctor *d, struct finding *f, const struct rdma_port *port,
			const char *netdev, const struct qos *qos)
{
	unsigned int dscp = tos_of(d, port) >> 2;
	int other = protected_dscp(qos);
	char list[32];

	list_priorities(qos->pfc, list, sizeof(list));
	finding_warn(f, "PFC of %s is for priority %s, but RoCE is sent with DSCP %u, priority %d",
		     netdev, list, dscp, qos->priority[dscp] < 0 ? 0 : qos->priority[dscp]);
	finding_advise(f, "Congestion may drop its packets. ");
	if (other >= 0) {
		finding_advise(f, "DSCP %d has priority %d:", other, qos->priority[other]);
		if (!doctor_exists(d->root, CONFIGFS "/%s", port->device))
			finding_mend(f, "mkdir " CONFIGFS "/%s", port->device);
		mend_tos(f, port, other << 2);
	} else {
		finding_advise(f, "To give the DSCP that priority, as on switches and peers:");
		finding_mend(f, "dcb app add dev %s dscp-prio %u:%d", netdev, dscp,
			     __builtin_ctz(qos->pfc));
	}
}

/* Whether NVIDIA's driver has a switch for each priority, and it is off. */
static bool ecn_is_off(const struct doctor *d, const char *netdev, const char *side,
		       unsigned int priority)
{
	char text[8];

	return !doctor_read(d->root, text, sizeof(text), "/sys/class/net/%s/ecn/%s/enable/%u",
			    netdev, side, priority) && !strcmp(text, "0");
}

/* The notification point tells of congestion, and the reaction point slows down. */
static void judge_ecn(const struct doctor *d, struct finding *f, const char *netdev,
		      unsigned int priority)
{
	static const char * const sides[] = { "roce_np", "roce_rp" };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sides); i++) {
		if (!ecn_is_off(d, netdev, sides[i], priority))
			continue;
		if (f->verdict != FINDING_WARN) {
			finding_warn(f, "ECN is off for priority %u of %s, which RoCE uses",
				     priority, netdev);
			finding_advise(f, "Senders do not slow down before PFC stops them:");
		}
		finding_mend(f, "echo 1 >/sys/class/net/%s/ecn/%s/enable/%u", netdev, sides[i],
			     priority);
	}
}

static void judge_pfc(const struct doctor *d, struct finding *f, const struct rdma_port *port,
		      const char *netdev)
{
	struct qos qos = { };
	char list[32];
	int priority;

	if (!read_pfc(netdev, &qos))
		return;
	read_priorities(netdev, &qos);
	priority = qos.priority[tos_of(d, port) >> 2];
	priority = priority < 0 || priority >= PRIORITIES ? 0 : priority;
	if (qos.pfc && !(qos.pfc & 1u << priority)) {
		unprotected(d, f, port, netdev, &qos);
		return;
	}
	list_priorities(qos.pfc, list, sizeof(list));
	if (qos.pfc)
		finding_ok(f, "RoCE has priority %d of %s; PFC is on for %s", priority, netdev,
			   list);
	else
		finding_ok(f, "PFC is off on %s; RoCE has priority %d", netdev, priority);
	judge_ecn(d, f, netdev, priority);
}

/* Software devices have the queues of their interface, and no flow control. */
void doctor_pfc(struct doctor *d, struct finding *f)
{
	const struct rdma_port *port;
	unsigned int i, adapters = 0;

	for (port = d->rdma.port; port < d->rdma.port + d->rdma.nr; port++) {
		if (port->transport != KVERBS_TRANSPORT_ROCE || port->software)
			continue;
		adapters++;
		for (i = 0; i < port->nr && f->verdict < FINDING_WARN; i++)
			judge_pfc(d, f, port, port->netdev[i]);
	}
	if (f->verdict == FINDING_SKIP)
		finding_skip(f, adapters ? "dcb of iproute2 does not tell" :
			     "no adapter has RoCE");
}
