/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A `kverbs serve` started by the test, and the resources that it uses. */
#ifndef ABUSE_SERVE_H
#define ABUSE_SERVE_H

#include <stdint.h>

void serve_start(void);
/*
 * Start with more options, up to NULL; @host is a name under which it serves a well-behaved client.
 */
void serve_start_as(const char *host, const char *const *options);
void serve_await(const char *words);
uint16_t serve_port(void);
void serve_await_gone(unsigned int nr);
int serve_ping(const char *host);
void serve_expect_unharmed(void);
void serve_stop(void);

#endif /* ABUSE_SERVE_H */
