/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Timeouts for events of a test, however slow the machine is. */
#ifndef KVERBS_FAKE_PATIENCE_H
#define KVERBS_FAKE_PATIENCE_H

#include <linux/delay.h>
#include <linux/jiffies.h>

/* Only a hang takes this long; KUnit itself ends a case after 300 s. */
#define FAKE_PATIENCE_MS	120000
#define FAKE_PATIENCE		msecs_to_jiffies(FAKE_PATIENCE_MS)
#define FAKE_PATIENCE_NS	(FAKE_PATIENCE_MS * (u64)NSEC_PER_MSEC)

/* Wait for a condition that becomes true after a while, without an event. */
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
