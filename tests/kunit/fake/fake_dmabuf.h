/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A dma-buf whose exporter counts, fails and revokes as the test wants. */
#ifndef KVERBS_FAKE_DMABUF_H
#define KVERBS_FAKE_DMABUF_H

#include <kunit/test.h>
#include <linux/completion.h>
#include <linux/dma-buf.h>

/* Its memory is in pieces of this many pages, none of which is next to another. */
#define FAKE_PIECE_PAGES	2
#define FAKE_PIECES		4
#define FAKE_DMABUF_PAGES	(FAKE_PIECES * FAKE_PIECE_PAGES)
#define FAKE_DMABUF_SIZE	(FAKE_DMABUF_PAGES * PAGE_SIZE)

/**
 * enum fake_dmabuf_step - what the exporter does for a device
 * @FAKE_DMABUF_ATTACH: accepting the device
 * @FAKE_DMABUF_PIN: promising not to move the memory
 * @FAKE_DMABUF_MAP: telling the addresses
 * @FAKE_DMABUF_STEPS: how many steps there are
 */
enum fake_dmabuf_step {
	FAKE_DMABUF_ATTACH,
	FAKE_DMABUF_PIN,
	FAKE_DMABUF_MAP,
	FAKE_DMABUF_STEPS,
};

/**
 * struct fake_dmabuf - the dma-buf
 * @test: the test, at whose end it is given up
 * @buf: the dma-buf; a reference is held until fake_dmabuf_close()
 * @fd: its descriptor
 * @nr: how often each step is in effect; some kernels also pin what they map
 * @errors: errno of each step, or 0
 * @notify_in: the next PIN or MAP notifies the importers; FAKE_DMABUF_STEPS: none does
 * @shift: added to each address
 * @pieces: how many pieces are mapped
 * @released: signalled when the last reference is dropped
 */
struct fake_dmabuf {
	struct kunit *test;
	struct dma_buf *buf;
	int fd;
	atomic_t nr[FAKE_DMABUF_STEPS];
	int errors[FAKE_DMABUF_STEPS];
	enum fake_dmabuf_step notify_in;
	u64 shift;
	unsigned int pieces;
	struct completion released;
};

struct fake_dmabuf *fake_dmabuf_create(struct kunit *test, int mode);
void fake_dmabuf_close(struct fake_dmabuf *fake);
void fake_dmabuf_revoke(struct fake_dmabuf *fake);
u64 fake_dmabuf_addr(u64 offset);
bool fake_dmabuf_is_unused(struct fake_dmabuf *fake);

#endif /* KVERBS_FAKE_DMABUF_H */
