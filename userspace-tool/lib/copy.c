// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Sending from memory that is not registered.
 */
#include <errno.h>
#include <string.h>

#include "batch.h"
#include "buf.h"
#include "conn.h"
#include "copy.h"
#include "internal.h"
#include "slice.h"
#include "wait.h"

/* As many as a word has bits */
#define SLOTS 64u

static void put_slot(struct kverbs *kv, unsigned int slot)
{
	kv->copies.free |= 1ull << (slot - 1);
	kverbs_wake(kv, &kv->copies);
}

void kverbs_copy_put(struct kverbs *kv, struct kverbs_req *req)
{
	if (!req->priv.slot)
		return;
	put_slot(kv, req->priv.slot);
	req->priv.slot = 0;
}

static size_t offset_of(unsigned int slot)
{
	return (size_t)(slot - 1) * KVERBS_COPY_MAX;
}

static struct kverbs_buf *slots_of(const struct kverbs *kv)
{
	return __atomic_load_n(&kv->copies.buf, __ATOMIC_ACQUIRE);
}

/* Use @buf for the slots; false: there are some already. */
static bool set_slots(struct kverbs *kv, struct kverbs_buf *buf)
{
	bool first;

	pthread_mutex_lock(&kv->lock);
	first = !kv->copies.buf;
	if (first) {
		kv->copies.free = UINT64_MAX;
		__atomic_store_n(&kv->copies.buf, buf, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&kv->lock);
	return first;
}

/* Another thread may do the same at a time. */
static int see_to_slots(struct kverbs *kv)
{
	struct kverbs_buf *buf;
	int ret;

	if (slots_of(kv))
		return 0;
	ret = kverbs_buf_alloc(kv, offset_of(SLOTS + 1), &buf);
	if (ret)
		return slots_of(kv) ? 0 : ret;
	if (!set_slots(kv, buf))
		kverbs_buf_free(buf);
	return 0;
}

/* Memory that the kernel does not release goes with the context. */
void kverbs_copies_free(struct kverbs *kv)
{
	kverbs_buf_free(kv->copies.buf);
}

static bool slot_or_end(struct kverbs *kv, const void *arg)
{
	const struct kverbs_conn *conn = arg;

	return kv->copies.free || conn->error;
}

/*
 * Slots return when requests of any connection complete. One that was not posted returns its
 * slot without a completion.
 */
static int wait_for_slot(const struct kverbs_conn *conn)
{
	struct kverbs *kv = conn->kv;
	int ret;

	/* Callbacks that a wait has run at its end may have taken all again. */
	while (!slot_or_end(kv, conn)) {
		ret = kverbs_wait_sliced(kv, slot_or_end, conn, &kv->copies, 0);
		if (ret)
			return ret;
	}
	return conn->error;
}

static int take_slot(const struct kverbs_conn *conn, unsigned int *slot)
{
	struct kverbs *kv = conn->kv;
	int ret;

	pthread_mutex_lock(&kv->lock);
	ret = wait_for_slot(conn);
	if (!ret) {
		*slot = (unsigned int)__builtin_ctzll(kv->copies.free) + 1;
		kv->copies.free &= kv->copies.free - 1;
	}
	pthread_mutex_unlock(&kv->lock);
	return ret;
}

/* The request takes the slot over, unless it is in use or the connection has ended. */
static int post(struct kverbs_conn *conn, const struct kverbs_op *op, unsigned int slot)
{
	struct kverbs_batch batch = { .conn = conn, .ops = op, .nr = 1, .slot = &slot };
	int ret = kverbs_batch_post(&batch);

	if (slot) {
		pthread_mutex_lock(&conn->kv->lock);
		put_slot(conn->kv, slot);
		pthread_mutex_unlock(&conn->kv->lock);
	}
	return ret < 0 ? ret : 0;
}

int kverbs_send_copy(struct kverbs_conn *conn, const void *data, size_t length,
		     struct kverbs_req *req)
{
	struct kverbs_op op = { .opcode = KVERBS_OP_SEND, .length = length, .req = req };
	unsigned int slot;
	int ret;

	if (kverbs_is_child(conn->kv))
		return -ECHILD;
	if (!req)
		return -EINVAL;
	if (length > KVERBS_COPY_MAX)
		return -EMSGSIZE;
	if (!length)
		return kverbs_send(conn, NULL, 0, 0, req);
	ret = see_to_slots(conn->kv);
	if (!ret)
		ret = take_slot(conn, &slot);
	if (ret)
		return ret;
	op.buf = slots_of(conn->kv);
	op.offset = offset_of(slot);
	memcpy((char *)op.buf->addr + op.offset, data, length);
	return post(conn, &op, slot);
}
