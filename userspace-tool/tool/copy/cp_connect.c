// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Connections of kverbs cp: the first one, those besides it, and the next ones after a loss. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli/err.h"
#include "copy/cp.h"
#include "peer/kv.h"

static const struct wire_hello hello = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_FILES,
	.msg_max = WIRE_MSG_MAX,
	.depth = WIRE_FILES_DEPTH,
};

int cp_announce(const struct cp *cp, struct session *s, unsigned int type)
{
	/* One server may be both: it ends connections of a copy with the same number. */
	uint64_t id = s == &cp->from_s ? cp->id ^ 2 : cp->id;
	struct wire_msg msg = { .type = type, .window = WIRE_NO_WINDOW, .offset = id };
	struct copy one = { .session = s };
	int ret = copy_send(&one, &msg);

	if (!ret)
		ret = session_recv(s, &msg, cp->to.timeout_ms);
	if (!ret && msg.type != WIRE_DONE)
		ret = -EPROTO;
	return ret ? ret : wire_errno(msg.status);
}

/* A lane that cannot be had is none: the others carry its share. */
static void add_lane(struct cp *cp, unsigned int path)
{
	struct copy *copy = &cp->copy;
	struct session *lane = &cp->lanes[copy->nr_lanes];
	struct session_to to = cp->to;
	int ret;

	paths_use(&cp->paths, path, &to, false);
	ret = kv_try(lane, copy->session->kv, &to, &hello);
	if (!ret)
		ret = cp_announce(cp, lane, WIRE_LANE);
	if (!ret) {
		cp->lane_path[copy->nr_lanes] = path;
		copy->lanes[copy->nr_lanes++] = lane;
		return;
	}
	if (ret < 0)
		err_warn("cannot connect to %s (%s); copying without this connection", to.host,
			 err_name(ret));
	cp->paths.lost[path] |= ret < 0 && retry_may_pass(ret, lane->refusal);
	session_free(lane);
}

/* Lanes take turns over the paths, from the one after the first connection's. */
void cp_add_lanes(struct cp *cp)
{
	unsigned int i, path;

	for (i = 1; i < cp->parallel; i++) {
		path = (cp->paths.at + i) % cp->paths.nr;
		if (!cp->paths.lost[path])
			add_lane(cp, path);
	}
}

/*
 * A connection that the peer has ended is no sign of a broken link. If there is no sign of any, the
 * first connection's is the most likely.
 */
static void mark_lost(struct cp *cp, int err)
{
	const struct copy *copy = &cp->copy;
	bool *lost = cp->paths.lost;
	unsigned int i;

	if (!retry_is_lost(err))
		return;
	lost[cp->paths.at] |= copy->lost & 1 || !copy->lost;
	for (i = 0; i < copy->nr_lanes; i++)
		lost[cp->lane_path[i]] |= copy->lost >> (i + 1) & 1;
}

void cp_free_lanes(struct cp *cp, int err)
{
	struct copy *copy = &cp->copy;
	struct session *lane;

	mark_lost(cp, err);
	while (copy->nr_lanes) {
		lane = copy->lanes[--copy->nr_lanes];
		cp->before.wire_out += lane->bytes_out;
		cp->before.wire_in += lane->bytes_in;
		session_free(lane);
	}
}

int cp_report_lost(struct cp *cp, struct session *s, int err)
{
	int status;

	if (cp->lost_from)
		s = &cp->from_s;
	status = err_report(ERR_PEER, err, "copy %s %s",
			    !cp->relay ? "with" : cp->lost_from ? "from" : "to", s->peer);
	session_print_why(s, err, cp->to.explain);
	return status;
}

/* A signal ends the program, so nothing else interrupts this. */
static void wait_seconds(int seconds)
{
	struct timespec ts = { .tv_sec = seconds };

	while (seconds && nanosleep(&ts, &ts) && errno == EINTR)
		;
}

static uint64_t copied(const struct cp *cp)
{
	return cp->copy.moved + cp->copy.files + cp->copy.created;
}

static void tell_retry(const struct cp *cp, int err, const char *lost, int delay)
{
	bool other = !cp->relay && cp->to.host != lost;
	char when[64] = "";

	if (delay || !other)
		snprintf(when, sizeof(when), " in %d s, attempt %u of %u", delay, cp->retry.nr,
			 (unsigned int)retry_max(&cp->retry));
	err_warn("lost the connection with %s (%s); connecting %s%s%s, to go on from what is verified",
		 lost, err_name(err), other ? "to " : "again", other ? cp->to.host : "", when);
}

/* Perhaps only a lane was. */
static const char *lost_host(const struct cp *cp)
{
	unsigned int i;

	if (cp->lost_from)
		return cp->from.host;
	for (i = 0; i < cp->paths.nr; i++)
		if (cp->paths.lost[i] && !cp->paths.lost[cp->paths.at])
			return cp->paths.host[i];
	return cp->to.host;
}

/* Of two servers, the first that cannot be reached counts as lost. */
static int try_all(struct cp *cp, struct session *s, struct kverbs *kv)
{
	int ret = kv_try(s, kv, &cp->to, &hello);

	cp->lost_from = false;
	if (ret || !cp->relay)
		return ret;
	ret = kv_try(&cp->from_s, kv, &cp->from, &hello);
	cp->lost_from = ret;
	return ret;
}

/* Its bytes count as those of a connection before. */
static void forget_from(struct cp *cp)
{
	session_free(&cp->from_s);
	memset(&cp->from_s, 0, sizeof(cp->from_s));
}

static struct session *lost_session(struct cp *cp, struct session *s)
{
	return cp->lost_from ? &cp->from_s : s;
}

int cp_reconnect(struct cp *cp, struct session *s, int err)
{
	const char *lost = lost_host(cp);
	struct kverbs *kv = s->kv;
	bool dialled = false;
	int ret = err, delay;

	while (retry_may_pass(ret, lost_session(cp, s)->refusal)) {
		delay = retry_begin(&cp->retry, copied(cp));
		if (delay < 0)
			break;
		paths_next(&cp->paths);
		paths_use(&cp->paths, cp->paths.at, &cp->to, !retry_has_path(&cp->retry));
		tell_retry(cp, ret, lost, delay);
		session_free(s);
		if (cp->relay)
			forget_from(cp);
		wait_seconds(delay);
		ret = try_all(cp, s, kv);
		if (ret >= 0)
			return ret;
		cp->paths.lost[cp->paths.at] = true;
		lost = cp->lost_from ? cp->from.host : cp->to.host;
		dialled = true;
	}
	if (!dialled)
		return cp_report_lost(cp, s, ret);
	return kv_report(lost_session(cp, s), cp->lost_from ? &cp->from : &cp->to, ret);
}

static int connect_from(struct cp *cp, struct session *s, struct kverbs *kv)
{
	int status = kv_connect(&cp->from_s, kv, &cp->from, &hello);

	if (status)
		session_free(s);
	return status;
}

int cp_connect(struct cp *cp, struct session *s, struct kverbs *kv)
{
	unsigned int others = cp->paths.nr - 1;
	int ret;

	paths_use(&cp->paths, 0, &cp->to, !others);
	ret = kv_try(s, kv, &cp->to, &hello);
	while (ret < 0 && others && retry_may_pass(ret, s->refusal)) {
		err_warn("cannot connect to %s (%s); connecting to the next address", cp->to.host,
			 err_name(ret));
		session_free(s);
		cp->paths.lost[cp->paths.at] = true;
		paths_next(&cp->paths);
		paths_use(&cp->paths, cp->paths.at, &cp->to, !--others);
		ret = kv_try(s, kv, &cp->to, &hello);
	}
	if (!ret)
		return cp->relay ? connect_from(cp, s, kv) : EXIT_OK;
	session_free(s);
	return ret > 0 ? ret : kv_report(s, &cp->to, ret);
}
