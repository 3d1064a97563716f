// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Incomplete files, and writing into them. */
#define _GNU_SOURCE
#include <errno.h>
#include <sys/file.h>
#include <time.h>

#include "cli/util.h"
#include "copy/part.h"
#include "copy/store.h"
#include "tmp.h"

#define NAME ".f.kverbs-part"

static const struct part_meta meta = {
	.mode = 0640,
	.mask = 0777,
	.times = { { .tv_sec = 1000 }, { .tv_sec = 2000, .tv_nsec = 5 } },
	.sync = true,
};

static void commit_gives_name_mode_and_times(void **state)
{
	struct tmp *tmp = *state;
	struct part part;
	struct stat st;
	char buf[8];

	tmp_write(tmp, "f", "old");
	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	assert_true(tmp_exists(tmp, NAME));
	assert_int_equal(write(part.fd, "newer", 5), 5);
	assert_int_equal(tmp_read(tmp, "f", buf, sizeof(buf)), 3);
	assert_int_equal(part_commit(&part, &meta), 0);
	assert_int_equal(tmp_read(tmp, "f", buf, sizeof(buf)), 5);
	assert_false(tmp_exists(tmp, NAME));
	assert_int_equal(fstatat(tmp->fd, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	assert_int_equal(st.st_mtim.tv_sec, 2000);
	assert_int_equal(st.st_mtim.tv_nsec, 5);
}

static int beat(void *arg)
{
	++*(int *)arg;
	return 0;
}

/* The waiting client receives reports of progress. */
static void a_large_file_is_forced_to_disk_in_steps(void **state)
{
	struct part_meta slow = meta;
	struct tmp *tmp = *state;
	struct part part;
	int beats = 0;

	slow.beat = beat;
	slow.arg = &beats;
	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	assert_int_equal(ftruncate(part.fd, 20 << 20), 0);
	assert_int_equal(part_commit(&part, &slow), 0);
	assert_int_equal(beats, 3);
}

static void privileges_are_not_copied(void **state)
{
	struct part_meta suid = meta;
	struct tmp *tmp = *state;
	struct part part;
	struct stat st;

	suid.mode = 06755;
	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	assert_int_equal(part_commit(&part, &suid), 0);
	assert_int_equal(fstatat(tmp->fd, "f", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
}

static void kept_part_is_found_again(void **state)
{
	struct tmp *tmp = *state;
	struct part part;
	struct stat st;

	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	assert_int_equal(write(part.fd, "0123456789", 10), 10);
	part_keep(&part, 4);
	assert_true(tmp_exists(tmp, NAME));
	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	assert_int_equal(fstat(part.fd, &st), 0);
	assert_int_equal(st.st_size, 4);
	part_drop(&part);
	assert_false(tmp_exists(tmp, NAME));
}

static void part_without_use_is_removed(void **state)
{
	struct tmp *tmp = *state;
	struct part part;

	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	part_keep(&part, 0);
	assert_false(tmp_exists(tmp, NAME));
}

static void two_at_once_do_not_meet(void **state)
{
	struct part a, b;
	struct tmp *tmp = *state;
	char buf[8] = "";

	assert_int_equal(part_open(&a, tmp->fd, "f"), 0);
	assert_int_equal(part_open(&b, tmp->fd, "f"), 0);
	assert_string_not_equal(a.name, b.name);
	assert_int_equal(write(a.fd, "aaaa", 4), 4);
	assert_int_equal(write(b.fd, "bb", 2), 2);
	assert_int_equal(part_commit(&a, &meta), 0);
	tmp_read(tmp, "f", buf, sizeof(buf));
	assert_string_equal(buf, "aaaa");
	assert_int_equal(part_commit(&b, &meta), 0);
	assert_int_equal(tmp_read(tmp, "f", buf, sizeof(buf)), 2);
	assert_memory_equal(buf, "bb", 2);
	assert_false(tmp_exists(tmp, b.name));
}

/* The server takes long to notice that its client is gone; the client has come back by then. */
static void overtaken_part_is_litter(void **state)
{
	struct tmp *tmp = *state;
	struct part a, b;

	assert_int_equal(part_open(&a, tmp->fd, "f"), 0);
	assert_int_equal(part_open(&b, tmp->fd, "f"), 0);
	assert_int_equal(part_commit(&b, &meta), 0);
	assert_true(tmp_exists(tmp, NAME));
	assert_int_equal(write(a.fd, "aaaa", 4), 4);
	part_keep(&a, 4);
	assert_false(tmp_exists(tmp, NAME));
	assert_true(tmp_exists(tmp, "f"));
}

static void only_files_are_replaced(void **state)
{
	struct tmp *tmp = *state;
	struct part part;

	assert_int_equal(mkdirat(tmp->fd, "d", 0755), 0);
	assert_int_equal(mkfifoat(tmp->fd, "p", 0600), 0);
	assert_int_equal(part_open(&part, tmp->fd, "d"), -EISDIR);
	assert_int_equal(part_open(&part, tmp->fd, "p"), -EEXIST);
	assert_false(tmp_exists(tmp, ".p.kverbs-part"));
}

static void planted_links_are_not_followed(void **state)
{
	struct tmp *tmp = *state;
	struct part part;

	tmp_write(tmp, "victim", "precious");
	assert_int_equal(symlinkat("victim", tmp->fd, NAME), 0);
	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	assert_string_not_equal(part.name, NAME);
	part_drop(&part);
	assert_true(tmp_exists(tmp, NAME));
	assert_int_equal(symlinkat("victim", tmp->fd, "f2"), 0);
	assert_int_equal(part_open(&part, tmp->fd, "f2"), 0);
	assert_int_equal(part_commit(&part, &meta), 0);
	assert_int_equal(tmp_read(tmp, "victim", part.name, 100), 8);
}

/* Its owner would own the resulting file, or could have another process overwrite a file. */
static void parts_of_others_are_left_alone(void **state)
{
	struct tmp *tmp = *state;
	struct part part;
	char buf[16];

	tmp_write(tmp, "victim", "precious");
	assert_int_equal(linkat(tmp->fd, "victim", tmp->fd, NAME, 0), 0);
	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	assert_string_not_equal(part.name, NAME);
	part_drop(&part);
	assert_int_equal(tmp_read(tmp, "victim", buf, sizeof(buf)), 8);
	assert_int_equal(unlinkat(tmp->fd, "victim", 0), 0);
	if (!fchownat(tmp->fd, NAME, 12345, -1, 0)) {
		assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
		assert_string_not_equal(part.name, NAME);
		part_drop(&part);
	}
	assert_true(tmp_exists(tmp, NAME));
}

/* A client of a server can make a directory, a local user anything. */
static void an_occupied_name_does_not_lock_out(void **state)
{
	static const mode_t types[] = { S_IFDIR, S_IFIFO, S_IFSOCK };
	struct tmp *tmp = *state;
	struct part part;
	unsigned int i;
	int flags;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		if (types[i] == S_IFDIR)
			assert_int_equal(mkdirat(tmp->fd, NAME, 0755), 0);
		else
			assert_int_equal(mknodat(tmp->fd, NAME, types[i] | 0600, 0), 0);
		assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
		assert_int_equal(part_commit(&part, &meta), 0);
		assert_true(tmp_exists(tmp, "f"));
		assert_true(tmp_exists(tmp, NAME));
		flags = types[i] == S_IFDIR ? AT_REMOVEDIR : 0;
		assert_int_equal(unlinkat(tmp->fd, NAME, flags), 0);
	}
}

/* Another process renames its file to the name of the part. */
static void replace(const struct tmp *tmp, const struct part *part)
{
	tmp_write(tmp, "evil", "EVIL");
	assert_int_equal(renameat(tmp->fd, "evil", tmp->fd, part->name), 0);
}

static void only_what_was_verified_gets_the_name(void **state)
{
	struct tmp *tmp = *state;
	struct part part;
	char buf[8];

	tmp_write(tmp, "f", "old");
	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	assert_int_equal(write(part.fd, "good", 4), 4);
	replace(tmp, &part);
	assert_int_equal(part_commit(&part, &meta), -ESTALE);
	assert_int_equal(tmp_read(tmp, "f", buf, sizeof(buf)), 3);
	assert_true(tmp_exists(tmp, NAME));
}

static void a_file_of_another_is_not_removed(void **state)
{
	struct tmp *tmp = *state;
	struct part part;
	int i;

	for (i = 0; i < 3; i++) {
		assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
		assert_int_equal(ftruncate(part.fd, 0), 0);
		replace(tmp, &part);
		if (i == 0)
			part_drop(&part);
		else if (i == 1)
			part_keep(&part, 0);
		else
			part_leave(&part);
		assert_true(tmp_exists(tmp, NAME));
	}
}

static void names_of_parts_are_known(void **state)
{
	static const char * const parts[] = {
		".f.kverbs-part", ".f.0123456789abcdef.kverbs-part", "..kverbs-part",
		".F.KVERBS-Part",
	};
	static const char * const others[] = {
		"f", ".f", "f.kverbs-part", ".f.kverbs-par", ".kverbs-part", ".f.kverbs-partx", "",
	};
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		assert_true(part_is_name(parts[i], strlen(parts[i])));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		assert_false(part_is_name(others[i], strlen(others[i])));
}

static void make_old(const struct tmp *tmp, const char *name, time_t age)
{
	struct timespec times[2] = { { .tv_nsec = UTIME_OMIT }, { .tv_sec = time(NULL) - age } };

	tmp_write(tmp, name, "left");
	assert_int_equal(utimensat(tmp->fd, name, times, 0), 0);
}

/* No copy resumes a salted part, so one of a killed process would stay for ever. */
static void salted_parts_of_the_dead_are_removed(void **state)
{
	struct tmp *tmp = *state;
	struct part a, b;

	make_old(tmp, ".f.0123456789abcdef.kverbs-part", 2 * 86400);
	make_old(tmp, ".f.1123456789abcdef.kverbs-part", 60);
	make_old(tmp, ".f.x123456789abcdef.kverbs-part", 2 * 86400);
	make_old(tmp, ".g.0123456789abcdef.kverbs-part", 2 * 86400);
	assert_int_equal(part_open(&a, tmp->fd, "f"), 0);
	assert_int_equal(part_open(&b, tmp->fd, "f"), 0);
	assert_false(tmp_exists(tmp, ".f.0123456789abcdef.kverbs-part"));
	assert_true(tmp_exists(tmp, ".f.1123456789abcdef.kverbs-part"));
	assert_true(tmp_exists(tmp, ".f.x123456789abcdef.kverbs-part"));
	assert_true(tmp_exists(tmp, ".g.0123456789abcdef.kverbs-part"));
	part_drop(&a);
	part_drop(&b);
}

/* A part of another user that the copy did not use stays. */
static void the_last_one_sweeps_only_its_own(void **state)
{
	struct tmp *tmp = *state;
	struct part part;

	tmp_write(tmp, NAME, "of another");
	if (fchownat(tmp->fd, NAME, 12345, -1, 0))
		skip();
	assert_int_equal(part_open(&part, tmp->fd, "f"), 0);
	assert_int_equal(part_commit(&part, &meta), 0);
	assert_true(tmp_exists(tmp, NAME));
}

static void long_names_have_parts_too(void **state)
{
	char name[NAME_MAX + 2], a[NAME_MAX + 1], b[NAME_MAX + 1];
	struct tmp *tmp = *state;
	struct part part;

	memset(name, 'x', sizeof(name));
	name[NAME_MAX] = '\0';
	assert_int_equal(part_name(a, name, 0), 0);
	name[NAME_MAX - 1] = 'y';
	assert_int_equal(part_name(b, name, 0), 0);
	assert_string_not_equal(a, b);
	assert_int_equal(part_name(b, name, 77), 0);
	assert_true(strlen(b) <= NAME_MAX);
	assert_int_equal(part_open(&part, tmp->fd, name), 0);
	assert_int_equal(part_commit(&part, &meta), 0);
	assert_true(tmp_exists(tmp, name));
	name[NAME_MAX] = 'z';
	name[NAME_MAX + 1] = '\0';
	assert_int_equal(part_name(a, name, 0), -ENAMETOOLONG);
	assert_int_equal(part_open(&part, tmp->fd, name), -ENAMETOOLONG);
}

/* ---- writing -------------------------------------------------------------- */

static void check_store(struct tmp *tmp, size_t size, size_t window)
{
	int fd = openat(tmp->fd, "s", O_RDWR | O_CREAT | O_TRUNC, 0600);
	enum method method = store_method(fd, size);
	char *data = aligned_alloc(4096, (size + 4096) / 4096 * 4096), *back;
	size_t at, n, i;

	back = malloc(size + 1);
	for (i = 0; i < size; i++)
		data[i] = i * 31 + (i >> 12);
	if (method == METHOD_MAPPED)
		method = METHOD_BUFFERED;
	assert_int_equal(store_reserve(fd, size), 0);
	for (at = 0; at < size; at += n) {
		n = size - at < window ? size - at : window;
		assert_int_equal(store_write(fd, &method, data + at, n, at), 0);
	}
	close(fd);
	assert_int_equal(tmp_read(tmp, "s", back, size + 1), size);
	assert_memory_equal(back, data, size);
	free(back);
	free(data);
}

static void any_size_is_stored(void **state)
{
	static const size_t sizes[] = { 1, 4095, 4096, 65536, 65537, 131072, 300001 };
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		check_store(*state, sizes[i], sizes[i]);
		check_store(*state, sizes[i], 65536);
	}
}

static void what_cannot_fit_is_known_at_once(void **state)
{
	struct tmp *tmp = *state;
	int fd = openat(tmp->fd, "s", O_RDWR | O_CREAT, 0600);
	struct stat st;

	assert_true(store_reserve(fd, (uint64_t)1 << 60) < 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_int_equal(st.st_size, 0);
	close(fd);
}

static int shm_setup(void **state)
{
	return tmp_setup_in(state, "/dev/shm");
}

static void memory_files_are_mapped(void **state)
{
	struct tmp *tmp = *state;
	int fd = openat(tmp->fd, "s", O_RDWR | O_CREAT, 0600);

	assert_int_equal(store_method(fd, 1 << 20), METHOD_MAPPED);
	assert_int_equal(store_method(fd, 100), METHOD_BUFFERED);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		tmp_test(commit_gives_name_mode_and_times),
		tmp_test(a_large_file_is_forced_to_disk_in_steps),
		tmp_test(privileges_are_not_copied),
		tmp_test(kept_part_is_found_again),
		tmp_test(part_without_use_is_removed),
		tmp_test(two_at_once_do_not_meet),
		tmp_test(overtaken_part_is_litter),
		tmp_test(only_files_are_replaced),
		tmp_test(planted_links_are_not_followed),
		tmp_test(parts_of_others_are_left_alone),
		tmp_test(an_occupied_name_does_not_lock_out),
		tmp_test(only_what_was_verified_gets_the_name),
		tmp_test(a_file_of_another_is_not_removed),
		cmocka_unit_test(names_of_parts_are_known),
		tmp_test(salted_parts_of_the_dead_are_removed),
		tmp_test(the_last_one_sweeps_only_its_own),
		tmp_test(long_names_have_parts_too),
		tmp_test(any_size_is_stored),
		tmp_test(what_cannot_fit_is_known_at_once),
		cmocka_unit_test_setup_teardown(any_size_is_stored, shm_setup,
						tmp_teardown),
		cmocka_unit_test_setup_teardown(memory_files_are_mapped, shm_setup,
						tmp_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
