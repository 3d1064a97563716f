/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A top_view on a terminal. */
#ifndef KVERBS_TOOL_TOP_TTY_H
#define KVERBS_TOOL_TOP_TTY_H

#include <stdint.h>

struct top_view;

/*
 * Look again and again, and do what keys say, until one says quit, a signal does, or there
 * were @count looks with rates (0: for ever). @take looks once, and may only change the view.
 * Returns 0 or -errno, with the terminal as it was before; -ENOTTY if it cannot do it.
 */
int top_tty_run(struct top_view *view, uint64_t count,
		void (*take)(struct top_view *view, void *arg), void *arg);

#endif /* KVERBS_TOOL_TOP_TTY_H */
