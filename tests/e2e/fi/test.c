// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The provider of libfabric, used as programs use it: connections of this host to itself. */
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#include "harness.h"

#define MIB	(1ul << 20)
#define SIZE	(17 * MIB)
#define RIGHTS	(FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

/**
 * struct side - what one process opens
 * @info: of the device's IPv4 address
 * @fabric: the fabric
 * @eq: event queue of all endpoints
 * @domain: the domain
 * @cq: completion queue of all endpoints
 * @mr: all rights on @mem
 * @mem: SIZE bytes
 * @pep: listens
 */
struct side {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_eq *eq;
	struct fid_domain *domain;
	struct fid_cq *cq;
	struct fid_mr *mr;
	uint8_t *mem;
	struct fid_pep *pep;
};

static struct side side;

static void get_info(struct side *s)
{
	struct fi_info *hints;
	char path[4096];

	snprintf(path, sizeof(path), "%s/libfabric/build", getenv("KVERBS_TOP"));
	setenv("FI_PROVIDER_PATH", path, true);
	hints = fi_allocinfo();
	CHECK(hints);
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_RX_CQ_DATA;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup("kverbs");
	CHECK_OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &s->info));
	fi_freeinfo(hints);
}

static void open_side(struct side *s)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	get_info(s);
	CHECK_OK(fi_fabric(s->info->fabric_attr, &s->fabric, NULL));
	CHECK_OK(fi_eq_open(s->fabric, &eq_attr, &s->eq, NULL));
	CHECK_OK(fi_domain(s->fabric, s->info, &s->domain, NULL));
	CHECK_OK(fi_cq_open(s->domain, &cq_attr, &s->cq, NULL));
	s->mem = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	CHECK(s->mem != MAP_FAILED);
	CHECK_OK(fi_mr_reg(s->domain, s->mem, SIZE, RIGHTS, 0, 0, 0, &s->mr, NULL));
	CHECK_OK(fi_passive_ep(s->fabric, s->info, &s->pep, NULL));
	CHECK_OK(fi_pep_bind(s->pep, &s->eq->fid, 0));
	CHECK_OK(fi_listen(s->pep));
}

static struct fid_ep *new_ep(struct side *s, struct fi_info *info)
{
	struct fid_ep *ep;

	CHECK_OK(fi_endpoint(s->domain, info, &ep, NULL));
	CHECK_OK(fi_ep_bind(ep, &s->eq->fid, 0));
	CHECK_OK(fi_ep_bind(ep, &s->cq->fid, FI_TRANSMIT | FI_RECV));
	CHECK_OK(fi_enable(ep));
	return ep;
}

/* The fields that all events of connections have */
struct seen {
	fid_t fid;
	struct fi_info *info;
};

static struct seen next_event(struct side *s, uint32_t type)
{
	uint8_t buf[sizeof(struct fi_eq_cm_entry) + 256];
	struct seen entry;
	uint32_t got;
	ssize_t n;

	n = fi_eq_sread(s->eq, &got, buf, sizeof(buf), test_patience_ms(), 0);
	if (n < (ssize_t)sizeof(entry))
		FAIL("no event %u, but %zd", type, n);
	CHECK_EQ(got, type);
	memcpy(&entry, buf, sizeof(entry));
	return entry;
}

static struct sockaddr_in address(struct side *s)
{
	struct sockaddr_in addr;
	size_t len = sizeof(addr);

	CHECK_OK(fi_getname(&s->pep->fid, &addr, &len));
	return addr;
}

static struct fid_ep *start_connecting(struct side *s, const struct sockaddr_in *addr)
{
	struct fid_ep *ep = new_ep(s, s->info);

	CHECK_OK(fi_connect(ep, addr, "hello", 5));
	return ep;
}

static struct fid_ep *accept_next(struct side *s)
{
	struct seen entry = next_event(s, FI_CONNREQ);
	struct fid_ep *ep = new_ep(s, entry.info);

	CHECK_OK(fi_accept(ep, NULL, 0));
	fi_freeinfo(entry.info);
	return ep;
}

/* Connect two endpoints of this process. */
static void connect_pair(struct side *s, struct fid_ep **client, struct fid_ep **server)
{
	struct sockaddr_in addr = address(s);

	*client = start_connecting(s, &addr);
	*server = accept_next(s);
	next_event(s, FI_CONNECTED);
	next_event(s, FI_CONNECTED);
}

static struct fi_cq_data_entry next_completion(struct side *s)
{
	struct fi_cq_err_entry error = { 0 };
	struct fi_cq_data_entry entry;
	ssize_t n;

	n = fi_cq_sread(s->cq, &entry, 1, NULL, test_patience_ms());
	if (n == -FI_EAVAIL) {
		fi_cq_readerr(s->cq, &error, 0);
		FAIL("an operation fails: %s, %s", fi_strerror(error.err),
		     fi_cq_strerror(s->cq, error.prov_errno, NULL, NULL, 0));
	}
	CHECK_EQ(n, 1);
	return entry;
}

static int failure(struct side *s)
{
	struct fi_cq_err_entry error = { 0 };
	struct fi_cq_data_entry entry;

	CHECK_EQ(fi_cq_sread(s->cq, &entry, 1, NULL, test_patience_ms()), -FI_EAVAIL);
	CHECK_EQ(fi_cq_readerr(s->cq, &error, 0), 1);
	return error.err;
}

/* The peer refuses an access, which on iWARP ends the connection without saying why. */
static void check_refused(struct side *s)
{
	bool is_iwarp = s->info->ep_attr->protocol == FI_PROTO_IWARP;

	CHECK_EQ(failure(s), is_iwarp ? FI_ECANCELED : FI_EACCES);
}

static void close_all(struct side *s)
{
	CHECK_OK(fi_close(&s->pep->fid));
	CHECK_OK(fi_close(&s->mr->fid));
	CHECK_OK(fi_close(&s->cq->fid));
	CHECK_OK(fi_close(&s->domain->fid));
	CHECK_OK(fi_close(&s->eq->fid));
	CHECK_OK(fi_close(&s->fabric->fid));
	fi_freeinfo(s->info);
}

static void fill(uint8_t *mem, size_t size, unsigned int seed)
{
	size_t i;

	for (i = 0; i < size; i++)
		mem[i] = (uint8_t)((i * 31 + (i >> 12) + seed) >> 1);
}

static uint64_t addr_of(const void *mem)
{
	return (uintptr_t)mem;
}

/* Operations return -FI_EAGAIN until the provider knows the keys of a long region. */
static void rma(struct side *s, struct fid_ep *ep, bool read, void *buf, size_t len,
		const void *remote)
{
	void *desc = fi_mr_desc(s->mr);
	uint64_t key = fi_mr_key(s->mr);
	ssize_t ret;

	do {
		ret = read ? fi_read(ep, buf, len, desc, 0, addr_of(remote), key, NULL) :
			     fi_write(ep, buf, len, desc, 0, addr_of(remote), key, NULL);
	} while (ret == -FI_EAGAIN);
	CHECK_OK(ret);
}

TEST(a_region_that_needs_several_keys_is_read_and_written_as_one)
{
	struct fid_ep *client, *server;
	size_t length = 5 * MIB + 123;

	open_side(&side);
	connect_pair(&side, &client, &server);
	fill(side.mem, length, 1);
	rma(&side, client, false, side.mem, length, side.mem + 6 * MIB + 7);
	CHECK_EQ(next_completion(&side).flags, FI_RMA | FI_WRITE);
	CHECK(!memcmp(side.mem, side.mem + 6 * MIB + 7, length));
	fill(side.mem + 6 * MIB + 7, length, 2);
	rma(&side, server, true, side.mem, length, side.mem + 6 * MIB + 7);
	CHECK_EQ(next_completion(&side).flags, FI_RMA | FI_READ);
	CHECK(!memcmp(side.mem, side.mem + 6 * MIB + 7, length));
	CHECK_OK(fi_close(&client->fid));
	CHECK_OK(fi_close(&server->fid));
	close_all(&side);
}

/* Send one message; the byte behind its receive must not change. */
static void send_one(struct side *s, struct fid_ep *from, struct fid_ep *to, size_t length)
{
	uint8_t *out = s->mem, *in = s->mem + 8 * MIB + 4096;
	struct fi_cq_data_entry entry;
	unsigned int i;

	fill(out, length, (unsigned int)length);
	memset(in, 0, length);
	in[length] = 0x5a;
	CHECK_OK(fi_recv(to, in, length, fi_mr_desc(s->mr), 0, NULL));
	CHECK_OK(fi_send(from, out, length, fi_mr_desc(s->mr), 0, NULL));
	for (i = 0; i < 2; i++) {
		entry = next_completion(s);
		if (entry.flags & FI_RECV)
			CHECK_EQ(entry.len, length);
	}
	CHECK(!memcmp(in, out, length));
	CHECK_EQ(in[length], 0x5a);
}

TEST(messages_have_0_bytes_to_the_largest_that_the_port_carries)
{
	static const size_t sizes[] = { 0, 1, 4095, 4096, 4097, MIB - 1, 2 * MIB, 2 * MIB + 1 };
	struct fid_ep *client, *server;
	size_t i, max;

	open_side(&side);
	connect_pair(&side, &client, &server);
	max = side.info->ep_attr->max_msg_size;
	for (i = 0; i < ARRAY_SIZE(sizes); i++)
		if (sizes[i] <= max)
			send_one(&side, client, server, sizes[i]);
	if (max > 8 * MIB)
		max = 8 * MIB;
	send_one(&side, server, client, max - 1);
	send_one(&side, server, client, max);
	if (max == side.info->ep_attr->max_msg_size)
		CHECK_EQ(fi_send(client, side.mem, max + 1, fi_mr_desc(side.mr), 0, NULL),
			 -FI_EMSGSIZE);
	CHECK_OK(fi_close(&client->fid));
	CHECK_OK(fi_close(&server->fid));
	close_all(&side);
}

TEST(immediate_data_arrive_with_messages_and_writes)
{
	struct fid_ep *client, *server;
	struct fi_cq_data_entry entry;
	struct fid_mr *mr;

	open_side(&side);
	if (!side.info->domain_attr->cq_data_size)
		test_skip("iWARP has no immediate data");
	connect_pair(&side, &client, &server);
	CHECK_OK(fi_mr_reg(side.domain, side.mem, 4096, RIGHTS, 0, 0, 0, &mr, NULL));
	CHECK_OK(fi_recv(server, NULL, 0, NULL, 0, NULL));
	CHECK_OK(fi_recv(server, NULL, 0, NULL, 0, NULL));
	CHECK_OK(fi_injectdata(client, NULL, 0, 0xdeadbeef, 0));
	entry = next_completion(&side);
	CHECK_EQ(entry.flags, FI_MSG | FI_RECV | FI_REMOTE_CQ_DATA);
	CHECK_EQ(entry.data, 0xdeadbeef);
	CHECK_OK(fi_inject_writedata(client, "text", 4, 0x12345678, 0, addr_of(side.mem + 11),
				     fi_mr_key(mr)));
	entry = next_completion(&side);
	CHECK_EQ(entry.flags, FI_RMA | FI_REMOTE_WRITE | FI_REMOTE_CQ_DATA);
	CHECK_EQ(entry.data, 0x12345678);
	CHECK(!memcmp(side.mem + 11, "text", 4));
	CHECK_OK(fi_close(&mr->fid));
}

TEST(a_closed_region_is_no_longer_accessible)
{
	struct fid_ep *client, *server;
	struct fid_mr *mr;
	uint64_t key;

	open_side(&side);
	connect_pair(&side, &client, &server);
	CHECK_OK(fi_mr_reg(side.domain, side.mem, 4096, RIGHTS, 0, 0, 0, &mr, NULL));
	key = fi_mr_key(mr);
	CHECK_OK(fi_close(&mr->fid));
	CHECK_OK(fi_read(client, side.mem + MIB, 8, fi_mr_desc(side.mr), 0, addr_of(side.mem),
			 key, NULL));
	check_refused(&side);
}

TEST(the_descriptor_of_a_completion_queue_works_with_epoll)
{
	struct epoll_event out, in = { .events = EPOLLIN };
	struct fid_ep *client, *server;
	struct fi_cq_data_entry entry;
	struct fid *fids[1];
	int fd, epoll;

	open_side(&side);
	connect_pair(&side, &client, &server);
	fids[0] = &side.cq->fid;
	epoll = epoll_create1(0);
	CHECK_OK(fi_control(&side.cq->fid, FI_GETWAIT, &fd));
	CHECK_OK(epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &in));
	CHECK_OK(fi_recv(server, NULL, 0, NULL, 0, NULL));
	CHECK_OK(fi_inject(client, NULL, 0, 0));
	while (fi_trywait(side.fabric, fids, 1) == 0)
		CHECK_EQ(epoll_wait(epoll, &out, 1, test_patience_ms()), 1);
	CHECK_EQ(fi_cq_read(side.cq, &entry, 1), 1);
	CHECK_EQ(entry.flags, FI_MSG | FI_RECV);
}

TEST(an_endpoint_without_a_queue_counts)
{
	struct fi_cntr_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fid_ep *client, *server;
	struct fid_cntr *sent, *received;
	struct sockaddr_in addr;
	unsigned int i;

	open_side(&side);
	addr = address(&side);
	CHECK_OK(fi_cntr_open(side.domain, &attr, &sent, NULL));
	CHECK_OK(fi_cntr_open(side.domain, &attr, &received, NULL));
	CHECK_OK(fi_endpoint(side.domain, side.info, &client, NULL));
	CHECK_OK(fi_ep_bind(client, &side.eq->fid, 0));
	CHECK_OK(fi_ep_bind(client, &sent->fid, FI_SEND | FI_WRITE));
	CHECK_OK(fi_ep_bind(client, &received->fid, FI_RECV | FI_READ));
	CHECK_OK(fi_enable(client));
	CHECK_OK(fi_connect(client, &addr, NULL, 0));
	server = accept_next(&side);
	next_event(&side, FI_CONNECTED);
	next_event(&side, FI_CONNECTED);
	for (i = 0; i < 8; i++) {
		CHECK_OK(fi_recv(server, side.mem + i, 1, fi_mr_desc(side.mr), 0, NULL));
		CHECK_OK(fi_recv(client, side.mem + 4096 + i, 1, fi_mr_desc(side.mr), 0, NULL));
	}
	for (i = 0; i < 8; i++) {
		CHECK_OK(fi_inject(client, "c", 1, 0));
		CHECK_OK(fi_inject(server, "s", 1, 0));
	}
	CHECK_OK(fi_cntr_wait(sent, 8, test_patience_ms()));
	CHECK_OK(fi_cntr_wait(received, 8, test_patience_ms()));
	CHECK(!memcmp(side.mem + 4096, "ssssssss", 8));
	CHECK_EQ(fi_cntr_readerr(sent), 0);
	for (i = 0; i < 8; i++)
		CHECK_EQ(next_completion(&side).flags, FI_MSG | FI_RECV);
	CHECK_OK(fi_close(&client->fid));
	CHECK_OK(fi_close(&server->fid));
	CHECK_OK(fi_close(&sent->fid));
	CHECK_OK(fi_close(&received->fid));
	close_all(&side);
}

TEST(a_rejection_brings_its_data)
{
	struct fi_eq_err_entry error = { 0 };
	struct seen request;
	struct sockaddr_in addr;
	struct fid_ep *client;
	uint32_t type;

	open_side(&side);
	addr = address(&side);
	client = start_connecting(&side, &addr);
	request = next_event(&side, FI_CONNREQ);
	CHECK_OK(fi_reject(side.pep, request.info->handle, "why", 3));
	CHECK_EQ(fi_eq_sread(side.eq, &type, &request, sizeof(request), test_patience_ms(), 0),
		 -FI_EAVAIL);
	CHECK_EQ(fi_eq_readerr(side.eq, &error, 0), sizeof(error));
	CHECK(error.fid == &client->fid);
	CHECK_EQ(error.err, FI_ECONNREFUSED);
	CHECK_EQ(error.err_data_size, 3);
	CHECK(!memcmp(error.err_data, "why", 3));
}

TEST(endpoints_share_a_completion_queue)
{
	struct fid_ep *clients[16], *servers[16];
	unsigned int i, j;
	void *desc;

	open_side(&side);
	desc = fi_mr_desc(side.mr);
	for (i = 0; i < ARRAY_SIZE(clients); i++)
		connect_pair(&side, &clients[i], &servers[i]);
	for (i = 0; i < ARRAY_SIZE(clients); i++)
		for (j = 0; j < 8; j++) {
			side.mem[i * 8 + j] = (uint8_t)(i * 8 + j);
			CHECK_OK(fi_recv(servers[i], side.mem + MIB + i * 8 + j, 1, desc, 0, NULL));
			CHECK_OK(fi_send(clients[i], side.mem + i * 8 + j, 1, desc, 0, NULL));
		}
	for (i = 0; i < 2 * 8 * ARRAY_SIZE(clients); i++)
		next_completion(&side);
	CHECK(!memcmp(side.mem, side.mem + MIB, 8 * ARRAY_SIZE(clients)));
	for (i = 0; i < ARRAY_SIZE(clients); i++) {
		CHECK_OK(fi_close(&clients[i]->fid));
		CHECK_OK(fi_close(&servers[i]->fid));
	}
	close_all(&side);
}

TEST(domains_of_a_fabric_are_apart)
{
	struct fid_ep *client, *server;
	struct fid_domain *other;
	struct fid_mr *mr;

	open_side(&side);
	connect_pair(&side, &client, &server);
	CHECK_OK(fi_domain(side.fabric, side.info, &other, NULL));
	CHECK_OK(fi_mr_reg(other, side.mem, 4096, RIGHTS, 0, 0, 0, &mr, NULL));
	CHECK_EQ(fi_send(client, side.mem, 1, fi_mr_desc(mr), 0, NULL), -FI_EINVAL);
	CHECK_OK(fi_read(client, side.mem + MIB, 8, fi_mr_desc(side.mr), 0, addr_of(side.mem),
			 fi_mr_key(mr), NULL));
	check_refused(&side);
	CHECK_OK(fi_close(&mr->fid));
	CHECK_OK(fi_close(&other->fid));
}

/* Tells the parent its address, accepts, and waits to be killed. */
static void serve_until_killed(int out)
{
	struct sockaddr_in addr;

	open_side(&side);
	addr = address(&side);
	CHECK_EQ(write(out, &addr, sizeof(addr)), sizeof(addr));
	accept_next(&side);
	pause();
}

TEST(a_peer_that_is_killed_shuts_the_connection_down)
{
	struct sockaddr_in addr;
	struct fid_ep *ep;
	int fds[2], pid;

	CHECK_OK(pipe(fds));
	pid = fork();
	if (!pid) {
		serve_until_killed(fds[1]);
		_exit(EXIT_FAILURE);
	}
	open_side(&side);
	CHECK_EQ(read(fds[0], &addr, sizeof(addr)), sizeof(addr));
	ep = start_connecting(&side, &addr);
	CHECK_OK(fi_recv(ep, side.mem, 8, fi_mr_desc(side.mr), 0, NULL));
	CHECK(next_event(&side, FI_CONNECTED).fid == &ep->fid);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	CHECK(next_event(&side, FI_SHUTDOWN).fid == &ep->fid);
	CHECK_EQ(failure(&side), FI_ECANCELED);
	CHECK_OK(fi_close(&ep->fid));
	close_all(&side);
}
