// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* An iWARP listener is a TCP socket, to which any host can connect. */
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "dev.h"

#define CALLERS	500

static struct pair pair;

/* Connect and close, with a reset or with FIN, mostly before the connection is accepted. */
static void call(const struct kverbs_addr *addr, bool reset)
{
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = addr->port };
	struct linger linger = { .l_onoff = reset };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	memcpy(&sin.sin_addr, addr->addr, sizeof(sin.sin_addr));
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger)), 0);
	CHECK_EQ(connect(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	close(fd);
}

static void callers_who_hang_up(const void *arg)
{
	uint32_t client, server;
	int i;

	(void)arg;
	/*
	 * Otherwise the kernel keeps closed connections, and their ports, for a minute (TIME_WAIT).
	 */
	CHECK_EQ(test_shell("echo 0 >/proc/sys/net/ipv4/tcp_max_tw_buckets"), 0);
	pair_open(&pair);
	for (i = 0; i < CALLERS; i++)
		call(&pair.addr, i % 2);
	pair_join(&pair, &client, &server);
	CHECK_OK(dev_destroy(pair.fd, pair.listener));
}

TEST_GROUP(sockets)
{
	if (dev_is_iwarp())
		test_add("a listener survives clients that disconnect before they are accepted",
			 callers_who_hang_up, NULL);
}
