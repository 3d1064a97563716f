// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* How a diagram looks. */
#include <stdint.h>

#include "bench/plot.h"
#include "cli/util.h"

#define WIDTH 960
#define HEIGHT 480
#define LEFT 80
#define RIGHT 700
#define TOP 30
#define BOTTOM 420
#define LEGEND 716

/* As many numbers as an axis has room for. */
#define TICKS_X 12
#define TICKS_Y 8

/**
 * struct axis - where a value is
 * @from: the value at its beginning
 * @to: the value at its end
 * @logs: what has twice the value is as far away, whatever the value
 * @begin: where it begins on the page
 * @end: where it ends
 */
struct axis {
	double from;
	double to;
	bool logs;
	double begin;
	double end;
};

/* Bit by bit, by squaring: not worth a library of its own. */
static double log_2(double v)
{
	double log = 0, bit = 1;

	for (; v >= 2; v /= 2)
		log++;
	for (; v < 1; v *= 2)
		log--;
	while (bit > 0.000001) {
		v *= v;
		bit /= 2;
		if (v < 2)
			continue;
		v /= 2;
		log += bit;
	}
	return log;
}

static double place(const struct axis *a, double v)
{
	double part = (v - a->from) / (a->to - a->from);

	if (a->logs)
		part = log_2(v / a->from) / log_2(a->to / a->from);
	return a->begin + part * (a->end - a->begin);
}

/**
 * struct bounds - what all points are between
 * @min: least size, and least value
 * @max: most of them
 */
struct bounds {
	struct plot_point min;
	struct plot_point max;
};

static void widen(struct bounds *b, const struct plot_point *at)
{
	if (!b->max.size)
		b->min = *at;
	b->min.size = min(b->min.size, at->size);
	b->min.value = min(b->min.value, at->value);
	b->max.size = max(b->max.size, at->size);
	b->max.value = max(b->max.value, at->value);
}

static struct bounds bounds_of(const struct plot *p)
{
	const struct plot_line *line;
	struct bounds b = { 0 };
	unsigned int i;

	for (line = p->lines; line < p->lines + p->nr_lines; line++)
		for (i = 0; i < line->nr_points; i++)
			widen(&b, &line->points[i]);
	return b;
}

/* The power of @base that is not above @v. */
static double power_below(double base, double v)
{
	double power = 1;

	while (power > v)
		power /= base;
	while (power * base <= v)
		power *= base;
	return power;
}

/* From a power of @base to another one. */
static void span_powers(struct axis *a, double base, double min, double max)
{
	a->logs = true;
	a->from = power_below(base, min);
	for (a->to = a->from * base; a->to < max; )
		a->to *= base;
}

/* 1, 2 or 5 times a power of ten, so that there are not too many. */
static double step_of(double max)
{
	static const double steps[] = { 1, 2, 5 };
	double power = power_below(10, max) / 10;
	unsigned int i = 0;

	while (power * steps[i] * TICKS_Y < max) {
		if (++i < ARRAY_SIZE(steps))
			continue;
		i = 0;
		power *= 10;
	}
	return power * steps[i];
}

static void span_steps(struct axis *a, double max)
{
	double step = step_of(max);

	for (a->to = step; a->to < max; )
		a->to += step;
}

/* Names are of any bytes: none of them is to be taken for markup, or is none at all. */
static void put_text(FILE *to, const char *name)
{
	const unsigned char *text;

	for (text = (const unsigned char *)name; *text; text++) {
		if (*text == '&')
			fputs("&amp;", to);
		else if (*text == '<')
			fputs("&lt;", to);
		else if (*text == '>')
			fputs("&gt;", to);
		else
			fputc(*text < 0x20 || *text >= 0x7f ? '?' : *text, to);
	}
}

static void put_label(FILE *to, double x, double y, const char *anchor, const char *text)
{
	fprintf(to, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">", x, y, anchor);
	put_text(to, text);
	fputs("</text>\n", to);
}

static void put_line(FILE *to, double x1, double y1, double x2, double y2)
{
	fprintf(to, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" stroke=\"#ddd\"/>\n",
		x1, y1, x2, y2);
}

static const char *bytes_name(double bytes, char *buf, size_t room)
{
	static const char *const units[] = { "", "K", "M", "G", "T" };
	unsigned int i = 0;

	for (; bytes >= 1024 && i < ARRAY_SIZE(units) - 1; i++)
		bytes /= 1024;
	snprintf(buf, room, "%g%s", bytes, units[i]);
	return buf;
}

static void tick_x(FILE *to, const struct axis *x, double v)
{
	double at = place(x, v);
	char name[32];

	put_line(to, at, TOP, at, BOTTOM);
	put_label(to, at, BOTTOM + 18, "middle", bytes_name(v, name, sizeof(name)));
}

static void tick_y(FILE *to, const struct axis *y, double v)
{
	double at = place(y, v);
	char name[32];

	snprintf(name, sizeof(name), "%g", v);
	put_line(to, LEFT, at, RIGHT, at);
	put_label(to, LEFT - 8, at + 4, "end", name);
}

static void draw_x(FILE *to, const struct axis *x)
{
	double v, by = 2;

	while (log_2(x->to / x->from) / log_2(by) > TICKS_X)
		by *= 2;
	for (v = x->from; v <= x->to; v *= by)
		tick_x(to, x, v);
	put_label(to, (LEFT + RIGHT) / 2, BOTTOM + 42, "middle", "size [bytes]");
}

static void draw_y(FILE *to, const struct axis *y, const char *label)
{
	double step = y->logs ? 0 : step_of(y->to), v;

	for (v = y->from; v <= y->to * 1.000001; v = y->logs ? v * 10 : v + step)
		tick_y(to, y, v);
	fprintf(to, "<g transform=\"translate(18 %d) rotate(-90)\">\n", (TOP + BOTTOM) / 2);
	put_label(to, 0, 0, "middle", label);
	fputs("</g>\n", to);
}

static const char *color_of(unsigned int i)
{
	static const char *const colors[] = {
		"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#56b4e9", "#e69f00", "#000000",
		"#888888",
	};

	return colors[i % ARRAY_SIZE(colors)];
}

/* Once more with the same colors, but dashed. */
static void put_stroke(FILE *to, unsigned int i)
{
	fprintf(to, " fill=\"none\" stroke=\"%s\" stroke-width=\"2\"%s", color_of(i),
		i >= PLOT_LINES_MAX / 2 ? " stroke-dasharray=\"6 3\"" : "");
}

static void draw_point(FILE *to, const struct plot_point *at, double x, double y,
		       const char *color)
{
	fprintf(to, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\">", x, y, color);
	fprintf(to, "<title>%.0f: %g</title></circle>\n", at->size, at->value);
}

static void draw_line(FILE *to, const struct plot *p, unsigned int i, const struct axis *x,
		      const struct axis *y)
{
	const struct plot_line *line = &p->lines[i];
	const struct plot_point *at, *end = line->points + line->nr_points;

	fputs("<polyline points=\"", to);
	for (at = line->points; at < end; at++)
		fprintf(to, "%s%.1f,%.1f", at == line->points ? "" : " ",
			place(x, at->size), place(y, at->value));
	fputc('"', to);
	put_stroke(to, i);
	fputs("/>\n", to);
	for (at = line->points; at < end; at++)
		draw_point(to, at, place(x, at->size), place(y, at->value), color_of(i));
}

static void draw_legend(FILE *to, const struct plot *p)
{
	unsigned int i;
	double at;

	for (i = 0; i < p->nr_lines; i++) {
		at = TOP + 10 + 20. * i;
		fprintf(to, "<path d=\"M%d %.1fh24\"", LEGEND, at);
		put_stroke(to, i);
		fputs("/>\n", to);
		put_label(to, LEGEND + 30, at + 4, "start", p->lines[i].name);
	}
}

static void draw_page(FILE *to)
{
	fputs("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n", to);
	fprintf(to, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\"", WIDTH,
		HEIGHT);
	fprintf(to, " width=\"%d\" height=\"%d\"", WIDTH, HEIGHT);
	fputs(" font-family=\"sans-serif\" font-size=\"12\">\n", to);
	fprintf(to, "<rect width=\"%d\" height=\"%d\" fill=\"white\"/>\n", WIDTH, HEIGHT);
}

void plot_draw(const struct plot *p, FILE *to)
{
	struct axis x = { .begin = LEFT, .end = RIGHT };
	struct axis y = { .begin = BOTTOM, .end = TOP };
	struct bounds b = bounds_of(p);
	unsigned int i;

	span_powers(&x, 2, b.min.size, b.max.size);
	if (p->decades)
		span_powers(&y, 10, b.min.value, b.max.value);
	else
		span_steps(&y, b.max.value);
	draw_page(to);
	draw_x(to, &x);
	draw_y(to, &y, p->label);
	for (i = 0; i < p->nr_lines; i++)
		draw_line(to, p, i, &x, &y);
	draw_legend(to, p);
	fputs("</svg>\n", to);
}
