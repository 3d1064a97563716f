// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A process in a control group whose memory limit is far below its demand. */
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "peer.h"

#define CGROUP	"/sys/fs/cgroup"
#define GROUP	CGROUP "/abuse"
#define LENGTH	(16 * 4096UL)
static struct link outside, inside;
static int memory_fd;

/* Read a field of /proc/vmstat. */
static long host_count(const char *name)
{
	FILE *file = fopen("/proc/vmstat", "r");
	char word[64];
	long value, found = -1;

	CHECK(file);
	while (fscanf(file, "%63s %ld", word, &value) == 2)
		if (!strcmp(word, name))
			found = value;
	fclose(file);
	CHECK(found >= 0);
	return found;
}

static void set_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);

	if (fd < 0)
		FAIL("cannot open %s: %s", path, test_errno(errno));
	if (write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		FAIL("%s to %s: %s", text, path, test_errno(errno));
	close(fd);
}

static void make_group(void)
{
	if (access(CGROUP "/cgroup.controllers", R_OK))
		test_skip("no control groups, version 2, here");
	set_file(CGROUP "/cgroup.subtree_control", "+memory");
	CHECK(!mkdir(GROUP, 0755) || errno == EEXIST);
}

static void drop_group(void)
{
	CHECK_EQ(rmdir(GROUP), 0);
}

/* Read a counter of memory.events. */
static long times(const char *name)
{
	FILE *file = fopen(GROUP "/memory.events", "r");
	char word[32];
	long count, found = -1;

	CHECK(file);
	while (fscanf(file, "%31s %ld", word, &count) == 2)
		if (!strcmp(word, name))
			found = count;
	fclose(file);
	CHECK(found >= 0);
	return found;
}

/* Register fresh (faulted-in) pages until that fails or the process is killed; 0 or -errno. */
static int register_more(void)
{
	void *memory = mmap(NULL, LENGTH, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (memory == MAP_FAILED)
		return -errno;
	return dev_try_region(memory_fd, memory, LENGTH, 0, NULL);
}

static int export_more(void)
{
	struct kverbs_segment seg;
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.conn_id = inside.server.conn,
		.region_id = inside.server.region,
		.access = KVERBS_REMOTE_WRITE,
		.inout_segs_len = 1,
		.length = SIZE,
		.segs_uptr = (uintptr_t)&seg,
	};

	return dev_cmd(inside.server.ring.fd, KVERBS_EXPORT, &cmd);
}

static int make_more_rings(void)
{
	struct kverbs_cmd_ring_create cmd = {
		.size = sizeof(cmd),
		.sq_entries = 64,
		.cq_entries = 256,
	};

	return dev_cmd(memory_fd, KVERBS_RING_CREATE, &cmd);
}

static int connect_more(void)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = inside.client.ring.id,
		.dst = inside.addr,
	};

	return dev_cmd(inside.client.ring.fd, KVERBS_CONNECT, &cmd);
}

static int open_more(void)
{
	int fd = open("/dev/kverbs", O_RDWR);
	struct kverbs_cmd_ring_create cmd = {
		.size = sizeof(cmd),
		.sq_entries = 1024,
		.cq_entries = 4096,
	};

	return fd < 0 ? -errno : dev_cmd(fd, KVERBS_RING_CREATE, &cmd);
}

/**
 * struct greed - a resource that the process exhausts
 * @name: name of the test
 * @more: allocates more of it
 * @limit: memory.max
 */
static const struct greed {
	const char *name;
	int (*more)(void);
	const char *limit;
} greeds[] = {
	{ "registering", register_more, "3M" },
	{ "exporting", export_more, "1M" },
	{ "making rings", make_more_rings, "1M" },
	{ "opening files", open_more, "2M" },
	{ "connecting", connect_more, "400K" },
};

static const struct greed *greed;

/* Memory from before the process joined the group stays charged to the old group. */
static void be_greedy(void)
{
	char self[16];
	int ret;

	link_open(&inside);
	memory_fd = dev_open();
	snprintf(self, sizeof(self), "%d", getpid());
	set_file(GROUP "/cgroup.procs", self);
	child_ready();
	do {
		ret = greed->more();
	} while (!ret);
	if (ret != -EAGAIN && ret != -EMFILE)
		CHECK_ERR(ret, ENOMEM);
}

static void write_outside(void)
{
	CHECK_DONE(ring_do(&outside.client.ring,
			   sqe_rdma(KVERBS_OP_WRITE, outside.client.conn,
				    outside.client.region, 0, SIZE, &outside.seg)));
}

/*
 * The OOM killer may kill this process, but no other one, in the group or elsewhere. Other
 * processes are served during and after that.
 */
static void more_than_there_is_memory(const void *arg)
{
	long before = host_count("oom_kill"), killed;
	int status, pid;

	greed = arg;
	make_group();
	set_file(GROUP "/memory.max", greed->limit);
	link_open(&outside);
	link_export(&outside, KVERBS_REMOTE_WRITE);
	pid = child_start(be_greedy);
	while (!waitpid(pid, &status, WNOHANG))
		write_outside();
	killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
	if (!killed)
		CHECK_EQ(status, 0);
	CHECK_EQ(times("oom_kill"), killed);
	CHECK_EQ(host_count("oom_kill") - before, killed);
	CHECK(times("max") > 0);
	write_outside();
	drop_group();
}

TEST_GROUP(greedy)
{
	char name[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(greeds); i++) {
		snprintf(name, sizeof(name),
			 "%s with too little memory harms nobody else", greeds[i].name);
		test_add(name, more_than_there_is_memory, &greeds[i]);
	}
}

#define REQUESTS	1024
/* Less than the kernel allocates for each, since charges are rounded up for each CPU */
#define REQUEST_SIZE	1536

/* Memory that is charged to the group, in bytes. */
static long charged(void)
{
	FILE *file = fopen(GROUP "/memory.current", "r");
	long bytes = -1;

	CHECK(file);
	CHECK_EQ(fscanf(file, "%ld", &bytes), 1);
	fclose(file);
	return bytes;
}

/*
 * An MPA request (RFC 5044, 7.1.1) without private data, from a peer that leaves when the
 * request has arrived. A DESTROY on this host would wait for the answer, with siw 10 seconds.
 */
static void request_by_tcp(struct ring *ring, const struct kverbs_addr *addr)
{
	static const char mpa[20] = "MPA ID Req Frame\x00\x01";
	static const struct linger reset = { .l_onoff = 1 };
	struct sockaddr_in sin = { .sin_family = AF_INET, .sin_port = addr->port };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK(fd >= 0);
	/* A reset leaves no TIME_WAIT, a thousand of which would stay for the tests after this. */
	CHECK_EQ(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
	memcpy(&sin.sin_addr, addr->addr, sizeof(sin.sin_addr));
	CHECK_EQ(connect(fd, (struct sockaddr *)&sin, sizeof(sin)), 0);
	CHECK_EQ(write(fd, mpa, sizeof(mpa)), sizeof(mpa));
	ring_event(ring, KVERBS_CQE_CONN_REQUEST, 0);
	CHECK_EQ(close(fd), 0);
}

static void request_by_cm(struct ring *ring, const struct kverbs_addr *addr)
{
	uint32_t conn = dev_connect(&outside.client.ring, addr);

	ring_event(ring, KVERBS_CQE_CONN_REQUEST, 0);
	CHECK_OK(dev_destroy(outside.client.ring.fd, conn));
}

static void listen_inside(void)
{
	struct kverbs_cmd_listen cmd = {
		.size = sizeof(cmd),
		.inout_addr = addr_of("a", 0),
		.backlog = REQUESTS,
	};
	struct ring ring;
	char self[16];
	long before;
	int i;

	snprintf(self, sizeof(self), "%d", getpid());
	set_file(GROUP "/cgroup.procs", self);
	ring_open(&ring, dev_open(), 4, 8 * REQUESTS);
	cmd.ring_id = ring.id;
	CHECK_OK(dev_cmd(ring.fd, KVERBS_LISTEN, &cmd));
	before = charged();
	for (i = 0; i < REQUESTS; i++) {
		if (dev_is_iwarp())
			request_by_tcp(&ring, &cmd.inout_addr);
		else
			request_by_cm(&ring, &cmd.inout_addr);
	}
	CHECK(charged() - before >= REQUESTS * REQUEST_SIZE);
}

/* The requesting ends, which are charged to the group, too, are destroyed one by one. */
TEST(requests_of_peers_are_charged_to_the_group_of_the_listener)
{
	int status, pid;

	make_group();
	set_file(GROUP "/memory.max", "max");
	side_open(&outside.client);
	pid = child_fork(listen_inside);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
	drop_group();
}
