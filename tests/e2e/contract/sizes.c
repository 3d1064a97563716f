// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Structs of other sizes, or none: every command treats them the same. */
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cmds.h"

static union any_cmd cmd;

/* Set up a device with a ring, and the command's own arguments in @cmd. */
static int prepare(const struct command *command)
{
	static struct ring ring;
	int fd = dev_open();

	ring_open(&ring, fd, 8, 32);
	command_fill(command, &ring, &cmd);
	return fd;
}

static void exact(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);

	CHECK_ERR(dev_cmd(fd, command->number, &cmd), command->answer);
}

static size_t first_size(const struct command *command)
{
	return command->first_size ?: command->size;
}

static void first(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);

	cmd.size = first_size(command);
	memset(&cmd.bytes[cmd.size], 0xff, sizeof(cmd) - cmd.size);
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), command->answer);
	CHECK_EQ(cmd.bytes[first_size(command)], 0xff);
}

static void short_by_one(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);

	cmd.size = first_size(command) - 1;
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), EINVAL);
}

static void size_zero(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);

	cmd.size = 0;
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), EINVAL);
}

static void only_the_size(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);

	cmd.size = sizeof(cmd.size);
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), EINVAL);
}

static void trailing_zero(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);

	cmd.size = sizeof(cmd);
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), command->answer);
}

static void trailing_garbage(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);

	cmd.size = command->size + 1;
	cmd.bytes[command->size] = 1;
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), E2BIG);
	cmd.size = sizeof(cmd);
	cmd.bytes[command->size] = 0;
	cmd.bytes[sizeof(cmd) - 1] = 0x80;
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), E2BIG);
}

static void huge(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);

	cmd.size = UINT32_MAX;
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), E2BIG);
	cmd.size = sizeof(cmd) + 1;
	CHECK_ERR(dev_cmd(fd, command->number, &cmd), E2BIG);
}

static void unmapped(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);

	CHECK_ERR(dev_cmd(fd, command->number, NULL), EFAULT);
	CHECK_ERR(dev_cmd(fd, command->number, (void *)-8L), EFAULT);
}

/* Returns two pages of which the second is not mapped. */
static char *half_mapped(void)
{
	char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			 -1, 0);

	CHECK(map != MAP_FAILED);
	CHECK_EQ(munmap(map + 4096, 4096), 0);
	return map;
}

static void runs_into_hole(const void *arg)
{
	const struct command *command = arg;
	int fd = prepare(command);
	char *place = half_mapped() + 4096 - (command->size - 1);

	memcpy(place, &cmd, command->size - 1);
	CHECK_ERR(dev_cmd(fd, command->number, place), EFAULT);
}

/* The command cannot write its answer: it must not create an object. */
static void read_only(const void *arg)
{
	const struct command *command = arg;
	long pinned = test_status_kb(0, "VmPin");
	int fd = prepare(command);
	char *place = half_mapped();

	memcpy(place, &cmd, command->size);
	CHECK_EQ(mprotect(place, 4096, PROT_READ), 0);
	CHECK_ERR(dev_cmd(fd, command->number, place),
		  command->answer ? command->answer : EFAULT);
	CHECK_EQ(test_status_kb(0, "VmPin"), pinned);
}

/* A command without out_ fields succeeds although its struct cannot be written. */
TEST(a_struct_without_an_answer_is_only_read)
{
	struct kverbs_cmd_destroy *cmd = (void *)half_mapped();
	int fd = dev_open();
	struct ring ring;

	ring_open(&ring, fd, 1, 1);
	*cmd = (struct kverbs_cmd_destroy){ .size = sizeof(*cmd), .id = ring.id };
	CHECK_EQ(mprotect(cmd, 4096, PROT_READ), 0);
	CHECK_OK(dev_cmd(fd, KVERBS_DESTROY, cmd));
	CHECK_ERR(dev_cmd(fd, KVERBS_DESTROY, cmd), ENOENT);
}

static const struct {
	const char *rule;
	test_fn run;
} rules[] = {
	{ "its exact size is accepted", exact },
	{ "the size of its first version is accepted", first },
	{ "a byte less than that gives EINVAL", short_by_one },
	{ "size 0 gives EINVAL", size_zero },
	{ "a size that covers itself only gives EINVAL", only_the_size },
	{ "trailing zeroes change nothing", trailing_zero },
	{ "trailing garbage gives E2BIG", trailing_garbage },
	{ "a size beyond a page gives E2BIG", huge },
	{ "a NULL or wild pointer gives EFAULT", unmapped },
	{ "a struct that runs into a hole gives EFAULT", runs_into_hole },
	{ "a struct that cannot be written to leaves no object", read_only },
};

TEST_GROUP(size_rules)
{
	char name[128];
	size_t i, j;

	for (i = 0; i < nr_commands; i++)
		for (j = 0; j < ARRAY_SIZE(rules); j++) {
			snprintf(name, sizeof(name), "%s: %s", commands[i].name,
				 rules[j].rule);
			test_add_light(name, rules[j].run, &commands[i]);
		}
}

TEST(an_unknown_command_gives_ENOTTY)
{
	int fd = dev_open();
	unsigned int nr;

	for (nr = 0; nr < 256; nr++) {
		memset(&cmd, 0, sizeof(cmd));
		cmd.size = 64;
		if (command_by_number(_IO(KVERBS_IOC_TYPE, nr)))
			continue;
		CHECK_ERR(dev_cmd(fd, _IO(KVERBS_IOC_TYPE, nr), &cmd), ENOTTY);
	}
}

TEST(a_command_with_another_letter_gives_ENOTTY)
{
	int fd = prepare(&commands[0]);

	CHECK_ERR(dev_cmd(fd, _IO(KVERBS_IOC_TYPE + 1, 0), &cmd), ENOTTY);
	CHECK_ERR(dev_cmd(fd, _IO(0, 0), &cmd), ENOTTY);
}

TEST(a_command_with_a_direction_or_size_in_its_number_gives_ENOTTY)
{
	int fd = prepare(&commands[0]);

	CHECK_ERR(dev_cmd(fd, _IOWR(KVERBS_IOC_TYPE, 0, struct kverbs_cmd_info), &cmd),
		  ENOTTY);
	CHECK_ERR(dev_cmd(fd, _IOC(_IOC_NONE, KVERBS_IOC_TYPE, 0, 8), &cmd), ENOTTY);
}

TEST(read_and_write_are_refused)
{
	char byte = 0;
	int fd = dev_open();

	CHECK_EQ(read(fd, &byte, 1), -1);
	CHECK_EQ(errno, EINVAL);
	CHECK_EQ(write(fd, &byte, 1), -1);
	CHECK_EQ(errno, EINVAL);
}
