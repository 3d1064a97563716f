// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Verbs that fail on demand, by debugfs as any other fault, see fault-injection.rst. */
#include <linux/debugfs.h>
#include <linux/fault-inject.h>

#include "fault.h"

static DECLARE_FAULT_ATTR(fail_kverbs);
static struct dentry *dir;

/**
 * kverbs_fault_init() - create fail_kverbs in debugfs
 *
 * Without debugfs there are none.
 */
void kverbs_fault_init(void)
{
	dir = fault_create_debugfs_attr("fail_kverbs", NULL, &fail_kverbs);
}

/**
 * kverbs_fault_exit() - remove fail_kverbs
 */
void kverbs_fault_exit(void)
{
	debugfs_remove(dir);
}

/**
 * kverbs_fault_injected() - whether the next verb shall fail
 *
 * Context: any.
 * Return: 0, or -ENOMEM, and then the verb must not be called.
 */
int kverbs_fault_injected(void)
{
	return should_fail(&fail_kverbs, 1) ? -ENOMEM : 0;
}
