// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Address prefixes that a server allows. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>

#include "serve/allow.h"
#include "tmp.h"

static struct kverbs_addr addr_of(const char *text)
{
	struct kverbs_addr addr = { .family = strchr(text, ':') ? AF_INET6 : AF_INET };

	assert_int_equal(inet_pton(addr.family, text, addr.addr), 1);
	return addr;
}

/* Returns true if the list of these prefixes contains the address. */
static bool lets_in(const char *words, const char *text)
{
	struct kverbs_addr addr = addr_of(text);
	char bad[ALLOW_WORD_MAX];
	struct allow a = { 0 };
	bool has;

	assert_int_equal(allow_add(&a, words, bad), 0);
	has = allow_has(&a, &addr);
	allow_free(&a);
	return has;
}

static void check_word(const char *word, int ret)
{
	struct allow_net net;

	assert_int_equal(allow_parse(&net, word), ret);
}

static void without_a_list_everybody_comes(void **state)
{
	struct kverbs_addr v4 = addr_of("192.0.2.1"), v6 = addr_of("::1");
	struct allow a = { 0 };

	(void)state;
	assert_true(allow_has(&a, &v4));
	assert_true(allow_has(&a, &v6));
}

static void an_empty_list_lets_nobody_in(void **state)
{
	(void)state;
	assert_false(lets_in("", "192.0.2.1"));
	assert_false(lets_in(" , ,", "::1"));
}

static void an_address_alone_is_that_one(void **state)
{
	(void)state;
	assert_true(lets_in("192.0.2.1", "192.0.2.1"));
	assert_false(lets_in("192.0.2.1", "192.0.2.2"));
	assert_true(lets_in("2001:db8::1", "2001:db8::1"));
	assert_false(lets_in("2001:db8::1", "2001:db8::2"));
}

static void bits_behind_the_prefix_do_not_count(void **state)
{
	(void)state;
	assert_true(lets_in("192.0.2.0/25", "192.0.2.127"));
	assert_false(lets_in("192.0.2.0/25", "192.0.2.128"));
	assert_true(lets_in("10.0.0.0/8", "10.255.255.255"));
	assert_false(lets_in("10.0.0.0/8", "11.0.0.0"));
	assert_true(lets_in("2001:db8::/33", "2001:db8:7fff::1"));
	assert_false(lets_in("2001:db8::/33", "2001:db8:8000::1"));
	assert_true(lets_in("192.0.2.6/31", "192.0.2.7"));
}

static void a_prefix_of_no_bits_is_all_of_its_family(void **state)
{
	(void)state;
	assert_true(lets_in("0.0.0.0/0", "203.0.113.9"));
	assert_false(lets_in("0.0.0.0/0", "2001:db8::1"));
	assert_true(lets_in("::/0", "2001:db8::1"));
	assert_false(lets_in("::/0", "203.0.113.9"));
}

static void mapped_addresses_are_those_of_IPv4(void **state)
{
	(void)state;
	assert_true(lets_in("192.0.2.0/24", "::ffff:192.0.2.9"));
	assert_false(lets_in("::/0", "::ffff:192.0.2.9"));
	assert_true(lets_in("::ffff:192.0.2.0/120", "192.0.2.9"));
	assert_true(lets_in("::ffff:192.0.2.9", "::ffff:192.0.2.9"));
	assert_false(lets_in("::ffff:192.0.2.0/120", "192.0.3.9"));
}

static void any_prefix_of_a_list_will_do(void **state)
{
	(void)state;
	assert_true(lets_in("192.0.2.1,10.0.0.0/8", "10.1.2.3"));
	assert_true(lets_in("192.0.2.1, 2001:db8::/32", "2001:db8:1::"));
	assert_false(lets_in("192.0.2.1,10.0.0.0/8", "192.0.2.2"));
}

static void what_is_no_prefix_is_refused(void **state)
{
	static const char * const words[] = {
		"a", "192.0.2", "192.0.2.1/", "192.0.2.1/x", "192.0.2.0/-1", "192.0.2.0/+8",
		"/8", "192.0.2.0/8/8", "::1::", "fe80::1%eth0", "192.0.2.1:80", "host",
		"192.0.2.0/0024", "2001:db8::/32000",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		check_word(words[i], -EINVAL);
	check_word("192.0.2.0/33", -ERANGE);
	check_word("2001:db8::/129", -ERANGE);
}

/* Such a prefix is probably a mistake. */
static void bits_set_behind_the_prefix_are_refused(void **state)
{
	(void)state;
	check_word("192.0.2.1/24", -EDOM);
	check_word("192.0.2.128/24", -EDOM);
	check_word("2001:db8::1/64", -EDOM);
	check_word("192.0.2.1/0", -EDOM);
	check_word("192.0.2.1/32", 0);
}

static void the_bad_word_is_told(void **state)
{
	char bad[ALLOW_WORD_MAX];
	struct allow a = { 0 };

	(void)state;
	assert_int_equal(allow_add(&a, "192.0.2.1,wrong,192.0.2.2", bad), -EINVAL);
	assert_string_equal(bad, "wrong");
	assert_string_equal(allow_why(-EINVAL), "is neither an address nor a prefix");
	allow_free(&a);
}

static void a_list_has_an_end(void **state)
{
	char bad[ALLOW_WORD_MAX];
	struct allow a = { 0 };
	int i;

	(void)state;
	for (i = 0; i < ALLOW_NETS_MAX; i++)
		assert_int_equal(allow_add(&a, "192.0.2.1", bad), 0);
	assert_int_equal(allow_add(&a, "192.0.2.1", bad), -E2BIG);
	allow_free(&a);
}

static void a_file_has_words_and_comments(void **state)
{
	struct kverbs_addr first = addr_of("192.0.2.1"), last = addr_of("2001:db8::9");
	struct kverbs_addr other = addr_of("192.0.2.3");
	char path[PATH_MAX + 8], bad[ALLOW_WORD_MAX];
	struct tmp *tmp = *state;
	struct allow a = { 0 };
	unsigned int line;

	tmp_write(tmp, "list", "# who\n192.0.2.1 192.0.2.2\n\n  2001:db8::/64 # them\r\n");
	snprintf(path, sizeof(path), "%s/list", tmp->path);
	assert_int_equal(allow_read(&a, path, &line, bad), 0);
	assert_true(allow_has(&a, &first));
	assert_true(allow_has(&a, &last));
	assert_false(allow_has(&a, &other));
	allow_free(&a);
}

static void the_line_of_a_bad_word_is_told(void **state)
{
	char path[PATH_MAX + 8], bad[ALLOW_WORD_MAX];
	struct tmp *tmp = *state;
	struct allow a = { 0 };
	unsigned int line;

	tmp_write(tmp, "list", "192.0.2.1\n# so\n10.0.0.1/8\n");
	snprintf(path, sizeof(path), "%s/list", tmp->path);
	assert_int_equal(allow_read(&a, path, &line, bad), -EDOM);
	assert_int_equal(line, 3);
	assert_string_equal(bad, "10.0.0.1/8");
	allow_free(&a);
}

static void what_is_no_file_is_no_list(void **state)
{
	char path[PATH_MAX + 8], bad[ALLOW_WORD_MAX];
	struct tmp *tmp = *state;
	struct allow a = { 0 };
	unsigned int line;

	snprintf(path, sizeof(path), "%s/none", tmp->path);
	assert_int_equal(allow_read(&a, path, &line, bad), -ENOENT);
	assert_int_equal(allow_read(&a, tmp->path, &line, bad), -EINVAL);
	assert_int_equal(line, 0);
	allow_free(&a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_a_list_everybody_comes),
		cmocka_unit_test(an_empty_list_lets_nobody_in),
		cmocka_unit_test(an_address_alone_is_that_one),
		cmocka_unit_test(bits_behind_the_prefix_do_not_count),
		cmocka_unit_test(a_prefix_of_no_bits_is_all_of_its_family),
		cmocka_unit_test(mapped_addresses_are_those_of_IPv4),
		cmocka_unit_test(any_prefix_of_a_list_will_do),
		cmocka_unit_test(what_is_no_prefix_is_refused),
		cmocka_unit_test(bits_set_behind_the_prefix_are_refused),
		cmocka_unit_test(the_bad_word_is_told),
		cmocka_unit_test(a_list_has_an_end),
		tmp_test(a_file_has_words_and_comments),
		tmp_test(the_line_of_a_bad_word_is_told),
		tmp_test(what_is_no_file_is_no_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
