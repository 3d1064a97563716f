// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Remote access to a range of a region. The range is registered to the byte, and
 * kverbs_export_destroy() returns when the peer cannot reach it any more.
 */
#include <linux/sched/signal.h>
#include <linux/slab.h>

#include "conn_cm.h"
#include "conn_io.h"
#include "export.h"
#include "group.h"
#include "quirks.h"
#include "region.h"

/**
 * kverbs_export_access() - rights of a peer as the HCA knows them
 * @rights: KVERBS_REMOTE_*
 *
 * Return: IB_ACCESS_*.
 */
int kverbs_export_access(u32 rights)
{
	int access = 0;

	if (rights & KVERBS_REMOTE_READ)
		access |= IB_ACCESS_REMOTE_READ;
	if (rights & KVERBS_REMOTE_WRITE)
		access |= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE;
	if (rights & KVERBS_REMOTE_ATOMIC)
		access |= IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_ATOMIC;
	return access;
}

static const u64 *iova_of(const struct kverbs_export_range *range)
{
	return range->has_iova ? &range->iova : NULL;
}

static int count_segments(const struct kverbs_mr_pool *pool,
			  const struct kverbs_export_range *range, unsigned int *nr)
{
	struct kverbs_map *map = kverbs_map_get(range->region, pool->pd->device, pool->tenant);

	if (IS_ERR(map))
		return PTR_ERR(map);
	*nr = kverbs_mr_count(pool, map, range->offset, range->length, iova_of(range));
	return 0;
}

/**
 * kverbs_export_count_in_group() - how many segments a range takes in a group
 * @group: the group
 * @range: the range
 * @nr: set to their number
 *
 * Context: process, may sleep.
 * Return: 0; -ENODEV if the group is closed; or the error of kverbs_map_get().
 */
int kverbs_export_count_in_group(struct kverbs_group *group,
				 const struct kverbs_export_range *range, unsigned int *nr)
{
	int ret = -ENODEV;

	down_read(&group->use);
	if (group->pool.pd)
		ret = count_segments(&group->pool, range, nr);
	up_read(&group->use);
	return ret;
}

static int map_segments(struct kverbs_export *export, struct kverbs_map *map,
			const struct kverbs_export_range *range)
{
	struct kverbs_mr_pool *pool = export->pool;
	u64 offset = range->offset, length = range->length, addr = range->iova;
	const u64 *iova = range->has_iova ? &addr : NULL;

	while (length) {
		u64 part = kverbs_mr_reach(pool, map, offset, length, iova);
		struct kverbs_mr *mr;

		/* A large range takes so many MRs that a kill or the teardown must not wait. */
		if (fatal_signal_pending(current))
			return -EINTR;
		if (kverbs_conn_is_ending(export->conn))
			return -ENOTCONN;
		mr = kverbs_mr_get(pool, map, offset, part,
				   kverbs_export_access(range->rights), iova);
		if (IS_ERR(mr))
			return PTR_ERR(mr);
		kverbs_mr_publish(pool, mr);
		export->mrs[export->nr++] = mr;
		offset += part;
		addr += part;
		length -= part;
		cond_resched();
	}
	return 0;
}

/* Links the work requests of mrs[from..] to one chain; returns how many it has. */
static unsigned int link_chain(struct kverbs_export *export, unsigned int from)
{
	unsigned int nr = min_t(unsigned int, export->nr - from, KVERBS_SYNC_WRS);
	unsigned int i;

	for (i = 0; i < nr; i++)
		export->mrs[from + i]->wr.wr.next =
			i + 1 < nr ? &export->mrs[from + i + 1]->wr.wr : NULL;
	return nr;
}

static void mark_chain(struct kverbs_export *export, unsigned int from, unsigned int nr,
		       enum kverbs_mr_state state)
{
	unsigned int i;

	for (i = from; i < from + nr; i++)
		export->mrs[i]->state = state;
}

/*
 * After a failure the state of the MRs is unknown until the queue pair is destroyed, unless
 * the connection continues: then nothing was posted.
 */
static int post_chain(struct kverbs_export *export, unsigned int from, unsigned int nr)
{
	enum kverbs_mr_state before = export->mrs[from]->state;
	int ret;

	mark_chain(export, from, nr, KVERBS_MR_POSTED);
	ret = kverbs_sync_post(&export->conn->sync, export->conn->attr.cqs,
			       &export->mrs[from]->wr.wr,
			       &export->mrs[from + nr - 1]->wr.wr);
	if (ret && ret != -EINTR && !kverbs_conn_is_ending(export->conn))
		mark_chain(export, from, nr, before);
	return ret;
}

static int post_all(struct kverbs_export *export, enum kverbs_mr_state then)
{
	unsigned int from, nr;
	int ret;

	for (from = 0; from < export->nr; from += nr) {
		nr = link_chain(export, from);
		ret = post_chain(export, from, nr);
		if (ret)
			return ret;
		mark_chain(export, from, nr, then);
	}
	return 0;
}

/*
 * Some mlx5 cannot give an MR the right to atomics by a work request, say so only now, and
 * log that each time.
 */
static int post_regs(struct kverbs_export *export, u32 rights)
{
	int ret = post_all(export, KVERBS_MR_VALID);

	if (ret != -EINVAL || !(rights & KVERBS_REMOTE_ATOMIC))
		return ret;
	kverbs_device_note_no_atomics(&export->conn->tenant);
	return -EOPNOTSUPP;
}

static void free_unposted(struct kverbs_export *export)
{
	unsigned int i, nr = 0;

	for (i = 0; i < export->nr; i++) {
		struct kverbs_mr *mr = export->mrs[i];

		if (mr->state != KVERBS_MR_MAPPED || kverbs_mr_free(export->pool, mr))
			export->mrs[nr++] = mr;
	}
	export->nr = nr;
}

static int fill_export(struct kverbs_export *export, const struct kverbs_export_range *range)
{
	struct kverbs_mr_pool *pool = export->pool;
	struct kverbs_map *map;
	int ret;

	map = kverbs_map_get(range->region, pool->pd->device, pool->tenant);
	if (IS_ERR(map))
		return PTR_ERR(map);
	ret = map_segments(export, map, range);
	if (!ret)
		ret = post_regs(export, range->rights);
	if (ret)
		free_unposted(export);
	return ret;
}

/**
 * kverbs_export_fits() - whether a range of a region can be exported at all
 * @range: the range
 *
 * Return: false if it is empty or beyond the region, if the region has gaps, or if the region is
 * read-only and @rights are not, or are none.
 */
bool kverbs_export_fits(const struct kverbs_export_range *range)
{
	const struct kverbs_region *region = range->region;
	u32 writes = KVERBS_REMOTE_WRITE | KVERBS_REMOTE_ATOMIC;

	if (!range->rights || range->rights & ~(KVERBS_REMOTE_READ | writes))
		return false;
	return range->length && kverbs_region_covers(region, range->offset, range->length) &&
	       !region->gaps && (region->writable || !(range->rights & writes));
}

/**
 * kverbs_export_check() - whether a connection can export at all
 * @conn: the connection, in use
 * @rights: KVERBS_REMOTE_*
 *
 * Return: 0, -ENOTCONN, or -EOPNOTSUPP for want of atomics.
 */
int kverbs_export_check(struct kverbs_conn *conn, u32 rights)
{
	int ret = kverbs_queue_check_up(&conn->queue);

	if (!ret && rights & KVERBS_REMOTE_ATOMIC &&
	    (!kverbs_conn_has_atomics(conn) || kverbs_device_has_no_atomics(&conn->tenant)))
		ret = -EOPNOTSUPP;
	return ret;
}

/**
 * kverbs_export_count() - how many segments a range takes on a connection
 * @conn: the connection
 * @range: the range
 * @nr: set to their number
 *
 * Context: process, may sleep and be killed; takes conn->use.
 * Return: 0, or the error of kverbs_export_check() or kverbs_map_get().
 */
int kverbs_export_count(struct kverbs_conn *conn, const struct kverbs_export_range *range,
			unsigned int *nr)
{
	int ret;

	/* Whatever comes of this, count_segments() tells. */
	kverbs_conn_map(conn, range->region);
	down_read(&conn->use);
	ret = kverbs_export_check(conn, range->rights);
	if (!ret)
		ret = count_segments(&conn->pool, range, nr);
	up_read(&conn->use);
	return ret;
}

static void note_segments(const struct kverbs_export *export, struct kverbs_segment *segs)
{
	unsigned int i;

	for (i = 0; i < export->nr; i++)
		segs[i] = (struct kverbs_segment) {
			.addr = export->mrs[i]->ib->iova,
			.length = export->mrs[i]->ib->length,
			.rkey = export->mrs[i]->ib->rkey,
		};
}

static int export_locked(struct kverbs_group *group, struct kverbs_conn *conn,
			 const struct kverbs_export_range *range,
			 struct kverbs_export **export, struct kverbs_segment *segs)
{
	struct kverbs_mr_pool *pool = group ? &group->pool : &conn->pool;
	unsigned int nr;
	int ret;

	ret = kverbs_export_check(conn, range->rights);
	if (!ret)
		ret = count_segments(pool, range, &nr);
	if (ret)
		return ret;
	*export = kvzalloc_node(struct_size(*export, mrs, nr), GFP_KERNEL_ACCOUNT, conn->node);
	if (!*export)
		return -ENOMEM;
	(*export)->group = group;
	(*export)->conn = conn;
	(*export)->pool = pool;
	ret = fill_export(*export, range);
	if (!ret)
		note_segments(*export, segs);
	return ret;
}

/*
 * Work that was posted before may break the connection and so flush the registrations, which
 * is no fault of theirs.
 */
static bool is_flushed(const struct kverbs_conn *conn, int ret)
{
	lockdep_assert_held(&conn->sync_turn.lock);
	return ret == -EIO && conn->sync.status == IB_WC_WR_FLUSH_ERR;
}

/* MRs that were posted would keep the region in use until the connection has ended. */
static int give_up(struct kverbs_export *export, int ret)
{
	bool left = export && export->nr;

	if (left && ret != -EINTR)
		kverbs_conn_close(export->conn);
	kvfree(export);
	return left && ret != -EINTR && ret != -ENOTCONN ? -EIO : ret;
}

/**
 * kverbs_export_to_conn() - register a range for the peer of a connection
 * @conn: the connection
 * @range: the range
 * @segs: filled in for the peer; has room for kverbs_export_count()
 *
 * The MRs are freed when the connection ends and must not be used after that.
 *
 * Context: process, may sleep and be killed.
 * Return: the export, whose keys are valid, or an ERR_PTR: -ENOTCONN; -ENOMEM; -EOPNOTSUPP
 * for want of atomics; -EIO: the connection has ended; -EINTR: killed, and MRs may be
 * registered until the connection ends.
 */
struct kverbs_export *kverbs_export_to_conn(struct kverbs_conn *conn,
					    const struct kverbs_export_range *range,
					    struct kverbs_segment *segs)
{
	struct kverbs_export *export = NULL;
	int ret = -EINTR;

	down_read(&conn->use);
	if (!kverbs_turn_lock_killable(&conn->sync_turn)) {
		ret = export_locked(NULL, conn, range, &export, segs);
		kverbs_turn_unlock(&conn->sync_turn);
	}
	up_read(&conn->use);
	return ret ? ERR_PTR(give_up(export, ret)) : export;
}

/**
 * kverbs_export_create() - kverbs_export_to_conn() of a range
 * @conn: the connection
 * @region: the region, counted in its uses by the caller
 * @offset: first byte
 * @length: bytes, at least 1, within the region
 * @rights: KVERBS_REMOTE_*, which the region allows
 * @segs: filled in for the peer; has room for kverbs_export_count()
 *
 * Context: process, may sleep and be killed.
 * Return: as kverbs_export_to_conn().
 */
struct kverbs_export *kverbs_export_create(struct kverbs_conn *conn,
					   struct kverbs_region *region, u64 offset,
					   u64 length, u32 rights,
					   struct kverbs_segment *segs)
{
	const struct kverbs_export_range range = {
		.region = region,
		.offset = offset,
		.length = length,
		.rights = rights,
	};

	return kverbs_export_to_conn(conn, &range, segs);
}

static int free_all(struct kverbs_export *export)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; i < export->nr && !ret; i++)
		ret = kverbs_mr_free(export->pool, export->mrs[i]);
	return ret;
}

/*
 * An MR may be freed once no queue has its registration. No peer knows its key, so one that
 * the device does not deregister can stay until the group is closed.
 */
static void give_up_in_group(struct kverbs_export *export, int ret)
{
	if (export && export->nr && ret != -EINTR) {
		kverbs_conn_close(export->conn);
		free_all(export);
	}
	kvfree(export);
}

/* Sets @again if the connection ends for another reason, so that the next one may do. */
static struct kverbs_export *export_over(struct kverbs_group *group, struct kverbs_conn *conn,
					 const struct kverbs_export_range *range,
					 struct kverbs_segment *segs, bool *again)
{
	struct kverbs_export *export = NULL;
	int ret = -EINTR;

	down_read(&conn->use);
	if (!kverbs_turn_lock_killable(&conn->sync_turn)) {
		ret = export_locked(group, conn, range, &export, segs);
		if (is_flushed(conn, ret))
			ret = -ENOTCONN;
		kverbs_turn_unlock(&conn->sync_turn);
	}
	up_read(&conn->use);
	*again = ret == -ENOTCONN && kverbs_conn_is_ending(conn);
	if (!ret)
		return export;
	give_up_in_group(export, ret);
	return ERR_PTR(ret);
}

static struct kverbs_export *export_over_any(struct kverbs_group *group,
					     const struct kverbs_export_range *range,
					     struct kverbs_segment *segs)
{
	struct kverbs_export *export;
	struct kverbs_conn *conn;
	bool again;

	if (!group->pool.pd)
		return ERR_PTR(-ENODEV);
	do {
		conn = kverbs_group_borrow(group);
		if (!conn)
			return ERR_PTR(-ENOTCONN);
		export = export_over(group, conn, range, segs, &again);
		kverbs_group_give_back(group, conn);
	} while (again);
	return export;
}

/**
 * kverbs_export_to_group() - register a range for the peers of a group
 * @group: the group
 * @range: the range
 * @segs: filled in for the peers; has room for kverbs_export_count_in_group()
 *
 * The registration is posted to an established connection, but outlives that. The MRs are
 * freed when the group is closed and must not be used after that.
 *
 * Context: process, may sleep and be killed.
 * Return: the export, whose keys are valid, or an ERR_PTR: -ENOTCONN if the group has no
 * established connection; -ENODEV if the group is closed; -ENOMEM; -EOPNOTSUPP for want of
 * atomics; -EIO if the device refuses the registration, which ends one connection; -EINTR:
 * killed, and MRs may be registered until the group is closed.
 */
struct kverbs_export *kverbs_export_to_group(struct kverbs_group *group,
					     const struct kverbs_export_range *range,
					     struct kverbs_segment *segs)
{
	struct kverbs_export *export;

	down_read(&group->use);
	export = export_over_any(group, range, segs);
	up_read(&group->use);
	return export;
}

static void prepare_invalidate(struct kverbs_export *export)
{
	unsigned int i;

	for (i = 0; i < export->nr; i++) {
		struct kverbs_mr *mr = export->mrs[i];

		mr->wr.wr = (struct ib_send_wr) {
			.opcode = IB_WR_LOCAL_INV,
			.ex.invalidate_rkey = mr->ib->rkey,
		};
	}
}

/* Recycles the MRs that the peer has invalidated. */
static void recycle_revoked(struct kverbs_export *export)
{
	unsigned int i, nr = 0;

	for (i = 0; i < export->nr; i++) {
		struct kverbs_mr *mr = export->mrs[i];

		if (READ_ONCE(mr->state) == KVERBS_MR_REVOKED)
			kverbs_mr_recycle(export->pool, mr);
		else
			export->mrs[nr++] = mr;
	}
	export->nr = nr;
}

static int invalidate(struct kverbs_export *export)
{
	unsigned int i;
	int ret;

	ret = kverbs_queue_check_up(&export->conn->queue);
	if (ret)
		return ret;
	recycle_revoked(export);
	if (export->conn->queue.quirks & KVERBS_QUIRK_NO_LOCAL_INV)
		return free_all(export);
	prepare_invalidate(export);
	ret = post_all(export, KVERBS_MR_FREE);
	if (ret)
		return ret;
	for (i = 0; i < export->nr; i++)
		kverbs_mr_recycle(export->pool, export->mrs[i]);
	return 0;
}

static int destroy_on_conn(struct kverbs_export *export)
{
	struct kverbs_conn *conn = export->conn;
	int ret = -EINTR;

	down_read(&conn->use);
	if (!kverbs_turn_lock_killable(&conn->sync_turn)) {
		ret = invalidate(export);
		kverbs_turn_unlock(&conn->sync_turn);
	}
	up_read(&conn->use);
	if (ret && ret != -EINTR) {
		kverbs_conn_close(conn);
		ret = 0;
	}
	return ret;
}

/*
 * Nothing is posted. A peer may just have revoked a key, and then LOCAL_INV would break the
 * connection that it is posted to, which may be that of another peer.
 */
static void destroy_in_group(struct kverbs_export *export)
{
	struct kverbs_group *group = export->group;
	int ret = 0;

	down_read(&group->use);
	if (group->pool.pd) {
		recycle_revoked(export);
		ret = free_all(export);
	}
	up_read(&group->use);
	if (ret)
		kverbs_group_close(group);
}

/**
 * kverbs_export_destroy() - revoke remote access and free the export
 * @export: the export, freed whatever is returned
 *
 * Context: process, may sleep; be killed, unless the export is one of a group.
 * Return: 0 if the peers cannot reach the memory any more, if necessary because this has
 * closed the connection or the group; -EINTR: killed, and the peer may reach it until the
 * connection ends.
 */
int kverbs_export_destroy(struct kverbs_export *export)
{
	int ret = 0;

	if (export->group)
		destroy_in_group(export);
	else
		ret = destroy_on_conn(export);
	kvfree(export);
	return ret;
}
