/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_VERSION_H
#define KVERBS_VERSION_H

#define KVERBS_VERSION	"0.1.0"

#endif /* KVERBS_VERSION_H */
