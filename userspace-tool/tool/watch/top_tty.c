// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <curses.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#include "cli/signals.h"
#include "cli/units.h"
#include "cli/util.h"
#include "watch/screen.h"
#include "watch/top_tty.h"
#include "watch/top_view.h"

/* An Escape key is told from a sequence by what follows within that. */
#define ESCAPE_MS	25

/* SIGINT, SIGTERM and SIGHUP so far; each also ends waiting for a key. */
static int told_to_end;

static SCREEN *begin(void)
{
	SCREEN *terminal = newterm(NULL, stdout, stdin);

	if (!terminal)
		return NULL;
	__atomic_store_n(&told_to_end, 0, __ATOMIC_RELAXED);
	signals_count(SIGINT, &told_to_end);
	signals_count(SIGTERM, &told_to_end);
	signals_count(SIGHUP, &told_to_end);
	set_escdelay(ESCAPE_MS);
	cbreak();
	noecho();
	nonl();
	curs_set(0);
	keypad(stdscr, TRUE);
	return terminal;
}

static void put_screen(const struct screen *screen)
{
	static const attr_t looks[] = {
		[SCREEN_PLAIN] = A_NORMAL,
		[SCREEN_BOLD] = A_BOLD,
		[SCREEN_REVERSE] = A_REVERSE,
	};
	unsigned int i;

	erase();
	for (i = 0; i < screen->height; i++) {
		attrset(looks[screen->looks[i]]);
		mvaddnstr(i, 0, screen_line(screen, i), screen->width);
	}
	attrset(A_NORMAL);
	refresh();
}

/* On as much of a terminal as there is now. */
static int draw(struct top_view *view)
{
	struct screen screen;
	int ret;

	ret = screen_init(&screen, max(COLS, 1), max(LINES, 1));
	if (ret)
		return ret;
	ret = top_view_draw(view, &screen);
	if (!ret)
		put_screen(&screen);
	screen_free(&screen);
	return ret;
}

static int translate(int key)
{
	switch (key) {
	case KEY_UP:
		return TOP_KEY_UP;
	case KEY_DOWN:
		return TOP_KEY_DOWN;
	case KEY_PPAGE:
		return TOP_KEY_PAGE_UP;
	case KEY_NPAGE:
		return TOP_KEY_PAGE_DOWN;
	case KEY_HOME:
		return TOP_KEY_HOME;
	case KEY_END:
		return TOP_KEY_END;
	case KEY_LEFT:
		return TOP_KEY_LEFT;
	case KEY_RIGHT:
		return TOP_KEY_RIGHT;
	case KEY_BACKSPACE:
	case '\b':
	case 0x7f:
		return TOP_KEY_BACKSPACE;
	case KEY_ENTER:
	case '\r':
	case '\n':
		return TOP_KEY_ENTER;
	case 0x1b:
		return TOP_KEY_ESCAPE;
	default:
		return key;
	}
}

static void take_key(struct top_view *view, int key)
{
	/* Redraw the whole screen, as after output of another program. */
	if (key == '\f')
		clearok(stdscr, TRUE);
	else if (key != KEY_RESIZE)
		top_view_key(view, translate(key));
}

/* Then no key ever comes again, and waiting for one ends at once. */
static bool terminal_has_gone(void)
{
	struct pollfd in = { .fd = STDIN_FILENO, .events = POLLIN };

	return poll(&in, 1, 0) > 0 && in.revents & (POLLHUP | POLLERR | POLLNVAL);
}

/* Until a key comes, the time has come or a signal ends it. */
static void await_key(struct top_view *view, double due)
{
	double left = view->paused ? 3600 : due - units_now();
	int key;

	timeout(left > 0 ? left * 1000 + 1 : 0);
	key = getch();
	if (key != ERR)
		take_key(view, key);
	else if (terminal_has_gone())
		view->quit = true;
}

static int run(struct top_view *view, uint64_t count,
	       void (*take)(struct top_view *view, void *arg), void *arg)
{
	uint64_t looks = 0;
	double last = 0;
	int ret = 0;

	while (!ret && !view->quit && !signals_seen(&told_to_end)) {
		if (!view->paused && units_now() >= last + view->delay_ms / 1e3) {
			last = units_now();
			take(view, arg);
			looks += view->looks > 1;
		}
		ret = draw(view);
		if (!ret && count && looks >= count)
			break;
		if (!ret)
			await_key(view, last + view->delay_ms / 1e3);
	}
	return ret;
}

int top_tty_run(struct top_view *view, uint64_t count,
		void (*take)(struct top_view *view, void *arg), void *arg)
{
	SCREEN *terminal = begin();
	int ret;

	if (!terminal)
		return -ENOTTY;
	ret = run(view, count, take, arg);
	curs_set(1);
	endwin();
	delscreen(terminal);
	return ret;
}
