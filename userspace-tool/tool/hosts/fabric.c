// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs hosts: adapters of an InfiniBand subnet, by libibnetdisc.
 */
#include "hosts/fabric.h"
#include "hosts/hosts.h"

#ifndef HAVE_IBNETDISC

void fabric_look(struct hosts *hosts, bool cached)
{
	(void)cached;
	hosts_miss(hosts, HOSTS_FABRIC, "this kverbs was built without libibnetdisc");
}

#else

#include <endian.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <infiniband/ibnetdisc.h>
#include <infiniband/umad.h>

#include "cli/err.h"
#include "cli/library.h"

#define SONAME "libibnetdisc.so.5"
/* Each discovery of root leaves its result here, for those who may not send such packets. */
#define CACHE "/run/kverbs"
#define PREFIX "fabric."
#define ADAPTERS 64

/**
 * struct fabric_lib - functions of libibnetdisc, libibmad and libibumad
 * @discover: walk a subnet
 * @destroy: free what @discover or @load has returned
 * @iterate: call a function for each node of a type
 * @save: write a subnet to a file
 * @load: read it
 * @get_field: read a field of a management packet
 * @init: prepare libibumad
 * @names: list adapters
 * @get_port: read attributes of a port of an adapter
 * @release_port: free these
 * @open_port: open a port's /dev/infiniband/umad*
 * @close_port: close it
 */
struct fabric_lib {
	__typeof__(ibnd_discover_fabric) *discover;
	__typeof__(ibnd_destroy_fabric) *destroy;
	__typeof__(ibnd_iter_nodes_type) *iterate;
	__typeof__(ibnd_cache_fabric) *save;
	__typeof__(ibnd_load_fabric) *load;
	__typeof__(mad_get_field) *get_field;
	__typeof__(umad_init) *init;
	__typeof__(umad_get_cas_names) *names;
	__typeof__(umad_get_port) *get_port;
	__typeof__(umad_release_port) *release_port;
	__typeof__(umad_open_port) *open_port;
	__typeof__(umad_close_port) *close_port;
};

static const struct library_symbol symbols[] = {
	{ "ibnd_discover_fabric", offsetof(struct fabric_lib, discover) },
	{ "ibnd_destroy_fabric", offsetof(struct fabric_lib, destroy) },
	{ "ibnd_iter_nodes_type", offsetof(struct fabric_lib, iterate) },
	{ "ibnd_cache_fabric", offsetof(struct fabric_lib, save) },
	{ "ibnd_load_fabric", offsetof(struct fabric_lib, load) },
	{ "mad_get_field", offsetof(struct fabric_lib, get_field) },
	{ "umad_init", offsetof(struct fabric_lib, init) },
	{ "umad_get_cas_names", offsetof(struct fabric_lib, names) },
	{ "umad_get_port", offsetof(struct fabric_lib, get_port) },
	{ "umad_release_port", offsetof(struct fabric_lib, release_port) },
	{ "umad_open_port", offsetof(struct fabric_lib, open_port) },
	{ "umad_close_port", offsetof(struct fabric_lib, close_port) },
	{ }
};

/**
 * struct fabric - one run
 * @lib: functions
 * @hosts: where the result goes
 * @from: the node of this host in the subnet at hand
 */
struct fabric {
	struct fabric_lib lib;
	struct hosts *hosts;
	const ibnd_node_t *from;
};

static void name_state(char *to, size_t room, unsigned int state)
{
	static const char * const names[] = { "?", "DOWN", "INIT", "ARMED", "ACTIVE" };

	snprintf(to, room, "%s", names[state < ARRAY_SIZE(names) ? state : 0]);
}

static void take_port(struct fabric *f, const ibnd_node_t *node, ibnd_port_t *port)
{
	struct hosts_entry e = {
		.transport = KVERBS_TRANSPORT_IB,
		.local = node == f->from,
		.port = port->portnum,
		.lid = port->base_lid,
		.guid = port->guid,
	};

	hosts_describe(&e, node->nodedesc);
	name_state(e.state, sizeof(e.state), f->lib.get_field(port->info, 0, IB_PORT_STATE_F));
	hosts_add(f->hosts, &e);
}

/* Ports that a discovery has not come to are not in the array. */
static void take_node(ibnd_node_t *node, void *data)
{
	int i;

	for (i = 1; i <= node->numports; i++)
		if (node->ports[i])
			take_port(data, node, node->ports[i]);
}

static void take(struct fabric *f, ibnd_fabric_t *subnet)
{
	f->from = subnet->from_node;
	f->lib.iterate(subnet, take_node, IB_NODE_CA, f);
	f->lib.destroy(subnet);
	f->hosts->asked[HOSTS_FABRIC] = true;
}

/* Only root can write there, and the file can be missing. */
static void save(struct fabric *f, ibnd_fabric_t *subnet, const char *adapter, int port)
{
	char path[PATH_MAX], new[PATH_MAX + 8];

	mkdir(CACHE, 0755);
	if (access(CACHE, W_OK))
		return;
	snprintf(path, sizeof(path), CACHE "/" PREFIX "%s.%d", adapter, port);
	/* A reader sees the old file or the new one; hidden names are none of them. */
	snprintf(new, sizeof(new), CACHE "/.%s.%d", adapter, port);
	if (f->lib.save(subnet, new, IBND_CACHE_FABRIC_FLAG_DEFAULT) || rename(new, path))
		unlink(new);
}

static void discover(struct fabric *f, char *adapter, int port)
{
	struct ibnd_config config = { };
	ibnd_fabric_t *subnet;
	int id = f->lib.open_port(adapter, port);

	if (id < 0) {
		hosts_miss(f->hosts, HOSTS_FABRIC, "%s port %d: /dev/infiniband/umad* (%s)%s",
			   adapter, port, err_name(-errno),
			   errno == EACCES ? ": only root may send management packets" : "");
		return;
	}
	f->lib.close_port(id);
	subnet = f->lib.discover(adapter, port, NULL, &config);
	if (!subnet) {
		hosts_miss(f->hosts, HOSTS_FABRIC, "%s port %d: the discovery has failed",
			   adapter, port);
		return;
	}
	save(f, subnet, adapter, port);
	take(f, subnet);
}

/* The link layer is "InfiniBand", or "IB" if the kernel does not tell. */
static bool has_link(const umad_port_t *port)
{
	return strcmp(port->link_layer, "Ethernet") && port->phys_state == 5;
}

static void look_adapter(struct fabric *f, char *adapter)
{
	umad_port_t port;
	bool linked;
	int nr;

	for (nr = 1; !f->lib.get_port(adapter, nr, &port); nr++) {
		linked = has_link(&port);
		f->lib.release_port(&port);
		if (linked)
			discover(f, adapter, nr);
	}
}

static void look_all(struct fabric *f)
{
	char adapters[ADAPTERS][UMAD_CA_NAME_LEN];
	int i, nr;

	f->lib.init();
	nr = f->lib.names(adapters, ADAPTERS);
	for (i = 0; i < nr; i++)
		look_adapter(f, adapters[i]);
}

static void look_cached(struct fabric *f)
{
	ibnd_fabric_t *subnet;
	glob_t files;
	size_t i;

	if (glob(CACHE "/" PREFIX "*", 0, NULL, &files))
		return;
	for (i = 0; i < files.gl_pathc; i++) {
		subnet = f->lib.load(files.gl_pathv[i], 0);
		if (subnet)
			take(f, subnet);
	}
	globfree(&files);
}

void fabric_look(struct hosts *hosts, bool cached)
{
	struct fabric f = { .hosts = hosts };

	if (library_load(SONAME, symbols, &f.lib))
		hosts_miss(hosts, HOSTS_FABRIC, "there is no " SONAME);
	else if (cached)
		look_cached(&f);
	else
		look_all(&f);
}

#endif /* HAVE_IBNETDISC */
