// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#include <openssl/sha.h>

#include "cli/util.h"
#include "copy/hash.h"
#include "peer/wire.h"
#include "tmp.h"

#define SIZE (3 * WIRE_BLOCK + 12345)

static uint8_t *data;

static int fill(void **state)
{
	size_t i;

	(void)state;
	data = malloc(SIZE);
	assert_non_null(data);
	for (i = 0; i < SIZE; i++)
		data[i] = i * 2654435761u >> 13;
	return 0;
}

static int drop(void **state)
{
	(void)state;
	free(data);
	return 0;
}

static uint64_t value_of(const struct hash *h)
{
	uint64_t value;

	assert_int_equal(hash_value(h, &value), 0);
	return value;
}

static uint64_t whole(const uint8_t *p, size_t len)
{
	struct hash h;
	uint64_t piece;

	hash_init(&h);
	assert_int_equal(hash_add(&h, p, len, &piece), 0);
	return value_of(&h);
}

static void digest_is_the_documented_one(void **state)
{
	XXH64_canonical_t be[3];

	(void)state;
	XXH64_canonicalFromHash(&be[0], XXH64(data, WIRE_BLOCK, 0));
	XXH64_canonicalFromHash(&be[1], XXH64(data + WIRE_BLOCK, 5, 0));
	XXH64_canonicalFromHash(&be[2], WIRE_BLOCK + 5);
	assert_true(whole(data, WIRE_BLOCK + 5) == XXH64(be, sizeof(be), 0));
}

static void windows_make_up_the_file(void **state)
{
	uint64_t at, len, piece, want = whole(data, SIZE);
	size_t step;

	(void)state;
	for (step = WIRE_BLOCK; step <= 2 * WIRE_BLOCK; step += WIRE_BLOCK) {
		struct hash h;

		hash_init(&h);
		for (at = 0; at < SIZE; at += len) {
			len = SIZE - at < step ? SIZE - at : step;
			assert_int_equal(hash_add(&h, data + at, len, &piece), 0);
		}
		assert_true(value_of(&h) == want);
		assert_int_equal(h.size, SIZE);
	}
}

static void every_byte_counts(void **state)
{
	static const size_t at[] = { 0, WIRE_BLOCK - 1, WIRE_BLOCK, SIZE - 1 };
	uint64_t want = whole(data, SIZE);
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(at); i++) {
		data[at[i]] ^= 1;
		assert_false(whole(data, SIZE) == want);
		data[at[i]] ^= 1;
	}
	assert_false(whole(data, SIZE - 1) == want);
	assert_false(whole(data, 0) == whole(data, 1));
}

static void pieces_are_told_apart(void **state)
{
	struct hash h;
	uint64_t a, b;

	(void)state;
	hash_init(&h);
	hash_add(&h, data, WIRE_BLOCK, &a);
	hash_add(&h, data + WIRE_BLOCK, WIRE_BLOCK, &b);
	assert_false(a == b);
	hash_init(&h);
	hash_add(&h, data + WIRE_BLOCK, WIRE_BLOCK, &a);
	assert_true(a == b);
}

/* A hole has the digest of the zeros that it stands for. */
static void holes_are_zeros(void **state)
{
	static const uint8_t zeros[3 * WIRE_BLOCK];
	const uint8_t key[WIRE_MAC_KEY_LEN] = { 1 };
	const struct wire_msg file = { .tail = "f", .tail_len = 1 };
	uint64_t len, a, b;
	struct hash x, y;
	int i;

	(void)state;
	for (i = 0; i < 4; i++) {
		len = i & 1 ? sizeof(zeros) : sizeof(zeros) - 5;
		assert_int_equal(hash_begin(&x, i & 2 ? key : NULL, &file), 0);
		y = x;
		assert_int_equal(hash_add(&x, zeros, len, &a), 0);
		assert_int_equal(hash_add_zeros(&y, len, &b), 0);
		assert_true(a == b);
		assert_true(value_of(&x) == value_of(&y));
	}
}

static uint64_t keyed(const uint8_t *key, const struct wire_msg *file, const uint8_t *p)
{
	struct hash h;
	uint64_t piece;

	assert_int_equal(hash_begin(&h, key, file), 0);
	assert_int_equal(hash_add(&h, p, 2 * WIRE_BLOCK + 5, &piece), 0);
	return value_of(&h);
}

/* With a key, the digest is of the name, the mode and the times as well. */
static void a_key_protects_all_of_a_file(void **state)
{
	const struct wire_msg file = { .size = 2 * WIRE_BLOCK + 5, .mode = 0644, .mtime = 7,
				       .tail = "name", .tail_len = 4 };
	uint8_t key[WIRE_MAC_KEY_LEN] = { 1, 2, 3 }, other[WIRE_MAC_KEY_LEN] = { 1, 2, 4 };
	uint64_t want = keyed(key, &file, data), confirm;
	struct wire_msg msg;
	unsigned int i;

	(void)state;
	assert_true(keyed(key, &file, data) == want);
	assert_false(keyed(other, &file, data) == want);
	assert_false(keyed(NULL, &file, data) == want);
	other[2] = 3;
	other[31] = 1;
	assert_false(keyed(other, &file, data) == want);
	for (i = 0; i < 10; i++) {
		msg = file;
		msg.tail = i == 0 ? "nbme" : "name";
		msg.tail_len -= i == 1;
		msg.mode ^= i == 2;
		msg.mtime += i == 3;
		msg.mtime_ns += i == 4;
		msg.size += i == 5;
		msg.uid += i == 6;
		msg.gid += i == 7;
		msg.acl += i == 8;
		msg.xattr += i == 9;
		assert_false(keyed(key, &msg, data) == want);
	}
	/* The method is for display, and only one end knows it. */
	msg = file;
	msg.mode |= 1 << 16;
	assert_true(keyed(key, &msg, data) == want);
	data[WIRE_BLOCK + 1] ^= 1;
	assert_false(keyed(key, &file, data) == want);
	data[WIRE_BLOCK + 1] ^= 1;
	assert_int_equal(hash_confirm(key, want, 0, &confirm), 0);
	assert_false(confirm == want);
	assert_int_equal(hash_confirm(NULL, want, 0, &confirm), 0);
	assert_true(confirm == want);
}

static int beats;

static int beat(void *arg)
{
	beats++;
	return *(int *)arg;
}

static void prefix_of_a_file_is_its_beginning(void **state)
{
	struct tmp *tmp = *state;
	int fd = openat(tmp->fd, "f", O_RDWR | O_CREAT, 0600), go_on = 0;
	uint8_t sha[WIRE_SHA_LEN], want[WIRE_SHA_LEN];
	struct hash h;

	assert_int_equal(write(fd, data, SIZE), SIZE);
	hash_init(&h);
	beats = 0;
	assert_int_equal(hash_prefix(&h, fd, 2 * WIRE_BLOCK, sha, beat, &go_on), 0);
	assert_int_equal(beats, 2);
	assert_true(value_of(&h) == whole(data, 2 * WIRE_BLOCK));
	assert_non_null(SHA256(data, 2 * WIRE_BLOCK, want));
	assert_memory_equal(sha, want, sizeof(want));
	hash_init(&h);
	assert_int_equal(hash_prefix(&h, fd, SIZE + 1, sha, NULL, NULL), -ESTALE);
	hash_init(&h);
	go_on = -ECONNRESET;
	assert_int_equal(hash_prefix(&h, fd, SIZE, sha, beat, &go_on), -ECONNRESET);
	close(fd);
}

static uintptr_t read_to;

/* Replaces the C library's function, to see where hash_prefix() has files read to. */
ssize_t pread(int fd, void *buf, size_t len, off_t at)
{
	read_to |= (uintptr_t)buf;
	return syscall(SYS_pread64, fd, buf, len, at);
}

/* A sink opens its files with O_DIRECT, which needs aligned memory. */
static void prefix_is_read_as_direct_io_wants_it(void **state)
{
	struct tmp *tmp = *state;
	int fd = openat(tmp->fd, "f", O_RDWR | O_CREAT, 0600);
	uint8_t sha[WIRE_SHA_LEN];
	struct hash h;

	assert_int_equal(write(fd, data, SIZE), SIZE);
	hash_init(&h);
	read_to = 0;
	assert_int_equal(hash_prefix(&h, fd, 2 * WIRE_BLOCK, sha, NULL, NULL), 0);
	assert_true(read_to && read_to % 4096 == 0);
	close(fd);
}

/* Another process truncates the file while it is hashed: an error, not a crash. */
static void truncated_mapping_is_an_error(void **state)
{
	struct tmp *tmp = *state;
	int fd = openat(tmp->fd, "f", O_RDWR | O_CREAT, 0600);
	struct hash h;
	uint64_t piece;
	void *map;

	assert_int_equal(ftruncate(fd, WIRE_BLOCK), 0);
	map = mmap(NULL, WIRE_BLOCK, PROT_READ, MAP_SHARED, fd, 0);
	assert_true(map != MAP_FAILED);
	assert_int_equal(ftruncate(fd, 0), 0);
	hash_init(&h);
	assert_int_equal(hash_add(&h, map, WIRE_BLOCK, &piece), -ESTALE);
	/* Repeat it: the guard must work a second time. */
	assert_int_equal(hash_add(&h, map, WIRE_BLOCK, &piece), -ESTALE);
	munmap(map, WIRE_BLOCK);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		/*
		 * This test is first: cmocka has its own handler, which must be installed before
		 * ours.
		 */
		tmp_test(truncated_mapping_is_an_error),
		cmocka_unit_test(digest_is_the_documented_one),
		cmocka_unit_test(windows_make_up_the_file),
		cmocka_unit_test(every_byte_counts),
		cmocka_unit_test(pieces_are_told_apart),
		cmocka_unit_test(holes_are_zeros),
		cmocka_unit_test(a_key_protects_all_of_a_file),
		tmp_test(prefix_of_a_file_is_its_beginning),
		tmp_test(prefix_is_read_as_direct_io_wants_it),
	};

	return cmocka_run_group_tests(tests, fill, drop);
}
