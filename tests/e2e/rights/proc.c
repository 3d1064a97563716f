// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Processes of several users, and leak checks after they have exited. */
#include <grp.h>
#include <linux/capability.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "proc.h"

/**
 * struct order - order to a process
 * @run: function to run
 * @arg: its argument
 */
struct order {
	order_fn run;
	long arg;
};

void node_give(mode_t mode, gid_t group)
{
	CHECK_EQ(chown(NODE, 0, group), 0);
	CHECK_EQ(chmod(NODE, mode), 0);
}

void limit_to(unsigned long bytes)
{
	struct rlimit limit = { bytes, bytes };

	CHECK_EQ(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
}

/* Become a user with only its own group and no capability. */
void become(uid_t uid)
{
	CHECK_EQ(setgroups(0, NULL), 0);
	CHECK_EQ(setgid(uid), 0);
	CHECK_EQ(setuid(uid), 0);
}

static void set_capabilities(unsigned int low)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2] = { { .effective = low, .permitted = low } };

	CHECK_EQ(syscall(SYS_capset, &header, data), 0);
}

/* Become a user with CAP_IPC_LOCK and no other capability. */
void become_locker(uid_t uid)
{
	CHECK_EQ(prctl(PR_SET_KEEPCAPS, 1), 0);
	become(uid);
	set_capabilities(1U << CAP_IPC_LOCK);
}

void drop_capabilities(void)
{
	set_capabilities(0);
}

/* Become a user that may open the device node and has no other right. */
void become_unprivileged(unsigned long pages)
{
	node_give(0666, 0);
	limit_to(pages * PAGE);
	become(SOMEBODY);
	CHECK_EQ(capabilities(), 0);
}

unsigned long long capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct data[2];

	CHECK_EQ(syscall(SYS_capget, &header, data), 0);
	return (unsigned long long)data[1].effective << 32 | data[0].effective;
}

void child_join(int pid)
{
	int status;

	CHECK_EQ(waitpid(pid, &status, 0), pid);
	CHECK_EQ(status, 0);
}

void in_child(void (*run)(void))
{
	int pid = fork();

	CHECK(pid >= 0);
	if (!pid) {
		run();
		_exit(0);
	}
	child_join(pid);
}

static void __noreturn obey(int sock)
{
	struct order order;
	long answer;

	while (read(sock, &order, sizeof(order)) == sizeof(order)) {
		answer = order.run(order.arg);
		CHECK_EQ(write(sock, &answer, sizeof(answer)), sizeof(answer));
	}
	_exit(0);
}

/* A process of root has all rights. */
void proc_start(struct proc *proc, uid_t uid, unsigned long pages)
{
	int socks[2];

	CHECK_EQ(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, socks), 0);
	proc->sock = socks[0];
	proc->pid = fork();
	CHECK(proc->pid >= 0);
	if (!proc->pid) {
		close(socks[0]);
		limit_to(pages * PAGE);
		if (uid)
			become(uid);
		obey(socks[1]);
	}
	close(socks[1]);
}

void proc_tell(struct proc *proc, order_fn order, long arg)
{
	struct order what = { .run = order, .arg = arg };

	CHECK_EQ(write(proc->sock, &what, sizeof(what)), sizeof(what));
}

long proc_answer(struct proc *proc)
{
	long answer;

	if (read(proc->sock, &answer, sizeof(answer)) != sizeof(answer))
		FAIL("process %d has ended", proc->pid);
	return answer;
}

long proc_ask(struct proc *proc, order_fn order, long arg)
{
	proc_tell(proc, order, arg);
	return proc_answer(proc);
}

void proc_kill(struct proc *proc)
{
	int status;

	CHECK_EQ(kill(proc->pid, SIGKILL), 0);
	CHECK_EQ(waitpid(proc->pid, &status, 0), proc->pid);
	CHECK(WIFSIGNALED(status));
	close(proc->sock);
}

static void check_limit_of(uid_t uid)
{
	char *memory = mmap(NULL, LIMIT * PAGE, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = dev_open();

	CHECK(memory != MAP_FAILED);
	limit_to(LIMIT * PAGE);
	become(uid);
	CHECK_OK(dev_try_region(fd, memory, LIMIT * PAGE, 0, NULL));
	CHECK_ERR(dev_try_region(fd, memory, 1, 0, NULL), ENOMEM);
}

static void somebody_has_nothing_locked(void)
{
	check_limit_of(SOMEBODY);
}

static void somebody_else_has_nothing_locked(void)
{
	check_limit_of(SOMEBODY_ELSE);
}

/* Too little uncharged shows as a lower limit, too much as no limit at all. */
static void check_nothing_is_left(const void *arg)
{
	(void)arg;
	node_give(0600, 0);
	in_child(somebody_has_nothing_locked);
	in_child(somebody_else_has_nothing_locked);
}

TEST_GROUP(after_all_tests)
{
	test_after_each(check_nothing_is_left);
}
