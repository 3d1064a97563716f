// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Loading and unloading: from the bottom of the layers up, and down again. */
#include <linux/module.h>

#include "chardev.h"
#include "debugfs.h"
#include "device.h"
#include "fault.h"
#include "version.h"
#include "workqueue.h"

struct workqueue_struct *kverbs_workqueue;
struct workqueue_struct *kverbs_poll_workqueue;

static int create_workqueues(void)
{
	kverbs_workqueue = alloc_workqueue(KBUILD_MODNAME, WQ_UNBOUND, 0);
	if (!kverbs_workqueue)
		return -ENOMEM;
	kverbs_poll_workqueue = alloc_workqueue(KBUILD_MODNAME "_poll", WQ_UNBOUND, 0);
	if (kverbs_poll_workqueue)
		return 0;
	destroy_workqueue(kverbs_workqueue);
	return -ENOMEM;
}

static void destroy_workqueues(void)
{
	destroy_workqueue(kverbs_poll_workqueue);
	destroy_workqueue(kverbs_workqueue);
}

static int __init kverbs_init(void)
{
	int ret;

	ret = create_workqueues();
	if (ret)
		return ret;
	ret = kverbs_device_init();
	if (ret)
		goto out_destroy_workqueues;
	ret = kverbs_chardev_init();
	if (ret)
		goto out_exit_device;
	kverbs_fault_init();
	kverbs_debugfs_init();
	return 0;

out_exit_device:
	kverbs_device_exit();
out_destroy_workqueues:
	destroy_workqueues();
	return ret;
}

static void __exit kverbs_exit(void)
{
	kverbs_debugfs_exit();
	kverbs_fault_exit();
	kverbs_chardev_exit();
	kverbs_device_exit();
	destroy_workqueues();
}

module_init(kverbs_init);
module_exit(kverbs_exit);

MODULE_AUTHOR("The kverbs developers");
MODULE_DESCRIPTION("RDMA transport for user space, on kernel verbs");
MODULE_LICENSE("Dual BSD/GPL");
MODULE_VERSION(KVERBS_VERSION);
