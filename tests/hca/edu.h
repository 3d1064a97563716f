/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The DMA engine of QEMU's edu device. */
#ifndef HCA_EDU_H
#define HCA_EDU_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/types.h>

struct pci_dev;

/*
 * Bytes of one transfer. The device has a buffer of 4096, but QEMU 7.2 ends itself if a transfer
 * reaches the buffer's last byte.
 */
#define EDU_PIECE	2048

/**
 * struct edu - the engine
 * @pdev: its PCI device
 * @regs: its registers
 * @lock: one copy at a time, as there is one buffer
 * @done: a transfer has ended
 */
struct edu {
	struct pci_dev *pdev;
	void __iomem *regs;
	struct mutex lock;
	struct completion done;
};

int edu_init(struct edu *edu, struct pci_dev *pdev);
void edu_exit(struct edu *edu);
int edu_copy(struct edu *edu, dma_addr_t to, dma_addr_t from, size_t length);

#endif /* HCA_EDU_H */
