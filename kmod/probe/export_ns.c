// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Before Linux 6.13 the namespace of a symbol is a token, since then a string (cdd30ebb1b9f). */
#include <linux/module.h>

void probe(void);
void probe(void)
{
}
EXPORT_SYMBOL_NS_GPL(probe, KVERBS);
