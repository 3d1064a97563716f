// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Key files with one key, and with named keys. */
#define _GNU_SOURCE
#include <errno.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "fake_disk.h"
#include "peer/keyring.h"
#include "tmp.h"

static const char sixteen[] = "0123456789abcdef";

static const char *path_of(const struct tmp *tmp, const char *name)
{
	static char path[PATH_MAX + 32];

	snprintf(path, sizeof(path), "%s/%s", tmp->path, name);
	return path;
}

/* Line of the last error */
static unsigned int line;

static int read_mode(const struct tmp *tmp, const char *text, mode_t mode, struct keyring **ring)
{
	unlinkat(tmp->fd, "key", 0);
	tmp_write(tmp, "key", text);
	assert_int_equal(fchmodat(tmp->fd, "key", mode, 0), 0);
	return keyring_read(ring, path_of(tmp, "key"), &line);
}

static void expect_key(const struct tmp *tmp, const char *text, size_t len)
{
	struct keyring *ring;

	assert_int_equal(read_mode(tmp, text, 0600, &ring), 0);
	assert_int_equal(ring->nr, 1);
	assert_string_equal(ring->keys->name, "");
	assert_int_equal(ring->keys->len, len);
	assert_memory_equal(ring->keys->bytes, text, len);
	keyring_put(ring);
}

static void a_key_of_another_user_is_not_taken(void **state)
{
	struct tmp *tmp = *state;
	struct keyring *ring;

	tmp_write(tmp, "key", sixteen);
	assert_int_equal(fchmodat(tmp->fd, "key", 0600, 0), 0);
	if (fchownat(tmp->fd, "key", 12345, -1, 0))
		skip();
	assert_int_equal(keyring_read(&ring, path_of(tmp, "key"), &line), -EPERM);
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
	struct keyring *ring;

	assert_int_equal(read_mode(*state, "", 0600, &ring), -EINVAL);
	assert_int_equal(read_mode(*state, sixteen + 1, 0600, &ring), -EINVAL);
	assert_int_equal(read_mode(*state, "0123456789abcde\n", 0600, &ring), -EINVAL);
	memset(longest, 'k', sizeof(longest) - 1);
	longest[KEY_MAX] = '\n';
	longest[KEY_MAX + 1] = '\0';
	expect_key(*state, longest, KEY_MAX);
	longest[KEY_MAX] = 'k';
	assert_int_equal(read_mode(*state, longest, 0600, &ring), -EINVAL);
}

static void a_key_that_others_can_read_is_none(void **state)
{
	struct keyring *ring;

	assert_int_equal(read_mode(*state, sixteen, 0604, &ring), -EPERM);
	assert_int_equal(read_mode(*state, sixteen, 0602, &ring), -EPERM);
	assert_int_equal(read_mode(*state, sixteen, 0644, &ring), -EPERM);
	assert_int_equal(read_mode(*state, sixteen, 0620, &ring), -EPERM);
}

/* systemd may install a credential with these permissions. */
static void a_group_may_read_a_key(void **state)
{
	struct keyring *ring;

	assert_int_equal(read_mode(*state, sixteen, 0640, &ring), 0);
	keyring_put(ring);
	assert_int_equal(read_mode(*state, sixteen, 0440, &ring), 0);
	keyring_put(ring);
}

static void what_is_no_file_has_no_key(void **state)
{
	const struct tmp *tmp = *state;
	struct keyring *ring;

	assert_int_equal(keyring_read(&ring, path_of(tmp, "none"), &line), -ENOENT);
	assert_int_equal(keyring_read(&ring, tmp->path, &line), -EINVAL);
	assert_int_equal(mkfifoat(tmp->fd, "fifo", 0600), 0);
	assert_int_equal(keyring_read(&ring, path_of(tmp, "fifo"), &line), -EINVAL);
}

static int of_client(struct keyring **ring, const struct key **key, const char *file,
		     const char *name)
{
	err_command("test");
	return keyring_of_client(ring, key, file, name);
}

static void what_is_wrong_comes_with_a_remedy(void **state)
{
	const char *path = path_of(*state, "key");
	const struct key *key;
	struct keyring *ring;

	assert_int_equal(read_mode(*state, sixteen, 0644, &ring), -EPERM);
	assert_int_equal(of_client(&ring, &key, path, NULL), EXIT_DENIED);
	assert_non_null(strstr(err_last()->remedy, "chmod"));
	assert_int_equal(of_client(&ring, &key, path_of(*state, "none"), NULL), EXIT_FAILED);
	assert_non_null(strstr(err_last()->remedy, "kverbs key new"));
}

static void a_client_is_told_by_the_environment_too(void **state)
{
	const char *path = path_of(*state, "key");
	const struct key *key;
	struct keyring *ring;

	unsetenv(KEY_ENV);
	assert_int_equal(read_mode(*state, sixteen, 0600, &ring), 0);
	keyring_put(ring);
	assert_int_equal(of_client(&ring, &key, NULL, NULL), EXIT_OK);
	assert_null(ring);
	assert_null(key);
	setenv(KEY_ENV, path, 1);
	assert_int_equal(of_client(&ring, &key, NULL, NULL), EXIT_OK);
	assert_non_null(key);
	keyring_put(ring);
	assert_int_equal(of_client(&ring, &key, "/none", NULL), EXIT_FAILED);
	setenv(KEY_ENV, "", 1);
	assert_int_equal(of_client(&ring, &key, NULL, NULL), EXIT_OK);
	assert_null(key);
	unsetenv(KEY_ENV);
}

static void a_server_takes_its_credential(void **state)
{
	const struct tmp *tmp = *state;
	char buf[PATH_MAX];

	unsetenv("CREDENTIALS_DIRECTORY");
	assert_null(keyring_of_server(NULL, buf, sizeof(buf)));
	setenv("CREDENTIALS_DIRECTORY", tmp->path, 1);
	assert_null(keyring_of_server(NULL, buf, sizeof(buf)));
	tmp_write(tmp, KEY_CREDENTIAL, sixteen);
	assert_string_equal(keyring_of_server(NULL, buf, sizeof(buf)),
			    path_of(tmp, KEY_CREDENTIAL));
	assert_string_equal(keyring_of_server("said", buf, sizeof(buf)), "said");
	assert_null(keyring_of_server(NULL, buf, 4));
	unsetenv("CREDENTIALS_DIRECTORY");
}

static void a_key_is_there_until_its_last_user_goes(void **state)
{
	struct keyring *ring;

	assert_int_equal(read_mode(*state, sixteen, 0600, &ring), 0);
	assert_ptr_equal(keyring_get(ring), ring);
	keyring_put(ring);
	assert_memory_equal(ring->keys->bytes, sixteen, 16);
	keyring_put(ring);
	keyring_put(NULL);
}

/* ---- named keys ---------------------------------------------------------------- */

#define HEAD KEYRING_HEAD "\n"
#define SECRET "0123456789abcdef"

static void named_keys_have_rights(void **state)
{
	const struct key *key;
	struct keyring *ring;

	assert_int_equal(read_mode(*state, HEAD "# a comment\n\nadmin " SECRET "\r\n"
				   "\tback-up.2_X  " SECRET "2 ro\tservices=files,ping dir=a/b\n"
				   "x third-secret-here no-delete no-super", 0600, &ring), 0);
	assert_int_equal(ring->nr, 3);
	key = keyring_find(ring, "admin");
	assert_int_equal(key->len, 16);
	assert_memory_equal(key->bytes, SECRET, 16);
	assert_int_equal(key->rights.services, 0);
	assert_false(key->rights.read_only || key->rights.no_delete || key->rights.no_super);
	assert_null(key->rights.dir);
	key = keyring_find(ring, "back-up.2_X");
	assert_int_equal(key->rights.services,
			 1 << WIRE_SERVICE_FILES | 1 << WIRE_SERVICE_ECHO);
	assert_true(key->rights.read_only);
	assert_string_equal(key->rights.dir, "a/b");
	key = keyring_find(ring, "x");
	assert_true(key->rights.no_delete && key->rights.no_super);
	assert_null(keyring_find(ring, "y"));
	assert_null(keyring_find(ring, ""));
	keyring_put(ring);
}

static void a_wrong_line_is_named(void **state)
{
	static const char * const wrong[] = {
		"a", "a short", "a/b " SECRET, "a " SECRET " rw", "a " SECRET " services=",
		"a " SECRET " services=ping,", "a " SECRET " services=rping",
		"a " SECRET " dir=", "a " SECRET " dir=../x", "a " SECRET " dir=x/..",
		"a " SECRET " dir=x dir=y",
		"a23456789012345678901234567890123 " SECRET,
	};
	struct keyring *ring;
	unsigned int i;
	char text[256];

	for (i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		snprintf(text, sizeof(text), HEAD "ok " SECRET "\n%s\n", wrong[i]);
		assert_int_equal(read_mode(*state, text, 0600, &ring), -EINVAL);
		assert_int_equal(line, 3);
	}
	assert_int_equal(read_mode(*state, HEAD "a " SECRET "\nb " SECRET "\na " SECRET, 0600,
				   &ring), -EEXIST);
	assert_int_equal(line, 4);
	/* No key at all */
	assert_int_equal(read_mode(*state, HEAD "# a " SECRET "\n", 0600, &ring), -EINVAL);
	assert_int_equal(line, 0);
}

/* A file of the time before named keys, whatever it looks like, is a key. */
static void without_the_first_line_it_is_one_key(void **state)
{
	expect_key(*state, "admin " SECRET " ro\n", 25);
	expect_key(*state, "kverbs-keys 10\nx", 16);
	expect_key(*state, "kverbs-keys 1 and more", 22);
}

static void a_client_chooses_by_name(void **state)
{
	const char *path = path_of(*state, "key");
	const struct key *key;
	struct keyring *ring;

	assert_int_equal(read_mode(*state, HEAD "a " SECRET "\nb " SECRET "\n", 0600, &ring), 0);
	keyring_put(ring);
	assert_int_equal(of_client(&ring, &key, path, "b"), EXIT_OK);
	assert_string_equal(key->name, "b");
	keyring_put(ring);
	setenv(KEY_NAME_ENV, "a", 1);
	assert_int_equal(of_client(&ring, &key, path, NULL), EXIT_OK);
	assert_string_equal(key->name, "a");
	keyring_put(ring);
	unsetenv(KEY_NAME_ENV);
	assert_int_equal(of_client(&ring, &key, path, NULL), EXIT_USAGE);
	assert_non_null(strstr(err_last()->step, "--key-name"));
	assert_int_equal(of_client(&ring, &key, path, "c"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOKEY);
	assert_int_equal(of_client(&ring, &key, NULL, "a"), EXIT_USAGE);
	assert_int_equal(read_mode(*state, HEAD "a " SECRET "\n", 0600, &ring), 0);
	keyring_put(ring);
	assert_int_equal(of_client(&ring, &key, path, NULL), EXIT_OK);
	assert_string_equal(key->name, "a");
	keyring_put(ring);
}

/* ---- kverbs key ------------------------------------------------------------------- */

static int key(const struct tmp *tmp, const char *line_of)
{
	char *argv[16] = { "key" }, *words = strdup(line_of), *save, *word;
	int argc = 1, status, i;

	for (word = strtok_r(words, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		if (!strncmp(word, "HERE/", 5))
			assert_true(asprintf(&argv[argc++], "%s%s", tmp->path, word + 4) > 0);
		else
			argv[argc++] = strdup(word);
	}
	err_command("key");
	status = cmd_key.run(argc, argv);
	for (i = 1; i < argc; i++)
		free(argv[i]);
	free(words);
	return status;
}

static void new_keys_are_added_to_a_file(void **state)
{
	const struct tmp *tmp = *state;
	const struct key *a, *b;
	struct keyring *ring;
	struct stat st;

	assert_int_equal(key(tmp, "new HERE/keys a"), EXIT_OK);
	assert_int_equal(fstatat(tmp->fd, "keys", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(key(tmp, "new HERE/keys b ro services=ping,files dir=d/e"), EXIT_OK);
	assert_int_equal(keyring_read(&ring, path_of(tmp, "keys"), &line), 0);
	a = keyring_find(ring, "a");
	b = keyring_find(ring, "b");
	assert_int_equal(ring->nr, 2);
	assert_int_equal(a->len, 44);
	assert_memory_not_equal(a->bytes, b->bytes, 44);
	assert_true(b->rights.read_only);
	assert_string_equal(b->rights.dir, "d/e");
	keyring_put(ring);
	assert_int_equal(key(tmp, "list HERE/keys"), EXIT_OK);
}

/* @path and what is in it must stay as they are. */
static void expect_unchanged(const struct tmp *tmp, const char *command, int status)
{
	char before[4096], after[4096];
	size_t len = tmp_read(tmp, "keys", before, sizeof(before));

	assert_int_equal(key(tmp, command), status);
	assert_int_equal(tmp_read(tmp, "keys", after, sizeof(after)), len);
	assert_memory_equal(before, after, len);
}

static void what_is_there_is_not_spoilt(void **state)
{
	const struct tmp *tmp = *state;

	tmp_write(tmp, "keys", "a key of the old kind");
	fchmodat(tmp->fd, "keys", 0600, 0);
	expect_unchanged(tmp, "new HERE/keys a", EXIT_FAILED);
	tmp_write(tmp, "keys", HEAD "a " SECRET "\nb short\n");
	expect_unchanged(tmp, "new HERE/keys c", EXIT_FAILED);
	tmp_write(tmp, "keys", HEAD "a " SECRET);
	expect_unchanged(tmp, "new HERE/keys a", EXIT_FAILED);
	expect_unchanged(tmp, "new HERE/keys b rw", EXIT_USAGE);
	expect_unchanged(tmp, "new HERE/keys b/c", EXIT_USAGE);
	expect_unchanged(tmp, "new HERE/keys", EXIT_USAGE);
	expect_unchanged(tmp, "extract HERE/keys a HERE/keys", EXIT_FAILED);
	fake_disk.room = 10;
	expect_unchanged(tmp, "new HERE/keys b", EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOSPC);
	fake_disk_reset();
	/* The last line has no end, and gets one. */
	assert_int_equal(key(tmp, "new HERE/keys b"), EXIT_OK);
	fchmodat(tmp->fd, "keys", 0644, 0);
	expect_unchanged(tmp, "new HERE/keys c", EXIT_DENIED);
}

static void a_client_gets_a_key_without_the_others(void **state)
{
	const struct tmp *tmp = *state;
	struct keyring *all, *one;
	struct stat st;

	assert_int_equal(key(tmp, "new HERE/keys a"), EXIT_OK);
	assert_int_equal(key(tmp, "new HERE/keys b ro"), EXIT_OK);
	assert_int_equal(key(tmp, "extract HERE/keys b HERE/one"), EXIT_OK);
	assert_int_equal(key(tmp, "extract HERE/keys c HERE/two"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOKEY);
	assert_false(tmp_exists(tmp, "two"));
	assert_int_equal(fstatat(tmp->fd, "one", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	assert_int_equal(keyring_read(&all, path_of(tmp, "keys"), &line), 0);
	assert_int_equal(keyring_read(&one, path_of(tmp, "one"), &line), 0);
	assert_int_equal(one->nr, 1);
	assert_string_equal(one->keys->name, "b");
	assert_memory_equal(one->keys->bytes, keyring_find(all, "b")->bytes, 44);
	keyring_put(all);
	keyring_put(one);
}

static void a_wrong_action_is_wrong_usage(void **state)
{
	assert_int_equal(key(*state, "make HERE/keys a"), EXIT_USAGE);
	assert_int_equal(key(*state, ""), EXIT_USAGE);
	assert_int_equal(key(*state, "list"), EXIT_USAGE);
	assert_int_equal(key(*state, "list HERE/none"), EXIT_FAILED);
	assert_int_equal(key(*state, "extract HERE/keys a"), EXIT_USAGE);
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
		tmp_test(named_keys_have_rights),
		tmp_test(a_wrong_line_is_named),
		tmp_test(without_the_first_line_it_is_one_key),
		tmp_test(a_client_chooses_by_name),
		tmp_test(new_keys_are_added_to_a_file),
		tmp_test(what_is_there_is_not_spoilt),
		tmp_test(a_client_gets_a_key_without_the_others),
		tmp_test(a_wrong_action_is_wrong_usage),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
