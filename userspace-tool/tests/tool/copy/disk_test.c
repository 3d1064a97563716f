// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Copies to a disk that is full or whose host is lost, and what of a copy has reached the disk. */
#define _GNU_SOURCE
#include <sys/inotify.h>

#include "copy/retry.h"
#include "disk_server.h"

#define PART "root/.f.kverbs-part"

static const char *name(const struct server_run *r, const char *rest)
{
	static char buf[PATH_MAX + 64];

	snprintf(buf, sizeof(buf), "%s/%s", r->tmp->path, rest);
	return buf;
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

static bool same(const struct server_run *r, const char *a, const char *b)
{
	char cmd[2 * PATH_MAX];

	snprintf(cmd, sizeof(cmd), "cd '%s' && cmp %s %s", r->tmp->path, a, b);
	return !system(cmd);
}

static off_t size_of(const struct server_run *r, const char *what)
{
	struct stat st;

	return fstatat(r->tmp->fd, what, &st, AT_SYMLINK_NOFOLLOW) ? -1 : st.st_size;
}

static int cp(const char *option, const char *src, const char *dst)
{
	char *argv[] = { "cp", "--timeout", FAKE_PATIENCE_S, "-r", (char *)option, (char *)src,
			 (char *)dst, NULL };

	err_command("cp");
	return cmd_cp.run(7, argv);
}

/* ---- a full disk ------------------------------------------------------------- */

static void a_file_that_does_not_fit_is_refused_at_once(void **state)
{
	struct server_run *r = *state;

	make(r, "f", 10 << 20);
	fake_disk.room = (10 << 20) - 1;
	assert_int_equal(cp("-q", name(r, "f"), "192.0.2.1:f"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOSPC);
	assert_int_equal(size_of(r, PART), -1);
	/* Nothing was written. */
	assert_int_equal(fake_disk.room, (10 << 20) - 1);
	fake_disk.room = FAKE_DISK_ANY;
	assert_int_equal(cp("-q", name(r, "f"), "192.0.2.1:f"), EXIT_OK);
	assert_true(same(r, "f", "root/f"));
}

/* Some file systems cannot reserve space. */
static void a_disk_that_fills_up_keeps_what_is_verified(void **state)
{
	struct server_run *r = *state;
	off_t kept;

	make(r, "f", 10 << 20);
	fake_disk.no_reserve = true;
	fake_disk.room = (5 << 20) + 1000;
	assert_int_equal(cp("-q", name(r, "f"), "192.0.2.1:f"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOSPC);
	assert_int_equal(size_of(r, "root/f"), -1);
	/* The client is told before the server cuts off what is not verified. */
	server_wait_idle();
	kept = size_of(r, PART);
	assert_true(kept >= 4 << 20 && kept <= 5 << 20);
	/* Data that is there is not written again. */
	fake_disk.room = (10 << 20) - kept;
	assert_int_equal(cp("-q", name(r, "f"), "192.0.2.1:f"), EXIT_OK);
	assert_true(same(r, "f", "root/f"));
	assert_int_equal(size_of(r, PART), -1);
}

static void a_tmpfs_that_fills_up_keeps_what_is_verified(void **state)
{
	struct server_run *r = *state;

	make(r, "f", 40 << 20);
	fake_disk.type = TMPFS_MAGIC;
	fake_disk.room = 31 << 20;
	assert_int_equal(cp("-q", name(r, "f"), "192.0.2.1:f"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOSPC);
	server_wait_idle();
	assert_true(size_of(r, PART) > 0);
	assert_true(size_of(r, PART) <= 30 << 20);
	fake_disk.room = FAKE_DISK_ANY;
	assert_int_equal(cp("-q", name(r, "f"), "192.0.2.1:f"), EXIT_OK);
	assert_true(same(r, "f", "root/f"));
}

static void the_disk_of_a_small_file_may_be_full(void **state)
{
	struct server_run *r = *state;

	make(r, "f", 1000);
	fake_disk.room = 999;
	assert_int_equal(cp("-q", name(r, "f"), "192.0.2.1:f"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOSPC);
	assert_int_equal(size_of(r, "root/f"), -1);
	assert_int_equal(size_of(r, PART), -1);
}

/* On ext4 truncation frees what is reserved behind the end, so it must be reserved again. */
static void space_is_still_reserved_when_a_copy_is_resumed(void **state)
{
	struct server_run *r = *state;

	make(r, "f", 10 << 20);
	make(r, PART, (5 << 20) + 100);
	assert_int_equal(cp("-q", name(r, "f"), "192.0.2.1:f"), EXIT_OK);
	assert_true(same(r, "f", "root/f"));
	assert_int_equal(fake_disk.unreserved, 0);
}

/* ---- what has reached the disk ------------------------------------------------ */

static void a_tree(const struct server_run *r)
{
	assert_int_equal(mkdirat(r->tmp->fd, "d", 0755), 0);
	assert_int_equal(mkdirat(r->tmp->fd, "d/e", 0755), 0);
	make(r, "d/e/small", 10);
	make(r, "d/e/large", 3 << 20);
}

static void sync_includes_new_files_and_the_names_of_new_directories(void **state)
{
	/* A directory has the names of what is in it. */
	static const char * const names[] = {
		"root", "root/d", "root/d/e", "root/d/e/small", "root/d/e/large",
	};
	struct server_run *r = *state;
	unsigned int i;

	a_tree(r);
	assert_int_equal(cp("--sync", name(r, "d"), "192.0.2.1:"), EXIT_OK);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		assert_true(fake_disk_synced(r->tmp->fd, names[i]));
}

static void without_sync_nothing_is_forced_out(void **state)
{
	struct server_run *r = *state;

	a_tree(r);
	assert_int_equal(cp("-q", name(r, "d"), "192.0.2.1:"), EXIT_OK);
	assert_false(fake_disk_synced(r->tmp->fd, "root"));
	assert_false(fake_disk_synced(r->tmp->fd, "root/d/e/large"));
}

/* ---- a connection that is lost ------------------------------------------------- */

static int cp_again(const char *retry, const char *src, const char *dst)
{
	char *argv[] = {
		"cp", "--timeout", FAKE_PATIENCE_S, "-r", "--stats", "--retry", (char *)retry,
		(char *)src, (char *)dst, NULL,
	};

	err_command("cp");
	return cmd_cp.run(9, argv);
}

static void a_lost_connection_ends_a_copy(void **state)
{
	struct server_run *r = *state;

	/* More is left than can be in flight, or the server may have all of it. */
	make(r, "f", 40 << 20);
	disk_server_cut_at(7 << 20);
	assert_int_equal(cp("-q", name(r, "f"), "192.0.2.1:f"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ECONNRESET);
	assert_int_equal(size_of(r, "root/f"), -1);
	server_wait_idle();
	assert_true(size_of(r, PART) >= 4 << 20);
}

static void a_copy_goes_on_from_what_is_verified(void **state)
{
	struct server_run *r = *state;

	make(r, "f", 10 << 20);
	disk_server_cut_at(7 << 20);
	assert_int_equal(cp_again("1", name(r, "f"), "192.0.2.1:f"), EXIT_OK);
	assert_null(err_last());
	assert_true(same(r, "f", "root/f"));
	server_wait_idle();
	assert_int_equal(size_of(r, PART), -1);
	/* In the other direction, too. */
	disk_server_cut_at(7 << 20);
	assert_int_equal(cp_again("1", "192.0.2.1:f", name(r, "g")), EXIT_OK);
	assert_true(same(r, "f", "g"));
}

/* The first connection made the directory, so it must not count as one that was there. */
static void a_tree_goes_on_to_the_same_place(void **state)
{
	struct server_run *r = *state;

	a_tree(r);
	disk_server_cut_at(1 << 20);
	assert_int_equal(cp_again("1", name(r, "d"), "192.0.2.1:new"), EXIT_OK);
	assert_null(fake_disk.when_full);
	assert_true(same(r, "d/e/large", "root/new/e/large"));
	assert_true(same(r, "d/e/small", "root/new/e/small"));
	assert_int_equal(size_of(r, "root/new/d"), -1);
	disk_server_cut_at(1 << 20);
	assert_int_equal(cp_again("1", "192.0.2.1:new", name(r, "back")), EXIT_OK);
	assert_true(same(r, "d/e/large", "back/e/large"));
	assert_int_equal(size_of(r, "back/new"), -1);
	/* A directory that was there takes it, also after a loss. */
	disk_server_cut_at(1 << 20);
	assert_int_equal(cp_again("1", name(r, "d"), "192.0.2.1:new"), EXIT_OK);
	assert_true(same(r, "d/e/large", "root/new/d/e/large"));
}

static int cuts;

static void cut_again(void)
{
	fake_disk.room = 3 << 20;
	fake_disk.when_full = cuts-- ? cut_again : NULL;
	fake_cut();
}

/* Only attempts that copy nothing count. */
static void progress_earns_more_attempts(void **state)
{
	struct server_run *r = *state;

	make(r, "f", 30 << 20);
	disk_server_hook(3 << 20, cut_again);
	cuts = 4;
	assert_int_equal(cp_again("1", name(r, "f"), "192.0.2.1:f"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOSPC);
	assert_int_equal(cuts, -1);
	server_wait_idle();
	fake_disk.room = FAKE_DISK_ANY;
	assert_int_equal(cp_again("1", name(r, "f"), "192.0.2.1:f"), EXIT_OK);
	assert_true(same(r, "f", "root/f"));
}

/* The server is gone when the client connects again. */
static void cut_and_refuse(void)
{
	fake_script_connect(-ECONNREFUSED);
	fake_cut();
}

static void a_copy_gives_up_in_the_end(void **state)
{
	struct server_run *r = *state;

	make(r, "f", 10 << 20);
	disk_server_hook(7 << 20, cut_and_refuse);
	assert_int_equal(cp_again("1", name(r, "f"), "192.0.2.1:f"), EXIT_UNREACHABLE);
	assert_int_equal(err_last()->err, -ECONNREFUSED);
	server_wait_idle();
	assert_int_equal(cp_again("1", name(r, "f"), "192.0.2.1:f"), EXIT_OK);
	assert_true(same(r, "f", "root/f"));
}

static void standard_input_cannot_be_read_again(void **state)
{
	char *argv[] = { "cp", "--retry", "3", "-", "192.0.2.1:f", NULL };

	(void)state;
	err_command("cp");
	assert_int_equal(cmd_cp.run(5, argv), EXIT_USAGE);
}

static void attempts_become_rare(void **state)
{
	static const int delays[] = { 0, 1, 2, 4, 8, 16, 30, 30, -1, -1 };
	struct retry r = { .max = 8 };
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(delays); i++)
		assert_int_equal(retry_begin(&r, 5), delays[i]);
	/* Something was copied. */
	assert_int_equal(retry_begin(&r, 6), 0);
	assert_int_equal(retry_begin(&r, 6), 1);
}

static void only_what_may_pass_is_tried_again(void **state)
{
	(void)state;
	assert_true(retry_is_lost(-ECONNRESET));
	assert_true(retry_is_lost(-ETIMEDOUT));
	assert_false(retry_is_lost(-EPROTO));
	assert_false(retry_is_lost(-EBADMSG));
	assert_false(retry_is_lost(0));
	assert_false(retry_is_lost(EXIT_FAILED));
	assert_true(retry_may_pass(-ECONNREFUSED, 0));
	assert_true(retry_may_pass(-ECONNREFUSED, WIRE_REFUSED_ENDING));
	assert_true(retry_may_pass(-ECONNREFUSED, WIRE_REFUSED_RATE));
	assert_false(retry_may_pass(-ECONNREFUSED, WIRE_REFUSED_KEY));
	assert_false(retry_may_pass(-ECONNREFUSED, WIRE_REFUSED_VERSION));
	assert_false(retry_may_pass(-EKEYREJECTED, 0));
	assert_false(retry_may_pass(-ENOKEY, 0));
}

/* ---- counting ------------------------------------------------------------------ */

static bool was_opened(int watch)
{
	char buf[4096];

	return read(watch, buf, sizeof(buf)) > 0;
}

/*
 * Counting a large tree may take longer than a server waits for a silent client, so that it must
 * come before the connection. Here there is no server, so nothing comes after.
 */
static void a_tree_is_counted_only_for_a_progress_bar(void **state)
{
	int watch = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
	struct server_run *r = *state;
	char *argv[] = { "cp", "--port", "1", "-r", "--no-progress", (char *)name(r, "d"),
			 "192.0.2.1:", NULL };

	a_tree(r);
	assert_true(watch >= 0);
	if (inotify_add_watch(watch, name(r, "d/e"), IN_OPEN) < 0)
		skip();
	argv[5] = (char *)name(r, "d");
	err_command("cp");
	assert_int_equal(cmd_cp.run(7, argv), EXIT_UNREACHABLE);
	assert_false(was_opened(watch));
	close(watch);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		disk_server_test(a_file_that_does_not_fit_is_refused_at_once),
		disk_server_test(a_disk_that_fills_up_keeps_what_is_verified),
		disk_server_test(a_tmpfs_that_fills_up_keeps_what_is_verified),
		disk_server_test(the_disk_of_a_small_file_may_be_full),
		disk_server_test(space_is_still_reserved_when_a_copy_is_resumed),
		disk_server_test(sync_includes_new_files_and_the_names_of_new_directories),
		disk_server_test(without_sync_nothing_is_forced_out),
		disk_server_test(a_lost_connection_ends_a_copy),
		disk_server_test(a_copy_goes_on_from_what_is_verified),
		disk_server_test(a_tree_goes_on_to_the_same_place),
		disk_server_test(progress_earns_more_attempts),
		disk_server_test(a_copy_gives_up_in_the_end),
		disk_server_test(standard_input_cannot_be_read_again),
		cmocka_unit_test(attempts_become_rare),
		cmocka_unit_test(only_what_may_pass_is_tried_again),
		disk_server_test(a_tree_is_counted_only_for_a_progress_bar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
