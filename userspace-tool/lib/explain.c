// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Why a connection or an operation may have failed. Each fact votes for causes with a weight; the
 * heaviest ones are told. A fact that leaves no other explanation weighs CERTAIN.
 */
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "conn.h"
#include "counters.h"
#include "internal.h"
#include "sys.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define CAUSES (KVERBS_CAUSE_CLOSED + 1)

#define CERTAIN 100
#define LIKELY 20
#define POSSIBLE 10
#define UNLIKELY 4

#define PORT_ACTIVE 4
/* Path MTU that passes wherever packets of 1500 bytes do */
#define ETHERNET_MTU 1024
#define NO_DEVICE 0xffffffffu

/* enum ib_wc_status */
#define WC_LOC_LEN_ERR 1
#define WC_LOC_PROT_ERR 4
#define WC_LOC_ACCESS_ERR 8
#define WC_REM_INV_REQ_ERR 9
#define WC_REM_ACCESS_ERR 10
#define WC_REM_OP_ERR 11
#define WC_RETRY_EXC_ERR 12
#define WC_RNR_RETRY_EXC_ERR 13
#define WC_RESP_TIMEOUT_ERR 20

/* enum ib_cm_rej_reason */
#define REJ_NO_QP 1
#define REJ_NO_RESOURCES 3
#define REJ_TIMEOUT 4
#define REJ_INVALID_SERVICE_ID 8
#define REJ_INVALID_GID 12
#define REJ_INVALID_MTU 26
#define REJ_INSUFFICIENT_RESP_RESOURCES 27
#define REJ_CONSUMER_DEFINED 28

/* A port's partition, without its bit for full membership */
#define PKEY_BASE 0x7fffu
#define PKEY_FULL 0x8000u

/* Whether the port is in the partitions of this host's IPoIB interfaces */
enum partition {
	PARTITION_FITS,
	PARTITION_LIMITED,
	PARTITION_MISSING,
};

/**
 * struct facts - what is known of a failure
 * @why: the explanation to be filled in
 * @query: the connection's state; all zero if it is not known
 * @reject_reason: of the CM, 0: none
 * @partition: whether the port is in the partition of IPoIB interfaces
 * @memlock: RLIMIT_MEMLOCK, bytes
 * @weight: of each cause
 */
struct facts {
	struct kverbs_explanation *why;
	struct kverbs_cmd_conn_query query;
	uint32_t reject_reason;
	enum partition partition;
	uint64_t memlock;
	unsigned int weight[CAUSES];
};

static const struct {
	const char *name;
	const char *text;
	const char *remedy;
} causes[CAUSES] = {
	[KVERBS_CAUSE_NONE] = {
		"none", "no cause is known", "See the log of the kernel: dmesg" },
	[KVERBS_CAUSE_NO_LISTENER] = {
		"no-listener", "no program listens on that port",
		"Start the program there, or name its port" },
	[KVERBS_CAUSE_REFUSED] = {
		"refused", "the program there refused the connection",
		"See the log of the program there" },
	[KVERBS_CAUSE_VERSION] = {
		"version", "the program there has another protocol or version",
		"Install the same version on both hosts, or name another port" },
	[KVERBS_CAUSE_NO_DEVICE] = {
		"no-device", "the route there uses no RDMA device",
		"Compare: kverbs dev; ip route get ADDRESS" },
	[KVERBS_CAUSE_ROUTE] = {
		"route", "there is no route, or no host has that address",
		"Check: ip route get ADDRESS; ip neigh show to ADDRESS" },
	[KVERBS_CAUSE_LINK] = {
		"link", "the port of this host's device is not ACTIVE",
		"Check: rdma link; ip link; and on InfiniBand the subnet manager" },
	[KVERBS_CAUSE_FIREWALL] = {
		"firewall", "a firewall drops the packets",
		"Open UDP port 4791 (RoCE) or the server's TCP port (iWARP) on both hosts" },
	[KVERBS_CAUSE_PEER_DOWN] = {
		"peer-down", "the host, the program or the device there is gone",
		"Run there: kverbs doctor" },
	[KVERBS_CAUSE_GID_TYPE] = {
		"gid-type", "the two hosts use different versions of RoCE",
		"Choose RoCE v2 on both: kverbs doctor shows how" },
	[KVERBS_CAUSE_PKEY] = {
		"pkey", "the partitions (P_Key) of the two hosts do not match",
		"Compare on both hosts: /sys/class/infiniband/DEVICE/ports/PORT/pkeys/*" },
	[KVERBS_CAUSE_MTU] = {
		"mtu", "packets of the path's MTU do not pass",
		"Check: ping -M do -s SIZE ADDRESS, and use the same MTU on all of the path" },
	[KVERBS_CAUSE_LOSS] = {
		"loss", "the network loses packets",
		"Check counters of switches, flow control (PFC, ECN) and cables" },
	[KVERBS_CAUSE_CONGESTION] = {
		"congestion", "the network is congested",
		"Check PFC and ECN of switches and of both hosts" },
	[KVERBS_CAUSE_NO_RECEIVE] = {
		"no-receive", "the peer has posted no receive for the message",
		"Let the peer post receives before messages come, or wait for its credit" },
	[KVERBS_CAUSE_SLOW] = {
		"slow", "the program there does not answer",
		"Check whether it runs, or wait longer" },
	[KVERBS_CAUSE_LENGTH] = {
		"length", "a message is longer than its receive, or than the device permits",
		"Send shorter messages, or post longer receives" },
	[KVERBS_CAUSE_ACCESS] = {
		"access", "the memory is not exported for that, or its key is revoked",
		"Compare the operation with the access, the range and the life of the export" },
	[KVERBS_CAUSE_MEMLOCK] = {
		"memlock", "the limit of locked memory is too small",
		"Raise it: ulimit -l, LimitMEMLOCK= of a service; see kverbs doctor" },
	[KVERBS_CAUSE_RESOURCES] = {
		"resources", "a device or a cgroup has no resources left",
		"Check: rdma resource; rdma.max of the cgroup; the log of the kernel" },
	[KVERBS_CAUSE_CLOSED] = {
		"closed", "the program there ended the connection",
		"See the log of the program there" },
};

static unsigned int known_cause(unsigned int cause)
{
	return cause < NR(causes) ? cause : KVERBS_CAUSE_NONE;
}

const char *kverbs_cause_name(unsigned int cause)
{
	return causes[known_cause(cause)].name;
}

const char *kverbs_cause_str(unsigned int cause)
{
	return causes[known_cause(cause)].text;
}

const char *kverbs_cause_remedy(unsigned int cause)
{
	return causes[known_cause(cause)].remedy;
}

/* ---- gathering ---------------------------------------------------------- */

static const struct kverbs_port *find_port(const struct kverbs_device *dev, unsigned int port)
{
	unsigned int i;

	for (i = 0; i < dev->nr_ports; i++)
		if (dev->ports[i].port == port)
			return &dev->ports[i];
	return NULL;
}

/* The device of the connection; without one, the only device. */
static const struct kverbs_device *find_device(const struct facts *f,
					       const struct kverbs_device *list, int nr)
{
	int i;

	for (i = 0; f->query.out_port && i < nr; i++)
		if (list[i].attr->out_index == f->query.out_device_index)
			return &list[i];
	return nr == 1 ? list : NULL;
}

/* A GID that stands for an address: itself, or the end of an IPv4-mapped one */
static bool stands_for(const struct kverbs_gid *gid, const struct kverbs_addr *addr)
{
	static const uint8_t mapped[12] = { [10] = 0xff, [11] = 0xff };

	if (addr->family == AF_INET)
		return !memcmp(gid->gid, mapped, sizeof(mapped)) &&
		       !memcmp(gid->gid + 12, addr->addr, 4);
	return addr->family == AF_INET6 && !memcmp(gid->gid, addr->addr, 16);
}

/* The type that an administrator has set for the CM, or KVERBS_GID_UNKNOWN */
static unsigned int type_set(const char *device, unsigned int port)
{
	char mode[32];

	if (kverbs_sysfs_read(mode, sizeof(mode),
			      "/sys/kernel/config/rdma_cm/%s/ports/%u/default_roce_mode",
			      device, port))
		return KVERBS_GID_UNKNOWN;
	return strstr(mode, "v1") ? KVERBS_GID_ROCE_V1 : KVERBS_GID_ROCE_V2;
}

static bool has_gid(const struct facts *f, const struct kverbs_device *dev, unsigned int type)
{
	unsigned int i;

	for (i = 0; i < dev->nr_gids; i++)
		if (dev->gids[i].port == f->why->port && dev->gids[i].type == type &&
		    stands_for(&dev->gids[i], &f->query.out_local))
			return true;
	return false;
}

/* The CM uses RoCE v2 of its own accord where the address has a GID for it. */
static unsigned int type_of_gid(const struct facts *f, const struct kverbs_device *dev)
{
	unsigned int type = type_set(f->why->device, f->why->port);

	if (type == KVERBS_GID_UNKNOWN && has_gid(f, dev, KVERBS_GID_ROCE_V2))
		return KVERBS_GID_ROCE_V2;
	if (type == KVERBS_GID_UNKNOWN && has_gid(f, dev, KVERBS_GID_ROCE_V1))
		return KVERBS_GID_ROCE_V1;
	return type;
}

/* The CM resolves a path of one type only, so the peer of a connection that was up has it too. */
static void learn_gid_types(struct facts *f, const struct kverbs_device *dev)
{
	struct kverbs_explanation *why = f->why;

	why->gid_type = why->transport == KVERBS_TRANSPORT_ROCE ? type_of_gid(f, dev) :
			KVERBS_GID_IB;
	if (why->was_up || why->transport != KVERBS_TRANSPORT_ROCE)
		why->peer_gid_type = why->gid_type;
}

/* How the port is in a partition: 0: not at all, PKEY_FULL: as a full member, else limited */
static unsigned int membership(const struct facts *f, unsigned int pkey)
{
	unsigned int i, one, best = 0;
	char text[16];

	for (i = 0; !kverbs_sysfs_read(text, sizeof(text),
				       "/sys/class/infiniband/%s/ports/%u/pkeys/%u",
				       f->why->device, f->why->port, i); i++) {
		one = strtoul(text, NULL, 16);
		if ((one & PKEY_BASE) == (pkey & PKEY_BASE))
			best |= (one & PKEY_FULL) | 1;
	}
	return best & PKEY_FULL ? PKEY_FULL : best;
}

/* Interfaces of IPoIB, which addresses on InfiniBand belong to, have a partition. */
static void learn_partition(struct facts *f)
{
	DIR *dir = kverbs_sys_opendir("/sys/class/net");
	const struct dirent *entry;
	unsigned int has;
	char text[16];

	while (dir && (entry = readdir(dir))) {
		if (entry->d_name[0] == '.' ||
		    kverbs_sysfs_read(text, sizeof(text), "/sys/class/net/%s/pkey",
				      entry->d_name))
			continue;
		has = membership(f, strtoul(text, NULL, 16));
		if (!has)
			f->partition = PARTITION_MISSING;
		else if (has != PKEY_FULL && f->partition == PARTITION_FITS)
			f->partition = PARTITION_LIMITED;
	}
	if (dir)
		closedir(dir);
}

static void learn_port(struct facts *f, const struct kverbs_device *dev)
{
	struct kverbs_explanation *why = f->why;
	const struct kverbs_port *port;

	memcpy(why->device, dev->attr->out_name, sizeof(why->device));
	why->device[sizeof(why->device) - 1] = '\0';
	port = find_port(dev, f->query.out_port);
	if (!port && dev->nr_ports == 1)
		port = dev->ports;
	if (!port)
		return;
	why->port = port->port;
	why->port_state = port->state;
	if (!why->transport)
		why->transport = port->transport;
	if (!why->mtu)
		why->mtu = port->active_mtu;
	learn_gid_types(f, dev);
	if (why->transport == KVERBS_TRANSPORT_IB)
		learn_partition(f);
}

static int learn_device(struct facts *f, struct kverbs *kv)
{
	const struct kverbs_device *dev;
	struct kverbs_device *list;
	int nr;

	nr = kverbs_device_list(kv, &list);
	if (nr < 0)
		return nr;
	dev = find_device(f, list, nr);
	if (dev)
		learn_port(f, dev);
	kverbs_device_list_free(list, nr);
	return 0;
}

static void learn_conn(struct facts *f, struct kverbs_conn *conn)
{
	struct kverbs_explanation *why = f->why;

	if (kverbs_conn_query(conn, &f->query, sizeof(f->query)))
		memset(&f->query, 0, sizeof(f->query));
	why->transport = f->query.out_transport;
	why->mtu = f->query.out_mtu;
	if (f->query.out_device_index == NO_DEVICE)
		f->query.out_port = 0;
	pthread_mutex_lock(&conn->kv->lock);
	why->was_up = conn->established;
	f->reject_reason = conn->reject_reason;
	if (!why->error)
		why->error = conn->error;
	if (!why->wc_status)
		why->wc_status = conn->failed_status;
	pthread_mutex_unlock(&conn->kv->lock);
}

/* ---- weighing ------------------------------------------------------------- */

static void vote(struct facts *f, enum kverbs_cause cause, unsigned int weight)
{
	f->weight[cause] += weight;
}

static bool has_counted(const struct facts *f, enum kverbs_counter_kind kind)
{
	return f->why->total[kind];
}

/* The device has sent packets, and has received none. */
static bool is_unanswered(const struct facts *f)
{
	return has_counted(f, KVERBS_COUNTER_SENT) &&
	       f->why->counted & 1u << KVERBS_COUNTER_RECEIVED &&
	       !has_counted(f, KVERBS_COUNTER_RECEIVED);
}

/* A message of several packets has passed, so a packet of the full size has. */
static bool large_packets_passed(const struct facts *f)
{
	uint64_t bytes = f->query.out_bytes_out + f->query.out_bytes_in;

	return f->why->mtu && bytes > f->query.out_ops * f->why->mtu;
}

/* Firewalls see the packets of Ethernet, at least those between the hosts. */
static bool may_meet_firewalls(const struct facts *f)
{
	return f->why->transport != KVERBS_TRANSPORT_IB;
}

static void weigh_port(struct facts *f)
{
	if (f->why->port_state && f->why->port_state != PORT_ACTIVE)
		vote(f, KVERBS_CAUSE_LINK, CERTAIN);
	else if (has_counted(f, KVERBS_COUNTER_LINK))
		vote(f, KVERBS_CAUSE_LINK, LIKELY);
}

/* The network lost or delayed packets, whatever failed. */
static void weigh_network(struct facts *f)
{
	if (has_counted(f, KVERBS_COUNTER_OUT_OF_SEQUENCE) ||
	    has_counted(f, KVERBS_COUNTER_DISCARD))
		vote(f, KVERBS_CAUSE_LOSS, LIKELY);
	if (has_counted(f, KVERBS_COUNTER_CNP))
		vote(f, KVERBS_CAUSE_CONGESTION, LIKELY);
}

static void weigh_partition(struct facts *f)
{
	if (f->why->transport != KVERBS_TRANSPORT_IB)
		return;
	if (f->partition == PARTITION_MISSING)
		vote(f, KVERBS_CAUSE_PKEY, CERTAIN);
	else
		vote(f, KVERBS_CAUSE_PKEY, f->partition == PARTITION_LIMITED ? LIKELY : UNLIKELY);
}

/* The peer did not answer a request for a connection. */
static void weigh_no_answer(struct facts *f)
{
	weigh_port(f);
	weigh_network(f);
	weigh_partition(f);
	vote(f, KVERBS_CAUSE_PEER_DOWN, POSSIBLE);
	if (may_meet_firewalls(f))
		vote(f, KVERBS_CAUSE_FIREWALL, POSSIBLE + 1);
	if (f->why->gid_type == KVERBS_GID_ROCE_V1)
		vote(f, KVERBS_CAUSE_GID_TYPE, 2 * LIKELY);
	else if (f->why->transport == KVERBS_TRANSPORT_ROCE)
		vote(f, KVERBS_CAUSE_GID_TYPE, UNLIKELY);
	if (is_unanswered(f)) {
		vote(f, KVERBS_CAUSE_FIREWALL, may_meet_firewalls(f) ? POSSIBLE : 0);
		vote(f, KVERBS_CAUSE_PEER_DOWN, POSSIBLE);
	} else if (has_counted(f, KVERBS_COUNTER_RECEIVED)) {
		vote(f, KVERBS_CAUSE_SLOW, POSSIBLE);
		vote(f, KVERBS_CAUSE_LOSS, UNLIKELY);
	}
}

static void weigh_refusal(struct facts *f)
{
	switch (f->reject_reason) {
	case REJ_INVALID_SERVICE_ID:
		vote(f, KVERBS_CAUSE_NO_LISTENER, CERTAIN);
		break;
	case REJ_CONSUMER_DEFINED:
		vote(f, KVERBS_CAUSE_REFUSED, CERTAIN);
		vote(f, KVERBS_CAUSE_VERSION, UNLIKELY);
		break;
	case REJ_NO_QP:
	case REJ_NO_RESOURCES:
	case REJ_INSUFFICIENT_RESP_RESOURCES:
		vote(f, KVERBS_CAUSE_RESOURCES, CERTAIN);
		break;
	case REJ_INVALID_GID:
		vote(f, KVERBS_CAUSE_GID_TYPE, CERTAIN);
		break;
	case REJ_INVALID_MTU:
		vote(f, KVERBS_CAUSE_MTU, CERTAIN);
		break;
	case REJ_TIMEOUT:
		vote(f, KVERBS_CAUSE_SLOW, LIKELY);
		break;
	default:
		vote(f, KVERBS_CAUSE_NO_LISTENER, LIKELY);
		break;
	}
	vote(f, KVERBS_CAUSE_NO_LISTENER, UNLIKELY);
	vote(f, KVERBS_CAUSE_REFUSED, UNLIKELY);
}

/* Packets of an established connection are not acknowledged. */
static void weigh_no_ack(struct facts *f)
{
	weigh_port(f);
	weigh_network(f);
	if (has_counted(f, KVERBS_COUNTER_RNR_NAK))
		vote(f, KVERBS_CAUSE_NO_RECEIVE, 3 * LIKELY);
	vote(f, KVERBS_CAUSE_PEER_DOWN, POSSIBLE);
	vote(f, KVERBS_CAUSE_LOSS, UNLIKELY);
	/* Smaller packets behind those that do not pass arrive out of sequence. */
	if (f->why->transport != KVERBS_TRANSPORT_IWARP && !large_packets_passed(f))
		vote(f, KVERBS_CAUSE_MTU, f->why->mtu > ETHERNET_MTU ? 2 * LIKELY : UNLIKELY);
	if (is_unanswered(f)) {
		vote(f, KVERBS_CAUSE_PEER_DOWN, POSSIBLE);
		vote(f, KVERBS_CAUSE_FIREWALL, may_meet_firewalls(f) ? POSSIBLE : 0);
	}
}

/* The connection is up, and an answer of the program there is missing. */
static void weigh_silence(struct facts *f)
{
	weigh_no_ack(f);
	vote(f, KVERBS_CAUSE_SLOW, POSSIBLE);
}

static void weigh_status(struct facts *f)
{
	switch (f->why->wc_status) {
	case WC_RNR_RETRY_EXC_ERR:
		vote(f, KVERBS_CAUSE_NO_RECEIVE, CERTAIN);
		vote(f, KVERBS_CAUSE_SLOW, POSSIBLE);
		break;
	case WC_RETRY_EXC_ERR:
	case WC_RESP_TIMEOUT_ERR:
		weigh_no_ack(f);
		break;
	case WC_REM_ACCESS_ERR:
	case WC_LOC_PROT_ERR:
	case WC_LOC_ACCESS_ERR:
		vote(f, KVERBS_CAUSE_ACCESS, CERTAIN);
		break;
	case WC_LOC_LEN_ERR:
		vote(f, KVERBS_CAUSE_LENGTH, CERTAIN);
		break;
	case WC_REM_INV_REQ_ERR:
		vote(f, KVERBS_CAUSE_LENGTH, CERTAIN);
		vote(f, KVERBS_CAUSE_ACCESS, POSSIBLE);
		break;
	case WC_REM_OP_ERR:
		vote(f, KVERBS_CAUSE_LENGTH, POSSIBLE);
		vote(f, KVERBS_CAUSE_RESOURCES, POSSIBLE);
		vote(f, KVERBS_CAUSE_ACCESS, UNLIKELY);
		break;
	default:
		break;
	}
}

static void weigh_memory(struct facts *f)
{
	if (f->memlock != UINT64_MAX)
		vote(f, KVERBS_CAUSE_MEMLOCK, LIKELY);
	vote(f, KVERBS_CAUSE_RESOURCES, POSSIBLE);
}

static void weigh_no_way(struct facts *f)
{
	weigh_port(f);
	weigh_partition(f);
	vote(f, KVERBS_CAUSE_ROUTE, LIKELY);
	vote(f, KVERBS_CAUSE_PEER_DOWN, POSSIBLE);
	vote(f, KVERBS_CAUSE_NO_DEVICE, UNLIKELY);
}

static void weigh_error(struct facts *f)
{
	switch (f->why->error) {
	case -ECONNREFUSED:
		weigh_refusal(f);
		break;
	case -ETIMEDOUT:
		if (!f->why->was_up)
			weigh_no_answer(f);
		else if (!f->why->wc_status)
			weigh_silence(f);
		break;
	case -EHOSTUNREACH:
	case -ENETUNREACH:
		weigh_no_way(f);
		break;
	case -ENODEV:
	case -EADDRNOTAVAIL:
		weigh_port(f);
		vote(f, KVERBS_CAUSE_NO_DEVICE, LIKELY);
		vote(f, KVERBS_CAUSE_ROUTE, UNLIKELY);
		break;
	case -ECONNRESET:
		weigh_port(f);
		vote(f, KVERBS_CAUSE_CLOSED, LIKELY);
		vote(f, KVERBS_CAUSE_PEER_DOWN, POSSIBLE);
		break;
	case -EPROTO:
	case -EBADMSG:
		vote(f, KVERBS_CAUSE_VERSION, CERTAIN);
		break;
	case -EPERM:
	case -ENOMEM:
		weigh_memory(f);
		break;
	case -EDQUOT:
		vote(f, KVERBS_CAUSE_RESOURCES, CERTAIN);
		break;
	case -EMSGSIZE:
		vote(f, KVERBS_CAUSE_LENGTH, CERTAIN);
		break;
	case 0:
		weigh_port(f);
		weigh_network(f);
		if (has_counted(f, KVERBS_COUNTER_RNR_NAK))
			vote(f, KVERBS_CAUSE_NO_RECEIVE, LIKELY);
		break;
	default:
		break;
	}
}

/* The heaviest ones; of two that weigh the same, the one with the smaller number. */
static void rank(struct facts *f)
{
	struct kverbs_explanation *why = f->why;
	unsigned int cause, best;

	while (why->nr_causes < KVERBS_EXPLAIN_CAUSES) {
		best = 0;
		for (cause = 1; cause < CAUSES; cause++)
			if (f->weight[cause] > f->weight[best])
				best = cause;
		if (!best)
			break;
		why->causes[why->nr_causes++] = best;
		f->weight[best] = 0;
	}
}

int kverbs_conn_explain(struct kverbs *kv, const struct kverbs_failure *failure,
			struct kverbs_explanation *answer, size_t sz)
{
	struct kverbs_explanation why = {
		.gid_type = KVERBS_GID_UNKNOWN,
		.peer_gid_type = KVERBS_GID_UNKNOWN,
	};
	struct facts f = { .why = &why, .memlock = kverbs_sys_memlock() };
	struct kverbs_failure what;
	int ret;

	ret = kverbs_opts_copy(&what, sizeof(what), failure);
	if (ret)
		return ret;
	if (what.conn && what.conn->kv->root != kv->root)
		return -EINVAL;
	if (kverbs_is_child(kv))
		return -ECHILD;
	why.error = what.error;
	why.wc_status = what.wc_status;
	if (what.conn)
		learn_conn(&f, what.conn);
	ret = learn_device(&f, kv);
	if (!ret && why.port)
		ret = kverbs_counters_compare(what.before, why.device, why.port, &why);
	if (ret)
		return ret;
	weigh_status(&f);
	weigh_error(&f);
	rank(&f);
	kverbs_answer(answer, sz, &why, sizeof(why));
	return 0;
}
