// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs doctor: rules of nftables that stop what RDMA sends. Only software devices
 * go through them: adapters send past the kernel.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "doctor/doctor.h"
#include "doctor/host.h"
#include "doctor/nft.h"

#define ROCE_PORT 4791

/* The software port whose packets are checked: that of the route, else the first. */
static const struct rdma_port *software_port(const struct doctor *d)
{
	const struct rdma_port *port;

	if (d->on)
		return d->on->software ? d->on : NULL;
	for (port = d->rdma.port; port < d->rdma.port + d->rdma.nr; port++)
		if (port->software)
			return port;
	return NULL;
}

static void describe(const struct doctor *d, const struct rdma_port *port,
		     struct nft_packet *packet)
{
	bool roce = port->transport == KVERBS_TRANSPORT_ROCE;

	memset(packet, 0, sizeof(*packet));
	packet->proto = roce ? "udp" : "tcp";
	packet->dport = roce ? ROCE_PORT : strtoul(d->to.port ? d->to.port : "0", NULL, 10);
	packet->netdev = *d->route.dev ? d->route.dev : port->nr ? port->netdev[0] : "";
	packet->ipv6 = d->peer.ss_family == AF_INET6;
}

/* Its tables are listed as ours are not. */
static bool has_legacy(const struct doctor *d)
{
	char names[256];

	doctor_read(d->root, names, sizeof(names), "/proc/net/ip_tables_names");
	return *names;
}

/* Use firewalld if it manages the rules: it would remove a rule of nft. */
static void mend(struct finding *f, const struct nft_packet *p, const struct nft_block *b)
{
	if (!strcmp(b->table, "firewalld")) {
		finding_mend(f, "firewall-cmd --permanent --add-port=%u/%s", p->dport, p->proto);
		finding_mend(f, "firewall-cmd --reload");
	} else {
		finding_mend(f, "nft insert rule %s %s %s %s dport %u accept", b->family,
			     b->table, b->chain, p->proto, p->dport);
	}
}

/* rxe gives up its management queue pair when a packet of it may not leave. */
static void mend_rxe(struct finding *f, const struct nft_packet *p,
		     const struct rdma_port *port)
{
	if (port->transport != KVERBS_TRANSPORT_ROCE)
		return;
	finding_advise(f, "The device may stay silent until it is created anew, ");
	finding_advise(f, "which ends its connections:");
	finding_mend(f, "rdma link delete %s", port->device);
	finding_mend(f, "rdma link add %s type rxe netdev %s", port->device, p->netdev);
}

static void blocked(struct finding *f, const struct nft_packet *p, const struct nft_block *b)
{
	const char *way = p->out ? "leave" : "come in";

	if (b->fate == NFT_BLOCK)
		finding_fail(f, "%s port %u may not %s: chain %s of table %s %s drops it",
			     p->proto, p->dport, way, b->chain, b->family, b->table);
	else
		finding_warn(f, "%s port %u may not always %s: chain %s of table %s %s has rules that doctor does not understand",
			     p->proto, p->dport, way, b->chain, b->family, b->table);
	if (b->fate == NFT_BLOCK)
		mend(f, p, b);
	else
		finding_mend(f, "nft list chain %s %s %s", b->family, b->table, b->chain);
}

static void judge(struct doctor *d, struct finding *f, struct json_object *rules,
		  const struct rdma_port *port)
{
	struct nft_packet packet;
	struct nft_block in, out;

	describe(d, port, &packet);
	nft_judge(rules, &packet, &in);
	packet.out = true;
	nft_judge(rules, &packet, &out);
	/* A client of TCP gets answers to its own port, which rules know by state. */
	if (!strcmp(packet.proto, "tcp") && d->to.host)
		in.fate = NFT_PASS;
	packet.out = out.fate > in.fate;
	if (in.fate == NFT_PASS && out.fate == NFT_PASS)
		finding_ok(f, "nftables lets %s port %u through", packet.proto, packet.dport);
	else
		blocked(f, &packet, packet.out ? &out : &in);
	/* Both ways are to be open when it is mended. */
	if (in.fate == NFT_BLOCK && out.fate == NFT_BLOCK)
		mend(f, &packet, &out);
	if (out.fate == NFT_BLOCK)
		mend_rxe(f, &packet, port);
}

void doctor_firewall(struct doctor *d, struct finding *f)
{
	static const char * const argv[] = { "nft", "-j", "list", "ruleset", NULL };
	const struct rdma_port *port = software_port(d);
	struct json_object *rules;
	char said[256];
	int ret;

	if (!port) {
		finding_skip(f, "adapters bypass this host's firewall");
		return;
	}
	if (has_legacy(d)) {
		finding_warn(f, "there are rules of iptables-legacy, which are not checked");
		finding_mend(f, "iptables-legacy-save");
		return;
	}
	ret = doctor_ask(argv, &rules, said, sizeof(said));
	if (ret == -ENOENT)
		finding_skip(f, "the command nft cannot be run");
	else if (ret)
		finding_skip(f, "only root may list the rules: sudo kverbs doctor");
	else
		judge(d, f, rules, port);
	json_object_put(rules);
}
