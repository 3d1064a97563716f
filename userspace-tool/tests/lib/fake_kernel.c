// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The fake kernel: system calls, the object table, and injected failures. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_internal.h"
#include "sys.h"

#define MAX_FAILS 8
#define MAX_DEVICES 4

struct fake_conf fake;
struct fake_kernel fk;

static struct { unsigned long cmd; unsigned int nth; int error; } fails[MAX_FAILS];
static unsigned int fail_nth;
static bool fail_nth_hit;

static struct kverbs_cmd_device_query devices[MAX_DEVICES];
static unsigned int nr_devices, gid_growth;

void fake_check_failed(bool ok, const char *what, const char *file, int line)
{
	if (ok)
		return;
	fprintf(stderr, "%s:%d: the contract is broken: %s\n", file, line, what);
	abort();
}

/* ---- objects ------------------------------------------------------------------ */

struct fake_obj *fake_new(int fd, enum fake_type type)
{
	struct fake_obj *o = calloc(1, sizeof(*o));

	fake_check(o && fk.nr_ids + 1 < FAKE_MAX_OBJS);
	o->type = type;
	o->id = ++fk.nr_ids;
	o->fd = fd;
	fk.objs[o->id] = o;
	return o;
}

struct fake_obj *fake_find(int fd, uint32_t id, enum fake_type type)
{
	struct fake_obj *o = id < FAKE_MAX_OBJS ? fk.objs[id] : NULL;

	return o && o->fd == fd && o->type == type ? o : NULL;
}

void fake_del(struct fake_obj *o)
{
	if (o->type == FAKE_RING)
		fake_ring_free(o);
	if (o->type == FAKE_POOL)
		fake_pool_free(o);
	if (o->type == FAKE_EXPORT)
		fk.objs[o->export.region]->region.users--;
	fk.objs[o->id] = NULL;
	free(o);
}

static bool ring_used(const struct fake_obj *ring)
{
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->ring == ring->id)
			return true;
	return false;
}

static int destroy(int fd, struct kverbs_cmd_destroy *cmd)
{
	struct fake_obj *o = cmd->id < FAKE_MAX_OBJS ? fk.objs[cmd->id] : NULL;

	if (!o || o->fd != fd)
		return -ENOENT;
	switch (o->type) {
	case FAKE_RING:
		if (ring_used(o))
			return -EBUSY;
		break;
	case FAKE_REGION:
		if (o->region.users)
			return -EBUSY;
		if (o->ring && !o->region.stale)
			fake_ring_return(fake_ring_of(o));
		break;
	case FAKE_GROUP:
		if (fake_group_used(o))
			return -EBUSY;
		break;
	case FAKE_LISTENER:
		fake_ring_of(o)->r.reserved--;
		break;
	case FAKE_CONN:
		fake_conn_destroy(o);
		break;
	case FAKE_POOL:
		if (fake_pool_used(o))
			return -EBUSY;
		break;
	default:
		break;
	}
	fake_del(o);
	pthread_cond_broadcast(&fk.changed);
	return 0;
}

static ino_t inode_of(int fd)
{
	struct stat st;

	return fstat(fd, &st) ? 0 : st.st_ino;
}

static struct fake_obj *shared_by(int fd)
{
	ino_t inode = inode_of(fd);
	uint32_t id;

	for (id = 1; inode && id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_REGION &&
		    fk.objs[id]->region.shared == inode)
			return fk.objs[id];
	return NULL;
}

/* The memory is found as long as the region exists that has shared it. */
static int region_import(int fd, struct kverbs_cmd_region_create *cmd)
{
	struct fake_obj *from, *o;

	if (cmd->addr || cmd->length || cmd->flags & KVERBS_REGION_TRACK)
		return -EINVAL;
	if (fcntl(cmd->fd, F_GETFD) < 0)
		return -EBADF;
	from = shared_by(cmd->fd);
	if (!from)
		return -EINVAL;
	if ((fcntl(cmd->fd, F_GETFL) & O_ACCMODE) == O_RDONLY &&
	    !(cmd->flags & KVERBS_REGION_READ_ONLY))
		return -EACCES;
	o = fake_new(fd, FAKE_REGION);
	o->region.addr = from->region.addr;
	o->region.length = from->region.length;
	o->region.flags = cmd->flags & KVERBS_REGION_READ_ONLY;
	cmd->out_id = o->id;
	cmd->out_length = o->region.length;
	return 0;
}

static int region_of_dmabuf(int fd, struct kverbs_cmd_region_create *cmd)
{
	static uint8_t dmabuf[FAKE_DMABUF_SIZE];
	struct fake_obj *o;

	if (cmd->flags & ~(KVERBS_REGION_READ_ONLY | KVERBS_REGION_DMABUF))
		return -EINVAL;
	if (cmd->fd != FAKE_DMABUF_FD)
		return fcntl(cmd->fd, F_GETFD) < 0 ? -EBADF : -EINVAL;
	if (!cmd->length || cmd->addr > sizeof(dmabuf) || cmd->length > sizeof(dmabuf) - cmd->addr)
		return -EINVAL;
	o = fake_new(fd, FAKE_REGION);
	o->region.addr = dmabuf + cmd->addr;
	o->region.length = cmd->length;
	o->region.flags = cmd->flags & KVERBS_REGION_READ_ONLY;
	cmd->out_id = o->id;
	cmd->out_length = cmd->length;
	return 0;
}

/* A file without contents, of which only the inode and the mode are used. */
static int open_unnamed(void)
{
	return open("/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

static int reopen(int file, int mode)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	return open(path, mode | O_CLOEXEC);
}

static int region_export_fd(int fd, struct kverbs_cmd_region_export_fd *cmd)
{
	struct fake_obj *o = fake_find(fd, cmd->region_id, FAKE_REGION);
	bool read_only = cmd->flags & KVERBS_REGION_READ_ONLY;
	int file;

	if (cmd->flags & ~KVERBS_REGION_READ_ONLY)
		return -EINVAL;
	if (!o)
		return -ENOENT;
	if (o->region.flags & KVERBS_REGION_READ_ONLY && !read_only)
		return -EACCES;
	file = open_unnamed();
	if (file < 0)
		return -errno;
	o->region.shared = inode_of(file);
	cmd->out_fd = reopen(file, read_only ? O_RDONLY : O_RDWR);
	close(file);
	return cmd->out_fd < 0 ? -errno : 0;
}

static int region_create(int fd, struct kverbs_cmd_region_create *cmd)
{
	bool tracked = cmd->flags & KVERBS_REGION_TRACK;
	struct fake_obj *o, *ring = NULL;
	int ret;

	fake.last_region = *cmd;
	if (cmd->flags & KVERBS_REGION_FD)
		return region_import(fd, cmd);
	if (cmd->flags & KVERBS_REGION_DMABUF)
		return region_of_dmabuf(fd, cmd);
	if (!cmd->length || cmd->flags & ~(KVERBS_REGION_READ_ONLY | KVERBS_REGION_TRACK) ||
	    (!tracked && (cmd->ring_id || cmd->user_data)))
		return -EINVAL;
	if (tracked) {
		ring = fake_find(fd, cmd->ring_id, FAKE_RING);
		ret = ring ? fake_ring_reserve(ring, 1) : -ENOENT;
		if (ret)
			return ret;
	}
	o = fake_new(fd, FAKE_REGION);
	o->ring = ring ? ring->id : 0;
	o->region.user_data = cmd->user_data;
	o->region.addr = (uint8_t *)(uintptr_t)cmd->addr;
	o->region.length = cmd->length;
	o->region.flags = cmd->flags;
	cmd->out_id = o->id;
	cmd->out_length = cmd->length;
	return 0;
}

static void make_stale(struct fake_obj *o)
{
	struct fake_obj *ring = fake_ring_of(o);
	const struct kverbs_cqe cqe = {
		.user_data = o->region.user_data,
		.id = o->id,
		.type = KVERBS_CQE_REGION_STALE,
	};

	o->region.stale = true;
	fake_ring_put(ring, &cqe);
	__atomic_store_n(&ring->r.kernel->stale, ring->r.kernel->stale + 1, __ATOMIC_RELEASE);
}

static bool overlaps(const struct fake_obj *o, const uint8_t *addr, size_t length)
{
	return o->region.addr < addr + length && addr < o->region.addr + o->region.length;
}

void fake_change(void *addr, size_t length)
{
	struct fake_obj *o;
	uint32_t id;

	pthread_mutex_lock(&fk.lock);
	for (id = 1; id <= fk.nr_ids; id++) {
		o = fk.objs[id];
		if (o && o->type == FAKE_REGION && o->ring && !o->region.stale &&
		    overlaps(o, addr, length))
			make_stale(o);
	}
	pthread_mutex_unlock(&fk.lock);
}

/* ---- devices -------------------------------------------------------------------- */

void fake_add_device(uint32_t index, const char *name, unsigned int ports,
		     unsigned int gids)
{
	struct kverbs_cmd_device_query *d = &devices[nr_devices++];

	fake_check(nr_devices <= MAX_DEVICES);
	memset(d, 0, sizeof(*d));
	d->out_index = index;
	d->inout_ports_len = ports;
	d->inout_gids_len = gids;
	snprintf(d->out_name, sizeof(d->out_name), "%s", name);
}

void fake_make_unusable(uint32_t index, enum kverbs_unusable reason)
{
	struct kverbs_cmd_device_query *d;

	for (d = devices; d != devices + nr_devices; d++)
		if (d->out_index == index)
			d->out_unusable = reason;
}

void fake_grow_gids(unsigned int times)
{
	gid_growth = times;
}

static struct kverbs_cmd_device_query *find_device(uint32_t index)
{
	struct kverbs_cmd_device_query *d, *best = NULL;

	for (d = devices; d != devices + nr_devices; d++)
		if (d->out_index >= index && (!best || d->out_index < best->out_index))
			best = d;
	return best;
}

static void fill_arrays(const struct kverbs_cmd_device_query *cmd, uint32_t ports,
			uint32_t gids)
{
	struct kverbs_port *port = (void *)(uintptr_t)cmd->ports_uptr;
	struct kverbs_gid *gid = (void *)(uintptr_t)cmd->gids_uptr;
	uint32_t i;

	for (i = 0; i < ports; i++) {
		port[i] = fake.port;
		port[i].port = i + 1;
		port[i].active_mtu = fake.port_mtu;
	}
	for (i = 0; i < gids; i++) {
		gid[i] = fake.gid;
		gid[i].index = i;
	}
}

static uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static int device_query(struct kverbs_cmd_device_query *cmd)
{
	struct kverbs_cmd_device_query *d = find_device(cmd->index), in = *cmd;

	if (!d)
		return -ENODEV;
	if (gid_growth) {
		d->inout_gids_len++;
		gid_growth--;
	}
	*cmd = *d;
	cmd->ports_uptr = in.ports_uptr;
	cmd->gids_uptr = in.gids_uptr;
	fake_check(in.ports_stride == sizeof(struct kverbs_port));
	fake_check(in.gids_stride == sizeof(struct kverbs_gid));
	fill_arrays(cmd, min_u32(in.inout_ports_len, d->inout_ports_len),
		    min_u32(in.inout_gids_len, d->inout_gids_len));
	if (in.inout_ports_len < d->inout_ports_len || in.inout_gids_len < d->inout_gids_len)
		return -EMSGSIZE;
	return 0;
}

static int info(struct kverbs_cmd_info *cmd)
{
	cmd->out_abi = fake.abi;
	cmd->out_nr_devices = nr_devices;
	cmd->out_features = KVERBS_FEATURE_GROUP | KVERBS_FEATURE_IOVA | KVERBS_FEATURE_POOL |
			    KVERBS_FEATURE_TRACK;
	cmd->out_max_cq_entries = 262144;
	cmd->out_max_backlog = 4096;
	snprintf(cmd->out_version, sizeof(cmd->out_version), "fake");
	return 0;
}

/* ---- injected failures -------------------------------------------------------------- */

void fake_fail(unsigned long cmd, unsigned int nth, int error)
{
	unsigned int i;

	for (i = 0; i < MAX_FAILS; i++) {
		if (fails[i].nth)
			continue;
		fails[i].cmd = cmd;
		fails[i].nth = nth;
		fails[i].error = error;
		return;
	}
	fake_check(false);
}

void fake_fail_nth(unsigned int nth)
{
	__atomic_store_n(&fail_nth, nth, __ATOMIC_RELAXED);
	__atomic_store_n(&fail_nth_hit, false, __ATOMIC_RELAXED);
}

bool fake_fail_nth_hit(void)
{
	return __atomic_load_n(&fail_nth_hit, __ATOMIC_RELAXED);
}

static bool this_is_the_nth(void)
{
	if (!__atomic_load_n(&fail_nth, __ATOMIC_RELAXED) ||
	    __atomic_sub_fetch(&fail_nth, 1, __ATOMIC_RELAXED))
		return false;
	__atomic_store_n(&fail_nth_hit, true, __ATOMIC_RELAXED);
	return true;
}

static int injected(unsigned long cmd)
{
	unsigned int i;

	/* Commands that clean up do not fail. */
	if (cmd != KVERBS_DESTROY && cmd != KVERBS_SUBMIT && this_is_the_nth())
		return -ENOMEM;
	for (i = 0; i < MAX_FAILS; i++)
		if (fails[i].nth && fails[i].cmd == cmd && !--fails[i].nth)
			return fails[i].error;
	return 0;
}

/* The linker redirects the library's allocations here. */
static __thread bool in_kernel;

void *__wrap_calloc(size_t n, size_t size)
{
	return !in_kernel && this_is_the_nth() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *p, size_t size)
{
	return !in_kernel && this_is_the_nth() ? NULL : __real_realloc(p, size);
}

/* Name resolution must not depend on the host that runs the tests. */
int __wrap_getaddrinfo(const char *node, const char *service,
		       const struct addrinfo *hints, struct addrinfo **res)
{
	int ret;

	if (!node || strcmp(node, FAKE_HOST) ||
	    (hints && hints->ai_flags & AI_NUMERICHOST))
		return __real_getaddrinfo(node, service, hints, res);
	ret = __real_getaddrinfo("192.0.2.1", service, hints, res);
	if (!ret)
		ret = __real_getaddrinfo("192.0.2.2", service, hints, &(*res)->ai_next);
	return ret;
}

/* ---- system calls -------------------------------------------------------------------- */

static int dispatch(int fd, unsigned long cmd, void *arg)
{
	switch (cmd) {
	case KVERBS_INFO:
		return info(arg);
	case KVERBS_DEVICE_QUERY:
		return device_query(arg);
	case KVERBS_RING_CREATE:
		return fake_ring_create(fd, arg);
	case KVERBS_SUBMIT:
		return fake_ring_submit(fd, arg);
	case KVERBS_REGION_CREATE:
		return region_create(fd, arg);
	case KVERBS_LISTEN:
		return fake_listen(fd, arg);
	case KVERBS_CONNECT:
		return fake_connect(fd, arg);
	case KVERBS_ACCEPT:
		return fake_accept(fd, arg);
	case KVERBS_REJECT:
		return fake_reject(fd, arg);
	case KVERBS_DISCONNECT:
		return fake_disconnect(fd, arg);
	case KVERBS_CONN_QUERY:
		return fake_conn_query(fd, arg);
	case KVERBS_GROUP_CREATE:
		return fake_group_create(fd, arg);
	case KVERBS_EXPORT:
		return fake_export(fd, arg);
	case KVERBS_DESTROY:
		return destroy(fd, arg);
	case KVERBS_BENCH:
		return fake_bench(fd, arg);
	case KVERBS_POOL_CREATE:
		return fake_pool_create(fd, arg);
	case KVERBS_REGION_EXPORT_FD:
		return region_export_fd(fd, arg);
	default:
		return -ENOTTY;
	}
}

int kverbs_sys_open(const char *path)
{
	int ret;

	fake_check(path);
	pthread_mutex_lock(&fk.lock);
	ret = injected(FAKE_OPEN);
	pthread_mutex_unlock(&fk.lock);
	return ret ? ret : eventfd(0, EFD_CLOEXEC);
}

/* The file's objects are freed with it; regions last, since other objects use them. */
static void destroy_type(int fd, enum fake_type type)
{
	struct kverbs_cmd_destroy cmd = { .size = sizeof(cmd) };
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++) {
		cmd.id = id;
		if (fake_find(fd, id, type))
			destroy(fd, &cmd);
	}
}

void kverbs_sys_close(int fd)
{
	pthread_mutex_lock(&fk.lock);
	fake_ring_close_fd(fd);
	destroy_type(fd, FAKE_CONN);
	destroy_type(fd, FAKE_LISTENER);
	destroy_type(fd, FAKE_EXPORT);
	destroy_type(fd, FAKE_GROUP);
	destroy_type(fd, FAKE_POOL);
	destroy_type(fd, FAKE_REGION);
	destroy_type(fd, FAKE_RING);
	pthread_mutex_unlock(&fk.lock);
	close(fd);
}

int kverbs_sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	uint32_t size;
	int ret;

	memcpy(&size, arg, sizeof(size));
	fake_check(size >= sizeof(struct kverbs_cmd_destroy));
	pthread_mutex_lock(&fk.lock);
	ret = injected(cmd);
	in_kernel = true;
	if (!ret)
		ret = dispatch(fd, cmd, arg);
	in_kernel = false;
	pthread_mutex_unlock(&fk.lock);
	return ret;
}

static int map_memory(uint64_t offset, size_t length, int prot, void **addr)
{
	fake_check(!(offset % FAKE_PAGE_SIZE) && !(length % FAKE_PAGE_SIZE));
	*addr = mmap(NULL, length, prot, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (*addr == MAP_FAILED)
		return -errno;
	fake.memory = *addr;
	fake.memory_offset = offset;
	fake.memory_length = length;
	fake.memory_prot = prot;
	return 0;
}

int kverbs_sys_mmap(int fd, uint64_t offset, size_t length, int prot, void **addr)
{
	int ret;

	fake_check(prot & PROT_READ);
	pthread_mutex_lock(&fk.lock);
	ret = injected(FAKE_MMAP);
	if (!ret && fd == FAKE_MEMORY_FD) {
		ret = map_memory(offset, length, prot, addr);
	} else if (!ret) {
		*addr = fake_pool_map(fd, offset);
		if (!*addr)
			*addr = fake_ring_area(fd, offset, length);
		fk.mappings++;
	}
	pthread_mutex_unlock(&fk.lock);
	return ret;
}

size_t kverbs_sys_page_size(int fd)
{
	return fd == FAKE_MEMORY_FD ? FAKE_PAGE_SIZE : 4096;
}

int kverbs_sys_mmap_anon(size_t length, void **addr)
{
	int ret;

	pthread_mutex_lock(&fk.lock);
	ret = injected(FAKE_MMAP_ANON);
	pthread_mutex_unlock(&fk.lock);
	if (ret)
		return ret;
	*addr = mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		     -1, 0);
	return *addr == MAP_FAILED ? -errno : 0;
}

static bool is_ring_area(const void *addr)
{
	const struct fake_obj *o;
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++) {
		o = fk.objs[id];
		if (o && o->type == FAKE_RING &&
		    (addr == o->r.sqes || addr == o->r.kernel || addr == o->r.user))
			return true;
	}
	return false;
}

void kverbs_sys_munmap(void *addr, size_t length)
{
	bool shared;

	pthread_mutex_lock(&fk.lock);
	shared = is_ring_area(addr) || fake_pool_unmap(addr);
	if (shared)
		fk.mappings--;
	pthread_mutex_unlock(&fk.lock);
	if (!shared)
		fake_check(!munmap(addr, length));
}

void kverbs_sys_madvise(void *addr, size_t length, int advice)
{
	/* Kernels without huge pages return EINVAL. */
	fake_check(!madvise(addr, length, advice) || errno == EINVAL);
}

void kverbs_sys_nap(unsigned int ns)
{
	(void)ns;
	sched_yield();
}

/* As in the kernel, a thread that is cancelled goes on. */
int kverbs_sys_sleep(const uint32_t *word, uint64_t deadline)
{
	int ret = 0, state;

	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state);
	pthread_mutex_lock(&fk.lock);
	while (!__atomic_load_n(word, __ATOMIC_ACQUIRE) && !fk.follower_interrupts &&
	       ret != -ETIMEDOUT)
		ret = deadline ? fake_clock_wait(&fk.changed, &fk.lock, deadline) :
				 -pthread_cond_wait(&fk.changed, &fk.lock);
	if (!__atomic_load_n(word, __ATOMIC_ACQUIRE) && fk.follower_interrupts) {
		fk.follower_interrupts--;
		ret = -EINTR;
	}
	pthread_mutex_unlock(&fk.lock);
	pthread_setcancelstate(state, NULL);
	return ret;
}

void kverbs_sys_wake(const uint32_t *word)
{
	(void)word;
	pthread_mutex_lock(&fk.lock);
	pthread_cond_broadcast(&fk.changed);
	pthread_mutex_unlock(&fk.lock);
}

uint64_t kverbs_sys_now(void)
{
	return fake_clock_now();
}

/* ---- for the tests ---------------------------------------------------------------------- */

static void init_sync(void)
{
	pthread_condattr_t attr;

	pthread_mutex_init(&fk.lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&fk.changed, &attr);
	pthread_condattr_destroy(&attr);
}

void fake_reset(void)
{
	fake_check(!fake_leftovers());
	memset(&fk, 0, sizeof(fk));
	memset(&fake, 0, sizeof(fake));
	memset(fails, 0, sizeof(fails));
	fake_fail_nth(0);
	fake_conn_reset();
	nr_devices = 0;
	gid_growth = 0;
	fk.work_tail = &fk.work;
	init_sync();
	fake_clock_reset();
	fake.abi = KVERBS_ABI_VERSION;
	fake.sq_depth = 128;
	fake.rq_depth = 128;
	fake.max_msg = 1u << 30;
	fake.max_segment = 1u << 20;
}

unsigned int fake_leftovers(void)
{
	unsigned int n = (unsigned int)fk.mappings + fk.nr_work + fk.poll_fds;
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		n += !!fk.objs[id];
	return n;
}

void fake_interrupt(void)
{
	pthread_mutex_lock(&fk.lock);
	fk.interrupts++;
	pthread_cond_broadcast(&fk.changed);
	pthread_mutex_unlock(&fk.lock);
}

void fake_interrupt_follower(void)
{
	pthread_mutex_lock(&fk.lock);
	fk.follower_interrupts++;
	pthread_cond_broadcast(&fk.changed);
	pthread_mutex_unlock(&fk.lock);
}

void fake_wait_sleepers(unsigned int n)
{
	pthread_mutex_lock(&fk.lock);
	while (fk.sleepers != n)
		pthread_cond_wait(&fk.changed, &fk.lock);
	pthread_mutex_unlock(&fk.lock);
}

/*
 * A test and the servers that it starts write to the same pipe. If one began to write in the middle
 * of another's line, the rest of that could look like the result of a test.
 */
__attribute__((constructor)) static void write_whole_lines(void)
{
	setvbuf(stdout, NULL, _IOLBF, 1 << 20);
}
