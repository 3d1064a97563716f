// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Groups of connections that share a protection domain, so that a key is valid on all of
 * them. A registration needs a queue pair: kverbs_group_borrow() finds an established
 * connection for that.
 */
#include <linux/slab.h>

#include "conn.h"
#include "group.h"
#include "verbs.h"
#include "workqueue.h"

static bool is_empty(struct kverbs_group *group)
{
	bool empty;

	spin_lock_bh(&group->lock);
	empty = list_empty(&group->conns);
	spin_unlock_bh(&group->lock);
	return empty;
}

/* No connection joins after this. */
static void end_conns(struct kverbs_group *group, int error)
{
	struct kverbs_conn *conn;

	spin_lock_bh(&group->lock);
	group->closed = true;
	list_for_each_entry(conn, &group->conns, group_entry)
		kverbs_conn_end(conn, KVERBS_CQE_DISCONNECTED, error, 0);
	spin_unlock_bh(&group->lock);
}

static void free_domain(struct kverbs_group *group)
{
	struct ib_pd *pd = group->pool.pd;

	kverbs_mr_pool_destroy(&group->pool);
	group->pool.pd = NULL;
	ib_dealloc_pd(pd);
	kverbs_quota_uncharge(&group->quota, 1, group->tenant.dev->ib);
}

/**
 * kverbs_group_close() - end all connections of a group and free its protection domain
 * @group: the group, which may be closed
 *
 * Exports of the group are revoked, and their MRs are freed.
 *
 * Context: process, may sleep; waits for the teardown of the connections.
 */
void kverbs_group_close(struct kverbs_group *group)
{
	end_conns(group, -EIO);
	wait_event(group->changed, is_empty(group));
	down_write(&group->use);
	if (group->pool.pd)
		free_domain(group);
	kverbs_device_leave(&group->tenant);
	up_write(&group->use);
}

static void evict_work(struct work_struct *work)
{
	kverbs_group_close(container_of(work, struct kverbs_group, evict_work));
}

static void evict(struct kverbs_tenant *tenant)
{
	queue_work(kverbs_workqueue,
		   &container_of(tenant, struct kverbs_group, tenant)->evict_work);
}

/*
 * Exports of the group, and receives of its shared queues, are for all its connections, so these
 * end together.
 */
static void revoke(struct kverbs_tenant *tenant)
{
	struct kverbs_group *group = container_of(tenant, struct kverbs_group, tenant);

	end_conns(group, -ESTALE);
	queue_work(kverbs_workqueue, &group->evict_work);
}

static int alloc_domain(struct kverbs_group *group, struct ib_device *ib)
{
	struct ib_pd *pd;
	int ret;

	ret = kverbs_quota_charge(&group->quota, 1, ib);
	if (ret)
		return ret;
	pd = kverbs_ib_alloc_pd(ib);
	if (IS_ERR(pd)) {
		kverbs_quota_uncharge(&group->quota, 1, ib);
		return PTR_ERR(pd);
	}
	group->pool.pd = pd;
	group->pool.pages = kverbs_device_mr_pages(ib);
	return 0;
}

/* A removal that begins in that time waits in evict_work(), for @use. */
static int enter_device(struct kverbs_group *group, u32 index, const struct net *net)
{
	enum kverbs_unusable unusable;
	struct ib_device *ib;
	int ret = -ENODEV;

	ib = kverbs_device_next(index, net, &unusable);
	if (!ib)
		return -ENODEV;
	if (ib->index == index && unusable == KVERBS_USABLE)
		ret = kverbs_device_enter(ib, &group->tenant, KVERBS_TENANT_GROUP, evict);
	kverbs_device_put(ib);
	if (ret)
		return ret;
	ret = alloc_domain(group, ib);
	if (ret)
		kverbs_device_leave(&group->tenant);
	return ret;
}

/**
 * kverbs_group_create() - create a group without connections
 * @device_index: the device's index
 * @net: network namespace that must have access to the device
 *
 * Context: process of the user, may sleep; the caller's control group is charged.
 * Return: the group, or an ERR_PTR: -ENODEV, -ENOMEM, -EDQUOT.
 */
struct kverbs_group *kverbs_group_create(u32 device_index, const struct net *net)
{
	struct kverbs_group *group = kzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!group)
		return ERR_PTR(-ENOMEM);
	init_rwsem(&group->use);
	spin_lock_init(&group->lock);
	INIT_LIST_HEAD(&group->conns);
	init_waitqueue_head(&group->changed);
	INIT_WORK(&group->evict_work, evict_work);
	kverbs_mr_pool_init(&group->pool);
	group->tenant.revoke = revoke;
	group->pool.tenant = &group->tenant;
	down_write(&group->use);
	ret = enter_device(group, device_index, net);
	up_write(&group->use);
	if (!ret)
		return group;
	cancel_work_sync(&group->evict_work);
	kfree(group);
	return ERR_PTR(ret);
}

/**
 * kverbs_group_destroy() - close and free a group
 * @group: the group; its connections and exports are freed
 *
 * Context: process, may sleep.
 */
void kverbs_group_destroy(struct kverbs_group *group)
{
	kverbs_group_close(group);
	cancel_work_sync(&group->evict_work);
	kfree(group);
}

/* While the group is not closed, its domain and so its device stay. */
static bool is_on(const struct kverbs_group *group, const struct ib_device *ib)
{
	lockdep_assert_held(&group->lock);
	return !group->closed && group->pool.pd->device == ib;
}

/**
 * kverbs_group_is_on() - whether connections on a device can join a group
 * @group: the group
 * @ib: the device, which the caller keeps from being removed
 *
 * Return: true if the group is on the device and not closed.
 */
bool kverbs_group_is_on(struct kverbs_group *group, const struct ib_device *ib)
{
	bool on;

	spin_lock_bh(&group->lock);
	on = is_on(group, ib);
	spin_unlock_bh(&group->lock);
	return on;
}

/**
 * kverbs_group_join() - give a connection the protection domain of its group
 * @group: the group
 * @conn: the connection, its mutex held, its id bound to a device
 *
 * The domain stays until the connection leaves.
 *
 * Return: 0; -ENODEV if the group is on another device, or closed.
 */
int kverbs_group_join(struct kverbs_group *group, struct kverbs_conn *conn)
{
	int ret = -ENODEV;

	lockdep_assert_held(&conn->mutex);
	spin_lock_bh(&group->lock);
	if (is_on(group, conn->id->device)) {
		conn->pool.pd = group->pool.pd;
		list_add_tail(&conn->group_entry, &group->conns);
		ret = 0;
	}
	spin_unlock_bh(&group->lock);
	return ret;
}

/**
 * kverbs_group_leave() - undo kverbs_group_join()
 * @group: the group
 * @conn: the connection, which has no queue pair any more
 */
void kverbs_group_leave(struct kverbs_group *group, struct kverbs_conn *conn)
{
	spin_lock_bh(&group->lock);
	list_del_init(&conn->group_entry);
	wake_up_all(&group->changed);
	spin_unlock_bh(&group->lock);
}

/**
 * kverbs_group_borrow() - find a connection to register memory over
 * @group: the group
 *
 * Return: an established connection, which may end but stays allocated until
 * kverbs_group_give_back(); NULL if there is none.
 */
struct kverbs_conn *kverbs_group_borrow(struct kverbs_group *group)
{
	struct kverbs_conn *conn, *found = NULL;

	spin_lock_bh(&group->lock);
	list_for_each_entry(conn, &group->conns, group_entry) {
		if (kverbs_queue_check_up(&conn->queue) || kverbs_conn_is_ending(conn))
			continue;
		found = conn;
		found->lent++;
		/* So that registrations are spread over the connections. */
		list_move_tail(&found->group_entry, &group->conns);
		break;
	}
	spin_unlock_bh(&group->lock);
	return found;
}

/**
 * kverbs_group_give_back() - undo kverbs_group_borrow()
 * @group: the group
 * @conn: the connection
 */
void kverbs_group_give_back(struct kverbs_group *group, struct kverbs_conn *conn)
{
	spin_lock_bh(&group->lock);
	conn->lent--;
	wake_up_all(&group->changed);
	spin_unlock_bh(&group->lock);
}

static bool is_lent(struct kverbs_group *group, const struct kverbs_conn *conn)
{
	bool lent;

	spin_lock_bh(&group->lock);
	lent = conn->lent;
	spin_unlock_bh(&group->lock);
	return lent;
}

/**
 * kverbs_group_reclaim() - wait until no export uses a connection
 * @conn: the connection, DEAD, of a group or not
 *
 * Context: process, may sleep. After this the connection does not refer to its group.
 */
void kverbs_group_reclaim(struct kverbs_conn *conn)
{
	struct kverbs_group *group = conn->attr.group;

	if (group)
		wait_event(group->changed, !is_lent(group, conn));
	conn->attr.group = NULL;
}

/**
 * kverbs_group_revoke() - note that a peer invalidated an MR of a group
 * @group: the group
 * @rkey: the key that the peer named
 *
 * Any peer of the group can revoke a key that was told to another one.
 *
 * Context: any but hardirq.
 */
void kverbs_group_revoke(struct kverbs_group *group, u32 rkey)
{
	struct kverbs_conn *conn;

	if (kverbs_mr_revoke(&group->pool, rkey))
		return;
	spin_lock_bh(&group->lock);
	list_for_each_entry(conn, &group->conns, group_entry)
		if (kverbs_mr_revoke(&conn->pool, rkey))
			break;
	spin_unlock_bh(&group->lock);
}
