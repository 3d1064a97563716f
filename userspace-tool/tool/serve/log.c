// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include <json-c/json.h>

#include <kverbs.h>

#include "cli/err.h"
#include "cli/json.h"
#include "cli/units.h"
#include "serve/log.h"

#define TEXT_MAX 512
#define PEER_MAX 64

/**
 * struct line - an event in words
 * @e: the event
 * @text: message
 * @peer: address, as text
 * @held: lines suppressed before
 */
struct line {
	const struct log_event *e;
	char text[TEXT_MAX];
	char peer[PEER_MAX];
	unsigned int held;
};

/* systemd tells which stream is the journal's; standard error may be another by now. */
static bool leads_to_journal(int fd)
{
	const char *stream = getenv("JOURNAL_STREAM");
	uintmax_t dev, ino;
	struct stat st;

	return stream && sscanf(stream, "%ju:%ju", &dev, &ino) == 2 && !fstat(fd, &st) &&
	       st.st_dev == dev && st.st_ino == ino;
}

static int open_journal(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(path) >= sizeof(to.sun_path))
		return -ENAMETOOLONG;
	strcpy(to.sun_path, path);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	if (!connect(fd, (struct sockaddr *)&to, sizeof(to)))
		return fd;
	close(fd);
	return -ECONNREFUSED;
}

static void use_journal(struct log *l, const char *path)
{
	int fd = open_journal(path);

	/* Standard error leads there too, but without fields. */
	if (fd < 0)
		return;
	l->form = LOG_FORM_JOURNAL;
	l->fd = fd;
	l->journal = path;
}

int log_open(struct log *l, const char *form, const char *journal)
{
	memset(l, 0, sizeof(*l));
	pthread_mutex_init(&l->lock, NULL);
	l->fd = STDERR_FILENO;
	if (getrandom(&l->seed, sizeof(l->seed), 0) != sizeof(l->seed))
		l->seed = (uintptr_t)l;
	if (!form && leads_to_journal(STDERR_FILENO))
		use_journal(l, journal);
	else if (form && !strcmp(form, "json"))
		l->form = LOG_FORM_JSON;
	else if (form && strcmp(form, "text"))
		return -EINVAL;
	return 0;
}

void log_close(struct log *l)
{
	if (l->form == LOG_FORM_JOURNAL)
		close(l->fd);
	pthread_mutex_destroy(&l->lock);
}

static struct log_slot *slot_of(struct log *l, const struct kverbs_addr *peer)
{
	uint64_t hash = l->seed ^ 0xcbf29ce484222325;
	unsigned int i;

	for (i = 0; i < sizeof(peer->addr); i++)
		hash = (hash ^ peer->addr[i]) * 0x100000001b3;
	return &l->slots[hash >> 32 & (LOG_SLOTS - 1)];
}

static bool take(struct log_slot *slot, double rate, double now)
{
	bool taken = bucket_take(&slot->bucket, rate, rate * LOG_BURST, now);

	slot->held += !taken;
	return taken;
}

/* Whether a line may be told, and how many were not before it. */
static bool may_tell(struct log *l, const struct log_event *e, unsigned int *held)
{
	struct log_slot *slot = e->peer ? slot_of(l, e->peer) : NULL;
	double now = units_now();

	if (slot && (!take(slot, l->rate, now) || !take(&l->all, l->rate * LOG_ALL, now)))
		return false;
	*held = l->all.held + (slot ? slot->held : 0);
	l->all.held = 0;
	if (slot)
		slot->held = 0;
	return true;
}

/*
 * A line is shorter than what a pipe or a terminal that is ready takes at once. O_NONBLOCK would
 * be of all processes that have the same standard error.
 */
static bool put_line(int fd, const char *text)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	ssize_t len = strlen(text);

	return poll(&p, 1, 0) == 1 && write(fd, text, len) == len;
}

static bool put_text(struct log *l, const struct line *line)
{
	char text[TEXT_MAX + 128], held[64] = "";

	if (line->held)
		snprintf(held, sizeof(held), " (%u lines omitted)", line->held);
	snprintf(text, sizeof(text), "kverbs: serve: %s%s\n", line->text, held);
	return put_line(l->form == LOG_FORM_TEXT ? l->fd : STDERR_FILENO, text);
}

static ssize_t send_to(int fd, const char *text, size_t len)
{
	return send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* A journal that was started again has another socket. */
static bool send_fields(struct log *l, const char *text, size_t len)
{
	int fd;

	if (send_to(l->fd, text, len) >= 0)
		return true;
	if (errno != ECONNREFUSED && errno != ENOTCONN && errno != ECONNRESET)
		return false;
	fd = open_journal(l->journal);
	if (fd < 0)
		return false;
	close(l->fd);
	l->fd = fd;
	return send_to(l->fd, text, len) >= 0;
}

static bool put_fields(struct log *l, const struct line *line)
{
	const struct log_event *e = line->e;
	char *text = NULL;
	bool told;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return false;
	fprintf(f, "MESSAGE=%s\nPRIORITY=%d\nSYSLOG_IDENTIFIER=kverbs\nKVERBS_EVENT=%s\n",
		line->text, e->priority, e->name);
	if (e->peer)
		fprintf(f, "KVERBS_PEER=%s\n", line->peer);
	if (e->service)
		fprintf(f, "KVERBS_SERVICE=%s\n", e->service);
	if (e->key)
		fprintf(f, "KVERBS_KEY=%s\n", e->key);
	if (e->err)
		fprintf(f, "ERRNO=%d\nKVERBS_ERROR=%s\n", -e->err, err_name(e->err));
	if (line->held)
		fprintf(f, "KVERBS_LEFT_OUT=%u\n", line->held);
	fclose(f);
	told = send_fields(l, text, len) || put_text(l, line);
	free(text);
	return told;
}

static void add(struct json_object *o, const char *key, const char *text)
{
	if (text)
		json_put_str(o, key, text);
}

static const char *level(int priority)
{
	static const char * const names[] = {
		"emerg", "alert", "crit", "err", "warning", "notice", "info", "debug",
	};

	return names[priority & 7];
}

static bool put_json(struct log *l, const struct line *line)
{
	struct json_object *o = json_object_new_object();
	const struct log_event *e = line->e;
	struct timespec now;
	char at[32], *text;
	bool told = false;
	struct tm tm;

	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(at, sizeof(at), "%Y-%m-%dT%H:%M:%SZ", &tm);
	add(o, "time", at);
	add(o, "level", level(e->priority));
	add(o, "event", e->name);
	add(o, "peer", e->peer ? line->peer : NULL);
	add(o, "service", e->service);
	add(o, "key", e->key);
	add(o, "errno", e->err ? err_name(e->err) : NULL);
	add(o, "message", line->text);
	if (line->held)
		json_put_int(o, "left_out", line->held);
	if (asprintf(&text, "%s\n",
		     json_object_to_json_string_ext(o, JSON_C_TO_STRING_NOSLASHESCAPE)) >= 0) {
		told = put_line(l->fd, text);
		free(text);
	}
	json_object_put(o);
	return told;
}

/* Whatever of it may be a peer's: one line, and a terminal's nothing but text. */
static void make_plain(char *text)
{
	for (; *text; text++)
		if (*text < ' ' || *text > '~')
			*text = '?';
}

static void compose(struct line *line, const char *fmt, va_list ap)
{
	const struct log_event *e = line->e;
	int at = 0;

	if (e->peer) {
		kverbs_addr_format(e->peer, line->peer, sizeof(line->peer));
		at = snprintf(line->text, sizeof(line->text), "client %s: ", line->peer);
	}
	at += vsnprintf(line->text + at, sizeof(line->text) - at, fmt, ap);
	if (e->key && at < (int)sizeof(line->text))
		at += snprintf(line->text + at, sizeof(line->text) - at, ", key %s", e->key);
	if (e->err && at < (int)sizeof(line->text))
		snprintf(line->text + at, sizeof(line->text) - at, " (%s)",
			 err_name(e->err));
	make_plain(line->text);
	make_plain(line->peer);
}

void log_say(struct log *l, const struct log_event *e, const char *fmt, ...)
{
	static bool (*const put[])(struct log *l, const struct line *line) = {
		[LOG_FORM_TEXT] = put_text,
		[LOG_FORM_JSON] = put_json,
		[LOG_FORM_JOURNAL] = put_fields,
	};
	struct line line = { .e = e };
	va_list ap;

	if (e->priority >= LOG_INFO && !l->verbose)
		return;
	va_start(ap, fmt);
	compose(&line, fmt, ap);
	va_end(ap);
	pthread_mutex_lock(&l->lock);
	if (may_tell(l, e, &line.held) && !put[l->form](l, &line))
		l->all.held += line.held + 1;
	pthread_mutex_unlock(&l->lock);
}
