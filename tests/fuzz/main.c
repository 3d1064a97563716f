// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Generations of threads and children that share a file of /dev/kverbs and do to it
 * what comes to mind. The kernel's log is the judge. A generation ends by itself, or
 * is killed, and leaves everything open.
 */
#include <errno.h>
#include <getopt.h>
#include <netdb.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "world.h"

#define THREADS		4
#define STEPS		1500
/* A command may wait for ever, rightly; then the generation is killed. */
#define GENERATION_SECONDS	20
/* One that cannot be killed hangs. */
#define HANG_SECONDS	120
#define NOBODY		65534

/**
 * fuzz_step() - do one thing
 * @f: the thread
 */
void fuzz_step(struct fuzzer *f)
{
	struct pollfd look = { .fd = f->world->fd, .events = POLLIN };

	if (!f->user || rng_once_in(&f->rng, 200)) {
		ring_make(f);
		cmds_begin(f);
	}
	switch (rng_below(&f->rng, 32)) {
	case 0:
		if (rng_once_in(&f->rng, 2))
			ring_scribble(f);
		break;
	case 1:
		cmds_garbage(f);
		break;
	case 2 ... 3:
		memory_disturb(f);
		break;
	case 4:
		poll(&look, 1, rng_below(&f->rng, 3));
		break;
	case 5 ... 14:
		cmds_any(f);
		break;
	default:
		ring_fill_and_submit(f);
		ring_reap(f);
	}
}

static void *run_thread(void *arg)
{
	struct fuzzer *f = arg;
	unsigned int i;

	for (i = 0; i < STEPS && !__atomic_load_n(&f->world->stop, __ATOMIC_RELAXED); i++)
		fuzz_step(f);
	return NULL;
}

/* A child has the file, but none of the rings' mappings. */
static pid_t fork_child(struct world *world, struct rng rng)
{
	struct fuzzer f = { .world = world, .rng = rng };
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run_thread(&f);
	_exit(0);
}

/* Half of all generations are an ordinary user with little to lock. */
static void drop_rights(struct rng *rng)
{
	rlim_t bytes = rng_below(rng, 16) << 20;
	struct rlimit limit = { bytes, bytes };

	if (rng_once_in(rng, 2))
		return;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(NOBODY) || setuid(NOBODY))
		abort();
}

static void run_generation(struct counts *counts, const struct kverbs_addr *addr,
			   struct rng rng)
{
	struct world *world = world_create(counts, addr);
	struct fuzzer fuzzers[THREADS];
	pthread_t threads[THREADS];
	unsigned int i;

	drop_rights(&rng);
	if (rng_once_in(&rng, 2))
		fork_child(world, rng_split(&rng, THREADS));
	for (i = 0; i < THREADS; i++) {
		fuzzers[i] = (struct fuzzer){ .world = world, .rng = rng_split(&rng, i) };
		if (pthread_create(&threads[i], NULL, run_thread, &fuzzers[i]))
			abort();
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	/* The rest goes with the process, whatever state it is in. */
	_exit(0);
}

static int wait_child(pid_t pid, int timeout_ms)
{
	int fd = syscall(SYS_pidfd_open, pid, 0);
	struct pollfd ended = { .fd = fd, .events = POLLIN };
	int nr = poll(&ended, 1, timeout_ms);

	close(fd);
	if (nr == 1)
		waitpid(pid, NULL, 0);
	return nr == 1 ? 0 : -ETIMEDOUT;
}

/* Every third is killed in the middle of it. */
static int judge_generation(pid_t pid, struct rng *rng)
{
	int patience = rng_once_in(rng, 3) ? rng_below(rng, 3000) : GENERATION_SECONDS * 1000;

	if (!wait_child(pid, patience))
		return 0;
	kill(pid, SIGKILL);
	return wait_child(pid, HANG_SECONDS * 1000);
}

static int fuzz(struct counts *counts, const struct kverbs_addr *addr, uint64_t seed,
		time_t end)
{
	struct rng rng = { seed };
	pid_t pid;
	int ret;

	while (time(NULL) < end) {
		struct rng generation = rng_split(&rng, 0);

		pid = fork();
		if (!pid)
			run_generation(counts, addr, generation);
		ret = judge_generation(pid, &rng);
		if (ret) {
			printf("generation %llu of seed %llu hangs\n",
			       (unsigned long long)counts->generations,
			       (unsigned long long)seed);
			return 1;
		}
		counts->generations++;
	}
	return 0;
}

static const char *const names[COMMANDS] = {
	"INFO", "DEVICE_QUERY", "RING_CREATE", "SUBMIT", "REGION_CREATE", "LISTEN", "CONNECT",
	"ACCEPT", "REJECT", "DISCONNECT", "CONN_QUERY", "EXPORT", "DESTROY", "(none)",
};

static void print_counts(const struct counts *counts)
{
	uint64_t sum, all = 0;
	unsigned int i, err;

	for (i = 0; i < COMMANDS; i++) {
		for (sum = 0, err = 0; err < ERRNOS; err++)
			sum += counts->results[i][err];
		all += sum;
		printf("%-14s %9llu:", names[i], (unsigned long long)sum);
		for (err = 0; err < ERRNOS; err++)
			if (counts->results[i][err])
				printf(" %s %llu", err ? strerrorname_np(err) : "ok",
				       (unsigned long long)counts->results[i][err]);
		printf("\n");
	}
	printf("%llu generations, %llu commands, %llu entries taken, %llu completions\n",
	       (unsigned long long)counts->generations, (unsigned long long)all,
	       (unsigned long long)counts->submissions,
	       (unsigned long long)counts->completions);
}

static struct kverbs_addr find_address(const char *host)
{
	struct addrinfo hints = { .ai_family = AF_INET }, *info;
	struct kverbs_addr addr = { .family = AF_INET };

	if (getaddrinfo(host, NULL, &hints, &info)) {
		fprintf(stderr, "fuzz: no address for %s\n", host);
		exit(2);
	}
	memcpy(addr.addr, &((struct sockaddr_in *)info->ai_addr)->sin_addr, 4);
	freeaddrinfo(info);
	return addr;
}

static int show_usage(int status)
{
	fprintf(status ? stderr : stdout,
		"usage: fuzz [--seconds N] [--seed N] HOST\n\n"
		"Do anything to /dev/kverbs for N seconds (default 60). HOST is an address of\n"
		"this host on an RDMA device. The same seed makes the same choices, though\n"
		"threads do not meet again as they did. Exit status: 0 nothing hung, 1 something\n"
		"did, 2 usage. Watch the kernel's log.\n");
	return status;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};
	struct counts *counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	uint64_t seed = time(NULL), seconds = 60;
	struct kverbs_addr addr;
	int c, ret;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (c == 's')
			seconds = strtoull(optarg, NULL, 0);
		else if (c == 'S')
			seed = strtoull(optarg, NULL, 0);
		else
			return show_usage(c == 'h' ? 0 : 2);
	}
	if (optind + 1 != argc)
		return show_usage(2);
	addr = find_address(argv[optind]);
	printf("seed %llu\n", (unsigned long long)seed);
	fflush(stdout);
	ret = fuzz(counts, &addr, seed, time(NULL) + seconds);
	print_counts(counts);
	return ret;
}
