// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A plugin for QEMU that counts how often each block of instructions is executed. When the guest
 * executes the program of mark.S, the counts since the last time are written to a file, a line a
 * block: address, instructions, executions. A block that an interrupt ends counts as a whole.
 *
 * Arguments: out=NAME, to which a number is appended, and mark=ADDRESS of the program.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin.h"

int qemu_plugin_version = 1;

#define BITS	20
#define SIZE	(1U << BITS)
#define PAGE	12

struct block {
	struct block *next;
	uint64_t addr;
	size_t insns;
	uint64_t executed;
};

/* There is one CPU, so nothing is locked. */
static struct block *blocks[SIZE];
static const char *file;
static uint64_t mark;
static unsigned int dumps;

/* A block is translated again when its code was dropped. */
static struct block *block_of(uint64_t addr, size_t insns)
{
	struct block **at = &blocks[addr * 0x9e3779b97f4a7c15 >> (64 - BITS)];
	struct block *block;

	for (block = *at; block; block = block->next)
		if (block->addr == addr && block->insns == insns)
			return block;
	block = calloc(1, sizeof(*block));
	if (!block)
		abort();
	block->addr = addr;
	block->insns = insns;
	block->next = *at;
	*at = block;
	return block;
}

static void write_block(FILE *out, struct block *block)
{
	if (block->executed)
		fprintf(out, "%" PRIx64 " %zu %" PRIu64 "\n", block->addr, block->insns,
			block->executed);
	block->executed = 0;
}

static void dump(unsigned int cpu, void *data)
{
	struct block *block;
	char name[4096];
	unsigned int i;
	FILE *out;

	(void)cpu;
	(void)data;
	snprintf(name, sizeof(name), "%s.%u", file, dumps++);
	out = fopen(name, "w");
	if (!out) {
		fprintf(stderr, "count: %s: %s\n", name, strerror(errno));
		abort();
	}
	for (i = 0; i < SIZE; i++)
		for (block = blocks[i]; block; block = block->next)
			write_block(out, block);
	if (fclose(out))
		abort();
}

static void translated(uint64_t id, struct qemu_plugin_tb *tb)
{
	uint64_t addr = qemu_plugin_tb_vaddr(tb);
	struct block *block;

	(void)id;
	if (addr >> PAGE == mark >> PAGE) {
		qemu_plugin_register_vcpu_tb_exec_cb(tb, dump, QEMU_PLUGIN_CB_NO_REGS, NULL);
		return;
	}
	block = block_of(addr, qemu_plugin_tb_n_insns(tb));
	qemu_plugin_register_vcpu_tb_exec_inline(tb, QEMU_PLUGIN_INLINE_ADD_U64,
						 &block->executed, 1);
}

int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv)
{
	int i;

	(void)info;
	for (i = 0; i < argc; i++) {
		if (!strncmp(argv[i], "out=", 4))
			file = argv[i] + 4;
		else if (!strncmp(argv[i], "mark=", 5))
			mark = strtoull(argv[i] + 5, NULL, 0);
	}
	if (!file || !mark)
		return -1;
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	return 0;
}
