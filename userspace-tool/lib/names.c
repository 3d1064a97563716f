// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Names of numbers.
 */
#include <kverbs.h>

#define NR(array) (sizeof(array) / sizeof((array)[0]))

/* enum ib_wc_status, which is the same number for number in rdma-core */
static const char * const wc_status[] = {
	"success",
	"local length error",
	"local QP operation error",
	"local EE context operation error",
	"local protection error",
	"flushed",
	"memory window bind error",
	"bad response error",
	"local access error",
	"remote invalid request error",
	"remote access error",
	"remote operation error",
	"transport retry counter exceeded",
	"RNR retry counter exceeded",
	"local RDD violation error",
	"remote invalid RD request",
	"remote aborted error",
	"invalid EE context number",
	"invalid EE context state",
	"fatal error",
	"response timeout error",
	"general error",
};

static const char * const conn_state[] = {
	[KVERBS_CONN_CONNECTING] = "connecting",
	[KVERBS_CONN_REQUESTED] = "requested",
	[KVERBS_CONN_ACCEPTING] = "accepting",
	[KVERBS_CONN_ESTABLISHED] = "established",
	[KVERBS_CONN_CLOSING] = "closing",
	[KVERBS_CONN_DEAD] = "dead",
};

static const char * const transport_name[] = {
	[KVERBS_TRANSPORT_IB] = "InfiniBand",
	[KVERBS_TRANSPORT_ROCE] = "RoCE",
	[KVERBS_TRANSPORT_IWARP] = "iWARP",
};

static const char * const gid_type[] = {
	[KVERBS_GID_IB] = "InfiniBand",
	[KVERBS_GID_ROCE_V1] = "RoCE v1",
	[KVERBS_GID_ROCE_V2] = "RoCE v2",
};

static const char *name(const char * const *names, size_t nr, unsigned int value)
{
	return value < nr && names[value] ? names[value] : "unknown";
}

const char *kverbs_wc_status_str(unsigned int status)
{
	return name(wc_status, NR(wc_status), status);
}

const char *kverbs_conn_state_str(unsigned int state)
{
	return name(conn_state, NR(conn_state), state);
}

const char *kverbs_transport_str(unsigned int transport)
{
	return name(transport_name, NR(transport_name), transport);
}

const char *kverbs_gid_type_str(unsigned int type)
{
	return name(gid_type, NR(gid_type), type);
}

const char *kverbs_version(void)
{
	return KVERBS_LIB_VERSION;
}
