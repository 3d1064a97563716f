// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli/err.h"
#include "copy/copy.h"
#include "copy/hash.h"
#include "copy/remote.h"
#include "peer/kv.h"

static int parse_one(struct target *t, const struct target *first, const char *word)
{
	if (target_parse(t, word) || !*t->host)
		return err_usage("'%s' is not HOST:PATH", word);
	if (strcmp(t->host, first->host))
		return err_usage("all paths must be on the same host");
	if (strlen(t->path) > WIRE_PATH_MAX)
		return err_usage("a path has at most %d bytes", WIRE_PATH_MAX);
	return 0;
}

int remote_parse(struct remote *r, int argc, char **argv, struct target **targets)
{
	struct target *t;
	int i, ret = 0;

	*targets = NULL;
	if (!argc)
		return err_usage("give HOST:PATH");
	t = calloc(argc, sizeof(*t));
	if (!t)
		return err_report(ERR_LOCAL, -ENOMEM, "read the command line");
	for (i = 0; i < argc && !ret; i++)
		ret = parse_one(&t[i], t, argv[i]);
	*targets = t;
	r->to.host = t->host;
	return ret;
}

int remote_open(struct remote *r)
{
	const struct wire_hello hello = {
		.version = WIRE_VERSION,
		.what = WIRE_SERVICE_FILES,
		.msg_max = WIRE_MSG_MAX,
		.depth = WIRE_FILES_DEPTH,
	};
	int status;

	status = kv_open(&r->kv, 0);
	if (status)
		return status;
	status = kv_connect(&r->session, r->kv, &r->to, &hello);
	if (!status && !(r->session.welcome.flags & WIRE_F_SERVES_FILES)) {
		session_free(&r->session);
		status = err_report(ERR_REMOTE, -EACCES,
				    "%s does not serve files (start it with --root)", r->to.host);
	}
	if (status)
		kverbs_close(r->kv);
	return status;
}

void remote_close(struct remote *r)
{
	session_free(&r->session);
	kverbs_close(r->kv);
}

static int await_done(struct remote *r, const struct wire_msg *msg, struct wire_msg *done)
{
	uint64_t confirm;
	int ret;

	do {
		ret = session_recv(&r->session, done, r->to.timeout_ms);
	} while (!ret && done->type == WIRE_ALIVE);
	if (!ret && (done->type != WIRE_DONE || done->id != msg->id))
		ret = -EPROTO;
	if (ret || done->status)
		return ret;
	ret = hash_confirm(session_mac_key(&r->session), msg->digest, done->flags, &confirm);
	return !ret && confirm != done->digest ? -EBADMSG : ret;
}

int remote_ask(struct remote *r, struct wire_msg *msg, int *err,
	       int (*take)(void *arg, const struct wire_msg *done), void *arg)
{
	struct copy copy = { .session = &r->session };
	struct wire_msg done;
	int ret;

	msg->id = ++r->next_id;
	msg->window = WIRE_NO_WINDOW;
	do {
		ret = copy_send(&copy, msg);
		if (!ret)
			ret = await_done(r, msg, &done);
		if (ret)
			return ret;
		*err = wire_errno(done.status);
		ret = *err ? 0 : take(arg, &done);
		msg->flags |= WIRE_F_CONTINUE;
	} while (!ret && !*err && done.flags & WIRE_I_MORE);
	return ret;
}
