// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Link-local addresses, with the interface that they belong to. */
#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include <kverbs.h>

#include "buf.h"

static struct pair pair;
static struct buf buf;

static bool is_a(const struct sockaddr *sa)
{
	struct kverbs_addr a = addr_of("a", 0);

	return sa->sa_family == AF_INET &&
	       !memcmp(a.addr, &((const struct sockaddr_in *)sa)->sin_addr, 4);
}

static bool is_link_local(const struct sockaddr *sa)
{
	return sa->sa_family == AF_INET6 &&
	       IN6_IS_ADDR_LINKLOCAL(&((const struct sockaddr_in6 *)sa)->sin6_addr);
}

static const struct ifaddrs *find(const struct ifaddrs *list,
				  bool (*is)(const struct sockaddr *sa), const char *ifname)
{
	for (; list; list = list->ifa_next)
		if (list->ifa_addr && is(list->ifa_addr) &&
		    (!ifname || !strcmp(ifname, list->ifa_name)))
			return list;
	return NULL;
}

/* Returns the link-local address of the interface that has the address of a. */
static struct kverbs_addr link_local(void)
{
	struct kverbs_addr addr = { .family = AF_INET6 };
	const struct ifaddrs *found;
	struct ifaddrs *list;

	CHECK_EQ(getifaddrs(&list), 0);
	found = find(list, is_a, NULL);
	CHECK(found);
	addr.scope_id = if_nametoindex(found->ifa_name);
	found = find(list, is_link_local, found->ifa_name);
	CHECK(found && addr.scope_id);
	memcpy(addr.addr, &((struct sockaddr_in6 *)found->ifa_addr)->sin6_addr, 16);
	freeifaddrs(list);
	return addr;
}

static int try_listen(struct kverbs_addr addr)
{
	struct kverbs_cmd_listen cmd = { .size = sizeof(cmd), .inout_addr = addr };
	static struct ring ring;

	ring_open(&ring, dev_open(), 8, 32);
	cmd.ring_id = ring.id;
	return dev_cmd(ring.fd, KVERBS_LISTEN, &cmd);
}

/* Returns the error of CONNECT or of the connection's final event. */
static int try_connect(struct kverbs_addr addr)
{
	struct kverbs_cmd_connect cmd = { .size = sizeof(cmd), .dst = addr };
	static struct ring ring;
	int ret;

	cmd.dst.port = htons(9);
	ring_open(&ring, dev_open(), 8, 32);
	cmd.ring_id = ring.id;
	ret = dev_cmd(ring.fd, KVERBS_CONNECT, &cmd);
	return ret ? ret : ring_end_of(&ring, cmd.out_id).result;
}

static void check_scopes(uint32_t conn, uint32_t scope_id)
{
	struct kverbs_cmd_conn_query query = dev_query(pair.fd, conn);

	CHECK(!memcmp(query.out_local.addr, pair.addr.addr, 16));
	CHECK(!memcmp(query.out_remote.addr, pair.addr.addr, 16));
	CHECK_EQ(query.out_local.scope_id, scope_id);
	CHECK_EQ(query.out_remote.scope_id, scope_id);
}

TEST(a_link_local_address_and_its_scope_are_listened_on_and_connected_to)
{
	struct kverbs_sqe recv;
	uint32_t scope_id;

	pair = (struct pair){ .fd = dev_open(), .addr = link_local() };
	scope_id = pair.addr.scope_id;
	ring_open(&pair.ring, pair.fd, 64, 256);
	pair.listener = dev_listen(&pair.ring, &pair.addr);
	CHECK_EQ(pair.addr.scope_id, scope_id);
	pair_join(&pair, &pair.client, &pair.server);
	check_scopes(pair.client, scope_id);
	check_scopes(pair.server, scope_id);
	buf_open(&buf, pair.fd, BUF_ANON, PAGE);
	recv = sqe_recv(pair.server, buf.region, 0, 100);
	recv.user_data = 1;
	CHECK_OK(ring_put(&pair.ring, &recv));
	CHECK_DONE(ring_do(&pair.ring, sqe_send(pair.client, buf.region, 1000, 100)));
	CHECK_DONE(ring_work(&pair.ring, 1));
	CHECK(!memcmp(buf.addr, buf.addr + 1000, 100));
}

TEST(a_listener_on_any_address_takes_link_local_peers)
{
	struct kverbs_addr any = { .family = AF_INET6 };

	pair = (struct pair){ .fd = dev_open(), .addr = link_local() };
	ring_open(&pair.ring, pair.fd, 64, 256);
	pair.listener = dev_listen(&pair.ring, &any);
	pair.addr.port = any.port;
	pair_join(&pair, &pair.client, &pair.server);
	check_scopes(pair.client, pair.addr.scope_id);
	check_scopes(pair.server, pair.addr.scope_id);
}

TEST(a_link_local_address_without_scope_gives_EINVAL)
{
	struct kverbs_addr addr = link_local();

	addr.scope_id = 0;
	CHECK_ERR(try_listen(addr), EINVAL);
	CHECK_ERR(try_connect(addr), EINVAL);
}

TEST(a_scope_that_is_no_interface_is_refused)
{
	struct kverbs_addr addr = link_local();
	int ret;

	addr.scope_id = 0x7fffffff;
	ret = try_listen(addr);
	CHECK(ret == -ENODEV || ret == -EADDRNOTAVAIL);
	ret = try_connect(addr);
	CHECK(ret == -ENODEV || ret == -ENETUNREACH || ret == -EHOSTUNREACH);
}

static struct kverbs_listener *listener;

static struct kverbs_conn_opts patient(void)
{
	return (struct kverbs_conn_opts){ .sz = sizeof(struct kverbs_conn_opts),
					  .timeout_ms = test_patience_ms() };
}

static void *accept_one(void *conn)
{
	struct kverbs_conn_opts opts = patient();

	CHECK_OK(kverbs_next_request(listener, test_patience_ms(), conn));
	CHECK_OK(kverbs_accept(*(struct kverbs_conn **)conn, &opts));
	return NULL;
}

static void as_text(const struct kverbs_addr *addr, char *text, size_t size)
{
	char number[INET6_ADDRSTRLEN], name[IF_NAMESIZE];

	inet_ntop(AF_INET6, addr->addr, number, sizeof(number));
	CHECK(if_indextoname(addr->scope_id, name));
	snprintf(text, size, "%s%%%s", number, name);
}

TEST(libkverbs_takes_a_link_local_address_with_the_name_of_its_interface)
{
	struct kverbs_conn_opts opts = patient();
	struct kverbs_conn *client, *server;
	struct kverbs_addr addr = link_local();
	struct kverbs_cmd_conn_query query;
	char host[80], port[8], text[80];
	pthread_t thread;
	struct kverbs *kv;

	as_text(&addr, host, sizeof(host));
	CHECK_OK(kverbs_open(&kv, NULL));
	CHECK_OK(kverbs_listen(kv, host, "0", 0, &listener));
	snprintf(port, sizeof(port), "%u", kverbs_listener_port(listener));
	CHECK_EQ(pthread_create(&thread, NULL, accept_one, &server), 0);
	CHECK_OK(kverbs_connect(kv, host, port, &opts, &client));
	pthread_join(thread, NULL);
	CHECK_OK(kverbs_conn_query(client, &query, sizeof(query)));
	CHECK_EQ(query.out_remote.scope_id, addr.scope_id);
	CHECK(strstr(kverbs_addr_format(&query.out_remote, text, sizeof(text)), host));
	kverbs_close(kv);
}
