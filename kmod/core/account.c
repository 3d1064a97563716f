// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Charges pages to the user before they are pinned, as io_uring does. */
#include <linux/capability.h>
#include <linux/cred.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/user.h>

#include "account.h"

static int charge_user(struct user_struct *user, unsigned long npages)
{
	unsigned long limit = rlimit(RLIMIT_MEMLOCK) >> PAGE_SHIFT;
	long old = atomic_long_read(&user->locked_vm);

	do {
		if (npages > limit || (unsigned long)old > limit - npages)
			return -ENOMEM;
	} while (!atomic_long_try_cmpxchg(&user->locked_vm, &old, old + npages));
	return 0;
}

/**
 * kverbs_account_charge() - charge pages to the current process and its user
 * @account: filled in
 * @npages: how many
 *
 * Return: 0, -EPERM if the user may lock nothing, -ENOMEM beyond the limit.
 */
int kverbs_account_charge(struct kverbs_account *account, unsigned long npages)
{
	int ret;

	if (!can_do_mlock())
		return -EPERM;
	account->cred = NULL;
	if (!capable(CAP_IPC_LOCK)) {
		ret = charge_user(current_user(), npages);
		if (ret)
			return ret;
		account->cred = get_current_cred();
	}
	account->npages = npages;
	account->mm = current->mm;
	mmgrab(account->mm);
	atomic64_add(npages, &account->mm->pinned_vm);
	return 0;
}

/**
 * kverbs_account_uncharge() - give back what was charged
 * @account: from kverbs_account_charge()
 */
void kverbs_account_uncharge(struct kverbs_account *account)
{
	atomic64_sub(account->npages, &account->mm->pinned_vm);
	mmdrop(account->mm);
	if (!account->cred)
		return;
	atomic_long_sub(account->npages, &account->cred->user->locked_vm);
	put_cred(account->cred);
}
