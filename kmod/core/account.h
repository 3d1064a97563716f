/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_ACCOUNT_H
#define KVERBS_ACCOUNT_H

#include <linux/types.h>

struct cred;
struct mm_struct;

/**
 * struct kverbs_account - pages charged to a user and shown in a process
 * @cred: of the user charged against RLIMIT_MEMLOCK, NULL with CAP_IPC_LOCK
 * @mm: the process whose VmPin shows the pages
 * @npages: number of pages
 *
 * Outlives the process: kverbs_account_uncharge() returns the pages to the same user and
 * the same mm, in any context. The credentials hold the user: free_uid() is exported since
 * Linux 6.2 only.
 */
struct kverbs_account {
	const struct cred *cred;
	struct mm_struct *mm;
	unsigned long npages;
};

int kverbs_account_charge(struct kverbs_account *account, unsigned long npages);
void kverbs_account_uncharge(struct kverbs_account *account);

#endif /* KVERBS_ACCOUNT_H */
