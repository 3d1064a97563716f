/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_LISTENER_H
#define KVERBS_LISTENER_H

#include <linux/mutex.h>
#include <rdma/rdma_cm.h>

#include "backlog.h"
#include "device.h"

struct kverbs_listener;

/**
 * struct kverbs_listener_ops - events for the owner of a listener
 * @request: a connection request; must adopt the connection, or return an error to have
 *	it rejected. Called from the CM's handler.
 * @removed: the device was removed, and the listener is dead
 */
struct kverbs_listener_ops {
	int (*request)(struct kverbs_listener *listener, struct rdma_cm_id *id,
		       const struct rdma_cm_event *event);
	void (*removed)(struct kverbs_listener *listener);
};

/**
 * struct kverbs_listener - a listening CM id
 * @ops: events for the owner
 * @owner: the owner
 * @backlog: requests that wait for an answer
 * @tenant: on the device, if it listens on an address of one
 * @mutex: held while @id is bound or taken down
 * @id: the CM id, NULL when dead
 * @net: network namespace, with a reference
 * @addr: where it is bound
 * @started: it listens, and not only is bound
 * @moved: a bond has failed over: @evict_work makes a new @id
 * @gone: the device is removed
 * @evict_work: destroys @id when the device is removed
 *
 * A listener on any address is on no device and survives them all.
 */
struct kverbs_listener {
	const struct kverbs_listener_ops *ops;
	void *owner;
	struct kverbs_backlog *backlog;
	struct kverbs_tenant tenant;
	struct mutex mutex;
	struct rdma_cm_id *id;
	struct net *net;
	struct sockaddr_storage addr;
	bool started;
	bool moved;
	bool gone;
	struct work_struct evict_work;
};

struct kverbs_listener *kverbs_listener_create(struct net *net, struct sockaddr *addr,
					       unsigned int backlog,
					       const struct kverbs_listener_ops *ops,
					       void *owner);
int kverbs_listener_start(struct kverbs_listener *listener);
void kverbs_listener_free(struct kverbs_listener *listener);

#endif /* KVERBS_LISTENER_H */
