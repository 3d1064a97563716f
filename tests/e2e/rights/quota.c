// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Objects of the device are charged to the rdma control group of their user. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"

#define CGROUP	"/sys/fs/cgroup"
#define GROUP	CGROUP "/quota"
/* A connection is a protection domain, a completion queue and a queue pair. */
#define CONN	3
/* Both ends of a connection of this host to itself */
#define PAIR	(2 * CONN)

static unsigned char memory[PAGE] __aligned(4096);
static struct pair pair;

static void set_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		FAIL("cannot open %s: %s", path, test_errno(errno));
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		FAIL("%s to %s: %s", text, path, test_errno(errno));
	close(fd);
}

static const char *device(void)
{
	static struct kverbs_cmd_device_query query;
	int fd = dev_open();

	query = (struct kverbs_cmd_device_query){ .size = sizeof(query) };
	CHECK_ERR(dev_cmd(fd, KVERBS_DEVICE_QUERY, &query), EMSGSIZE);
	close(fd);
	return query.out_name;
}

static void limit_objects(int max)
{
	char line[128];

	snprintf(line, sizeof(line), "%s hca_object=%d", device(), max);
	set_file(GROUP "/rdma.max", line);
}

static void make_group(int max)
{
	if (access(CGROUP "/cgroup.controllers", R_OK))
		test_skip("no control groups, version 2, here");
	set_file(CGROUP "/cgroup.subtree_control", "+rdma");
	CHECK(!mkdir(GROUP, 0755) || errno == EEXIST);
	limit_objects(max);
}

static void enter_group(void)
{
	set_file(GROUP "/cgroup.procs", "0");
}

/* Charged to the group, on the device; there is no other. */
static int objects(void)
{
	FILE *file = fopen(GROUP "/rdma.current", "r");
	int handles = -1, nr = -1;

	CHECK(file);
	CHECK_EQ(fscanf(file, "%*s hca_handle=%d hca_object=%d", &handles, &nr), 2);
	fclose(file);
	CHECK_EQ(handles, 0);
	return nr;
}

/* Once all of its processes are gone, nothing may be left. */
static void drop_group(void)
{
	CHECK_EQ(objects(), 0);
	CHECK_EQ(rmdir(GROUP), 0);
}

static int try_connect(uint32_t *id)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = pair.ring.id,
		.dst = pair.addr,
	};
	int ret = dev_cmd(pair.fd, KVERBS_CONNECT, &cmd);

	*id = cmd.out_id;
	return ret;
}

static int try_export(uint32_t *id)
{
	struct kverbs_segment seg;
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.conn_id = pair.server,
		.region_id = dev_region(pair.fd, memory, PAGE, 0),
		.access = KVERBS_REMOTE_WRITE,
		.inout_segs_len = 1,
		.length = PAGE,
		.segs_uptr = (uintptr_t)&seg,
	};
	int ret = dev_cmd(pair.fd, KVERBS_EXPORT, &cmd);

	*id = cmd.out_id;
	return ret;
}

static void open_pair(void)
{
	enter_group();
	pair_open(&pair);
}

static void listen_only(void)
{
	enter_group();
	pair = (struct pair){ .fd = dev_open(), .addr = addr_of("a", 0) };
	ring_open(&pair.ring, pair.fd, 64, 64);
	pair.listener = dev_listen(&pair.ring, &pair.addr);
}

static void count_objects(void)
{
	uint32_t export;

	open_pair();
	CHECK_EQ(objects(), PAIR);
	CHECK_OK(try_export(&export));
	CHECK_EQ(objects(), PAIR + 1);
	/* The MR is kept for the next export, and only that. */
	CHECK_OK(dev_destroy(pair.fd, export));
	CHECK_OK(try_export(&export));
	CHECK_EQ(objects(), PAIR + 1);
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	CHECK_EQ(ring_end_of(&pair.ring, pair.client).id, pair.client);
	CHECK_OK(dev_destroy(pair.fd, pair.client));
	CHECK_EQ(objects(), 0);
}

TEST(connections_and_memory_regions_are_charged_to_the_control_group)
{
	make_group(100);
	in_child(count_objects);
	drop_group();
}

/* The group has the protection domain of its connection. */
static void count_objects_of_a_group(void)
{
	listen_only();
	pair.group = dev_group(pair.fd);
	CHECK_EQ(objects(), 1);
	pair_join(&pair, &pair.client, &pair.server);
	CHECK_EQ(objects(), PAIR);
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	CHECK_EQ(ring_end_of(&pair.ring, pair.client).id, pair.client);
	CHECK_OK(dev_destroy(pair.fd, pair.client));
	CHECK_EQ(objects(), 1);
	CHECK_OK(dev_destroy(pair.fd, pair.group));
	CHECK_EQ(objects(), 0);
}

TEST(groups_are_charged_to_the_control_group_for_their_connections)
{
	make_group(PAIR);
	in_child(count_objects_of_a_group);
	drop_group();
}

static void create_beyond(void)
{
	struct kverbs_cmd_group_create cmd = { .size = sizeof(cmd) };

	open_pair();
	cmd.device_index = dev_device_index(pair.fd);
	CHECK_ERR(dev_cmd(pair.fd, KVERBS_GROUP_CREATE, &cmd), EDQUOT);
	CHECK_EQ(objects(), PAIR);
}

TEST(GROUP_CREATE_beyond_the_limit_of_the_control_group_gives_EDQUOT)
{
	make_group(PAIR);
	in_child(create_beyond);
	drop_group();
}

static void connect_beyond(void)
{
	uint32_t id;

	open_pair();
	CHECK_ERR(try_connect(&id), EDQUOT);
	CHECK_EQ(objects(), PAIR);
	CHECK_OK(dev_destroy(pair.fd, pair.client));
	CHECK_EQ(ring_end_of(&pair.ring, pair.server).id, pair.server);
	CHECK_OK(try_connect(&id));
	CHECK_EQ(objects(), CONN);
}

TEST(CONNECT_beyond_the_limit_of_the_control_group_gives_EDQUOT)
{
	make_group(PAIR + CONN - 1);
	in_child(connect_beyond);
	drop_group();
}

static void accept_beyond(void)
{
	uint32_t client, server;

	listen_only();
	CHECK_OK(try_connect(&client));
	server = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_EQ(objects(), CONN);
	CHECK_ERR(dev_accept(&pair.ring, server, NULL), EDQUOT);
	CHECK_EQ(ring_end_of(&pair.ring, server).result, -EDQUOT);
	CHECK_EQ(ring_end_of(&pair.ring, client).id, client);
	CHECK_EQ(objects(), 0);
}

TEST(ACCEPT_beyond_the_limit_of_the_control_group_gives_EDQUOT)
{
	make_group(PAIR - 1);
	in_child(accept_beyond);
	drop_group();
}

static void export_beyond(void)
{
	uint32_t export;

	open_pair();
	CHECK_ERR(try_export(&export), EDQUOT);
	CHECK_EQ(objects(), PAIR);
	CHECK_EQ(dev_query(pair.fd, pair.server).out_state, KVERBS_CONN_ESTABLISHED);
	limit_objects(PAIR + 1);
	CHECK_OK(try_export(&export));
}

TEST(EXPORT_beyond_the_limit_of_the_control_group_gives_EDQUOT)
{
	make_group(PAIR);
	in_child(export_beyond);
	drop_group();
}

/* Two pages that are one, so no device has them as neighbours. */
static void *doubled_page(void)
{
	char *two = mmap(NULL, 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int i, fd = memfd_create("page", 0);

	CHECK(two != MAP_FAILED && fd >= 0);
	CHECK_EQ(ftruncate(fd, PAGE), 0);
	for (i = 0; i < 2; i++)
		CHECK(mmap(two + i * PAGE, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
			   fd, 0) != MAP_FAILED);
	close(fd);
	return two;
}

static uint32_t connect_in_one_piece(void)
{
	struct kverbs_conn_param param = { .max_sge = 1 };
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = pair.ring.id,
		.dst = pair.addr,
		.param_uptr = (uintptr_t)&param,
		.param_size = sizeof(param),
	};

	CHECK_OK(dev_cmd(pair.fd, KVERBS_CONNECT, &cmd));
	return cmd.out_id;
}

/* A receive in two pieces is registered when the connection is up, which no task waits for. */
static void receive_early(uint32_t *client, struct kverbs_sqe *recv)
{
	uint32_t server, region;
	struct kverbs_sqe send;

	listen_only();
	*client = connect_in_one_piece();
	region = dev_region(pair.fd, doubled_page(), 2 * PAGE, 0);
	*recv = sqe_recv(*client, region, 0, 2 * PAGE);
	recv->user_data = 1;
	CHECK_OK(ring_put(&pair.ring, recv));
	server = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_OK(dev_accept(&pair.ring, server, NULL));
	CHECK_EQ(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, server).result, 0);
	CHECK_EQ(ring_event(&pair.ring, KVERBS_CQE_ESTABLISHED, *client).result, 0);
	send = sqe_send(server, dev_region(pair.fd, memory, PAGE, 0), 0, PAGE);
	send.user_data = 2;
	CHECK_EQ(ring_do(&pair.ring, send).result, 0);
	CHECK_EQ(ring_work(&pair.ring, 1).result, 0);
}

static void pay_for_an_early_receive(void)
{
	struct kverbs_sqe recv;
	uint32_t client;

	receive_early(&client, &recv);
	CHECK_OK(ring_put(&pair.ring, &recv));
	CHECK_EQ(objects(), PAIR + 1);
}

TEST(registration_for_an_early_receive_is_charged_when_it_is_used_again)
{
	make_group(100);
	in_child(pay_for_an_early_receive);
	drop_group();
}

static void receive_beyond(void)
{
	struct kverbs_sqe recv;
	uint32_t client;

	receive_early(&client, &recv);
	CHECK_ERR(ring_put(&pair.ring, &recv), EDQUOT);
	CHECK_EQ(dev_query(pair.fd, client).out_state, KVERBS_CONN_ESTABLISHED);
	limit_objects(PAIR + 1);
	CHECK_OK(ring_put(&pair.ring, &recv));
}

TEST(RECV_beyond_the_limit_of_the_control_group_gives_EDQUOT)
{
	make_group(PAIR);
	in_child(receive_beyond);
	drop_group();
}

static void connect_nowhere(void)
{
	struct kverbs_addr nobody = addr_of("a", 1);
	uint32_t id;

	listen_only();
	pair.addr = nobody;
	CHECK_OK(try_connect(&id));
	CHECK_EQ(ring_end_of(&pair.ring, id).result, -ECONNREFUSED);
	CHECK_EQ(objects(), 0);
}

TEST(a_connection_that_failed_is_not_charged)
{
	make_group(CONN);
	in_child(connect_nowhere);
	drop_group();
}

static void die_connected(void)
{
	uint32_t export;

	open_pair();
	CHECK_OK(try_export(&export));
	raise(SIGKILL);
}

TEST(what_a_killed_process_was_charged_for_is_given_back)
{
	int pid, status;

	make_group(100);
	pid = fork();
	CHECK(pid >= 0);
	if (!pid)
		die_connected();
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	drop_group();
}

/* Charged where the process was, and given back there. */
static void move_out(void)
{
	open_pair();
	set_file(CGROUP "/cgroup.procs", "0");
	CHECK_EQ(objects(), PAIR);
	close(pair.fd);
	ring_unmap(&pair.ring);
	CHECK_EQ(objects(), 0);
}

TEST(a_process_that_leaves_the_control_group_leaves_the_charge_there)
{
	make_group(100);
	in_child(move_out);
	drop_group();
}
