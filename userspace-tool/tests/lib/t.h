/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Helpers of the library's tests. A test gets a struct t with an open context over a fresh fake
 * kernel, which must have no objects left after the test.
 */
#ifndef T_H
#define T_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <kverbs.h>

#include "fake_kernel.h"

#define T_SIZE 65536u

struct t {
	struct kverbs *kv;
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
};

/* Only an open context. */
int t_setup(void **state);
/* An open context, an established connection, and a buffer of T_SIZE bytes. */
int t_setup_conn(void **state);
int t_teardown(void **state);

/* Returns an established connection. */
struct kverbs_conn *t_connect(struct kverbs *kv);
/* A token of @nr_segs segments of @seg_size bytes, at 4096 * (1 + index). */
struct kverbs_token t_token(unsigned int nr_segs, uint64_t seg_size);

/* Replace the connection by one with @depth send slots. */
void t_shrink_queue(struct t *t, unsigned int depth);
/* Return when @n threads wait behind the leader. */
void t_wait_followers(struct kverbs *kv, unsigned int n);

#define t_test(name) cmocka_unit_test_setup_teardown(name, t_setup, t_teardown)
#define t_test_conn(name) \
	cmocka_unit_test_setup_teardown(name, t_setup_conn, t_teardown)

#endif /* T_H */
