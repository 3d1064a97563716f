/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Waiting for what a test has set going, however slow the machine is. */
#ifndef KVERBS_FAKE_PATIENCE_H
#define KVERBS_FAKE_PATIENCE_H

#include <linux/delay.h>
#include <linux/jiffies.h>

/* Only a hang lasts as long; KUnit itself gives up on a case after 300 s. */
#define FAKE_PATIENCE_MS	120000
#define FAKE_PATIENCE		msecs_to_jiffies(FAKE_PATIENCE_MS)
#define FAKE_PATIENCE_NS	(FAKE_PATIENCE_MS * (u64)NSEC_PER_MSEC)

/* What may come only after a while, though nothing signals it. */
#define FAKE_SOON(cond)								\
({										\
	unsigned long until = jiffies + FAKE_PATIENCE;				\
	bool seen;								\
										\
	while (!(seen = (cond)) && time_before(jiffies, until))			\
		usleep_range(100, 200);						\
	seen;									\
})

#endif /* KVERBS_FAKE_PATIENCE_H */
