// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The bodies of the events in object_trace.h. */
#include "object.h"

#define CREATE_TRACE_POINTS
#include "object_trace.h"
