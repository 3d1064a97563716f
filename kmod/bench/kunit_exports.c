// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Exports of the traffic engine for the KUnit suites; built only for them. */
#include <linux/export.h>

#include "bench.h"

/* Not EXPORT_SYMBOL_IF_KUNIT(), which asks whether the kernel was built with KUnit. */
#define SHOW(symbol)	EXPORT_SYMBOL_GPL(symbol)

SHOW(kverbs_bench_bucket);
SHOW(kverbs_bench_run);
