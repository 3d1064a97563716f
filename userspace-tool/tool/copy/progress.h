/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The progress bar: one line on a terminal, drawn again a few times a second. */
#ifndef KVERBS_TOOL_PROGRESS_H
#define KVERBS_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct counter;

/**
 * struct progress - how far a copy is
 * @on: draw it
 * @total: bytes there will be, 0 while unknown
 * @growing: @total is what has been found so far
 * @counter: counts them, or NULL: progress_more() tells them
 * @done: bytes done
 * @resumed: those of @done that an earlier run moved; they do not count as rate
 * @start: when it began, seconds
 * @drawn: when it was drawn last, 0: not yet
 * @name: the file at hand
 */
struct progress {
	bool on;
	uint64_t total;
	bool growing;
	const struct counter *counter;
	uint64_t done;
	uint64_t resumed;
	double start;
	double drawn;
	char name[256];
};

void progress_init(struct progress *p, bool on);
void progress_name(struct progress *p, const char *name);
void progress_add(struct progress *p, uint64_t bytes);
void progress_resume(struct progress *p, uint64_t bytes);
/* The peer has found @bytes more; @growing: it is still counting. */
void progress_more(struct progress *p, uint64_t bytes, bool growing);
void progress_clear(struct progress *p);
size_t progress_format(const struct progress *p, double now, unsigned int width,
		       char *buf, size_t room);

#endif /* KVERBS_TOOL_PROGRESS_H */
