/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What the library's tests share. A test gets a struct t with an open context
 * over a fresh fake kernel; afterwards nothing may be left in that.
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

/* An open context, and nothing else. */
int t_setup(void **state);
/* With a connection that is up, and a buffer of T_SIZE bytes. */
int t_setup_conn(void **state);
int t_teardown(void **state);

/* A connection that is up. */
struct kverbs_conn *t_connect(struct kverbs *kv);
/* A token over @nr_segs segments of @seg_size, at 4096 times (1 + their index). */
struct kverbs_token t_token(unsigned int nr_segs, uint64_t seg_size);

/* A new connection, with room for @depth entries. */
void t_shrink_queue(struct t *t, unsigned int depth);
/* Return when @n threads follow another one that leads. */
void t_wait_followers(struct kverbs *kv, unsigned int n);

#define t_test(name) cmocka_unit_test_setup_teardown(name, t_setup, t_teardown)
#define t_test_conn(name) \
	cmocka_unit_test_setup_teardown(name, t_setup_conn, t_teardown)

#endif /* T_H */
