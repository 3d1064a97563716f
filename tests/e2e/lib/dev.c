// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Commands to /dev/kverbs, and connections made with them. */
#include <fcntl.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "dev.h"

int dev_open(void)
{
	int fd = open("/dev/kverbs", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		FAIL("cannot open /dev/kverbs: %s", test_errno(errno));
	return fd;
}

/* Returns 0 or -errno. */
int dev_cmd(int fd, unsigned long number, void *cmd)
{
	return ioctl(fd, number, cmd) ? -errno : 0;
}

int dev_try_region(int fd, const void *addr, uint64_t length, uint32_t flags,
		   uint32_t *id)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = flags,
		.addr = (uintptr_t)addr,
		.length = length,
	};
	int ret = dev_cmd(fd, KVERBS_REGION_CREATE, &cmd);

	if (!ret && id)
		*id = cmd.out_id;
	return ret;
}

uint32_t dev_region(int fd, const void *addr, uint64_t length, uint32_t flags)
{
	uint32_t id = 0;

	CHECK_OK(dev_try_region(fd, addr, length, flags, &id));
	CHECK(id);
	return id;
}

/* A region with KVERBS_REGION_TRACK; @user_data is 0. */
int dev_try_tracked(const struct ring *ring, const void *addr, uint64_t length, uint32_t *id)
{
	struct kverbs_cmd_region_create cmd = {
		.size = sizeof(cmd),
		.flags = KVERBS_REGION_TRACK,
		.addr = (uintptr_t)addr,
		.length = length,
		.ring_id = ring->id,
	};
	int ret = dev_cmd(ring->fd, KVERBS_REGION_CREATE, &cmd);

	if (!ret && id)
		*id = cmd.out_id;
	return ret;
}

int dev_destroy(int fd, uint32_t id)
{
	struct kverbs_cmd_destroy cmd = { .size = sizeof(cmd), .id = id };

	return dev_cmd(fd, KVERBS_DESTROY, &cmd);
}

const char *dev_provider(void)
{
	const char *provider = getenv("KVERBS_PROVIDER");

	return provider ? provider : "rxe";
}

bool dev_is_iwarp(void)
{
	return !strcmp(dev_provider(), "siw");
}

struct kverbs_addr addr_of(const char *host, uint16_t port)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct kverbs_addr addr = { .port = htons(port) };
	struct addrinfo *list;

	if (getaddrinfo(host, NULL, &hints, &list))
		FAIL("no address for %s", host);
	addr.family = list->ai_family;
	if (addr.family == AF_INET)
		memcpy(addr.addr, &((struct sockaddr_in *)list->ai_addr)->sin_addr, 4);
	else
		memcpy(addr.addr, &((struct sockaddr_in6 *)list->ai_addr)->sin6_addr, 16);
	freeaddrinfo(list);
	return addr;
}

/* Updates @addr to the bound address. */
uint32_t dev_listen(struct ring *ring, struct kverbs_addr *addr)
{
	struct kverbs_cmd_listen cmd = {
		.size = sizeof(cmd),
		.ring_id = ring->id,
		.user_data = 0x115,
		.inout_addr = *addr,
	};

	CHECK_OK(dev_cmd(ring->fd, KVERBS_LISTEN, &cmd));
	CHECK(cmd.out_id && cmd.inout_addr.port);
	*addr = cmd.inout_addr;
	return cmd.out_id;
}

uint32_t dev_connect_as(struct ring *ring, const struct kverbs_addr *addr,
			const struct kverbs_conn_param *param)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = ring->id,
		.user_data = 0xc11e,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.dst = *addr,
	};

	if (param) {
		cmd.param_uptr = (uintptr_t)param;
		cmd.param_size = sizeof(*param);
	}
	CHECK_OK(dev_cmd(ring->fd, KVERBS_CONNECT, &cmd));
	return cmd.out_id;
}

uint32_t dev_connect(struct ring *ring, const struct kverbs_addr *addr)
{
	return dev_connect_as(ring, addr, NULL);
}

int dev_accept_into(struct ring *ring, uint32_t conn, const struct kverbs_conn_param *param,
		    uint32_t group)
{
	struct kverbs_cmd_accept cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.ring_id = ring->id,
		.user_data = 0x5e7e,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.group_id = group,
	};

	if (param) {
		cmd.param_uptr = (uintptr_t)param;
		cmd.param_size = sizeof(*param);
	}
	return dev_cmd(ring->fd, KVERBS_ACCEPT, &cmd);
}

int dev_accept(struct ring *ring, uint32_t conn, const struct kverbs_conn_param *param)
{
	return dev_accept_into(ring, conn, param, 0);
}

/* The index of the first device, mostly the only one. */
uint32_t dev_device_index(int fd)
{
	struct kverbs_cmd_device_query cmd = { .size = sizeof(cmd) };

	CHECK_ERR(dev_cmd(fd, KVERBS_DEVICE_QUERY, &cmd), EMSGSIZE);
	return cmd.out_index;
}

uint32_t dev_group(int fd)
{
	struct kverbs_cmd_group_create cmd = {
		.size = sizeof(cmd),
		.device_index = dev_device_index(fd),
	};

	CHECK_OK(dev_cmd(fd, KVERBS_GROUP_CREATE, &cmd));
	CHECK(cmd.out_id);
	return cmd.out_id;
}

/* @nr: in: length of @segs; out: number of segments; NULL: one segment */
uint32_t dev_export(int fd, uint32_t conn, uint32_t region, uint64_t offset,
		    uint64_t length, uint32_t access, struct kverbs_segment *segs,
		    uint32_t *nr)
{
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.conn_id = conn,
		.region_id = region,
		.access = access,
		.inout_segs_len = nr ? *nr : 1,
		.offset = offset,
		.length = length,
		.segs_uptr = (uintptr_t)segs,
	};

	CHECK_OK(dev_cmd(fd, KVERBS_EXPORT, &cmd));
	if (nr)
		*nr = cmd.inout_segs_len;
	return cmd.out_id;
}

struct kverbs_cmd_conn_query dev_query(int fd, uint32_t conn)
{
	struct kverbs_cmd_conn_query cmd = { .size = sizeof(cmd), .conn_id = conn };

	CHECK_OK(dev_cmd(fd, KVERBS_CONN_QUERY, &cmd));
	return cmd;
}

/* Read the line of an object of this process in debugfs; it ends with a space. */
static void read_shown(const char *type, uint32_t id, char *line, int size)
{
	FILE *file = fopen("/sys/kernel/debug/kverbs/objects", "r");
	char wanted[64], prefix[32];

	CHECK(file);
	snprintf(prefix, sizeof(prefix), "pid=%d ", getpid());
	snprintf(wanted, sizeof(wanted), " type=%s id=%u ", type, id);
	while (fgets(line, size, file)) {
		line[strcspn(line, "\n")] = ' ';
		if (!strncmp(line, prefix, strlen(prefix)) && strstr(line, wanted)) {
			fclose(file);
			return;
		}
	}
	FAIL("debugfs has no%s", wanted);
}

void dev_expect_shown(const char *type, uint32_t id, const char *format, ...)
{
	char line[1024], words[256], wanted[64], *word, *rest = words;
	va_list args;

	va_start(args, format);
	vsnprintf(words, sizeof(words), format, args);
	va_end(args);
	read_shown(type, id, line, sizeof(line));
	while ((word = strsep(&rest, " "))) {
		snprintf(wanted, sizeof(wanted), " %s ", word);
		if (!strstr(line, wanted))
			FAIL("no \"%s\" in: %s", word, line);
	}
}

int dev_disconnect(int fd, uint32_t conn)
{
	struct kverbs_cmd_disconnect cmd = { .size = sizeof(cmd), .conn_id = conn };

	return dev_cmd(fd, KVERBS_DISCONNECT, &cmd);
}

static uint32_t connect_with(struct pair *pair)
{
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = pair->ring.id,
		.user_data = 0xc11e,
		.timeout_ns = MS_TO_NS(test_patience_ms()),
		.dst = pair->addr,
		.param_uptr = (uintptr_t)&pair->param,
		.param_size = sizeof(pair->param),
	};

	CHECK_OK(dev_cmd(pair->fd, KVERBS_CONNECT, &cmd));
	return cmd.out_id;
}

/* Add a connection to the pair's listener. */
void pair_join(struct pair *pair, uint32_t *client, uint32_t *server)
{
	struct kverbs_conn_param param = pair->param;

	*client = connect_with(pair);
	*server = ring_event(&pair->ring, KVERBS_CQE_CONN_REQUEST, 0).id;
	param.valid &= ~(KVERBS_PARAM_TOS | KVERBS_PARAM_RETRY);
	CHECK_OK(dev_accept_into(&pair->ring, *server, &param, pair->group));
	CHECK_EQ(ring_event(&pair->ring, KVERBS_CQE_ESTABLISHED, *server).result, 0);
	CHECK_EQ(ring_event(&pair->ring, KVERBS_CQE_ESTABLISHED, *client).result, 0);
}

void pair_open_with(struct pair *pair, const struct kverbs_conn_param *param,
		    uint32_t cq_entries)
{
	*pair = (struct pair){ .fd = dev_open(), .addr = addr_of("a", 0) };
	if (param)
		pair->param = *param;
	ring_open(&pair->ring, pair->fd, 256, cq_entries);
	pair->listener = dev_listen(&pair->ring, &pair->addr);
	pair_join(pair, &pair->client, &pair->server);
}

void pair_open(struct pair *pair)
{
	pair_open_with(pair, NULL, 1024);
}
