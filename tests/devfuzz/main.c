// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Generations of threads and children that share a file of /dev/kverbs and run random operations on
 * it. Success is judged by the kernel log. A generation exits on its own or is killed, and leaves
 * everything open.
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
#include <sys/time.h>
#include <sys/wait.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "life.h"
#include "world.h"

#define THREADS		4
#define STEPS		800
/* Interval of signals: a command may rightly wait for ever without one */
#define SIGNAL_MS		20
/* A generation that lives longer than all of its steps take is killed */
#define GENERATION_SECONDS	60
/* Every third generation is killed within this time */
#define SHORT_LIFE_SECONDS	15
/* Concurrent generations, since each waits more than it works */
#define WORLDS		4
#define NOBODY		65534

/**
 * struct plan - what to run
 * @seconds: how long
 * @seed: seed of all random choices
 * @first: first generation
 */
struct plan {
	uint64_t seconds;
	uint64_t seed;
	uint64_t first;
};

/**
 * struct birth - initial state of a generation
 * @nr: its number
 * @rng: its random generator
 * @patience: how long it may live, ms
 */
struct birth {
	unsigned int nr;
	struct rng rng;
	int patience;
};

static void disturb(struct fuzzer *f)
{
	struct pollfd look = { .fd = f->world->fd, .events = POLLIN };

	switch (rng_below(&f->rng, 16)) {
	case 0:
		ring_scribble(f);
		break;
	case 1 ... 3:
		cmds_garbage(f);
		break;
	case 4 ... 5:
		poll(&look, 1, rng_below(&f->rng, 3));
		break;
	default:
		memory_disturb(f);
	}
}

/* Run one random step. */
static void step(struct fuzzer *f)
{
	if (!f->user || rng_once_in(&f->rng, 400)) {
		ring_make(f);
		cmds_begin(f);
	}
	switch (rng_below(&f->rng, 16)) {
	case 0:
		disturb(f);
		break;
	case 1 ... 2:
		cmds_any(f);
		break;
	default:
		ring_submit(f);
		ring_reap(f);
	}
}

static void on_signal(int signal)
{
	(void)signal;
}

/* From now on signals interrupt the waiting threads of this process one after the other. */
static void be_interrupted(void)
{
	const struct sigaction action = { .sa_handler = on_signal };
	const struct timeval often = { .tv_usec = SIGNAL_MS * 1000 };
	const struct itimerval timer = { often, often };

	if (sigaction(SIGALRM, &action, NULL) || setitimer(ITIMER_REAL, &timer, NULL))
		abort();
}

static void run(struct fuzzer *f)
{
	unsigned int i;

	for (i = 0; i < STEPS && !__atomic_load_n(&f->world->stop, __ATOMIC_RELAXED); i++)
		step(f);
}

/*
 * All stacks are mapped before the first thread unmaps a part of an arena: a stack in its place
 * would be overwritten as the arena is.
 */
static pthread_barrier_t all_threads;

static void *run_thread(void *arg)
{
	pthread_barrier_wait(&all_threads);
	run(arg);
	return NULL;
}

/* The child inherits the file, but none of the rings' mappings. */
static pid_t fork_child(struct world *world, struct rng rng)
{
	struct fuzzer f = { .world = world, .rng = rng, .first = THREADS * OWN_LINKS };
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	be_interrupted();
	run(&f);
	_exit(0);
}

/* Half of all generations run as an unprivileged user with a small memlock limit. */
static void drop_rights(struct rng *rng)
{
	rlim_t bytes = rng_below(rng, 32) << 20;
	struct rlimit limit = { bytes, bytes };

	if (rng_once_in(rng, 2))
		return;
	if (setrlimit(RLIMIT_MEMLOCK, &limit) || setgid(NOBODY) || setuid(NOBODY))
		abort();
}

static void run_threads(struct world *world, struct rng rng)
{
	struct fuzzer fuzzers[THREADS];
	pthread_t threads[THREADS];
	sigset_t signals;
	unsigned int i;

	if (pthread_barrier_init(&all_threads, NULL, THREADS))
		abort();
	for (i = 0; i < THREADS; i++) {
		fuzzers[i] = (struct fuzzer){
			.world = world,
			.rng = rng_split(&rng, i),
			.first = i * OWN_LINKS,
		};
		if (pthread_create(&threads[i], NULL, run_thread, &fuzzers[i]))
			abort();
	}
	/* The other threads handle signals. */
	sigfillset(&signals);
	pthread_sigmask(SIG_BLOCK, &signals, NULL);
	for (i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void run_generation(struct counts *counts, const struct kverbs_addr *addr,
			   struct rng rng)
{
	struct world *world = world_create(counts, addr);

	drop_rights(&rng);
	if (rng_once_in(&rng, 2))
		fork_child(world, rng_split(&rng, THREADS));
	be_interrupted();
	run_threads(world, rng);
	/* The kernel cleans up the rest on exit, whatever its state. */
	_exit(0);
}

/* Every third generation is killed at a random moment. */
static int choose_patience(struct rng *rng)
{
	if (rng_once_in(rng, 3))
		return rng_below(rng, SHORT_LIFE_SECONDS * 1000);
	return GENERATION_SECONDS * 1000;
}

/* Write the generation to the kernel log and console, to identify it after a crash. */
static void announce(unsigned int generation, uint64_t seed)
{
	FILE *kmsg = fopen("/dev/kmsg", "w");

	if (!kmsg)
		return;
	fprintf(kmsg, "<3>fuzz: generation %u of seed %llu\n", generation,
		(unsigned long long)seed);
	fclose(kmsg);
}

static void begin(struct life *life, struct counts *counts, const struct kverbs_addr *addr,
		  struct birth birth, int64_t most)
{
	pid_t pid = fork();

	if (!pid)
		run_generation(counts, addr, birth.rng);
	life_begin(life, birth.nr, pid, birth.patience < most ? birth.patience : most);
}

/* Derive the next generation; all choices follow from the seed. */
static struct birth next_birth(struct rng *rng, const struct plan *plan, unsigned int *nr)
{
	struct birth birth;

	do {
		birth.rng = rng_split(rng, 0);
		birth.patience = choose_patience(rng);
		birth.nr = (*nr)++;
	} while (birth.nr < plan->first);
	announce(birth.nr, plan->seed);
	return birth;
}

static int count_life(struct counts *counts, const struct life *life, enum fate fate,
		      const struct plan *plan)
{
	if (fate == HANGS) {
		printf("generation %u of seed %llu hangs\n", life->nr,
		       (unsigned long long)plan->seed);
		return 1;
	}
	counts->generations++;
	counts->killed += fate == KILLED;
	if (counts->dying < (uint64_t)life->dying)
		counts->dying = life->dying;
	return 0;
}

static int fuzz(struct counts *counts, const struct kverbs_addr *addr,
		const struct plan *plan)
{
	int64_t end = life_now() + 1000 * (int64_t)plan->seconds;
	struct life lives[WORLDS] = {}, *life;
	struct rng rng = { plan->seed };
	unsigned int alive = 0, nr = 0;
	enum fate fate;

	for (;;) {
		while (alive < WORLDS && life_now() < end)
			begin(&lives[alive++], counts, addr, next_birth(&rng, plan, &nr),
			      end - life_now());
		if (!alive)
			return 0;
		life = life_await(lives, WORLDS, &fate);
		if (count_life(counts, life, fate, plan))
			return 1;
		/* The slots in use are the first ones. */
		*life = lives[--alive];
		lives[alive].pid = 0;
	}
}

/* Children of generations, which share their files, are killed with them but end a little later. */
static void await_orphans(void)
{
	while (waitpid(-1, NULL, 0) > 0 || errno == EINTR)
		;
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
		"usage: fuzz [--seconds N] [--seed N] [--generation N] HOST\n\n"
		"Do anything to /dev/kverbs for N seconds (default 60), beginning with generation\n"
		"N (default 0) of those that the seed gives. HOST is an address of this host on\n"
		"an RDMA device. A seed gives the same generations, and every thread the same\n"
		"random numbers; what it does with them depends on what the kernel answered, and\n"
		"threads do not meet again as they did. Exit status: 0 nothing hung, 1 something\n"
		"did, 2 usage. Watch the kernel's log.\n");
	return status;
}

/* Returns false for invalid arguments or a request for help: then *c is 'h'. */
static bool read_options(int argc, char **argv, struct plan *plan, int *c)
{
	static const struct option options[] = {
		{ "seconds", required_argument, NULL, 's' },
		{ "seed", required_argument, NULL, 'S' },
		{ "generation", required_argument, NULL, 'g' },
		{ "help", no_argument, NULL, 'h' },
		{}
	};

	while ((*c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		if (*c == 's')
			plan->seconds = strtoull(optarg, NULL, 0);
		else if (*c == 'S')
			plan->seed = strtoull(optarg, NULL, 0);
		else if (*c == 'g')
			plan->first = strtoull(optarg, NULL, 0);
		else
			return false;
	}
	return optind + 1 == argc;
}

int main(int argc, char **argv)
{
	struct counts *counts = mmap(NULL, sizeof(*counts), PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	struct plan plan = { .seconds = 60, .seed = time(NULL) };
	struct kverbs_addr addr;
	int c, ret;

	if (!read_options(argc, argv, &plan, &c))
		return show_usage(c == 'h' ? 0 : 2);
	addr = find_address(argv[optind]);
	printf("seed %llu\n", (unsigned long long)plan.seed);
	fflush(stdout);
	prctl(PR_SET_CHILD_SUBREAPER, 1);
	ret = fuzz(counts, &addr, &plan);
	if (!ret)
		await_orphans();
	counts_print(counts, plan.seed);
	return ret;
}
