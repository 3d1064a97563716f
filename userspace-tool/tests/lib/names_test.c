// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Numbers have names, and so have unknown numbers. */
#include "t.h"

static void statuses_have_the_names_of_the_kernel(void **state)
{
	(void)state;
	assert_string_equal(kverbs_wc_status_str(0), "success");
	assert_string_equal(kverbs_wc_status_str(4), "local protection error");
	assert_string_equal(kverbs_wc_status_str(5), "flushed");
	assert_string_equal(kverbs_wc_status_str(10), "remote access error");
	assert_string_equal(kverbs_wc_status_str(12), "transport retry counter exceeded");
	assert_string_equal(kverbs_wc_status_str(13), "RNR retry counter exceeded");
	assert_string_equal(kverbs_wc_status_str(21), "general error");
}

static void states_and_transports_have_names(void **state)
{
	(void)state;
	assert_string_equal(kverbs_conn_state_str(KVERBS_CONN_CONNECTING), "connecting");
	assert_string_equal(kverbs_conn_state_str(KVERBS_CONN_DEAD), "dead");
	assert_string_equal(kverbs_transport_str(KVERBS_TRANSPORT_IB), "InfiniBand");
	assert_string_equal(kverbs_transport_str(KVERBS_TRANSPORT_ROCE), "RoCE");
	assert_string_equal(kverbs_transport_str(KVERBS_TRANSPORT_IWARP), "iWARP");
}

static void unknown_numbers_are_unknown(void **state)
{
	(void)state;
	assert_string_equal(kverbs_wc_status_str(22), "unknown");
	assert_string_equal(kverbs_wc_status_str(UINT32_MAX), "unknown");
	assert_string_equal(kverbs_conn_state_str(0), "unknown");
	assert_string_equal(kverbs_conn_state_str(7), "unknown");
	assert_string_equal(kverbs_transport_str(KVERBS_TRANSPORT_UNKNOWN), "unknown");
	assert_string_equal(kverbs_transport_str(4), "unknown");
}

static void version_is_the_built_one(void **state)
{
	(void)state;
	assert_string_equal(kverbs_version(), KVERBS_LIB_VERSION);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statuses_have_the_names_of_the_kernel),
		cmocka_unit_test(states_and_transports_have_names),
		cmocka_unit_test(unknown_numbers_are_unknown),
		cmocka_unit_test(version_is_the_built_one),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
