// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <linux/kverbs.h>

#include "cli/util.h"
#include "dev/unusable.h"

static const struct {
	const char *why;
	const char *advice;
} reasons[] = {
	[KVERBS_USABLE] = {
		"this command does not know the reason of the module",
		"Install the command of the module's version.",
	},
	[KVERBS_UNUSABLE_NO_KERNEL_VERBS] = {
		"its driver offers RDMA to user space only",
		"Programs can use it with libibverbs. A newer driver may offer it to the kernel.",
	},
	[KVERBS_UNUSABLE_NO_FAST_REG] = {
		"it does not register memory by work requests",
		"Some do with newer firmware, virtual functions if their host permits it.",
	},
	[KVERBS_UNUSABLE_NO_MR_PAGES] = {
		"its memory regions cannot cover a page",
		"The firmware, or the host of a virtual function, sets that limit: update it.",
	},
	[KVERBS_UNUSABLE_NO_CM] = {
		"none of its ports has a connection manager",
		"Use a port for InfiniBand, RoCE or iWARP; of some adapters the type can be set.",
	},
	[KVERBS_UNUSABLE_SWITCH] = {
		"it is a switch",
		"Use an adapter that is connected to the switch.",
	},
	[KVERBS_UNUSABLE_NETNS] = {
		"it is in another network namespace",
		"Run the command there, or move the device: rdma dev set DEV netns NAME",
	},
	[KVERBS_UNUSABLE_FIXED_IOVA] = {
		"its driver registers memory at DMA addresses only",
		"Use an adapter that has another driver.",
	},
};

const char *unusable_why(uint32_t reason)
{
	return reasons[reason < ARRAY_SIZE(reasons) ? reason : KVERBS_USABLE].why;
}

const char *unusable_advice(uint32_t reason)
{
	return reasons[reason < ARRAY_SIZE(reasons) ? reason : KVERBS_USABLE].advice;
}
