// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory: the library's and the caller's */
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "t.h"

#define HUGE_SIZE 0x200000u

static bool all_zero(const uint8_t *p, size_t n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

static void allocates_aligned_zeroes(void **state)
{
	static const size_t sizes[] = { 1, 4095, 4096, 4097, 100000 };
	struct t *t = *state;
	struct kverbs_buf *buf;
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		assert_int_equal(kverbs_buf_alloc(t->kv, sizes[i], &buf), 0);
		assert_int_equal(kverbs_buf_size(buf), sizes[i]);
		assert_int_equal((uintptr_t)kverbs_buf_addr(buf) % 4096, 0);
		assert_true(all_zero(kverbs_buf_addr(buf), sizes[i]));
		assert_int_equal(kverbs_buf_free(buf), 0);
	}
}

static void large_memory_is_aligned_to_huge_pages(void **state)
{
	static const size_t sizes[] = { HUGE_SIZE, HUGE_SIZE + 1, 3 * HUGE_SIZE - 4096 };
	struct t *t = *state;
	struct kverbs_buf *buf;
	unsigned int i;

	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		uint8_t *p;

		assert_int_equal(kverbs_buf_alloc(t->kv, sizes[i], &buf), 0);
		p = kverbs_buf_addr(buf);
		assert_int_equal((uintptr_t)p % HUGE_SIZE, 0);
		p[0] = 1;
		p[sizes[i] - 1] = 1;
		assert_int_equal(kverbs_buf_free(buf), 0);
		/* All of the memory is unmapped. */
		assert_int_equal(madvise(p, 4096, MADV_NORMAL), -1);
		assert_int_equal(madvise(p + (sizes[i] - 1) / 4096 * 4096, 4096,
					 MADV_NORMAL), -1);
	}
}

static void a_child_does_not_see_the_memory(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;
	int status;
	pid_t pid;

	assert_int_equal(kverbs_buf_alloc(t->kv, 4096, &buf), 0);
	pid = fork();
	if (!pid)
		_exit(madvise(kverbs_buf_addr(buf), 4096, MADV_NORMAL) && errno == ENOMEM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_int_equal(kverbs_buf_free(buf), 0);
}

static void registers_the_callers_memory(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;
	char mine[100] = "mine";

	assert_int_equal(kverbs_buf_register(t->kv, mine + 1, 99,
					     KVERBS_REGION_READ_ONLY, &buf), 0);
	assert_ptr_equal(kverbs_buf_addr(buf), mine + 1);
	assert_int_equal(kverbs_buf_size(buf), 99);
	assert_int_equal(kverbs_buf_free(buf), 0);
	assert_string_equal(mine, "mine");
}

static void invalid_arguments_are_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;
	char mine[8];

	assert_int_equal(kverbs_buf_alloc(t->kv, 0, &buf), -EINVAL);
	assert_int_equal(kverbs_buf_alloc(t->kv, SIZE_MAX, &buf), -ENOMEM);
	assert_int_equal(kverbs_buf_alloc(t->kv, SIZE_MAX - HUGE_SIZE, &buf), -ENOMEM);
	assert_int_equal(kverbs_buf_register(t->kv, mine, 0, 0, &buf), -EINVAL);
	assert_int_equal(kverbs_buf_register(t->kv, mine, 8, 4, &buf), -EINVAL);
	assert_int_equal(kverbs_buf_free(NULL), 0);
}

static void a_shared_buffer_is_imported_with_its_size(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf, *other;
	char mine[100];
	int fd;

	assert_int_equal(kverbs_buf_register(t->kv, mine, sizeof(mine), 0, &buf), 0);
	fd = kverbs_buf_share(buf, 0);
	assert_true(fd >= 0);
	assert_int_equal(kverbs_buf_import(t->kv, fd, NULL, 0, &other), 0);
	close(fd);
	assert_int_equal(kverbs_buf_size(other), sizeof(mine));
	assert_null(kverbs_buf_addr(other));
	assert_int_equal(kverbs_buf_free(other), 0);
	assert_int_equal(kverbs_buf_free(buf), 0);
}

static void an_imported_buffer_has_the_address_that_the_caller_names(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *other;
	int fd = kverbs_buf_share(t->buf, KVERBS_REGION_READ_ONLY);
	char here;

	assert_true(fd >= 0);
	assert_int_equal(kverbs_buf_import(t->kv, fd, &here, 0, &other), -EACCES);
	assert_int_equal(kverbs_buf_import(t->kv, fd, &here, KVERBS_REGION_READ_ONLY, &other), 0);
	close(fd);
	assert_ptr_equal(kverbs_buf_addr(other), &here);
	assert_int_equal(kverbs_buf_size(other), kverbs_buf_size(t->buf));
	assert_int_equal(kverbs_buf_free(other), 0);
}

static void what_cannot_be_shared_or_imported_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;
	char mine[8] = "";

	assert_int_equal(kverbs_buf_register(t->kv, mine, 8, KVERBS_REGION_READ_ONLY, &buf), 0);
	assert_int_equal(kverbs_buf_share(buf, 0), -EACCES);
	assert_int_equal(kverbs_buf_share(buf, KVERBS_REGION_TRACK), -EINVAL);
	fake_fail(KVERBS_REGION_EXPORT_FD, 1, -EMFILE);
	assert_int_equal(kverbs_buf_share(buf, KVERBS_REGION_READ_ONLY), -EMFILE);
	assert_int_equal(kverbs_buf_free(buf), 0);
	assert_int_equal(kverbs_buf_import(t->kv, -1, NULL, 0, &buf), -EBADF);
	assert_int_equal(kverbs_buf_import(t->kv, STDIN_FILENO, NULL, 0, &buf), -EINVAL);
}

static void a_limit_is_reported_and_nothing_leaks(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;
	unsigned int before = fake_leftovers();

	fake_fail(KVERBS_REGION_CREATE, 1, -EPERM);
	assert_int_equal(kverbs_buf_alloc(t->kv, 4096, &buf), -EPERM);
	fake_fail(FAKE_MMAP_ANON, 1, -ENOMEM);
	assert_int_equal(kverbs_buf_alloc(t->kv, 4096, &buf), -ENOMEM);
	fake_fail(FAKE_MMAP_ANON, 1, -ENOMEM);
	assert_int_equal(kverbs_buf_alloc(t->kv, HUGE_SIZE, &buf), -ENOMEM);
	assert_int_equal(fake_leftovers(), before);
}

static void a_signal_does_not_stop_registering(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;

	fake_fail(KVERBS_REGION_CREATE, 1, -EINTR);
	assert_int_equal(kverbs_buf_alloc(t->kv, 4096, &buf), 0);
	fake_fail(KVERBS_DESTROY, 1, -EINTR);
	assert_int_equal(kverbs_buf_free(buf), 0);
}

static void busy_memory_stays_registered(void **state)
{
	struct t *t = *state;
	struct kverbs_req req = { 0 };

	assert_int_equal(kverbs_send(t->conn, t->buf, 0, 16, &req), 0);
	assert_int_equal(kverbs_buf_free(t->buf), -EBUSY);
	*(char *)kverbs_buf_addr(t->buf) = 1;
	fake_complete(0, 0);
	assert_int_equal(kverbs_wait(&req, -1), 0);
	assert_int_equal(kverbs_buf_free(t->buf), 0);
}

static void memory_of_a_file_is_mapped_while_it_is_registered(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;

	assert_int_equal(kverbs_buf_register_fd(t->kv, FAKE_MEMORY_FD, 3 * FAKE_PAGE_SIZE + 100,
						FAKE_PAGE_SIZE, 0, &buf), 0);
	assert_int_equal(fake.memory_offset, 3 * FAKE_PAGE_SIZE);
	assert_int_equal(fake.memory_length, 2 * FAKE_PAGE_SIZE);
	assert_int_equal(fake.memory_prot, PROT_READ | PROT_WRITE);
	assert_int_equal(fake.last_region.addr, (uintptr_t)fake.memory + 100);
	assert_int_equal(fake.last_region.length, FAKE_PAGE_SIZE);
	assert_int_equal(madvise(fake.memory, fake.memory_length, MADV_NORMAL), -1);
	assert_null(kverbs_buf_addr(buf));
	assert_int_equal(kverbs_buf_size(buf), FAKE_PAGE_SIZE);
	assert_int_equal(kverbs_buf_free(buf), 0);
}

static void a_read_only_file_can_be_registered_read_only(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;

	assert_int_equal(kverbs_buf_register_fd(t->kv, FAKE_MEMORY_FD, 0, 1,
						KVERBS_REGION_READ_ONLY, &buf), 0);
	assert_int_equal(fake.memory_prot, PROT_READ);
	assert_int_equal(fake.last_region.flags, KVERBS_REGION_READ_ONLY);
}

static void memory_of_a_file_that_cannot_be_registered_is_refused(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;
	int fd = FAKE_MEMORY_FD;

	assert_int_equal(kverbs_buf_register_fd(t->kv, fd, 0, 0, 0, &buf), -EINVAL);
	assert_int_equal(kverbs_buf_register_fd(t->kv, fd, 1, SIZE_MAX, 0, &buf), -EINVAL);
	assert_int_equal(kverbs_buf_register_fd(t->kv, fd, 0, SIZE_MAX, 0, &buf), -EINVAL);
	/* The buffer would be stale at once. */
	assert_int_equal(kverbs_buf_register_fd(t->kv, fd, 0, 1, KVERBS_REGION_TRACK, &buf),
			 -EINVAL);
	fake_fail(FAKE_MMAP, 1, -EACCES);
	assert_int_equal(kverbs_buf_register_fd(t->kv, fd, 0, 1, 0, &buf), -EACCES);
	fake_fail(KVERBS_REGION_CREATE, 1, -EFAULT);
	assert_int_equal(kverbs_buf_register_fd(t->kv, fd, 0, 1, 0, &buf), -EFAULT);
	assert_int_equal(madvise(fake.memory, fake.memory_length, MADV_NORMAL), -1);
}

static void a_part_of_a_dmabuf_can_be_registered(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;

	assert_int_equal(kverbs_buf_register_dmabuf(t->kv, FAKE_DMABUF_FD, 100, 200,
						    KVERBS_REGION_READ_ONLY, &buf), 0);
	assert_int_equal(fake.last_region.flags, KVERBS_REGION_DMABUF | KVERBS_REGION_READ_ONLY);
	assert_int_equal(fake.last_region.fd, FAKE_DMABUF_FD);
	assert_int_equal(fake.last_region.addr, 100);
	assert_int_equal(fake.last_region.length, 200);
	assert_null(kverbs_buf_addr(buf));
	assert_int_equal(kverbs_buf_size(buf), 200);
	assert_int_equal(kverbs_buf_free(buf), 0);
}

static void a_dmabuf_that_cannot_be_registered_is_refused(void **state)
{
	struct t *t = *state;
	int fd = FAKE_DMABUF_FD;
	struct kverbs_buf *buf;

	assert_int_equal(kverbs_buf_register_dmabuf(t->kv, -1, 0, 1, 0, &buf), -EBADF);
	assert_int_equal(kverbs_buf_register_dmabuf(t->kv, fd, 0, 0, 0, &buf), -EINVAL);
	assert_int_equal(kverbs_buf_register_dmabuf(t->kv, fd, 1, FAKE_DMABUF_SIZE, 0, &buf),
			 -EINVAL);
	assert_int_equal(kverbs_buf_register_dmabuf(t->kv, fd, 0, 1, KVERBS_REGION_TRACK, &buf),
			 -EINVAL);
	assert_int_equal(kverbs_buf_register_dmabuf(t->kv, fd, 0, 1, KVERBS_REGION_FD, &buf),
			 -EINVAL);
	fake_fail(KVERBS_REGION_CREATE, 1, -EOPNOTSUPP);
	assert_int_equal(kverbs_buf_register_dmabuf(t->kv, fd, 0, 1, 0, &buf), -EOPNOTSUPP);
}

static struct kverbs_buf *track(struct t *t, void *addr, size_t size)
{
	struct kverbs_buf *buf;

	assert_int_equal(kverbs_buf_register(t->kv, addr, size, KVERBS_REGION_TRACK, &buf), 0);
	return buf;
}

static void a_changed_buffer_is_stale_and_others_are_not(void **state)
{
	struct t *t = *state;
	char mine[300];
	struct kverbs_buf *first = track(t, mine, 100), *second = track(t, mine + 100, 100);
	struct kverbs_buf *untracked;

	assert_int_equal(kverbs_buf_register(t->kv, mine, 100, 0, &untracked), 0);
	assert_false(kverbs_buf_stale(first));
	fake_change(mine + 99, 1);
	assert_true(kverbs_buf_stale(first));
	assert_false(kverbs_buf_stale(second));
	assert_false(kverbs_buf_stale(untracked));
	fake_change(mine + 199, 1);
	assert_true(kverbs_buf_stale(second));
	assert_true(kverbs_buf_stale(first));
	assert_int_equal(kverbs_buf_free(first), 0);
	assert_int_equal(kverbs_buf_free(second), 0);
	assert_int_equal(kverbs_buf_free(untracked), 0);
}

/* The completion that names it is read by then, or it would be taken for another buffer. */
static void a_stale_buffer_can_be_freed_unseen(void **state)
{
	struct t *t = *state;
	struct kverbs_buf *buf;
	char mine[100];
	unsigned int i;

	for (i = 0; i < 2000; i++) {
		buf = track(t, mine, 100);
		fake_change(mine, 1);
		assert_int_equal(kverbs_buf_free(buf), 0);
	}
	buf = track(t, mine, 100);
	assert_false(kverbs_buf_stale(buf));
	assert_int_equal(kverbs_buf_free(buf), 0);
}

static void a_context_has_a_limited_number_of_tracked_buffers(void **state)
{
	static struct kverbs_buf *bufs[1025];
	struct t *t = *state;
	char mine[8];
	int i, n;

	for (n = 0; n < 1025; n++)
		if (kverbs_buf_register(t->kv, mine, 8, KVERBS_REGION_TRACK, &bufs[n]))
			break;
	assert_int_equal(n, 1024);
	assert_int_equal(kverbs_buf_register(t->kv, mine, 8, KVERBS_REGION_TRACK, &bufs[n]),
			 -EAGAIN);
	/* One change makes all of them stale. */
	fake_change(mine, 8);
	for (i = 0; i < n; i++) {
		assert_true(kverbs_buf_stale(bufs[i]));
		assert_int_equal(kverbs_buf_free(bufs[i]), 0);
	}
}

static void closing_frees_tracked_buffers(void **state)
{
	struct t *t = *state;
	char mine[8];

	track(t, mine, 8);
	track(t, mine, 8);
	fake_change(mine, 8);
	track(t, mine, 8);
}

static void in_a_child_a_tracked_buffer_is_stale(void **state)
{
	struct t *t = *state;
	char mine[8];
	struct kverbs_buf *buf = track(t, mine, 8);
	int status;
	pid_t pid = fork();

	if (!pid)
		_exit(!kverbs_buf_stale(buf));
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_false(kverbs_buf_stale(buf));
	assert_int_equal(kverbs_buf_free(buf), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test(allocates_aligned_zeroes),
		t_test(large_memory_is_aligned_to_huge_pages),
		t_test(a_child_does_not_see_the_memory),
		t_test(registers_the_callers_memory),
		t_test(invalid_arguments_are_refused),
		t_test(a_shared_buffer_is_imported_with_its_size),
		t_test_conn(an_imported_buffer_has_the_address_that_the_caller_names),
		t_test(what_cannot_be_shared_or_imported_is_refused),
		t_test(a_limit_is_reported_and_nothing_leaks),
		t_test(a_signal_does_not_stop_registering),
		t_test_conn(busy_memory_stays_registered),
		t_test(memory_of_a_file_is_mapped_while_it_is_registered),
		t_test(a_read_only_file_can_be_registered_read_only),
		t_test(memory_of_a_file_that_cannot_be_registered_is_refused),
		t_test(a_part_of_a_dmabuf_can_be_registered),
		t_test(a_dmabuf_that_cannot_be_registered_is_refused),
		t_test(a_changed_buffer_is_stale_and_others_are_not),
		t_test(a_stale_buffer_can_be_freed_unseen),
		t_test(a_context_has_a_limited_number_of_tracked_buffers),
		t_test(closing_frees_tracked_buffers),
		t_test(in_a_child_a_tracked_buffer_is_stale),
	};

	return cmocka_run_group_tests_name("buf", tests, NULL, NULL);
}
