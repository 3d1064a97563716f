// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Loading and unloading: core before user, and back. */
#include <linux/module.h>

#include "chardev.h"
#include "debugfs.h"
#include "device.h"
#include "fault.h"
#include "ib_core.h"
#include "version.h"
#include "workqueue.h"

static int __init kverbs_init(void)
{
	int ret;

	ret = kverbs_ib_core_check(kverbs_ib_core_is_replaced());
	if (ret)
		return ret;
	ret = kverbs_workqueue_init();
	if (ret)
		return ret;
	ret = kverbs_device_init();
	if (ret)
		goto out_exit_workqueue;
	ret = kverbs_chardev_init();
	if (ret)
		goto out_exit_device;
	kverbs_fault_init();
	kverbs_debugfs_init();
	return 0;

out_exit_device:
	kverbs_device_exit();
out_exit_workqueue:
	kverbs_workqueue_exit();
	return ret;
}

static void __exit kverbs_exit(void)
{
	kverbs_debugfs_exit();
	kverbs_fault_exit();
	kverbs_chardev_exit();
	kverbs_device_exit();
	kverbs_workqueue_exit();
	/* For free_map_rcu(). */
	rcu_barrier();
}

module_init(kverbs_init);
module_exit(kverbs_exit);

MODULE_AUTHOR("The kverbs developers");
MODULE_DESCRIPTION("RDMA transport for user space, on kernel verbs");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(KVERBS_VERSION);
