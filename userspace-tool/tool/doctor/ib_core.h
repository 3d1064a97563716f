/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_TOOL_DOCTOR_IB_CORE_H
#define KVERBS_TOOL_DOCTOR_IB_CORE_H

#include <stdbool.h>

struct doctor;
struct finding;

/*
 * Whether the module that is installed for this kernel was built for another ib_core than the
 * kernel loads. If so, the finding is set.
 */
bool doctor_ib_core_differs(const struct doctor *d, const char *release, struct finding *f);

#endif /* KVERBS_TOOL_DOCTOR_IB_CORE_H */
