/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* kverbs doctor: what would stop RDMA here, each with what mends it. */
#ifndef KVERBS_TOOL_DOCTOR_H
#define KVERBS_TOOL_DOCTOR_H

#include <sys/socket.h>

#include "doctor/finding.h"
#include "doctor/net.h"
#include "doctor/rdma.h"
#include "doctor/storage.h"
#include "peer/keyring.h"
#include "peer/session.h"

/* Checks in the order in which they are made; a later one may need earlier ones. */
enum doctor_id {
	DOCTOR_MODULE,
	DOCTOR_NODE,
	DOCTOR_VERSION,
	DOCTOR_DEVICE,
	DOCTOR_PORT,
	DOCTOR_ADDRESS,
	DOCTOR_MTU,
	DOCTOR_ROCE,
	DOCTOR_TOS,
	DOCTOR_PFC,
	DOCTOR_IPOIB,
	DOCTOR_SM,
	DOCTOR_MEMLOCK,
	DOCTOR_NAME,
	DOCTOR_ROUTE,
	DOCTOR_SOURCE,
	DOCTOR_GID,
	DOCTOR_FIREWALL,
	DOCTOR_SERVER,
	DOCTOR_PROTOCOL,
	DOCTOR_ACCESS,
	DOCTOR_PING,
	DOCTOR_PATH_MTU,
	DOCTOR_CHECKS,
};

/**
 * struct doctor_unusable - a device that kverbs cannot use
 * @name: of the device
 * @reason: enum kverbs_unusable
 */
struct doctor_unusable {
	char name[64];
	uint32_t reason;
};

/**
 * struct doctor - one run
 * @job_size: bytes that a job registers for each connection, 0: no job was given
 * @job_connections: connections of the job
 * @root: the files looked at are below that, "" but in tests
 * @to: the peer; its host is NULL if none was given
 * @keys: what @key is one of
 * @key: to prove, or NULL
 * @net: interfaces of this host
 * @rdma: ports of its RDMA devices, except those that the module cannot use
 * @kv: the module, if it could be opened
 * @kv_err: -errno of that
 * @nr_devices: that the module can use
 * @unusable: devices that the module cannot use
 * @nr_unusable: how many
 * @peer: the peer's address
 * @peer_text: the same, as text
 * @route: the way there
 * @on: the RDMA port that the way leaves by
 * @s: the connection
 * @connected: it is up
 * @connect_err: -errno of the attempt
 * @cause: for each check the one that failed first, itself or one that it needs;
 *	DOCTOR_CHECKS if none did
 * @finding: of each check
 * @storage: the protocol of --for, or NULL
 * @storage_name: its name, as given
 * @storage_cause: why no connection to its server was made, enum kverbs_cause
 * @storage_finding: of each check for it
 */
struct doctor {
	uint64_t job_size;
	uint64_t job_connections;
	const char *root;
	struct session_to to;
	struct keyring *keys;
	const struct key *key;
	struct net net;
	struct rdma rdma;
	struct kverbs *kv;
	int kv_err;
	int nr_devices;
	struct doctor_unusable unusable[RDMA_PORTS];
	unsigned int nr_unusable;
	struct sockaddr_storage peer;
	char peer_text[NET_ADDR_LEN + 16];
	struct net_route route;
	const struct rdma_port *on;
	struct session s;
	bool connected;
	int connect_err;
	enum doctor_id cause[DOCTOR_CHECKS];
	struct finding finding[DOCTOR_CHECKS];
	const struct storage *storage;
	const char *storage_name;
	unsigned int storage_cause;
	struct finding storage_finding[STORAGE_CHECKS];
};

void doctor_module(struct doctor *d, struct finding *f);
void doctor_node(struct doctor *d, struct finding *f);
void doctor_version(struct doctor *d, struct finding *f);
void doctor_device(struct doctor *d, struct finding *f);
void doctor_port(struct doctor *d, struct finding *f);
void doctor_mtu(struct doctor *d, struct finding *f);
void doctor_roce(struct doctor *d, struct finding *f);
void doctor_tos(struct doctor *d, struct finding *f);
void doctor_pfc(struct doctor *d, struct finding *f);
void doctor_ipoib(struct doctor *d, struct finding *f);
void doctor_sm(struct doctor *d, struct finding *f);
/* A command that gives an interface a software device. */
void doctor_mend_with_rxe(const struct doctor *d, struct finding *f, const char *netdev);
void doctor_memlock(struct doctor *d, struct finding *f);
/* Print how to set the limit of locked memory that the job needs. */
void doctor_job(const struct doctor *d);
void doctor_address(struct doctor *d, struct finding *f);
void doctor_name(struct doctor *d, struct finding *f);
void doctor_route(struct doctor *d, struct finding *f);
void doctor_source(struct doctor *d, struct finding *f);
void doctor_gid(struct doctor *d, struct finding *f);
void doctor_firewall(struct doctor *d, struct finding *f);
void doctor_server(struct doctor *d, struct finding *f);
void doctor_protocol(struct doctor *d, struct finding *f);
void doctor_access(struct doctor *d, struct finding *f);
void doctor_ping(struct doctor *d, struct finding *f);
void doctor_path_mtu(struct doctor *d, struct finding *f);

const char *doctor_check_name(enum doctor_id id);

/* Look at everything, and say each finding; returns the exit status. */
int doctor_examine(struct doctor *d);

#endif /* KVERBS_TOOL_DOCTOR_H */
