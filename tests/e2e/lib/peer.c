// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Two files connected to each other, each of which can be closed. */
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

/* Long enough for the interrupted operation to start a few times */
#define MOMENT_NS	50000000

void side_open(struct side *side)
{
	*side = (struct side){ 0 };
	ring_open(&side->ring, dev_open(), 256, 1024);
	side->memory = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
			    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	CHECK(side->memory != MAP_FAILED);
	side->region = dev_region(side->ring.fd, side->memory, SIZE, 0);
}

/* A mapping would keep the file open. */
void side_close(struct side *side)
{
	ring_unmap(&side->ring);
	CHECK_EQ(close(side->ring.fd), 0);
}

void side_post_recvs(struct side *side, unsigned int nr)
{
	struct kverbs_sqe sqe = sqe_recv(side->conn, side->region, 0, 64);
	unsigned int i;

	for (i = 0; i < nr; i++)
		CHECK_OK(ring_put(&side->ring, &sqe));
}

/* Connect up to the pending request. @param: of the client, or NULL */
void link_request_as(struct link *link, const struct kverbs_conn_param *param)
{
	*link = (struct link){ .addr = addr_of("a", 0) };
	side_open(&link->client);
	side_open(&link->server);
	link->listener = dev_listen(&link->server.ring, &link->addr);
	link->client.conn = dev_connect_as(&link->client.ring, &link->addr, param);
	link->server.conn = ring_event(&link->server.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
}

void link_request(struct link *link)
{
	link_request_as(link, NULL);
}

void link_open(struct link *link)
{
	link_request(link);
	CHECK_OK(dev_accept(&link->server.ring, link->server.conn, NULL));
	CHECK_OK(ring_event(&link->client.ring, KVERBS_CQE_ESTABLISHED, 0).result);
	CHECK_OK(ring_event(&link->server.ring, KVERBS_CQE_ESTABLISHED, 0).result);
}

void link_export(struct link *link, uint32_t access)
{
	link->export = dev_export(link->server.ring.fd, link->server.conn,
				  link->server.region, 0, SIZE, access, &link->seg, NULL);
}

/* Put work in flight, and do not wait for it. */
void link_start(struct link *link, uint8_t opcode, unsigned int nr)
{
	struct kverbs_sqe sqe = sqe_rdma(opcode, link->client.conn, link->client.region, 0,
					 SIZE, &link->seg);
	struct kverbs_cmd_submit out;
	unsigned int i;

	for (i = 0; i < nr; i++) {
		sqe.user_data = i;
		ring_push(&link->client.ring, &sqe);
	}
	CHECK_OK(ring_submit(&link->client.ring, nr, &out));
	CHECK_EQ(out.out_taken, nr);
}

static int ready_pipe[2];

void child_ready(void)
{
	CHECK_EQ(write(ready_pipe[1], "", 1), 1);
}

int child_fork(void (*run)(void))
{
	int pid;

	CHECK_EQ(pipe(ready_pipe), 0);
	pid = fork();
	if (!pid) {
		run();
		_exit(0);
	}
	close(ready_pipe[1]);
	return pid;
}

void child_await(void)
{
	char byte;

	CHECK_EQ(read(ready_pipe[0], &byte, 1), 1);
	close(ready_pipe[0]);
}

/* Returns when the child reports that it is ready. */
int child_start(void (*run)(void))
{
	int pid = child_fork(run);

	child_await();
	return pid;
}

/* The delay varies from call to call. */
static void await_some_moment(void)
{
	struct timespec moment = { 0 };
	unsigned int any;

	CHECK_EQ(getrandom(&any, sizeof(any), 0), sizeof(any));
	moment.tv_nsec = any % MOMENT_NS;
	nanosleep(&moment, NULL);
}

void child_kill(int pid)
{
	int status;

	await_some_moment();
	CHECK_EQ(kill(pid, SIGKILL), 0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status));
}
