// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* An iWARP listener is a TCP socket, and so may be a peer that does not know iWARP. */
#include <fcntl.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev.h"
#include "fds.h"
#include "peer.h"

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

/* Accepts TCP connections, and says nothing. */
static struct kverbs_addr mute;
static int asked[2];

static int listen_tcp(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	mute = addr_of("a", 0);
	memcpy(&sin.sin_addr, mute.addr, sizeof(sin.sin_addr));
	CHECK_EQ(bind(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	CHECK_EQ(listen(fd, 1), 0);
	CHECK_EQ(getsockname(fd, (struct sockaddr *)&sin, &len), 0);
	mute.port = sin.sin_port;
	return fd;
}

static uint32_t call_the_mute(struct ring *ring)
{
	ring_open(ring, dev_open(), 4, 8);
	return dev_connect(ring, &mute);
}

/* Returns when the peer has got the request. */
static void call_and_wait(struct ring *ring, uint32_t *conn)
{
	char byte;

	*conn = call_the_mute(ring);
	child_ready();
	CHECK_EQ(read(asked[0], &byte, 1), 1);
}

static void sleep_meanwhile(void)
{
	struct ring ring;
	uint32_t conn;

	call_and_wait(&ring, &conn);
	pause();
}

static void close_meanwhile(void)
{
	struct ring ring;
	uint32_t conn;

	call_and_wait(&ring, &conn);
	ring_unmap(&ring);
	close(ring.fd);
	pause();
}

static void destroy_meanwhile(void)
{
	struct ring ring;
	uint32_t conn;

	call_and_wait(&ring, &conn);
	dev_destroy(ring.fd, conn);
	pause();
}

/* The driver keeps the socket until it has given up, which nothing hastens. */
static void killed_while_the_peer_is_mute(const void *arg)
{
	void (*const *run)(void) = arg;
	int listener = listen_tcp(), pid, fd;
	char request[64];

	CHECK_EQ(pipe(asked), 0);
	pid = child_start(*run);
	fd = accept(listener, NULL, NULL);
	CHECK(fd >= 0);
	CHECK(recv(fd, request, sizeof(request), 0) > 0);
	CHECK_EQ(write(asked[1], "", 1), 1);
	child_kill(pid);
	CHECK_EQ(recv(fd, request, sizeof(request), MSG_DONTWAIT), -1);
	CHECK_EQ(errno, EAGAIN);
	close(fd);
	close(listener);
}

/*
 * Leave files to the kernel, which closes them: they are in a message that its own socket holds,
 * and the end of another socket makes the kernel look for such messages.
 */
static void leave_to_the_kernel(int first, int second, int third)
{
	int cycle[2], fds[4], i;

	CHECK_EQ(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, cycle), 0);
	memcpy(fds, (int[]){ first, second, third, cycle[1] }, sizeof(fds));
	fds_send(cycle[0], fds, 4);
	for (i = 0; i < 4; i++)
		close(fds[i]);
	close(cycle[0]);
}

static bool is_older_than(int major, int minor)
{
	struct utsname name;
	char *rest;
	int has;

	CHECK_EQ(uname(&name), 0);
	has = strtol(name.release, &rest, 10);
	return has < major || (has == major && strtol(rest + 1, NULL, 10) < minor);
}

/* One thread of the kernel closes all such files, one after another. */
static void closed_by_the_kernel_while_the_peer_is_mute(const void *arg)
{
	int listener, fd, before[2], after[2];
	struct ring ring;
	char request[64];

	(void)arg;
	if (is_older_than(6, 10))
		test_skip("the task that closes the last socket closes these files");
	listener = listen_tcp();
	CHECK_EQ(pipe2(before, O_CLOEXEC), 0);
	CHECK_EQ(pipe2(after, O_CLOEXEC), 0);
	call_the_mute(&ring);
	fd = accept(listener, NULL, NULL);
	CHECK(fd >= 0);
	CHECK(recv(fd, request, sizeof(request), 0) > 0);
	ring_unmap(&ring);
	leave_to_the_kernel(before[1], ring.fd, after[1]);
	CHECK_EQ(read(before[0], request, 1), 0);
	CHECK_EQ(read(after[0], request, 1), 0);
	CHECK_EQ(recv(fd, request, sizeof(request), MSG_DONTWAIT), -1);
	CHECK_EQ(errno, EAGAIN);
	close(fd);
	close(listener);
	close(before[0]);
	close(after[0]);
}

static void (*const meanwhile[])(void) = { sleep_meanwhile, close_meanwhile, destroy_meanwhile };

TEST_GROUP(sockets)
{
	if (!dev_is_iwarp())
		return;
	test_add("a listener survives clients that disconnect before they are accepted",
		 callers_who_hang_up, NULL);
	test_add("a killed task does not wait for a peer that has not answered",
		 killed_while_the_peer_is_mute, &meanwhile[0]);
	test_add("a task that closes the node is killed before the peer has answered",
		 killed_while_the_peer_is_mute, &meanwhile[1]);
	test_add("a task in DESTROY is killed before the peer has answered",
		 killed_while_the_peer_is_mute, &meanwhile[2]);
	test_add("a kernel thread that closes the node waits for no answer",
		 closed_by_the_kernel_while_the_peer_is_mute, NULL);
}
