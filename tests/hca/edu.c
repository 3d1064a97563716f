// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The DMA engine of QEMU's edu device: from memory to its buffer, and from there to memory. */
#include <linux/interrupt.h>
#include <linux/io-64-nonatomic-lo-hi.h>
#include <linux/pci.h>

#include "edu.h"

#define REG_ID		0x00
#define REG_IRQ_STATUS	0x24
#define REG_IRQ_ACK	0x64
#define REG_DMA_SRC	0x80
#define REG_DMA_DST	0x88
#define REG_DMA_COUNT	0x90
#define REG_DMA_CMD	0x98

/* The upper half of the identification is the version. */
#define ID_EDU		0xed

#define CMD_RUN		BIT(0)
#define CMD_TO_MEMORY	BIT(1)
#define CMD_IRQ		BIT(2)

/* Address of the buffer in the device's own space. */
#define BUFFER		0x40000

/* A transfer takes 100 ms of the guest's time. */
#define PATIENCE	(60 * HZ)

static irqreturn_t edu_irq(int irq, void *data)
{
	struct edu *edu = data;
	u32 status = readl(edu->regs + REG_IRQ_STATUS);

	if (!status)
		return IRQ_NONE;
	writel(status, edu->regs + REG_IRQ_ACK);
	complete(&edu->done);
	return IRQ_HANDLED;
}

static int transfer(struct edu *edu, u64 src, u64 dst, size_t count, u64 cmd)
{
	lockdep_assert_held(&edu->lock);
	reinit_completion(&edu->done);
	writeq(src, edu->regs + REG_DMA_SRC);
	writeq(dst, edu->regs + REG_DMA_DST);
	writeq(count, edu->regs + REG_DMA_COUNT);
	writeq(cmd | CMD_RUN | CMD_IRQ, edu->regs + REG_DMA_CMD);
	if (wait_for_completion_timeout(&edu->done, PATIENCE))
		return 0;
	pci_err(edu->pdev, "no interrupt of the DMA engine\n");
	return -ETIMEDOUT;
}

/**
 * edu_copy() - copy memory by way of the device
 * @edu: the engine
 * @to: bus address of the destination
 * @from: bus address of the source
 * @length: bytes, at most EDU_PIECE
 *
 * The device does not tell whether an IOMMU has refused the transfer. Then it has read zeros, or
 * written nothing.
 *
 * Context: process, may sleep.
 * Return: 0 or -ETIMEDOUT.
 */
int edu_copy(struct edu *edu, dma_addr_t to, dma_addr_t from, size_t length)
{
	int ret;

	mutex_lock(&edu->lock);
	ret = transfer(edu, from, BUFFER, length, 0);
	if (!ret)
		ret = transfer(edu, BUFFER, to, length, CMD_TO_MEMORY);
	mutex_unlock(&edu->lock);
	return ret;
}

/**
 * edu_init() - set up an engine
 * @edu: the engine
 * @pdev: its PCI device, enabled, whose DMA mask is set
 *
 * Return: 0 or -errno.
 */
int edu_init(struct edu *edu, struct pci_dev *pdev)
{
	int ret;

	edu->pdev = pdev;
	mutex_init(&edu->lock);
	init_completion(&edu->done);
	ret = pci_request_regions(pdev, KBUILD_MODNAME);
	if (ret)
		return ret;
	ret = -EIO;
	edu->regs = pci_iomap(pdev, 0, 0);
	if (!edu->regs)
		goto out_release_regions;
	ret = -ENODEV;
	if ((readl(edu->regs + REG_ID) & 0xff) != ID_EDU)
		goto out_unmap;
	pci_set_master(pdev);
	ret = pci_alloc_irq_vectors(pdev, 1, 1, PCI_IRQ_MSI);
	if (ret < 0)
		goto out_unmap;
	ret = request_irq(pci_irq_vector(pdev, 0), edu_irq, 0, KBUILD_MODNAME, edu);
	if (ret)
		goto out_free_vectors;
	return 0;

out_free_vectors:
	pci_free_irq_vectors(pdev);
out_unmap:
	pci_clear_master(pdev);
	pci_iounmap(pdev, edu->regs);
out_release_regions:
	pci_release_regions(pdev);
	return ret;
}

/**
 * edu_exit() - undo edu_init()
 * @edu: the engine, which does nothing any more
 */
void edu_exit(struct edu *edu)
{
	free_irq(pci_irq_vector(edu->pdev, 0), edu);
	pci_free_irq_vectors(edu->pdev);
	pci_clear_master(edu->pdev);
	pci_iounmap(edu->pdev, edu->regs);
	pci_release_regions(edu->pdev);
}
