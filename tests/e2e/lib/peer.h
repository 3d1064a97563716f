/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Two files connected to each other, each of which can be closed. */
#ifndef TEARDOWN_PEER_H
#define TEARDOWN_PEER_H

#include "dev.h"

#define SIZE		(64 * 4096UL)
#define WRITES		64

/**
 * struct side - one end, with its own file
 * @ring: its ring
 * @conn: its connection
 * @memory: its memory
 * @region: the region of @memory
 */
struct side {
	struct ring ring;
	uint32_t conn;
	char *memory;
	uint32_t region;
};

/**
 * struct link - two ends
 * @client: the active side
 * @server: the passive side
 * @listener: the server's listener
 * @addr: address of @listener
 * @seg: first segment of @export
 * @export: the server's export of all its memory, if any
 */
struct link {
	struct side client;
	struct side server;
	uint32_t listener;
	struct kverbs_addr addr;
	struct kverbs_segment seg;
	uint32_t export;
};

int device_restore(void);

void side_open(struct side *side);
void side_close(struct side *side);
void side_post_recvs(struct side *side, unsigned int nr);
void link_request(struct link *link);
void link_request_as(struct link *link, const struct kverbs_conn_param *param);
void link_open(struct link *link);
void link_export(struct link *link, uint32_t access);
void link_start(struct link *link, uint8_t opcode, unsigned int nr);
int child_fork(void (*run)(void));
void child_await(void);
int child_start(void (*run)(void));
void child_ready(void);
void child_kill(int pid);

#endif /* TEARDOWN_PEER_H */
