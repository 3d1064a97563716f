// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/units.h"
#include "copy/attrs.h"
#include "copy/copy.h"
#include "copy/hash.h"

#define BEAT_SECONDS 1.0

/* How often a wait for a message on one connection looks at the others */
#define LOOK_MS 500

/* With SRC/ all paths begin with "./", which tells a user nothing. */
static const char *shown(const char *path)
{
	return !strncmp(path, "./", 2) && path[2] ? path + 2 : path;
}

void copy_failed(struct copy *copy, enum err_area area, int err, const char *path)
{
	copy->failed++;
	if (copy->fail)
		copy->fail(copy, area, err, shown(path));
}

/* Links, special files and part files are left out; what cannot be read has failed. */
void copy_skipped(struct copy *copy, enum err_area area, int err, const char *path)
{
	if (err != -ELOOP && err != -EOPNOTSUPP && err != -ECANCELED) {
		copy_failed(copy, area, err, path);
		return;
	}
	copy->skipped++;
	if (copy->skip)
		copy->skip(copy, err, shown(path));
}

void copy_done(struct copy *copy, const char *path, uint64_t size)
{
	copy->files++;
	copy->bytes += size;
	if (copy->done)
		copy->done(copy, shown(path), size);
}

void copy_item(struct copy *copy, const struct item *item)
{
	struct item what = *item;

	if (item->bits & WIRE_I_NEW)
		copy->created++;
	what.path = shown(item->path);
	if (copy->item && item_matters(&what))
		copy->item(copy, &what);
}

void copy_removed(struct copy *copy, const char *path)
{
	copy->deleted++;
	if (copy->removed)
		copy->removed(copy, path);
}

int copy_send(struct copy *copy, struct wire_msg *msg)
{
	int ret = hash_message(session_mac_key(copy->session), msg, &msg->digest);

	return ret ? ret : session_queue(copy->session, msg);
}

int copy_check(struct copy *copy, const struct wire_msg *msg)
{
	uint64_t want;
	int ret = hash_message(session_mac_key(copy->session), msg, &want);

	return !ret && session_mac_key(copy->session) && want != msg->digest ? -EBADMSG : ret;
}

unsigned int copy_attrs(const struct copy *copy)
{
	unsigned int which = 0;

	if (copy->opts & WIRE_F_ACLS)
		which |= ATTRS_ACL;
	if (copy->opts & WIRE_F_XATTRS)
		which |= ATTRS_USER | (copy->super ? ATTRS_OTHER : 0);
	return which;
}

int copy_pace(struct copy *copy, uint64_t bytes)
{
	double now = units_now(), wait;
	struct timespec ts = { 0 };
	int ret = 0;

	if (!copy->rate)
		return 0;
	/* Time in which nothing was sent is lost. */
	if (copy->sent_until < now)
		copy->sent_until = now;
	else
		ret = session_push(copy->session);
	while (!ret && (wait = copy->sent_until - now) > 0) {
		if (wait > BEAT_SECONDS)
			wait = BEAT_SECONDS;
		ts.tv_sec = wait;
		ts.tv_nsec = (wait - ts.tv_sec) * 1e9;
		nanosleep(&ts, NULL);
		ret = copy_beat(copy);
		now = units_now();
	}
	copy->sent_until += (double)bytes / copy->rate;
	return ret;
}

/* Called in long work without a message: the peer's waits have a bound. */
int copy_beat(void *arg)
{
	struct wire_msg msg = { .type = WIRE_ALIVE, .window = WIRE_NO_WINDOW };
	struct copy *copy = arg;
	double now = units_now();
	int ret = session_push_old(copy->session);

	if (ret || now - copy->beat < BEAT_SECONDS)
		return ret;
	copy->beat = now;
	return session_send(copy->session, &msg);
}

struct session *copy_lane(const struct copy *copy, uint32_t window)
{
	unsigned int i = window % (copy->nr_lanes + 1);

	return i ? copy->lanes[i - 1] : copy->session;
}

/* See @lost of struct copy. @err: of a connection that has ended, or 0 */
static unsigned int find_lost(const struct copy *copy, int *err)
{
	unsigned int i, lost = 0;
	struct session *s;
	int ret;

	*err = 0;
	for (i = 0; i <= copy->nr_lanes; i++) {
		s = i ? copy->lanes[i - 1] : copy->session;
		ret = s->conn ? kverbs_conn_error(s->conn) : 0;
		if (!ret)
			continue;
		lost |= (ret != -ECONNRESET) << i;
		*err = ret;
	}
	return lost;
}

int copy_recv(struct copy *copy, struct session *s, struct wire_msg *msg)
{
	int left = copy->session->timeout_ms, step, ret, err;

	if (!copy->nr_lanes)
		return session_recv(s, msg, left);
	do {
		step = min(left, LOOK_MS);
		ret = session_recv(s, msg, step);
		left -= step;
		find_lost(copy, &err);
	} while (ret == -ETIMEDOUT && !err && left);
	return ret == -ETIMEDOUT && err ? err : ret;
}

void copy_stop(struct copy *copy)
{
	unsigned int i;
	int err;

	copy->lost = find_lost(copy, &err);
	for (i = 0; i < copy->nr_lanes; i++)
		session_stop(copy->lanes[i]);
	session_stop(copy->session);
}

/* "mapped", or "mapped+buffered" if files differed. */
const char *copy_methods(unsigned int mask, char *buf, size_t room)
{
	static const char * const names[METHOD_COUNT] = {
		[METHOD_MAPPED] = "mapped",
		[METHOD_DIRECT] = "direct-io",
		[METHOD_BUFFERED] = "buffered",
	};
	size_t n = 0;
	int i;

	snprintf(buf, room, "none");
	for (i = METHOD_MAPPED; i < METHOD_COUNT; i++)
		if (mask & 1u << i && n < room)
			n += snprintf(buf + n, room - n, "%s%s", n ? "+" : "", names[i]);
	return buf;
}
