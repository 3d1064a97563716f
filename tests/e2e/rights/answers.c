// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A command writes exactly the documented fields of its answer, and no other byte. */
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "cmds.h"
#include "bytes.h"
#include "proc.h"

/**
 * struct span - a range of a command's struct
 * @from: first byte
 * @size: number of bytes
 */
struct span {
	size_t from;
	size_t size;
};

/**
 * struct answer - fields that a command writes
 * @number: the command
 * @out: fields that are only written
 * @both: fields that are read and written
 */
struct answer {
	unsigned long number;
	struct span out[2];
	struct span both[2];
};

#define FIELDS(_struct, _first, _size) {				\
		.from = offsetof(struct kverbs_cmd_##_struct, _first),	\
		.size = _size,						\
	}

#define U32(_struct, _field)	FIELDS(_struct, _field, sizeof(uint32_t))

/* All bytes from a field to the end. */
#define REST(_struct, _first)						\
	FIELDS(_struct, _first, sizeof(struct kverbs_cmd_##_struct))

static const struct answer answers[] = {
	{ .number = KVERBS_INFO,
	  .out = { FIELDS(info, out_abi, 2 * sizeof(uint32_t)), REST(info, out_features) },
	  .both = { U32(info, inout_ops_len) } },
	{ .number = KVERBS_DEVICE_QUERY, .out = { REST(device_query, out_index) },
	  .both = { U32(device_query, inout_ports_len), U32(device_query, inout_gids_len) } },
	{ .number = KVERBS_RING_CREATE,
	  .out = { U32(ring_create, out_id),
		   FIELDS(ring_create, out_sq_offset, 7 * sizeof(uint64_t) + sizeof(int32_t)) } },
	{ .number = KVERBS_SUBMIT, .out = { U32(submit, out_taken),
		   FIELDS(submit, out_ready, sizeof(uint32_t) + sizeof(int32_t)) } },
	{ .number = KVERBS_REGION_CREATE,
	  .out = { U32(region_create, out_id), REST(region_create, out_length) } },
	{ .number = KVERBS_LISTEN, .out = { U32(listen, out_id) },
	  .both = { FIELDS(listen, inout_addr, sizeof(struct kverbs_addr)) } },
	{ .number = KVERBS_CONNECT, .out = { U32(connect, out_id) } },
	{ .number = KVERBS_ACCEPT },
	{ .number = KVERBS_REJECT },
	{ .number = KVERBS_DISCONNECT },
	{ .number = KVERBS_CONN_QUERY, .out = { REST(conn_query, out_state) },
	  .both = { U32(conn_query, inout_priv_len) } },
	{ .number = KVERBS_EXPORT, .out = { U32(export, out_id) },
	  .both = { U32(export, inout_segs_len) } },
	{ .number = KVERBS_DESTROY },
	{ .number = KVERBS_BENCH, .out = { REST(bench, out_ops) },
	  .both = { U32(bench, hist_len) } },
	{ .number = KVERBS_GROUP_CREATE, .out = { U32(group_create, out_id) } },
	{ .number = KVERBS_POOL_CREATE,
	  .out = { U32(pool_create, out_id), REST(pool_create, out_user_offset) } },
	{ .number = KVERBS_REGION_EXPORT_FD, .out = { U32(region_export_fd, out_fd) } },
};

static struct pair pair;
static struct buf exported;
static struct kverbs_segment segs[4];
static unsigned char priv[256];

static void set_up(void)
{
	pair_open(&pair);
	buf_open(&exported, pair.fd, BUF_ANON, PAGE);
}

static uint32_t request(void)
{
	dev_connect(&pair.ring, &pair.addr);
	return ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
}

static void fill_export(struct kverbs_cmd_export *cmd)
{
	cmd->conn_id = pair.server;
	cmd->region_id = exported.region;
	cmd->length = PAGE;
	cmd->inout_segs_len = ARRAY_SIZE(segs);
	cmd->segs_uptr = (uintptr_t)segs;
}

/* WRITEs to the peer's export. */
static void fill_bench(struct kverbs_cmd_bench *cmd)
{
	static struct kverbs_segment there;
	uint32_t nr = 1;

	dev_export(pair.fd, pair.server, exported.region, 0, PAGE, KVERBS_REMOTE_WRITE, &there,
		   &nr);
	cmd->conn_id = pair.client;
	cmd->region_id = exported.region;
	cmd->length = PAGE;
	cmd->segs_uptr = (uintptr_t)&there;
}

/* Set up arguments so that the command succeeds each time. */
static void prepare(const struct command *command, union any_cmd *cmd)
{
	uint32_t client;

	command_fill(command, &pair.ring, cmd);
	switch (command->number) {
	case KVERBS_ACCEPT:
		cmd->accept.conn_id = request();
		break;
	case KVERBS_REJECT:
		cmd->reject.conn_id = request();
		break;
	case KVERBS_DISCONNECT:
		pair_join(&pair, &client, &cmd->disconnect.conn_id);
		break;
	case KVERBS_REGION_EXPORT_FD:
		cmd->region_export_fd.region_id = exported.region;
		break;
	case KVERBS_CONN_QUERY:
		cmd->conn_query.conn_id = pair.server;
		cmd->conn_query.priv_uptr = (uintptr_t)priv;
		cmd->conn_query.inout_priv_len = sizeof(priv);
		break;
	case KVERBS_EXPORT:
		fill_export(&cmd->export);
		break;
	case KVERBS_DESTROY:
		cmd->destroy.id = dev_region(pair.fd, exported.addr, 1, 0);
		break;
	case KVERBS_BENCH:
		fill_bench(&cmd->bench);
		break;
	}
}

/* Make the command fail, with a missing device or object or an unknown flag. */
static void spoil(const struct command *command, union any_cmd *cmd)
{
	const uint32_t unknown = 0x40000000;

	if (command->number == KVERBS_DEVICE_QUERY)
		cmd->device_query.index = 10000;
	else if (command->number == KVERBS_DESTROY)
		cmd->destroy.id = 0x7ffffff0;
	else if (command->number == KVERBS_REJECT)
		cmd->reject.flags = unknown;
	else
		memcpy(&cmd->bytes[sizeof(cmd->size)], &unknown, sizeof(unknown));
}

static bool within(const struct span spans[2], size_t at)
{
	return (at >= spans[0].from && at - spans[0].from < spans[0].size) ||
	       (at >= spans[1].from && at - spans[1].from < spans[1].size);
}

static bool is_out(const struct answer *answer, size_t at)
{
	return at < command_by_number(answer->number)->size && within(answer->out, at);
}

static bool is_both(const struct answer *answer, size_t at)
{
	return within(answer->both, at);
}

/* Fill the output fields, and all memory behind the struct, with stale bytes. */
static void fill_stale(const struct answer *answer, union any_cmd *cmd, unsigned char stale)
{
	size_t size = command_by_number(answer->number)->size, i;

	for (i = 0; i < sizeof(*cmd); i++)
		if (i >= size || is_out(answer, i))
			cmd->bytes[i] = stale;
}

/* @before is set to the struct before the command, @after to the struct after it. */
static void run_on_stale(const struct answer *answer, unsigned char stale,
			 union any_cmd *before, union any_cmd *after)
{
	prepare(command_by_number(answer->number), after);
	fill_stale(answer, after, stale);
	*before = *after;
	CHECK_OK(dev_cmd(pair.fd, answer->number, after));
}

static void check_rest_unchanged(const struct answer *answer, const union any_cmd *before,
				 const union any_cmd *after)
{
	size_t i;

	for (i = 0; i < sizeof(*after); i++)
		if (!is_out(answer, i) && !is_both(answer, i) &&
		    after->bytes[i] != before->bytes[i])
			FAIL("byte %zu was %#x and is %#x", i, before->bytes[i],
			     after->bytes[i]);
}

/* A GUID may look like a kernel address. */
static void check_tells_no_address(const struct answer *answer, const union any_cmd *cmd)
{
	static union any_cmd copy;

	copy = *cmd;
	if (answer->number == KVERBS_DEVICE_QUERY) {
		memset(copy.device_query.out_node_guid, 0, 8);
		memset(copy.device_query.out_sys_image_guid, 0, 8);
	}
	check_no_address(&copy, command_by_number(answer->number)->size, "the answer");
}

/* Run it with two fill patterns: a byte that keeps both of them was not written. */
static void all_and_nothing_else(const void *arg)
{
	static union any_cmd before, first, second;
	const struct answer *answer = arg;
	size_t i;

	set_up();
	run_on_stale(answer, STALE, &before, &first);
	check_rest_unchanged(answer, &before, &first);
	check_tells_no_address(answer, &first);
	run_on_stale(answer, (unsigned char)~STALE, &before, &second);
	check_rest_unchanged(answer, &before, &second);
	for (i = 0; i < sizeof(first); i++)
		if (is_out(answer, i) && first.bytes[i] == STALE &&
		    second.bytes[i] == (unsigned char)~STALE)
			FAIL("byte %zu was not written", i);
}

static void nothing_on_failure(const void *arg)
{
	static union any_cmd before, after;
	const struct answer *answer = arg;
	const struct command *command = command_by_number(answer->number);
	int ret;

	set_up();
	memset(segs, STALE, sizeof(segs));
	memset(priv, STALE, sizeof(priv));
	prepare(command, &after);
	fill_stale(answer, &after, STALE);
	spoil(command, &after);
	before = after;
	ret = dev_cmd(pair.fd, command->number, &after);
	CHECK(ret == -EINVAL || ret == -ENODEV || ret == -ENOENT);
	check_same(&after, &before, sizeof(after), "the struct");
	check_all(segs, sizeof(segs), STALE, "the segments");
	check_all(priv, sizeof(priv), STALE, "the private data");
}

/* Fields that the kernel does not know must be zero, and stay zero. */
static void longer_struct(const void *arg)
{
	static union any_cmd cmd;
	const struct answer *answer = arg;
	const struct command *command = command_by_number(answer->number);

	set_up();
	prepare(command, &cmd);
	cmd.size = sizeof(cmd);
	CHECK_OK(dev_cmd(pair.fd, command->number, &cmd));
	CHECK_EQ(cmd.size, sizeof(cmd));
	check_all(&cmd.bytes[command->size], sizeof(cmd) - command->size, 0, "the rest");
}

TEST_GROUP(answer_rules)
{
	static const struct {
		const char *rule;
		test_fn run;
	} rules[] = {
		{ "writes its whole answer and nothing else", all_and_nothing_else },
		{ "writes nothing if it fails", nothing_on_failure },
		{ "writes nothing beyond the fields that it knows", longer_struct },
	};
	char name[128];
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(answers); i++)
		for (j = 0; j < ARRAY_SIZE(rules); j++) {
			snprintf(name, sizeof(name), "%s %s",
				 command_by_number(answers[i].number)->name, rules[j].rule);
			test_add(name, rules[j].run, &answers[i]);
		}
}
