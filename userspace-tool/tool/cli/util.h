/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_TOOL_UTIL_H
#define KVERBS_TOOL_UTIL_H

#define __printf(fmt, args) __attribute__((__format__(printf, fmt, args)))

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define min(a, b) ({			\
	__auto_type _a = (a);		\
	__auto_type _b = (b);		\
	_a < _b ? _a : _b; })

#define max(a, b) ({			\
	__auto_type _a = (a);		\
	__auto_type _b = (b);		\
	_a > _b ? _a : _b; })

#endif /* KVERBS_TOOL_UTIL_H */
