// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The answer of DEVICE_QUERY: a device, its ports and their GIDs. */
#include <linux/nsproxy.h>
#include <linux/slab.h>
#include <rdma/ib_cache.h>

#include "device.h"
#include "device_query.h"
#include "quirks.h"
#include "verbs.h"

/* IB_SPEED_XDR, which Linux 6.1 lacks. */
#define SPEED_XDR	256

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
		{ SPEED_XDR, 2000 },
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

/**
 * kverbs_device_query_port() - describe a port
 * @ib: the device
 * @port: of the device
 * @out: filled in
 *
 * The network interface is named if it is in the caller's network namespace.
 *
 * Context: process, may sleep.
 * Return: 0 or the error of the driver.
 */
int kverbs_device_query_port(struct ib_device *ib, u32 port, struct kverbs_port *out)
{
	struct ib_port_attr attr;
	int ret;

	ret = kverbs_ib_query_port(ib, port, &attr);
	if (ret)
		return ret;
	*out = (struct kverbs_port) {
		.port = port,
		.transport = kverbs_port_transport(ib, port),
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

/**
 * kverbs_device_query_gid() - describe a GID slot
 * @ib: the device
 * @port: of the device
 * @index: of the slot
 * @out: filled in if the slot is used
 *
 * Context: process, may sleep.
 * Return: true if the slot is used.
 */
bool kverbs_device_query_gid(struct ib_device *ib, u32 port, u32 index, struct kverbs_gid *out)
{
	const struct ib_gid_attr *gid = rdma_get_gid_attr(ib, port, index);

	if (IS_ERR(gid))
		return false;
	fill_gid(gid, out);
	rdma_put_gid_attr(gid);
	return true;
}

static u32 device_caps(struct ib_device *ib)
{
	u32 caps = 0;

	if (kverbs_device_has_atomics(ib))
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
	cmd->out_numa_node = ibdev_to_node(ib);
}

static void fill_limits(struct ib_device *ib, struct kverbs_cmd_device_query *cmd)
{
	const struct ib_device_attr *attrs = &ib->attrs;

	cmd->out_caps = device_caps(ib);
	cmd->out_max_qp = attrs->max_qp;
	cmd->out_max_qp_wr = attrs->max_qp_wr;
	cmd->out_max_send_sge = attrs->max_send_sge;
	cmd->out_max_recv_sge = attrs->max_recv_sge;
	cmd->out_max_read_sge = attrs->max_sge_rd ?: attrs->max_send_sge;
	cmd->out_max_cqe = attrs->max_cqe;
	cmd->out_max_mr = attrs->max_mr;
	cmd->out_max_mr_pages = kverbs_device_mr_pages(ib);
	cmd->out_max_rd_atomic = attrs->max_qp_rd_atom;
	cmd->out_max_init_rd_atomic = attrs->max_qp_init_rd_atom;
}

/**
 * kverbs_device_query() - describe a device
 * @ib: the device
 * @unusable: why kverbs cannot use it
 * @cmd: its out_* fields are set
 *
 * Context: process, may sleep.
 */
void kverbs_device_query(struct ib_device *ib, enum kverbs_unusable unusable,
			 struct kverbs_cmd_device_query *cmd)
{
	cmd->out_unusable = unusable;
	cmd->__reserved2 = 0;
	fill_identity(ib, cmd);
	fill_limits(ib, cmd);
}

/**
 * kverbs_device_nr_ports() - how many ports a device has
 * @ib: the device
 *
 * A switch has one for kverbs, with the number 0.
 *
 * Return: their number; they are numbered from kverbs_device_first_port().
 */
u32 kverbs_device_nr_ports(const struct ib_device *ib)
{
	return rdma_end_port(ib) - rdma_start_port(ib) + 1;
}

/**
 * kverbs_device_first_port() - the number of the first port
 * @ib: the device
 *
 * Return: 1, or 0 of a switch.
 */
u32 kverbs_device_first_port(const struct ib_device *ib)
{
	return rdma_start_port(ib);
}
