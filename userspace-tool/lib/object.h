/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What all objects of the kernel have in common: their end.
 */
#ifndef KVERBS_OBJECT_H
#define KVERBS_OBJECT_H

#include <stdint.h>

/* DESTROY; a signal does not stop it. */
int kverbs_object_destroy(int fd, uint32_t id);

#endif /* KVERBS_OBJECT_H */
