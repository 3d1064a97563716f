// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Listeners: bound CM ids that report connection requests. */
#include <linux/slab.h>
#include <net/net_namespace.h>

#include "listener.h"
#include "verbs.h"
#include "workqueue.h"

static bool take_down_locked(struct kverbs_listener *listener)
{
	struct rdma_cm_id *id = listener->id;

	lockdep_assert_held(&listener->mutex);
	listener->id = NULL;
	if (id)
		rdma_destroy_id(id);
	kverbs_device_leave(&listener->tenant);
	return id;
}

static bool take_down(struct kverbs_listener *listener)
{
	bool was_up;

	mutex_lock(&listener->mutex);
	was_up = take_down_locked(listener);
	mutex_unlock(&listener->mutex);
	return was_up;
}

static void evict(struct kverbs_tenant *tenant)
{
	struct kverbs_listener *listener =
		container_of(tenant, struct kverbs_listener, tenant);

	WRITE_ONCE(listener->gone, true);
	queue_work(kverbs_workqueue, &listener->evict_work);
}

static int cm_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	/* The id of a request inherits the listener's context. */
	struct kverbs_listener *listener = id->context;

	switch (event->event) {
	case RDMA_CM_EVENT_CONNECT_REQUEST:
		return listener->ops->request(listener, id, event);
	case RDMA_CM_EVENT_ADDR_CHANGE:
		/* The address is at another hardware address now, perhaps at another device. */
		WRITE_ONCE(listener->moved, true);
		queue_work(kverbs_workqueue, &listener->evict_work);
		return 0;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		WRITE_ONCE(listener->gone, true);
		queue_work(kverbs_workqueue, &listener->evict_work);
		return 0;
	default:
		return 0;
	}
}

static int bind(struct kverbs_listener *listener, struct sockaddr *addr)
{
	struct rdma_cm_id *id = listener->id;
	int ret;

	lockdep_assert_held(&listener->mutex);
	/* Not every transport can serve both address families with one listener. */
	ret = kverbs_rdma_set_afonly(id);
	if (!ret)
		ret = kverbs_rdma_bind_addr(id, addr);
	if (ret || !id->device)
		return ret;
	return kverbs_device_enter(id->device, &listener->tenant, KVERBS_TENANT_CM,
				   evict);
}

static int create_id(struct kverbs_listener *listener, struct sockaddr *addr)
{
	struct rdma_cm_id *id = kverbs_rdma_create_id(listener->net, cm_handler, listener);
	int ret;

	lockdep_assert_held(&listener->mutex);
	if (IS_ERR(id))
		return PTR_ERR(id);
	listener->id = id;
	ret = bind(listener, addr);
	if (ret)
		take_down_locked(listener);
	return ret;
}

/* Like the first time, at the address that was bound then, with the rights of then. */
static int put_up(struct kverbs_listener *listener)
{
	int ret;

	ret = create_id(listener, (struct sockaddr *)&listener->addr);
	if (ret || !listener->started)
		return ret;
	ret = kverbs_rdma_listen(listener->id, listener->backlog->max);
	if (ret)
		take_down_locked(listener);
	return ret;
}

/* A bond that has failed over is no reason to end, unless the address is gone with it. */
static void evict_work(struct work_struct *work)
{
	struct kverbs_listener *listener =
		container_of(work, struct kverbs_listener, evict_work);
	bool removed = false;

	mutex_lock(&listener->mutex);
	/* An event of the old id, queued while that was destroyed, must not end the new one. */
	if (READ_ONCE(listener->moved) || READ_ONCE(listener->gone))
		removed = take_down_locked(listener);
	WRITE_ONCE(listener->moved, false);
	if (removed && !READ_ONCE(listener->gone))
		removed = put_up(listener);
	mutex_unlock(&listener->mutex);
	if (removed)
		listener->ops->removed(listener);
}

/**
 * kverbs_listener_create() - bind a listener
 * @net: network namespace
 * @addr: where; changed to what was bound
 * @backlog: requests that may wait for an answer
 * @ops: events for the owner
 * @owner: the owner
 *
 * Context: process, may sleep; bound with the caller's rights.
 * Return: the listener, which does not listen yet, or an ERR_PTR.
 */
struct kverbs_listener *kverbs_listener_create(struct net *net, struct sockaddr *addr,
					       unsigned int backlog,
					       const struct kverbs_listener_ops *ops,
					       void *owner)
{
	struct kverbs_listener *listener;
	int ret = -ENOMEM;

	listener = kzalloc(sizeof(*listener), GFP_KERNEL_ACCOUNT);
	if (!listener)
		return ERR_PTR(-ENOMEM);
	listener->ops = ops;
	listener->owner = owner;
	mutex_init(&listener->mutex);
	INIT_WORK(&listener->evict_work, evict_work);
	listener->backlog = kverbs_backlog_create(backlog);
	if (!listener->backlog)
		goto out_free_listener;
	listener->net = get_net(net);
	/* Once the id is bound, its device may go: evict_work() must wait. */
	mutex_lock(&listener->mutex);
	ret = create_id(listener, addr);
	if (!ret)
		memcpy(addr, &listener->id->route.addr.src_addr, rdma_addr_size(addr));
	memcpy(&listener->addr, addr, rdma_addr_size(addr));
	mutex_unlock(&listener->mutex);
	if (ret)
		goto out_cancel_work;
	return listener;

out_cancel_work:
	cancel_work_sync(&listener->evict_work);
	put_net(listener->net);
	kverbs_backlog_put(listener->backlog);
out_free_listener:
	kfree(listener);
	return ERR_PTR(ret);
}

/**
 * kverbs_listener_start() - begin to listen
 * @listener: the listener
 *
 * Return: 0; -EADDRINUSE; -ENODEV if the device was removed; or the error of the CM.
 */
int kverbs_listener_start(struct kverbs_listener *listener)
{
	int ret = -ENODEV;

	mutex_lock(&listener->mutex);
	if (listener->id)
		ret = kverbs_rdma_listen(listener->id, listener->backlog->max);
	listener->started = !ret;
	mutex_unlock(&listener->mutex);
	return ret;
}

/**
 * kverbs_listener_free() - stop listening
 * @listener: the listener
 *
 * Requests that wait for an answer stay.
 *
 * Context: process, may sleep.
 */
void kverbs_listener_free(struct kverbs_listener *listener)
{
	take_down(listener);
	cancel_work_sync(&listener->evict_work);
	put_net(listener->net);
	kverbs_backlog_put(listener->backlog);
	kfree(listener);
}
