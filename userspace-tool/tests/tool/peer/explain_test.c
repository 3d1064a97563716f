// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* An explanation in words, in full, and as JSON. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>

#include <json-c/json.h>

#include "cli/out.h"
#include "fake_kernel.h"
#include "peer/explain.h"
#include "tmp.h"

static const struct kverbs_explanation lossy = {
	.error = -ETIMEDOUT,
	.wc_status = 12,
	.device = "rxe0",
	.port = 1,
	.transport = KVERBS_TRANSPORT_ROCE,
	.mtu = 1024,
	.gid_type = KVERBS_GID_ROCE_V2,
	.peer_gid_type = KVERBS_GID_UNKNOWN,
	.nr_causes = 2,
	.causes = { KVERBS_CAUSE_LOSS, KVERBS_CAUSE_PEER_DOWN },
	.nr_counters = 5,
	.counters = {
		{ "rcvd_seq_err", KVERBS_COUNTER_OUT_OF_SEQUENCE, 3 },
		{ "sent_pkts", KVERBS_COUNTER_SENT, 8 },
		{ "c", KVERBS_COUNTER_OTHER, 1 },
		{ "d", KVERBS_COUNTER_OTHER, 1 },
		{ "last", KVERBS_COUNTER_OTHER, 1 },
	},
};

static void causes_are_told_in_their_order(void **state)
{
	char text[EXPLAIN_TEXT_MAX], wanted[EXPLAIN_TEXT_MAX];

	(void)state;
	explain_causes(&lossy, text, sizeof(text));
	snprintf(wanted, sizeof(wanted), "%s; or %s", kverbs_cause_str(KVERBS_CAUSE_LOSS),
		 kverbs_cause_str(KVERBS_CAUSE_PEER_DOWN));
	assert_string_equal(text, wanted);
}

static void facts_are_told_with_the_most_telling_counters(void **state)
{
	char text[EXPLAIN_TEXT_MAX], *counters;

	(void)state;
	explain_facts(&lossy, text, sizeof(text));
	counters = strstr(text, "; meanwhile ");
	assert_non_null(counters);
	assert_string_equal(counters, "; meanwhile rcvd_seq_err +3, sent_pkts +8, c +1, d +1");
	*counters = '\0';
	counters = strstr(text, ", transport retry");
	assert_non_null(counters);
	assert_string_equal(counters, ", transport retry counter exceeded");
	*counters = '\0';
	assert_string_equal(text, "rxe0 port 1, RoCE v2 (there unknown), path MTU 1024");
}

static void facts_of_no_device_are_none(void **state)
{
	const struct kverbs_explanation why = { .nr_causes = 1 };
	char text[EXPLAIN_TEXT_MAX];

	(void)state;
	explain_facts(&why, text, sizeof(text));
	assert_string_equal(text, "");
}

static void text_that_has_no_room_is_cut(void **state)
{
	char text[16];

	(void)state;
	explain_facts(&lossy, text, sizeof(text));
	assert_string_equal(text, "rxe0 port 1, Ro");
	explain_causes(&lossy, text, sizeof(text));
	assert_string_equal(text, "the network los");
}

/* Returns the text that explain_print() writes to standard error. */
static const char *printed(struct tmp *tmp, const struct kverbs_explanation *why, bool in_full)
{
	static char text[4096];
	int err = dup(STDERR_FILENO);
	int fd = openat(tmp->fd, "err", O_RDWR | O_CREAT | O_TRUNC, 0600);

	fflush(stderr);
	dup2(fd, STDERR_FILENO);
	explain_print(why, in_full);
	fflush(stderr);
	dup2(err, STDERR_FILENO);
	close(err);
	close(fd);
	memset(text, 0, sizeof(text));
	tmp_read(tmp, "err", text, sizeof(text) - 1);
	return text;
}

static void nothing_is_printed_without_a_cause(void **state)
{
	const struct kverbs_explanation why = { .device = "rxe0" };

	assert_string_equal(printed(*state, &why, true), "");
}

static void remedies_are_printed_on_request(void **state)
{
	const char *text = printed(*state, &lossy, false);

	assert_non_null(strstr(text, "likely: the network loses packets; or "));
	assert_non_null(strstr(text, "seen: rxe0 port 1, "));
	assert_null(strstr(text, kverbs_cause_remedy(KVERBS_CAUSE_LOSS)));
	text = printed(*state, &lossy, true);
	assert_non_null(strstr(text, kverbs_cause_remedy(KVERBS_CAUSE_LOSS)));
	assert_non_null(strstr(text, kverbs_cause_remedy(KVERBS_CAUSE_PEER_DOWN)));
	assert_non_null(strstr(text, "last +1"));
}

static struct json_object *member(struct json_object *o, const char *key)
{
	struct json_object *value;

	assert_true(json_object_object_get_ex(o, key, &value));
	return value;
}

static void json_has_all_causes_and_counters(void **state)
{
	struct json_object *why, *cause;

	out_begin("test", true);
	printed(*state, &lossy, false);
	why = member(out_root(), "explanation");
	assert_int_equal(json_object_array_length(member(why, "causes")), 2);
	cause = json_object_array_get_idx(member(why, "causes"), 0);
	assert_string_equal(json_object_get_string(member(cause, "id")), "loss");
	assert_string_equal(json_object_get_string(member(why, "device")), "rxe0");
	assert_string_equal(json_object_get_string(member(why, "peer_gid_type")), "unknown");
	assert_int_equal(json_object_get_int(member(member(why, "counters"), "last")), 1);
	json_object_put(out_root());
	out_begin("test", false);
}

static void counters_are_shared_until_the_last_user_has_put_them(void **state)
{
	struct explain_base *base;

	(void)state;
	fake_reset();
	base = explain_base_new();
	assert_non_null(base);
	assert_ptr_equal(explain_base_get(base), base);
	explain_base_put(base);
	assert_int_equal(base->users, 1);
	explain_base_put(base);
	assert_null(explain_base_get(NULL));
	explain_base_put(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(causes_are_told_in_their_order),
		cmocka_unit_test(facts_are_told_with_the_most_telling_counters),
		cmocka_unit_test(facts_of_no_device_are_none),
		cmocka_unit_test(text_that_has_no_room_is_cut),
		tmp_test(nothing_is_printed_without_a_cause),
		tmp_test(remedies_are_printed_on_request),
		tmp_test(json_has_all_causes_and_counters),
		cmocka_unit_test(counters_are_shared_until_the_last_user_has_put_them),
	};

	return cmocka_run_group_tests_name("tool explain", tests, NULL, NULL);
}
