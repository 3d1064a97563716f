/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_EXPORT_H
#define KVERBS_EXPORT_H

#include <linux/types.h>

struct kverbs_conn;
struct kverbs_mr;
struct kverbs_region;
struct kverbs_segment;

/**
 * struct kverbs_export - remote access for the peer of a connection
 * @conn: the connection
 * @nr: segments
 * @mrs: an MR for each, in order; they belong to the connection's pool and end
 *	with it
 */
struct kverbs_export {
	struct kverbs_conn *conn;
	unsigned int nr;
	struct kverbs_mr *mrs[];
};

int kverbs_export_check(struct kverbs_conn *conn, u32 rights);
struct kverbs_export *kverbs_export_create(struct kverbs_conn *conn,
					   struct kverbs_region *region, u64 offset,
					   u64 length, u32 rights,
					   struct kverbs_segment *segs);
int kverbs_export_destroy(struct kverbs_export *export);
int kverbs_export_count(struct kverbs_conn *conn, struct kverbs_region *region, u64 offset,
			u64 length, unsigned int *nr);

#endif /* KVERBS_EXPORT_H */
