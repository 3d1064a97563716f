// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs dev: devices, ports, GIDs and limits.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <json-c/json.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/grid.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/util.h"
#include "dev/dev.h"
#include "dev/unusable.h"
#include "peer/kv.h"

/* Columns of a line below a device */
#define LINE 60

static const char *dev_state(const struct kverbs_port *port)
{
	static const char * const names[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "DEFER",
	};

	return port->state < ARRAY_SIZE(names) ? names[port->state] : "?";
}

static const char *dev_phys_state(const struct kverbs_port *port)
{
	static const char * const names[] = {
		"-", "Sleep", "Polling", "Disabled", "Training", "LinkUp",
		"LinkErrorRecovery", "PhyTest",
	};

	return port->phys_state < ARRAY_SIZE(names) ? names[port->phys_state] : "?";
}

static const char *dev_link_layer(const struct kverbs_port *port)
{
	return port->transport == KVERBS_TRANSPORT_IB ? "InfiniBand" : "Ethernet";
}

static const char *dev_gid_type(const struct kverbs_gid *gid, const struct kverbs_port *port)
{
	if (gid->type == KVERBS_GID_ROCE_V1)
		return "RoCE v1";
	if (gid->type == KVERBS_GID_ROCE_V2)
		return "RoCE v2";
	return port->transport == KVERBS_TRANSPORT_IWARP ? "MAC" : "IB";
}

static const char *dev_gid(const struct kverbs_gid *gid, char buf[DEV_NAME_LEN])
{
	return inet_ntop(AF_INET6, gid->gid, buf, DEV_NAME_LEN);
}

static const char *dev_guid(const uint8_t guid[8], char buf[DEV_NAME_LEN])
{
	snprintf(buf, DEV_NAME_LEN, "%02x%02x:%02x%02x:%02x%02x:%02x%02x", guid[0], guid[1],
		 guid[2], guid[3], guid[4], guid[5], guid[6], guid[7]);
	return buf;
}

static const char *netdev(unsigned int ifindex, const char *known, char *buf)
{
	if (known && *known)
		return known;
	return ifindex && if_indextoname(ifindex, buf) ? buf : "-";
}

/* "-" if there is none. */
static const char *dev_gid_netdev(const struct kverbs_gid *gid, const struct kverbs_port *port,
				  char buf[DEV_NAME_LEN])
{
	return netdev(gid->ifindex, gid->ifindex == port->ifindex ? port->ifname : NULL, buf);
}

static const char *dev_port_netdev(const struct kverbs_port *port, char buf[DEV_NAME_LEN])
{
	return netdev(port->ifindex, port->ifname, buf);
}

static struct json_object *json_gid(const struct kverbs_gid *gid,
				    const struct kverbs_port *port)
{
	struct json_object *o = json_object_new_object();
	char buf[DEV_NAME_LEN];

	json_put_int(o, "index", gid->index);
	json_put_str(o, "gid", dev_gid(gid, buf));
	json_put_str(o, "type", dev_gid_type(gid, port));
	json_put_str(o, "netdev", dev_gid_netdev(gid, port, buf));
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

	json_put_int(o, "port", port->port);
	json_put_str(o, "transport", kverbs_transport_str(port->transport));
	json_put_str(o, "link_layer", dev_link_layer(port));
	json_put_str(o, "state", dev_state(port));
	json_put_str(o, "physical_state", dev_phys_state(port));
	json_put_int(o, "max_mtu_bytes", port->max_mtu);
	json_put_int(o, "active_mtu_bytes", port->active_mtu);
	json_put_int(o, "max_msg_size_bytes", port->max_msg_size);
	json_put_int(o, "rate_Mbps", port->rate_100mbps * 100ull);
	json_put_int(o, "lid", port->lid);
	json_put_int(o, "sm_lid", port->sm_lid);
	json_put_int(o, "gid_table_len", port->gid_table_len);
	json_put_str(o, "netdev", dev_port_netdev(port, buf));
	json_object_object_add(o, "gids", json_gids(dev, port));
	return o;
}

static struct json_object *json_limits(const struct kverbs_cmd_device_query *a)
{
	struct json_object *o = json_object_new_object();

	json_put_int(o, "max_qp", a->out_max_qp);
	json_put_int(o, "max_qp_wr", a->out_max_qp_wr);
	json_put_int(o, "max_send_sge", a->out_max_send_sge);
	json_put_int(o, "max_recv_sge", a->out_max_recv_sge);
	json_put_int(o, "max_read_sge", a->out_max_read_sge);
	json_put_int(o, "max_cqe", a->out_max_cqe);
	json_put_int(o, "max_mr", a->out_max_mr);
	json_put_int(o, "max_mr_pages", a->out_max_mr_pages);
	json_put_int(o, "max_rd_atomic", a->out_max_rd_atomic);
	json_put_int(o, "max_init_rd_atomic", a->out_max_init_rd_atomic);
	json_put_flag(o, "atomic", a->out_caps & KVERBS_CAP_ATOMIC);
	json_put_flag(o, "remote_invalidation", a->out_caps & KVERBS_CAP_REMOTE_INV);
	json_put_flag(o, "virtual_dma", a->out_caps & KVERBS_CAP_VIRT_DMA);
	return o;
}

static void json_usable(struct json_object *o, const struct kverbs_cmd_device_query *a)
{
	json_put_flag(o, "usable", !a->out_unusable);
	if (!a->out_unusable)
		return;
	json_put_str(o, "unusable_why", unusable_why(a->out_unusable));
	json_put_str(o, "advice", unusable_advice(a->out_unusable));
}

static struct json_object *json_device(const struct kverbs_device *dev)
{
	const struct kverbs_cmd_device_query *a = dev->attr;
	struct json_object *o = json_object_new_object();
	struct json_object *ports = json_object_new_array();
	char buf[DEV_NAME_LEN];
	unsigned int i;

	json_put_str(o, "ifname", a->out_name);
	json_put_int(o, "index", a->out_index);
	json_usable(o, a);
	json_put_int(o, "numa_node", a->out_numa_node);
	json_put_str(o, "driver", a->out_driver);
	json_put_str(o, "firmware", a->out_fw_version);
	json_put_str(o, "node_guid", dev_guid(a->out_node_guid, buf));
	json_put_str(o, "sys_image_guid", dev_guid(a->out_sys_image_guid, buf));
	json_put_int(o, "vendor_id", a->out_vendor_id);
	json_put_int(o, "vendor_part_id", a->out_vendor_part_id);
	json_put_int(o, "hw_version", a->out_hw_version);
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

static void head(struct grid *g, const char *const *names, unsigned int nr)
{
	unsigned int i;

	grid_row(g);
	for (i = 0; i < nr; i++)
		grid_cell(g, i, "%s", names[i]);
}

static void put_port(struct grid *g, const struct kverbs_device *dev,
		     const struct kverbs_port *port)
{
	grid_row(g);
	grid_cell(g, 0, "%s", dev->attr->out_name);
	grid_cell(g, 1, "%u", port->port);
	grid_cell(g, 2, "%s", kverbs_transport_str(port->transport));
	grid_cell(g, 3, "%s", dev_state(port));
	grid_cell(g, 4, "%s", dev_phys_state(port));
	grid_cell(g, 5, "%u", port->active_mtu);
	grid_cell(g, 6, "%u", port->max_mtu);
	if (port->rate_100mbps)
		grid_cell(g, 7, "%g Gb/s", port->rate_100mbps / 10.);
	else
		grid_cell(g, 7, "-");
	/* Only InfiniBand has LIDs. */
	if (port->transport == KVERBS_TRANSPORT_IB) {
		grid_cell(g, 8, "%u", port->lid);
		grid_cell(g, 9, "%u", port->sm_lid);
	} else {
		grid_cell(g, 8, "-");
		grid_cell(g, 9, "-");
	}
}

static void put_gid(struct grid *g, const struct kverbs_gid *gid,
		    const struct kverbs_port *port)
{
	char buf[DEV_NAME_LEN];

	grid_row(g);
	grid_cell(g, 1, "%u", gid->index);
	grid_cell(g, 2, "%s", dev_gid_type(gid, port));
	grid_cell(g, 3, "%s", dev_gid_netdev(gid, port, buf));
	grid_cell(g, 4, "%s", dev_gid(gid, buf));
}

/* A port without any has an interface all the same. */
static void put_gids(struct grid *g, const struct kverbs_device *dev,
		     const struct kverbs_port *port)
{
	static const char * const names[] = { "", "GID#", "TYPE", "NETDEV", "GID" };
	char buf[DEV_NAME_LEN];
	unsigned int i, nr = 0;

	head(g, names, ARRAY_SIZE(names));
	for (i = 0; i < dev->nr_gids; i++) {
		if (dev->gids[i].port != port->port)
			continue;
		put_gid(g, &dev->gids[i], port);
		nr++;
	}
	if (nr)
		return;
	grid_row(g);
	grid_cell(g, 1, "-");
	grid_cell(g, 2, "-");
	grid_cell(g, 3, "%s", dev_port_netdev(port, buf));
	grid_cell(g, 4, "-");
}

static const char *dev_node(const struct kverbs_cmd_device_query *a, char buf[DEV_NAME_LEN])
{
	if (a->out_numa_node < 0)
		return "-";
	snprintf(buf, DEV_NAME_LEN, "%d", a->out_numa_node);
	return buf;
}

static void put_own(struct grid *g, const struct kverbs_device *dev)
{
	const struct kverbs_cmd_device_query *a = dev->attr;
	char node[DEV_NAME_LEN], image[DEV_NAME_LEN];

	grid_row(g);
	grid_cell(g, 1, "node GUID %s, system image GUID %s", dev_guid(a->out_node_guid, node),
		  dev_guid(a->out_sys_image_guid, image));
	grid_row(g);
	grid_cell(g, 1, "driver %s, firmware %s, NUMA node %s",
		  *a->out_driver ? a->out_driver : "-",
		  *a->out_fw_version ? a->out_fw_version : "-", dev_node(a, image));
	grid_row(g);
	grid_cell(g, 1, "vendor 0x%x, part %u, revision 0x%x, %s", a->out_vendor_id,
		  a->out_vendor_part_id, a->out_hw_version,
		  dev->nr_ports ? dev_link_layer(&dev->ports[0]) : "-");
}

static const char *yes(const struct kverbs_cmd_device_query *a, unsigned int cap)
{
	return a->out_caps & cap ? "yes" : "no";
}

static void put_limits(struct grid *g, const struct kverbs_device *dev)
{
	const struct kverbs_cmd_device_query *a = dev->attr;

	grid_row(g);
	grid_cell(g, 1, "queue pairs %u, work requests in a queue %u, completions %u",
		  a->out_max_qp, a->out_max_qp_wr, a->out_max_cqe);
	grid_row(g);
	grid_cell(g, 1, "scatter entries of a SEND %u, of a RECV %u, of a READ %u",
		  a->out_max_send_sge, a->out_max_recv_sge, a->out_max_read_sge);
	grid_row(g);
	grid_cell(g, 1, "READs in flight %u in, %u out", a->out_max_rd_atomic,
		  a->out_max_init_rd_atomic);
	grid_row(g);
	grid_cell(g, 1, "memory regions %u, pages in one %u", a->out_max_mr,
		  a->out_max_mr_pages);
	grid_row(g);
	grid_cell(g, 1, "atomics %s, remote invalidation %s, DMA by virtual address %s",
		  yes(a, KVERBS_CAP_ATOMIC), yes(a, KVERBS_CAP_REMOTE_INV),
		  yes(a, KVERBS_CAP_VIRT_DMA));
}

/* In lines that leave room for the name of a device before them. */
static void put_words(struct grid *g, const char *text)
{
	size_t len = strlen(text);
	int fits;

	while (len > LINE) {
		for (fits = LINE; fits && text[fits] != ' '; fits--)
			;
		grid_row(g);
		grid_cell(g, 1, "%.*s", fits, text);
		text += fits + 1;
		len -= fits + 1;
	}
	grid_row(g);
	grid_cell(g, 1, "%s", text);
}

static void put_unusable(struct grid *g, const struct kverbs_device *dev)
{
	uint32_t reason = dev->attr->out_unusable;

	grid_row(g);
	if (!dev->nr_ports)
		grid_cell(g, 0, "%s", dev->attr->out_name);
	grid_cell(g, 1, "kverbs cannot use it: %s", unusable_why(reason));
	put_words(g, unusable_advice(reason));
}

static void put_device(struct grid *g, const struct kverbs_device *dev, bool limits)
{
	const struct kverbs_port *port;
	unsigned int i;

	for (i = 0; i < dev->nr_ports; i++) {
		put_port(g, dev, &dev->ports[i]);
		put_gids(g, dev, &dev->ports[i]);
	}
	if (dev->attr->out_unusable)
		put_unusable(g, dev);
	put_own(g, dev);
	if (limits)
		put_limits(g, dev);
	for (i = 0; limits && i < dev->nr_ports; i++) {
		port = &dev->ports[i];
		grid_row(g);
		grid_cell(g, 1, "port %u: largest message %u bytes, GIDs %u at most",
			  port->port, port->max_msg_size, port->gid_table_len);
	}
}

int dev_table(const struct kverbs_device *list, int nr, bool limits)
{
	static const char * const names[] = {
		"DEVICE", "PORT", "TRANSPORT", "STATE", "PHYS", "MTU", "MAX", "RATE", "LID",
		"SM",
	};
	struct grid g;
	int i;

	grid_init(&g);
	head(&g, names, ARRAY_SIZE(names));
	for (i = 0; i < nr; i++)
		put_device(&g, &list[i], limits);
	return grid_print(&g);
}

static int count_usable(const struct kverbs_device *list, int nr)
{
	int i, usable = 0;

	for (i = 0; i < nr; i++)
		usable += !list[i].attr->out_unusable;
	return usable;
}

static int show(struct kverbs *kv, int verbose)
{
	struct kverbs_device *list;
	int nr, usable, ret = 0;

	nr = kverbs_device_list(kv, &list);
	if (nr < 0)
		return err_report(ERR_OPEN, nr, "list devices");
	if (out_is_json())
		dev_json(list, nr);
	else if (nr)
		ret = dev_table(list, nr, verbose);
	usable = count_usable(list, nr);
	kverbs_device_list_free(list, nr);
	if (!usable)
		return err_report(ERR_DEVICE, -ENODEV, "find a device that kverbs can use");
	if (ret)
		return err_report(ERR_LOCAL, ret, "list devices");
	return EXIT_OK;
}

static const char usage[] =
"usage: kverbs dev [options]\n"
"\n"
"Show RDMA devices, their ports and GIDs: all that ibv_devinfo and ibstat show.\n"
"A device that kverbs cannot use is shown with the reason.\n";

static const char notes[] =
"Exit status: 0 there is a device that kverbs can use, 2 usage, 4 not permitted or none.\n";

/* Options. */
struct dev {
	bool verbose;
};

static const struct opts_option options[] = {
	OPTS_OPTION("verbose", 'v', OPTS_SET, struct dev, verbose,
		    OPTS_HELP(NULL, "also show limits and capabilities"),
		    OPTS_DOC("Also show limits and capabilities of each device.")),
	{ }
};

static int dev_run(int argc, char **argv)
{
	struct dev dev = { };
	struct kverbs *kv;
	int first, status;

	first = opts_parse(argc, argv, options, &dev);
	if (first < 0)
		return EXIT_USAGE;
	if (first != argc)
		return err_usage("unexpected argument '%s'", argv[first]);
	status = kv_open(&kv, 0);
	if (status)
		return status;
	status = show(kv, dev.verbose);
	kverbs_close(kv);
	return status;
}

const struct command cmd_dev = {
	.name = "dev",
	.summary = "Show RDMA devices, ports and GIDs",
	.usage = usage,
	.options = options,
	.json = "print everything as JSON",
	.json_doc = "Print everything as JSON.",
	.notes = notes,
	.run = dev_run,
};
