// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * INFO and DEVICE_QUERY: what the module and the devices support. This is the one file of
 * user/ that reads attributes of devices by verbs.
 */
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <rdma/ib_cache.h>

#include "device.h"
#include "file.h"
#include "info.h"
#include "listen_cmd.h"
#include "opcode.h"
#include "ring.h"
#include "verbs.h"
#include "version.h"

/**
 * kverbs_cmd_info() - KVERBS_INFO
 * @ucmd: the ioctl
 *
 * Return: 0 or -errno.
 */
int kverbs_cmd_info(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_info *cmd = ucmd->cmd;

	if (cmd->flags)
		return -EINVAL;
	cmd->out_abi = KVERBS_ABI_VERSION;
	cmd->out_nr_devices = kverbs_device_count(current->nsproxy->net_ns);
	cmd->out_features = 0;
	cmd->out_opcodes = KVERBS_OPCODES;
	cmd->out_max_objects = KVERBS_MAX_OBJECTS;
	cmd->out_max_sq_entries = KVERBS_MAX_SQ_ENTRIES;
	cmd->out_max_cq_entries = KVERBS_MAX_CQ_ENTRIES;
	cmd->out_max_backlog = KVERBS_MAX_BACKLOG;
	memset(cmd->out_version, 0, sizeof(cmd->out_version));
	strscpy(cmd->out_version, KVERBS_VERSION, sizeof(cmd->out_version));
	return 0;
}

/* In 100 Mb/s, as the kernel's rate attribute in sysfs counts. */
static u32 port_rate(const struct ib_port_attr *attr)
{
	static const struct {
		u16 speed;
		u32 rate;
	} rates[] = {
		{ IB_SPEED_SDR, 25 }, { IB_SPEED_DDR, 50 }, { IB_SPEED_QDR, 100 },
		{ IB_SPEED_FDR10, 100 }, { IB_SPEED_FDR, 140 }, { IB_SPEED_EDR, 250 },
		{ IB_SPEED_HDR, 500 }, { IB_SPEED_NDR, 1000 },
		{ 256, 2000 }, /* IB_SPEED_XDR, which 6.1 lacks */
	};
	int width = ib_width_enum_to_int(attr->active_width);
	unsigned int i;

	for (i = 0; width > 0 && i < ARRAY_SIZE(rates); i++)
		if (attr->active_speed == rates[i].speed)
			return rates[i].rate * width;
	return 0;
}

/* In another network namespace its index would be another interface's. */
static struct net_device *gid_netdev(const struct ib_gid_attr *gid)
{
	struct net_device *ndev = rcu_dereference(gid->ndev);

	return ndev && net_eq(dev_net(ndev), current->nsproxy->net_ns) ? ndev : NULL;
}

/* iWARP drivers need not say; any used GID slot names the interface. */
static void port_netdev(struct ib_device *ib, u32 port, struct kverbs_port *out)
{
	const struct ib_gid_attr *gid;
	struct net_device *ndev;

	gid = rdma_get_gid_attr(ib, port, 0);
	if (IS_ERR(gid))
		return;
	rcu_read_lock();
	ndev = gid_netdev(gid);
	if (ndev) {
		out->ifindex = ndev->ifindex;
		strscpy(out->ifname, ndev->name, sizeof(out->ifname));
	}
	rcu_read_unlock();
	rdma_put_gid_attr(gid);
}

static int query_port(struct ib_device *ib, u32 port, struct kverbs_port *out)
{
	struct ib_port_attr attr;
	int ret;

	ret = kverbs_ib_query_port(ib, port, &attr);
	if (ret)
		return ret;
	*out = (struct kverbs_port) {
		.port = port,
		.transport = kverbs_device_transport(ib, port),
		.state = attr.state,
		.phys_state = attr.phys_state,
		.max_mtu = ib_mtu_enum_to_int(attr.max_mtu),
		.active_mtu = ib_mtu_enum_to_int(attr.active_mtu),
		.max_msg_size = attr.max_msg_sz,
		.rate_100mbps = port_rate(&attr),
		.lid = attr.lid,
		.sm_lid = attr.sm_lid,
		.gid_table_len = attr.gid_tbl_len,
	};
	port_netdev(ib, port, out);
	return 0;
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

static int answer_copy(const struct answer *answer, u64 uptr, u32 *len)
{
	bool all = answer->nr <= *len;

	if (copy_to_user(u64_to_user_ptr(uptr), answer->items,
			 min(answer->nr, answer->room) * answer->size))
		return -EFAULT;
	*len = answer->nr;
	return all ? 0 : -EMSGSIZE;
}

static int collect_ports(struct ib_device *ib, struct answer *ports)
{
	struct kverbs_port out;
	u32 port;
	int ret;

	rdma_for_each_port(ib, port) {
		ret = query_port(ib, port, &out);
		if (ret)
			return ret;
		answer_add(ports, &out);
	}
	return 0;
}

static u32 gid_type(const struct ib_gid_attr *gid)
{
	switch (gid->gid_type) {
	case IB_GID_TYPE_ROCE:
		return KVERBS_GID_ROCE_V1;
	case IB_GID_TYPE_ROCE_UDP_ENCAP:
		return KVERBS_GID_ROCE_V2;
	default:
		return KVERBS_GID_IB;
	}
}

static void fill_gid(const struct ib_gid_attr *gid, struct kverbs_gid *out)
{
	struct net_device *ndev;

	*out = (struct kverbs_gid) {
		.port = gid->port_num,
		.index = gid->index,
		.type = gid_type(gid),
	};
	memcpy(out->gid, gid->gid.raw, sizeof(out->gid));
	rcu_read_lock();
	ndev = gid_netdev(gid);
	if (ndev)
		out->ifindex = ndev->ifindex;
	rcu_read_unlock();
}

static void collect_gids(struct ib_device *ib, const struct kverbs_port *port,
			 struct answer *gids)
{
	const struct ib_gid_attr *gid;
	struct kverbs_gid out;
	u32 index;

	for (index = 0; index < port->gid_table_len; index++) {
		gid = rdma_get_gid_attr(ib, port->port, index);
		if (IS_ERR(gid))
			continue;
		fill_gid(gid, &out);
		rdma_put_gid_attr(gid);
		answer_add(gids, &out);
	}
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

static u32 device_caps(struct ib_device *ib)
{
	u32 caps = 0;

	if (ib->attrs.atomic_cap != IB_ATOMIC_NONE)
		caps |= KVERBS_CAP_ATOMIC;
	if (ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS)
		caps |= KVERBS_CAP_REMOTE_INV;
	if (ib_uses_virt_dma(ib))
		caps |= KVERBS_CAP_VIRT_DMA;
	return caps;
}

static void fill_identity(struct ib_device *ib, struct kverbs_cmd_device_query *cmd)
{
	char fw[IB_FW_VERSION_NAME_MAX] = "";

	memset(cmd->out_name, 0, sizeof(cmd->out_name));
	memset(cmd->out_fw_version, 0, sizeof(cmd->out_fw_version));
	memset(cmd->out_driver, 0, sizeof(cmd->out_driver));
	strscpy(cmd->out_name, dev_name(&ib->dev), sizeof(cmd->out_name));
	ib_get_device_fw_str(ib, fw);
	strscpy(cmd->out_fw_version, fw, sizeof(cmd->out_fw_version));
	if (ib->ops.owner)
		strscpy(cmd->out_driver, module_name(ib->ops.owner), sizeof(cmd->out_driver));
	memcpy(cmd->out_node_guid, &ib->node_guid, sizeof(cmd->out_node_guid));
	memcpy(cmd->out_sys_image_guid, &ib->attrs.sys_image_guid,
	       sizeof(cmd->out_sys_image_guid));
	cmd->out_index = ib->index;
	cmd->out_vendor_id = ib->attrs.vendor_id;
	cmd->out_vendor_part_id = ib->attrs.vendor_part_id;
	cmd->out_hw_version = ib->attrs.hw_ver;
}

static void fill_limits(struct ib_device *ib, struct kverbs_cmd_device_query *cmd)
{
	const struct ib_device_attr *attrs = &ib->attrs;

	cmd->out_caps = device_caps(ib);
	cmd->out_max_qp = attrs->max_qp;
	cmd->out_max_qp_wr = attrs->max_qp_wr;
	cmd->out_max_send_sge = attrs->max_send_sge;
	cmd->out_max_read_sge = attrs->max_sge_rd ?: attrs->max_send_sge;
	cmd->out_max_cqe = attrs->max_cqe;
	cmd->out_max_mr = attrs->max_mr;
	cmd->out_max_mr_pages = kverbs_device_mr_pages(ib);
	cmd->out_max_rd_atomic = attrs->max_qp_rd_atom;
	cmd->out_max_init_rd_atomic = attrs->max_qp_init_rd_atom;
}

static int collect(const struct kverbs_cmd_device_query *cmd, struct ib_device *ib,
		   struct answer *ports, struct answer *gids)
{
	int ret;

	ret = answer_init(ports, sizeof(struct kverbs_port), rdma_end_port(ib));
	if (!ret)
		ret = collect_ports(ib, ports);
	if (!ret)
		ret = collect_all_gids(ib, ports, cmd->gids_len, gids);
	return ret;
}

static int copy_out(struct kverbs_cmd_device_query *cmd, struct answer *ports,
		    const struct answer *gids)
{
	int ret, err;

	ports->room = min(ports->room, cmd->ports_len);
	ret = answer_copy(ports, cmd->ports_uptr, &cmd->ports_len);
	err = answer_copy(gids, cmd->gids_uptr, &cmd->gids_len);
	if (ret && ret != -EMSGSIZE)
		return ret;
	return err ?: ret;
}

/**
 * kverbs_cmd_device_query() - KVERBS_DEVICE_QUERY
 * @ucmd: the ioctl
 *
 * Return: 0 or -errno.
 */
int kverbs_cmd_device_query(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_device_query *cmd = ucmd->cmd;
	struct answer ports = {}, gids = {};
	struct ib_device *ib;
	int ret;

	ib = kverbs_device_next(cmd->index, current->nsproxy->net_ns);
	if (!ib)
		return -ENODEV;
	fill_identity(ib, cmd);
	fill_limits(ib, cmd);
	ret = collect(cmd, ib, &ports, &gids);
	ib_device_put(ib);
	if (!ret)
		ret = copy_out(cmd, &ports, &gids);
	kvfree(gids.items);
	kvfree(ports.items);
	return ret;
}
