/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_BACKLOG_H
#define KVERBS_BACKLOG_H

#include <linux/kref.h>

/**
 * struct kverbs_backlog - requests of a listener that wait for an answer
 * @ref: the listener's and every waiting connection's
 * @waiting: connections in REQUESTED
 * @max: limit of @waiting
 */
struct kverbs_backlog {
	struct kref ref;
	atomic_t waiting;
	unsigned int max;
};

struct kverbs_backlog *kverbs_backlog_create(unsigned int max);
void kverbs_backlog_put(struct kverbs_backlog *backlog);
int kverbs_backlog_enter(struct kverbs_backlog *backlog);
void kverbs_backlog_leave(struct kverbs_backlog **slot);

#endif /* KVERBS_BACKLOG_H */
