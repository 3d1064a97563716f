/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Processes of several users, which carry out orders of a test. */
#ifndef RIGHTS_PROC_H
#define RIGHTS_PROC_H

#include <sys/types.h>

#include "buf.h"

#define NODE		"/dev/kverbs"
#define SOMEBODY	65534
#define SOMEBODY_ELSE	65533
/* Pages that each user may lock by default */
#define LIMIT		16

/* Runs in the ordered process; its return value is the answer. */
typedef long (*order_fn)(long arg);

/**
 * struct proc - a process that waits for orders
 * @pid: its id
 * @sock: socket for orders and answers
 */
struct proc {
	int pid;
	int sock;
};

void node_give(mode_t mode, gid_t group);

void limit_to(unsigned long bytes);
void become(uid_t uid);
void become_locker(uid_t uid);
void become_unprivileged(unsigned long pages);
unsigned long long capabilities(void);
void drop_capabilities(void);

void in_child(void (*run)(void));
void child_join(int pid);

void proc_start(struct proc *proc, uid_t uid, unsigned long pages);
void proc_tell(struct proc *proc, order_fn order, long arg);
long proc_answer(struct proc *proc);
long proc_ask(struct proc *proc, order_fn order, long arg);
void proc_kill(struct proc *proc);

#endif /* RIGHTS_PROC_H */
