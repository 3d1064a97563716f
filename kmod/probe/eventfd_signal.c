// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* eventfd_signal() without a count, since Linux 6.8 (3652117f8548). */
#include <linux/eventfd.h>

void probe(struct eventfd_ctx *eventfd);
void probe(struct eventfd_ctx *eventfd)
{
	eventfd_signal(eventfd);
}
