/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Threads that wait for any of several requests.
 */
#ifndef KVERBS_ANY_H
#define KVERBS_ANY_H

struct kverbs;
struct kverbs_req;

/*
 * Wake the threads that wait for @req among others. Under kv->lock; @req may be gone, since
 * only its address is used.
 */
void kverbs_any_wake(struct kverbs *kv, const struct kverbs_req *req);

#endif /* KVERBS_ANY_H */
