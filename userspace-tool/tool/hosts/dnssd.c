// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs hosts: announcements of kverbs serve, by DNS-SD with Avahi.
 */
#include "hosts/dnssd.h"
#include "hosts/hosts.h"

#ifndef HAVE_AVAHI

void dnssd_look(struct hosts *hosts, bool cached, int timeout_ms)
{
	(void)cached;
	(void)timeout_ms;
	hosts_miss(hosts, HOSTS_DNSSD, "this kverbs was built without libavahi-client");
}

#else

#include <net/if.h>
#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "hosts/avahi.h"

/* A name in the daemon's cache is resolved at once, if its address is there too. */
#define CACHED_MS 200

/**
 * struct dnssd - one run
 * @avahi: functions
 * @client: connection to the daemon
 * @hosts: where the result goes
 * @cached: ask only the daemon
 * @pending: announcements whose address is not known yet
 * @done: there are no more announcements
 */
struct dnssd {
	struct avahi avahi;
	AvahiClient *client;
	struct hosts *hosts;
	bool cached;
	unsigned int pending;
	bool done;
};

static void take_txt(const struct dnssd *d, struct hosts_entry *e, AvahiStringList *txt)
{
	for (; txt; txt = d->avahi.string_list_get_next(txt))
		hosts_txt(e, (const char *)d->avahi.string_list_get_text(txt),
			  d->avahi.string_list_get_size(txt));
}

/* fe80::1%eth0 */
static void take_address(const struct dnssd *d, struct hosts_entry *e,
			 const AvahiAddress *address)
{
	size_t len;

	d->avahi.address_snprint(e->host, sizeof(e->host), address);
	len = strlen(e->host);
	if (!strncmp(e->host, "fe80:", 5))
		snprintf(e->host + len, sizeof(e->host) - len, "%%%s", e->interface);
}

/* The host's name without the domain, which few resolvers know. */
static void take_name(struct hosts_entry *e, const char *name)
{
	size_t len = strlen(name), tail = strlen(".local");

	if (len > tail && !strcmp(name + len - tail, ".local"))
		len -= tail;
	hosts_text(e->name, sizeof(e->name), name, len);
}

static void resolved(AvahiServiceResolver *resolver, AvahiIfIndex interface,
		     AvahiProtocol protocol, AvahiResolverEvent event, const char *name,
		     const char *type, const char *domain, const char *host,
		     const AvahiAddress *address, uint16_t port, AvahiStringList *txt,
		     AvahiLookupResultFlags flags, void *data)
{
	struct hosts_entry e = { };
	struct dnssd *d = data;

	(void)protocol;
	(void)name;
	(void)type;
	(void)domain;
	if (event == AVAHI_RESOLVER_FOUND) {
		if_indextoname(interface, e.interface);
		e.local = flags & AVAHI_LOOKUP_RESULT_LOCAL;
		e.server = port;
		take_name(&e, host);
		take_address(d, &e, address);
		take_txt(d, &e, txt);
		hosts_add(d->hosts, &e);
	}
	d->avahi.service_resolver_free(resolver);
	d->pending--;
}

/* Each address family is announced, and resolved, by itself. */
static void resolve(struct dnssd *d, AvahiIfIndex interface, AvahiProtocol protocol,
		    const char *name, const char *type, const char *domain)
{
	if (d->avahi.service_resolver_new(d->client, interface, protocol, name, type, domain,
					  protocol, 0, resolved, d))
		d->pending++;
}

static void browsed(AvahiServiceBrowser *browser, AvahiIfIndex interface,
		    AvahiProtocol protocol, AvahiBrowserEvent event, const char *name,
		    const char *type, const char *domain, AvahiLookupResultFlags flags,
		    void *data)
{
	struct dnssd *d = data;

	(void)browser;
	(void)flags;
	switch (event) {
	case AVAHI_BROWSER_NEW:
		resolve(d, interface, protocol, name, type, domain);
		break;
	case AVAHI_BROWSER_CACHE_EXHAUSTED:
		d->done |= d->cached;
		break;
	case AVAHI_BROWSER_ALL_FOR_NOW:
	case AVAHI_BROWSER_FAILURE:
		d->done = true;
		break;
	default:
		break;
	}
}

/* A client is of no use without the daemon, and then avahi_client_new() fails. */
static void client_event(AvahiClient *client, AvahiClientState state, void *data)
{
	struct dnssd *d = data;

	(void)client;
	d->done |= state == AVAHI_CLIENT_FAILURE;
}

static void await(struct dnssd *d, AvahiSimplePoll *poll, int timeout_ms)
{
	double until = units_now() + timeout_ms / 1e3, left = timeout_ms / 1e3;

	while ((!d->done || d->pending) && left > 0) {
		if (d->avahi.simple_poll_iterate(poll, left * 1e3 + 1))
			break;
		left = until - units_now();
	}
}

static void browse(struct dnssd *d, AvahiSimplePoll *poll, int timeout_ms)
{
	int err;

	d->client = d->avahi.client_new(d->avahi.simple_poll_get(poll), 0, client_event, d,
					&err);
	if (!d->client) {
		hosts_miss(d->hosts, HOSTS_DNSSD, "avahi-daemon: %s", d->avahi.strerror(err));
		return;
	}
	if (d->avahi.service_browser_new(d->client, AVAHI_IF_UNSPEC, AVAHI_PROTO_UNSPEC,
					 HOSTS_TYPE, NULL, 0, browsed, d)) {
		await(d, poll, d->cached ? CACHED_MS : timeout_ms);
		d->hosts->asked[HOSTS_DNSSD] = true;
	} else {
		hosts_miss(d->hosts, HOSTS_DNSSD, "avahi-daemon: %s",
			   d->avahi.strerror(d->avahi.client_errno(d->client)));
	}
	/* Also frees the browser, and resolvers that have no answer. */
	d->avahi.client_free(d->client);
}

void dnssd_look(struct hosts *hosts, bool cached, int timeout_ms)
{
	struct dnssd d = { .hosts = hosts, .cached = cached };
	AvahiSimplePoll *poll;

	if (avahi_load(&d.avahi)) {
		hosts_miss(hosts, HOSTS_DNSSD, "there is no " AVAHI_SONAME);
		return;
	}
	poll = d.avahi.simple_poll_new();
	if (!poll)
		return;
	browse(&d, poll, timeout_ms);
	d.avahi.simple_poll_free(poll);
}

#endif /* HAVE_AVAHI */
