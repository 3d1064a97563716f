/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CONNECT_H
#define KVERBS_CONNECT_H

#include <rdma/rdma_cm.h>

struct task_struct;

/**
 * struct kverbs_connect - a call of rdma_connect() that can be interrupted
 * @id: the CM id
 * @blocks: the driver has KVERBS_QUIRK_BLOCKING_CONNECT
 * @param: for the peer
 * @failed: called if rdma_connect() fails, perhaps in @task
 * @task: the thread that calls rdma_connect(), if @blocks
 * @stop: the thread must not call rdma_connect() any more
 *
 * Life: zeroed by its owner, who fills in @id, @blocks, @param and @failed before
 * kverbs_connect_start() and lets none of them go before kverbs_connect_stop().
 */
struct kverbs_connect {
	struct rdma_cm_id *id;
	bool blocks;
	struct rdma_conn_param param;
	void (*failed)(struct kverbs_connect *connect, int error);
	struct task_struct *task;
	bool stop;
};

int kverbs_connect_start(struct kverbs_connect *connect);
int kverbs_connect_stop(struct kverbs_connect *connect);

#endif /* KVERBS_CONNECT_H */
