// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* An open /dev/kverbs, from open to after its last close. */
#include <linux/anon_inodes.h>
#include <linux/fcntl.h>
#include <linux/file.h>
#include <linux/memcontrol.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/slab.h>

#include "file.h"
#include "object.h"
#include "workqueue.h"

/* Of the file that was opened last. */
static atomic64_t last_nr;
static LIST_HEAD(files);
/* Guards @files; held while files are visited, so that none closes. */
static DEFINE_MUTEX(files_lock);

static void enter(struct kverbs_file *file)
{
	mutex_lock(&files_lock);
	list_add_tail(&file->entry, &files);
	mutex_unlock(&files_lock);
}

static void leave(struct kverbs_file *file)
{
	mutex_lock(&files_lock);
	list_del(&file->entry);
	mutex_unlock(&files_lock);
}

static void free_file(struct kverbs_file *file)
{
	kverbs_object_table_exit(&file->objects);
	xa_destroy(&file->rings);
	xa_destroy(&file->pools);
	mem_cgroup_put(file->memcg);
	kfree(file);
}

/* All connections have ended, so nothing interrupts this, and nothing waits for a peer. */
static void close_work(struct work_struct *work)
{
	struct kverbs_file *file = container_of(work, struct kverbs_file, close_work);

	leave(file);
	kverbs_object_destroy_all(file);
	free_file(file);
	/* The workqueue is destroyed, and so this function has returned, before the module goes. */
	module_put(THIS_MODULE);
}

/**
 * kverbs_file_open() - make a file without objects
 *
 * Context: process, may sleep; the task is charged for what requests of peers take.
 * Return: the file or NULL.
 */
struct kverbs_file *kverbs_file_open(void)
{
	struct kverbs_file *file = kzalloc(sizeof(*file), GFP_KERNEL_ACCOUNT);

	if (!file)
		return NULL;
	kverbs_object_table_init(&file->objects);
	xa_init_flags(&file->rings, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	xa_init_flags(&file->pools, XA_FLAGS_ALLOC | XA_FLAGS_ACCOUNT);
	init_waitqueue_head(&file->wait);
	refcount_set(&file->conns, 1);
	INIT_WORK(&file->close_work, close_work);
	file->memcg = get_mem_cgroup_from_mm(current->mm);
	file->nr = atomic64_inc_return(&last_nr);
	file->pid = task_tgid_nr(current);
	get_task_comm(file->comm, current);
	enter(file);
	return file;
}

/**
 * kverbs_file_close() - destroy all objects of a file, and free it
 * @file: the file, which no ioctl and no mapping uses any more
 * @may_wait: wait for peers until the task is killed; otherwise not at all
 *
 * A task that exits does not wait for a peer either. What is left by then is destroyed when the
 * last connection has ended; until then it is among the files, and the module stays.
 *
 * Context: process, may sleep.
 */
void kverbs_file_close(struct kverbs_file *file, bool may_wait)
{
	file->impatient = !may_wait;
	leave(file);
	if (!kverbs_object_destroy_all(file)) {
		free_file(file);
		return;
	}
	enter(file);
	__module_get(THIS_MODULE);
	kverbs_file_put_conn(file);
}

/**
 * kverbs_file_get_conn() - count a connection that has not ended
 * @file: the file, open
 */
void kverbs_file_get_conn(struct kverbs_file *file)
{
	refcount_inc(&file->conns);
}

/**
 * kverbs_file_put_conn() - undo kverbs_file_get_conn(), when the connection has ended
 * @file: the file, which may go afterwards
 *
 * Context: any.
 */
void kverbs_file_put_conn(struct kverbs_file *file)
{
	if (refcount_dec_and_test(&file->conns))
		queue_work(kverbs_teardown_workqueue, &file->close_work);
}

/**
 * kverbs_file_for_each() - visit the files that have not been closed
 * @visit: called for each; the file stays until it has returned
 * @arg: its second argument
 *
 * Context: process, may sleep.
 * Return: 0, or -EINTR: a signal is pending, and none was visited.
 */
int kverbs_file_for_each(void (*visit)(struct kverbs_file *file, void *arg), void *arg)
{
	struct kverbs_file *file;

	if (mutex_lock_interruptible(&files_lock))
		return -EINTR;
	list_for_each_entry(file, &files, entry)
		visit(file, arg);
	mutex_unlock(&files_lock);
	return 0;
}

/**
 * kverbs_ucmd_new_file() - reserve a descriptor, with FD_CLOEXEC, of a new file
 * @ucmd: the ioctl, which installs the descriptor when its answer has been copied out, and
 *	releases the file if that fails
 * @name: of the file, in brackets
 * @fops: what the file does
 * @data: its private data
 * @flags: O_RDONLY or O_RDWR
 *
 * Context: process, may sleep.
 * Return: 0, -EMFILE, -ENFILE or -ENOMEM.
 */
int kverbs_ucmd_new_file(struct kverbs_ucmd *ucmd, const char *name,
			 const struct file_operations *fops, void *data, int flags)
{
	int fd = get_unused_fd_flags(O_CLOEXEC);
	struct file *filp;

	if (fd < 0)
		return fd;
	filp = anon_inode_getfile(name, fops, data, flags);
	if (IS_ERR(filp)) {
		put_unused_fd(fd);
		return PTR_ERR(filp);
	}
	ucmd->new_filp = filp;
	ucmd->new_fd = fd;
	return 0;
}
