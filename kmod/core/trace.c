// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bodies of the events in trace.h. */
#include "conn.h"
#include "memory.h"

#define CREATE_TRACE_POINTS
#include "trace.h"
