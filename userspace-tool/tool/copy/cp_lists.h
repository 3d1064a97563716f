/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Tags of the options that share the list of patterns. */
#ifndef KVERBS_TOOL_CP_LISTS_H
#define KVERBS_TOOL_CP_LISTS_H

#define CP_EXCLUDE	1
#define CP_INCLUDE	2
#define CP_EXCLUDE_FROM	3
#define CP_INCLUDE_FROM	4

#endif /* KVERBS_TOOL_CP_LISTS_H */
