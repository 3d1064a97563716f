// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* INFO and DEVICE_QUERY: what the module and the devices support. */
#include <linux/nsproxy.h>
#include <linux/slab.h>

#include "array.h"
#include "conn_cmd.h"
#include "device.h"
#include "device_query.h"
#include "file.h"
#include "info.h"
#include "listen_cmd.h"
#include "opcode.h"
#include "pool_obj.h"
#include "queue.h"
#include "ring.h"
#include "version.h"

#ifdef CONFIG_MMU_NOTIFIER
#define FEATURE_TRACK	KVERBS_FEATURE_TRACK
#else
#define FEATURE_TRACK	0
#endif
#ifdef CONFIG_DMA_SHARED_BUFFER
#define FEATURE_DMABUF	KVERBS_FEATURE_DMABUF
#else
#define FEATURE_DMABUF	0
#endif
#define FEATURES	(KVERBS_FEATURE_BENCH | KVERBS_FEATURE_GROUP | KVERBS_FEATURE_IOVA | \
			 KVERBS_FEATURE_POOL | FEATURE_TRACK | KVERBS_FEATURE_REGION_FD | \
			 KVERBS_FEATURE_RING_FD | KVERBS_FEATURE_WAKE | FEATURE_DMABUF)

/* How the flags of the table of opcodes appear to user space. */
static const struct {
	u16 opf;
	u16 info;
	u32 caps;
} op_facts[] = {
	{ KVERBS_OPF_REMOTE, KVERBS_OP_INFO_REMOTE },
	{ KVERBS_OPF_WRITES, KVERBS_OP_INFO_STORES },
	{ KVERBS_OPF_TAKES_RECV, KVERBS_OP_INFO_CONSUMES },
	{ KVERBS_OPF_IMM, KVERBS_OP_INFO_NO_IWARP },
	{ KVERBS_OPF_ATOMIC, KVERBS_OP_INFO_NO_IWARP, KVERBS_CAP_ATOMIC },
};

static void fill_op_info(u32 opcode, const struct kverbs_opdef *op, struct kverbs_op_info *out)
{
	unsigned int i;

	*out = (struct kverbs_op_info) { .opcode = opcode, .sqe_flags = op->sqe_flags };
	for (i = 0; i < ARRAY_SIZE(op_facts); i++) {
		if (!(op->flags & op_facts[i].opf))
			continue;
		out->flags |= op_facts[i].info;
		out->caps |= op_facts[i].caps;
	}
}

static int copy_ops(struct kverbs_cmd_info *cmd)
{
	struct kverbs_op_info ops[ARRAY_SIZE(kverbs_opdefs)];
	u32 opcode, nr = 0, room = cmd->inout_ops_len;
	int ret;

	for (opcode = 0; opcode < ARRAY_SIZE(kverbs_opdefs); opcode++)
		if (kverbs_opdefs[opcode].flags)
			fill_op_info(opcode, &kverbs_opdefs[opcode], &ops[nr++]);
	ret = kverbs_array_put(cmd->ops_uptr, cmd->ops_stride, ops, sizeof(ops[0]),
			       min(nr, room));
	if (ret)
		return ret;
	cmd->inout_ops_len = nr;
	return room && room < nr ? -EMSGSIZE : 0;
}

static void fill_limits(struct kverbs_cmd_info *cmd)
{
	cmd->out_max_objects = KVERBS_MAX_OBJECTS;
	cmd->out_max_rings = KVERBS_MAX_RINGS;
	cmd->out_max_sq_entries = KVERBS_MAX_SQ_ENTRIES;
	cmd->out_max_cq_entries = KVERBS_MAX_CQ_ENTRIES;
	cmd->out_max_list = KVERBS_LIST_MAX;
	cmd->out_max_backlog = KVERBS_MAX_BACKLOG;
	cmd->out_max_depth = KVERBS_MAX_DEPTH;
	cmd->out_max_sge = KVERBS_RECV_SGES;
	cmd->out_max_read = U8_MAX;
	cmd->out_max_priv_connect = KVERBS_PRIV_CONNECT_MAX;
	cmd->out_max_priv_accept = KVERBS_PRIV_ACCEPT_MAX;
	cmd->out_max_priv_reject = KVERBS_PRIV_REJECT_MAX;
	cmd->out_max_pools = KVERBS_MAX_POOLS;
	cmd->out_max_pool_entries = KVERBS_MAX_POOL_ENTRIES;
}

int kverbs_cmd_info(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_info *cmd = ucmd->cmd;
	int ret;

	if (cmd->flags)
		return -EINVAL;
	ret = kverbs_array_check(cmd->ops_stride, sizeof(struct kverbs_op_info));
	if (ret)
		return ret;
	cmd->out_abi = KVERBS_ABI_VERSION;
	cmd->out_nr_devices = kverbs_device_count(current->nsproxy->net_ns);
	cmd->out_features = FEATURES;
	fill_limits(cmd);
	memset(cmd->out_version, 0, sizeof(cmd->out_version));
	strscpy(cmd->out_version, KVERBS_VERSION, sizeof(cmd->out_version));
	return copy_ops(cmd);
}

/**
 * struct answer - an array on its way to user space
 * @items: the first of them
 * @size: bytes of one
 * @room: how many it has room for
 * @nr: how many there are
 *
 * User memory may fault for as long as its user likes, and a device that is looked at
 * cannot be removed: so it is let go before anything is copied.
 */
struct answer {
	void *items;
	size_t size;
	u32 room;
	u32 nr;
};

static int answer_init(struct answer *answer, size_t size, u32 room)
{
	*answer = (struct answer) { .size = size, .room = room };
	if (!room)
		return 0;
	answer->items = kvcalloc(room, size, GFP_KERNEL_ACCOUNT);
	return answer->items ? 0 : -ENOMEM;
}

static void answer_add(struct answer *answer, const void *item)
{
	if (answer->nr < answer->room)
		memcpy(answer->items + answer->nr * answer->size, item, answer->size);
	answer->nr++;
}

static int answer_copy(const struct answer *answer, u64 uptr, u32 stride, u32 *len)
{
	bool all = answer->nr <= *len;
	int ret;

	ret = kverbs_array_put(uptr, stride, answer->items, answer->size,
			       min(answer->nr, answer->room));
	if (ret)
		return ret;
	*len = answer->nr;
	return all ? 0 : -EMSGSIZE;
}

/* A port of an unusable device that cannot be queried does not keep the device secret. */
static int collect_ports(struct ib_device *ib, u32 nr, bool unusable, struct answer *ports)
{
	u32 first = kverbs_device_first_port(ib), i;
	struct kverbs_port out;
	int ret = 0;

	for (i = 0; i < nr && !ret; i++) {
		ret = kverbs_device_query_port(ib, first + i, &out);
		if (!ret)
			answer_add(ports, &out);
		else if (unusable)
			ret = 0;
	}
	return ret;
}

static void collect_gids(struct ib_device *ib, const struct kverbs_port *port,
			 struct answer *gids)
{
	struct kverbs_gid out;
	u32 index;

	for (index = 0; index < port->gid_table_len; index++)
		if (kverbs_device_query_gid(ib, port->port, index, &out))
			answer_add(gids, &out);
}

/* No more of them are than the tables of all ports have room for. */
static int collect_all_gids(struct ib_device *ib, const struct answer *ports, u32 len,
			    struct answer *gids)
{
	const struct kverbs_port *port = ports->items;
	u32 i, most = 0;
	int ret;

	for (i = 0; i < ports->nr; i++)
		most += port[i].gid_table_len;
	ret = answer_init(gids, sizeof(struct kverbs_gid), min(len, most));
	for (i = 0; !ret && i < ports->nr; i++)
		collect_gids(ib, &port[i], gids);
	return ret;
}

static int collect(const struct kverbs_cmd_device_query *cmd, struct ib_device *ib,
		   struct answer *ports, struct answer *gids)
{
	u32 nr = kverbs_device_nr_ports(ib);
	int ret;

	ret = answer_init(ports, sizeof(struct kverbs_port), nr);
	if (!ret)
		ret = collect_ports(ib, nr, cmd->out_unusable, ports);
	if (!ret)
		ret = collect_all_gids(ib, ports, cmd->inout_gids_len, gids);
	return ret;
}

static int copy_out(struct kverbs_cmd_device_query *cmd, struct answer *ports,
		    const struct answer *gids)
{
	int ret, err;

	ports->room = min(ports->room, cmd->inout_ports_len);
	ret = answer_copy(ports, cmd->ports_uptr, cmd->ports_stride, &cmd->inout_ports_len);
	err = answer_copy(gids, cmd->gids_uptr, cmd->gids_stride, &cmd->inout_gids_len);
	if (ret && ret != -EMSGSIZE)
		return ret;
	return err ?: ret;
}

int kverbs_cmd_device_query(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_device_query *cmd = ucmd->cmd;
	struct answer ports = {}, gids = {};
	enum kverbs_unusable unusable;
	struct ib_device *ib;
	int ret;

	if (cmd->flags || cmd->__reserved)
		return -EINVAL;
	ret = kverbs_array_check(cmd->ports_stride, sizeof(struct kverbs_port)) ?:
	      kverbs_array_check(cmd->gids_stride, sizeof(struct kverbs_gid));
	if (ret)
		return ret;
	ib = kverbs_device_next(cmd->index, current->nsproxy->net_ns, &unusable);
	if (!ib)
		return -ENODEV;
	kverbs_device_query(ib, unusable, cmd);
	ret = collect(cmd, ib, &ports, &gids);
	kverbs_device_put(ib);
	if (!ret)
		ret = copy_out(cmd, &ports, &gids);
	kvfree(gids.items);
	kvfree(ports.items);
	return ret;
}
