/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* An open /dev/kverbs, and an ioctl on it, which chardev.c makes. */
#ifndef KVERBS_FILE_H
#define KVERBS_FILE_H

#include <linux/atomic.h>
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/refcount.h>
#include <linux/sched.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>

struct kverbs_object;

/* Objects that one file may hold at a time. */
#define KVERBS_MAX_OBJECTS	65536

/**
 * struct kverbs_object_table - the objects of a file
 * @xa: by id; its lock guards publication
 * @next: where to look for a free id
 * @count: ids in use
 * @released: woken when an ioctl stops using an object
 */
struct kverbs_object_table {
	struct xarray xa;
	u32 next;
	atomic_t count;
	wait_queue_head_t released;
};

/**
 * struct kverbs_file - an open /dev/kverbs: one security domain
 * @entry: in the list of files
 * @nr: what debugfs tells it by from all others
 * @pid: of the task that opened it
 * @comm: the same
 * @memcg: the control group of that task, charged for what requests of peers take
 * @objects: all that was made through it
 * @rings: ids of the rings by their index, for mmap and poll
 * @pools: ids of the receive pools by their index, for mmap
 * @wait: woken when a completion is written to any ring
 * @conns: connections that have not ended, and 1 until kverbs_file_close() leaves the rest to
 *	@close_work
 * @close_work: destroys what kverbs_file_close() has left, when the last connection has ended
 * @impatient: the task that closes it does not wait for a peer
 */
struct kverbs_file {
	struct list_head entry;
	u64 nr;
	pid_t pid;
	char comm[TASK_COMM_LEN];
	struct mem_cgroup *memcg;
	struct kverbs_object_table objects;
	struct xarray rings;
	struct xarray pools;
	wait_queue_head_t wait;
	refcount_t conns;
	struct work_struct close_work;
	bool impatient;
};

/**
 * struct kverbs_ucmd - an ioctl under way
 * @file: on which file
 * @cmd: its struct, copied in, and copied out again if it succeeds
 * @new: an object that it made; published when all has been copied out, and
 *	destroyed if that fails
 * @start: what to do with @new once it is published; cannot fail
 * @new_filp: a file that it made, or NULL; installed as @new_fd when all has been copied out,
 *	and released if that fails
 * @new_fd: the descriptor reserved for @new_filp
 * @parent: the object that destroys @new when it is destroyed itself, or NULL; held until
 *	@new is published, since before that it would not find @new by its id
 */
struct kverbs_ucmd {
	struct kverbs_file *file;
	void *cmd;
	struct kverbs_object *new;
	void (*start)(struct kverbs_object *obj);
	struct file *new_filp;
	int new_fd;
	struct kverbs_object *parent;
};

/*
 * kverbs_cmd_NAME() carries out the command KVERBS_NAME. It runs in the context of the caller,
 * may sleep, and returns 0 or an error that linux/kverbs.h lists for the command. It changes
 * out_* fields, which the caller of the ioctl sees after 0 and EMSGSIZE only.
 */

struct kverbs_file *kverbs_file_open(void);
void kverbs_file_close(struct kverbs_file *file, bool may_wait);
void kverbs_file_get_conn(struct kverbs_file *file);
void kverbs_file_put_conn(struct kverbs_file *file);
int kverbs_ucmd_new_file(struct kverbs_ucmd *ucmd, const char *name,
			 const struct file_operations *fops, void *data, int flags);
int kverbs_file_for_each(void (*visit)(struct kverbs_file *file, void *arg), void *arg);

#endif /* KVERBS_FILE_H */
