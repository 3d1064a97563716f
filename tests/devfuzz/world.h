/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* State that all threads and children of a generation share: a file and its objects. */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include <stddef.h>
#include <linux/kverbs.h>

#include "counts.h"
#include "rng.h"

#define ARENA_SIZE	(8UL << 20)
#define PAGE		4096UL
/* The longest message and the shortest receive */
#define MESSAGE		(3 * PAGE)

enum object { RING, REGION, LISTENER, CONN, EXPORT, GROUP, POOL, NR_KINDS };

/* Number of ids remembered of each type, and of regions */
#define IDS		32
/* Number of connections, and how many of them each thread starts */
#define LINKS		32
#define OWN_LINKS	4
/* Exports of one end that the peer knows */
#define GRANTS		3
#define DMABUF_SIZE	(32 * PAGE)
/* Receive pools that are fed */
#define POOLS		4
/* Entries of one SUBMIT */
#define BATCH		8

enum arena { ANON, SHARED, MEMFD, HUGE, NR_ARENAS };

/**
 * struct region - a region, as far as known
 * @addr: its address
 * @length: bytes
 * @id: its id, 0: none
 * @writable: not KVERBS_REGION_READ_ONLY
 */
struct region {
	uint64_t addr;
	uint64_t length;
	uint32_t id;
	bool writable;
};

/**
 * struct grant - an export that the peer may use
 * @segment: a segment of it, 0 bytes long: there is none
 * @access: KVERBS_REMOTE_*
 * @export: its id
 */
struct grant {
	struct kverbs_segment segment;
	uint32_t access;
	uint32_t export;
};

/**
 * struct end - one end of a connection of this host to itself; the other end is
 *	adjacent in @ends of struct world
 * @conn: its id, 0: none
 * @ring: ring of its completions
 * @group: its group, 0: none
 * @up: it is established
 * @pooled: its receives come from a pool
 * @receives: number of receives posted for further messages
 * @most: target of @receives
 * @grants: its exports
 */
struct end {
	uint32_t conn;
	uint32_t ring;
	uint32_t group;
	bool up;
	bool pooled;
	int receives;
	int most;
	struct grant grants[GRANTS];
};

/**
 * struct world - a file and its objects; read and written without a lock, since it
 *	has to be right only most of the time
 * @fd: the file
 * @memfd: memory of an arena
 * @dmabuf: a dma-buf of DMABUF_SIZE, -1: the kernel makes none
 * @stop: all threads and children shall exit
 * @ids: recent ids of each type
 * @rings: where the rings can be mapped
 * @pools: where the pools can be mapped
 * @ports: ports of the listeners, in network order
 * @regions: regions
 * @ends: connections: the active end at an even index, the passive end after it
 * @arenas: memory for regions, NULL if it is not available
 * @addr: an address of this host on an RDMA device
 * @counts: counters
 */
struct world {
	int fd;
	int memfd;
	int dmabuf;
	int stop;
	uint32_t ids[NR_KINDS][IDS];
	struct kverbs_cmd_ring_create rings[IDS];
	struct kverbs_cmd_pool_create pools[POOLS];
	uint16_t ports[IDS];
	struct region regions[IDS];
	struct end ends[2 * LINKS];
	char *arenas[NR_ARENAS];
	struct kverbs_addr addr;
	struct counts *counts;
};

/**
 * struct fuzzer - a thread
 * @world: the world
 * @rng: its random generator
 * @first: first of the OWN_LINKS connections that it keeps up
 * @sqes: submission entries of its ring, NULL without a ring
 * @kernel: the kernel's indices of its ring
 * @cqes: completions of its ring
 * @user: the user's indices of its ring
 * @ring: its ring
 * @cq_head: number of completions read
 * @full: an entry found no room
 * @waits: number of waits since an entry was accepted
 * @port: port of its last listener
 * @retired: a withdrawn export, to be destroyed the next time
 * @opcodes: opcodes of the last batch
 * @used: connections of the last batch
 * @pieces: piece lists of the last batch
 */
struct fuzzer {
	struct world *world;
	struct rng rng;
	unsigned int first;
	struct kverbs_sqe *sqes;
	const struct kverbs_ring_kernel *kernel;
	const struct kverbs_cqe *cqes;
	struct kverbs_ring_user *user;
	struct kverbs_cmd_ring_create ring;
	uint32_t cq_head;
	bool full;
	unsigned int waits;
	uint16_t port;
	uint32_t retired;
	uint8_t opcodes[BATCH];
	struct end *used[BATCH];
	struct kverbs_piece pieces[BATCH][KVERBS_LIST_MAX];
};

struct world *world_create(struct counts *counts, const struct kverbs_addr *addr);
int world_cmd(struct world *world, unsigned long number, void *cmd);
int world_try(struct fuzzer *f, unsigned long number, void *cmd);
int world_destroy(struct fuzzer *f, uint32_t id);
void world_note(struct fuzzer *f, enum object kind, uint32_t id);
uint32_t world_id(struct fuzzer *f, enum object kind);
void world_spoil(struct fuzzer *f, void *words, size_t size);
uint32_t world_ring(struct fuzzer *f);

/* memory.c */
void memory_create(struct world *world);
char *memory_choose(struct fuzzer *f, uint64_t *length);
void memory_mend(struct world *world, char *at, size_t size);
void memory_disturb(struct fuzzer *f);

/* region.c */
void region_make(struct fuzzer *f);
void region_share(struct fuzzer *f);
void region_of_dmabuf(struct fuzzer *f);
const struct region *region_choose(struct fuzzer *f, uint64_t least, bool writable,
				   bool lasting);

/* link.c */
void link_group(struct fuzzer *f);
void link_listen(struct fuzzer *f);
bool link_keep(struct fuzzer *f);
void link_answer(struct fuzzer *f, uint32_t conn);
void link_up(struct fuzzer *f, uint32_t conn);
void link_down(struct fuzzer *f, uint32_t conn);
void link_query(struct fuzzer *f);
void link_break(struct fuzzer *f);
void link_leave(struct fuzzer *f);
struct end *link_choose(struct fuzzer *f);
struct end *link_peer(struct world *world, const struct end *end);

/* grant.c */
void grant_make(struct fuzzer *f, struct end *end);
void grant_withdraw(struct fuzzer *f, struct end *end);
struct grant *grant_choose(struct fuzzer *f, struct end *end, uint32_t access);

/* entry.c */
void entry_fill(struct fuzzer *f, struct end *end, struct kverbs_sqe *sqe, unsigned int i);
void entry_taken(struct fuzzer *f, unsigned int i);
void entry_refused(struct fuzzer *f, unsigned int i);

/* pool.c */
void pool_make(struct fuzzer *f);
uint32_t pool_choose(struct fuzzer *f);
void pool_feed(struct fuzzer *f);

/* ring.c */
void ring_make(struct fuzzer *f);
void ring_submit(struct fuzzer *f);
void ring_reap(struct fuzzer *f);
void ring_settle(struct fuzzer *f);
void ring_use_fd(struct fuzzer *f);
void ring_scribble(struct fuzzer *f);

/* cmds.c */
void cmds_any(struct fuzzer *f);
void cmds_garbage(struct fuzzer *f);
void cmds_begin(struct fuzzer *f);

#endif /* FUZZ_WORLD_H */
