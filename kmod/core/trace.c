// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bodies of what trace.h declares. */
#define CREATE_TRACE_POINTS
#include "trace.h"
