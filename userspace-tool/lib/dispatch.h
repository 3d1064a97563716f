/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * From completions to the objects they are for.
 */
#ifndef KVERBS_DISPATCH_H
#define KVERBS_DISPATCH_H

struct kverbs;

/*
 * Read all unread completions. Under kv->lock, and never while another thread
 * leads. Callbacks become due; kverbs_done_run() runs them.
 */
unsigned int kverbs_reap(struct kverbs *kv);
/* Return when all completions that are in the ring now have been read. */
void kverbs_drain(struct kverbs *kv);

#endif /* KVERBS_DISPATCH_H */
