/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A `kverbs serve` of this test's own, and what it costs. */
#ifndef ABUSE_SERVE_H
#define ABUSE_SERVE_H

#include <stdint.h>

void serve_start(void);
uint16_t serve_port(void);
void serve_await_gone(unsigned int nr);
void serve_expect_unharmed(void);
void serve_stop(void);

#endif /* ABUSE_SERVE_H */
