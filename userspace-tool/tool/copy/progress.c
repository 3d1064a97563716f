// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/units.h"
#include "cli/util.h"
#include "copy/counter.h"
#include "copy/progress.h"
#include "copy/report.h"

#define REDRAW_SECONDS 0.2
#define DEFAULT_WIDTH 80
#define BAR_MIN 10

void progress_init(struct progress *p, bool on)
{
	memset(p, 0, sizeof(*p));
	p->on = on;
	p->start = units_now();
}

static unsigned int terminal_width(void)
{
	struct winsize ws;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &ws) || ws.ws_col < 20)
		return DEFAULT_WIDTH;
	return ws.ws_col;
}

static double rate(const struct progress *p, double now)
{
	double seconds = now - p->start;

	return seconds > 0 ? (p->done - p->resumed) / seconds : 0;
}

static void format_figures(const struct progress *p, double now, char *buf, size_t room)
{
	char done[UNITS_LEN], per[UNITS_LEN], eta[UNITS_LEN], found[UNITS_LEN];
	double r = rate(p, now), left, part;

	units_bytes(p->done, done, sizeof(done));
	units_bytes(r, per, sizeof(per));
	if (!p->total) {
		snprintf(buf, room, "%10s %10s/s", done, per);
		return;
	}
	if (p->growing) {
		units_bytes(p->total, found, sizeof(found));
		snprintf(buf, room, "%10s of %s+ %10s/s", done, found, per);
		return;
	}
	left = p->total > p->done ? p->total - p->done : 0;
	units_time(r > 0 ? left / r : -1, eta, sizeof(eta));
	/* A file that grew since it was counted makes it more than all. */
	part = p->done * 100. / p->total;
	snprintf(buf, room, "%3u%% %10s %10s/s %8s",
		 (unsigned int)min(part, 100.), done, per, eta);
}

static size_t put_bar(const struct progress *p, unsigned int cells, char *buf)
{
	unsigned int full = (double)p->done / p->total * cells;

	buf[0] = ' ';
	buf[1] = '[';
	memset(buf + 2, ' ', cells);
	memset(buf + 2, '#', full > cells ? cells : full);
	buf[cells + 2] = ']';
	return cells + 3;
}

/* Columns of UTF-8 text, roughly: continuation bytes take none. */
static size_t put_name(const struct progress *p, unsigned int width, char *buf,
		       size_t room)
{
	size_t n = 0;
	unsigned int cols = 0;
	const char *s;

	for (s = p->name; *s && n + 1 < room; s++) {
		bool starts = (*s & 0xc0) != 0x80;

		if (starts && cols == width)
			break;
		cols += starts;
		buf[n++] = (unsigned char)*s < 0x20 || *s == 0x7f ? '?' : *s;
	}
	while (cols++ < width && n + 1 < room)
		buf[n++] = ' ';
	return n;
}

/* The line, at most @width columns; what does not fit is left out, bar first. */
size_t progress_format(const struct progress *p, double now, unsigned int width,
		       char *buf, size_t room)
{
	char figures[128];
	unsigned int left;
	size_t n = 0;

	format_figures(p, now, figures, sizeof(figures));
	if (strlen(figures) > width)
		figures[width] = '\0';
	left = width - strlen(figures);
	if (left > 2)
		n = put_name(p, left > 42 ? 24 : (left - 1) / 2, buf, room / 2);
	left -= left > 42 ? 24 : left > 2 ? (left - 1) / 2 : 0;
	n += snprintf(buf + n, room - n, "%s%s", n ? " " : "", figures);
	left -= left > 0 && n > strlen(figures);
	if (p->total && !p->growing && left >= BAR_MIN + 3 && n + left < room)
		n += put_bar(p, left - 3, buf + n);
	buf[n] = '\0';
	return n;
}

static void draw(struct progress *p, double now)
{
	char line[1024];

	if (p->counter)
		p->total = counter_read(p->counter, &p->growing);
	progress_format(p, now, terminal_width() - 1, line, sizeof(line));
	fprintf(stderr, "\r\033[K%s", line);
	fflush(stderr);
	p->drawn = now;
}

static void touch(struct progress *p)
{
	double now;

	if (!p->on)
		return;
	now = units_now();
	if (now - p->drawn >= REDRAW_SECONDS)
		draw(p, now);
}

void progress_name(struct progress *p, const char *name)
{
	report_clean(p->name, sizeof(p->name), name);
	touch(p);
}

void progress_add(struct progress *p, uint64_t bytes)
{
	p->done += bytes;
	touch(p);
}

void progress_resume(struct progress *p, uint64_t bytes)
{
	p->resumed += bytes;
	progress_add(p, bytes);
}

void progress_more(struct progress *p, uint64_t bytes, bool growing)
{
	p->total += bytes;
	p->growing = growing;
}

/* Take the line away, for other output. */
void progress_clear(struct progress *p)
{
	if (p->on && p->drawn > 0)
		fputs("\r\033[K", stderr);
	p->drawn = 0;
}
