// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs dev: devices, ports, GIDs and limits.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cmd.h"
#include "err.h"
#include "kv.h"
#include "opts.h"
#include "out.h"
#include "util.h"

#define ROW "%-10s %4s %-10s %-8s %6s %10s %4s  %-39s %-7s %s\n"

static const char *state_name(unsigned int state)
{
	static const char * const names[] = {
		"NOP", "DOWN", "INIT", "ARMED", "ACTIVE", "DEFER",
	};

	return state < ARRAY_SIZE(names) ? names[state] : "?";
}

static const char *gid_type_name(unsigned int type, unsigned int transport)
{
	if (type == KVERBS_GID_ROCE_V1)
		return "RoCE v1";
	if (type == KVERBS_GID_ROCE_V2)
		return "RoCE v2";
	return transport == KVERBS_TRANSPORT_IWARP ? "MAC" : "IB";
}

static const char *gid_text(const struct kverbs_gid *gid, char *buf, size_t room)
{
	return inet_ntop(AF_INET6, gid->gid, buf, room);
}

static const char *netdev_name(unsigned int ifindex, const char *known, char *buf)
{
	if (known && *known)
		return known;
	return ifindex && if_indextoname(ifindex, buf) ? buf : "-";
}

static const char *guid_text(const uint8_t *guid, char *buf, size_t room)
{
	snprintf(buf, room, "%02x%02x:%02x%02x:%02x%02x:%02x%02x", guid[0], guid[1],
		 guid[2], guid[3], guid[4], guid[5], guid[6], guid[7]);
	return buf;
}

/* ---- text -------------------------------------------------------------- */

static void print_head(void)
{
	out_text(ROW, "DEVICE", "PORT", "TRANSPORT", "STATE", "MTU", "RATE", "GID#",
		 "GID", "TYPE", "NETDEV");
}

static void print_row(const struct kverbs_device *dev, const struct kverbs_port *port,
		      const struct kverbs_gid *gid)
{
	char nr[12], mtu[12], rate[24], index[12] = "-";
	char text[INET6_ADDRSTRLEN], ifname[IF_NAMESIZE];

	snprintf(nr, sizeof(nr), "%u", port->port);
	snprintf(mtu, sizeof(mtu), "%u", port->active_mtu);
	snprintf(rate, sizeof(rate), "%g Gb/s", port->rate_100mbps / 10.);
	if (gid)
		snprintf(index, sizeof(index), "%u", gid->index);
	out_text(ROW, dev->attr.out_name, nr, kverbs_transport_str(port->transport),
		 state_name(port->state), mtu, port->rate_100mbps ? rate : "-", index,
		 gid ? gid_text(gid, text, sizeof(text)) : "-",
		 gid ? gid_type_name(gid->type, port->transport) : "-",
		 netdev_name(gid ? gid->ifindex : port->ifindex,
			     gid && gid->ifindex != port->ifindex ? NULL : port->ifname,
			     ifname));
}

static void print_port(const struct kverbs_device *dev, const struct kverbs_port *port)
{
	unsigned int i, rows = 0;

	for (i = 0; i < dev->nr_gids; i++) {
		if (dev->gids[i].port != port->port)
			continue;
		print_row(dev, port, &dev->gids[i]);
		rows++;
	}
	if (!rows)
		print_row(dev, port, NULL);
}

static void print_limits(const struct kverbs_device *dev)
{
	const struct kverbs_cmd_device_query *a = &dev->attr;
	char guid[24];

	out_text("\n%s: node GUID %s, firmware %s, vendor 0x%x part 0x%x revision 0x%x\n",
		 a->out_name, guid_text(a->out_node_guid, guid, sizeof(guid)),
		 *a->out_fw_version ? a->out_fw_version : "-", a->out_vendor_id,
		 a->out_vendor_part_id, a->out_hw_version);
	out_text("  queue pairs %u, work requests per queue %u, completions per queue %u\n",
		 a->out_max_qp, a->out_max_qp_wr, a->out_max_cqe);
	out_text("  scatter entries %u, of a READ %u; READs in flight %u in, %u out\n",
		 a->out_max_send_sge, a->out_max_read_sge, a->out_max_rd_atomic,
		 a->out_max_init_rd_atomic);
	out_text("  memory regions %u, pages in one %u\n", a->out_max_mr,
		 a->out_max_mr_pages);
	out_text("  atomics %s, remote invalidation %s, DMA by virtual address %s\n",
		 a->out_caps & KVERBS_CAP_ATOMIC ? "yes" : "no",
		 a->out_caps & KVERBS_CAP_REMOTE_INV ? "yes" : "no",
		 a->out_caps & KVERBS_CAP_VIRT_DMA ? "yes" : "no");
}

static void print_text(const struct kverbs_device *list, int nr, int verbose)
{
	unsigned int port;
	int i;

	print_head();
	for (i = 0; i < nr; i++)
		for (port = 0; port < list[i].nr_ports; port++)
			print_port(&list[i], &list[i].ports[port]);
	for (i = 0; verbose && i < nr; i++)
		print_limits(&list[i]);
}

/* ---- JSON -------------------------------------------------------------- */

static void put_int(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_int64(v));
}

static void put_str(struct json_object *o, const char *key, const char *v)
{
	json_object_object_add(o, key, json_object_new_string(v));
}

static void put_bool(struct json_object *o, const char *key, int v)
{
	json_object_object_add(o, key, json_object_new_boolean(v));
}

static struct json_object *json_gid(const struct kverbs_gid *gid,
				    const struct kverbs_port *port)
{
	struct json_object *o = json_object_new_object();
	char text[INET6_ADDRSTRLEN], ifname[IF_NAMESIZE];

	put_int(o, "index", gid->index);
	put_str(o, "gid", gid_text(gid, text, sizeof(text)));
	put_str(o, "type", gid_type_name(gid->type, port->transport));
	put_str(o, "netdev", netdev_name(gid->ifindex, NULL, ifname));
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
	char ifname[IF_NAMESIZE];

	put_int(o, "port", port->port);
	put_str(o, "transport", kverbs_transport_str(port->transport));
	put_str(o, "state", state_name(port->state));
	put_int(o, "max_mtu_bytes", port->max_mtu);
	put_int(o, "active_mtu_bytes", port->active_mtu);
	put_int(o, "max_msg_size_bytes", port->max_msg_size);
	put_int(o, "rate_Mbps", port->rate_100mbps * 100ull);
	put_int(o, "lid", port->lid);
	put_int(o, "sm_lid", port->sm_lid);
	put_int(o, "gid_table_len", port->gid_table_len);
	put_str(o, "netdev", netdev_name(port->ifindex, port->ifname, ifname));
	json_object_object_add(o, "gids", json_gids(dev, port));
	return o;
}

static struct json_object *json_limits(const struct kverbs_cmd_device_query *a)
{
	struct json_object *o = json_object_new_object();

	put_int(o, "max_qp", a->out_max_qp);
	put_int(o, "max_qp_wr", a->out_max_qp_wr);
	put_int(o, "max_send_sge", a->out_max_send_sge);
	put_int(o, "max_read_sge", a->out_max_read_sge);
	put_int(o, "max_cqe", a->out_max_cqe);
	put_int(o, "max_mr", a->out_max_mr);
	put_int(o, "max_mr_pages", a->out_max_mr_pages);
	put_int(o, "max_rd_atomic", a->out_max_rd_atomic);
	put_int(o, "max_init_rd_atomic", a->out_max_init_rd_atomic);
	put_bool(o, "atomic", a->out_caps & KVERBS_CAP_ATOMIC);
	put_bool(o, "remote_invalidation", a->out_caps & KVERBS_CAP_REMOTE_INV);
	put_bool(o, "virtual_dma", a->out_caps & KVERBS_CAP_VIRT_DMA);
	return o;
}

static struct json_object *json_device(const struct kverbs_device *dev)
{
	const struct kverbs_cmd_device_query *a = &dev->attr;
	struct json_object *o = json_object_new_object();
	struct json_object *ports = json_object_new_array();
	char guid[24];
	unsigned int i;

	put_str(o, "ifname", a->out_name);
	put_int(o, "index", a->out_index);
	put_str(o, "firmware", a->out_fw_version);
	put_str(o, "node_guid", guid_text(a->out_node_guid, guid, sizeof(guid)));
	put_str(o, "sys_image_guid",
		guid_text(a->out_sys_image_guid, guid, sizeof(guid)));
	put_int(o, "vendor_id", a->out_vendor_id);
	put_int(o, "vendor_part_id", a->out_vendor_part_id);
	put_int(o, "hw_version", a->out_hw_version);
	json_object_object_add(o, "limits", json_limits(a));
	for (i = 0; i < dev->nr_ports; i++)
		json_object_array_add(ports, json_port(dev, &dev->ports[i]));
	json_object_object_add(o, "ports", ports);
	return o;
}

static void print_json(const struct kverbs_device *list, int nr)
{
	struct json_object *a = json_object_new_array();
	int i;

	for (i = 0; i < nr; i++)
		json_object_array_add(a, json_device(&list[i]));
	json_object_object_add(out_root(), "devices", a);
}

/* ---- the command ------------------------------------------------------- */

static int show(struct kverbs *kv, int verbose)
{
	struct kverbs_device *list;
	int nr;

	nr = kverbs_device_list(kv, &list);
	if (nr < 0)
		return err_report(ERR_OPEN, nr, "list devices");
	if (out_is_json())
		print_json(list, nr);
	else if (nr)
		print_text(list, nr, verbose);
	kverbs_device_list_free(list, nr);
	if (!nr)
		return err_report(ERR_DEVICE, -ENODEV, "list devices");
	return EXIT_OK;
}

static const char help[] =
"usage: kverbs dev [options]\n"
"\n"
"Show RDMA devices, their ports and GIDs.\n"
"\n"
"  -v, --verbose        limits too\n"
"  -j, --json           all of it as JSON\n"
"  -h, --help           this text\n"
"\n"
"Exit status: 0 there is a device, 2 usage, 4 not permitted or no device.\n";

/* What the command line says. */
struct dev {
	bool verbose;
};

static const struct opts_option options[] = {
	OPTS_OPTION("verbose", 'v', OPTS_SET, struct dev, verbose),
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
		return err_usage("'%s' is one word too many", argv[first]);
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
	.help = help,
	.run = dev_run,
};
