// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs cp against kverbs serve, both in this process. */
#define _GNU_SOURCE
#include <xxhash.h>

#include "cli/util.h"
#include "server.h"

#define CHUNK (2u << 20)

static char *name(const struct server_run *r, const char *rest, char *buf)
{
	snprintf(buf, PATH_MAX + 64, "%s/%s", r->tmp->path, rest);
	return buf;
}

static int cp(const char *a, const char *b, const char *c)
{
	char *argv[] = { "cp", "--timeout", FAKE_PATIENCE_S, "-r", (char *)a, (char *)b, (char *)c,
			 NULL };

	err_command("cp");
	return cmd_cp.run(c ? 7 : 6, argv);
}

static void make(const struct server_run *r, const char *what, size_t size)
{
	int fd = openat(r->tmp->fd, what, O_RDWR | O_CREAT | O_TRUNC, 0640);
	uint32_t *p = malloc(size + 4);
	size_t i;

	assert_true(fd >= 0);
	for (i = 0; i < size / 4 + 1; i++)
		p[i] = i * 2654435761u + size;
	assert_int_equal(write(fd, p, size), size);
	free(p);
	close(fd);
}

static int same(const struct server_run *r, const char *a, const char *b)
{
	char *x = malloc(16 << 20), *y = malloc(16 << 20);
	size_t n = tmp_read(r->tmp, a, x, 16 << 20);
	int ret = n == tmp_read(r->tmp, b, y, 16 << 20) && !memcmp(x, y, n);

	free(x);
	free(y);
	return ret;
}

static int count(const struct server_run *r, const char *dir)
{
	char cmd[PATH_MAX + 128], path[PATH_MAX + 64];
	FILE *f;
	int n;

	snprintf(cmd, sizeof(cmd), "ls -A '%s' | wc -l", name(r, dir, path));
	f = popen(cmd, "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%d", &n), 1);
	pclose(f);
	return n;
}

/* ---- successful copies ------------------------------------------------------ */

static void any_size_goes_there_and_back(void **state)
{
	static const size_t sizes[] = {
		0, 1, 4095, 4096, 4097, 65536, 65537, CHUNK - 1, CHUNK, CHUNK + 1,
		5 * CHUNK + 4097,
	};
	struct server_run *r = *state;
	char a[PATH_MAX + 64], b[PATH_MAX + 64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		make(r, "f", sizes[i]);
		assert_int_equal(cp(name(r, "f", a), "192.0.2.1:g", NULL), EXIT_OK);
		assert_true(same(r, "f", "root/g"));
		assert_int_equal(cp("192.0.2.1:g", name(r, "h", b), NULL), EXIT_OK);
		assert_true(same(r, "f", "h"));
	}
	assert_int_equal(count(r, "root"), 1);
}

static void mode_and_time_are_kept(void **state)
{
	struct timespec times[2] = { { .tv_sec = 5 }, { .tv_sec = 77, .tv_nsec = 9 } };
	struct server_run *r = *state;
	char a[PATH_MAX + 64];
	struct stat st;

	make(r, "f", 100);
	assert_int_equal(fchmodat(r->tmp->fd, "f", 0451, 0), 0);
	assert_int_equal(utimensat(r->tmp->fd, "f", times, 0), 0);
	assert_int_equal(cp(name(r, "f", a), "192.0.2.1:", NULL), EXIT_OK);
	assert_int_equal(fstatat(r->tmp->fd, "root/f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0451);
	assert_int_equal(st.st_mtim.tv_sec, 77);
	assert_int_equal(st.st_mtim.tv_nsec, 9);
}

static void many_small_files_go_by_one_connection(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64], f[64];
	int i;

	assert_int_equal(mkdirat(r->tmp->fd, "d", 0755), 0);
	assert_int_equal(mkdirat(r->tmp->fd, "d/empty", 0700), 0);
	for (i = 0; i < 100; i++) {
		snprintf(f, sizeof(f), "d/n %d \xc3\xa9", i);
		make(r, f, i * 37);
	}
	assert_int_equal(cp(name(r, "d", a), "192.0.2.1:e", NULL), EXIT_OK);
	assert_int_equal(count(r, "root/e"), 101);
	assert_true(same(r, "d/n 99 \xc3\xa9", "root/e/n 99 \xc3\xa9"));
	assert_int_equal(cp("192.0.2.1:e", name(r, "back", a), NULL), EXIT_OK);
	assert_int_equal(count(r, "back"), 101);
	assert_true(same(r, "d/n 42 \xc3\xa9", "back/n 42 \xc3\xa9"));
	/* The second time the destination directory exists, so the source goes into it. */
	assert_int_equal(cp(name(r, "d", a), "192.0.2.1:e", NULL), EXIT_OK);
	assert_int_equal(count(r, "root/e/d"), 101);
}

static void several_go_into_a_directory(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64], b[PATH_MAX + 64];

	make(r, "f", 10);
	make(r, "g", 3 << 20);
	assert_int_equal(cp(name(r, "f", a), name(r, "g", b), "192.0.2.1:none"),
			 EXIT_FAILED);
	assert_int_equal(count(r, "root"), 0);
	assert_int_equal(cp(name(r, "f", a), name(r, "g", b), "192.0.2.1:"), EXIT_OK);
	assert_true(same(r, "g", "root/g"));
	assert_int_equal(mkdirat(r->tmp->fd, "in", 0755), 0);
	assert_int_equal(cp("192.0.2.1:f", "192.0.2.1:g", name(r, "in", a)), EXIT_OK);
	assert_true(same(r, "f", "in/f"));
}

/* ---- resumed copies ----------------------------------------------------------- */

static void leave_part(const struct server_run *r, const char *of, size_t len)
{
	char *p = malloc(16 << 20);
	size_t n = tmp_read(r->tmp, of, p, len);
	int fd = openat(r->tmp->fd, "root/.f.kverbs-part", O_WRONLY | O_CREAT, 0600);

	assert_int_equal(n, len);
	assert_int_equal(write(fd, p, n), n);
	close(fd);
	free(p);
}

static void part_is_gone_on_with(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64];

	make(r, "f", 10 << 20);
	leave_part(r, "f", 5 << 20);
	assert_int_equal(cp(name(r, "f", a), "192.0.2.1:f", NULL), EXIT_OK);
	assert_true(same(r, "f", "root/f"));
	assert_int_equal(count(r, "root"), 1);
}

static void part_of_another_file_is_not(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64];

	make(r, "other", 9 << 20);
	make(r, "f", 10 << 20);
	leave_part(r, "other", 5 << 20);
	assert_int_equal(cp(name(r, "f", a), "192.0.2.1:f", NULL), EXIT_OK);
	assert_true(same(r, "f", "root/f"));
	assert_int_equal(count(r, "root"), 1);
}

static uint64_t inverse(uint64_t odd)
{
	uint64_t x = odd;
	int i;

	for (i = 0; i < 6; i++)
		x *= 2 - odd * x;
	return x;
}

/*
 * Change two words without changing the XXH64 of their block: the second, in the next stripe of
 * 32 bytes, makes up for what the first did to a lane. Lane 0 begins with the sum of both primes.
 */
static void forge(uint64_t *block)
{
	const uint64_t p1 = 0x9e3779b185ebca87, p2 = 0xc2b2ae3d27d4eb4f;
	uint64_t was, is;

	was = p1 + p2 + block[0] * p2;
	was = (was << 31 | was >> 33) * p1;
	block[0] ^= 0x4556494c;
	is = p1 + p2 + block[0] * p2;
	is = (is << 31 | is >> 33) * p1;
	block[4] += (was - is) * inverse(p2);
}

/* Anybody who may write can leave a part that has the digests of another file. */
static void a_forged_part_is_not_taken(void **state)
{
	struct server_run *r = *state;
	uint64_t *p = malloc(5 << 20), digest;
	char a[PATH_MAX + 64];
	int fd;

	make(r, "f", 10 << 20);
	leave_part(r, "f", 5 << 20);
	fd = openat(r->tmp->fd, "root/.f.kverbs-part", O_RDWR);
	assert_int_equal(pread(fd, p, 5 << 20, 0), 5 << 20);
	digest = XXH64(p, WIRE_BLOCK, 0);
	forge(p);
	assert_true(XXH64(p, WIRE_BLOCK, 0) == digest);
	assert_int_equal(pwrite(fd, p, 5 << 20, 0), 5 << 20);
	close(fd);
	free(p);
	assert_int_equal(cp(name(r, "f", a), "192.0.2.1:f", NULL), EXIT_OK);
	assert_true(same(r, "f", "root/f"));
	assert_int_equal(count(r, "root"), 1);
}

static void parts_are_not_copied(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64];

	assert_int_equal(mkdirat(r->tmp->fd, "d", 0755), 0);
	make(r, "d/f", 10);
	make(r, "d/.g.kverbs-part", 10);
	assert_int_equal(cp(name(r, "d", a), "192.0.2.1:d", NULL), EXIT_OK);
	assert_int_equal(count(r, "root/d"), 1);
	assert_int_equal(cp(name(r, "d/.g.kverbs-part", a), "192.0.2.1:", NULL), EXIT_DENIED);
	assert_int_equal(count(r, "root"), 1);
}

/* ---- refusals ----------------------------------------------------------------- */

static void nothing_gets_out_of_the_root(void **state)
{
	static const char * const outside[] = {
		"192.0.2.1:../x", "192.0.2.1:/../x", "192.0.2.1:d/../../x",
		"192.0.2.1:out/x", "192.0.2.1:link",
	};
	struct server_run *r = *state;
	char a[PATH_MAX + 64], b[PATH_MAX + 64];
	unsigned int i;

	make(r, "f", 10);
	make(r, "secret", 10);
	assert_int_equal(mkdirat(r->tmp->fd, "root/d", 0755), 0);
	assert_int_equal(symlinkat("..", r->tmp->fd, "root/out"), 0);
	assert_int_equal(symlinkat("../secret", r->tmp->fd, "root/link"), 0);
	for (i = 0; i < ARRAY_SIZE(outside); i++) {
		assert_int_equal(cp(outside[i], name(r, "got", b), NULL), EXIT_DENIED);
		assert_false(tmp_exists(r->tmp, "got"));
		if (i == 4)
			break;
		assert_int_equal(cp(name(r, "f", a), outside[i], NULL), EXIT_DENIED);
		assert_false(tmp_exists(r->tmp, "x"));
	}
	assert_int_equal(count(r, "root"), 3);
	assert_int_equal(count(r, "root/d"), 0);
}

static void what_is_not_there_is_said(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64];

	assert_int_equal(cp("192.0.2.1:none", name(r, "x", a), NULL), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
	assert_int_equal(cp(name(r, "none", a), "192.0.2.1:x", NULL), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
	assert_false(tmp_exists(r->tmp, "x"));
}

static void links_and_fifos_are_left_out(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64];

	assert_int_equal(mkdirat(r->tmp->fd, "d", 0755), 0);
	make(r, "d/f", 10);
	assert_int_equal(symlinkat("f", r->tmp->fd, "d/link"), 0);
	assert_int_equal(mkfifoat(r->tmp->fd, "d/fifo", 0600), 0);
	assert_int_equal(cp(name(r, "d", a), "192.0.2.1:d", NULL), EXIT_OK);
	assert_int_equal(count(r, "root/d"), 1);
	assert_int_equal(cp("192.0.2.1:d", name(r, "e", a), NULL), EXIT_OK);
	assert_int_equal(count(r, "e"), 1);
}

static int no_root(void **state)
{
	static const char * const words[] = { NULL };

	return server_start(state, words);
}

static void without_root_there_are_no_files(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64];

	make(r, "f", 10);
	assert_int_equal(cp(name(r, "f", a), "192.0.2.1:f", NULL), EXIT_DENIED);
	assert_int_equal(cp("192.0.2.1:f", name(r, "g", a), NULL), EXIT_DENIED);
	assert_false(tmp_exists(r->tmp, "g"));
}

static int read_only(void **state)
{
	static const char * const words[] = { "--root", "ROOT", "--read-only", NULL };

	return server_start(state, words);
}

static void read_only_is_only_read(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64];

	make(r, "root/f", 3 << 20);
	assert_int_equal(cp("192.0.2.1:f", name(r, "g", a), NULL), EXIT_OK);
	assert_true(same(r, "root/f", "g"));
	assert_int_equal(cp(name(r, "g", a), "192.0.2.1:g", NULL), EXIT_DENIED);
	assert_int_equal(count(r, "root"), 1);
}

static int bounded(void **state)
{
	static const char * const words[] = {
		"--root", "ROOT", "--max-file-size", "100K", "--umask", "027",
		"--services", "files", NULL,
	};

	return server_start(state, words);
}

static void a_server_bounds_what_it_stores(void **state)
{
	char *ping[] = { "ping", "-c", "1", "-q", "-W", FAKE_PATIENCE_S, "192.0.2.1", NULL };
	struct server_run *r = *state;
	char a[PATH_MAX + 64];
	struct stat st;

	make(r, "f", 100 << 10);
	assert_int_equal(fchmodat(r->tmp->fd, "f", 0777, 0), 0);
	assert_int_equal(cp(name(r, "f", a), "192.0.2.1:f", NULL), EXIT_OK);
	assert_int_equal(fstatat(r->tmp->fd, "root/f", &st, 0), 0);
	assert_int_equal(st.st_mode & 0777, 0750);
	make(r, "g", (100 << 10) + 1);
	assert_int_equal(cp(name(r, "g", a), "192.0.2.1:g", NULL), EXIT_FAILED);
	assert_int_equal(err_last()->err, -EFBIG);
	assert_int_equal(count(r, "root"), 1);
	/* The server has no other service. */
	err_command("ping");
	assert_int_equal(cmd_ping.run(7, ping), EXIT_UNREACHABLE);
}

static int nearly_full(void **state)
{
	static const char * const words[] = { "--root", "ROOT", "--min-free", "4096T", NULL };

	return server_start(state, words);
}

static void space_that_is_to_stay_free_is_not_used(void **state)
{
	static const size_t sizes[] = { 1, 3 << 20 };
	struct server_run *r = *state;
	char a[PATH_MAX + 64];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		make(r, "f", sizes[i]);
		assert_int_equal(cp(name(r, "f", a), "192.0.2.1:f", NULL), EXIT_FAILED);
		assert_int_equal(err_last()->err, -ENOSPC);
		assert_int_equal(count(r, "root"), 0);
	}
}

static void nobody_there_is_unreachable(void **state)
{
	struct server_run *r = *state;
	char a[PATH_MAX + 64];
	char *argv[] = { "cp", "--port", "1", name(r, "f", a), "192.0.2.1:f", NULL };

	make(r, "f", 10);
	err_command("cp");
	assert_int_equal(cmd_cp.run(5, argv), EXIT_UNREACHABLE);
}

static void ping_comes_back_verified(void **state)
{
	char *argv[] = {
		"ping", "-c", "20", "-i", "0", "-s", "1M", "-q", "-W", FAKE_PATIENCE_S,
		"192.0.2.1", NULL,
	};

	(void)state;
	err_command("ping");
	assert_int_equal(cmd_ping.run(ARRAY_SIZE(argv) - 1, argv), EXIT_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(any_size_goes_there_and_back),
		server_test(mode_and_time_are_kept),
		server_test(many_small_files_go_by_one_connection),
		server_test(several_go_into_a_directory),
		server_test(part_is_gone_on_with),
		server_test(part_of_another_file_is_not),
		server_test(a_forged_part_is_not_taken),
		server_test(parts_are_not_copied),
		server_test(nothing_gets_out_of_the_root),
		server_test(what_is_not_there_is_said),
		server_test(links_and_fifos_are_left_out),
		cmocka_unit_test_setup_teardown(without_root_there_are_no_files, no_root,
						server_teardown),
		cmocka_unit_test_setup_teardown(read_only_is_only_read, read_only,
						server_teardown),
		cmocka_unit_test_setup_teardown(a_server_bounds_what_it_stores, bounded,
						server_teardown),
		cmocka_unit_test_setup_teardown(space_that_is_to_stay_free_is_not_used,
						nearly_full, server_teardown),
		server_test(nobody_there_is_unreachable),
		server_test(ping_comes_back_verified),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
