// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Keys. A key of libfabric is valid for all of a memory region, but a device may need several
 * keys for that.
 *
 * A region with one key of the device has that as its key, as the verbs provider has it. A
 * region with several has a directory: memory that lists its segments, exported for reading at
 * address 0. The key then has the top bit set and names the directory: its size, a generation,
 * so that no key comes again soon, and the directory's own key of the device. An initiator that
 * meets such a key READs the directory once.
 */
#include <stdlib.h>
#include <string.h>

#include "fi_kverbs.h"
#include "sys.h"

#define PAGE 4096u
#define MAGIC 0x6b766663u	/* "kvfc" */

#define KEY_DIR		(1ull << 63)
#define KEY_PAGES_SHIFT	55
#define KEY_PAGES_MAX	255u
#define KEY_GEN_SHIFT	32
#define KEY_GEN_MASK	0x7fffffu

/* Directories that an endpoint remembers */
#define DIRS_MAX 64

/* As it is read by a peer, in network order */
struct wire_segment {
	uint64_t addr;
	uint64_t length;
	uint32_t rkey;
	uint32_t reserved;
};

struct wire_dir {
	uint32_t magic;
	uint32_t count;
	uint64_t reserved;
	struct wire_segment segs[];
};

enum dir_state {
	DIR_READING,
	DIR_READY,
	DIR_FAILED,
};

/*
 * A directory of the peer's.
 * @mem: what is READ into, @size bytes in the region @region_id
 * @segs: what it says, once it is DIR_READY
 */
struct kvf_dir {
	struct list_head node;
	uint64_t key;
	enum dir_state state;
	void *mem;
	size_t size;
	uint32_t region_id;
	struct kverbs_segment *segs;
	uint32_t nr;
};

/* ---- target ---- */

static uint32_t be32(uint32_t value)
{
	return htonl(value);
}

static uint64_t be64(uint64_t value)
{
	return be32(1) == 1 ? value : __builtin_bswap64(value);
}

static void fill(struct wire_dir *dir, const struct kverbs_segment *segs, uint32_t nr)
{
	uint32_t i;

	dir->magic = be32(MAGIC);
	dir->count = be32(nr);
	for (i = 0; i < nr; i++) {
		dir->segs[i].addr = be64(segs[i].addr);
		dir->segs[i].length = be64(segs[i].length);
		dir->segs[i].rkey = be32(segs[i].rkey);
	}
}

static uint64_t next_generation(struct kvf_fabric *fabric)
{
	uint64_t generation;

	pthread_mutex_lock(&fabric->lock);
	generation = ++fabric->generation & KEY_GEN_MASK;
	pthread_mutex_unlock(&fabric->lock);
	return generation;
}

/* Export it for reading at address 0; it must have one key. */
static int export_dir(struct kvf_mr *mr, struct kverbs_segment *seg)
{
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_EXPORT_IOVA,
		.conn_id = mr->domain->group_id,
		.region_id = mr->dir_region_id,
		.access = KVERBS_REMOTE_READ,
		.length = mr->dir_size,
		.segs_uptr = (uintptr_t)seg,
		.segs_stride = sizeof(*seg),
		.inout_segs_len = 1,
	};
	int ret;

	ret = kvf_export(mr->domain, &cmd);
	mr->dir_export_id = ret ? 0 : cmd.out_id;
	return ret;
}

int kvf_dir_create(struct kvf_mr *mr, const struct kverbs_segment *segs, uint32_t nr,
		   uint64_t *key)
{
	size_t size = sizeof(struct wire_dir) + nr * sizeof(struct wire_segment);
	uint32_t pages = (size + PAGE - 1) / PAGE;
	struct kvf_fabric *fabric = mr->domain->fabric;
	struct kverbs_segment seg;
	int ret;

	if (pages > KEY_PAGES_MAX)
		return -FI_EMSGSIZE;
	ret = kverbs_sys_mmap_anon((size_t)pages * PAGE, &mr->dir);
	if (ret)
		return ret;
	mr->dir_size = (size_t)pages * PAGE;
	fill(mr->dir, segs, nr);
	ret = kvf_region_create(fabric->fd, mr->dir, mr->dir_size, true, &mr->dir_region_id);
	if (ret) {
		mr->dir_region_id = 0;
		return ret;
	}
	ret = export_dir(mr, &seg);
	if (ret)
		return ret;
	*key = KEY_DIR | (uint64_t)pages << KEY_PAGES_SHIFT |
	       next_generation(fabric) << KEY_GEN_SHIFT | seg.rkey;
	return 0;
}

void kvf_dir_destroy(struct kvf_mr *mr)
{
	int fd = mr->domain->fabric->fd;

	if (mr->dir_export_id)
		kverbs_sys_destroy(fd, mr->dir_export_id);
	if (mr->dir_region_id)
		kverbs_sys_destroy(fd, mr->dir_region_id);
	if (mr->dir_size)
		kverbs_sys_munmap(mr->dir, mr->dir_size);
	mr->dir_export_id = 0;
	mr->dir_region_id = 0;
	mr->dir_size = 0;
}

/* ---- initiator ---- */

static struct kvf_dir *find(struct kvf_ep *ep, uint64_t key)
{
	struct list_head *at;
	struct kvf_dir *dir;

	for (at = ep->dirs.next; at != &ep->dirs; at = at->next) {
		dir = list_entry(at, struct kvf_dir, node);
		if (dir->key == key)
			return dir;
	}
	return NULL;
}

static void free_dir(struct kvf_ep *ep, struct kvf_dir *dir)
{
	list_del(&dir->node);
	kverbs_sys_destroy(kvf_ep_fabric(ep)->fd, dir->region_id);
	kverbs_sys_munmap(dir->mem, dir->size);
	free(dir->segs);
	free(dir);
}

void kvf_dirs_free(struct kvf_ep *ep)
{
	while (!list_empty(&ep->dirs))
		free_dir(ep, list_entry(ep->dirs.next, struct kvf_dir, node));
}

/* Forget the oldest one, unless it is being read, if there are too many. */
static void make_room(struct kvf_ep *ep)
{
	struct list_head *at;
	unsigned int nr = 0;
	struct kvf_dir *dir;

	for (at = ep->dirs.next; at != &ep->dirs; at = at->next)
		nr++;
	dir = list_entry(ep->dirs.next, struct kvf_dir, node);
	if (nr >= DIRS_MAX && dir->state != DIR_READING)
		free_dir(ep, dir);
}

static int start_reading(struct kvf_ep *ep, uint64_t key)
{
	uint32_t pages = key >> KEY_PAGES_SHIFT & KEY_PAGES_MAX;
	struct kvf_fabric *fabric = kvf_ep_fabric(ep);
	struct kvf_dir *dir;
	int ret;

	if (!pages)
		return -FI_EINVAL;
	make_room(ep);
	dir = calloc(1, sizeof(*dir));
	if (!dir)
		return -FI_ENOMEM;
	dir->key = key;
	dir->size = (size_t)pages * PAGE;
	ret = kverbs_sys_mmap_anon(dir->size, &dir->mem);
	if (ret)
		goto out_free_dir;
	ret = kvf_region_create(fabric->fd, dir->mem, dir->size, false, &dir->region_id);
	if (ret)
		goto out_unmap;
	list_add_tail(&dir->node, &ep->dirs);
	ret = kvf_post_dir_read(ep, dir, dir->region_id, dir->size, (uint32_t)key);
	if (ret)
		free_dir(ep, dir);
	return ret;

out_unmap:
	kverbs_sys_munmap(dir->mem, dir->size);
out_free_dir:
	free(dir);
	return ret;
}

/* The peer may have written anything. */
static int parse(struct kvf_dir *dir)
{
	const struct wire_dir *wire = dir->mem;
	uint32_t i, nr = be32(wire->count);

	if (wire->magic != be32(MAGIC) || !nr ||
	    nr > (dir->size - sizeof(*wire)) / sizeof(*wire->segs))
		return -FI_EINVAL;
	dir->segs = calloc(nr, sizeof(*dir->segs));
	if (!dir->segs)
		return -FI_ENOMEM;
	for (i = 0; i < nr; i++) {
		dir->segs[i].addr = be64(wire->segs[i].addr);
		dir->segs[i].length = be64(wire->segs[i].length);
		dir->segs[i].rkey = be32(wire->segs[i].rkey);
		if (!dir->segs[i].length ||
		    dir->segs[i].addr + dir->segs[i].length < dir->segs[i].addr ||
		    (i && dir->segs[i].addr != dir->segs[i - 1].addr + dir->segs[i - 1].length))
			return -FI_EINVAL;
	}
	dir->nr = nr;
	return 0;
}

void kvf_dir_read_done(struct kvf_dir *dir, bool succeeded)
{
	dir->state = succeeded && !parse(dir) ? DIR_READY : DIR_FAILED;
}

int kvf_key_resolve(struct kvf_ep *ep, uint64_t key, struct kverbs_segment *one,
		    const struct kverbs_segment **segs, uint32_t *nr)
{
	struct kvf_dir *dir;
	int ret;

	if (!(key & KEY_DIR)) {
		*one = (struct kverbs_segment){ .length = UINT64_MAX, .rkey = (uint32_t)key };
		*segs = one;
		*nr = 1;
		return 0;
	}
	dir = find(ep, key);
	if (!dir) {
		ret = start_reading(ep, key);
		return ret ? ret : -FI_EAGAIN;
	}
	/* The application may try again without reading a queue. */
	if (dir->state == DIR_READING)
		kvf_progress(kvf_ep_fabric(ep));
	switch (dir->state) {
	case DIR_READY:
		*segs = dir->segs;
		*nr = dir->nr;
		return 0;
	case DIR_FAILED:
		free_dir(ep, dir);
		return -FI_EACCES;
	default:
		return -FI_EAGAIN;
	}
}
