// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * One thread, one epoll(7) loop, many clients: each message is sent back.
 *
 *	eventloop		run until end of file on standard input
 *
 * Clients: any number of "pingpong HOST".
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "example.h"

#define SIZE	4096

/* Two slots used in turn: one receives the next message while the other is sent back. */
struct client {
	struct kverbs_conn *conn;
	struct kverbs_buf *buf;
	struct kverbs_req recv, send[2];
	int turn;
};

static int served;

/*
 * The client may send again as soon as it has the answer, so a receive must be posted first: on
 * iWARP a message that finds no receive ends the connection. A callback may post, but not wait.
 * Connections are freed with the context.
 */
static void received(struct kverbs_req *req)
{
	struct client *client = req->data;
	size_t len = req->byte_len;
	int turn = client->turn;

	if (req->result)
		return;
	client->turn = !turn;
	kverbs_recv(client->conn, client->buf, client->turn * SIZE, SIZE, req);
	kverbs_send(client->conn, client->buf, turn * SIZE, len, &client->send[turn]);
}

static void welcome(struct kverbs *kv, struct kverbs_conn *conn)
{
	struct client *client = calloc(1, sizeof(*client));

	must(client ? 0 : -ENOMEM, "allocate");
	client->conn = conn;
	client->recv.data = client;
	client->recv.done = received;
	must(kverbs_buf_alloc(kv, 2 * SIZE, &client->buf), "allocate");
	must(kverbs_recv(conn, client->buf, 0, SIZE, &client->recv), "post a receive");
	must(kverbs_accept_start(conn, NULL), "accept");
	served++;
}

static void serve(struct kverbs *kv, struct kverbs_listener *listener)
{
	struct kverbs_conn *conn;

	must(kverbs_process(kv, 0), "take completions");
	while (!kverbs_next_request(listener, 0, &conn))
		welcome(kv, conn);
}

static void watch(int epoll, int fd)
{
	struct epoll_event event = { .events = EPOLLIN, .data.fd = fd };

	must(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) ? -errno : 0, "watch");
}

int main(void)
{
	struct kverbs_listener *listener;
	struct epoll_event event;
	struct kverbs *kv;
	int epoll;
	char c;

	must(kverbs_open(&kv, NULL), "open");
	listener = listen_here(kv);
	epoll = must(epoll_create1(0), "epoll");
	watch(epoll, kverbs_fd(kv));
	watch(epoll, STDIN_FILENO);
	for (;;) {
		must(epoll_wait(epoll, &event, 1, -1), "wait");
		if (event.data.fd == STDIN_FILENO && read(STDIN_FILENO, &c, 1) <= 0)
			break;
		serve(kv, listener);
	}
	kverbs_close(kv);
	printf("%d clients were served\n", served);
	return 0;
}
