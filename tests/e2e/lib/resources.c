// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counts RDMA objects as "rdma resource show" does, but without starting a program, which on the
 * debug kernel takes longer than most tests.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <libmnl/libmnl.h>
#include <rdma/rdma_netlink.h>

#include "harness.h"
#include "resources.h"

/* Upper bound of the length of a netlink message */
#define LONGEST 32768

static void put_entry(const struct nlattr *entry, FILE *out)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, entry) {
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_NAME)
			fprintf(out, " %s", mnl_attr_get_str(attr));
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_RES_SUMMARY_ENTRY_CURR)
			fprintf(out, " %llu", (unsigned long long)mnl_attr_get_u64(attr));
	}
}

static int put_device(const struct nlmsghdr *message, void *out)
{
	const struct nlattr *attr, *entry;

	mnl_attr_for_each(attr, message, 0) {
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_DEV_NAME)
			fprintf(out, "%s:", mnl_attr_get_str(attr));
		if (mnl_attr_get_type(attr) == RDMA_NLDEV_ATTR_RES_SUMMARY)
			mnl_attr_for_each_nested(entry, attr)
				put_entry(entry, out);
	}
	fputc('\n', out);
	return MNL_CB_OK;
}

static void ask(struct mnl_socket *socket, unsigned int seq)
{
	char buffer[MNL_NLMSG_HDRLEN] __aligned(NLMSG_ALIGNTO);
	struct nlmsghdr *message = mnl_nlmsg_put_header(buffer);

	message->nlmsg_type = RDMA_NL_GET_TYPE(RDMA_NL_NLDEV, RDMA_NLDEV_CMD_RES_GET);
	message->nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
	message->nlmsg_seq = seq;
	CHECK(mnl_socket_sendto(socket, message, message->nlmsg_len) > 0);
}

static void answer(struct mnl_socket *socket, unsigned int seq, FILE *out)
{
	char buffer[LONGEST] __aligned(NLMSG_ALIGNTO);
	int ret, len;

	do {
		len = mnl_socket_recvfrom(socket, buffer, sizeof(buffer));
		CHECK(len > 0);
		ret = mnl_cb_run(buffer, len, seq, mnl_socket_get_portid(socket), put_device, out);
		CHECK(ret >= 0);
	} while (ret != MNL_CB_STOP);
}

/**
 * resources_count() - count the objects of each kind on each device
 * @text: filled in, one line for each device
 * @size: size of @text
 */
void resources_count(char *text, size_t size)
{
	struct mnl_socket *socket = mnl_socket_open(NETLINK_RDMA);
	FILE *out = fmemopen(text, size, "w");

	CHECK(socket && out);
	*text = 0;
	CHECK(!mnl_socket_bind(socket, 0, MNL_SOCKET_AUTOPID));
	ask(socket, 1);
	answer(socket, 1, out);
	mnl_socket_close(socket);
	CHECK(!fclose(out));
}

static long meminfo_kb(const char *text, const char *field)
{
	const char *line = strstr(text, field);

	CHECK(line);
	return strtol(line + strlen(field), NULL, 10);
}

long resources_kernel_bytes(void)
{
	static char text[8192];
	FILE *file = fopen("/proc/meminfo", "r");

	CHECK(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = 0;
	fclose(file);
	return 1024 * (meminfo_kb(text, "MemTotal:") - meminfo_kb(text, "MemFree:") -
		       meminfo_kb(text, "Buffers:") - meminfo_kb(text, "\nCached:") -
		       meminfo_kb(text, "AnonPages:") - meminfo_kb(text, "SReclaimable:"));
}
