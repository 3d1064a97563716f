// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Memory of regions that files and processes share by a descriptor. */
#include <linux/file.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/seq_file.h>

#include "file.h"
#include "memory.h"
#include "region_fd.h"

static int memory_release(struct inode *inode, struct file *filp)
{
	kverbs_memory_put(filp->private_data);
	return 0;
}

static void memory_show_fdinfo(struct seq_file *m, struct file *filp)
{
	const struct kverbs_memory *memory = filp->private_data;

	seq_printf(m, "length:\t%llu\n", memory->length);
}

/* The mode of the file says whether the memory may be written to. */
static const struct file_operations memory_fops = {
	.owner		= THIS_MODULE,
	.release	= memory_release,
	.show_fdinfo	= memory_show_fdinfo,
};

/**
 * kverbs_memory_of_fd() - the memory that a descriptor of the current process shares
 * @fd: the descriptor
 * @writable: whether it will be written to
 *
 * Return: the memory, to be kverbs_memory_put(), or an ERR_PTR: -EBADF if @fd is not open,
 * -EINVAL if it is of another kind, -EACCES if it is read-only and @writable asks for more.
 */
struct kverbs_memory *kverbs_memory_of_fd(int fd, bool writable)
{
	struct file *filp = fget(fd);
	struct kverbs_memory *memory;

	if (!filp)
		return ERR_PTR(-EBADF);
	if (filp->f_op != &memory_fops) {
		memory = ERR_PTR(-EINVAL);
	} else if (writable && !(filp->f_mode & FMODE_WRITE)) {
		memory = ERR_PTR(-EACCES);
	} else {
		memory = filp->private_data;
		kverbs_memory_get(memory);
	}
	fput(filp);
	return memory;
}

/**
 * kverbs_memory_share() - reserve a descriptor that shares memory
 * @ucmd: the ioctl, which installs the descriptor when its answer has been copied out
 * @memory: the memory; the descriptor gets a reference
 * @writable: let regions made of the descriptor be written to
 *
 * Return: 0, -EMFILE, -ENFILE or -ENOMEM.
 */
int kverbs_memory_share(struct kverbs_ucmd *ucmd, struct kverbs_memory *memory, bool writable)
{
	int ret;

	kverbs_memory_get(memory);
	ret = kverbs_ucmd_new_file(ucmd, "[kverbs-region]", &memory_fops, memory,
				   writable ? O_RDWR : O_RDONLY);
	if (ret)
		kverbs_memory_put(memory);
	return ret;
}
