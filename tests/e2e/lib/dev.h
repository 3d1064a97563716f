/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* /dev/kverbs without a library: commands, rings, connections. */
#ifndef DEV_H
#define DEV_H

#include <linux/kverbs.h>

#include "harness.h"

/* The fields that name the parameters of a connection, which are the arguments. */
#define CONN_PARAM(...)							\
	.param_uptr = (uintptr_t)&(const struct kverbs_conn_param){ __VA_ARGS__ }, \
	.param_size = sizeof(struct kverbs_conn_param)

#define STASH_MAX		4096

/* Check that a completion reports success. */
#define CHECK_DONE(completion)						\
	do {								\
		struct kverbs_cqe cqe_ = (completion);			\
									\
		if (cqe_.result)					\
			FAIL("%s: %s, work completion status %u", #completion, \
			     test_errno(cqe_.result), cqe_.wc_status);	\
	} while (0)

/**
 * struct ring - a mapped ring
 * @fd: the file
 * @id: id of the ring
 * @made: answer of RING_CREATE
 * @sqes: the submission entries
 * @kernel: the kernel's indices
 * @cqes: the completions
 * @user: this process's indices
 * @next_data: user_data for the next entry of ring_do()
 * @stash: completions that were read, but not returned yet
 * @nr_stash: length of @stash
 */
struct ring {
	int fd;
	uint32_t id;
	struct kverbs_cmd_ring_create made;
	struct kverbs_sqe *sqes;
	struct kverbs_ring_kernel *kernel;
	struct kverbs_cqe *cqes;
	struct kverbs_ring_user *user;
	uint64_t next_data;
	struct kverbs_cqe *stash;
	unsigned int nr_stash;
};

/**
 * struct pair - a connection of this host to itself
 * @fd: the file
 * @ring: the ring of all completions
 * @listener: id of the listener
 * @addr: address of the listener
 * @client: the active connection
 * @server: the passive connection
 * @param: parameters of both connections
 * @group: group of the passive connection, or 0
 */
struct pair {
	int fd;
	struct ring ring;
	uint32_t listener;
	struct kverbs_addr addr;
	uint32_t client;
	uint32_t server;
	struct kverbs_conn_param param;
	uint32_t group;
};

int dev_open(void);
int dev_cmd(int fd, unsigned long number, void *cmd);
int dev_try_region(int fd, const void *addr, uint64_t length, uint32_t flags,
		   uint32_t *id);
int dev_try_tracked(const struct ring *ring, const void *addr, uint64_t length, uint32_t *id);
uint32_t dev_region(int fd, const void *addr, uint64_t length, uint32_t flags);
int dev_destroy(int fd, uint32_t id);
uint32_t dev_device_index(int fd);
uint32_t dev_group(int fd);
bool dev_is_iwarp(void);
const char *dev_provider(void);

struct kverbs_addr addr_of(const char *host, uint16_t port);

void ring_open(struct ring *ring, int fd, uint32_t sq_entries, uint32_t cq_entries);
void ring_open_as(struct ring *ring, int fd, uint32_t sq_entries, uint32_t cq_entries,
		  uint32_t flags, int event_fd);
void ring_unmap(struct ring *ring);
void ring_push(struct ring *ring, const struct kverbs_sqe *sqe);
int ring_submit(struct ring *ring, uint32_t to_submit, struct kverbs_cmd_submit *out);
int ring_wait(struct ring *ring, uint32_t min_complete, int timeout_ms);
int ring_put(struct ring *ring, const struct kverbs_sqe *sqe);
uint32_t ring_unread(const struct ring *ring);
bool ring_peek(struct ring *ring, struct kverbs_cqe *cqe);
struct kverbs_cqe ring_next(struct ring *ring);
struct kverbs_cqe ring_event(struct ring *ring, uint8_t type, uint32_t id);
struct kverbs_cqe ring_end_of(struct ring *ring, uint32_t conn);
struct kverbs_cqe ring_work(struct ring *ring, uint64_t user_data);
struct kverbs_cqe ring_do(struct ring *ring, struct kverbs_sqe sqe);
void ring_check_refusal(uint8_t wc_status);
void ring_check_refused(struct kverbs_cqe cqe);

struct kverbs_sqe sqe_send(uint32_t conn, uint32_t region, uint64_t offset,
			   uint64_t length);
struct kverbs_sqe sqe_recv(uint32_t conn, uint32_t region, uint64_t offset,
			   uint64_t length);
struct kverbs_sqe sqe_rdma(uint8_t opcode, uint32_t conn, uint32_t region,
			   uint64_t offset, uint64_t length,
			   const struct kverbs_segment *to);

uint32_t dev_listen(struct ring *ring, struct kverbs_addr *addr);
uint32_t dev_connect(struct ring *ring, const struct kverbs_addr *addr);
uint32_t dev_connect_as(struct ring *ring, const struct kverbs_addr *addr,
			const struct kverbs_conn_param *param);
int dev_accept(struct ring *ring, uint32_t conn, const struct kverbs_conn_param *param);
int dev_accept_into(struct ring *ring, uint32_t conn, const struct kverbs_conn_param *param,
		    uint32_t group);
uint32_t dev_export(int fd, uint32_t conn, uint32_t region, uint64_t offset,
		    uint64_t length, uint32_t access, struct kverbs_segment *segs,
		    uint32_t *nr);
struct kverbs_cmd_conn_query dev_query(int fd, uint32_t conn);
/* Fail unless the object's line in debugfs has all words of @format. */
void __printf(3, 4) dev_expect_shown(const char *type, uint32_t id, const char *format, ...);
int dev_disconnect(int fd, uint32_t conn);

void pair_open(struct pair *pair);
void pair_open_with(struct pair *pair, const struct kverbs_conn_param *param,
		    uint32_t cq_entries);
void pair_join(struct pair *pair, uint32_t *client, uint32_t *server);

#endif /* DEV_H */
