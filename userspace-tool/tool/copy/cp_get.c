// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs cp from a server. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "copy/cp.h"
#include "copy/sink.h"

static bool ends_with_slash(const char *path)
{
	size_t len = strlen(path);

	return !len || path[len - 1] == '/';
}

/* @name: what is asked for beneath the path, or NULL: the path */
static int send_get(struct cp *cp, struct copy *copy, const struct target *t, const char *name)
{
	struct wire_msg msg = {
		.type = WIRE_GET,
		.window = WIRE_NO_WINDOW,
		.flags = cp->copy.opts,
		.size = cp->copy.rate,
		.tail = t->path,
		.tail_len = strlen(t->path),
		.extra = name,
		.extra_len = name ? strlen(name) : 0,
	};

	if (ends_with_slash(t->path) && !name)
		msg.flags |= WIRE_F_CONTENTS;
	return copy_send(copy, &msg);
}

/* Take one message. */
static int pump(void *arg)
{
	struct sink *sink = arg;
	struct wire_msg msg;
	int ret = copy_recv(sink->copy, sink->s, &msg);

	return ret ? ret : sink_message(sink, &msg);
}

static int get_one(struct cp *cp, const struct cp_getter *get, const struct target *t,
		   const char *name)
{
	struct sink *sink = get->sink;
	char buf[NAME_MAX + 1];
	int ret;

	if (strlen(t->path) > WIRE_PATH_MAX ||
	    strlen(t->path) + (name ? strlen(name) : 0) > WIRE_TAIL_MAX) {
		copy_failed(&cp->copy, ERR_REMOTE, -ENAMETOOLONG, name ? name : t->path);
		return 0;
	}
	sink->top = name ? name : target_basename(t->path, buf, sizeof(buf));
	/* Everything beneath the path */
	if (name && !strcmp(name, "."))
		sink->top = NULL;
	sink->finished = false;
	ret = send_get(cp, sink->copy, t, name);
	while (!ret && !sink->finished)
		ret = get->pump(get->arg);
	return ret;
}

int cp_get_each(struct cp *cp, const struct cp_getter *get)
{
	int i, ret = 0;
	size_t n;

	for (n = 0; n < cp->nr_names && !ret; n++)
		ret = get_one(cp, get, cp->sources, cp->names[n]);
	for (i = 0; i < cp->nr_sources && !ret && !cp->files_from; i++)
		ret = get_one(cp, get, &cp->sources[i], NULL);
	return ret;
}

static int open_target(struct cp *cp, struct sink *sink)
{
	int ret;

	sink->files_only = !(cp->copy.opts & (WIRE_F_RECURSIVE | WIRE_F_RELATIVE));
	sink->resume = !cp->no_resume;
	sink->sync = cp->sync;
	sink->dry = cp->dry_run;
	if (!strcmp(cp->dst.path, "-")) {
		sink->out = STDOUT_FILENO;
		return 0;
	}
	ret = sink_target_local(sink, cp->dst.path, cp->nr_sources > 1 || cp->files_from);
	if (sink->rename)
		cp->copy.opts |= WIRE_F_AS_NAMED;
	return ret ? err_report(ERR_LOCAL, ret, "open %s", cp->dst.path) : 0;
}

static int get_all(struct cp *cp, struct sink *sink)
{
	const struct cp_getter get = { .sink = sink, .pump = pump, .arg = sink };
	int ret;

	ret = open_target(cp, sink);
	if (!ret)
		ret = sink_greet(sink);
	if (!ret)
		ret = cp_get_each(cp, &get);
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
	copy_stop(&cp->copy);
	sink_free(sink);
	free(sink);
	return ret;
}
