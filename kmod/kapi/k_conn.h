/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_K_CONN_H
#define KVERBS_K_CONN_H

#include <kverbs/kverbs.h>
#include <linux/list.h>
#include <linux/workqueue.h>

#include "cq.h"

struct kverbs_conn;

/**
 * struct kverbs_k_conn - a connection of another module
 * @conn: the connection
 * @cqs: @own_cqs; those of a ring if @lent
 * @own_cqs: completion queue of a connection that is not lent
 * @lent: user space owns the connection, and a module uses it for a while: requests are
 *	privileged, memory need not be mapped before, and posting may sleep
 * @ops: events for the module; NULL until a request is accepted
 * @context: for the module
 * @listener: of a request that has not been reported to the module yet
 * @entry: in the list of @listener, under its lock, as long as that is so
 * @request_work: reports the request
 */
struct kverbs_k_conn {
	struct kverbs_conn *conn;
	struct kverbs_cq_set *cqs;
	struct kverbs_cq_set own_cqs;
	bool lent;
	const struct kverbs_k_conn_ops *ops;
	void *context;
	struct kverbs_k_listener *listener;
	struct list_head entry;
	struct work_struct request_work;
};

struct rdma_cm_event;
struct rdma_cm_id;
struct kverbs_backlog;

void kverbs_k_conn_lend(struct kverbs_k_conn *k_conn, struct kverbs_conn *conn);
struct kverbs_k_conn *kverbs_k_conn_adopt(struct rdma_cm_id *id,
					  const struct rdma_cm_event *event,
					  struct kverbs_backlog *backlog);

#endif /* KVERBS_K_CONN_H */
