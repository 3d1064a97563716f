// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The adapter of tests/hca: the bus addresses that it was given, its DMA engine, its removal. */
#include <ctype.h>
#include <fcntl.h>
#include <glob.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "adapter.h"
#include "peer.h"

#define PROBE		"/sys/kernel/debug/edu_hca/"
#define DRIVER		"/sys/bus/pci/drivers/edu_hca/"
#define PARAMETERS	"/sys/module/edu_hca/parameters/"
#define PAGE_MASK	(~4095ULL)
#define PROBED		8UL
/* The kernel shows a few faults in five seconds, and only counts others. */
#define LOG_MS		1000

static void put_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY);
	ssize_t ret;

	if (fd < 0)
		FAIL("%s: %s", path, test_errno(errno));
	ret = write(fd, text, strlen(text));
	if (ret != (ssize_t)strlen(text))
		FAIL("'%s' to %s: %s", text, path, ret < 0 ? test_errno(errno) : "short");
	close(fd);
}

void adapter_forget(void)
{
	put_text(PROBE "addresses", "\n");
}

void adapter_addresses(struct addresses *addresses)
{
	struct address *next = addresses->list;
	FILE *file = fopen(PROBE "addresses", "r");
	char line[128];

	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		CHECK(next < addresses->list + ADDRESSES);
		if (sscanf(line, "%7s %" SCNx64 " %" SCNu64, next->what, &next->addr,
			   &next->length) != 3)
			FAIL("not an address: %s", line);
		next++;
	}
	fclose(file);
	addresses->nr = next - addresses->list;
}

/* Return the first address of a kind, which must be there. */
uint64_t adapter_address(const char *what)
{
	struct addresses addresses;
	size_t i;

	adapter_addresses(&addresses);
	for (i = 0; i < addresses.nr; i++)
		if (!strcmp(addresses.list[i].what, what))
			return addresses.list[i].addr;
	FAIL("the adapter was given no address of a %s", what);
}

size_t adapter_count(const char *what)
{
	struct addresses addresses;
	size_t i, nr = 0;

	adapter_addresses(&addresses);
	for (i = 0; i < addresses.nr; i++)
		nr += !strcmp(addresses.list[i].what, what);
	return nr;
}

static void probe(char way, uint64_t addr, size_t length)
{
	char text[64];

	snprintf(text, sizeof(text), "%c %#" PRIx64 " %zu", way, addr, length);
	put_text(PROBE "dma", text);
}

void adapter_write(uint64_t addr, size_t length)
{
	probe('w', addr, length);
}

void adapter_read(uint64_t addr, void *bytes, size_t length)
{
	int fd = open(PROBE "dma", O_RDONLY);

	CHECK(fd >= 0);
	probe('r', addr, length);
	CHECK_EQ(read(fd, bytes, length), (ssize_t)length);
	close(fd);
}

bool adapter_has_iommu(void)
{
	return !access("/sys/class/iommu/dmar0", F_OK);
}

/* True if the guest was started with swiotlb=force, which has no effect behind an IOMMU. */
bool adapter_bounces(void)
{
	return !adapter_has_iommu() && !test_shell("grep -qw swiotlb=force /proc/cmdline");
}

/* Return the number of scatterlists that are mapped now, or 0 if the kernel does not tell. */
size_t adapter_mappings(void)
{
	FILE *file = fopen("/sys/kernel/debug/dma-api/dump", "r");
	char line[512];
	size_t nr = 0;

	if (!file)
		return 0;
	while (fgets(line, sizeof(line), file))
		nr += strstr(line, "edu_hca ") && strstr(line, "scatter-gather");
	fclose(file);
	return nr;
}

/* Return the number of fault interrupts of the IOMMU so far; unlike the log it is complete. */
long adapter_faults(void)
{
	FILE *file = fopen("/proc/interrupts", "r");
	char line[1024], *next;
	long sum = 0;

	CHECK(file);
	while (fgets(line, sizeof(line), file)) {
		if (!strstr(line, "dmar0"))
			continue;
		next = strchr(line, ':') + 1;
		for (;;) {
			next += strspn(next, " ");
			if (!isdigit(*next))
				break;
			sum += strtol(next, &next, 10);
		}
	}
	fclose(file);
	return sum;
}

static int open_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK);

	CHECK(fd >= 0);
	CHECK(lseek(fd, 0, SEEK_END) >= 0);
	return fd;
}

/* Return true if a line with both texts appears in the log soon. */
static bool log_shows(int fd, const char *what, const char *where)
{
	struct pollfd wait = { .fd = fd, .events = POLLIN };
	long long end = test_now_ms() + LOG_MS;
	char line[1024];
	ssize_t length;

	for (;;) {
		length = read(fd, line, sizeof(line) - 1);
		if (length < 0 && errno == EAGAIN) {
			if (test_now_ms() > end)
				return false;
			poll(&wait, 1, LOG_MS);
			continue;
		}
		CHECK(length > 0 || errno == EPIPE);
		line[length > 0 ? length : 0] = 0;
		if (strstr(line, what) && strstr(line, where))
			return true;
	}
}

/* No event tells of it, so it is looked for again and again. */
static void await(bool (*condition)(long arg), long arg, const char *what)
{
	const struct timespec soon = { .tv_nsec = 10000000 };
	long long end = test_now_ms() + test_patience_ms();

	while (!condition(arg)) {
		if (test_now_ms() > end)
			FAIL("%s: not in %d ms", what, test_patience_ms());
		nanosleep(&soon, NULL);
	}
}

static bool has_faulted(long before)
{
	return adapter_faults() > before;
}

/* Use an address until the log shows that the IOMMU has refused it, which it must each time. */
static void expect_fault(char way, uint64_t addr)
{
	const char *what = way == 'w' ? "[DMA Write" : "[DMA Read";
	long long end = test_now_ms() + test_patience_ms();
	char where[64];
	long before;
	bool shown;
	int log;

	snprintf(where, sizeof(where), "fault addr %#llx ", addr & PAGE_MASK);
	do {
		if (test_now_ms() > end)
			FAIL("the log shows no '%s ... %s'", what, where);
		log = open_log();
		before = adapter_faults();
		probe(way, addr, PROBED);
		await(has_faulted, before, where);
		shown = log_shows(log, what, where);
		close(log);
	} while (!shown);
}

void adapter_expect_write_fault(uint64_t addr)
{
	expect_fault('w', addr);
}

void adapter_expect_read_fault(uint64_t addr)
{
	expect_fault('r', addr);
}

/* The IOMMU has counted a fault, which the log may leave out. */
void adapter_expect_zeros(uint64_t addr)
{
	long before = adapter_faults();
	char bytes[PROBED];

	adapter_read(addr, bytes, PROBED);
	await(has_faulted, before, "a fault");
	CHECK(!memcmp(bytes, "\0\0\0\0\0\0\0", PROBED));
}

/* @addr was that of @memory, of SIZE bytes: neither a write nor a read gets there. */
void adapter_expect_no_access(uint64_t addr, const char *memory)
{
	static char before[SIZE];

	memcpy(before, memory, SIZE);
	adapter_expect_write_fault(addr);
	adapter_expect_zeros(addr);
	CHECK(!memcmp(before, memory, SIZE));
}

/* Returns the name of the PCI device, or NULL if there is none. */
static const char *pci_name(void)
{
	static char name[64];
	const char *found = NULL;
	char device[16];
	glob_t paths;
	FILE *file;
	size_t i;

	if (glob("/sys/bus/pci/devices/*", 0, NULL, &paths))
		return NULL;
	for (i = 0; i < paths.gl_pathc && !found; i++) {
		snprintf(name, sizeof(name), "%s/device", paths.gl_pathv[i]);
		file = fopen(name, "r");
		if (!file)
			continue;
		if (fgets(device, sizeof(device), file) && !strcmp(device, "0x11e8\n")) {
			snprintf(name, sizeof(name), "%s", strrchr(paths.gl_pathv[i], '/') + 1);
			found = name;
		}
		fclose(file);
	}
	globfree(&paths);
	return found;
}

static bool is_gone(long unused)
{
	(void)unused;
	return !pci_name();
}

static bool is_usable(long unused)
{
	struct kverbs_cmd_info info = { .size = sizeof(info) };
	int fd = dev_open();

	(void)unused;
	CHECK_OK(dev_cmd(fd, KVERBS_INFO, &info));
	close(fd);
	return info.out_nr_devices;
}

/* Returns when the driver has given up the device. */
void adapter_unbind(void)
{
	put_text(DRIVER "unbind", pci_name());
}

void adapter_bind(void)
{
	put_text(DRIVER "bind", pci_name());
	await(is_usable, 0, "the device is back");
}

/* Change a parameter of the driver, for the next time that it binds. */
void adapter_set(const char *parameter, const char *value)
{
	char path[128];

	snprintf(path, sizeof(path), PARAMETERS "%s", parameter);
	put_text(path, value);
}

/* Returns the port at whose other end is QEMU's monitor, see scripts/vm --hca. */
static const char *operator_port(void)
{
	static char path[64];
	glob_t paths;

	if (glob("/dev/vport*p4", 0, NULL, &paths))
		FAIL("no port to QEMU's monitor");
	snprintf(path, sizeof(path), "%s", paths.gl_pathv[0]);
	globfree(&paths);
	return path;
}

/* Try to plug the device in, until it is there. */
static bool is_plugged(long unused)
{
	const struct timespec moment = { .tv_nsec = 500000000 };

	(void)unused;
	put_text(operator_port(), "device_add edu,id=edu,bus=socket,dma_mask=0xffffffffffffffff\n");
	nanosleep(&moment, NULL);
	return pci_name();
}

bool adapter_can_be_unplugged(void)
{
	return !access("/sys/module/acpiphp", F_OK);
}

/* Only starts it. */
void adapter_unplug(void)
{
	put_text(operator_port(), "device_del edu\n");
}

/* QEMU refuses it until the guest has ejected the old device, after having forgotten it. */
void adapter_plug(void)
{
	await(is_gone, 0, "the device is unplugged");
	await(is_plugged, 0, "the device is plugged in");
	await(is_usable, 0, "the device is back");
}
