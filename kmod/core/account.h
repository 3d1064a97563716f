/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_ACCOUNT_H
#define KVERBS_ACCOUNT_H

#include <linux/types.h>

struct mm_struct;
struct user_struct;

/**
 * struct kverbs_account - pages charged to a user and shown in a process
 * @user: charged against RLIMIT_MEMLOCK, NULL with CAP_IPC_LOCK
 * @mm: the process whose VmPin shows the pages
 * @npages: number of pages
 *
 * Outlives the process: kverbs_account_uncharge() returns the pages to the same user and
 * the same mm, in any context.
 */
struct kverbs_account {
	struct user_struct *user;
	struct mm_struct *mm;
	unsigned long npages;
};

int kverbs_account_charge(struct kverbs_account *account, unsigned long npages);
void kverbs_account_uncharge(struct kverbs_account *account);

#endif /* KVERBS_ACCOUNT_H */
