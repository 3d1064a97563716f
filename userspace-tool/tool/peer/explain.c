// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <json-c/json.h>

#include "cli/err.h"
#include "cli/json.h"
#include "cli/out.h"
#include "cli/units.h"
#include "peer/explain.h"

/* Counters in a line of text; JSON has all. */
#define COUNTERS_TOLD 4

struct explain_base *explain_base_new(void)
{
	struct explain_base *base = malloc(sizeof(*base));

	if (!base)
		return NULL;
	base->users = 1;
	base->at = units_now();
	if (kverbs_counters_read(&base->counters))
		base->counters = NULL;
	return base;
}

struct explain_base *explain_base_get(struct explain_base *base)
{
	if (base)
		__atomic_add_fetch(&base->users, 1, __ATOMIC_RELAXED);
	return base;
}

void explain_base_put(struct explain_base *base)
{
	if (!base || __atomic_sub_fetch(&base->users, 1, __ATOMIC_ACQ_REL))
		return;
	kverbs_counters_free(base->counters);
	free(base);
}

/* Append, and return the new length, which is less than @room. */
static size_t append(char *text, size_t room, size_t at, const char *fmt, ...) __printf(4, 5);

static size_t append(char *text, size_t room, size_t at, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(text + at, room - at, fmt, ap);
	va_end(ap);
	return n < (int)(room - at) ? at + n : room - 1;
}

void explain_causes(const struct kverbs_explanation *why, char *text, size_t room)
{
	unsigned int i;
	size_t at = 0;

	*text = '\0';
	for (i = 0; i < why->nr_causes; i++)
		at = append(text, room, at, "%s%s", i ? "; or " : "",
			    kverbs_cause_str(why->causes[i]));
}

static size_t add_gids(const struct kverbs_explanation *why, char *text, size_t room, size_t at)
{
	if (why->transport != KVERBS_TRANSPORT_ROCE)
		return append(text, room, at, ", %s", kverbs_transport_str(why->transport));
	at = append(text, room, at, ", %s", kverbs_gid_type_str(why->gid_type));
	if (why->peer_gid_type != why->gid_type)
		at = append(text, room, at, " (there %s)",
			    kverbs_gid_type_str(why->peer_gid_type));
	return at;
}

static size_t add_counters(const struct kverbs_explanation *why, char *text, size_t room,
			   size_t at)
{
	unsigned int i;

	for (i = 0; i < why->nr_counters && i < COUNTERS_TOLD; i++)
		at = append(text, room, at, "%s%s +%" PRIu64, i ? ", " : "; meanwhile ",
			    why->counters[i].name, why->counters[i].change);
	return at;
}

void explain_facts(const struct kverbs_explanation *why, char *text, size_t room)
{
	size_t at = 0;

	*text = '\0';
	if (!*why->device)
		return;
	at = append(text, room, at, "%s", why->device);
	if (why->port)
		at = append(text, room, at, " port %u", why->port);
	at = add_gids(why, text, room, at);
	if (why->mtu && why->transport != KVERBS_TRANSPORT_IWARP)
		at = append(text, room, at, ", path MTU %u", why->mtu);
	if (why->wc_status)
		at = append(text, room, at, ", %s", kverbs_wc_status_str(why->wc_status));
	add_counters(why, text, room, at);
}

static struct json_object *causes_json(const struct kverbs_explanation *why)
{
	struct json_object *list = json_object_new_array(), *o;
	unsigned int i;

	for (i = 0; i < why->nr_causes; i++) {
		o = json_object_new_object();
		json_put_str(o, "id", kverbs_cause_name(why->causes[i]));
		json_put_str(o, "cause", kverbs_cause_str(why->causes[i]));
		json_put_str(o, "remedy", kverbs_cause_remedy(why->causes[i]));
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *counters_json(const struct kverbs_explanation *why)
{
	struct json_object *o = json_object_new_object();
	unsigned int i;

	for (i = 0; i < why->nr_counters; i++)
		json_put_int(o, why->counters[i].name, why->counters[i].change);
	return o;
}

static void put_json(const struct kverbs_explanation *why)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "causes", causes_json(why));
	if (*why->device) {
		json_put_str(o, "device", why->device);
		json_put_int(o, "port", why->port);
		json_put_str(o, "transport", kverbs_transport_str(why->transport));
		json_put_int(o, "mtu", why->mtu);
		json_put_str(o, "gid_type", kverbs_gid_type_str(why->gid_type));
		json_put_str(o, "peer_gid_type", kverbs_gid_type_str(why->peer_gid_type));
	}
	if (why->wc_status)
		json_put_str(o, "wc_status", kverbs_wc_status_str(why->wc_status));
	json_object_object_add(o, "counters", counters_json(why));
	json_object_object_add(out_root(), "explanation", o);
}

static void print_in_full(const struct kverbs_explanation *why)
{
	unsigned int i;

	for (i = 0; i < why->nr_causes; i++)
		err_warn("%u. %s. %s.", i + 1, kverbs_cause_str(why->causes[i]),
			 kverbs_cause_remedy(why->causes[i]));
	for (i = COUNTERS_TOLD; i < why->nr_counters; i++)
		err_warn("%s +%" PRIu64, why->counters[i].name, why->counters[i].change);
}

void explain_print(const struct kverbs_explanation *why, bool in_full)
{
	char causes[EXPLAIN_TEXT_MAX], facts[EXPLAIN_TEXT_MAX];

	if (!why->nr_causes)
		return;
	if (out_is_json())
		put_json(why);
	explain_causes(why, causes, sizeof(causes));
	explain_facts(why, facts, sizeof(facts));
	err_warn("likely: %s", causes);
	if (*facts)
		err_warn("seen: %s", facts);
	if (in_full)
		print_in_full(why);
}
