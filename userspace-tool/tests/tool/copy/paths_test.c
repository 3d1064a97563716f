// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Several addresses of a server: which one is used when, and who ends the connection before. */
#define _GNU_SOURCE
#include <arpa/inet.h>

#include "copy/paths.h"
#include "copy/retry.h"
#include "disk_server.h"

#define FIRST "192.0.2.1"
#define OTHER "192.0.2.7"

static const struct wire_hello files_hello = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_FILES,
	.msg_max = WIRE_MSG_MAX,
	.depth = WIRE_FILES_DEPTH,
};

/* ---- the option ---------------------------------------------------------------- */

static int init(struct paths *paths, const char *word)
{
	const struct session_to to = { .host = FIRST, .source = "192.0.2.2" };
	const struct opts_many words = { .words = { word }, .nr = 1 };

	memset(paths, 0, sizeof(*paths));
	return paths_init(paths, &to, &words);
}

static void a_path_is_an_address_and_perhaps_a_source(void **state)
{
	struct session_to to = { .timeout_ms = 30000 };
	struct paths paths;

	(void)state;
	assert_int_equal(init(&paths, "2001:db8::7,2001:db8::8"), 0);
	paths_use(&paths, paths.at, &to, false);
	assert_string_equal(to.host, FIRST);
	assert_string_equal(to.source, "192.0.2.2");
	paths.lost[0] = true;
	paths_next(&paths);
	paths_use(&paths, paths.at, &to, false);
	assert_string_equal(to.host, "2001:db8::7");
	assert_string_equal(to.source, "2001:db8::8");
	paths_free(&paths);
	/* The source of the first path is none of another network. */
	assert_int_equal(init(&paths, OTHER), 0);
	paths_use(&paths, 1, &to, false);
	assert_string_equal(to.host, OTHER);
	assert_null(to.source);
	paths_free(&paths);
}

static void a_path_is_used_until_it_fails(void **state)
{
	struct paths paths = { .nr = 3 };

	(void)state;
	paths_next(&paths);
	assert_int_equal(paths.at, 0);
	/* The second one has failed, too, with a lane. */
	paths.lost[0] = true;
	paths.lost[1] = true;
	paths_next(&paths);
	assert_int_equal(paths.at, 2);
	/* When all have failed, the first one may work again. */
	paths.lost[2] = true;
	paths_next(&paths);
	assert_int_equal(paths.at, 0);
	assert_false(paths.lost[0] || paths.lost[1] || paths.lost[2]);
}

static void what_is_no_path_is_refused(void **state)
{
	static const char * const words[] = { "", ",", ",192.0.2.2", OTHER "," };
	struct paths paths;
	unsigned int i;

	(void)state;
	err_command("cp");
	for (i = 0; i < ARRAY_SIZE(words); i++) {
		assert_int_equal(init(&paths, words[i]), EXIT_USAGE);
		paths_free(&paths);
	}
}

static void standard_input_cannot_be_read_again(void **state)
{
	char *argv[] = { "cp", "--path", OTHER, "-", FIRST ":f", NULL };

	(void)state;
	err_command("cp");
	assert_int_equal(cmd_cp.run(5, argv), EXIT_USAGE);
}

/* Only an attempt after which another path is tried at once has a shorter time. */
static void the_last_path_has_all_the_time(void **state)
{
	struct session_to to = { .timeout_ms = 30000 };
	struct paths paths;

	(void)state;
	assert_int_equal(init(&paths, OTHER), 0);
	paths_use(&paths, paths.at, &to, false);
	assert_int_equal(to.connect_ms, PATHS_CONNECT_MS);
	paths_use(&paths, paths.at, &to, true);
	assert_int_equal(to.connect_ms, 0);
	paths_free(&paths);
}

static void all_paths_are_tried_before_any_delay(void **state)
{
	static const int delays[] = { 0, 0, 0, 1, 2, -1 };
	static const bool has_path[] = { true, true, false, false, false };
	struct retry r = { .max = 2, .paths = 3 };
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(delays); i++) {
		assert_int_equal(retry_begin(&r, 5), delays[i]);
		if (delays[i] >= 0)
			assert_int_equal(retry_has_path(&r), has_path[i]);
	}
}

/* ---- a connection that is lost --------------------------------------------------- */

static const char *make(const struct server_run *r, size_t size)
{
	static char path[PATH_MAX + 8];
	int fd = openat(r->tmp->fd, "f", O_RDWR | O_CREAT | O_TRUNC, 0640);
	uint32_t n;

	assert_true(fd >= 0);
	for (n = 0; n < size / WIRE_BLOCK; n++)
		assert_int_equal(pwrite(fd, &n, sizeof(n), n * (off_t)WIRE_BLOCK), sizeof(n));
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
	snprintf(path, sizeof(path), "%s/f", r->tmp->path);
	return path;
}

static bool is_copied(const struct server_run *r)
{
	char cmd[2 * PATH_MAX + 32];

	snprintf(cmd, sizeof(cmd), "cmp %s/f %s/f", r->tmp->path, r->root);
	return !system(cmd);
}

static int cp_parallel(const char *nr, const char *path, const char *src, const char *dst)
{
	char *argv[] = {
		"cp", "--timeout", FAKE_PATIENCE_S, "-q", "--parallel", (char *)nr,
		"--path", (char *)path, (char *)src, (char *)dst, NULL,
	};

	err_command("cp");
	return cmd_cp.run(ARRAY_SIZE(argv) - 1, argv);
}

static int cp(const char *path, const char *src)
{
	return cp_parallel("1", path, src, FIRST ":f");
}

static bool is_last_host(const char *text)
{
	struct in_addr in;

	return inet_pton(AF_INET, text, &in) == 1 && !memcmp(fake.last_connect.dst.addr, &in, 4);
}

static void a_copy_goes_on_over_another_path(void **state)
{
	static const uint8_t source[] = { 192, 0, 2, 2 };
	struct server_run *r = *state;
	const char *src = make(r, 40 << 20);

	disk_server_cut_at(7 << 20);
	assert_int_equal(cp(OTHER ",192.0.2.2", src), EXIT_OK);
	assert_null(fake_disk.when_full);
	assert_null(err_last());
	assert_true(is_copied(r));
	assert_true(is_last_host(OTHER));
	assert_memory_equal(fake.last_connect.src.addr, source, sizeof(source));
}

static void another_path_is_used_if_the_first_does_not_answer(void **state)
{
	struct server_run *r = *state;
	const char *src = make(r, 3 << 20);

	fake_script_connect(-EHOSTUNREACH);
	assert_int_equal(cp(OTHER, src), EXIT_OK);
	assert_true(is_copied(r));
	assert_true(is_last_host(OTHER));
	/* No path does. */
	fake_script_connect(-EHOSTUNREACH);
	fake_script_connect(-ETIMEDOUT);
	assert_int_equal(cp(OTHER, src), EXIT_UNREACHABLE);
	assert_int_equal(err_last()->err, -ETIMEDOUT);
}

static void a_peer_is_probed_only_if_there_is_another_path(void **state)
{
	struct server_run *r = *state;
	char *argv[] = { "cp", "-q", (char *)make(r, 10), FIRST ":f", NULL };

	assert_int_equal(cp(OTHER, argv[2]), EXIT_OK);
	assert_true(fake.connect_param.keepalive_ns == PATHS_KEEPALIVE_MS * 1000000ull);
	assert_int_equal(cmd_cp.run(4, argv), EXIT_OK);
	assert_true(fake.connect_param.keepalive_ns == 0);
}

/* ---- several connections at a time --------------------------------------------------- */

/* Windows of a file of memory are granted for this file alone, those of a disk's for any. */
static void several_connections_carry_a_file(void **state)
{
	static const long types[] = { EXT4_SUPER_MAGIC, TMPFS_MAGIC };
	struct server_run *r = *state;
	const char *src = make(r, (40 << 20) + 5);
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		fake_disk.type = types[i];
		assert_int_equal(cp_parallel("3", OTHER, src, FIRST ":f"), EXIT_OK);
		assert_true(is_copied(r));
		assert_int_equal(unlinkat(r->tmp->fd, "f", 0), 0);
		assert_int_equal(cp_parallel("8", OTHER, FIRST ":f", src), EXIT_OK);
		assert_true(is_copied(r));
		assert_int_equal(unlinkat(r->tmp->fd, "root/f", 0), 0);
	}
}

static void connections_take_turns_over_the_paths(void **state)
{
	struct server_run *r = *state;
	const char *src = make(r, 10 << 20);

	assert_int_equal(cp_parallel("2", OTHER, src, FIRST ":f"), EXIT_OK);
	assert_true(is_last_host(OTHER));
	assert_int_equal(cp_parallel("3", OTHER, src, FIRST ":f"), EXIT_OK);
	assert_true(is_last_host(FIRST));
}

static void all_connections_of_a_copy_are_made_again(void **state)
{
	struct server_run *r = *state;
	const char *src = make(r, 40 << 20);

	disk_server_cut_at(7 << 20);
	assert_int_equal(cp_parallel("3", OTHER, src, FIRST ":f"), EXIT_OK);
	assert_null(fake_disk.when_full);
	assert_true(is_copied(r));
}

static void the_others_carry_the_share_of_a_connection_that_cannot_be_made(void **state)
{
	struct server_run *r = *state;
	const char *src = make(r, 10 << 20);

	fake_script_connect(0);
	fake_script_connect(-EHOSTUNREACH);
	assert_int_equal(cp_parallel("2", OTHER, src, FIRST ":f"), EXIT_OK);
	assert_true(is_copied(r));
}

/* ---- the server has not noticed ---------------------------------------------------- */

/* Begin to copy the same large file, up to the server's READY. */
static void begin(struct session *s, struct kverbs **kv, uint64_t id)
{
	const struct wire_msg copy = { .type = WIRE_COPY, .offset = id };
	const struct wire_msg put = { .type = WIRE_PUT, .window = WIRE_NO_WINDOW };
	const struct wire_msg file = {
		.type = WIRE_FILE, .id = 1, .size = 5 << 20, .window = WIRE_NO_WINDOW,
		.tail = "f", .tail_len = 1,
	};
	struct wire_msg msg;

	assert_int_equal(server_connect(s, kv, &files_hello), 0);
	if (id)
		assert_int_equal(session_send(s, &copy), 0);
	assert_int_equal(session_send(s, &put), 0);
	assert_int_equal(session_send(s, &file), 0);
	do {
		assert_int_equal(session_recv(s, &msg, FAKE_PATIENCE_MS), 0);
	} while (msg.type != WIRE_READY);
}

/* How many incomplete files there are */
static int nr_parts(const struct server_run *r)
{
	DIR *d = opendir(r->root);
	struct dirent *de;
	int n = 0;

	assert_non_null(d);
	while ((de = readdir(d)))
		n += !!strstr(de->d_name, "kverbs-part");
	closedir(d);
	return n;
}

static void the_connection_before_of_a_copy_is_ended(void **state)
{
	struct session before, now;
	struct kverbs *kv[2];
	struct wire_msg msg;
	int ret;

	begin(&before, &kv[0], 77);
	begin(&now, &kv[1], 77);
	do {
		ret = session_recv(&before, &msg, FAKE_PATIENCE_MS);
	} while (!ret);
	assert_int_equal(ret, -ECONNRESET);
	/* The file of it is this one's now. */
	assert_int_equal(nr_parts(*state), 1);
	server_leave(&before, kv[0]);
	server_leave(&now, kv[1]);
}

static void connections_of_other_copies_stay(void **state)
{
	struct session s[4];
	struct kverbs *kv[4];
	unsigned int i;

	begin(&s[0], &kv[0], 77);
	begin(&s[1], &kv[1], 78);
	begin(&s[2], &kv[2], 0);
	begin(&s[3], &kv[3], 0);
	assert_int_equal(nr_parts(*state), 4);
	for (i = 0; i < ARRAY_SIZE(s); i++) {
		assert_false(session_broken(&s[i], 0));
		server_leave(&s[i], kv[i]);
	}
}

/* Another client does not know the number, so its connection is no part of the copy. */
static void a_lane_needs_a_copy(void **state)
{
	const struct wire_msg lane = { .type = WIRE_LANE, .offset = 78 };
	struct session s[2];
	struct kverbs *kv[2];
	struct wire_msg msg;

	(void)state;
	begin(&s[0], &kv[0], 77);
	assert_int_equal(server_connect(&s[1], &kv[1], &files_hello), 0);
	assert_int_equal(session_send(&s[1], &lane), 0);
	assert_int_equal(session_recv(&s[1], &msg, FAKE_PATIENCE_MS), 0);
	assert_int_equal(msg.type, WIRE_DONE);
	assert_int_equal(wire_errno(msg.status), -ENOENT);
	assert_int_equal(session_recv(&s[1], &msg, FAKE_PATIENCE_MS), -ECONNRESET);
	server_leave(&s[1], kv[1]);
	server_leave(&s[0], kv[0]);
}

static void the_end_of_a_copy_ends_its_lanes(void **state)
{
	const struct wire_msg copy = { .type = WIRE_COPY, .offset = 77 };
	const struct wire_msg lane = { .type = WIRE_LANE, .offset = 77 };
	struct session s[2];
	struct kverbs *kv[2];
	struct wire_msg msg;

	(void)state;
	assert_int_equal(server_connect(&s[0], &kv[0], &files_hello), 0);
	assert_int_equal(session_send(&s[0], &copy), 0);
	assert_int_equal(session_recv(&s[0], &msg, FAKE_PATIENCE_MS), 0);
	assert_int_equal(server_connect(&s[1], &kv[1], &files_hello), 0);
	assert_int_equal(session_send(&s[1], &lane), 0);
	assert_int_equal(session_recv(&s[1], &msg, FAKE_PATIENCE_MS), 0);
	assert_int_equal(msg.status, 0);
	server_leave(&s[0], kv[0]);
	assert_int_equal(session_recv(&s[1], &msg, FAKE_PATIENCE_MS), -ECONNRESET);
	server_leave(&s[1], kv[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_path_is_an_address_and_perhaps_a_source),
		cmocka_unit_test(a_path_is_used_until_it_fails),
		cmocka_unit_test(what_is_no_path_is_refused),
		cmocka_unit_test(standard_input_cannot_be_read_again),
		cmocka_unit_test(the_last_path_has_all_the_time),
		cmocka_unit_test(all_paths_are_tried_before_any_delay),
		disk_server_test(a_copy_goes_on_over_another_path),
		disk_server_test(another_path_is_used_if_the_first_does_not_answer),
		disk_server_test(a_peer_is_probed_only_if_there_is_another_path),
		disk_server_test(the_connection_before_of_a_copy_is_ended),
		disk_server_test(connections_of_other_copies_stay),
		disk_server_test(several_connections_carry_a_file),
		disk_server_test(connections_take_turns_over_the_paths),
		disk_server_test(all_connections_of_a_copy_are_made_again),
		disk_server_test(the_others_carry_the_share_of_a_connection_that_cannot_be_made),
		disk_server_test(a_lane_needs_a_copy),
		disk_server_test(the_end_of_a_copy_ends_its_lanes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
