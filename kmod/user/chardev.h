/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CHARDEV_H
#define KVERBS_CHARDEV_H

#include <linux/kverbs.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/xarray.h>

#include "object.h"

/**
 * struct kverbs_file - an open /dev/kverbs: one security domain
 * @entry: in the list of those that debugfs shows
 * @nr: what debugfs tells it by from all others
 * @pid: who opened it
 * @comm: the same
 * @objects: all that was made through it
 * @rings: ids of the rings by their index, for mmap and poll
 * @wait: woken when a completion is written to any ring
 */
struct kverbs_file {
	struct list_head entry;
	u64 nr;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	struct kverbs_object_table objects;
	struct xarray rings;
	wait_queue_head_t wait;
};

/**
 * struct kverbs_ucmd - an ioctl under way
 * @file: on which file
 * @cmd: its struct, copied in, and copied out again if it succeeds
 * @new: an object that it made; published when all has been copied out, and
 *	destroyed if that fails
 * @start: what to do with @new once it is published; cannot fail
 */
struct kverbs_ucmd {
	struct kverbs_file *file;
	void *cmd;
	struct kverbs_object *new;
	void (*start)(struct kverbs_object *obj);
};

int kverbs_cmd_info(struct kverbs_ucmd *ucmd);
int kverbs_cmd_device_query(struct kverbs_ucmd *ucmd);
int kverbs_cmd_ring_create(struct kverbs_ucmd *ucmd);
int kverbs_cmd_submit(struct kverbs_ucmd *ucmd);
int kverbs_cmd_region_create(struct kverbs_ucmd *ucmd);
int kverbs_cmd_listen(struct kverbs_ucmd *ucmd);
int kverbs_cmd_connect(struct kverbs_ucmd *ucmd);
int kverbs_cmd_accept(struct kverbs_ucmd *ucmd);
int kverbs_cmd_reject(struct kverbs_ucmd *ucmd);
int kverbs_cmd_disconnect(struct kverbs_ucmd *ucmd);
int kverbs_cmd_conn_query(struct kverbs_ucmd *ucmd);
int kverbs_cmd_export(struct kverbs_ucmd *ucmd);

#ifdef KVERBS_HAVE_BENCH
int kverbs_cmd_bench(struct kverbs_ucmd *ucmd);
#else
static inline int kverbs_cmd_bench(struct kverbs_ucmd *ucmd)
{
	return -ENOTTY;
}
#endif

int kverbs_chardev_init(void);
void kverbs_chardev_exit(void);

#endif /* KVERBS_CHARDEV_H */
