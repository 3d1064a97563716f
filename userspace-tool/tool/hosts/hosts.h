/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Hosts that can be reached by RDMA, as a fabric or their announcements show them. */
#ifndef KVERBS_TOOL_HOSTS_H
#define KVERBS_TOOL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kverbs.h>

/* More hosts than that are left out: others decide how many there are. */
#define HOSTS_MAX 65536
#define HOSTS_TEXT 64

/* The DNS-SD type of kverbs serve; see kverbs-hosts(1) for the reason of _tcp. */
#define HOSTS_TYPE "_kverbs._tcp"

/**
 * struct hosts_entry - an RDMA port of a host
 * @host: name or address that other commands take, empty if none is known
 * @name: of the host or, if that is not known, of its adapter
 * @device: its RDMA device, or empty
 * @transport: enum kverbs_transport
 * @local: on this host
 * @server: port of the server that was announced, 0: none
 * @services: of the server, comma-separated
 * @key: the server wants a key
 * @interface: network interface of this host that leads there, or empty
 * @port: number of the InfiniBand port
 * @lid: of that port, 0: the subnet manager has not assigned one
 * @guid: of that port
 * @state: of that port, such as ACTIVE
 */
struct hosts_entry {
	char host[HOSTS_TEXT];
	char name[HOSTS_TEXT];
	char device[HOSTS_TEXT];
	enum kverbs_transport transport;
	bool local;
	unsigned int server;
	char services[HOSTS_TEXT];
	bool key;
	char interface[16];
	unsigned int port;
	unsigned int lid;
	uint64_t guid;
	char state[16];
};

/**
 * enum hosts_source - where entries come from
 * @HOSTS_FABRIC: the subnets of InfiniBand ports
 * @HOSTS_DNSSD: announcements by DNS-SD
 */
enum hosts_source {
	HOSTS_FABRIC,
	HOSTS_DNSSD,
	HOSTS_SOURCES,
};

/**
 * struct hosts - what was found
 * @list: entries
 * @nr: how many
 * @asked: sources that have answered, even if they know of no host
 * @missing: for each other one why not, empty if it does not concern this host
 */
struct hosts {
	struct hosts_entry *list;
	unsigned int nr;
	bool asked[HOSTS_SOURCES];
	char missing[HOSTS_SOURCES][256];
};

/* Add a copy of @entry, unless the list has it or is full. */
void hosts_add(struct hosts *hosts, const struct hosts_entry *entry);
/* Copy text that another host has written: all but printable ASCII becomes a question mark. */
void hosts_text(char *to, size_t room, const char *from, size_t len);
/*
 * Fill @host, @name and @device from the description of an InfiniBand node, which is "HOST DEVICE"
 * if rdma-ndd(8) has set it.
 */
void hosts_describe(struct hosts_entry *entry, const char *description);
/* Take over a "key=value" of an announcement; unknown keys are ignored. */
void hosts_txt(struct hosts_entry *entry, const char *txt, size_t len);
/* Say why a source was not asked. */
void hosts_miss(struct hosts *hosts, enum hosts_source source, const char *fmt, ...)
	__attribute__((__format__(printf, 3, 4)));
void hosts_sort(struct hosts *hosts);
/* 0 or -ENOMEM. */
int hosts_table(const struct hosts *hosts);
void hosts_json(const struct hosts *hosts);
void hosts_free(struct hosts *hosts);

#endif /* KVERBS_TOOL_HOSTS_H */
