// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Rules are looked at in their order, as the kernel does. A condition that we do not
 * know may hold or not: then both ways are thought of.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/util.h"
#include "doctor/nft.h"

#define TEXT_MAX 64
#define KEY_MAX 512

enum known { NO, UNKNOWN, YES };

/* Where a packet is after a rule or a chain. */
enum step { GO_ON, RETURN, ACCEPT, DROP };

/* Bits beside the enum step in the outcome of a chain. */
#define MAYBE_DROP 0x10
#define MAYBE_ACCEPT 0x20

/**
 * struct judge - the look at one base chain
 * @packet: of which packet
 * @rules: arrays of the ruleset's rules, by key_of() of their chain
 * @maps: the ruleset's named maps, by key_of()
 * @outcomes: of the chains that were walked, by key_of(): an outcome depends on the packet alone
 * @chain: the base chain
 * @maybe_drop: some rule would drop it if what we do not know held
 * @maybe_accept: the same
 */
struct judge {
	const struct nft_packet *packet;
	struct json_object *rules;
	struct json_object *maps;
	struct json_object *outcomes;
	struct json_object *chain;
	bool maybe_drop;
	bool maybe_accept;
};

static struct json_object *get(struct json_object *o, const char *key)
{
	struct json_object *v = NULL;

	if (json_object_is_type(o, json_type_object))
		json_object_object_get_ex(o, key, &v);
	return v;
}

static const char *text(struct json_object *o, const char *key)
{
	struct json_object *v = get(o, key);

	return v ? json_object_get_string(v) : "";
}

static size_t length(struct json_object *o)
{
	return json_object_is_type(o, json_type_array) ? json_object_array_length(o) : 0;
}

static enum known payload_value(const struct nft_packet *p, struct json_object *payload,
				char *value)
{
	const char *proto = text(payload, "protocol"), *field = text(payload, "field");

	if (!strcmp(proto, "tcp") || !strcmp(proto, "udp") || !strcmp(proto, "th")) {
		if (strcmp(proto, "th") && strcmp(proto, p->proto))
			return NO;
		snprintf(value, TEXT_MAX, "%u", p->dport);
		return strcmp(field, "dport") ? UNKNOWN : YES;
	}
	if (!strcmp(proto, "icmp") || !strcmp(proto, "icmpv6") || !strcmp(proto, "arp"))
		return NO;
	if (!strcmp(proto, p->ipv6 ? "ip" : "ip6"))
		return NO;
	snprintf(value, TEXT_MAX, "%s", p->proto);
	return !strcmp(field, "protocol") || !strcmp(field, "nexthdr") ? YES : UNKNOWN;
}

static enum known meta_value(const struct nft_packet *p, const char *key, char *value)
{
	bool in = !strcmp(key, "iifname") || !strcmp(key, "iif");
	bool out = !strcmp(key, "oifname") || !strcmp(key, "oif");

	if (!strcmp(key, "l4proto"))
		snprintf(value, TEXT_MAX, "%s", p->proto);
	else if (!strcmp(key, "nfproto"))
		snprintf(value, TEXT_MAX, p->ipv6 ? "ipv6" : "ipv4");
	else if (in || out)
		snprintf(value, TEXT_MAX, "%s", in == !p->out ? p->netdev : "");
	else
		return UNKNOWN;
	return YES;
}

/* Value of the left side of a comparison for our packet; NO: it has no such field. */
static enum known value_of(const struct nft_packet *p, struct json_object *left, char *value)
{
	struct json_object *ct = get(left, "ct");

	if (get(left, "payload"))
		return payload_value(p, get(left, "payload"), value);
	if (get(left, "meta"))
		return meta_value(p, text(get(left, "meta"), "key"), value);
	if (!ct || strcmp(text(ct, "key"), "state"))
		return UNKNOWN;
	snprintf(value, TEXT_MAX, "new");
	return YES;
}

static bool is_number(const char *s)
{
	return *s && !s[strspn(s, "0123456789")];
}

/* Protocols have numbers as well; "eth*" stands for all that begin so. */
static enum known is_one(const char *value, const char *wanted)
{
	size_t len = strlen(wanted);

	if (!strcmp(value, wanted))
		return YES;
	if (len && wanted[len - 1] == '*')
		return strncmp(value, wanted, len - 1) ? NO : YES;
	if (!strcmp(value, "udp"))
		return strcmp(wanted, "17") ? NO : YES;
	if (!strcmp(value, "tcp"))
		return strcmp(wanted, "6") ? NO : YES;
	return *wanted == '@' ? UNKNOWN : NO;
}

static enum known is_in_range(const char *value, struct json_object *range)
{
	struct json_object *from = json_object_array_get_idx(range, 0);
	struct json_object *to = json_object_array_get_idx(range, 1);

	if (!is_number(value) || !from || !to)
		return UNKNOWN;
	return atoi(value) >= json_object_get_int(from) &&
	       atoi(value) <= json_object_get_int(to) ? YES : NO;
}

static enum known is_among(const char *value, struct json_object *right)
{
	struct json_object *list = get(right, "set");
	enum known best = NO, one;
	size_t i;

	if (get(right, "range"))
		return is_in_range(value, get(right, "range"));
	if (json_object_is_type(right, json_type_array))
		list = right;
	if (json_object_is_type(right, json_type_object) && !list)
		return UNKNOWN;
	if (!list)
		return is_one(value, json_object_get_string(right));
	if (!json_object_is_type(list, json_type_array))
		return is_among(value, list);
	for (i = 0; i < length(list); i++) {
		one = is_among(value, json_object_array_get_idx(list, i));
		best = max(best, one);
	}
	return best;
}

static enum known match_holds(const struct nft_packet *p, struct json_object *match)
{
	const char *op = text(match, "op");
	char value[TEXT_MAX] = "";
	enum known known = value_of(p, get(match, "left"), value), result;

	if (known != YES)
		return known;
	result = is_among(value, get(match, "right"));
	if (!strcmp(op, "!="))
		return YES - result;
	return !strcmp(op, "==") || !strcmp(op, "in") || !*op ? result : UNKNOWN;
}

static enum step walk_chain(struct judge *j, const char *name);

/* A verdict as such, or in a map; GO_ON is none. */
static enum step verdict_of(struct judge *j, struct json_object *o)
{
	const char *to = text(get(o, "jump"), "target");
	enum step step;

	if (json_object_object_get_ex(o, "accept", NULL))
		return ACCEPT;
	if (json_object_object_get_ex(o, "drop", NULL) ||
	    json_object_object_get_ex(o, "reject", NULL))
		return DROP;
	if (json_object_object_get_ex(o, "return", NULL))
		return RETURN;
	if (*to) {
		step = walk_chain(j, to);
		return step == RETURN ? GO_ON : step;
	}
	to = text(get(o, "goto"), "target");
	if (!*to)
		return GO_ON;
	step = walk_chain(j, to);
	return step == GO_ON ? RETURN : step;
}

/* Effect of a step whose condition holds, does not hold, or is unknown. */
static enum step weigh(struct judge *j, enum known holds, enum step step)
{
	if (holds == YES)
		return step;
	if (holds == UNKNOWN) {
		j->maybe_drop |= step == DROP;
		/* An early return may skip a later drop or accept. */
		j->maybe_accept |= step == ACCEPT || step == RETURN;
	}
	return GO_ON;
}

/* The key of a chain or a map, whose name is known within its table only. */
static const char *key_of(char key[KEY_MAX], struct json_object *of, const char *name)
{
	snprintf(key, KEY_MAX, "%s %s %s", text(of, "family"), text(of, "table"), name);
	return key;
}

/* The pairs of a map, which stands in the rule or has a name; NULL: they are not known. */
static struct json_object *pairs_of(const struct judge *j, struct json_object *map)
{
	struct json_object *data = get(map, "data");
	const char *name = data ? json_object_get_string(data) : "";
	char key[KEY_MAX];

	if (*name != '@')
		return get(data, "set");
	return get(get(j->maps, key_of(key, j->chain, name + 1)), "elem");
}

static enum step walk_map(struct judge *j, struct json_object *map, enum known before)
{
	struct json_object *list = pairs_of(j, map), *pair;
	char value[TEXT_MAX] = "";
	enum known known = value_of(j->packet, get(map, "key"), value), holds;
	enum step step = GO_ON;
	size_t i;

	if (!list && before != NO) {
		j->maybe_drop = true;
		j->maybe_accept = true;
	}
	for (i = 0; i < length(list) && step == GO_ON; i++) {
		pair = json_object_array_get_idx(list, i);
		if (length(pair) != 2)
			continue;
		holds = known == YES ?
			is_among(value, json_object_array_get_idx(pair, 0)) : known;
		holds = min(holds, before);
		if (holds == NO)
			continue;
		step = weigh(j, holds,
			     verdict_of(j, json_object_array_get_idx(pair, 1)));
	}
	return step;
}

/* A condition, or what has nothing to say: counter, log, comment. */
static enum known statement_holds(struct judge *j, struct json_object *s)
{
	if (get(s, "match"))
		return match_holds(j->packet, get(s, "match"));
	if (json_object_object_get_ex(s, "limit", NULL) ||
	    json_object_object_get_ex(s, "xt", NULL) ||
	    json_object_object_get_ex(s, "queue", NULL))
		return UNKNOWN;
	return YES;
}

static enum step walk_rule(struct judge *j, struct json_object *rule)
{
	struct json_object *expr = get(rule, "expr"), *s;
	enum known holds = YES, one;
	enum step step = GO_ON;
	size_t i;

	for (i = 0; i < length(expr) && step == GO_ON; i++) {
		s = json_object_array_get_idx(expr, i);
		if (!json_object_is_type(s, json_type_object))
			continue;
		one = statement_holds(j, s);
		holds = min(holds, one);
		if (holds == NO)
			return GO_ON;
		if (get(s, "vmap"))
			step = walk_map(j, get(s, "vmap"), holds);
		else
			step = weigh(j, holds, verdict_of(j, s));
	}
	return step;
}

static enum step walk_rules(struct judge *j, struct json_object *rules)
{
	enum step step = GO_ON;
	size_t i;

	for (i = 0; i < length(rules) && step == GO_ON; i++)
		step = walk_rule(j, json_object_array_get_idx(rules, i));
	return step;
}

/* Chains may be jumped to from many places, so each is walked once. */
static enum step walk_chain(struct judge *j, const char *name)
{
	const struct judge before = *j;
	struct json_object *known;
	char key[KEY_MAX];
	enum step step;
	int outcome;

	key_of(key, j->chain, name);
	known = get(j->outcomes, key);
	if (!known) {
		/* The kernel accepts no loops; should there be one, it ends here. */
		json_object_object_add(j->outcomes, key, json_object_new_int(GO_ON));
		j->maybe_drop = false;
		j->maybe_accept = false;
		step = walk_rules(j, get(j->rules, key));
		outcome = (int)step | (j->maybe_drop ? MAYBE_DROP : 0) |
			  (j->maybe_accept ? MAYBE_ACCEPT : 0);
		known = json_object_new_int(outcome);
		json_object_object_add(j->outcomes, key, known);
	}
	outcome = json_object_get_int(known);
	j->maybe_drop = before.maybe_drop || outcome & MAYBE_DROP;
	j->maybe_accept = before.maybe_accept || outcome & MAYBE_ACCEPT;
	return outcome & ~(MAYBE_DROP | MAYBE_ACCEPT);
}

static enum nft_fate fate_of(struct judge *j)
{
	enum step step = walk_chain(j, text(j->chain, "name"));

	if (step != ACCEPT && step != DROP)
		step = strcmp(text(j->chain, "policy"), "drop") ? ACCEPT : DROP;
	if (step == DROP)
		return j->maybe_accept ? NFT_MAYBE : NFT_BLOCK;
	return j->maybe_drop ? NFT_MAYBE : NFT_PASS;
}

/* Whether a packet comes through that chain at all. */
static bool concerns(struct json_object *chain, const struct nft_packet *p)
{
	const char *family = text(chain, "family"), *hook = text(chain, "hook");

	if (!strcmp(family, "netdev"))
		return !strcmp(text(chain, "dev"), p->netdev) &&
		       !strcmp(hook, p->out ? "egress" : "ingress");
	if (strcmp(family, "inet") && strcmp(family, p->ipv6 ? "ip6" : "ip"))
		return false;
	if (p->out)
		return !strcmp(hook, "output") || !strcmp(hook, "postrouting");
	return !strcmp(hook, "prerouting") || !strcmp(hook, "input");
}

static void add_rule(struct json_object *rules, struct json_object *rule)
{
	struct json_object *list;
	char key[KEY_MAX];

	list = get(rules, key_of(key, rule, text(rule, "chain")));
	if (!list) {
		list = json_object_new_array();
		json_object_object_add(rules, key, list);
	}
	json_object_array_add(list, json_object_get(rule));
}

static void index_ruleset(struct json_object *all, struct judge *j)
{
	struct json_object *rule, *map;
	char key[KEY_MAX];
	size_t i;

	j->rules = json_object_new_object();
	j->maps = json_object_new_object();
	for (i = 0; i < length(all); i++) {
		rule = get(json_object_array_get_idx(all, i), "rule");
		map = get(json_object_array_get_idx(all, i), "map");
		if (rule)
			add_rule(j->rules, rule);
		if (map)
			json_object_object_add(j->maps, key_of(key, map, text(map, "name")),
					       json_object_get(map));
	}
}

static enum nft_fate judge_chain(struct judge *j, struct json_object *chain)
{
	enum nft_fate fate;

	j->chain = chain;
	j->maybe_drop = false;
	j->maybe_accept = false;
	j->outcomes = json_object_new_object();
	fate = fate_of(j);
	json_object_put(j->outcomes);
	return fate;
}

void nft_judge(struct json_object *ruleset, const struct nft_packet *packet,
	       struct nft_block *block)
{
	struct json_object *all = get(ruleset, "nftables"), *chain;
	struct judge j = { .packet = packet };
	enum nft_fate fate;
	size_t i;

	memset(block, 0, sizeof(*block));
	index_ruleset(all, &j);
	for (i = 0; i < length(all); i++) {
		chain = get(json_object_array_get_idx(all, i), "chain");
		if (!chain || !concerns(chain, packet))
			continue;
		fate = judge_chain(&j, chain);
		if (fate <= block->fate)
			continue;
		block->fate = fate;
		block->family = text(chain, "family");
		block->table = text(chain, "table");
		block->chain = text(chain, "name");
	}
	json_object_put(j.maps);
	json_object_put(j.rules);
}
