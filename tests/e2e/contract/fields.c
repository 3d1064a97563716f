// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Fields that must be zero, and values out of bounds: one test for each. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cmds.h"
#include "patience.h"

/**
 * struct bad_field - a field with an invalid value
 * @command: name of the command
 * @what: what is wrong, for the name of the test
 * @offset: offset of the field
 * @width: size of the field, bytes
 * @value: the invalid value
 * @err: expected error
 */
struct bad_field {
	unsigned long command;
	const char *what;
	size_t offset;
	size_t width;
	uint64_t value;
	int err;
};

#define U8	1
#define U16	2
#define U32	4
#define U64	8

#define BAD(_cmd, _struct, _field, _width, _value, _err) {		\
		.command = KVERBS_##_cmd,				\
		.what = #_field " " #_value " gives " #_err,		\
		.offset = offsetof(struct kverbs_cmd_##_struct, _field),\
		.width = _width,					\
		.value = _value,					\
		.err = _err,						\
	}

static const struct bad_field bad_fields[] = {
	BAD(INFO, info, flags, U32, 1, EINVAL),
	BAD(INFO, info, flags, U32, 0x80000000, EINVAL),
	BAD(INFO, info, ops_stride, U32, 1, EINVAL),
	BAD(INFO, info, ops_stride, U32, sizeof(struct kverbs_op_info) - 1, EINVAL),
	BAD(INFO, info, ops_stride, U32, 0xffffffff, E2BIG),
	BAD(INFO, info, inout_ops_len, U32, 1, EFAULT),

	BAD(DEVICE_QUERY, device_query, flags, U32, 1, EINVAL),
	BAD(DEVICE_QUERY, device_query, flags, U32, 0x80000000, EINVAL),
	BAD(DEVICE_QUERY, device_query, __reserved, U32, 1, EINVAL),
	BAD(DEVICE_QUERY, device_query, ports_stride, U32, 1, EINVAL),
	BAD(DEVICE_QUERY, device_query, ports_stride, U32, 0xffffffff, E2BIG),
	BAD(DEVICE_QUERY, device_query, gids_stride, U32, sizeof(struct kverbs_gid) - 1,
	    EINVAL),
	BAD(DEVICE_QUERY, device_query, gids_stride, U32, 0xffffffff, E2BIG),
	BAD(DEVICE_QUERY, device_query, index, U32, 0xffffffff, ENODEV),
	BAD(DEVICE_QUERY, device_query, index, U32, 10000, ENODEV),
	BAD(DEVICE_QUERY, device_query, inout_ports_len, U32, 0, EMSGSIZE),
	BAD(DEVICE_QUERY, device_query, inout_gids_len, U32, 0, EMSGSIZE),
	BAD(DEVICE_QUERY, device_query, ports_uptr, U64, 8, EFAULT),
	BAD(DEVICE_QUERY, device_query, gids_uptr, U64, 8, EFAULT),
	BAD(DEVICE_QUERY, device_query, ports_uptr, U64, UINT64_MAX, EFAULT),

	BAD(RING_CREATE, ring_create, flags, U32, 16, EINVAL),
	BAD(RING_CREATE, ring_create, flags, U32, KVERBS_RING_BUSY_POLL | KVERBS_RING_EVENTFD,
	    EINVAL),
	BAD(RING_CREATE, ring_create, flags, U32, KVERBS_RING_BUSY_POLL | KVERBS_RING_SOFTIRQ,
	    EINVAL),
	BAD(RING_CREATE, ring_create, flags, U32, 0x80000000, EINVAL),
	BAD(RING_CREATE, ring_create, event_fd, U32, 1, EINVAL),
	BAD(RING_CREATE, ring_create, __reserved, U32, 1, EINVAL),
	BAD(RING_CREATE, ring_create, sq_entries, U32, 0, EINVAL),
	BAD(RING_CREATE, ring_create, sq_entries, U32, 3, EINVAL),
	BAD(RING_CREATE, ring_create, sq_entries, U32, 0x80000000, EINVAL),
	BAD(RING_CREATE, ring_create, sq_entries, U32, 0xffffffff, EINVAL),
	BAD(RING_CREATE, ring_create, cq_entries, U32, 0, EINVAL),
	BAD(RING_CREATE, ring_create, cq_entries, U32, 6, EINVAL),
	BAD(RING_CREATE, ring_create, cq_entries, U32, 0x80000000, EINVAL),
	BAD(RING_CREATE, ring_create, cq_entries, U32, 0xffffffff, EINVAL),

	BAD(SUBMIT, submit, flags, U32, KVERBS_SUBMIT_WATCH, EINVAL),
	BAD(SUBMIT, submit, flags, U32, 4, EINVAL),
	BAD(SUBMIT, submit, flags, U32, 0x40000000, EINVAL),
	BAD(SUBMIT, submit, ring_id, U32, 0, ENOENT),
	BAD(SUBMIT, submit, ring_id, U32, 0xffffffff, ENOENT),
	BAD(SUBMIT, submit, min_complete, U32, 0xffffffff, EINVAL),
	BAD(SUBMIT, submit, min_complete, U32, 33, EINVAL),
	BAD(SUBMIT, submit, watch_uptr, U64, 1, EINVAL),
	BAD(SUBMIT, submit, watch_old, U32, 1, EINVAL),
	BAD(SUBMIT, submit, pool_id, U32, 1, ENOENT),
	BAD(SUBMIT, submit, pool_id, U32, 0xffffffff, ENOENT),

	BAD(REGION_CREATE, region_create, flags, U32, KVERBS_REGION_TRACK, ENOENT),
	BAD(REGION_CREATE, region_create, flags, U32, KVERBS_REGION_FD, EINVAL),
	BAD(REGION_CREATE, region_create, flags, U32, 16, EINVAL),
	BAD(REGION_CREATE, region_create, flags, U32, 0x80000000, EINVAL),
	BAD(REGION_CREATE, region_create, ring_id, U32, 1, EINVAL),
	BAD(REGION_CREATE, region_create, user_data, U64, 1, EINVAL),
	BAD(REGION_CREATE, region_create, fd, U32, 1, EINVAL),
	BAD(REGION_CREATE, region_create, fd, U32, 0xffffffff, EINVAL),
	BAD(REGION_CREATE, region_create, __reserved, U32, 1, EINVAL),
	BAD(REGION_CREATE, region_create, length, U64, 0, EINVAL),
	BAD(REGION_CREATE, region_create, length, U64, UINT64_MAX, EINVAL),
	BAD(REGION_CREATE, region_create, length, U64, 1ULL << 44, EINVAL),
	BAD(REGION_CREATE, region_create, length, U64, UINT64_MAX - 4096, EINVAL),
	BAD(REGION_CREATE, region_create, addr, U64, 0, EFAULT),
	BAD(REGION_CREATE, region_create, addr, U64, 0xffff888000000000, EFAULT),
	BAD(REGION_CREATE, region_create, addr, U64, UINT64_MAX, EINVAL),
	BAD(REGION_CREATE, region_create, addr, U64, UINT64_MAX - 4095, EINVAL),

	BAD(LISTEN, listen, flags, U32, 1, EINVAL),
	BAD(LISTEN, listen, flags, U32, 0x80000000, EINVAL),
	BAD(LISTEN, listen, __reserved, U32, 1, EINVAL),
	BAD(LISTEN, listen, ring_id, U32, 0, ENOENT),
	BAD(LISTEN, listen, ring_id, U32, 0xffffffff, ENOENT),
	BAD(LISTEN, listen, backlog, U32, 0xffffffff, EINVAL),
	BAD(LISTEN, listen, inout_addr.family, U16, 0, EINVAL),
	BAD(LISTEN, listen, inout_addr.family, U16, AF_UNIX, EINVAL),
	BAD(LISTEN, listen, inout_addr.family, U16, 0xffff, EINVAL),
	BAD(LISTEN, listen, inout_addr.scope_id, U32, 1, EINVAL),
	BAD(LISTEN, listen, inout_addr.addr[4], U8, 1, EINVAL),
	BAD(LISTEN, listen, inout_addr.addr[15], U8, 1, EINVAL),
	BAD(LISTEN, listen, inout_addr.addr[0], U8, 198, EADDRNOTAVAIL),
	BAD(LISTEN, listen, inout_addr.__reserved[0], U64, 1, EINVAL),
	BAD(LISTEN, listen, inout_addr.__reserved[2], U64, 1ULL << 63, EINVAL),

	BAD(GROUP_CREATE, group_create, flags, U32, 1, EINVAL),
	BAD(GROUP_CREATE, group_create, flags, U32, 0x80000000, EINVAL),
	BAD(GROUP_CREATE, group_create, device_index, U32, 10000, ENODEV),
	BAD(GROUP_CREATE, group_create, device_index, U32, 0xffffffff, ENODEV),

	BAD(CONNECT, connect, flags, U32, 1, EINVAL),
	BAD(CONNECT, connect, flags, U32, 0x40000000, EINVAL),
	BAD(CONNECT, connect, ring_id, U32, 0, ENOENT),
	BAD(CONNECT, connect, ring_id, U32, 0xffffffff, ENOENT),
	BAD(CONNECT, connect, dst.family, U16, 0, EINVAL),
	BAD(CONNECT, connect, dst.family, U16, 0xffff, EINVAL),
	BAD(CONNECT, connect, dst.scope_id, U32, 1, EINVAL),
	BAD(CONNECT, connect, dst.addr[15], U8, 1, EINVAL),
	BAD(CONNECT, connect, src.family, U16, AF_INET6, EINVAL),
	BAD(CONNECT, connect, src.family, U16, 0xffff, EINVAL),
	BAD(CONNECT, connect, src.port, U16, 1, EINVAL),
	BAD(CONNECT, connect, src.scope_id, U32, 1, EINVAL),
	BAD(CONNECT, connect, src.addr[0], U8, 1, EINVAL),
	BAD(CONNECT, connect, src.__reserved[1], U64, 1, EINVAL),
	BAD(CONNECT, connect, dst.__reserved[1], U64, 1, EINVAL),
	BAD(CONNECT, connect, timeout_ns, U64, MS_TO_NS(0x80000000), EINVAL),
	BAD(CONNECT, connect, timeout_ns, U64, UINT64_MAX, EINVAL),
	BAD(CONNECT, connect, param_uptr, U64, 8, EINVAL),
	BAD(CONNECT, connect, param_size, U32, 1, EINVAL),
	BAD(CONNECT, connect, param_size, U32, sizeof(struct kverbs_conn_param) - 1, EINVAL),
	BAD(CONNECT, connect, param_size, U32, sizeof(struct kverbs_conn_param), EFAULT),
	BAD(CONNECT, connect, param_size, U32, 0xffffffff, E2BIG),
	BAD(CONNECT, connect, pool_id, U32, 1, ENOENT),
	BAD(CONNECT, connect, pool_id, U32, 0xffffffff, ENOENT),
	BAD(CONNECT, connect, priv_len, U32, KVERBS_PRIV_CONNECT_MAX + 1, EINVAL),
	BAD(CONNECT, connect, priv_len, U32, 0xffffffff, EINVAL),
	BAD(CONNECT, connect, priv_len, U32, KVERBS_PRIV_CONNECT_MAX, EFAULT),
	BAD(CONNECT, connect, group_id, U32, 0xffffffff, ENOENT),

	BAD(ACCEPT, accept, flags, U32, 1, EINVAL),
	BAD(ACCEPT, accept, flags, U32, 0x40000000, EINVAL),
	BAD(ACCEPT, accept, conn_id, U32, 0, ENOENT),
	BAD(ACCEPT, accept, timeout_ns, U64, UINT64_MAX, EINVAL),
	BAD(ACCEPT, accept, param_size, U32, sizeof(struct kverbs_conn_param) - 1, EINVAL),
	BAD(ACCEPT, accept, param_size, U32, sizeof(struct kverbs_conn_param), EFAULT),
	BAD(ACCEPT, accept, param_size, U32, 0xffffffff, E2BIG),
	BAD(ACCEPT, accept, pool_id, U32, 0xffffffff, ENOENT),
	BAD(ACCEPT, accept, priv_len, U32, KVERBS_PRIV_ACCEPT_MAX + 1, EINVAL),
	BAD(ACCEPT, accept, priv_len, U32, KVERBS_PRIV_ACCEPT_MAX, EFAULT),

	BAD(REJECT, reject, flags, U32, 1, EINVAL),
	BAD(REJECT, reject, flags, U32, 0x80000000, EINVAL),
	BAD(REJECT, reject, conn_id, U32, 0, ENOENT),
	BAD(REJECT, reject, priv_len, U32, KVERBS_PRIV_REJECT_MAX + 1, EINVAL),
	BAD(REJECT, reject, priv_len, U32, KVERBS_PRIV_REJECT_MAX, EFAULT),

	BAD(DISCONNECT, disconnect, flags, U32, 1, EINVAL),
	BAD(DISCONNECT, disconnect, flags, U32, 0x80000000, EINVAL),
	BAD(DISCONNECT, disconnect, __reserved, U32, 1, EINVAL),
	BAD(DISCONNECT, disconnect, conn_id, U32, 0, ENOENT),

	BAD(CONN_QUERY, conn_query, flags, U32, 1, EINVAL),
	BAD(CONN_QUERY, conn_query, flags, U32, 0x80000000, EINVAL),
	BAD(CONN_QUERY, conn_query, conn_id, U32, 0, ENOENT),

	BAD(EXPORT, export, flags, U32, 2, EINVAL),
	BAD(EXPORT, export, flags, U32, 0x80000000, EINVAL),
	BAD(EXPORT, export, segs_stride, U32, 1, EINVAL),
	BAD(EXPORT, export, segs_stride, U32, sizeof(struct kverbs_segment) - 1, EINVAL),
	BAD(EXPORT, export, segs_stride, U32, 0xffffffff, E2BIG),
	BAD(EXPORT, export, access, U32, 0, EINVAL),
	BAD(EXPORT, export, access, U32, 8, EINVAL),
	BAD(EXPORT, export, access, U32, 0x80000000, EINVAL),
	BAD(EXPORT, export, conn_id, U32, 0, ENOENT),
	BAD(EXPORT, export, flags, U32, 0x40000001, EINVAL),

	BAD(DESTROY, destroy, flags, U32, 1, EINVAL),
	BAD(DESTROY, destroy, flags, U32, 0x80000000, EINVAL),
	BAD(DESTROY, destroy, __reserved, U32, 1, EINVAL),
	BAD(DESTROY, destroy, id, U32, 0, ENOENT),
	BAD(DESTROY, destroy, id, U32, 0xffffffff, ENOENT),

	BAD(POOL_CREATE, pool_create, flags, U32, 1, EINVAL),
	BAD(POOL_CREATE, pool_create, flags, U32, 0x80000000, EINVAL),
	BAD(POOL_CREATE, pool_create, entries, U32, 0, EINVAL),
	BAD(POOL_CREATE, pool_create, entries, U32, 3, EINVAL),
	BAD(POOL_CREATE, pool_create, entries, U32, 0x20000, EINVAL),
	BAD(POOL_CREATE, pool_create, entries, U32, 0x80000000, EINVAL),
	BAD(POOL_CREATE, pool_create, entries, U32, 0xffffffff, EINVAL),
	BAD(REGION_EXPORT_FD, region_export_fd, flags, U32, KVERBS_REGION_TRACK, EINVAL),
	BAD(REGION_EXPORT_FD, region_export_fd, flags, U32, KVERBS_REGION_FD, EINVAL),
	BAD(REGION_EXPORT_FD, region_export_fd, flags, U32, 0x80000000, EINVAL),
	BAD(REGION_EXPORT_FD, region_export_fd, region_id, U32, 0, ENOENT),
};

static union any_cmd cmd;

static void refused(const void *arg)
{
	const struct bad_field *bad = arg;
	const struct command *command = command_by_number(bad->command);
	static struct ring ring;
	int fd = dev_open();

	ring_open(&ring, fd, 8, 32);
	command_fill(command, &ring, &cmd);
	memcpy(&cmd.bytes[bad->offset], &bad->value, bad->width);
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), bad->err);
}

TEST_GROUP(field_rules)
{
	char name[160];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_fields); i++) {
		snprintf(name, sizeof(name), "%s: %s",
			 command_by_number(bad_fields[i].command)->name,
			 bad_fields[i].what);
		test_add_light(name, refused, &bad_fields[i]);
	}
}

/**
 * struct bad_param - an invalid connection parameter
 * @command: CONNECT or ACCEPT
 * @what: what is wrong, for the name of the test
 * @param: the parameters
 */
static const struct bad_param {
	unsigned long command;
	const char *what;
	struct kverbs_conn_param param;
} bad_params[] = {
#define BAD_PARAM(_cmd, _field, _value)					\
	{ KVERBS_##_cmd, "param." #_field " " #_value " gives EINVAL", { ._field = (_value) } }

	BAD_PARAM(CONNECT, valid, 0x20),
	BAD_PARAM(CONNECT, valid, 0x80000000),
	BAD_PARAM(CONNECT, keepalive_ns, 1),
	BAD_PARAM(CONNECT, keepalive_ns, MS_TO_NS(10) - 1),
	BAD_PARAM(CONNECT, keepalive_ns, MS_TO_NS(0x80000000)),
	BAD_PARAM(CONNECT, keepalive_ns, UINT64_MAX),
	BAD_PARAM(CONNECT, sq_depth, 0xffffffff),
	BAD_PARAM(CONNECT, rq_depth, 0xffffffff),
	BAD_PARAM(CONNECT, retry, 1),
	BAD_PARAM(CONNECT, rnr_retry, 1),
	BAD_PARAM(CONNECT, rnr_timer, 1),
	BAD_PARAM(CONNECT, ack_timeout, 1),
	BAD_PARAM(CONNECT, tos, 1),
	BAD_PARAM(CONNECT, __reserved[0], 1),
	BAD_PARAM(CONNECT, __reserved[1], 1),
	BAD_PARAM(ACCEPT, valid, 0x20),
	BAD_PARAM(ACCEPT, valid, KVERBS_PARAM_TOS),
	/* The CM ignores it there: the request carries it. */
	BAD_PARAM(ACCEPT, valid, KVERBS_PARAM_RETRY),
	BAD_PARAM(ACCEPT, keepalive_ns, MS_TO_NS(10) - 1),
	BAD_PARAM(ACCEPT, __reserved[1], 1),
};

static int run_with_param(unsigned long number, const void *param, uint32_t size)
{
	static struct ring ring;
	int fd = dev_open();

	ring_open(&ring, fd, 8, 32);
	command_fill(command_by_number(number), &ring, &cmd);
	if (number == KVERBS_CONNECT) {
		cmd.connect.param_uptr = (uintptr_t)param;
		cmd.connect.param_size = size;
	} else {
		cmd.accept.param_uptr = (uintptr_t)param;
		cmd.accept.param_size = size;
	}
	return dev_cmd(fd, number, &cmd);
}

static void param_refused(const void *arg)
{
	const struct bad_param *bad = arg;

	CHECK_ERR(run_with_param(bad->command, &bad->param, sizeof(bad->param)), EINVAL);
}

TEST(parameters_of_a_newer_header_are_accepted_if_the_rest_is_zero)
{
	struct kverbs_conn_param longer[2] = { { .sq_depth = 9 } };

	CHECK_OK(run_with_param(KVERBS_CONNECT, longer, sizeof(longer)));
	longer[1].tos = 1;
	CHECK_ERR(run_with_param(KVERBS_CONNECT, longer, sizeof(longer)), E2BIG);
}

/**
 * struct bound - a connection parameter and its maximum
 * @name: name of the parameter
 * @bit: its bit in @valid of struct kverbs_conn_param
 * @offset: offset of the field
 * @max: its maximum
 */
static const struct bound {
	const char *name;
	uint32_t bit;
	size_t offset;
	unsigned int max;
} bounds[] = {
	{ "retry", KVERBS_PARAM_RETRY, offsetof(struct kverbs_conn_param, retry), 7 },
	{ "rnr_retry", KVERBS_PARAM_RNR_RETRY,
	  offsetof(struct kverbs_conn_param, rnr_retry), 7 },
	{ "rnr_timer", KVERBS_PARAM_RNR_TIMER,
	  offsetof(struct kverbs_conn_param, rnr_timer), 31 },
	{ "ack_timeout", KVERBS_PARAM_ACK_TIMEOUT,
	  offsetof(struct kverbs_conn_param, ack_timeout), 31 },
};

static void bounded(const void *arg)
{
	const struct bound *bound = arg;
	struct kverbs_conn_param param = { .valid = bound->bit };

	((uint8_t *)&param)[bound->offset] = bound->max + 1;
	CHECK_ERR(run_with_param(KVERBS_CONNECT, &param, sizeof(param)), EINVAL);
	((uint8_t *)&param)[bound->offset] = bound->max;
	CHECK_OK(run_with_param(KVERBS_CONNECT, &param, sizeof(param)));
}

TEST_GROUP(param_rules)
{
	char name[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad_params); i++) {
		snprintf(name, sizeof(name), "%s: %s",
			 command_by_number(bad_params[i].command)->name, bad_params[i].what);
		test_add_light(name, param_refused, &bad_params[i]);
	}
	for (i = 0; i < ARRAY_SIZE(bounds); i++) {
		snprintf(name, sizeof(name), "CONNECT: param.%s is at most %u",
			 bounds[i].name, bounds[i].max);
		test_add_light(name, bounded, &bounds[i]);
	}
}
