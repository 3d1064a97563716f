// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * pin_user_pages() without an array of VMAs, since Linux 6.5. Since then a long-term pin
 * also refuses to write to a file that is written back (8ac268436e6d), and since 6.2 a
 * long-term pin for reading breaks copy-on-write itself.
 */
#include <linux/mm.h>

long probe(struct page **pages);
long probe(struct page **pages)
{
	return pin_user_pages(0, 1, FOLL_LONGTERM, pages);
}
