/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Avahi's client library, loaded when it is needed. Only for files that HAVE_AVAHI guards. */
#ifndef KVERBS_TOOL_AVAHI_H
#define KVERBS_TOOL_AVAHI_H

#include <avahi-client/client.h>
#include <avahi-client/lookup.h>
#include <avahi-client/publish.h>
#include <avahi-common/address.h>
#include <avahi-common/alternative.h>
#include <avahi-common/error.h>
#include <avahi-common/malloc.h>
#include <avahi-common/simple-watch.h>
#include <avahi-common/strlst.h>
#include <avahi-common/thread-watch.h>

#define AVAHI_SONAME "libavahi-client.so.3"

/* Functions, each named as in the library without its prefix avahi_. */
struct avahi {
	__typeof__(avahi_address_snprint) *address_snprint;
	__typeof__(avahi_alternative_service_name) *alternative_service_name;
	__typeof__(avahi_client_errno) *client_errno;
	__typeof__(avahi_client_free) *client_free;
	__typeof__(avahi_client_get_host_name) *client_get_host_name;
	__typeof__(avahi_client_new) *client_new;
	__typeof__(avahi_entry_group_add_service_strlst) *entry_group_add_service_strlst;
	__typeof__(avahi_entry_group_commit) *entry_group_commit;
	__typeof__(avahi_entry_group_new) *entry_group_new;
	__typeof__(avahi_entry_group_reset) *entry_group_reset;
	__typeof__(avahi_free) *free;
	__typeof__(avahi_service_browser_new) *service_browser_new;
	__typeof__(avahi_service_resolver_free) *service_resolver_free;
	__typeof__(avahi_service_resolver_new) *service_resolver_new;
	__typeof__(avahi_simple_poll_free) *simple_poll_free;
	__typeof__(avahi_simple_poll_get) *simple_poll_get;
	__typeof__(avahi_simple_poll_iterate) *simple_poll_iterate;
	__typeof__(avahi_simple_poll_new) *simple_poll_new;
	__typeof__(avahi_strerror) *strerror;
	__typeof__(avahi_strdup) *strdup;
	__typeof__(avahi_string_list_add_pair) *string_list_add_pair;
	__typeof__(avahi_string_list_free) *string_list_free;
	__typeof__(avahi_string_list_get_next) *string_list_get_next;
	__typeof__(avahi_string_list_get_size) *string_list_get_size;
	__typeof__(avahi_string_list_get_text) *string_list_get_text;
	__typeof__(avahi_threaded_poll_free) *threaded_poll_free;
	__typeof__(avahi_threaded_poll_get) *threaded_poll_get;
	__typeof__(avahi_threaded_poll_new) *threaded_poll_new;
	__typeof__(avahi_threaded_poll_start) *threaded_poll_start;
	__typeof__(avahi_threaded_poll_stop) *threaded_poll_stop;
};

/* -ENOENT: there is no such library. */
int avahi_load(struct avahi *avahi);

#endif /* KVERBS_TOOL_AVAHI_H */
