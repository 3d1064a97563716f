// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>

#include "bench/lane_note.h"
#include "peer/bytes.h"

static void *note_slot(const struct lane *l, unsigned int i)
{
	return (char *)kverbs_buf_addr(l->mem) + (l->nr_out + l->nr_in) * l->stride +
	       i * NOTE_STRIDE;
}

void *note_in(const struct lane *l, unsigned int i)
{
	return note_slot(l, 1 + i);
}

static unsigned int index_of(const struct lane *l, const struct kverbs_req *req)
{
	return (const struct lane_op *)req - l->rx;
}

int note_read(const struct lane *l, const struct kverbs_req *req, uint64_t *number)
{
	if (req->byte_len != NOTE_LEN)
		return -EBADMSG;
	*number = bytes_get(note_in(l, index_of(l, req)), NOTE_LEN);
	return 0;
}

static void post_note(struct lane *l)
{
	void *at = note_slot(l, 0);
	int ret;

	l->note_owed = false;
	bytes_put(at, l->noted, NOTE_LEN);
	ret = kverbs_send(l->conn, l->mem, lane_offset(l, at), NOTE_LEN, &l->note);
	if (ret)
		lane_fail(l, NULL, ret);
}

static void note_sent(struct kverbs_req *req)
{
	struct lane *l = req->data;

	if (req->result)
		lane_fail(l, req, req->result);
	else if (l->note_owed)
		post_note(l);
	else
		req->data = NULL;
}

/* The request's data says whose it is while it is under way. */
void note_send(struct lane *l, uint64_t number)
{
	l->noted = number;
	if (l->note.data) {
		l->note_owed = true;
		return;
	}
	l->note.done = note_sent;
	l->note.data = l;
	post_note(l);
}
