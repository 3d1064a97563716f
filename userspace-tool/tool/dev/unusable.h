/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Why kverbs cannot use a device, in words. */
#ifndef KVERBS_TOOL_UNUSABLE_H
#define KVERBS_TOOL_UNUSABLE_H

#include <stdint.h>

/* A clause about the device, for an enum kverbs_unusable that is not 0. */
const char *unusable_why(uint32_t reason);
/* Advice for an enum kverbs_unusable that is not 0, in sentences. */
const char *unusable_advice(uint32_t reason);

#endif /* KVERBS_TOOL_UNUSABLE_H */
