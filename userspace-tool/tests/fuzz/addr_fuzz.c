// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Addresses: their text fits the buffer, and resolves to the same address. */
#include <arpa/inet.h>
#include <errno.h>
#include <net/if.h>
#include <netdb.h>

#include <kverbs.h>

#include "addr.h"
#include "fuzz.h"

/* Read an address as the kernel reports it: bytes that IPv4 does not use are zero. */
static struct kverbs_addr take(struct fuzz_input *in)
{
	struct kverbs_addr addr = { .family = fuzz_take(in, 1) & 1 ? AF_INET : AF_INET6 };
	const void *bytes;
	size_t len;

	addr.port = fuzz_take(in, 2);
	if (addr.family == AF_INET6)
		addr.scope_id = fuzz_take(in, 4);
	len = fuzz_bytes(in, addr.family == AF_INET ? 4 : 16, &bytes);
	if (len)
		memcpy(addr.addr, bytes, len);
	return addr;
}

/* Only a link-local address keeps its interface in its text. */
static void drop_odd_scope(struct kverbs_addr *addr)
{
	if (addr->addr[0] != 0xfe || (addr->addr[1] & 0xc0) != 0x80)
		addr->scope_id = 0;
}

/* "192.0.2.1:5" or "[2001:db8::1]:5" */
static void check_resolved(const struct kverbs_addr *addr, char *text)
{
	char *host = text + (*text == '['), *port = strrchr(text, ':');
	struct addrinfo *list;
	struct kverbs_addr back;

	assert(port > host);
	*port++ = '\0';
	if (*text == '[') {
		assert(port[-2] == ']');
		port[-2] = '\0';
	}
	assert(!kverbs_addr_resolve(host, port, AF_UNSPEC, 0, &list));
	assert(!kverbs_addr_from_sockaddr(&back, list->ai_addr));
	assert(!memcmp(&back, addr, sizeof(back)));
	freeaddrinfo(list);
}

static void check_cut(const struct kverbs_addr *addr, const char *text, size_t room)
{
	char *buf = fuzz_room(room);

	assert(kverbs_addr_format(addr, buf, room) == buf);
	assert(strlen(buf) < room && !strncmp(buf, text, room - 1));
	free(buf);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	struct kverbs_addr addr = take(&in);
	char text[128];

	kverbs_addr_format(&addr, text, sizeof(text));
	assert(strlen(text) < 64);
	check_cut(&addr, text, fuzz_take(&in, 1) % 64 + 1);
	drop_odd_scope(&addr);
	kverbs_addr_format(&addr, text, sizeof(text));
	check_resolved(&addr, text);
	return 0;
}
