// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "doctor/host.h"
#include "doctor/net.h"

static const char *text_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_string(v) : "";
}

static unsigned int number_of(struct json_object *o, const char *key)
{
	struct json_object *v;

	return json_object_object_get_ex(o, key, &v) ? json_object_get_int64(v) : 0;
}

static bool has_flag(struct json_object *o, const char *flag)
{
	struct json_object *flags;
	size_t i;

	if (!json_object_object_get_ex(o, "flags", &flags) ||
	    !json_object_is_type(flags, json_type_array))
		return false;
	for (i = 0; i < json_object_array_length(flags); i++)
		if (!strcmp(json_object_get_string(json_object_array_get_idx(flags, i)), flag))
			return true;
	return false;
}

static void read_mac(struct net_dev *dev, const char *text)
{
	unsigned int v;
	int n;

	while (dev->mac_len < sizeof(dev->mac) && sscanf(text, "%2x%n", &v, &n) == 1) {
		dev->mac[dev->mac_len++] = v;
		text += n + (text[n] == ':');
	}
}

static void read_addrs(struct net_dev *dev, struct json_object *o)
{
	struct json_object *list, *one;
	size_t i;

	if (!json_object_object_get_ex(o, "addr_info", &list) ||
	    !json_object_is_type(list, json_type_array))
		return;
	for (i = 0; i < json_object_array_length(list) && dev->nr < NET_ADDRS; i++) {
		one = json_object_array_get_idx(list, i);
		if (!*text_of(one, "local"))
			continue;
		dev->prefix[dev->nr] = number_of(one, "prefixlen");
		snprintf(dev->addr[dev->nr++], NET_ADDR_LEN, "%s", text_of(one, "local"));
	}
}

static void read_dev(struct net_dev *dev, struct json_object *o)
{
	memset(dev, 0, sizeof(*dev));
	snprintf(dev->name, sizeof(dev->name), "%s", text_of(o, "ifname"));
	dev->mtu = number_of(o, "mtu");
	dev->up = has_flag(o, "UP");
	dev->running = has_flag(o, "LOWER_UP");
	dev->loopback = has_flag(o, "LOOPBACK");
	read_mac(dev, text_of(o, "address"));
	read_addrs(dev, o);
}

void net_look(struct net *net)
{
	static const char * const argv[] = { "ip", "-j", "address", "show", NULL };
	struct json_object *list;
	char said[256];
	size_t i;

	memset(net, 0, sizeof(*net));
	net->err = doctor_ask(argv, &list, said, sizeof(said));
	if (net->err)
		return;
	if (!json_object_is_type(list, json_type_array))
		net->err = -EIO;
	for (i = 0; !net->err && i < json_object_array_length(list) && net->nr < NET_DEVS; i++)
		read_dev(&net->dev[net->nr++], json_object_array_get_idx(list, i));
	json_object_put(list);
}

const struct net_dev *net_find(const struct net *net, const char *name)
{
	unsigned int i;

	for (i = 0; i < net->nr; i++)
		if (!strcmp(net->dev[i].name, name))
			return &net->dev[i];
	return NULL;
}

bool net_is_global(const char *addr)
{
	return strncasecmp(addr, "fe80:", 5) && strncmp(addr, "169.254.", 8);
}

static const struct net_dev *owner_of(const struct net *net, const char *addr)
{
	unsigned int i, j;

	for (i = 0; i < net->nr; i++)
		for (j = 0; j < net->dev[i].nr; j++)
			if (!strcmp(net->dev[i].addr[j], addr))
				return &net->dev[i];
	return NULL;
}

static void read_route(const struct net *net, struct net_route *route, struct json_object *o,
		       const char *to)
{
	const struct net_dev *owner;

	snprintf(route->dev, sizeof(route->dev), "%s", text_of(o, "dev"));
	snprintf(route->source, sizeof(route->source), "%s", text_of(o, "prefsrc"));
	snprintf(route->via, sizeof(route->via), "%s", text_of(o, "gateway"));
	owner = owner_of(net, to);
	route->local = owner;
	if (!owner)
		return;
	/* The kernel says lo, and the CM goes by who has the address. */
	snprintf(route->dev, sizeof(route->dev), "%s", owner->name);
	snprintf(route->source, sizeof(route->source), "%s", to);
}

/* @to may have a scope, as in fe80::1%eth0. */
int net_route(const struct net *net, const char *to, const char *from,
	      struct net_route *route, char *said, size_t room)
{
	const char *argv[10] = { "ip", "-j", "route", "get" };
	const char *scope = strchr(to, '%');
	struct json_object *list;
	char addr[NET_ADDR_LEN];
	unsigned int n = 4;
	int ret;

	memset(route, 0, sizeof(*route));
	snprintf(addr, sizeof(addr), "%.*s", (int)strcspn(to, "%"), to);
	argv[n++] = addr;
	if (from) {
		argv[n++] = "from";
		argv[n++] = from;
	}
	if (scope) {
		argv[n++] = "oif";
		argv[n++] = scope + 1;
	}
	ret = doctor_ask(argv, &list, said, room);
	if (ret)
		return ret == -ENOENT ? ret : -EHOSTUNREACH;
	if (json_object_is_type(list, json_type_array) && json_object_array_length(list))
		read_route(net, route, json_object_array_get_idx(list, 0), addr);
	json_object_put(list);
	return *route->dev ? 0 : -EHOSTUNREACH;
}
