// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The registration cache of libfabric's provider: threads allocate, transfer, free and remap at
 * random, and check each byte. Memory at an address that was cached for other memory would keep the
 * bytes that it had before, or send those that other memory has.
 *
 * ROUNDS= in the environment makes it longer, and with DURATION= it lasts so many seconds
 * instead. At the end the provider logs how often it found a registration.
 */
#include <malloc.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_rma.h>

#include "harness.h"

#define THREADS		8
#define AREAS		4
#define PAGE		4096ul
#define MOST_PAGES	16
#define POISON		0xee
#define ROUNDS		600

/**
 * struct area - memory that is replaced now and then
 * @addr: its start
 * @pages: how many
 * @heap: of malloc()
 */
struct area {
	uint8_t *addr;
	size_t pages;
	bool heap;
};

/**
 * struct worker - a thread with a connection of its own
 * @thread: the thread
 * @cq: queue of both endpoints
 * @client: sends to @server
 * @server: see @client
 * @areas: its memory
 * @random: state of the generator
 * @rounds: transfers to make, 0: until the deadline
 * @done: transfers made
 */
struct worker {
	pthread_t thread;
	struct fid_cq *cq;
	struct fid_ep *client;
	struct fid_ep *server;
	struct area areas[AREAS];
	uint64_t random;
	unsigned long rounds;
	unsigned long done;
};

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_eq *eq;
static struct fid_domain *domain;
static struct fid_pep *pep;
static struct worker workers[THREADS];
static time_t deadline;

static uint32_t below(struct worker *w, uint32_t limit)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (uint32_t)(w->random >> 32) % limit;
}

/* ---- memory ---- */

static void *map_at(void *addr, size_t pages)
{
	void *map = mmap(addr, pages * PAGE, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS | (addr ? MAP_FIXED : 0), -1, 0);

	CHECK(map != MAP_FAILED);
	return map;
}

static void get_area(struct worker *w, struct area *area)
{
	area->pages = 1 + below(w, MOST_PAGES);
	area->heap = !below(w, 3);
	area->addr = area->heap ? aligned_alloc(PAGE, area->pages * PAGE) :
				  map_at(NULL, area->pages);
	CHECK(area->addr);
}

static void put_area(struct area *area)
{
	if (area->heap)
		free(area->addr);
	else
		CHECK_OK(munmap(area->addr, area->pages * PAGE));
}

static void move(struct area *area)
{
	void *place = map_at(NULL, area->pages);

	area->addr = mremap(area->addr, area->pages * PAGE, area->pages * PAGE,
			    MREMAP_MAYMOVE | MREMAP_FIXED, place);
	CHECK(area->addr == place);
}

static void fork_once(void)
{
	pid_t pid = fork();
	int status;

	if (!pid)
		_exit(0);
	CHECK_EQ(waitpid(pid, &status, 0), pid);
}

/* Most of the time nothing changes, so that there is something to find. */
static void change(struct worker *w)
{
	struct area *area = &w->areas[below(w, AREAS)];

	switch (below(w, 40)) {
	case 0:
	case 1:
		put_area(area);
		get_area(w, area);
		break;
	case 2:
		if (!area->heap)
			map_at(area->addr, area->pages);
		break;
	case 3:
		if (!area->heap)
			move(area);
		break;
	case 4:
		CHECK_OK(madvise(area->addr + below(w, area->pages) * PAGE, PAGE, MADV_DONTNEED));
		break;
	case 5:
		malloc_trim(0);
		break;
	case 6:
		if (!below(w, 10))
			fork_once();
		break;
	case 7:
		CHECK_OK(madvise(area->addr, area->pages * PAGE, MADV_FREE));
		break;
	}
}

/* ---- transfers ---- */

/* Events of the connections explain why an operation was flushed. */
static void print_events(void)
{
	struct fi_eq_err_entry error = { 0 };
	struct fi_eq_cm_entry entry;
	uint32_t event;
	ssize_t n;

	while ((n = fi_eq_read(eq, &event, &entry, sizeof(entry), 0)) > 0)
		test_note("event %u of an endpoint", event);
	if (n == -FI_EAVAIL && fi_eq_readerr(eq, &error, 0) > 0)
		test_note("an endpoint fails: %s", fi_strerror(error.err));
}

static void await(struct worker *w, unsigned int nr)
{
	struct fi_cq_err_entry error = { 0 };
	struct fi_cq_data_entry entry;
	ssize_t n;

	while (nr--) {
		n = fi_cq_sread(w->cq, &entry, 1, NULL, test_patience_ms());
		if (n == -FI_EAVAIL) {
			fi_cq_readerr(w->cq, &error, 0);
			print_events();
			FAIL("an operation fails: %s", fi_strerror(error.err));
		}
		CHECK_EQ(n, 1);
	}
}

static void send_message(struct worker *w, void *to, const void *from, size_t length)
{
	CHECK_OK(fi_recv(w->server, to, length, NULL, 0, NULL));
	CHECK_OK(fi_send(w->client, from, length, NULL, 0, NULL));
	await(w, 2);
}

static void write_it(struct worker *w, void *to, const void *from, size_t length)
{
	struct fid_mr *mr;

	CHECK_OK(fi_mr_reg(domain, to, length, FI_REMOTE_WRITE, 0, 0, 0, &mr, NULL));
	CHECK_OK(fi_write(w->client, from, length, NULL, 0, (uintptr_t)to, fi_mr_key(mr), NULL));
	await(w, 1);
	CHECK_OK(fi_close(&mr->fid));
}

static void read_it(struct worker *w, void *to, const void *from, size_t length)
{
	struct fid_mr *mr;

	CHECK_OK(fi_mr_reg(domain, from, length, FI_REMOTE_READ, 0, 0, 0, &mr, NULL));
	CHECK_OK(fi_read(w->client, to, length, NULL, 0, (uintptr_t)from, fi_mr_key(mr), NULL));
	await(w, 1);
	CHECK_OK(fi_close(&mr->fid));
}

static void fill(struct worker *w, uint8_t *to, size_t length)
{
	uint32_t seed = below(w, UINT32_MAX);
	size_t i;

	for (i = 0; i < length; i++)
		to[i] = (uint8_t)((i * 31 + (i >> 8) + seed) >> 1);
}

static void check_all(const struct area *area, size_t at, const uint8_t *from, size_t length)
{
	size_t i;

	if (memcmp(area->addr + at, from, length))
		FAIL("%zu bytes at %p are not those that were sent", length, area->addr + at);
	for (i = 0; i < area->pages * PAGE; i++)
		if ((i < at || i >= at + length) && area->addr[i] != POISON)
			FAIL("byte %zu of %p has changed", i, area->addr);
}

static void transfer(struct worker *w)
{
	struct area *to = &w->areas[below(w, AREAS / 2)];
	struct area *from = &w->areas[AREAS / 2 + below(w, AREAS / 2)];
	size_t length = 1 + below(w, (to->pages < from->pages ? to->pages : from->pages) * PAGE);
	size_t at = below(w, to->pages * PAGE - length + 1);
	size_t start = below(w, from->pages * PAGE - length + 1);

	fill(w, from->addr + start, length);
	memset(to->addr, POISON, to->pages * PAGE);
	switch (below(w, 8)) {
	case 0:
		write_it(w, to->addr + at, from->addr + start, length);
		break;
	case 1:
		read_it(w, to->addr + at, from->addr + start, length);
		break;
	default:
		send_message(w, to->addr + at, from->addr + start, length);
		break;
	}
	check_all(to, at, from->addr + start, length);
}

static time_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static bool is_done(const struct worker *w)
{
	return w->rounds ? w->done >= w->rounds : now() >= deadline;
}

static void *work(void *arg)
{
	struct worker *w = arg;
	unsigned int i;

	for (i = 0; i < AREAS; i++)
		get_area(w, &w->areas[i]);
	for (; !is_done(w); w->done++) {
		change(w);
		transfer(w);
	}
	for (i = 0; i < AREAS; i++)
		put_area(&w->areas[i]);
	return NULL;
}

/* ---- connections ---- */

static void open_all(void)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_info *hints = fi_allocinfo();
	char path[4096];

	CHECK(hints);
	snprintf(path, sizeof(path), "%s/libfabric/build", getenv("KVERBS_TOP"));
	/* The environment takes precedence over these defaults. */
	setenv("FI_PROVIDER_PATH", path, false);
	setenv("FI_KVERBS_MR_CACHE", "1", false);
	/* A guest that gets no CPU answers no probe in time, and all of its threads are busy. */
	setenv("FI_KVERBS_KEEPALIVE", "0", false);
	/* Few, so that some must go while others are in use */
	setenv("FI_KVERBS_MR_CACHE_ENTRIES", "48", false);
	setenv("FI_LOG_LEVEL", "info", false);
	setenv("FI_LOG_PROV", "kverbs", false);
	setenv("FI_LOG_SUBSYS", "mr", false);
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_RX_CQ_DATA;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->ep_attr->type = FI_EP_MSG;
	hints->domain_attr->mr_mode = FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY;
	hints->fabric_attr->prov_name = strdup("kverbs");
	CHECK_OK(fi_getinfo(FI_VERSION(1, 17), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	CHECK(!(info->domain_attr->mr_mode & FI_MR_LOCAL));
	CHECK_OK(fi_fabric(info->fabric_attr, &fabric, NULL));
	CHECK_OK(fi_eq_open(fabric, &eq_attr, &eq, NULL));
	CHECK_OK(fi_domain(fabric, info, &domain, NULL));
	CHECK_OK(fi_passive_ep(fabric, info, &pep, NULL));
	CHECK_OK(fi_pep_bind(pep, &eq->fid, 0));
	CHECK_OK(fi_listen(pep));
}

static struct fid_ep *new_ep(struct worker *w, struct fi_info *of)
{
	struct fid_ep *ep;

	CHECK_OK(fi_endpoint(domain, of, &ep, NULL));
	CHECK_OK(fi_ep_bind(ep, &eq->fid, 0));
	CHECK_OK(fi_ep_bind(ep, &w->cq->fid, FI_TRANSMIT | FI_RECV));
	CHECK_OK(fi_enable(ep));
	return ep;
}

static struct fi_info *next_event(uint32_t type)
{
	struct fi_eq_cm_entry entry;
	uint32_t got;

	CHECK_EQ(fi_eq_sread(eq, &got, &entry, sizeof(entry), test_patience_ms(), 0),
		 sizeof(entry));
	CHECK_EQ(got, type);
	return entry.info;
}

static void connect_worker(struct worker *w)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA, .wait_obj = FI_WAIT_FD };
	struct sockaddr_in addr;
	size_t len = sizeof(addr);
	struct fi_info *request;

	CHECK_OK(fi_cq_open(domain, &attr, &w->cq, NULL));
	CHECK_OK(fi_getname(&pep->fid, &addr, &len));
	w->client = new_ep(w, info);
	CHECK_OK(fi_connect(w->client, &addr, NULL, 0));
	request = next_event(FI_CONNREQ);
	w->server = new_ep(w, request);
	fi_freeinfo(request);
	CHECK_OK(fi_accept(w->server, NULL, 0));
	next_event(FI_CONNECTED);
	next_event(FI_CONNECTED);
}

static void close_all(void)
{
	unsigned int i;

	for (i = 0; i < THREADS; i++) {
		CHECK_OK(fi_close(&workers[i].client->fid));
		CHECK_OK(fi_close(&workers[i].server->fid));
		CHECK_OK(fi_close(&workers[i].cq->fid));
	}
	CHECK_OK(fi_close(&pep->fid));
	CHECK_OK(fi_close(&domain->fid));
	CHECK_OK(fi_close(&eq->fid));
	CHECK_OK(fi_close(&fabric->fid));
	fi_freeinfo(info);
}

TEST(no_byte_is_stale_while_threads_allocate_transfer_free_and_remap)
{
	const char *duration = getenv("DURATION"), *rounds = getenv("ROUNDS");
	unsigned long done = 0;
	unsigned int i;

	open_all();
	if (duration)
		deadline = now() + strtoul(duration, NULL, 0);
	for (i = 0; i < THREADS; i++) {
		workers[i].random = 0x9e3779b97f4a7c15 * (i + 1);
		if (!duration)
			workers[i].rounds = rounds ? strtoul(rounds, NULL, 0) : ROUNDS;
		connect_worker(&workers[i]);
	}
	for (i = 0; i < THREADS; i++)
		CHECK_EQ(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
	for (i = 0; i < THREADS; i++) {
		pthread_join(workers[i].thread, NULL);
		done += workers[i].done;
	}
	test_note("%lu transfers", done);
	close_all();
	CHECK_EQ(test_status_kb(0, "VmPin"), 0);
}
