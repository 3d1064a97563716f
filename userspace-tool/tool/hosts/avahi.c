// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#ifdef HAVE_AVAHI

#include <stddef.h>

#include "cli/library.h"
#include "hosts/avahi.h"

#define SYMBOL(name) { "avahi_" #name, offsetof(struct avahi, name) }

static const struct library_symbol symbols[] = {
	SYMBOL(address_snprint),
	SYMBOL(alternative_service_name),
	SYMBOL(client_errno),
	SYMBOL(client_free),
	SYMBOL(client_get_host_name),
	SYMBOL(client_new),
	SYMBOL(entry_group_add_service_strlst),
	SYMBOL(entry_group_commit),
	SYMBOL(entry_group_new),
	SYMBOL(entry_group_reset),
	SYMBOL(free),
	SYMBOL(service_browser_new),
	SYMBOL(service_resolver_free),
	SYMBOL(service_resolver_new),
	SYMBOL(simple_poll_free),
	SYMBOL(simple_poll_get),
	SYMBOL(simple_poll_iterate),
	SYMBOL(simple_poll_new),
	SYMBOL(strerror),
	SYMBOL(strdup),
	SYMBOL(string_list_add_pair),
	SYMBOL(string_list_free),
	SYMBOL(string_list_get_next),
	SYMBOL(string_list_get_size),
	SYMBOL(string_list_get_text),
	SYMBOL(threaded_poll_free),
	SYMBOL(threaded_poll_get),
	SYMBOL(threaded_poll_new),
	SYMBOL(threaded_poll_start),
	SYMBOL(threaded_poll_stop),
	{ }
};

int avahi_load(struct avahi *avahi)
{
	return library_load(AVAHI_SONAME, symbols, avahi);
}

#endif /* HAVE_AVAHI */
