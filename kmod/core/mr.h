/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_MR_H
#define KVERBS_MR_H

#include <linux/list.h>
#include <linux/llist.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <rdma/ib_verbs.h>

#include "quota.h"

struct kverbs_map;
struct kverbs_region;
struct kverbs_tenant;
struct scatterlist;

/**
 * enum kverbs_mr_state - state of an MR on the HCA
 * @KVERBS_MR_FREE: invalid, can be registered
 * @KVERBS_MR_MAPPED: has its pages, REG_MR is not posted yet
 * @KVERBS_MR_POSTED: REG_MR or LOCAL_INV is in the send queue; final after a failure,
 *	since the state on the HCA is unknown then and only ib_dereg_mr() helps
 * @KVERBS_MR_VALID: registered
 * @KVERBS_MR_REVOKED: invalidated by the peer
 */
enum kverbs_mr_state {
	KVERBS_MR_FREE,
	KVERBS_MR_MAPPED,
	KVERBS_MR_POSTED,
	KVERBS_MR_VALID,
	KVERBS_MR_REVOKED,
};

/**
 * enum kverbs_mr_size - how many pages an MR can cover, of whatever size they are
 * @KVERBS_MR_SMALL: KVERBS_MR_FEW
 * @KVERBS_MR_LARGE: as many as the pool allows
 * @KVERBS_MR_SIZES: number of sizes
 */
enum kverbs_mr_size {
	KVERBS_MR_SMALL,
	KVERBS_MR_LARGE,
	KVERBS_MR_SIZES,
};

/* Pages that most ranges fit into. A device spends its resources on all that it can cover. */
#define KVERBS_MR_FEW	16U

/**
 * struct kverbs_mr - a fast-registration memory region
 * @entry: in its pool's free or busy list
 * @public: in its pool's list of MRs whose keys the peer may have
 * @returned: in its pool's @returned
 * @next_sink: the next sink of the same READ
 * @mapped: in the list of MRs that entries may name, in debug builds
 * @ib: the MR
 * @quota: what is charged for it
 * @size: of what it can cover
 * @region: the region that it covers, counted in its uses; NULL when FREE
 * @cached: counts in @cached of the region, too
 * @state: written before posting and by the completion
 * @cqe: completion of kverbs_queue_post_regs()
 * @room: where kverbs_mr_cover() builds the list of pages; NULL unless reserved
 * @nr_room: entries of @room
 * @wr: the registration
 * @owner: for the handler of @cqe; of a sink: its pool
 */
struct kverbs_mr {
	struct list_head entry;
	struct list_head public;
	struct llist_node returned;
	struct kverbs_mr *next_sink;
#ifdef KVERBS_DEBUG
	struct list_head mapped;
#endif
	struct ib_mr *ib;
	struct kverbs_quota quota;
	enum kverbs_mr_size size;
	struct kverbs_region *region;
	bool cached;
	enum kverbs_mr_state state;
	struct ib_cqe cqe;
	struct scatterlist *room;
	unsigned int nr_room;
	struct ib_reg_wr wr;
	void *owner;
};

/**
 * struct kverbs_mr_pool - the MRs of one protection domain
 * @lock: guards the lists but @public
 * @pd: the protection domain
 * @tenant: in whose name the device accesses memory: the connection or the group
 * @pages: pages of PAGE_SIZE that an MR can cover at most; it may cover as many larger ones
 * @free: FREE MRs of each size, kept for kverbs_mr_get()
 * @busy: all other MRs
 * @nr_free: number of MRs in all of @free
 * @returned: invalid MRs that are still in @busy; added to without @lock
 * @public_lock: guards @public; taken by completions: bottom halves off; innermost
 * @public: MRs whose keys the peer may have
 */
struct kverbs_mr_pool {
	struct mutex lock;
	struct ib_pd *pd;
	struct kverbs_tenant *tenant;
	u32 pages;
	struct list_head free[KVERBS_MR_SIZES];
	struct list_head busy;
	unsigned int nr_free;
	struct llist_head returned;
	spinlock_t public_lock;
	struct list_head public;
};

#ifdef KVERBS_DEBUG
/* MRs that have their pages, of all connections: only these may be named by an entry. */
extern struct list_head kverbs_mapped_mrs;
extern spinlock_t kverbs_mapped_lock;
#endif

void kverbs_mr_pool_init(struct kverbs_mr_pool *pool);
void kverbs_mr_pool_destroy(struct kverbs_mr_pool *pool);
u64 kverbs_mr_reach(const struct kverbs_mr_pool *pool, const struct kverbs_map *map,
		    u64 offset, u64 length, const u64 *iova);
unsigned int kverbs_mr_count(const struct kverbs_mr_pool *pool, const struct kverbs_map *map,
			     u64 offset, u64 length, const u64 *iova);
int kverbs_mr_settle(struct kverbs_mr_pool *pool, struct kverbs_mr *mr);
struct kverbs_mr *kverbs_mr_get(struct kverbs_mr_pool *pool,
				const struct kverbs_map *map, u64 offset,
				u64 length, int access, const u64 *iova);
struct kverbs_mr *kverbs_mr_reserve(struct kverbs_mr_pool *pool, unsigned int pages);
int kverbs_mr_cover(struct kverbs_mr_pool *pool, struct kverbs_mr *mr,
		    const struct kverbs_map *map, u64 offset, u64 length, int access);
void kverbs_mr_uncover(struct kverbs_mr_pool *pool, struct kverbs_mr *mr);
void kverbs_mr_note_cached(struct kverbs_mr *mr);
void kverbs_mr_publish(struct kverbs_mr_pool *pool, struct kverbs_mr *mr);
bool kverbs_mr_revoke(struct kverbs_mr_pool *pool, u32 rkey);
void kverbs_mr_return(struct kverbs_mr_pool *pool, struct kverbs_mr *mr);
void kverbs_mr_recycle(struct kverbs_mr_pool *pool, struct kverbs_mr *mr);
int kverbs_mr_free(struct kverbs_mr_pool *pool, struct kverbs_mr *mr);

#endif /* KVERBS_MR_H */
