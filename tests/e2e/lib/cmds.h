/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* All commands, each with arguments that are valid but for missing objects. */
#ifndef CONTRACT_CMDS_H
#define CONTRACT_CMDS_H

#include "dev.h"

union any_cmd {
	struct kverbs_cmd_info info;
	struct kverbs_cmd_device_query device_query;
	struct kverbs_cmd_ring_create ring_create;
	struct kverbs_cmd_submit submit;
	struct kverbs_cmd_region_create region_create;
	struct kverbs_cmd_listen listen;
	struct kverbs_cmd_connect connect;
	struct kverbs_cmd_accept accept;
	struct kverbs_cmd_reject reject;
	struct kverbs_cmd_disconnect disconnect;
	struct kverbs_cmd_conn_query conn_query;
	struct kverbs_cmd_export export;
	struct kverbs_cmd_destroy destroy;
	struct kverbs_cmd_bench bench;
	struct kverbs_cmd_group_create group_create;
	struct kverbs_cmd_pool_create pool_create;
	struct kverbs_cmd_region_export_fd region_export_fd;
	uint32_t size;
	unsigned char bytes[4096];
};

/**
 * struct command - a command
 * @name: its name
 * @number: its ioctl number
 * @size: size of its struct
 * @first_size: size of its struct in the first version, 0: it has not grown
 * @answer: errno expected for the arguments of @fill, mostly ENOENT for a missing object
 * @fill: fills in the arguments
 */
struct command {
	const char *name;
	unsigned long number;
	size_t size;
	size_t first_size;
	int answer;
	void (*fill)(const struct ring *ring, union any_cmd *cmd);
};

extern const struct command commands[];
extern const size_t nr_commands;

const struct command *command_by_number(unsigned long number);
void command_fill(const struct command *command, const struct ring *ring,
		  union any_cmd *cmd);

#endif /* CONTRACT_CMDS_H */
