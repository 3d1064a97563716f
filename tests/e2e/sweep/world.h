/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Every command under conditions in which it succeeds. */
#ifndef SWEEP_WORLD_H
#define SWEEP_WORLD_H

#include "dev.h"
#include "pool.h"

#define WORLD_MEMORY	(5UL << 20)
#define WORLD_DMABUF	(4UL << 12)

/**
 * struct world - objects for the commands
 * @fd: the file
 * @device_index: the device
 * @ring: a ring, if there is one
 * @addr: address of the listener
 * @listener: the listener, or 0
 * @client: a connection, or 0
 * @server: its other end, or 0
 * @memory: WORLD_MEMORY bytes
 * @region: region of @memory, or 0
 * @group: a group, or 0
 * @pool: a pool of four buffers of @region, if it has an id
 * @export: export of the whole region to the client's peer, or the group, or 0
 * @seg: first segment of @export
 * @dmabuf: descriptor of a dma-buf, or 0
 * @id: the object that the command created
 */
struct world {
	int fd;
	uint32_t device_index;
	struct ring ring;
	struct kverbs_addr addr;
	uint32_t listener;
	uint32_t client;
	uint32_t server;
	char *memory;
	uint32_t region;
	uint32_t group;
	struct pool pool;
	uint32_t export;
	struct kverbs_segment seg;
	int dmabuf;
	uint32_t id;
};

/**
 * struct sweep - a command to be swept
 * @name: its name, and perhaps its variant
 * @set_up: creates the objects that it needs, in a world with only a file
 * @act: runs the command; 0 or -errno
 * @settle: waits for the events that follow if @act returned 0; 0 or -errno; or NULL
 */
struct sweep {
	const char *name;
	void (*set_up)(struct world *world);
	int (*act)(struct world *world);
	int (*settle)(struct world *world);
};

extern const struct sweep sweeps[];
extern const size_t nr_sweeps;

void world_open(struct world *world, const struct sweep *sweep);
void world_close(struct world *world);

/* Each world has the objects of the one before it, too. */
void world_with_nothing(struct world *world);
void world_with_ring(struct world *world);
void world_with_listener(struct world *world);
void world_with_request(struct world *world);
void world_with_pair(struct world *world);
void world_with_memory(struct world *world);
void world_with_export(struct world *world);

/* With only a dma-buf, where the kernel makes one. */
void world_with_dmabuf(struct world *world);

/* With connections of a group, but without an export that is not the group's. */
void world_with_group(struct world *world);
void world_with_group_request(struct world *world);
void world_with_member(struct world *world);
void world_with_group_export(struct world *world);

/* With a pool for connections of the group. */
void world_with_group_pool(struct world *world);
void world_with_group_pool_request(struct world *world);
void world_with_group_pool_member(struct world *world);

/* submit.c */
void world_with_recv(struct world *world);
int submit_recv(struct world *world);
int submit_long_recv(struct world *world);
int submit_send(struct world *world);
int submit_write(struct world *world);
int submit_read(struct world *world);
int submit_list(struct world *world);
int submit_long(struct world *world);
int settle_work(struct world *world);
int settle_recv(struct world *world);

int settle_connect(struct world *world);
int settle_accept(struct world *world);
int settle_end(struct world *world);

#endif /* SWEEP_WORLD_H */
