/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_CHARDEV_H
#define KVERBS_CHARDEV_H

int kverbs_chardev_init(void);
void kverbs_chardev_exit(void);

#endif /* KVERBS_CHARDEV_H */
