// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * cp from a server: this end is the sink.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "cli/err.h"
#include "copy/cp.h"
#include "copy/sink.h"

static int send_get(struct cp *cp, const struct target *t)
{
	struct wire_msg msg = {
		.type = WIRE_GET,
		.window = WIRE_NO_WINDOW,
		.flags = cp->recursive ? WIRE_F_RECURSIVE : 0,
		.tail = t->path,
		.tail_len = strlen(t->path),
	};

	return session_send(cp->copy.session, &msg);
}

static int get_one(struct cp *cp, struct sink *sink, const struct target *t)
{
	char name[NAME_MAX + 1];
	struct wire_msg msg;
	int ret;

	if (strlen(t->path) > WIRE_PATH_MAX) {
		copy_failed(&cp->copy, ERR_REMOTE, -ENAMETOOLONG, t->path);
		return 0;
	}
	sink->top = target_basename(t->path, name, sizeof(name));
	sink->finished = false;
	ret = send_get(cp, t);
	while (!ret && !sink->finished) {
		ret = session_recv(sink->s, &msg, cp->to.timeout_ms);
		if (!ret)
			ret = sink_message(sink, &msg);
	}
	return ret;
}

static int open_target(struct cp *cp, struct sink *sink)
{
	int ret;

	sink->files_only = !cp->recursive;
	sink->resume = !cp->no_resume;
	sink->sync = cp->sync;
	ret = sink_target_local(sink, cp->dst.path, cp->nr_sources > 1);
	return ret ? err_report(ERR_LOCAL, ret, "open %s", cp->dst.path) : 0;
}

static int get_all(struct cp *cp, struct sink *sink)
{
	int i, ret;

	ret = open_target(cp, sink);
	if (!ret)
		ret = sink_greet(sink);
	for (i = 0; i < cp->nr_sources && !ret; i++)
		ret = get_one(cp, sink, &cp->sources[i]);
	return ret ? ret : session_flush(sink->s);
}

int cp_get(struct cp *cp)
{
	struct sink *sink = calloc(1, sizeof(*sink));
	int ret;

	if (!sink)
		return err_report(ERR_MEMORY, -ENOMEM, "begin");
	ret = sink_open(sink, &cp->copy);
	if (ret == -ENOMEM || ret == -EPERM)
		ret = err_report(ERR_MEMORY, -ENOMEM, "register windows");
	if (!ret)
		ret = get_all(cp, sink);
	sink_close(sink);
	session_stop(cp->copy.session);
	sink_free(sink);
	free(sink);
	return ret;
}
