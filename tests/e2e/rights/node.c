// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Which users may open /dev/kverbs; a user that may needs no other right. */
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cmds.h"
#include "proc.h"

#define GROUP		4242
#define LENGTH		(2 * PAGE + 100)
#define DATA		0xdada
#define ALL_RIGHTS	(KVERBS_REMOTE_READ | KVERBS_REMOTE_WRITE | KVERBS_REMOTE_ATOMIC)

static struct stat as_loaded;
static struct pair pair;
static struct buf local, remote;
static struct kverbs_segment seg;

TEST_GROUP(before_all_tests)
{
	stat(NODE, &as_loaded);
}

static int try_open(int flags)
{
	int fd = open(NODE, flags);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

TEST(only_root_can_open_the_node_by_default)
{
	CHECK(S_ISCHR(as_loaded.st_mode));
	CHECK_EQ(as_loaded.st_mode & 07777, 0600);
	CHECK_EQ(as_loaded.st_uid, 0);
	CHECK_EQ(as_loaded.st_gid, 0);
}

TEST(a_user_without_access_to_the_node_gets_EACCES)
{
	node_give(0600, 0);
	become(SOMEBODY);
	CHECK_ERR(try_open(O_RDWR), EACCES);
	CHECK_ERR(try_open(O_RDONLY), EACCES);
	CHECK_ERR(try_open(O_WRONLY), EACCES);
}

static void open_as_member(void)
{
	const gid_t groups[] = { GROUP };

	CHECK_EQ(setgroups(ARRAY_SIZE(groups), groups), 0);
	CHECK_EQ(setgid(SOMEBODY), 0);
	CHECK_EQ(setuid(SOMEBODY), 0);
	CHECK_EQ(capabilities(), 0);
	CHECK_OK(try_open(O_RDWR));
}

static void open_as_stranger(void)
{
	become(SOMEBODY);
	CHECK_ERR(try_open(O_RDWR), EACCES);
}

TEST(only_members_of_the_nodes_group_can_open_it)
{
	node_give(0660, GROUP);
	in_child(open_as_member);
	in_child(open_as_stranger);
}

/* The old namespace is destroyed asynchronously, without notification. */
static void share_devices(const char *mode)
{
	CHECK_EQ(test_shell("timeout %d sh -c 'until rdma system set netns %s 2>/dev/null; "
			    "do sleep 0.01; done'", test_patience_ms() / 1000, mode), 0);
}

static void see_devices(int namespaces, uint32_t nr, int error, uint32_t unusable)
{
	struct kverbs_cmd_device_query query = { .size = sizeof(query) };
	struct kverbs_cmd_info info = { .size = sizeof(info) };
	int fd = dev_open();

	CHECK_EQ(unshare(namespaces), 0);
	CHECK_OK(dev_cmd(fd, KVERBS_INFO, &info));
	CHECK_EQ(info.out_nr_devices, nr);
	CHECK_ERR(dev_cmd(fd, KVERBS_DEVICE_QUERY, &query), error);
	CHECK_EQ(query.out_unusable, unusable);
}

static void see_one_device(void)
{
	see_devices(CLONE_NEWNET, 1, EMSGSIZE, KVERBS_USABLE);
}

/* Root of a user namespace has no rights in the one that owns the device's namespace. */
static void see_no_device(void)
{
	see_devices(CLONE_NEWUSER | CLONE_NEWNET, 0, ENODEV, 0);
}

static void see_the_device_of_another(void)
{
	see_devices(CLONE_NEWNET, 0, EMSGSIZE, KVERBS_UNUSABLE_NETNS);
}

TEST(a_network_namespace_sees_the_devices_that_it_may_use)
{
	in_child(see_one_device);
	share_devices("exclusive");
	in_child(see_no_device);
	share_devices("shared");
}

TEST(the_administrator_sees_the_devices_of_other_network_namespaces)
{
	share_devices("exclusive");
	in_child(see_the_device_of_another);
	share_devices("shared");
}

TEST(a_file_opened_read_only_accepts_queries_and_nothing_else)
{
	static union any_cmd cmd;
	static struct ring ring;
	int fd = open(NODE, O_RDONLY);
	size_t i;

	CHECK(fd >= 0);
	ring_open(&ring, dev_open(), 8, 32);
	for (i = 0; i < nr_commands; i++) {
		command_fill(&commands[i], &ring, &cmd);
		switch (commands[i].number) {
		case KVERBS_INFO:
		case KVERBS_DEVICE_QUERY:
			CHECK_OK(dev_cmd(fd, commands[i].number, &cmd));
			break;
		case KVERBS_CONN_QUERY:
			CHECK_ERR(dev_cmd(fd, commands[i].number, &cmd), ENOENT);
			break;
		default:
			CHECK_ERR(dev_cmd(fd, commands[i].number, &cmd), EBADF);
		}
	}
}

static void connect_unprivileged(void)
{
	become_unprivileged(64);
	pair_open(&pair);
	buf_open(&local, pair.fd, BUF_ANON, LENGTH);
	buf_open(&remote, pair.fd, BUF_SCATTERED, LENGTH);
	buf_fill(&local, 1);
	buf_poison(&remote);
}

static void export_unprivileged(void)
{
	uint32_t rights = ALL_RIGHTS;

	connect_unprivileged();
	if (dev_is_iwarp())
		rights &= ~KVERBS_REMOTE_ATOMIC;
	dev_export(pair.fd, pair.server, remote.region, 0, LENGTH, rights, &seg, NULL);
}

TEST(an_unprivileged_user_queries_module_and_devices)
{
	struct kverbs_cmd_info info = { .size = sizeof(info) };
	struct kverbs_cmd_device_query device = { .size = sizeof(device) };
	int fd;

	become_unprivileged(LIMIT);
	fd = dev_open();
	CHECK_OK(dev_cmd(fd, KVERBS_INFO, &info));
	CHECK_EQ(info.out_nr_devices, 1);
	CHECK_ERR(dev_cmd(fd, KVERBS_DEVICE_QUERY, &device), EMSGSIZE);
	CHECK(strstr(device.out_name, dev_provider()));
}

TEST(an_unprivileged_user_accepts_rejects_disconnects_and_destroys)
{
	struct kverbs_cmd_reject reject = { .size = sizeof(reject) };
	uint32_t asked;

	connect_unprivileged();
	CHECK_EQ(dev_query(pair.fd, pair.client).out_state, KVERBS_CONN_ESTABLISHED);
	asked = dev_connect(&pair.ring, &pair.addr);
	reject.conn_id = ring_event(&pair.ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	CHECK_OK(dev_cmd(pair.fd, KVERBS_REJECT, &reject));
	CHECK_EQ(ring_end_of(&pair.ring, asked).type, KVERBS_CQE_REJECTED);
	CHECK_OK(dev_disconnect(pair.fd, pair.client));
	CHECK_EQ(ring_end_of(&pair.ring, pair.client).result, 0);
	ring_end_of(&pair.ring, pair.server);
	ring_end_of(&pair.ring, reject.conn_id);
	CHECK_OK(dev_destroy(pair.fd, asked));
	CHECK_OK(dev_destroy(pair.fd, reject.conn_id));
	CHECK_OK(dev_destroy(pair.fd, pair.client));
	CHECK_OK(dev_destroy(pair.fd, pair.server));
	CHECK_OK(dev_destroy(pair.fd, pair.listener));
	CHECK_OK(dev_destroy(pair.fd, local.region));
	CHECK_OK(dev_destroy(pair.fd, pair.ring.id));
}

/* Send one operation with any of the three opcodes. */
static void send_one(uint8_t opcode)
{
	struct kverbs_sqe sqe = sqe_recv(pair.server, remote.region, 0, LENGTH);

	buf_poison(&remote);
	sqe.user_data = DATA;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	sqe = sqe_send(pair.client, local.region, 0, LENGTH);
	sqe.opcode = opcode;
	sqe.imm = opcode == KVERBS_OP_SEND_IMM ? 77 : 0;
	sqe.rkey = opcode == KVERBS_OP_SEND_INV ? seg.rkey : 0;
	CHECK_DONE(ring_do(&pair.ring, sqe));
	CHECK_DONE(ring_work(&pair.ring, DATA));
	buf_check_moved(&remote, 0, &local, 0, LENGTH);
}

TEST(an_unprivileged_user_sends_and_receives)
{
	export_unprivileged();
	send_one(KVERBS_OP_SEND);
	if (!dev_is_iwarp())
		send_one(KVERBS_OP_SEND_IMM);
	send_one(KVERBS_OP_SEND_INV);
}

TEST(an_unprivileged_user_writes_and_reads)
{
	struct buf got;

	export_unprivileged();
	buf_open(&got, pair.fd, BUF_ANON, LENGTH);
	buf_poison(&got);
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_WRITE, pair.client, local.region, 0,
						LENGTH, &seg)));
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_READ, pair.client, got.region, 0,
						LENGTH, &seg)));
	buf_check_moved(&remote, 0, &local, 0, LENGTH);
	buf_check_moved(&got, 0, &local, 0, LENGTH);
}

TEST(an_unprivileged_user_writes_with_immediate_data)
{
	struct kverbs_sqe sqe;

	if (dev_is_iwarp())
		test_skip("iWARP has no immediate data");
	export_unprivileged();
	sqe = sqe_recv(pair.server, 0, 0, 0);
	sqe.user_data = DATA;
	CHECK_OK(ring_put(&pair.ring, &sqe));
	sqe = sqe_rdma(KVERBS_OP_WRITE_IMM, pair.client, local.region, 0, LENGTH, &seg);
	sqe.imm = 77;
	CHECK_DONE(ring_do(&pair.ring, sqe));
	CHECK_EQ(ring_work(&pair.ring, DATA).imm, 77);
	buf_check_moved(&remote, 0, &local, 0, LENGTH);
}

TEST(an_unprivileged_user_adds_and_swaps)
{
	uint64_t *counter, *was;
	struct kverbs_sqe sqe;

	if (dev_is_iwarp())
		test_skip("iWARP has no atomics");
	export_unprivileged();
	counter = (uint64_t *)remote.addr;
	was = (uint64_t *)local.addr;
	*counter = 40;
	sqe = sqe_rdma(KVERBS_OP_FETCH_ADD, pair.client, local.region, 0, 8, &seg);
	sqe.operand = 2;
	CHECK_DONE(ring_do(&pair.ring, sqe));
	CHECK_EQ(*was, 40);
	sqe.opcode = KVERBS_OP_CMP_SWAP;
	sqe.operand = 42;
	sqe.swap = 7;
	CHECK_DONE(ring_do(&pair.ring, sqe));
	CHECK_EQ(*was, 42);
	CHECK_EQ(*counter, 7);
}

TEST(an_unprivileged_user_is_charged_only_for_registered_memory)
{
	static char rest[64 * PAGE] __aligned(4096);
	unsigned long pages;

	become_unprivileged(64);
	pair_open(&pair);
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
	buf_open(&local, pair.fd, BUF_ANON, LENGTH);
	buf_open(&remote, pair.fd, BUF_SCATTERED, LENGTH);
	pages = 2 * ((LENGTH + PAGE - 1) / PAGE);
	CHECK_EQ(test_status_kb(0, "VmPin"), pages * 4);
	CHECK_EQ(test_status_kb(0, "VmLck"), 0);
	dev_export(pair.fd, pair.server, remote.region, 0, LENGTH, KVERBS_REMOTE_READ, &seg,
		   NULL);
	CHECK_DONE(ring_do(&pair.ring, sqe_rdma(KVERBS_OP_READ, pair.client, local.region, 0,
						LENGTH, &seg)));
	CHECK_EQ(test_status_kb(0, "VmPin"), pages * 4);
	CHECK_ERR(dev_try_region(pair.fd, rest, (64 - pages) * PAGE + 1, 0, NULL), ENOMEM);
	CHECK_OK(dev_try_region(pair.fd, rest, (64 - pages) * PAGE, 0, NULL));
}
