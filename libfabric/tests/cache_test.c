// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The registration cache: what it finds, what it forgets, and what never moves. */
#include <stdlib.h>

#include "fi_t.h"

#define PAGE 4096u

static int setup(void **state)
{
	setenv("FI_KVERBS_MR_CACHE", "1", 1);
	kvf_param.mr_cache = 1;
	kvf_param.mr_cache_entries = 8;
	kvf_param.mr_cache_size = 64 * PAGE;
	return t_setup_pair(state);
}

static int teardown(void **state)
{
	int ret = t_teardown(state);

	kvf_param.mr_cache = 0;
	unsetenv("FI_KVERBS_MR_CACHE");
	return ret;
}

static struct kvf_cache *cache_of(struct t *t)
{
	return &kvf_of(t->fabric, struct kvf_fabric, fid)->cache;
}

static struct kvf_fabric *fabric_of(struct t *t)
{
	return kvf_of(t->fabric, struct kvf_fabric, fid);
}

static uint8_t *new_memory(size_t pages)
{
	uint8_t *memory = aligned_alloc(PAGE, pages * PAGE);

	assert_non_null(memory);
	memset(memory, 0, pages * PAGE);
	return memory;
}

/* Send @length bytes at @from to @to, without a descriptor on either side. */
static void transfer(struct t *t, void *to, const void *from, size_t length)
{
	assert_int_equal(fi_recv(t->server, to, length, NULL, 0, NULL), 0);
	assert_int_equal(fi_send(t->client, from, length, NULL, 0, NULL), 0);
	t_comp(t);
	t_comp(t);
	assert_memory_equal(to, from, length);
}

static void FI_MR_LOCAL_is_not_required(void **state)
{
	struct t *t = *state;
	struct fi_info *hints = fi_allocinfo(), *info;

	assert_int_equal(t->info->domain_attr->mr_mode & FI_MR_LOCAL, 0);
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->mode = FI_RX_CQ_DATA;
	assert_int_equal(kvf_getinfo(FI_VERSION(1, 17), "127.0.0.1", NULL, FI_SOURCE, hints,
				     &info), 0);
	fi_freeinfo(info);
	fi_freeinfo(hints);
}

static void without_a_cache_a_buffer_needs_a_descriptor(void **state)
{
	struct t *t = *state;

	assert_int_not_equal(t->info->domain_attr->mr_mode & FI_MR_LOCAL, 0);
	assert_int_equal(fi_send(t->client, t->mem, 8, NULL, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_recv(t->server, t->mem, 8, NULL, 0, NULL), -FI_EINVAL);
}

static void a_buffer_is_registered_once(void **state)
{
	struct t *t = *state;
	struct kvf_cache *cache = cache_of(t);
	uint8_t *memory = new_memory(2);
	size_t before = cache->nr;
	unsigned int i;

	for (i = 0; i < 10; i++) {
		memory[PAGE + 17] = i;
		transfer(t, memory + 100, memory + PAGE + 17, 1000);
	}
	assert_int_equal(cache->nr, before + 2);
	assert_int_equal(cache->hits, 18);
	free(memory);
}

static void parts_of_a_cached_buffer_are_found(void **state)
{
	struct t *t = *state;
	struct kvf_cache *cache = cache_of(t);
	uint8_t *memory = new_memory(4);
	uint64_t hits;

	transfer(t, memory, memory + 2 * PAGE, 2 * PAGE);
	hits = cache->hits;
	memset(memory + 3 * PAGE, 7, PAGE);
	transfer(t, memory + 1, memory + 3 * PAGE, 100);
	assert_int_equal(cache->hits, hits + 2);
	free(memory);
}

/* After a change the same address is other memory. */
static void changed_memory_is_registered_anew(void **state)
{
	struct t *t = *state;
	struct kvf_cache *cache = cache_of(t);
	uint8_t *memory = new_memory(2);
	unsigned int before = fake_leftovers();
	uint64_t hits;

	transfer(t, memory, memory + PAGE, PAGE);
	hits = cache->hits;
	fake_change(memory, 2 * PAGE);
	transfer(t, memory, memory + PAGE, PAGE);
	assert_int_equal(cache->hits, hits);
	/* The stale regions are gone, the new ones are there. */
	assert_int_equal(fake_leftovers(), before + 2);
	free(memory);
}

static void a_stale_region_stays_until_its_receive_is_complete(void **state)
{
	struct t *t = *state;
	struct kvf_cache *cache = cache_of(t);
	uint8_t *memory = new_memory(2);
	unsigned int before;
	uint64_t hits;

	/* The first one allocates inject slots. */
	assert_int_equal(fi_recv(t->server, t->mem, 8, t->mr->mem_desc, 0, NULL), 0);
	assert_int_equal(fi_inject(t->client, "12345678", 8, 0), 0);
	t_comp(t);
	assert_int_equal(fi_recv(t->server, memory, 8, NULL, 0, NULL), 0);
	before = fake_leftovers();
	fake_change(memory, 1);
	hits = cache->hits;
	assert_int_equal(fi_recv(t->server, memory + 8, 8, NULL, 0, NULL), 0);
	assert_int_equal(cache->hits, hits);
	/* Another receive, and another region */
	assert_int_equal(fake_leftovers(), before + 2);
	assert_int_equal(fi_inject(t->client, "12345678", 8, 0), 0);
	t_comp(t);
	assert_int_equal(fake_leftovers(), before);
	assert_int_equal(fi_inject(t->client, "abcdefgh", 8, 0), 0);
	t_comp(t);
	assert_memory_equal(memory, "12345678abcdefgh", 16);
	free(memory);
}

static void what_was_used_longest_ago_goes_first(void **state)
{
	struct t *t = *state;
	struct kvf_cache *cache = cache_of(t);
	uint8_t *memory = new_memory(20);
	struct kvf_reg *reg;
	unsigned int i;
	uint64_t hits;

	for (i = 0; i < 20; i++) {
		assert_int_equal(kvf_cache_get(fabric_of(t), memory + i * PAGE, 1, true, &reg), 0);
		kvf_cache_put(fabric_of(t), reg);
		assert_in_range(cache->nr, 1, 8);
	}
	hits = cache->hits;
	assert_int_equal(kvf_cache_get(fabric_of(t), memory + 19 * PAGE, 1, true, &reg), 0);
	kvf_cache_put(fabric_of(t), reg);
	assert_int_equal(cache->hits, hits + 1);
	assert_int_equal(kvf_cache_get(fabric_of(t), memory, 1, true, &reg), 0);
	kvf_cache_put(fabric_of(t), reg);
	assert_int_equal(cache->hits, hits + 1);
	free(memory);
}

static void bytes_are_limited_but_not_of_what_is_in_use(void **state)
{
	struct t *t = *state;
	struct kvf_cache *cache = cache_of(t);
	uint8_t *memory = new_memory(100);
	struct kvf_reg *reg;

	assert_int_equal(kvf_cache_get(fabric_of(t), memory, 100 * PAGE, true, &reg), 0);
	assert_true(cache->bytes >= 100 * PAGE);
	kvf_cache_put(fabric_of(t), reg);
	assert_in_range(cache->bytes, 0, 64 * PAGE);
	free(memory);
}

static void a_limit_of_the_kernel_makes_the_cache_give_up_regions(void **state)
{
	struct t *t = *state;
	struct kvf_cache *cache = cache_of(t);
	uint8_t *memory = new_memory(3);
	struct kvf_reg *reg;
	size_t before = cache->nr;

	assert_int_equal(kvf_cache_get(fabric_of(t), memory, 1, true, &reg), 0);
	kvf_cache_put(fabric_of(t), reg);
	fake_fail(KVERBS_REGION_CREATE, 1, -FI_ENOMEM);
	assert_int_equal(kvf_cache_get(fabric_of(t), memory + PAGE, 1, true, &reg), 0);
	kvf_cache_put(fabric_of(t), reg);
	assert_int_equal(cache->nr, before + 1);
	assert_int_equal(cache->evicted, 1);
	free(memory);
}

static void memory_that_cannot_be_written_can_be_sent(void **state)
{
	struct t *t = *state;
	uint8_t *memory = new_memory(1);
	struct kvf_reg *reg;

	fake_fail(KVERBS_REGION_CREATE, 1, -FI_EFAULT);
	assert_int_equal(kvf_cache_get(fabric_of(t), memory, 1, false, &reg), 0);
	assert_false(reg->is_writable);
	kvf_cache_put(fabric_of(t), reg);
	fake_fail(KVERBS_REGION_CREATE, 1, -FI_EFAULT);
	assert_int_equal(kvf_cache_get(fabric_of(t), memory, 1, true, &reg), -FI_EFAULT);
	free(memory);
}

static void fi_mr_reg_uses_the_cache(void **state)
{
	struct t *t = *state;
	struct kvf_cache *cache = cache_of(t);
	uint8_t *memory = new_memory(2);
	struct fid_mr *mr, *again;
	uint64_t hits = cache->hits;

	assert_int_equal(fi_mr_reg(t->domain, memory + 10, PAGE, FI_SEND, 0, 0, 0, &mr, NULL), 0);
	assert_int_equal(fi_mr_reg(t->domain, memory + 20, 50, FI_REMOTE_WRITE, 0, 0, 0, &again,
				   NULL), 0);
	assert_int_equal(cache->hits, hits + 1);
	/* The export is of its bytes, not of the region's. */
	memset(memory + 20, 5, 50);
	assert_int_equal(fi_write(t->client, t->mem, 50, t->mr->mem_desc, 0, (uintptr_t)memory + 20,
				  again->key, NULL), 0);
	t_comp(t);
	assert_memory_equal(memory + 20, t->mem, 50);
	memset(memory + 10, 6, 8);
	assert_int_equal(fi_recv(t->server, memory + PAGE, 8, NULL, 0, NULL), 0);
	assert_int_equal(fi_send(t->client, memory + 10, 8, mr->mem_desc, 0, NULL), 0);
	t_comp(t);
	t_comp(t);
	assert_memory_equal(memory + PAGE, memory + 10, 8);
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(fi_close(&again->fid), 0);
	free(memory);
}

static void an_open_region_survives_a_change(void **state)
{
	struct t *t = *state;
	uint8_t *memory = new_memory(1);
	struct fid_mr *mr, *again;
	unsigned int before = fake_leftovers();

	assert_int_equal(fi_mr_reg(t->domain, memory, 8, FI_SEND, 0, 0, 0, &mr, NULL), 0);
	fake_change(memory, 1);
	assert_int_equal(fi_mr_reg(t->domain, memory, 8, FI_SEND, 0, 0, 0, &again, NULL), 0);
	assert_int_equal(fake_leftovers(), before + 2);
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(fake_leftovers(), before + 1);
	assert_int_equal(fi_close(&again->fid), 0);
	fake_change(memory, 1);
	free(memory);
}

/* The kernel refuses to destroy what an operation uses; it does not get lost. */
static void a_region_that_is_busy_is_destroyed_later(void **state)
{
	struct t *t = *state;
	struct kvf_cache *cache = cache_of(t);
	uint8_t *memory = new_memory(2);
	struct kvf_reg *reg;
	struct fid_mr *mr;

	assert_int_equal(fi_mr_reg(t->domain, memory, 8, FI_RECV, 0, 0, 0, &mr, NULL), 0);
	assert_int_equal(fi_recv(t->server, memory, 8, mr->mem_desc, 0, NULL), 0);
	assert_int_equal(fi_close(&mr->fid), 0);
	fake_change(memory, 1);
	assert_int_equal(kvf_cache_get(fabric_of(t), memory + PAGE, 1, true, &reg), 0);
	assert_false(list_empty(&cache->busy));
	assert_int_equal(fi_inject(t->client, "12345678", 8, 0), 0);
	t_comp(t);
	assert_memory_equal(memory, "12345678", 8);
	kvf_cache_put(fabric_of(t), reg);
	assert_true(list_empty(&cache->busy));
	free(memory);
}

#define cache_test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cache_test(FI_MR_LOCAL_is_not_required),
		t_test_pair(without_a_cache_a_buffer_needs_a_descriptor),
		cache_test(a_buffer_is_registered_once),
		cache_test(parts_of_a_cached_buffer_are_found),
		cache_test(changed_memory_is_registered_anew),
		cache_test(a_stale_region_stays_until_its_receive_is_complete),
		cache_test(what_was_used_longest_ago_goes_first),
		cache_test(bytes_are_limited_but_not_of_what_is_in_use),
		cache_test(a_limit_of_the_kernel_makes_the_cache_give_up_regions),
		cache_test(memory_that_cannot_be_written_can_be_sent),
		cache_test(fi_mr_reg_uses_the_cache),
		cache_test(an_open_region_survives_a_change),
		cache_test(a_region_that_is_busy_is_destroyed_later),
	};

	return cmocka_run_group_tests_name("cache", tests, NULL, NULL);
}
