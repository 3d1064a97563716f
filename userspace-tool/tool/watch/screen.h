/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A screen of text: what does not fit on it is cut, never wrapped. It knows no terminal. */
#ifndef KVERBS_TOOL_SCREEN_H
#define KVERBS_TOOL_SCREEN_H

#include <stdbool.h>

/**
 * enum screen_look - how a line looks
 * @SCREEN_PLAIN: as the rest
 * @SCREEN_BOLD: what changes the meaning of what is below
 * @SCREEN_REVERSE: the head of a table
 */
enum screen_look {
	SCREEN_PLAIN,
	SCREEN_BOLD,
	SCREEN_REVERSE,
};

/**
 * struct screen - a grid of characters
 * @width: columns
 * @height: lines
 * @cells: lines of @width characters and a 0
 * @looks: of each line
 */
struct screen {
	unsigned int width;
	unsigned int height;
	char *cells;
	enum screen_look *looks;
};

/* All blank; 0 or -ENOMEM. */
int screen_init(struct screen *screen, unsigned int width, unsigned int height);
void screen_free(struct screen *screen);
void screen_clear(struct screen *screen);
void screen_look(struct screen *screen, unsigned int line, enum screen_look look);
/* Text from a column on, to the edge. */
void screen_text(struct screen *screen, unsigned int line, unsigned int column,
		 const char *text);
/* Text in a field, at its left or right; what is longer ends in '+'. */
void screen_cell(struct screen *screen, unsigned int line, unsigned int column,
		 unsigned int width, bool right, const char *text);
/* The whole line, blanks and all; never NULL. */
const char *screen_line(const struct screen *screen, unsigned int line);

/**
 * struct screen_column - a column of a table
 * @title: what stands above it
 * @right: numbers stand at the right
 * @min: what text may be cut to; 0: it is never cut, since it is a number
 * @rank: who comes first when there is no room for all: 1 before 2
 */
struct screen_column {
	const char *title;
	bool right;
	unsigned int min;
	unsigned int rank;
};

/*
 * Share @width among @nr columns that want so much each, with a blank between. @widths: 0
 * for those that are left out.
 */
void screen_fit(const struct screen_column *columns, unsigned int nr,
		const unsigned int *wants, unsigned int width, unsigned int *widths);

#endif /* KVERBS_TOOL_SCREEN_H */
