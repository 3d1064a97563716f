// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <json-c/json.h>

#include "cli/out.h"
#include "cli/row.h"
#include "dev/dev.h"
#include "dev/dev_names.h"

static struct json_object *json_gid(const struct kverbs_gid *gid,
				    const struct kverbs_port *port)
{
	struct json_object *o = json_object_new_object();
	char buf[DEV_NAME_LEN];

	row_int(o, "index", gid->index);
	row_str(o, "gid", dev_gid(gid, buf));
	row_str(o, "type", dev_gid_type(gid, port));
	row_str(o, "netdev", dev_gid_netdev(gid, port, buf));
	return o;
}

static struct json_object *json_gids(const struct kverbs_device *dev,
				     const struct kverbs_port *port)
{
	struct json_object *a = json_object_new_array();
	unsigned int i;

	for (i = 0; i < dev->nr_gids; i++)
		if (dev->gids[i].port == port->port)
			json_object_array_add(a, json_gid(&dev->gids[i], port));
	return a;
}

static struct json_object *json_port(const struct kverbs_device *dev,
				     const struct kverbs_port *port)
{
	struct json_object *o = json_object_new_object();
	char buf[DEV_NAME_LEN];

	row_int(o, "port", port->port);
	row_str(o, "transport", kverbs_transport_str(port->transport));
	row_str(o, "link_layer", dev_link_layer(port));
	row_str(o, "state", dev_state(port));
	row_str(o, "physical_state", dev_phys_state(port));
	row_int(o, "max_mtu_bytes", port->max_mtu);
	row_int(o, "active_mtu_bytes", port->active_mtu);
	row_int(o, "max_msg_size_bytes", port->max_msg_size);
	row_int(o, "rate_Mbps", port->rate_100mbps * 100ull);
	row_int(o, "lid", port->lid);
	row_int(o, "sm_lid", port->sm_lid);
	row_int(o, "gid_table_len", port->gid_table_len);
	row_str(o, "netdev", dev_port_netdev(port, buf));
	json_object_object_add(o, "gids", json_gids(dev, port));
	return o;
}

static struct json_object *json_limits(const struct kverbs_cmd_device_query *a)
{
	struct json_object *o = json_object_new_object();

	row_int(o, "max_qp", a->out_max_qp);
	row_int(o, "max_qp_wr", a->out_max_qp_wr);
	row_int(o, "max_send_sge", a->out_max_send_sge);
	row_int(o, "max_read_sge", a->out_max_read_sge);
	row_int(o, "max_cqe", a->out_max_cqe);
	row_int(o, "max_mr", a->out_max_mr);
	row_int(o, "max_mr_pages", a->out_max_mr_pages);
	row_int(o, "max_rd_atomic", a->out_max_rd_atomic);
	row_int(o, "max_init_rd_atomic", a->out_max_init_rd_atomic);
	row_flag(o, "atomic", a->out_caps & KVERBS_CAP_ATOMIC);
	row_flag(o, "remote_invalidation", a->out_caps & KVERBS_CAP_REMOTE_INV);
	row_flag(o, "virtual_dma", a->out_caps & KVERBS_CAP_VIRT_DMA);
	return o;
}

static struct json_object *json_device(const struct kverbs_device *dev)
{
	const struct kverbs_cmd_device_query *a = dev->attr;
	struct json_object *o = json_object_new_object();
	struct json_object *ports = json_object_new_array();
	char buf[DEV_NAME_LEN];
	unsigned int i;

	row_str(o, "ifname", a->out_name);
	row_int(o, "index", a->out_index);
	row_str(o, "driver", a->out_driver);
	row_str(o, "firmware", a->out_fw_version);
	row_str(o, "node_guid", dev_guid(a->out_node_guid, buf));
	row_str(o, "sys_image_guid", dev_guid(a->out_sys_image_guid, buf));
	row_int(o, "vendor_id", a->out_vendor_id);
	row_int(o, "vendor_part_id", a->out_vendor_part_id);
	row_int(o, "hw_version", a->out_hw_version);
	json_object_object_add(o, "limits", json_limits(a));
	for (i = 0; i < dev->nr_ports; i++)
		json_object_array_add(ports, json_port(dev, &dev->ports[i]));
	json_object_object_add(o, "ports", ports);
	return o;
}

void dev_json(const struct kverbs_device *list, int nr)
{
	struct json_object *a = json_object_new_array();
	int i;

	for (i = 0; i < nr; i++)
		json_object_array_add(a, json_device(&list[i]));
	json_object_object_add(out_root(), "devices", a);
}
