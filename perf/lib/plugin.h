/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The part of QEMU's interface to plugins, version 1, that count.c needs: Debian packages none. */
#ifndef KVERBS_PERF_PLUGIN_H
#define KVERBS_PERF_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

struct qemu_info;
struct qemu_plugin_tb;

enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };
enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id,
					   void (*cb)(uint64_t id, struct qemu_plugin_tb *tb));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *tb,
					  void (*cb)(unsigned int cpu, void *data),
					  enum qemu_plugin_cb_flags flags, void *data);
void qemu_plugin_register_vcpu_tb_exec_inline(struct qemu_plugin_tb *tb, enum qemu_plugin_op op,
					      void *counter, uint64_t imm);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb);
uint64_t qemu_plugin_tb_vaddr(const struct qemu_plugin_tb *tb);

extern int qemu_plugin_version;
int qemu_plugin_install(uint64_t id, const struct qemu_info *info, int argc, char **argv);

#endif
