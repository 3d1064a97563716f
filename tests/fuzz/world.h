/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What all threads and children of a generation share: a file, and what is in it. */
#ifndef FUZZ_WORLD_H
#define FUZZ_WORLD_H

#include <stddef.h>
#include <linux/kverbs.h>

#include "rng.h"

#define ARENA_SIZE	(8UL << 20)
#define PAGE		4096UL

enum kind { RING, REGION, LISTENER, CONN, EXPORT, NR_KINDS };

/* Ids that are remembered of each kind, and segments. */
#define IDS	16

enum arena { ANON, SHARED, MEMFD, HUGE, NR_ARENAS };

/* Command numbers, one more than there are; and errnos. */
#define COMMANDS	14
#define ERRNOS		134

/**
 * struct counts - what was done; shared by all processes
 * @results: how often a command ended with an errno, 0: with success
 * @submissions: entries taken
 * @completions: completions read
 * @generations: worlds that came and went
 */
struct counts {
	uint64_t results[COMMANDS][ERRNOS];
	uint64_t submissions;
	uint64_t completions;
	uint64_t generations;
};

/**
 * struct link - a connection of this host to itself, as far as is known
 * @conn: its two ends
 * @ring: where each completes
 * @segment: what each exported last
 */
struct link {
	uint32_t conn[2];
	uint32_t ring[2];
	struct kverbs_segment segment[2];
};

/**
 * struct world - a file and what is in it; read and written without a lock, since
 *	a wrong id is as good as a right one
 * @fd: the file
 * @memfd: behind an arena
 * @stop: all shall end
 * @ids: the last ids of each kind
 * @rings: where the rings can be mapped
 * @ports: where listeners are, in network order
 * @links: connections
 * @arenas: memory for regions
 * @addr: an address of this host on an RDMA device
 * @counts: what was done
 */
struct world {
	int fd;
	int memfd;
	int stop;
	uint32_t ids[NR_KINDS][IDS];
	struct kverbs_cmd_ring_create rings[IDS];
	uint16_t ports[IDS];
	struct link links[IDS];
	char *arenas[NR_ARENAS];
	struct kverbs_addr addr;
	struct counts *counts;
};

/**
 * struct fuzzer - a thread
 * @world: where
 * @rng: its choices
 * @sqes: its ring's entries, NULL without a ring
 * @kernel: its ring's indices, the kernel's
 * @cqes: its ring's completions
 * @user: its ring's indices, its own
 * @ring: its ring
 * @port: of its last listener
 */
struct fuzzer {
	struct world *world;
	struct rng rng;
	struct kverbs_sqe *sqes;
	const struct kverbs_ring_kernel *kernel;
	const struct kverbs_cqe *cqes;
	struct kverbs_ring_user *user;
	struct kverbs_cmd_ring_create ring;
	uint16_t port;
};

struct world *world_create(struct counts *counts, const struct kverbs_addr *addr);
int world_cmd(struct world *world, unsigned long number, void *cmd);
void world_note(struct world *world, struct rng *rng, enum kind kind, uint32_t id);
uint32_t world_id(struct world *world, struct rng *rng, enum kind kind);
struct link *world_link(struct fuzzer *f, unsigned int *side);
uint32_t world_ring(struct fuzzer *f);

static inline void count(uint64_t *counter, uint64_t nr)
{
	__atomic_fetch_add(counter, nr, __ATOMIC_RELAXED);
}

/* memory.c */
void memory_create(struct world *world);
char *memory_choose(struct world *world, struct rng *rng, uint64_t *length);
void memory_disturb(struct fuzzer *f);

/* ring.c */
void ring_make(struct fuzzer *f);
void ring_fill_and_submit(struct fuzzer *f);
void ring_reap(struct fuzzer *f);
void ring_settle(struct fuzzer *f);
void ring_scribble(struct fuzzer *f);
void ring_unmap(struct fuzzer *f);

/* cmds.c */
void cmds_any(struct fuzzer *f);
void cmds_answer(struct fuzzer *f, uint32_t conn);
void cmds_garbage(struct fuzzer *f);
void cmds_begin(struct fuzzer *f);

/* One step of a thread, of any sort. */
void fuzz_step(struct fuzzer *f);

#endif /* FUZZ_WORLD_H */
