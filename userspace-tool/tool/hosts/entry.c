// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs hosts: the list, and the text of others that gets into it.
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>
#include <kverbs.h>

#include "cli/grid.h"
#include "cli/json.h"
#include "cli/out.h"
#include "hosts/hosts.h"

static bool is_same(const struct hosts_entry *a, const struct hosts_entry *b)
{
	if (a->guid || b->guid)
		return a->guid == b->guid;
	return a->server == b->server && !strcmp(a->host, b->host) &&
	       !strcmp(a->device, b->device);
}

void hosts_add(struct hosts *hosts, const struct hosts_entry *entry)
{
	struct hosts_entry *list;
	unsigned int i;

	for (i = 0; i < hosts->nr; i++)
		if (is_same(&hosts->list[i], entry))
			return;
	if (hosts->nr == HOSTS_MAX)
		return;
	list = realloc(hosts->list, (hosts->nr + 1) * sizeof(*list));
	if (!list)
		return;
	hosts->list = list;
	hosts->list[hosts->nr++] = *entry;
}

void hosts_text(char *to, size_t room, const char *from, size_t len)
{
	size_t i;

	for (i = 0; i < len && i + 1 < room && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] <= '~' ? from[i] : '?';
	to[i] = '\0';
}

/* Letters, digits, hyphens and dots, and no option. */
static bool is_name(const char *word, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		if (!isalnum((unsigned char)word[i]) &&
		    !(i && (word[i] == '-' || word[i] == '.')))
			return false;
	return len;
}

/* A description of more words is that of a product, which the adapter has by default. */
void hosts_describe(struct hosts_entry *entry, const char *description)
{
	size_t first = strcspn(description, " "), second;
	const char *rest = description + first + strspn(description + first, " ");

	second = strcspn(rest, " ");
	hosts_text(entry->name, sizeof(entry->name), description, strlen(description));
	if (rest[second + strspn(rest + second, " ")] || !is_name(description, first))
		return;
	hosts_text(entry->host, sizeof(entry->host), description, first);
	hosts_text(entry->name, sizeof(entry->name), description, first);
	hosts_text(entry->device, sizeof(entry->device), rest, second);
}

static enum kverbs_transport transport_of(const char *word)
{
	static const enum kverbs_transport all[] = {
		KVERBS_TRANSPORT_IB, KVERBS_TRANSPORT_ROCE, KVERBS_TRANSPORT_IWARP,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(all); i++)
		if (!strcasecmp(word, kverbs_transport_str(all[i])))
			return all[i];
	return KVERBS_TRANSPORT_UNKNOWN;
}

/* The value of @key in a "key=value", or NULL. */
static const char *value_of(const char *txt, size_t len, const char *key)
{
	size_t n = strlen(key);

	return len > n && !strncasecmp(txt, key, n) && txt[n] == '=' ? txt + n + 1 : NULL;
}

void hosts_txt(struct hosts_entry *entry, const char *txt, size_t len)
{
	const char *end = txt + len, *value;
	char word[HOSTS_TEXT];

	value = value_of(txt, len, "transport");
	if (value) {
		hosts_text(word, sizeof(word), value, end - value);
		entry->transport = transport_of(word);
	}
	value = value_of(txt, len, "device");
	if (value)
		hosts_text(entry->device, sizeof(entry->device), value, end - value);
	value = value_of(txt, len, "services");
	if (value)
		hosts_text(entry->services, sizeof(entry->services), value, end - value);
	value = value_of(txt, len, "key");
	if (value)
		entry->key = end - value == 1 && *value == '1';
}

void hosts_miss(struct hosts *hosts, enum hosts_source source, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(hosts->missing[source], sizeof(hosts->missing[source]), fmt, ap);
	va_end(ap);
}

static int in_order(const void *a, const void *b)
{
	const struct hosts_entry *one = a, *other = b;
	int order = strverscmp(one->name, other->name);

	if (!order)
		order = strverscmp(one->host, other->host);
	return order ? order : strverscmp(one->device, other->device);
}

void hosts_sort(struct hosts *hosts)
{
	if (hosts->nr)
		qsort(hosts->list, hosts->nr, sizeof(*hosts->list), in_order);
}

static const char *or_dash(const char *text)
{
	return *text ? text : "-";
}

/* Words about the port or the server, the last of a line. */
static void put_more(struct grid *g, const struct hosts_entry *e)
{
	char text[GRID_CELL] = "";

	if (e->guid && e->lid)
		snprintf(text, sizeof(text), "%s, LID %u", e->state, e->lid);
	else if (e->guid)
		snprintf(text, sizeof(text), "%s", e->state);
	else if (e->server)
		snprintf(text, sizeof(text), "%s%s", or_dash(e->services),
			 e->key ? ", with a key" : "");
	grid_cell(g, 5, "%s%s", or_dash(text), e->local ? ", this host" : "");
}

static void put_entry(struct grid *g, const struct hosts_entry *e)
{
	grid_row(g);
	grid_cell(g, 0, "%s", or_dash(e->host));
	grid_cell(g, 1, "%s", or_dash(e->name));
	grid_cell(g, 2, "%s", kverbs_transport_str(e->transport));
	grid_cell(g, 3, "%s", or_dash(e->device));
	if (e->server)
		grid_cell(g, 4, "%u", e->server);
	else
		grid_cell(g, 4, "-");
	put_more(g, e);
}

int hosts_table(const struct hosts *hosts)
{
	static const char * const titles[] = {
		"HOST", "NAME", "TRANSPORT", "DEVICE", "SERVER", "STATE",
	};
	struct grid g;
	unsigned int i;

	grid_init(&g);
	grid_row(&g);
	for (i = 0; i < ARRAY_SIZE(titles); i++)
		grid_cell(&g, i, "%s", titles[i]);
	for (i = 0; i < hosts->nr; i++)
		put_entry(&g, &hosts->list[i]);
	return grid_print(&g);
}

static void add_services(struct json_object *o, const char *list)
{
	struct json_object *array = json_object_new_array();
	size_t len;

	for (; *list; list += len + (list[len] == ',')) {
		len = strcspn(list, ",");
		json_object_array_add(array, json_object_new_string_len(list, len));
	}
	json_object_object_add(o, "services", array);
}

static struct json_object *entry_json(const struct hosts_entry *e)
{
	struct json_object *o = json_object_new_object();
	char guid[24];

	json_put_str(o, "host", e->host);
	json_put_str(o, "name", e->name);
	json_put_str(o, "transport", kverbs_transport_str(e->transport));
	json_put_str(o, "device", e->device);
	json_put_flag(o, "local", e->local);
	if (e->guid) {
		snprintf(guid, sizeof(guid), "0x%016" PRIx64, e->guid);
		json_put_str(o, "port_guid", guid);
		json_put_int(o, "port", e->port);
		json_put_int(o, "lid", e->lid);
		json_put_str(o, "state", e->state);
	} else {
		json_put_str(o, "interface", e->interface);
		json_put_int(o, "server_port", e->server);
		json_put_flag(o, "key", e->key);
		add_services(o, e->services);
	}
	return o;
}

static struct json_object *source_json(const struct hosts *hosts, enum hosts_source source)
{
	struct json_object *o = json_object_new_object();

	json_put_str(o, "name", source == HOSTS_FABRIC ? "InfiniBand" : "DNS-SD");
	json_put_flag(o, "asked", hosts->asked[source]);
	if (*hosts->missing[source])
		json_put_str(o, "missing", hosts->missing[source]);
	return o;
}

void hosts_json(const struct hosts *hosts)
{
	struct json_object *list = json_object_new_array(), *sources = json_object_new_array();
	unsigned int i;

	for (i = 0; i < hosts->nr; i++)
		json_object_array_add(list, entry_json(&hosts->list[i]));
	for (i = 0; i < HOSTS_SOURCES; i++)
		json_object_array_add(sources, source_json(hosts, i));
	json_object_object_add(out_root(), "hosts", list);
	json_object_object_add(out_root(), "sources", sources);
}

void hosts_free(struct hosts *hosts)
{
	free(hosts->list);
	hosts->list = NULL;
	hosts->nr = 0;
}
