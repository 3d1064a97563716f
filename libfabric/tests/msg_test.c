// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Messages, READ and WRITE, and how they complete */
#include "fi_t.h"

#define RIGHTS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE | FI_SEND | FI_RECV)

static uint64_t addr_of(const struct t *t, size_t offset)
{
	return (uintptr_t)t->mem + offset;
}

static void *desc(const struct t *t)
{
	return fi_mr_desc(t->mr);
}

static void a_message_arrives_in_the_oldest_receive(void **state)
{
	struct t *t = *state;
	struct fi_cq_data_entry comp;

	memcpy(t->mem, "hello", 5);
	assert_int_equal(fi_recv(t->server, t->mem + 4096, 100, desc(t), 0, t->mem), 0);
	assert_int_equal(fi_send(t->client, t->mem, 5, desc(t), 0, t->mem + 1), 0);
	comp = t_comp(t);
	assert_ptr_equal(comp.op_context, t->mem);
	assert_int_equal(comp.flags, FI_MSG | FI_RECV);
	assert_int_equal(comp.len, 5);
	assert_ptr_equal(comp.buf, t->mem + 4096);
	comp = t_comp(t);
	assert_ptr_equal(comp.op_context, t->mem + 1);
	assert_int_equal(comp.flags, FI_MSG | FI_SEND);
	assert_memory_equal(t->mem + 4096, "hello", 5);
	t_no_comp(t);
}

static void a_message_has_four_bytes_of_data(void **state)
{
	struct t *t = *state;
	struct fi_cq_data_entry comp;

	assert_int_equal(fi_recv(t->server, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_senddata(t->client, NULL, 0, NULL, 0xabcdef01u, 0, NULL), 0);
	comp = t_comp(t);
	assert_int_equal(comp.flags, FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA);
	assert_int_equal(comp.data, 0xabcdef01u);
	t_comp(t);
}

static void a_list_of_buffers_is_one_message(void **state)
{
	struct t *t = *state;
	const struct iovec from[] = { { t->mem, 3 }, { t->mem + 100, 0 }, { t->mem + 50, 4 } };
	const struct iovec to[] = { { t->mem + 4096, 5 }, { t->mem + 8192, 5 } };
	void *descs[] = { desc(t), desc(t), desc(t) };

	memcpy(t->mem, "abc", 3);
	memcpy(t->mem + 50, "defg", 4);
	assert_int_equal(fi_recvv(t->server, to, descs, 2, 0, NULL), 0);
	assert_int_equal(fi_sendv(t->client, from, descs, 3, 0, NULL), 0);
	assert_int_equal(t_comp(t).len, 7);
	t_comp(t);
	assert_memory_equal(t->mem + 4096, "abcde", 5);
	assert_memory_equal(t->mem + 8192, "fg", 2);
}

static void injected_data_may_change_at_once(void **state)
{
	struct t *t = *state;
	char text[] = "first";

	assert_int_equal(fi_inject(t->client, text, 5, 0), 0);
	memcpy(text, "later", 5);
	assert_int_equal(fi_recv(t->server, t->mem, 5, desc(t), 0, NULL), 0);
	assert_int_equal(t_comp(t).len, 5);
	t_no_comp(t);
	assert_memory_equal(t->mem, "first", 5);
	assert_int_equal(fi_inject(t->client, t->mem, kvf_param.inject + 1, 0), -FI_EMSGSIZE);
}

static void the_failure_of_an_inject_is_not_reported(void **state)
{
	struct t *t = *state;

	assert_int_equal(fi_close(&t->server->fid), 0);
	t->server = NULL;
	assert_int_equal(fi_inject(t->client, "x", 1, 0), 0);
	t_no_comp(t);
	assert_int_equal(fi_send(t->client, t->mem, 1, desc(t), 0, NULL), 0);
	assert_int_equal(t_comp_error(t).err, FI_ECANCELED);
}

static void an_endpoint_that_injects_lets_data_change_at_once(void **state)
{
	uint64_t flags = FI_TRANSMIT | FI_INJECT;
	struct t *t = *state;

	assert_int_equal(fi_control(&t->client->fid, FI_SETOPSFLAG, &flags), 0);
	memcpy(t->mem, "first", 5);
	assert_int_equal(fi_send(t->client, t->mem, 5, desc(t), 0, NULL), 0);
	memcpy(t->mem, "later", 5);
	assert_int_equal(fi_recv(t->server, t->mem + 100, 5, desc(t), 0, NULL), 0);
	t_comp(t);
	t_comp(t);
	assert_memory_equal(t->mem + 100, "first", 5);
}

static void a_buffer_outside_of_its_region_is_refused(void **state)
{
	struct t *t = *state;

	assert_int_equal(fi_send(t->client, t->mem, 1, NULL, 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_send(t->client, t->mem - 1, 1, desc(t), 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_send(t->client, t->mem + 1, T_SIZE, desc(t), 0, NULL), -FI_EINVAL);
	assert_int_equal(fi_recv(t->client, t->mem + T_SIZE, 1, desc(t), 0, NULL), -FI_EINVAL);
}

static void a_full_queue_says_eagain_until_completions_are_read(void **state)
{
	struct t *t = *state;
	size_t i;

	fake.loopback = false;
	for (i = 0; i < t->info->tx_attr->size; i++)
		assert_int_equal(fi_send(t->client, t->mem, 1, desc(t), 0, NULL), 0);
	assert_int_equal(fi_send(t->client, t->mem, 1, desc(t), 0, NULL), -FI_EAGAIN);
	fake_complete(0, 0);
	assert_int_equal(fi_send(t->client, t->mem, 1, desc(t), 0, NULL), 0);
	for (i = 0; i < t->info->rx_attr->size; i++)
		assert_int_equal(fi_recv(t->client, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_recv(t->client, NULL, 0, NULL, 0, NULL), -FI_EAGAIN);
}

static void what_an_end_flushes_is_cancelled(void **state)
{
	struct t *t = *state;
	struct fi_cq_err_entry error;

	assert_int_equal(fi_recv(t->server, t->mem, 8, desc(t), 0, t->mem), 0);
	assert_int_equal(fi_close(&t->server->fid), 0);
	t->server = NULL;
	error = t_comp_error(t);
	assert_int_equal(error.err, FI_ECANCELED);
	assert_ptr_equal(error.op_context, t->mem);
	assert_int_equal(error.flags, FI_MSG | FI_RECV);
	assert_int_equal(fi_send(t->client, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(t_comp_error(t).err, FI_ECANCELED);
}

static void read_and_write_use_virtual_addresses(void **state)
{
	struct t *t = *state;
	uint64_t key = fi_mr_key(t->mr);

	assert_true(key <= UINT32_MAX);
	memcpy(t->mem + 10, "written", 7);
	assert_int_equal(fi_write(t->client, t->mem + 10, 7, desc(t), 0, addr_of(t, 5000), key,
				  NULL), 0);
	assert_int_equal(t_comp(t).flags, FI_RMA | FI_WRITE);
	assert_memory_equal(t->mem + 5000, "written", 7);
	assert_int_equal(fi_read(t->client, t->mem + 20, 3, desc(t), 0, addr_of(t, 5004), key,
				 NULL), 0);
	assert_int_equal(t_comp(t).flags, FI_RMA | FI_READ);
	assert_memory_equal(t->mem + 20, "ten", 3);
}

static void a_write_with_data_completes_a_receive(void **state)
{
	struct t *t = *state;
	struct fi_cq_data_entry comp;

	assert_int_equal(fi_recv(t->server, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_inject_writedata(t->client, "x", 1, 7, 0, addr_of(t, 9),
					     fi_mr_key(t->mr)), 0);
	comp = t_comp(t);
	assert_int_equal(comp.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	assert_int_equal(comp.data, 7);
	assert_int_equal(t->mem[9], 'x');
	t_no_comp(t);
}

static void an_invalid_key_is_refused_by_the_peer(void **state)
{
	struct t *t = *state;

	assert_int_equal(fi_read(t->client, t->mem, 1, desc(t), 0, addr_of(t, T_SIZE),
				 fi_mr_key(t->mr), NULL), 0);
	assert_int_equal(t_comp_error(t).err, FI_EACCES);
}

/* Retry as applications do, until the directory of the key has been read. */
static void write_all(struct t *t, size_t from, size_t length, uint64_t addr, uint64_t key)
{
	ssize_t ret;

	do {
		ret = fi_write(t->client, t->mem + from, length, desc(t), 0, addr, key, NULL);
	} while (ret == -FI_EAGAIN);
	assert_int_equal(ret, 0);
}

static void a_region_of_several_segments_has_one_key(void **state)
{
	struct t *t = *state;
	struct fid_mr *mr;
	unsigned int i;

	fake.max_segment = 4096;
	assert_int_equal(fi_mr_reg(t->domain, t->mem, 32768, RIGHTS, 0, 0, 0, &mr, NULL), 0);
	assert_true(fi_mr_key(mr) > UINT32_MAX);
	for (i = 0; i < 20000; i++)
		t->mem[40000 + i] = (uint8_t)(i * 7);
	write_all(t, 40000, 20000, addr_of(t, 1000), fi_mr_key(mr));
	assert_int_equal(t_comp(t).flags, FI_RMA | FI_WRITE);
	t_no_comp(t);
	assert_memory_equal(t->mem + 1000, t->mem + 40000, 20000);
	/* The whole region, and no byte more. */
	assert_int_equal(fi_read(t->client, t->mem + 32768, 32768, desc(t), 0, addr_of(t, 0),
				 fi_mr_key(mr), NULL), 0);
	t_comp(t);
	assert_int_equal(fi_read(t->client, t->mem + 32768, 1, desc(t), 0, addr_of(t, 32768),
				 fi_mr_key(mr), NULL), -FI_EACCES);
	assert_int_equal(fi_read(t->client, t->mem + 32768, 2, desc(t), 0, addr_of(t, 32767),
				 fi_mr_key(mr), NULL), -FI_EACCES);
	assert_int_equal(fi_close(&mr->fid), 0);
}

static void a_list_is_cut_where_the_key_changes(void **state)
{
	struct t *t = *state;
	const struct iovec iov[] = { { t->mem + 40000, 3000 }, { t->mem + 50000, 6000 } };
	void *descs[] = { desc(t), desc(t) };
	struct fid_mr *mr;
	ssize_t ret;

	fake.max_segment = 4096;
	assert_int_equal(fi_mr_reg(t->domain, t->mem, 32768, RIGHTS, 0, 0, 0, &mr, NULL), 0);
	memset(t->mem + 40000, 1, 3000);
	memset(t->mem + 50000, 2, 6000);
	do {
		ret = fi_writev(t->client, iov, descs, 2, 0, addr_of(t, 100), fi_mr_key(mr), NULL);
	} while (ret == -FI_EAGAIN);
	assert_int_equal(ret, 0);
	t_comp(t);
	t_no_comp(t);
	assert_memory_equal(t->mem + 100, t->mem + 40000, 3000);
	assert_memory_equal(t->mem + 3100, t->mem + 50000, 6000);
	assert_int_equal(fi_close(&mr->fid), 0);
}

static void a_closed_directory_is_no_key(void **state)
{
	struct t *t = *state;
	struct fid_mr *mr;
	uint64_t key;
	ssize_t ret;

	fake.max_segment = 4096;
	assert_int_equal(fi_mr_reg(t->domain, t->mem, 32768, RIGHTS, 0, 0, 0, &mr, NULL), 0);
	key = fi_mr_key(mr);
	assert_int_equal(fi_close(&mr->fid), 0);
	do {
		ret = fi_read(t->client, t->mem, 1, desc(t), 0, addr_of(t, 0), key, NULL);
	} while (ret == -FI_EAGAIN);
	assert_int_equal(ret, -FI_EACCES);
	t_no_comp(t);
}

static ssize_t read_first_byte(struct t *t, struct fid_mr *mr)
{
	ssize_t ret;

	do {
		ret = fi_read(t->client, t->mem + 40000, 1, desc(t), 0, addr_of(t, 0),
			      fi_mr_key(mr), NULL);
	} while (ret == -FI_EAGAIN);
	return ret;
}

/* Words of a directory: magic, count, 2 reserved; then 6 for each segment: address, length, key. */
static const struct {
	unsigned int word;
	uint32_t value;
} lies[] = {
	{ 0, 0 },
	{ 1, 0 },
	{ 1, 171 },
	{ 1, UINT32_MAX },
	{ 6, UINT32_MAX },		/* the first segment passes the end of memory */
	{ 7, 0 },			/* and has no bytes */
	{ 11, 0 },			/* the second one does not follow it */
};

static void a_directory_that_lies_is_no_key(void **state)
{
	struct t *t = *state;
	struct fid_mr *mr;
	uint32_t *words;
	size_t i;

	fake.max_segment = 4096;
	for (i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
		assert_int_equal(fi_mr_reg(t->domain, t->mem, 32768, RIGHTS, 0, 0, 0, &mr,
					   NULL), 0);
		words = ((struct kvf_mr *)mr)->dir;
		words[lies[i].word] = htonl(lies[i].value);
		assert_int_equal(read_first_byte(t, mr), -FI_EACCES);
		assert_int_equal(fi_close(&mr->fid), 0);
	}
	t_no_comp(t);
}

static void without_remote_access_there_is_no_key(void **state)
{
	struct t *t = *state;
	struct fid_mr *mr;

	assert_int_equal(fi_mr_reg(t->domain, t->mem, 1, FI_SEND, 0, 0, 0, &mr, NULL), 0);
	assert_true(fi_mr_key(mr) == FI_KEY_NOTAVAIL);
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(fi_mr_reg(t->domain, t->mem, 0, FI_SEND, 0, 0, 0, &mr, NULL),
			 -FI_EINVAL);
}

static void unknown_flags_of_a_registration_are_hints(void **state)
{
	struct t *t = *state;
	struct fid_mr *mr;

	assert_int_equal(fi_mr_reg(t->domain, t->mem, 1, FI_SEND, 0, 0, 1ull << 60, &mr, NULL), 0);
	assert_int_equal(fi_close(&mr->fid), 0);
	assert_int_equal(fi_mr_reg(t->domain, t->mem, 1, FI_SEND, 0, 0, FI_RMA_EVENT, &mr, NULL),
			 -FI_EINVAL);
}

static void a_registration_survives_the_loss_of_all_connections(void **state)
{
	struct t *t = *state;
	struct fid_mr *mr;

	fake_cut();
	assert_int_equal(fi_mr_reg(t->domain, t->mem, 1, FI_REMOTE_READ, 0, 0, 0, &mr, NULL), 0);
	assert_int_equal(fi_close(&mr->fid), 0);
}

static void a_region_is_busy_while_work_uses_it(void **state)
{
	struct t *t = *state;
	struct fid_mr *mr;

	assert_int_equal(fi_mr_reg(t->domain, t->mem, 100, FI_RECV, 0, 0, 0, &mr, NULL), 0);
	assert_int_equal(fi_recv(t->server, t->mem, 100, fi_mr_desc(mr), 0, NULL), 0);
	assert_int_equal(fi_close(&mr->fid), -FI_EBUSY);
	assert_int_equal(fi_send(t->client, NULL, 0, NULL, 0, NULL), 0);
	assert_int_equal(fi_close(&mr->fid), 0);
}

static void a_receive_can_be_cancelled_before_there_is_a_connection(void **state)
{
	struct t *t = *state;
	struct fi_cq_err_entry error;
	struct fid_ep *ep = t_ep(t, t->info);

	assert_int_equal(fi_recv(ep, t->mem, 8, desc(t), 0, t->mem), 0);
	assert_int_equal(fi_recv(ep, t->mem + 8, 8, desc(t), 0, t->mem + 8), 0);
	assert_int_equal(fi_cancel(&ep->fid, t->mem + 1), -FI_ENOENT);
	assert_int_equal(fi_cancel(&ep->fid, t->mem + 8), 0);
	error = t_comp_error(t);
	assert_int_equal(error.err, FI_ECANCELED);
	assert_ptr_equal(error.op_context, t->mem + 8);
	t_no_comp(t);
	assert_int_equal(fi_close(&ep->fid), 0);
	assert_ptr_equal(t_comp_error(t).op_context, t->mem);
}

static void what_is_not_supported_says_so(void **state)
{
	struct t *t = *state;

	assert_int_equal(fi_tsend(t->client, NULL, 0, NULL, 0, 1, NULL), -FI_ENOSYS);
	assert_int_equal(fi_atomic(t->client, t->mem, 1, desc(t), 0, 0, 0, FI_UINT64, FI_SUM,
				   NULL), -FI_ENOSYS);
	assert_int_equal(fi_barrier(t->client, 0, NULL), -FI_ENOSYS);
	assert_int_equal(fi_cancel(&t->client->fid, NULL), -FI_ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		t_test_pair(a_message_arrives_in_the_oldest_receive),
		t_test_pair(a_message_has_four_bytes_of_data),
		t_test_pair(a_list_of_buffers_is_one_message),
		t_test_pair(injected_data_may_change_at_once),
		t_test_pair(the_failure_of_an_inject_is_not_reported),
		t_test_pair(an_endpoint_that_injects_lets_data_change_at_once),
		t_test_pair(a_buffer_outside_of_its_region_is_refused),
		t_test_pair(a_full_queue_says_eagain_until_completions_are_read),
		t_test_pair(what_an_end_flushes_is_cancelled),
		t_test_pair(read_and_write_use_virtual_addresses),
		t_test_pair(a_write_with_data_completes_a_receive),
		t_test_pair(an_invalid_key_is_refused_by_the_peer),
		t_test_pair(a_region_of_several_segments_has_one_key),
		t_test_pair(a_list_is_cut_where_the_key_changes),
		t_test_pair(a_closed_directory_is_no_key),
		t_test_pair(a_directory_that_lies_is_no_key),
		t_test(without_remote_access_there_is_no_key),
		t_test(unknown_flags_of_a_registration_are_hints),
		t_test_pair(a_registration_survives_the_loss_of_all_connections),
		t_test_pair(a_region_is_busy_while_work_uses_it),
		t_test(a_receive_can_be_cancelled_before_there_is_a_connection),
		t_test_pair(what_is_not_supported_says_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
