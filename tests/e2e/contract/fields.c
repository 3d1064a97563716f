// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Fields that must be zero, and values out of bounds: one test for each. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cmds.h"

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

	BAD(DEVICE_QUERY, device_query, index, U32, 0xffffffff, ENODEV),
	BAD(DEVICE_QUERY, device_query, index, U32, 10000, ENODEV),
	BAD(DEVICE_QUERY, device_query, ports_len, U32, 0, EMSGSIZE),
	BAD(DEVICE_QUERY, device_query, gids_len, U32, 0, EMSGSIZE),
	BAD(DEVICE_QUERY, device_query, ports_uptr, U64, 8, EFAULT),
	BAD(DEVICE_QUERY, device_query, gids_uptr, U64, 8, EFAULT),
	BAD(DEVICE_QUERY, device_query, ports_uptr, U64, UINT64_MAX, EFAULT),

	BAD(RING_CREATE, ring_create, flags, U32, 8, EINVAL),
	BAD(RING_CREATE, ring_create, flags, U32, KVERBS_RING_BUSY_POLL | KVERBS_RING_EVENTFD,
	    EINVAL),
	BAD(RING_CREATE, ring_create, flags, U32, KVERBS_RING_BUSY_POLL | KVERBS_RING_SOFTIRQ,
	    EINVAL),
	BAD(RING_CREATE, ring_create, flags, U32, 0x80000000, EINVAL),
	BAD(RING_CREATE, ring_create, event_fd, U32, 1, EINVAL),
	BAD(RING_CREATE, ring_create, sq_entries, U32, 0, EINVAL),
	BAD(RING_CREATE, ring_create, sq_entries, U32, 3, EINVAL),
	BAD(RING_CREATE, ring_create, sq_entries, U32, 0x80000000, EINVAL),
	BAD(RING_CREATE, ring_create, sq_entries, U32, 0xffffffff, EINVAL),
	BAD(RING_CREATE, ring_create, cq_entries, U32, 0, EINVAL),
	BAD(RING_CREATE, ring_create, cq_entries, U32, 6, EINVAL),
	BAD(RING_CREATE, ring_create, cq_entries, U32, 0x80000000, EINVAL),
	BAD(RING_CREATE, ring_create, cq_entries, U32, 0xffffffff, EINVAL),

	BAD(SUBMIT, submit, flags, U32, KVERBS_SUBMIT_WATCH, EINVAL),
	BAD(SUBMIT, submit, flags, U32, 2, EINVAL),
	BAD(SUBMIT, submit, flags, U32, 0x80000000, EINVAL),
	BAD(SUBMIT, submit, ring_id, U32, 0, ENOENT),
	BAD(SUBMIT, submit, ring_id, U32, 0xffffffff, ENOENT),
	BAD(SUBMIT, submit, min_complete, U32, 0xffffffff, EINVAL),
	BAD(SUBMIT, submit, min_complete, U32, 33, EINVAL),
	BAD(SUBMIT, submit, watch_uptr, U64, 1, EINVAL),
	BAD(SUBMIT, submit, watch_old, U32, 1, EINVAL),
	BAD(SUBMIT, submit, __reserved, U32, 1, EINVAL),

	BAD(REGION_CREATE, region_create, flags, U32, 2, EINVAL),
	BAD(REGION_CREATE, region_create, flags, U32, 0x80000000, EINVAL),
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
	BAD(LISTEN, listen, addr.family, U16, 0, EINVAL),
	BAD(LISTEN, listen, addr.family, U16, AF_UNIX, EINVAL),
	BAD(LISTEN, listen, addr.family, U16, 0xffff, EINVAL),
	BAD(LISTEN, listen, addr.scope_id, U32, 1, EINVAL),
	BAD(LISTEN, listen, addr.addr[4], U8, 1, EINVAL),
	BAD(LISTEN, listen, addr.addr[15], U8, 1, EINVAL),
	BAD(LISTEN, listen, addr.addr[0], U8, 198, EADDRNOTAVAIL),

	BAD(CONNECT, connect, flags, U32, 1, EINVAL),
	BAD(CONNECT, connect, flags, U32, 0x80000000, EINVAL),
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
	BAD(CONNECT, connect, param.valid, U32, 0x20, EINVAL),
	BAD(CONNECT, connect, param.valid, U32, 0x80000000, EINVAL),
	BAD(CONNECT, connect, param.keepalive_ms, U16, 9, EINVAL),
	BAD(CONNECT, connect, param.sq_depth, U32, 0xffffffff, EINVAL),
	BAD(CONNECT, connect, param.rq_depth, U32, 0xffffffff, EINVAL),
	BAD(CONNECT, connect, param.retry, U8, 1, EINVAL),
	BAD(CONNECT, connect, param.rnr_retry, U8, 1, EINVAL),
	BAD(CONNECT, connect, param.rnr_timer, U8, 1, EINVAL),
	BAD(CONNECT, connect, param.ack_timeout, U8, 1, EINVAL),
	BAD(CONNECT, connect, param.tos, U8, 1, EINVAL),
	BAD(CONNECT, connect, priv_len, U32, KVERBS_PRIV_CONNECT_MAX + 1, EINVAL),
	BAD(CONNECT, connect, priv_len, U32, 0xffffffff, EINVAL),
	BAD(CONNECT, connect, priv_len, U32, KVERBS_PRIV_CONNECT_MAX, EFAULT),

	BAD(ACCEPT, accept, flags, U32, 1, EINVAL),
	BAD(ACCEPT, accept, flags, U32, 0x80000000, EINVAL),
	BAD(ACCEPT, accept, conn_id, U32, 0, ENOENT),
	BAD(ACCEPT, accept, param.valid, U32, 0x20, EINVAL),
	BAD(ACCEPT, accept, param.valid, U32, KVERBS_PARAM_TOS, EINVAL),
	BAD(ACCEPT, accept, param.keepalive_ms, U16, 9, EINVAL),
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

	BAD(EXPORT, export, flags, U32, 1, EINVAL),
	BAD(EXPORT, export, flags, U32, 0x80000000, EINVAL),
	BAD(EXPORT, export, __reserved, U32, 1, EINVAL),
	BAD(EXPORT, export, access, U32, 0, EINVAL),
	BAD(EXPORT, export, access, U32, 8, EINVAL),
	BAD(EXPORT, export, access, U32, 0x80000000, EINVAL),
	BAD(EXPORT, export, conn_id, U32, 0, ENOENT),

	BAD(DESTROY, destroy, id, U32, 0, ENOENT),
	BAD(DESTROY, destroy, id, U32, 0xffffffff, ENOENT),
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
	const struct command *command = command_by_number(KVERBS_CONNECT);
	const struct bound *bound = arg;
	static struct ring ring;
	int fd = dev_open();

	ring_open(&ring, fd, 8, 32);
	command_fill(command, &ring, &cmd);
	cmd.connect.param.valid = bound->bit;
	((uint8_t *)&cmd.connect.param)[bound->offset] = bound->max + 1;
	CHECK_ERR(dev_cmd(fd, KVERBS_CONNECT, &cmd), EINVAL);
	((uint8_t *)&cmd.connect.param)[bound->offset] = bound->max;
	CHECK_OK(dev_cmd(fd, KVERBS_CONNECT, &cmd));
}

TEST_GROUP(param_rules)
{
	char name[96];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bounds); i++) {
		snprintf(name, sizeof(name), "CONNECT: param.%s is at most %u",
			 bounds[i].name, bounds[i].max);
		test_add_light(name, bounded, &bounds[i]);
	}
}
