// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Descriptors of rings, to be mapped and polled without the file of /dev/kverbs. */
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/poll.h>
#include <linux/slab.h>

#include "file.h"
#include "ring.h"
#include "ring_fd.h"

static void free_ring_fd(struct kref *ref)
{
	kfree(container_of(ref, struct kverbs_ring_fd, ref));
}

static int ring_fd_release(struct inode *inode, struct file *filp)
{
	struct kverbs_ring_fd *ring_fd = filp->private_data;

	kref_put(&ring_fd->ref, free_ring_fd);
	return 0;
}

static __poll_t ring_fd_poll(struct file *filp, struct poll_table_struct *wait)
{
	struct kverbs_ring_fd *ring_fd = filp->private_data;
	__poll_t mask = EPOLLHUP | EPOLLERR;

	poll_wait(filp, &ring_fd->wait, wait);
	mutex_lock(&ring_fd->lock);
	if (ring_fd->ring)
		mask = kverbs_ring_events(ring_fd->ring);
	mutex_unlock(&ring_fd->lock);
	return mask;
}

static int ring_fd_mmap(struct file *filp, struct vm_area_struct *vma)
{
	struct kverbs_ring_fd *ring_fd = filp->private_data;
	u64 offset = (u64)vma->vm_pgoff << PAGE_SHIFT;
	int ret = -ENODEV;

	mutex_lock(&ring_fd->lock);
	if (ring_fd->ring)
		ret = kverbs_ring_mmap_at(ring_fd->ring, offset, vma);
	mutex_unlock(&ring_fd->lock);
	return ret;
}

static const struct file_operations ring_fd_fops = {
	.owner		= THIS_MODULE,
	.release	= ring_fd_release,
	.poll		= ring_fd_poll,
	.mmap		= ring_fd_mmap,
	.llseek		= noop_llseek,
};

/**
 * kverbs_ring_fd_create() - reserve a descriptor of a ring
 * @ucmd: the ioctl, which installs the descriptor when its answer has been copied out
 * @ring: the ring, not published yet
 *
 * Return: 0, -EMFILE, -ENFILE or -ENOMEM.
 */
int kverbs_ring_fd_create(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring)
{
	struct kverbs_ring_fd *ring_fd = kzalloc(sizeof(*ring_fd), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!ring_fd)
		return -ENOMEM;
	kref_init(&ring_fd->ref);
	mutex_init(&ring_fd->lock);
	init_waitqueue_head(&ring_fd->wait);
	ring_fd->ring = ring;
	ret = kverbs_ucmd_new_file(ucmd, "[kverbs-ring]", &ring_fd_fops, ring_fd, O_RDWR);
	if (ret) {
		kfree(ring_fd);
		return ret;
	}
	kref_get(&ring_fd->ref);
	ring->fd = ring_fd;
	return 0;
}

/**
 * kverbs_ring_fd_detach() - let the descriptor of a ring outlive it
 * @ring: the ring, which is being destroyed; it need not have a descriptor
 *
 * Context: process, may sleep.
 */
void kverbs_ring_fd_detach(struct kverbs_ring *ring)
{
	struct kverbs_ring_fd *ring_fd = ring->fd;

	if (!ring_fd)
		return;
	mutex_lock(&ring_fd->lock);
	ring_fd->ring = NULL;
	mutex_unlock(&ring_fd->lock);
	wake_up_all(&ring_fd->wait);
	ring->fd = NULL;
	kref_put(&ring_fd->ref, free_ring_fd);
}
