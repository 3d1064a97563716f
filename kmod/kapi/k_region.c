// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of other modules, and exports of it, documented in include/kverbs/kverbs.h. */
#include <linux/slab.h>

#include "compat.h"
#include "conn_io.h"
#include "export.h"
#include "k_conn.h"
#include "region.h"

static_assert(KVERBS_K_REMOTE_READ == KVERBS_REMOTE_READ);
static_assert(KVERBS_K_REMOTE_WRITE == KVERBS_REMOTE_WRITE);
static_assert(KVERBS_K_REMOTE_ATOMIC == KVERBS_REMOTE_ATOMIC);

struct kverbs_region *kverbs_k_region_of_buffer(void *buffer, size_t length, bool writable,
						gfp_t gfp)
{
	return kverbs_region_of_buffer(buffer, length, writable, gfp);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_region_of_buffer);

struct kverbs_region *kverbs_k_region_of_bvecs(const struct bio_vec *bvecs, unsigned int nr,
					       bool writable, gfp_t gfp)
{
	return kverbs_region_of_bvecs(bvecs, nr, writable, gfp);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_region_of_bvecs);

int kverbs_k_region_map(struct kverbs_k_conn *k_conn, struct kverbs_region *region)
{
	struct kverbs_conn *conn = k_conn->conn;
	int ret;

	kverbs_region_use(region);
	ret = kverbs_queue_check_up(&conn->queue);
	if (!ret)
		ret = kverbs_conn_map(conn, region);
	kverbs_region_unuse(region);
	return ret;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_region_map);

void kverbs_k_region_destroy(struct kverbs_region *region)
{
	kverbs_region_destroy(region);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_region_destroy);

u8 *kverbs_k_region_byte(const struct kverbs_region *region, u64 offset)
{
	return kverbs_region_byte(region, offset);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_region_byte);

void kverbs_k_region_read(const struct kverbs_region *region, u64 offset, void *to,
			  size_t length)
{
	kverbs_region_peek(region, offset, to, length);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_region_read);

static struct kverbs_export *export_range(struct kverbs_conn *conn,
					  const struct kverbs_export_range *range,
					  struct kverbs_k_segment *segments, unsigned int nr)
{
	struct kverbs_segment *segs = kcalloc(nr, sizeof(*segs), GFP_KERNEL_ACCOUNT);
	struct kverbs_export *export;
	unsigned int i;

	if (!segs)
		return ERR_PTR(-ENOMEM);
	export = kverbs_export_to_conn(conn, range, segs);
	for (i = 0; !IS_ERR(export) && i < nr; i++)
		segments[i] = (struct kverbs_k_segment) {
			.addr = segs[i].addr,
			.length = segs[i].length,
			.rkey = segs[i].rkey,
		};
	kfree(segs);
	return export;
}

static struct kverbs_export *export_if_room(struct kverbs_conn *conn,
					    const struct kverbs_export_range *range,
					    struct kverbs_k_segment *segments, unsigned int *nr)
{
	unsigned int room = *nr;
	int ret;

	ret = kverbs_export_count(conn, range, nr);
	if (!ret && *nr > room)
		ret = -EMSGSIZE;
	return ret ? ERR_PTR(ret) : export_range(conn, range, segments, *nr);
}

struct kverbs_export *kverbs_k_export_create(struct kverbs_k_conn *k_conn,
					     struct kverbs_region *region, u64 offset,
					     u64 length, u32 rights,
					     struct kverbs_k_segment *segments,
					     unsigned int *nr)
{
	const struct kverbs_export_range range = {
		.region = region,
		.offset = offset,
		.length = length,
		.rights = rights,
	};
	struct kverbs_export *export;

	if (!kverbs_export_fits(&range))
		return ERR_PTR(-EINVAL);
	kverbs_region_use(region);
	export = export_if_room(k_conn->conn, &range, segments, nr);
	kverbs_region_unuse(region);
	return export;
}
EXPORT_SYMBOL_KVERBS(kverbs_k_export_create);

int kverbs_k_export_destroy(struct kverbs_export *export)
{
	return kverbs_export_destroy(export);
}
EXPORT_SYMBOL_KVERBS(kverbs_k_export_destroy);
