/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_EXPORT_H
#define KVERBS_EXPORT_H

#include <linux/types.h>

struct kverbs_conn;
struct kverbs_group;
struct kverbs_mr;
struct kverbs_mr_pool;
struct kverbs_region;
struct kverbs_segment;

/**
 * struct kverbs_export - remote access for the peer of a connection, or those of a group
 * @group: the group, or NULL
 * @conn: the connection; of a group, the one that it was registered over, which may be freed
 * @pool: that of the group or the connection
 * @nr: segments
 * @mrs: an MR for each, in order; they belong to @pool and end with it
 */
struct kverbs_export {
	struct kverbs_group *group;
	struct kverbs_conn *conn;
	struct kverbs_mr_pool *pool;
	unsigned int nr;
	struct kverbs_mr *mrs[];
};

/**
 * struct kverbs_export_range - what to export
 * @region: the region, counted in its uses by the caller
 * @offset: first byte
 * @length: bytes, at least 1, within the region
 * @rights: KVERBS_REMOTE_*, which the region allows
 * @has_iova: @iova is the remote address of the first byte; else it is the offset in its page
 * @iova: congruent to the address in memory modulo PAGE_SIZE
 */
struct kverbs_export_range {
	struct kverbs_region *region;
	u64 offset;
	u64 length;
	u32 rights;
	bool has_iova;
	u64 iova;
};

int kverbs_export_access(u32 rights);
bool kverbs_export_fits(const struct kverbs_export_range *range);
int kverbs_export_check(struct kverbs_conn *conn, u32 rights);
struct kverbs_export *kverbs_export_create(struct kverbs_conn *conn,
					   struct kverbs_region *region, u64 offset,
					   u64 length, u32 rights,
					   struct kverbs_segment *segs);
struct kverbs_export *kverbs_export_to_conn(struct kverbs_conn *conn,
					    const struct kverbs_export_range *range,
					    struct kverbs_segment *segs);
struct kverbs_export *kverbs_export_to_group(struct kverbs_group *group,
					     const struct kverbs_export_range *range,
					     struct kverbs_segment *segs);
int kverbs_export_destroy(struct kverbs_export *export);
int kverbs_export_count(struct kverbs_conn *conn, const struct kverbs_export_range *range,
			unsigned int *nr);
int kverbs_export_count_in_group(struct kverbs_group *group,
				 const struct kverbs_export_range *range, unsigned int *nr);

#endif /* KVERBS_EXPORT_H */
