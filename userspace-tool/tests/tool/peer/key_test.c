// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Key files. */
#define _GNU_SOURCE
#include <errno.h>

#include "cli/err.h"
#include "peer/key.h"
#include "tmp.h"

static const char sixteen[] = "0123456789abcdef";

static const char *path_of(const struct tmp *tmp, const char *name)
{
	static char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", tmp->path, name);
	return path;
}

static int read_mode(const struct tmp *tmp, const char *text, mode_t mode, struct key **key)
{
	unlinkat(tmp->fd, "key", 0);
	tmp_write(tmp, "key", text);
	assert_int_equal(fchmodat(tmp->fd, "key", mode, 0), 0);
	return key_read(key, path_of(tmp, "key"));
}

static void expect_key(const struct tmp *tmp, const char *text, size_t len)
{
	struct key *key;

	assert_int_equal(read_mode(tmp, text, 0600, &key), 0);
	assert_int_equal(key->len, len);
	assert_memory_equal(key->bytes, text, len);
	key_put(key);
}

static void a_key_of_another_user_is_not_taken(void **state)
{
	struct tmp *tmp = *state;
	struct key *key;

	tmp_write(tmp, "key", sixteen);
	assert_int_equal(fchmodat(tmp->fd, "key", 0600, 0), 0);
	if (fchownat(tmp->fd, "key", 12345, -1, 0))
		skip();
	assert_int_equal(key_read(&key, path_of(tmp, "key")), -EPERM);
}

static void a_key_is_what_is_in_the_file_but_for_line_ends(void **state)
{
	expect_key(*state, sixteen, 16);
	expect_key(*state, "0123456789abcdef\n", 16);
	expect_key(*state, "0123456789abcdef\r\n\n", 16);
	expect_key(*state, "a\nkey of two lines\n", 18);
}

static void a_key_has_16_bytes_or_more(void **state)
{
	static char longest[KEY_MAX + 3];
	struct key *key;

	assert_int_equal(read_mode(*state, "", 0600, &key), -EINVAL);
	assert_int_equal(read_mode(*state, sixteen + 1, 0600, &key), -EINVAL);
	assert_int_equal(read_mode(*state, "0123456789abcde\n", 0600, &key), -EINVAL);
	memset(longest, 'k', sizeof(longest) - 1);
	longest[KEY_MAX] = '\n';
	longest[KEY_MAX + 1] = '\0';
	expect_key(*state, longest, KEY_MAX);
	longest[KEY_MAX] = 'k';
	assert_int_equal(read_mode(*state, longest, 0600, &key), -EINVAL);
}

static void a_key_that_others_can_read_is_none(void **state)
{
	struct key *key;

	assert_int_equal(read_mode(*state, sixteen, 0604, &key), -EPERM);
	assert_int_equal(read_mode(*state, sixteen, 0602, &key), -EPERM);
	assert_int_equal(read_mode(*state, sixteen, 0644, &key), -EPERM);
	assert_int_equal(read_mode(*state, sixteen, 0620, &key), -EPERM);
}

/* systemd may install a credential with these permissions. */
static void a_group_may_read_a_key(void **state)
{
	struct key *key;

	assert_int_equal(read_mode(*state, sixteen, 0640, &key), 0);
	key_put(key);
	assert_int_equal(read_mode(*state, sixteen, 0440, &key), 0);
	key_put(key);
}

static void what_is_no_file_has_no_key(void **state)
{
	const struct tmp *tmp = *state;
	struct key *key;

	assert_int_equal(key_read(&key, path_of(tmp, "none")), -ENOENT);
	assert_int_equal(key_read(&key, tmp->path), -EINVAL);
	assert_int_equal(mkfifoat(tmp->fd, "fifo", 0600), 0);
	assert_int_equal(key_read(&key, path_of(tmp, "fifo")), -EINVAL);
}

static void what_is_wrong_comes_with_a_remedy(void **state)
{
	struct key *key;

	err_command("test");
	assert_int_equal(read_mode(*state, sixteen, 0644, &key), -EPERM);
	assert_int_equal(key_load(&key, path_of(*state, "key")), EXIT_DENIED);
	assert_non_null(strstr(err_last()->remedy, "chmod"));
	err_command("test");
	assert_int_equal(key_load(&key, path_of(*state, "none")), EXIT_FAILED);
	assert_non_null(strstr(err_last()->remedy, "/dev/urandom"));
}

static void a_client_is_told_by_the_environment_too(void **state)
{
	(void)state;
	unsetenv(KEY_ENV);
	assert_null(key_of_client(NULL));
	assert_string_equal(key_of_client("said"), "said");
	setenv(KEY_ENV, "/etc/key", 1);
	assert_string_equal(key_of_client(NULL), "/etc/key");
	assert_string_equal(key_of_client("said"), "said");
	setenv(KEY_ENV, "", 1);
	assert_null(key_of_client(NULL));
	unsetenv(KEY_ENV);
}

static void a_server_takes_its_credential(void **state)
{
	const struct tmp *tmp = *state;
	char buf[PATH_MAX];

	unsetenv("CREDENTIALS_DIRECTORY");
	assert_null(key_of_server(NULL, buf, sizeof(buf)));
	setenv("CREDENTIALS_DIRECTORY", tmp->path, 1);
	assert_null(key_of_server(NULL, buf, sizeof(buf)));
	tmp_write(tmp, KEY_CREDENTIAL, sixteen);
	assert_string_equal(key_of_server(NULL, buf, sizeof(buf)),
			    path_of(tmp, KEY_CREDENTIAL));
	assert_string_equal(key_of_server("said", buf, sizeof(buf)), "said");
	assert_null(key_of_server(NULL, buf, 4));
	unsetenv("CREDENTIALS_DIRECTORY");
}

static void a_key_is_there_until_its_last_user_goes(void **state)
{
	struct key *key;

	assert_int_equal(read_mode(*state, sixteen, 0600, &key), 0);
	assert_ptr_equal(key_get(key), key);
	key_put(key);
	assert_memory_equal(key->bytes, sixteen, 16);
	key_put(key);
	key_put(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tmp_test(a_key_of_another_user_is_not_taken),
		tmp_test(a_key_is_what_is_in_the_file_but_for_line_ends),
		tmp_test(a_key_has_16_bytes_or_more),
		tmp_test(a_key_that_others_can_read_is_none),
		tmp_test(a_group_may_read_a_key),
		tmp_test(what_is_no_file_has_no_key),
		tmp_test(what_is_wrong_comes_with_a_remedy),
		tmp_test(a_client_is_told_by_the_environment_too),
		tmp_test(a_server_takes_its_credential),
		tmp_test(a_key_is_there_until_its_last_user_goes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
