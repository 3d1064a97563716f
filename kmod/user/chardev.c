// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* /dev/kverbs: one table of commands, one way in and out for all of them. */
#define pr_fmt(fmt) KBUILD_MODNAME ": " fmt

#include <linux/file.h>
#include <linux/fs.h>
#include <linux/miscdevice.h>
#include <linux/module.h>
#include <linux/nospec.h>
#include <linux/poll.h>
#include <linux/uaccess.h>

#include "bench_cmd.h"
#include "chardev.h"
#include "conn_cmd.h"
#include "export_cmd.h"
#include "file.h"
#include "group_cmd.h"
#include "info.h"
#include "listen_cmd.h"
#include "pool_cmd.h"
#include "pool_obj.h"
#include "region_cmd.h"
#include "ring.h"
#include "ring_cmd.h"
#include "submit.h"

union cmd_buffer {
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
};

/**
 * struct cmd_op - a command
 * @number: its ioctl number
 * @size: of its struct
 * @min_size: up to and including the last field that it had from the start
 * @answers: it tells something in its struct
 * @reads: it changes nothing, so a file that is open for reading will do
 * @execute: what it does
 */
struct cmd_op {
	unsigned int number;
	unsigned int size;
	unsigned int min_size;
	bool answers;
	bool reads;
	int (*execute)(struct kverbs_ucmd *ucmd);
};

static int cmd_destroy(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_destroy *cmd = ucmd->cmd;

	if (cmd->flags || cmd->__reserved)
		return -EINVAL;
	return kverbs_object_destroy(ucmd->file, cmd->id);
}

#define __CMD_OP(_number, _execute, _struct, _last, _answers, _reads)		\
	[_IOC_NR(_number)] = {							\
		.number = (_number) + BUILD_BUG_ON_ZERO(sizeof(union cmd_buffer) < \
							sizeof(_struct)),	\
		.size = sizeof(_struct),					\
		.min_size = offsetofend(_struct, _last),			\
		.answers = _answers,						\
		.reads = _reads,						\
		.execute = _execute,						\
	}

#define CMD_OP(_number, _execute, _struct, _last)				\
	__CMD_OP(_number, _execute, _struct, _last, true, false)

#define CMD_OP_READ(_number, _execute, _struct, _last)				\
	__CMD_OP(_number, _execute, _struct, _last, true, true)

/* Its struct is only read: what is done could not be undone for want of an answer. */
#define CMD_OP_MUTE(_number, _execute, _struct, _last)				\
	__CMD_OP(_number, _execute, _struct, _last, false, false)

static const struct cmd_op cmd_ops[] = {
	CMD_OP_READ(KVERBS_INFO, kverbs_cmd_info, struct kverbs_cmd_info, out_version),
	CMD_OP_READ(KVERBS_DEVICE_QUERY, kverbs_cmd_device_query,
		    struct kverbs_cmd_device_query, __reserved2),
	CMD_OP(KVERBS_RING_CREATE, kverbs_cmd_ring_create,
	       struct kverbs_cmd_ring_create, out_cqes_offset),
	CMD_OP(KVERBS_SUBMIT, kverbs_cmd_submit, struct kverbs_cmd_submit, out_error),
	CMD_OP(KVERBS_REGION_CREATE, kverbs_cmd_region_create,
	       struct kverbs_cmd_region_create, ring_id),
	CMD_OP(KVERBS_LISTEN, kverbs_cmd_listen, struct kverbs_cmd_listen, __reserved),
	CMD_OP(KVERBS_CONNECT, kverbs_cmd_connect, struct kverbs_cmd_connect, src),
	CMD_OP_MUTE(KVERBS_ACCEPT, kverbs_cmd_accept, struct kverbs_cmd_accept,
		    priv_uptr),
	CMD_OP_MUTE(KVERBS_REJECT, kverbs_cmd_reject, struct kverbs_cmd_reject,
		    priv_uptr),
	CMD_OP_MUTE(KVERBS_DISCONNECT, kverbs_cmd_disconnect,
		    struct kverbs_cmd_disconnect, __reserved),
	CMD_OP_READ(KVERBS_CONN_QUERY, kverbs_cmd_conn_query,
		    struct kverbs_cmd_conn_query, out_up_ns),
	CMD_OP(KVERBS_EXPORT, kverbs_cmd_export, struct kverbs_cmd_export, out_id),
	CMD_OP_MUTE(KVERBS_DESTROY, cmd_destroy, struct kverbs_cmd_destroy,
		    __reserved),
	CMD_OP(KVERBS_BENCH, kverbs_cmd_bench, struct kverbs_cmd_bench, out_wc_status),
	CMD_OP(KVERBS_GROUP_CREATE, kverbs_cmd_group_create,
	       struct kverbs_cmd_group_create, out_id),
	CMD_OP(KVERBS_POOL_CREATE, kverbs_cmd_pool_create, struct kverbs_cmd_pool_create,
	       out_bufs_offset),
	CMD_OP(KVERBS_REGION_EXPORT_FD, kverbs_cmd_region_export_fd,
	       struct kverbs_cmd_region_export_fd, out_fd),
};

/* Destroys a new object whose id could not be copied to user space. */
static void abort_new(struct kverbs_object *obj)
{
	kverbs_object_unreserve(obj);
	obj->ops->destroy(obj);
}

/* Holds a reference: another thread may guess the id and destroy the object before @start. */
static void publish_new(struct kverbs_ucmd *ucmd)
{
	struct kverbs_object *obj = ucmd->new;

	refcount_inc(&obj->gets);
	kverbs_object_publish(obj);
	if (ucmd->start)
		ucmd->start(obj);
	kverbs_object_put(obj);
}

/* From here on the descriptor is the process's, which may close it at any time. */
static void finish_file(struct kverbs_ucmd *ucmd, bool failed)
{
	if (!failed) {
		fd_install(ucmd->new_fd, ucmd->new_filp);
		return;
	}
	put_unused_fd(ucmd->new_fd);
	fput(ucmd->new_filp);
}

static bool has_answer(const struct cmd_op *op, int ret)
{
	return op->answers && (!ret || ret == -EMSGSIZE);
}

static int run_cmd(struct kverbs_ucmd *ucmd, const struct cmd_op *op, void __user *arg,
		   u32 user_size)
{
	int ret, err = 0;

	ret = op->execute(ucmd);
	if (has_answer(op, ret) &&
	    copy_to_user(arg, ucmd->cmd, min(user_size, op->size)))
		err = -EFAULT;
	if (ucmd->new && (ret || err))
		abort_new(ucmd->new);
	else if (ucmd->new)
		publish_new(ucmd);
	if (ucmd->new_filp)
		finish_file(ucmd, ret || err);
	if (ucmd->parent)
		kverbs_object_put(ucmd->parent);
	return ret ?: err;
}

static noinline_for_stack int run_any(struct kverbs_ucmd *ucmd, const struct cmd_op *op,
				      void __user *arg, u32 user_size)
{
	union cmd_buffer buf;
	int ret;

	ret = copy_struct_from_user(&buf, op->size, arg, user_size);
	if (ret)
		return ret;
	ucmd->cmd = &buf;
	return run_cmd(ucmd, op, arg, user_size);
}

/*
 * The fast path of SUBMIT, if its struct has the size known here. run_any() has room for any
 * command on its stack, which hardened kernels clear, and copies a variable size, which they
 * check.
 */
static int run_submit(struct kverbs_ucmd *ucmd, const struct cmd_op *op, void __user *arg)
{
	struct kverbs_cmd_submit cmd;
	int ret;

	if (copy_from_user(&cmd, arg, sizeof(cmd)))
		return -EFAULT;
	ucmd->cmd = &cmd;
	ret = kverbs_cmd_submit(ucmd);
	if (has_answer(op, ret) && copy_to_user(arg, &cmd, sizeof(cmd)))
		return ret ?: -EFAULT;
	return ret;
}

static long kverbs_ioctl(struct file *filp, unsigned int number, unsigned long arg)
{
	struct kverbs_ucmd ucmd = { .file = filp->private_data };
	void __user *uarg = (void __user *)arg;
	unsigned int nr = _IOC_NR(number);
	const struct cmd_op *op;
	u32 user_size;
	int ret;

	if (nr >= ARRAY_SIZE(cmd_ops))
		return -ENOTTY;
	op = &cmd_ops[array_index_nospec(nr, ARRAY_SIZE(cmd_ops))];
	if (op->number != number)
		return -ENOTTY;
	if (!op->reads && !(filp->f_mode & FMODE_WRITE))
		return -EBADF;
	if (get_user(user_size, (u32 __user *)uarg))
		return -EFAULT;
	if (user_size < op->min_size)
		return -EINVAL;
	if (user_size > PAGE_SIZE)
		return -E2BIG;
	if (number == KVERBS_SUBMIT && user_size == sizeof(struct kverbs_cmd_submit))
		ret = run_submit(&ucmd, op, uarg);
	else
		ret = run_any(&ucmd, op, uarg, user_size);
	if (ret < 0)
		pr_debug_ratelimited("%s[%d]: command %u gives %pe\n", current->comm,
				     task_tgid_nr(current), nr, ERR_PTR(ret));
	return ret;
}

static struct kverbs_ring *ring_by_index(struct kverbs_file *file, unsigned long index)
{
	void *entry = xa_load(&file->rings, index);

	return entry ? kverbs_ring_get(file, xa_to_value(entry)) : ERR_PTR(-ENOENT);
}

static __poll_t kverbs_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct kverbs_file *file = filp->private_data;
	struct kverbs_ring *ring;
	unsigned long index;
	__poll_t mask = 0;
	void *entry;

	poll_wait(filp, &file->wait, wait);
	xa_for_each(&file->rings, index, entry) {
		ring = ring_by_index(file, index);
		if (IS_ERR(ring))
			continue;
		if (!ring->fd)
			mask |= kverbs_ring_events(ring);
		kverbs_object_put(&ring->obj);
	}
	return mask;
}

static int mmap_ring(struct kverbs_file *file, u64 index, u64 offset,
		     struct vm_area_struct *vma)
{
	struct kverbs_ring *ring = ring_by_index(file, index);
	int ret;

	if (IS_ERR(ring))
		return -EINVAL;
	ret = kverbs_ring_mmap_at(ring, offset, vma);
	kverbs_object_put(&ring->obj);
	return ret;
}

static int mmap_pool(struct kverbs_file *file, u64 index, unsigned int part,
		     struct vm_area_struct *vma)
{
	void *entry = xa_load(&file->pools, index);
	struct kverbs_pool_obj *pool_obj;
	int ret;

	if (!entry)
		return -EINVAL;
	pool_obj = kverbs_pool_obj_get(file, xa_to_value(entry));
	if (IS_ERR(pool_obj))
		return -EINVAL;
	ret = kverbs_pool_obj_mmap(pool_obj, part, vma);
	kverbs_object_put(&pool_obj->obj);
	return ret;
}

/* The offsets of pools follow those of all rings. */
static int kverbs_mmap(struct file *filp, struct vm_area_struct *vma)
{
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 part = offset >> KVERBS_RING_OFFSET_SHIFT;
	u64 index = part / KVERBS_RING_PARTS;

	if (part << KVERBS_RING_OFFSET_SHIFT != offset)
		return -EINVAL;
	part %= KVERBS_RING_PARTS;
	if (index < KVERBS_MAX_RINGS)
		return mmap_ring(filp->private_data, index, offset, vma);
	return mmap_pool(filp->private_data, index - KVERBS_MAX_RINGS, part, vma);
}

static int kverbs_open(struct inode *inode, struct file *filp)
{
	struct kverbs_file *file = kverbs_file_open();

	if (!file)
		return -ENOMEM;
	filp->private_data = file;
	return nonseekable_open(inode, filp);
}

/*
 * The last close, by whatever process, when no ioctl and no mapping is left. A file that was left
 * in a message between sockets is closed by a kernel thread, which cannot be killed, and has other
 * files to close.
 */
static int kverbs_release(struct inode *inode, struct file *filp)
{
	kverbs_file_close(filp->private_data, !(current->flags & PF_KTHREAD));
	return 0;
}

static const struct file_operations kverbs_fops = {
	.owner		= THIS_MODULE,
	.open		= kverbs_open,
	.release	= kverbs_release,
	.unlocked_ioctl	= kverbs_ioctl,
	.compat_ioctl	= compat_ptr_ioctl,
	.poll		= kverbs_poll,
	.mmap		= kverbs_mmap,
	.llseek		= noop_llseek,
};

/* For root only: a udev rule gives the node to a group. */
static struct miscdevice kverbs_misc = {
	.minor	= MISC_DYNAMIC_MINOR,
	.name	= KBUILD_MODNAME,
	.fops	= &kverbs_fops,
	.mode	= 0600,
};

/**
 * kverbs_chardev_init() - register /dev/kverbs
 *
 * Return: 0 or -errno.
 */
int kverbs_chardev_init(void)
{
	return misc_register(&kverbs_misc);
}

/**
 * kverbs_chardev_exit() - remove /dev/kverbs
 */
void kverbs_chardev_exit(void)
{
	misc_deregister(&kverbs_misc);
}
