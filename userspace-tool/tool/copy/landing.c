// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "copy/landing.h"

/* The windows from 0 on are for small files, which the first connection carries. */
static struct kverbs_conn *conn_of(const struct landing *l, unsigned int i)
{
	return l->first ? copy_lane(l->copy, l->first + i)->conn : l->copy->session->conn;
}

static int export_all(struct landing *l)
{
	unsigned int i;
	int ret;

	for (i = 0; i < l->count; i++) {
		ret = kverbs_export(conn_of(l, i), l->buf, i * l->size, l->size,
				    KVERBS_REMOTE_WRITE, &l->tokens[i]);
		if (ret) {
			l->count = i;
			return ret;
		}
	}
	return 0;
}

int landing_open(struct landing *l, struct copy *copy, uint32_t first,
		 unsigned int count, size_t size)
{
	int ret;

	memset(l, 0, sizeof(*l));
	l->copy = copy;
	l->first = first;
	l->size = size;
	l->tokens = calloc(count, sizeof(*l->tokens));
	if (!l->tokens)
		return -ENOMEM;
	ret = kverbs_buf_alloc(copy->session->kv, count * size, &l->buf);
	if (!ret) {
		l->count = count;
		ret = export_all(l);
	}
	if (ret) {
		landing_close(l);
		landing_free(l);
	}
	return ret;
}

/* Send a GRANT: @msg says for what. */
int landing_grant(struct session *s, struct wire_msg *msg,
		  const struct kverbs_token *token)
{
	char packed[WIRE_TAIL_MAX];
	int len;

	len = kverbs_token_pack(token, packed, sizeof(packed));
	if (len < 0)
		return len;
	msg->type = WIRE_GRANT;
	msg->tail = packed;
	msg->tail_len = len;
	return session_send(s, msg);
}

int landing_announce(struct landing *l)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < l->count && !ret; i++) {
		struct wire_msg msg = { .window = l->first + i, .size = l->size };

		ret = landing_grant(l->copy->session, &msg, &l->tokens[i]);
	}
	return ret;
}

/* Where a window is, or NULL if there is no such window. */
void *landing_window(const struct landing *l, uint32_t number)
{
	if (!l->buf || number < l->first || number - l->first >= l->count)
		return NULL;
	return (char *)kverbs_buf_addr(l->buf) + (number - l->first) * l->size;
}

/* While the connection is still there. */
void landing_close(struct landing *l)
{
	unsigned int i;

	for (i = 0; i < l->count; i++)
		kverbs_unexport(conn_of(l, i), &l->tokens[i]);
	l->count = 0;
}

/* When it is not. */
void landing_free(struct landing *l)
{
	kverbs_buf_free(l->buf);
	free(l->tokens);
	memset(l, 0, sizeof(*l));
}
