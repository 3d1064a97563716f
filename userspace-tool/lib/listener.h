/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_LISTENER_H
#define KVERBS_LISTENER_H

#include <kverbs.h>

#include "list.h"
#include "table.h"

/*
 * @kv: the context; its lock covers what follows
 * @obj: place in the table
 * @node: in the context's list
 * @requests: connections not taken yet, by their request node, oldest first
 * @key: its user_data; no other listener of the context ever has the same
 * @twin_id: listener for any address of the other family, 0: none
 * @error: why it stopped listening
 * @port: in host order
 */
struct kverbs_listener {
	struct kverbs *kv;
	struct kverbs_obj obj;
	struct list_head node;
	struct list_head requests;
	uint64_t key;
	uint32_t twin_id;
	int error;
	uint16_t port;
};

/* Both with kv->lock held. */
void kverbs_listener_request(struct kverbs *kv, const struct kverbs_cqe *cqe);
void kverbs_listener_event(struct kverbs_listener *l, const struct kverbs_cqe *cqe);

#endif /* KVERBS_LISTENER_H */
