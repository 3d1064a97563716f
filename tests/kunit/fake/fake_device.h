/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The fake device as a registered one, which kverbs finds and loses. */
#ifndef KVERBS_FAKE_DEVICE_H
#define KVERBS_FAKE_DEVICE_H

#include "fake_hca.h"
#include "patience.h"

#define FAKE_MAX_MSG	SZ_1G
/* 198.51.100.1, since the CM treats a loopback address as any address */
#define FAKE_ADDRESS	0xc6336401

struct fake_hca *fake_device_new(struct kunit *test);
struct device *fake_parent_create(struct kunit *test, int node);
void fake_device_give_dma(struct fake_hca *hca, struct device *parent);
int fake_device_register(struct fake_hca *hca);
struct fake_hca *fake_device_create(struct kunit *test);
void fake_device_remove(struct fake_hca *hca);
void fake_device_begin_remove(struct fake_hca *hca);
bool fake_device_is_removed(struct fake_hca *hca);
bool fake_device_is_empty(struct fake_hca *hca);

#endif /* KVERBS_FAKE_DEVICE_H */
