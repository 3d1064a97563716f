/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Whether a ruleset of nftables lets a packet pass, as far as one can tell. */
#ifndef KVERBS_TOOL_NFT_H
#define KVERBS_TOOL_NFT_H

#include <stdbool.h>

struct json_object;

/**
 * struct nft_packet - the first of a flow, which no rule knows yet
 * @proto: "udp" or "tcp"
 * @dport: destination port
 * @netdev: interface it goes through
 * @out: it leaves this host
 * @ipv6: or else it is IPv4
 */
struct nft_packet {
	const char *proto;
	unsigned int dport;
	const char *netdev;
	bool out;
	bool ipv6;
};

/* Fate of the packet; MAYBE: a rule that is not understood decides. */
enum nft_fate {
	NFT_PASS,
	NFT_MAYBE,
	NFT_BLOCK,
};

/**
 * struct nft_block - who stops it
 * @fate: of the packet
 * @family: of the chain where a rule that accepts it would go first
 * @table: its table
 * @chain: its name
 */
struct nft_block {
	enum nft_fate fate;
	const char *family;
	const char *table;
	const char *chain;
};

/* @ruleset is what "nft -j list ruleset" prints; names point into it. */
void nft_judge(struct json_object *ruleset, const struct nft_packet *packet,
	       struct nft_block *block);

#endif /* KVERBS_TOOL_NFT_H */
