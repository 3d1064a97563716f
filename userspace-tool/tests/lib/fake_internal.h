/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Internals of the fake kernel. One lock protects everything. */
#ifndef FAKE_INTERNAL_H
#define FAKE_INTERNAL_H

#include <netdb.h>
#include <pthread.h>
#include <time.h>

#include "fake_kernel.h"

#define FAKE_MAX_OBJS 16384
#define FAKE_CONN_SLOTS 3

enum fake_type {
	FAKE_NONE, FAKE_RING, FAKE_REGION, FAKE_LISTENER, FAKE_CONN, FAKE_EXPORT, FAKE_GROUP,
	FAKE_POOL,
};

struct fake_ring {
	uint32_t sq_entries, cq_entries;
	struct kverbs_sqe *sqes;
	struct kverbs_ring_kernel *kernel;
	struct kverbs_ring_user *user;
	unsigned int reserved;		/* completion slots reserved for later */
	bool busy_poll;			/* work completes when SUBMIT polls */
	struct kverbs_cqe *held;	/* completions that no SUBMIT has polled yet */
	unsigned int nr_held;
	bool room;			/* a slot was returned without a completion */
	int event_fd;			/* 0: none */
	int poll_fd;			/* of the ring alone, 0: none */
};

struct fake_region {
	uint8_t *addr;
	uint64_t length;
	unsigned int flags;
	unsigned int users;
	uint64_t user_data;
	bool stale;
	ino_t shared;			/* inode of the file that shares it, 0: none */
};

struct fake_listener {
	uint16_t family;
	uint16_t port;
	uint64_t user_data;
};

struct fake_conn {
	enum kverbs_conn_state state;
	int error;
	bool hangs;
	unsigned int slots;
	uint64_t user_data;
	unsigned int sq_used, rq_used, sq_depth, rq_depth;
	uint32_t peer;
	uint32_t group;
	uint32_t pool;
	uint8_t priv[512];
	uint32_t priv_len;
	struct kverbs_addr local;
	struct kverbs_addr remote;
};

struct fake_pool {
	uint32_t entries;
	struct kverbs_pool_user *user;
	struct kverbs_pool_kernel *kernel;
};

struct fake_export {
	uint32_t owner, region, access;	/* @owner: a connection or a group */
	uint64_t offset, length;
	uint64_t addr;			/* remote address of the first byte */
	uint64_t max_segment;		/* a key is valid within a segment of this size */
};

struct fake_obj {
	enum fake_type type;
	uint32_t id;
	int fd;
	uint32_t ring;
	union {
		struct fake_ring r;
		struct fake_region region;
		struct fake_listener listener;
		struct fake_conn conn;
		struct fake_export export;
		struct fake_pool pool;
	};
};

struct fake_work {
	struct fake_work *next;
	struct fake_obj *conn;
	uint32_t ring;		/* a receive may be from another one than its connection's */
	struct kverbs_sqe sqe;
	struct kverbs_piece pieces[KVERBS_LIST_MAX];
	unsigned int nr_pieces;
	uint64_t length;
	bool pooled;
	uint16_t buf_id;
};

struct fake_kernel {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	struct fake_obj *objs[FAKE_MAX_OBJS];
	uint32_t nr_ids;
	struct fake_work *work, **work_tail;
	unsigned int nr_work, sleepers, interrupts, follower_interrupts, sleeps;
	int mappings;
	unsigned int poll_fds;		/* descriptors of rings that are open */
};

extern struct fake_kernel fk;

/* A violated rule of the contract ends the test. */
#define fake_check(cond) fake_check_failed(cond, #cond, __FILE__, __LINE__)
void fake_check_failed(bool ok, const char *what, const char *file, int line);

struct fake_obj *fake_new(int fd, enum fake_type type);
/* Returns NULL if this file has no such object of this type. */
struct fake_obj *fake_find(int fd, uint32_t id, enum fake_type type);
void fake_del(struct fake_obj *obj);

/* fake_ring.c */
int fake_ring_create(int fd, struct kverbs_cmd_ring_create *cmd);
/* Account that a descriptor is closed; false: it is not that of a ring. */
bool fake_ring_close_fd(int fd);
void fake_ring_free(struct fake_obj *ring);
void *fake_ring_area(int fd, uint64_t offset, size_t length);
int fake_ring_submit(int fd, struct kverbs_cmd_submit *cmd);
struct fake_obj *fake_ring_of(const struct fake_obj *obj);
/* Returns -EAGAIN if there are not enough slots. */
int fake_ring_reserve(struct fake_obj *ring, unsigned int slots);
/* Return one slot, for an unsignalled completion. */
void fake_ring_return(struct fake_obj *ring);
void fake_ring_put(struct fake_obj *ring, const struct kverbs_cqe *cqe);
/* Complete an entry that is refused. Returns -EAGAIN if there is no slot. */
int fake_ring_refuse(struct fake_obj *ring, const struct kverbs_sqe *sqe, int error);

/* fake_work.c */
int fake_work_take(int fd, struct fake_obj *ring, const struct kverbs_sqe *sqe);
/* Post a buffer of the connection's pool, for which a completion slot is reserved. */
void fake_work_take_buf(struct fake_obj *conn, const struct kverbs_pool_buf *buf);
void fake_work_end(struct fake_work *work, int result, unsigned int wc_status,
		   uint64_t byte_len, unsigned int flags, uint32_t imm);
void fake_work_drop(struct fake_obj *conn, bool flush);
struct fake_work *fake_work_find(const struct fake_obj *conn, unsigned int opcode);
/* Run all work that peers in this process make possible. */
void fake_work_run(void);

/* fake_pool.c */
int fake_pool_create(int fd, struct kverbs_cmd_pool_create *cmd);
void fake_pool_free(struct fake_obj *pool);
/* Returns NULL if the offset is of no pool. */
void *fake_pool_map(int fd, uint64_t offset);
/* Returns false if the address is of no pool. */
bool fake_pool_unmap(void *addr);
/* Fill the receive queue of a connection from its pool, if it has one. */
void fake_pool_fill(struct fake_obj *conn);
int fake_pool_wake(int fd, uint32_t pool_id);
bool fake_pool_used(const struct fake_obj *pool);

/* fake_clock.c */
void fake_clock_reset(void);
/* Advance the clock to @deadline, if it is not later already. */
void fake_clock_jump(uint64_t deadline);
uint64_t fake_clock_now(void);
/*
 * The same as pthread_cond_timedwait(), but returns -ETIMEDOUT once the fake clock reaches
 * @deadline.
 */
int fake_clock_wait(pthread_cond_t *cond, pthread_mutex_t *lock, uint64_t deadline);

/* fake_conn.c */
int fake_listen(int fd, struct kverbs_cmd_listen *cmd);
int fake_connect(int fd, struct kverbs_cmd_connect *cmd);
int fake_accept(int fd, struct kverbs_cmd_accept *cmd);
int fake_reject(int fd, struct kverbs_cmd_reject *cmd);
int fake_disconnect(int fd, struct kverbs_cmd_disconnect *cmd);
int fake_conn_query(int fd, struct kverbs_cmd_conn_query *cmd);
int fake_group_create(int fd, struct kverbs_cmd_group_create *cmd);
bool fake_group_used(const struct fake_obj *group);
int fake_export(int fd, struct kverbs_cmd_export *cmd);
int fake_bench(int fd, struct kverbs_cmd_bench *cmd);
void fake_conn_destroy(struct fake_obj *conn);
void fake_conn_reset(void);

/* With --wrap the linker resolves calls of x() to __wrap_x(), and __real_x() to x(). */
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void *__wrap_realloc(void *p, size_t size);
int __real_getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **res);
int __wrap_getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **res);

int __real_clock_gettime(clockid_t id, struct timespec *ts);
int __wrap_clock_gettime(clockid_t id, struct timespec *ts);
int __real_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
				  const struct timespec *ts);
int __wrap_pthread_cond_timedwait(pthread_cond_t *cond, pthread_mutex_t *lock,
				  const struct timespec *ts);

#endif /* FAKE_INTERNAL_H */
