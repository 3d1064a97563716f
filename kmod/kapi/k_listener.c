// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Listeners of other modules, documented in include/kverbs/kverbs.h. The CM's handler must not
 * answer a request itself, so each is reported by a work item.
 */
#include <linux/slab.h>

#include "compat.h"
#include "k_conn.h"
#include "listener.h"
#include "workqueue.h"

#define DEFAULT_BACKLOG	128
#define MAX_BACKLOG	4096

/**
 * struct kverbs_k_listener - a listener of another module
 * @listener: the listener
 * @ops: events for the module
 * @context: for the module
 * @lock: guards @waiting and @nr_reporting
 * @waiting: requests that are not reported yet, struct kverbs_k_conn
 * @nr_reporting: calls of @request that have not returned
 * @reported: woken when such a call has returned
 */
struct kverbs_k_listener {
	struct kverbs_listener *listener;
	const struct kverbs_k_listener_ops *ops;
	void *context;
	spinlock_t lock;
	struct list_head waiting;
	unsigned int nr_reporting;
	wait_queue_head_t reported;
};

/* The connection may be freed by the callback, and then the work item with it. */
static void report_request(struct work_struct *work)
{
	struct kverbs_k_conn *k_conn = container_of(work, struct kverbs_k_conn, request_work);
	struct kverbs_k_listener *k_listener = k_conn->listener;

	spin_lock(&k_listener->lock);
	list_del(&k_conn->entry);
	k_listener->nr_reporting++;
	spin_unlock(&k_listener->lock);
	k_listener->ops->request(k_listener, k_conn);
	spin_lock(&k_listener->lock);
	k_listener->nr_reporting--;
	wake_up_all(&k_listener->reported);
	spin_unlock(&k_listener->lock);
}

static int on_request(struct kverbs_listener *listener, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event)
{
	struct kverbs_k_listener *k_listener = listener->owner;
	struct kverbs_k_conn *k_conn;

	k_conn = kverbs_k_conn_adopt(id, event, listener->backlog);
	if (IS_ERR(k_conn))
		return PTR_ERR(k_conn);
	k_conn->listener = k_listener;
	INIT_WORK(&k_conn->request_work, report_request);
	spin_lock(&k_listener->lock);
	list_add_tail(&k_conn->entry, &k_listener->waiting);
	queue_work(kverbs_post_workqueue, &k_conn->request_work);
	spin_unlock(&k_listener->lock);
	return 0;
}

static void on_removed(struct kverbs_listener *listener)
{
	struct kverbs_k_listener *k_listener = listener->owner;

	if (k_listener->ops->removed)
		k_listener->ops->removed(k_listener);
}

static const struct kverbs_listener_ops listener_ops = {
	.request	= on_request,
	.removed	= on_removed,
};

struct kverbs_k_listener *kverbs_k_listener_create(struct net *net,
						   const struct kverbs_k_listener_ops *ops,
						   void *context, struct sockaddr *addr,
						   unsigned int backlog)
{
	struct kverbs_k_listener *k_listener;
	int ret;

	if (backlog > MAX_BACKLOG)
		return ERR_PTR(-EINVAL);
	k_listener = kzalloc(sizeof(*k_listener), GFP_KERNEL_ACCOUNT);
	if (!k_listener)
		return ERR_PTR(-ENOMEM);
	k_listener->ops = ops;
	k_listener->context = context;
	spin_lock_init(&k_listener->lock);
	INIT_LIST_HEAD(&k_listener->waiting);
	init_waitqueue_head(&k_listener->reported);
	k_listener->listener = kverbs_listener_create(net, addr, backlog ?: DEFAULT_BACKLOG,
						      &listener_ops, k_listener);
	if (IS_ERR(k_listener->listener)) {
		ret = PTR_ERR(k_listener->listener);
		goto out_free_k_listener;
	}
	ret = kverbs_listener_start(k_listener->listener);
	if (ret)
		goto out_free_listener;
	return k_listener;

out_free_listener:
	kverbs_listener_free(k_listener->listener);
out_free_k_listener:
	kfree(k_listener);
	return ERR_PTR(ret);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_listener_create);

void *kverbs_k_listener_context(const struct kverbs_k_listener *k_listener)
{
	return k_listener->context;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_listener_context);

/* A request whose work item is taken back was never reported, and has no other owner. */
static struct kverbs_k_conn *take_unreported(struct kverbs_k_listener *k_listener)
{
	struct kverbs_k_conn *k_conn, *found = NULL;

	spin_lock(&k_listener->lock);
	list_for_each_entry(k_conn, &k_listener->waiting, entry) {
		if (!cancel_work(&k_conn->request_work))
			continue;
		list_del(&k_conn->entry);
		found = k_conn;
		break;
	}
	spin_unlock(&k_listener->lock);
	return found;
}

static bool is_idle(struct kverbs_k_listener *k_listener)
{
	bool idle;

	spin_lock(&k_listener->lock);
	idle = list_empty(&k_listener->waiting) && !k_listener->nr_reporting;
	spin_unlock(&k_listener->lock);
	return idle;
}

void kverbs_k_listener_free(struct kverbs_k_listener *k_listener)
{
	struct kverbs_k_conn *k_conn;

	/* After this no request arrives. */
	kverbs_listener_free(k_listener->listener);
	while ((k_conn = take_unreported(k_listener)))
		kverbs_k_conn_free(k_conn);
	wait_event(k_listener->reported, is_idle(k_listener));
	kfree(k_listener);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_listener_free);
