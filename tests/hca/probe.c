// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * For tests, in debugfs: the bus addresses that the device was given, and its DMA engine, which
 * reads from or writes to any of them, whether or not they are still meant for it.
 */
#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>

#include "hca.h"

#define NOTES		512
#define WRITTEN		0xee

/**
 * struct note - an address in a work request
 * @what: send, recv, or page of a REG_MR
 * @addr: the address
 * @length: bytes
 */
struct note {
	const char *what;
	u64 addr;
	u64 length;
};

static struct dentry *dir;

static DEFINE_SPINLOCK(notes_lock);
static struct note notes[NOTES];
static unsigned int nr_notes;

/* Guards all below. */
static DEFINE_MUTEX(probe_lock);
static struct hca *target;
static void *buffer;
static dma_addr_t buffer_addr;
static u8 bytes[EDU_PIECE];
static size_t nr_bytes;

/**
 * hca_probe_note() - note an address that the device is given
 * @what: send, recv or page
 * @addr: the address
 * @length: bytes
 *
 * Context: any.
 */
void hca_probe_note(const char *what, u64 addr, u64 length)
{
	unsigned long flags;

	spin_lock_irqsave(&notes_lock, flags);
	if (nr_notes < NOTES)
		notes[nr_notes++] = (struct note) { what, addr, length };
	spin_unlock_irqrestore(&notes_lock, flags);
}

static int addresses_show(struct seq_file *seq, void *unused)
{
	unsigned int i, nr = READ_ONCE(nr_notes);

	for (i = 0; i < nr; i++)
		seq_printf(seq, "%s %#llx %llu\n", notes[i].what, notes[i].addr, notes[i].length);
	return 0;
}

static int addresses_open(struct inode *inode, struct file *file)
{
	return single_open(file, addresses_show, NULL);
}

/* Forget all, whatever is written. */
static ssize_t addresses_write(struct file *file, const char __user *from, size_t size,
			       loff_t *pos)
{
	unsigned long flags;

	spin_lock_irqsave(&notes_lock, flags);
	nr_notes = 0;
	spin_unlock_irqrestore(&notes_lock, flags);
	return size;
}

static const struct file_operations addresses_fops = {
	.owner	= THIS_MODULE,
	.open	= addresses_open,
	.read	= seq_read,
	.write	= addresses_write,
	.llseek	= seq_lseek,
	.release = single_release,
};

static int probe(char way, u64 addr, size_t length)
{
	int ret;

	lockdep_assert_held(&probe_lock);
	if (!target)
		return -ENODEV;
	mutex_lock(&target->fence);
	memset(buffer, way == 'w' ? WRITTEN : 0, length);
	if (way == 'w')
		ret = edu_copy(&target->edu, addr, buffer_addr, length);
	else
		ret = edu_copy(&target->edu, buffer_addr, addr, length);
	mutex_unlock(&target->fence);
	memcpy(bytes, buffer, length);
	nr_bytes = ret ? 0 : length;
	return ret;
}

/* "w ADDRESS LENGTH" writes there; "r ADDRESS LENGTH" reads the bytes that the file then has. */
static ssize_t dma_write(struct file *file, const char __user *from, size_t size, loff_t *pos)
{
	unsigned int length;
	char text[64] = "";
	u64 addr;
	char way;
	int ret;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	if (sscanf(text, "%c %lli %u", &way, &addr, &length) != 3 ||
	    (way != 'r' && way != 'w') || !length || length > EDU_PIECE)
		return -EINVAL;
	mutex_lock(&probe_lock);
	ret = probe(way, addr, length);
	mutex_unlock(&probe_lock);
	return ret ?: size;
}

static ssize_t dma_read(struct file *file, char __user *to, size_t size, loff_t *pos)
{
	ssize_t ret;

	mutex_lock(&probe_lock);
	ret = simple_read_from_buffer(to, size, pos, bytes, nr_bytes);
	mutex_unlock(&probe_lock);
	return ret;
}

static const struct file_operations dma_fops = {
	.owner	= THIS_MODULE,
	.open	= simple_open,
	.read	= dma_read,
	.write	= dma_write,
	.llseek	= default_llseek,
};

/**
 * hca_probe_init() - create the files
 */
void hca_probe_init(void)
{
	dir = debugfs_create_dir(KBUILD_MODNAME, NULL);
	debugfs_create_file("addresses", 0600, dir, NULL, &addresses_fops);
	debugfs_create_file("dma", 0600, dir, NULL, &dma_fops);
}

/**
 * hca_probe_exit() - remove the files
 */
void hca_probe_exit(void)
{
	debugfs_remove(dir);
}

/**
 * hca_probe_add() - let the files use a device
 * @hca: the device; there can be one
 *
 * Return: 0, -EBUSY or -ENOMEM.
 */
int hca_probe_add(struct hca *hca)
{
	int ret = -EBUSY;

	mutex_lock(&probe_lock);
	if (!target) {
		buffer = dma_alloc_coherent(&hca->edu.pdev->dev, EDU_PIECE, &buffer_addr,
					    GFP_KERNEL);
		ret = buffer ? 0 : -ENOMEM;
	}
	if (!ret)
		target = hca;
	mutex_unlock(&probe_lock);
	return ret;
}

/**
 * hca_probe_remove() - undo hca_probe_add()
 * @hca: the device
 */
void hca_probe_remove(struct hca *hca)
{
	mutex_lock(&probe_lock);
	dma_free_coherent(&hca->edu.pdev->dev, EDU_PIECE, buffer, buffer_addr);
	target = NULL;
	mutex_unlock(&probe_lock);
}
