/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Faults in the kernel, one at a time. */
#ifndef SWEEP_FAULT_H
#define SWEEP_FAULT_H

#include <stdbool.h>

/**
 * enum fault - kind of fault
 * @FAULT_MEMORY: an allocation or a copy fails, in a system call of this thread
 * @FAULT_VERB: a verb that the module calls fails, in any thread
 */
enum fault {
	FAULT_MEMORY,
	FAULT_VERB,
};

bool fault_init(void);
void fault_arm(enum fault fault, unsigned int nth);
unsigned int fault_left(void);
bool fault_disarm(enum fault fault);

#endif /* SWEEP_FAULT_H */
