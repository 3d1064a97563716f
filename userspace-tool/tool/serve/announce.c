// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stddef.h>

#include "cli/err.h"
#include "serve/announce.h"

#ifndef HAVE_AVAHI

int announce_start(struct announce **announce, const struct announce_what *what)
{
	(void)what;
	*announce = NULL;
	err_warn("--announce: this kverbs was built without libavahi-client");
	return EXIT_FAILED;
}

void announce_stop(struct announce *announce)
{
	(void)announce;
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kverbs.h>

#include "doctor/net.h"
#include "doctor/rdma.h"
#include "hosts/avahi.h"
#include "hosts/hosts.h"
#include "peer/service.h"
#include "serve/log.h"

#define PLACES (RDMA_PORTS * 2)

/**
 * struct announce_place - a network interface that the server is announced on
 * @ifindex: of the interface
 * @protocol: address family that the server listens on
 * @device: RDMA device of the interface
 * @transport: enum kverbs_transport of the device
 */
struct announce_place {
	int ifindex;
	AvahiProtocol protocol;
	char device[64];
	enum kverbs_transport transport;
};

/**
 * struct announce - an announcement
 * @avahi: functions
 * @poll: thread of all callbacks
 * @client: connection to the daemon; the thread replaces it when the daemon restarts
 * @group: the announced services, or NULL
 * @name: of these services, which is the host's unless another server has taken it; of Avahi
 * @port: of the server
 * @services: of the server, comma-separated
 * @key: the server wants a key
 * @place: where to announce
 * @nr: how many places
 * @log: for what goes wrong later
 */
struct announce {
	struct avahi avahi;
	AvahiThreadedPoll *poll;
	AvahiClient *client;
	AvahiEntryGroup *group;
	char *name;
	unsigned int port;
	char services[SERVICE_LIST_MAX];
	bool key;
	struct announce_place place[PLACES];
	unsigned int nr;
	struct log *log;
};

static void warn(struct announce *a, const char *what)
{
	const struct log_event e = { .priority = LOG_WARNING, .name = "unannounced" };

	log_say(a->log, &e, "not announced: avahi-daemon: %s", what);
}

static AvahiStringList *text_of(const struct announce *a, const struct announce_place *place)
{
	const char *transport = kverbs_transport_str(place->transport);
	AvahiStringList *txt = NULL;

	/* The first pair is the last one that is added; RFC 6763 wants the version there. */
	txt = a->avahi.string_list_add_pair(txt, "key", a->key ? "1" : "0");
	txt = a->avahi.string_list_add_pair(txt, "services", a->services);
	txt = a->avahi.string_list_add_pair(txt, "device", place->device);
	txt = a->avahi.string_list_add_pair(txt, "transport", transport);
	return a->avahi.string_list_add_pair(txt, "txtvers", "1");
}

static int add_place(struct announce *a, const struct announce_place *place)
{
	AvahiStringList *txt = text_of(a, place);
	int ret;

	ret = a->avahi.entry_group_add_service_strlst(a->group, place->ifindex, place->protocol,
						      0, a->name, HOSTS_TYPE, NULL, NULL,
						      a->port, txt);
	a->avahi.string_list_free(txt);
	return ret;
}

static int add_all(struct announce *a)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < a->nr && !ret; i++)
		ret = add_place(a, &a->place[i]);
	return ret;
}

/* "host" becomes "host #2". */
static void rename_service(struct announce *a)
{
	char *name = a->avahi.alternative_service_name(a->name);

	a->avahi.free(a->name);
	a->name = name;
}

/* Another server of this host has the name already, or, by the group's event, one of another. */
static void publish(struct announce *a)
{
	int ret;

	while (a->name) {
		a->avahi.entry_group_reset(a->group);
		ret = add_all(a);
		if (!ret)
			ret = a->avahi.entry_group_commit(a->group);
		if (ret != AVAHI_ERR_COLLISION) {
			if (ret)
				warn(a, a->avahi.strerror(ret));
			return;
		}
		rename_service(a);
	}
}

static void group_event(AvahiEntryGroup *group, AvahiEntryGroupState state, void *data)
{
	struct announce *a = data;

	if (state != AVAHI_ENTRY_GROUP_COLLISION)
		return;
	a->group = group;
	rename_service(a);
	publish(a);
}

/* The name of the host is known, and is its own on these networks. */
static void begin(struct announce *a, AvahiClient *client)
{
	if (!a->group)
		a->group = a->avahi.entry_group_new(client, group_event, a);
	if (!a->group)
		return;
	if (a->name)
		a->avahi.free(a->name);
	a->name = a->avahi.strdup(a->avahi.client_get_host_name(client));
	publish(a);
}

static void client_event(AvahiClient *client, AvahiClientState state, void *data);

/* The daemon has gone, and with it what the client had registered. */
static void reconnect(struct announce *a, AvahiClient *client)
{
	int err;

	a->group = NULL;
	a->avahi.client_free(client);
	a->client = a->avahi.client_new(a->avahi.threaded_poll_get(a->poll),
					AVAHI_CLIENT_NO_FAIL, client_event, a, &err);
	if (!a->client)
		warn(a, a->avahi.strerror(err));
}

/* Called in the thread, and for the first state in avahi_client_new(). */
static void client_event(AvahiClient *client, AvahiClientState state, void *data)
{
	struct announce *a = data;

	switch (state) {
	case AVAHI_CLIENT_S_RUNNING:
		begin(a, client);
		break;
	case AVAHI_CLIENT_S_REGISTERING:
	case AVAHI_CLIENT_S_COLLISION:
		if (a->group)
			a->avahi.entry_group_reset(a->group);
		break;
	case AVAHI_CLIENT_CONNECTING:
		warn(a, "waiting until it runs");
		break;
	case AVAHI_CLIENT_FAILURE:
		if (a->avahi.client_errno(client) == AVAHI_ERR_DISCONNECTED)
			reconnect(a, client);
		else
			warn(a, a->avahi.strerror(a->avahi.client_errno(client)));
		break;
	}
}

/* Whether two texts are the same address; an IPv6 address may have a scope. */
static bool is_address(const char *text, const char *other)
{
	struct in6_addr a, b;
	char plain[NET_ADDR_LEN];

	snprintf(plain, sizeof(plain), "%.*s", (int)strcspn(text, "%"), text);
	if (inet_pton(AF_INET6, plain, &a) == 1)
		return inet_pton(AF_INET6, other, &b) == 1 && !memcmp(&a, &b, sizeof(a));
	return !strcmp(plain, other);
}

static bool has_address(const struct net_dev *dev, const char *bind)
{
	const char *scope = strchr(bind, '%');
	unsigned int i;

	if (scope && strcmp(scope + 1, dev->name))
		return false;
	for (i = 0; i < dev->nr; i++)
		if (is_address(bind, dev->addr[i]))
			return true;
	return false;
}

static void add_netdev(struct announce *a, const struct announce_what *what,
		       const struct rdma_port *port, const struct net_dev *dev)
{
	struct announce_place *place = &a->place[a->nr];

	if (!dev || a->nr == PLACES || (what->bind && !has_address(dev, what->bind)))
		return;
	place->ifindex = if_nametoindex(dev->name);
	if (!place->ifindex)
		return;
	place->protocol = AVAHI_PROTO_UNSPEC;
	if (what->bind)
		place->protocol = strchr(what->bind, ':') ? AVAHI_PROTO_INET6 : AVAHI_PROTO_INET;
	snprintf(place->device, sizeof(place->device), "%s", port->device);
	place->transport = port->transport;
	a->nr++;
}

static void forget_unusable(struct kverbs *kv, struct rdma *rdma)
{
	struct kverbs_device *list;
	int i, nr = kverbs_device_list(kv, &list);

	for (i = 0; i < nr; i++)
		if (list[i].attr->out_unusable)
			rdma_forget(rdma, list[i].attr->out_name);
	if (nr >= 0)
		kverbs_device_list_free(list, nr);
}

static int find_places(struct announce *a, const struct announce_what *what)
{
	struct rdma *rdma = calloc(1, sizeof(*rdma));
	struct net *net = calloc(1, sizeof(*net));
	unsigned int i, j;
	int ret = -ENOMEM;

	if (!rdma || !net)
		goto out_free;
	net_look(net);
	rdma_look(rdma, net, "");
	forget_unusable(what->kv, rdma);
	for (i = 0; i < rdma->nr; i++)
		for (j = 0; j < rdma->port[i].nr; j++)
			add_netdev(a, what, &rdma->port[i],
				   net_find(net, rdma->port[i].netdev[j]));
	ret = net->err;
out_free:
	free(rdma);
	free(net);
	return ret;
}

static int connect_daemon(struct announce *a)
{
	int err;

	a->poll = a->avahi.threaded_poll_new();
	if (!a->poll)
		return AVAHI_ERR_NO_MEMORY;
	a->client = a->avahi.client_new(a->avahi.threaded_poll_get(a->poll),
					AVAHI_CLIENT_NO_FAIL, client_event, a, &err);
	if (!a->client)
		return err;
	return a->avahi.threaded_poll_start(a->poll);
}

static int fill(struct announce *a, const struct announce_what *what)
{
	int ret;

	if (avahi_load(&a->avahi)) {
		err_warn("--announce: there is no " AVAHI_SONAME);
		return EXIT_FAILED;
	}
	a->port = what->port;
	a->key = what->key;
	a->log = what->log;
	service_format(what->services, a->services);
	ret = find_places(a, what);
	if (ret)
		return err_report(ERR_LOCAL, ret, "list network interfaces with ip");
	if (!a->nr)
		err_warn("--announce: no network interface with this address has an RDMA device");
	ret = connect_daemon(a);
	if (!ret)
		return EXIT_OK;
	err_warn("--announce: avahi-daemon: %s", a->avahi.strerror(ret));
	return EXIT_FAILED;
}

int announce_start(struct announce **announce, const struct announce_what *what)
{
	struct announce *a = calloc(1, sizeof(*a));
	int status;

	*announce = NULL;
	if (!a)
		return err_report(ERR_LOCAL, -ENOMEM, "announce the server");
	status = fill(a, what);
	if (status)
		announce_stop(a);
	else
		*announce = a;
	return status;
}

void announce_stop(struct announce *a)
{
	if (!a)
		return;
	if (a->poll)
		a->avahi.threaded_poll_stop(a->poll);
	/* Also frees the group; the daemon tells the networks. */
	if (a->client)
		a->avahi.client_free(a->client);
	if (a->poll)
		a->avahi.threaded_poll_free(a->poll);
	if (a->name)
		a->avahi.free(a->name);
	free(a);
}

#endif /* HAVE_AVAHI */
