// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One table: a line for each port, below it one for each of its GIDs, and what is the
 * device's own. Columns are shared, so that 80 are enough.
 */
#include <stdio.h>

#include "cli/grid.h"
#include "cli/util.h"
#include "dev/dev.h"
#include "dev/dev_names.h"

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

static void put_own(struct grid *g, const struct kverbs_device *dev)
{
	const struct kverbs_cmd_device_query *a = dev->attr;
	char node[DEV_NAME_LEN], image[DEV_NAME_LEN];

	grid_row(g);
	grid_cell(g, 1, "node GUID %s, system image GUID %s", dev_guid(a->out_node_guid, node),
		  dev_guid(a->out_sys_image_guid, image));
	grid_row(g);
	grid_cell(g, 1, "driver %s, firmware %s", *a->out_driver ? a->out_driver : "-",
		  *a->out_fw_version ? a->out_fw_version : "-");
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
	grid_cell(g, 1, "scatter entries %u, of a READ %u; READs in flight %u in, %u out",
		  a->out_max_send_sge, a->out_max_read_sge, a->out_max_rd_atomic,
		  a->out_max_init_rd_atomic);
	grid_row(g);
	grid_cell(g, 1, "memory regions %u, pages in one %u", a->out_max_mr,
		  a->out_max_mr_pages);
	grid_row(g);
	grid_cell(g, 1, "atomics %s, remote invalidation %s, DMA by virtual address %s",
		  yes(a, KVERBS_CAP_ATOMIC), yes(a, KVERBS_CAP_REMOTE_INV),
		  yes(a, KVERBS_CAP_VIRT_DMA));
}

static void put_port_limits(struct grid *g, const struct kverbs_port *port)
{
	grid_row(g);
	grid_cell(g, 1, "port %u: largest message %u bytes, GIDs %u at most", port->port,
		  port->max_msg_size, port->gid_table_len);
}

static void put_device(struct grid *g, const struct kverbs_device *dev, bool limits)
{
	unsigned int i;

	for (i = 0; i < dev->nr_ports; i++) {
		put_port(g, dev, &dev->ports[i]);
		put_gids(g, dev, &dev->ports[i]);
	}
	put_own(g, dev);
	if (limits)
		put_limits(g, dev);
	for (i = 0; limits && i < dev->nr_ports; i++)
		put_port_limits(g, &dev->ports[i]);
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
