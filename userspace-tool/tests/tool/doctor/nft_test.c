// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Whether firewall rules let RoCE through, and how doctor reports it. The JSON is the output of nft
 * 1.0.6 for the rules in the comments.
 */
#define _GNU_SOURCE
#include "doctor_host.h"

#include "cli/err.h"
#include "doctor/nft.h"

#define CHAIN(_family, _name, _more)						\
	"{\"chain\":{\"family\":\"" _family "\",\"table\":\"filter\",\"name\":\"" _name "\"" \
	_more "}},"
#define BASE(_hook, _policy)							\
	",\"type\":\"filter\",\"hook\":\"" _hook "\",\"prio\":0,\"policy\":\"" _policy "\""
#define INPUT(_policy) CHAIN("inet", "input", BASE("input", _policy))
#define OUTPUT(_policy) CHAIN("inet", "output", BASE("output", _policy))
#define RULE(_chain, _expr)							\
	"{\"rule\":{\"family\":\"inet\",\"table\":\"filter\",\"chain\":\"" _chain "\"," \
	"\"expr\":[" _expr "]}},"
#define END "{}"

#define MATCH(_left, _right)							\
	"{\"match\":{\"op\":\"==\",\"left\":{" _left "},\"right\":" _right "}}"
#define DPORT(_proto, _right)							\
	MATCH("\"payload\":{\"protocol\":\"" _proto "\",\"field\":\"dport\"}", _right)
#define META(_key, _right) MATCH("\"meta\":{\"key\":\"" _key "\"}", _right)
#define AND ","
#define ACCEPT "{\"accept\":null}"
#define DROP "{\"drop\":null}"
#define CT_STATE "\"ct\":{\"key\":\"state\"}"
#define CT_MAP(_pairs) "{\"vmap\":{\"key\":{" CT_STATE "},\"data\":{\"set\":[" _pairs "]}}}"
#define FIREWALLD "\"family\":\"inet\",\"table\":\"firewalld\""
#define COUNTER "{\"counter\":{\"packets\":0,\"bytes\":0}}"
#define JUMP(_to) "{\"jump\":{\"target\":\"" _to "\"}}"

/* Returns the fate of an incoming packet to UDP port 4791 on eth0. */
static enum nft_fate fate(const char *rules)
{
	const struct nft_packet packet = { .proto = "udp", .dport = 4791, .netdev = "eth0" };
	struct json_object *ruleset;
	struct nft_block block;
	char *text;

	assert_true(asprintf(&text, "{\"nftables\":[%s]}", rules) > 0);
	ruleset = json_tokener_parse(text);
	free(text);
	assert_non_null(ruleset);
	nft_judge(ruleset, &packet, &block);
	json_object_put(ruleset);
	return block.fate;
}

#define passes(...) assert_int_equal(fate(__VA_ARGS__ END), NFT_PASS)
#define may_pass(...) assert_int_equal(fate(__VA_ARGS__ END), NFT_MAYBE)
#define is_blocked(...) assert_int_equal(fate(__VA_ARGS__ END), NFT_BLOCK)

static void without_rules_packets_pass(void **state)
{
	(void)state;
	passes();
	passes(INPUT("accept"));
}

/* udp dport 4791 drop */
static void a_rule_for_the_port_drops_it(void **state)
{
	(void)state;
	is_blocked(INPUT("accept") RULE("input", DPORT("udp", "4791") AND COUNTER AND DROP));
	is_blocked(INPUT("accept") RULE("input", DPORT("th", "4791") AND DROP));
	is_blocked(INPUT("accept") RULE("input", DPORT("udp", "4791") AND
					"{\"reject\":{\"type\":\"icmpx\"}}"));
	passes(INPUT("accept") RULE("input", DPORT("tcp", "4791") AND DROP));
	passes(INPUT("accept") RULE("input", DPORT("udp", "4790") AND DROP));
}

/* udp dport { 53, 4000-5000 } drop */
static void sets_and_ranges_are_evaluated(void **state)
{
	(void)state;
	is_blocked(INPUT("accept")
		   RULE("input", DPORT("udp", "{\"set\":[53,{\"range\":[4000,5000]}]}") AND DROP));
	passes(INPUT("accept")
	       RULE("input", DPORT("udp", "{\"set\":[53,{\"range\":[5000,6000]}]}") AND DROP));
	may_pass(INPUT("accept") RULE("input", DPORT("udp", "\"@ports\"") AND DROP));
}

static void the_policy_applies_if_no_rule_matches(void **state)
{
	(void)state;
	is_blocked(INPUT("drop"));
	is_blocked(INPUT("drop") RULE("input", DPORT("tcp", "22") AND ACCEPT));
	passes(INPUT("drop") RULE("input", DPORT("udp", "4791") AND ACCEPT));
}

static void the_first_matching_rule_decides(void **state)
{
	(void)state;
	passes(INPUT("accept") RULE("input", DPORT("udp", "4791") AND ACCEPT)
	       RULE("input", META("l4proto", "\"udp\"") AND DROP));
	is_blocked(INPUT("accept") RULE("input", META("l4proto", "17") AND DROP)
		   RULE("input", DPORT("udp", "4791") AND ACCEPT));
}

/* ct state established,related accept; ct state vmap { established : accept } */
static void the_first_packet_has_no_flow(void **state)
{
	(void)state;
	is_blocked(INPUT("drop")
		   RULE("input", MATCH(CT_STATE, "[\"established\",\"related\"]") AND ACCEPT));
	is_blocked(INPUT("drop")
		   RULE("input", CT_MAP("[\"established\"," ACCEPT "]")));
	is_blocked(INPUT("accept")
		   RULE("input", CT_MAP("[\"new\"," DROP "]")));
}

/* iifname "lo" accept */
static void rules_match_the_devices_interface(void **state)
{
	(void)state;
	is_blocked(INPUT("drop") RULE("input", META("iifname", "\"lo\"") AND ACCEPT));
	passes(INPUT("drop") RULE("input", META("iifname", "\"eth0\"") AND ACCEPT));
	passes(INPUT("drop") RULE("input", META("iifname", "\"eth*\"") AND ACCEPT));
	passes(INPUT("accept") RULE("input", META("oifname", "\"eth0\"") AND DROP));
}

/* The source address is not known. */
static void unknown_expressions_decide_nothing(void **state)
{
	(void)state;
	may_pass(INPUT("drop")
		 RULE("input", MATCH("\"payload\":{\"protocol\":\"ip\",\"field\":\"saddr\"}",
				     "\"192.0.2.1\"") AND ACCEPT));
	may_pass(INPUT("accept") RULE("input", "{\"xt\":null}" AND DROP));
	may_pass(INPUT("accept") RULE("input", DPORT("udp", "4791") AND
				      "{\"limit\":{\"rate\":10}}" AND DROP));
}

static void chains_are_followed(void **state)
{
	(void)state;
	is_blocked(INPUT("accept") CHAIN("inet", "deep", "")
		   RULE("input", JUMP("deep")) RULE("deep", DPORT("udp", "4791") AND DROP));
	passes(INPUT("accept") CHAIN("inet", "deep", "")
	       RULE("input", JUMP("deep")) RULE("deep", "{\"return\":null}")
	       RULE("deep", DROP));
	is_blocked(INPUT("drop") CHAIN("inet", "deep", "")
		   RULE("input", "{\"goto\":{\"target\":\"deep\"}}")
		   RULE("input", ACCEPT));
	/* The kernel refuses a loop of chains; the evaluation would end all the same. */
	is_blocked(INPUT("drop") RULE("input", JUMP("input")));
}

static void chains_of_another_family_or_direction_are_ignored(void **state)
{
	(void)state;
	passes(CHAIN("ip6", "input", BASE("input", "drop")));
	passes(OUTPUT("drop"));
	passes(CHAIN("inet", "forward", BASE("forward", "drop")));
	is_blocked(CHAIN("ip", "input", BASE("input", "drop")));
	is_blocked(CHAIN("ip", "early", BASE("prerouting", "drop")));
}

/* ---- doctor's report ---------------------------------------------------------- */

static void doctor_opens_the_chain_that_drops(void **state)
{
	struct host *h = *state;

	host_rules(h, INPUT("drop") END);
	host_blames(h, DOCTOR_FIREWALL, FINDING_FAIL, "may not come in",
		    "nft insert rule inet filter input udp dport 4791 accept");
	assert_int_equal(h->status, EXIT_FAILED);
}

static void doctor_opens_both_ways(void **state)
{
	struct host *h = *state;

	host_rules(h, INPUT("drop") OUTPUT("drop") END);
	host_blames(h, DOCTOR_FIREWALL, FINDING_FAIL, "may not",
		    "nft insert rule inet filter output udp dport 4791 accept");
	assert_string_equal(h->d.finding[DOCTOR_FIREWALL].remedy[0],
			    "nft insert rule inet filter input udp dport 4791 accept");
}

static void doctor_makes_anew_what_could_not_send(void **state)
{
	struct host *h = *state;

	host_rules(h, OUTPUT("drop") END);
	host_blames(h, DOCTOR_FIREWALL, FINDING_FAIL, "may not leave",
		    "rdma link add rxe0 type rxe netdev eth0");
}

static void doctor_asks_firewalld_to_open_its_own(void **state)
{
	struct host *h = *state;

	host_rules(h, "{\"chain\":{" FIREWALLD ",\"name\":\"in\"" BASE("input", "drop") "}}");
	host_blames(h, DOCTOR_FIREWALL, FINDING_FAIL, "table inet firewalld",
		    "firewall-cmd --permanent --add-port=4791/udp");
}

static void doctor_warns_of_what_it_does_not_understand(void **state)
{
	struct host *h = *state;

	host_rules(h, INPUT("accept") RULE("input", "{\"xt\":null}" AND DROP) END);
	host_blames(h, DOCTOR_FIREWALL, FINDING_WARN, "doctor does not understand",
		    "nft list chain inet filter input");
	assert_int_equal(h->status, EXIT_OK);
}

static void doctor_says_that_legacy_rules_are_not_looked_at(void **state)
{
	struct host *h = *state;

	host_write(h, "proc/net/ip_tables_names", "filter\n");
	host_blames(h, DOCTOR_FIREWALL, FINDING_WARN, "iptables-legacy",
		    "iptables-legacy-save");
}

static void doctor_knows_that_users_may_not_list_rules(void **state)
{
	struct host *h = *state;

	host_remove(h, "rules");
	host_blames(h, DOCTOR_FIREWALL, FINDING_SKIP, "only root", NULL);
	assert_int_equal(h->status, EXIT_OK);
}

static void doctor_knows_that_adapters_send_past_the_rules(void **state)
{
	struct host *h = *state;

	host_write(h, "sys/class/infiniband/rxe0/device/vendor", "0x15b3\n");
	host_rules(h, INPUT("drop") END);
	host_blames(h, DOCTOR_FIREWALL, FINDING_SKIP, "adapters bypass", NULL);
}

#define DPORT_VMAP(_data)							\
	"{\"vmap\":{\"key\":{\"payload\":{\"protocol\":\"udp\",\"field\":\"dport\"}}," \
	"\"data\":" _data "}}"
#define MAP(_table, _name, _pairs)						\
	"{\"map\":{\"family\":\"inet\",\"table\":\"" _table "\",\"name\":\"" _name "\"," \
	"\"type\":\"inet_service\",\"map\":\"verdict\",\"elem\":[" _pairs "]}},"

/* map ports { type inet_service : verdict; elements = { 4791 : drop } }; udp dport vmap @ports */
static void named_maps_are_looked_up(void **state)
{
	(void)state;
	is_blocked(MAP("filter", "ports", "[4791," DROP "]") INPUT("accept")
		   RULE("input", DPORT_VMAP("\"@ports\"")));
	passes(MAP("filter", "ports", "[4790," DROP "]") INPUT("accept")
	       RULE("input", DPORT_VMAP("\"@ports\"")));
	/* A map of another table is another map; what is not there is not known. */
	may_pass(MAP("other", "ports", "[4791," DROP "]") INPUT("accept")
		 RULE("input", DPORT_VMAP("\"@ports\"")));
}

#define LEVELS 60

/* Walked once for each way to it, the last of 60 chains would be walked 2^60 times. */
static void a_chain_is_walked_once_however_many_jump_to_it(void **state)
{
	char *rules = strdup(INPUT("accept") RULE("input", JUMP("c0"))), *more;
	int i;

	(void)state;
	for (i = 0; i < LEVELS; i++) {
		assert_true(asprintf(&more, "%s" RULE("c%d", JUMP("c%d")) RULE("c%d", JUMP("c%d")),
				     rules, i, i + 1, i, i + 1) > 0);
		free(rules);
		rules = more;
	}
	assert_true(asprintf(&more, "%s" RULE("c%d", DROP) END, rules, LEVELS) > 0);
	assert_int_equal(fate(more), NFT_BLOCK);
	free(more);
	free(rules);
}

/* The kernel accepts none, but this is read from a pipe. */
static void a_loop_of_chains_ends(void **state)
{
	(void)state;
	passes(INPUT("accept") RULE("input", JUMP("a")) RULE("a", JUMP("b"))
	       RULE("b", JUMP("a")));
}

static void doctor_asks_for_tcp_where_iwarp_is(void **state)
{
	struct host *h = *state;

	host_write(h, "sys/class/infiniband/rxe0/node_type", "4: RNIC\n");
	host_write(h, HOST_PORT "gids/0", "5254:0000:0001:0000:0000:0000:0000:0000\n");
	host_rules(h, INPUT("accept") RULE("input", DPORT("udp", "4791") AND DROP) END);
	host_blames(h, DOCTOR_FIREWALL, FINDING_OK, "tcp port 7472", NULL);
	host_rules(h, INPUT("accept") RULE("input", DPORT("tcp", "7472") AND DROP) END);
	host_blames(h, DOCTOR_FIREWALL, FINDING_FAIL, "tcp port 7472 may not come in",
		    "nft insert rule inet filter input tcp dport 7472 accept");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_rules_packets_pass),
		cmocka_unit_test(a_rule_for_the_port_drops_it),
		cmocka_unit_test(sets_and_ranges_are_evaluated),
		cmocka_unit_test(the_policy_applies_if_no_rule_matches),
		cmocka_unit_test(the_first_matching_rule_decides),
		cmocka_unit_test(the_first_packet_has_no_flow),
		cmocka_unit_test(rules_match_the_devices_interface),
		cmocka_unit_test(unknown_expressions_decide_nothing),
		cmocka_unit_test(chains_are_followed),
		cmocka_unit_test(chains_of_another_family_or_direction_are_ignored),
		cmocka_unit_test(named_maps_are_looked_up),
		cmocka_unit_test(a_chain_is_walked_once_however_many_jump_to_it),
		cmocka_unit_test(a_loop_of_chains_ends),
		host_test(doctor_opens_the_chain_that_drops),
		host_test(doctor_opens_both_ways),
		host_test(doctor_makes_anew_what_could_not_send),
		host_test(doctor_asks_firewalld_to_open_its_own),
		host_test(doctor_warns_of_what_it_does_not_understand),
		host_test(doctor_says_that_legacy_rules_are_not_looked_at),
		host_test(doctor_knows_that_users_may_not_list_rules),
		host_test(doctor_knows_that_adapters_send_past_the_rules),
		host_test(doctor_asks_for_tcp_where_iwarp_is),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
