// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A client of kverbs serve: from the request until its thread is joined. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/units.h"
#include "copy/path.h"
#include "peer/auth.h"
#include "peer/service.h"
#include "serve/bench_server.h"
#include "serve/files.h"
#include "serve/rping_server.h"
#include "serve/serve.h"

/* Age of the counters that a new client begins with, at most */
#define COUNTERS_SECONDS 1

static uint32_t welcome_flags(const struct server *srv)
{
	uint32_t flags = 0;

	if (files_exist(&srv->files) && service_included(srv->services, WIRE_SERVICE_FILES))
		flags |= WIRE_F_SERVES_FILES;
	if (srv->files.read_only)
		flags |= WIRE_F_READ_ONLY;
	if (files_privileged(&srv->files))
		flags |= WIRE_F_PRIVILEGED;
	return flags;
}

static int echo_serve(struct session *s)
{
	struct wire_msg msg;
	int ret = 0;

	while (!ret) {
		ret = session_recv(s, &msg, s->timeout_ms);
		if (!ret && msg.type != WIRE_ECHO)
			ret = -EPROTO;
		if (!ret)
			ret = session_echo(s, &msg);
	}
	return ret;
}

/* True if this host ran out of ring slots, memory or disk: log it for the operator. */
static bool is_want(int err)
{
	switch (err) {
	case -EAGAIN:
	case -EDQUOT:
	case -EMFILE:
	case -ENFILE:
	case -ENOBUFS:
	case -ENOMEM:
	case -ENOSPC:
		return true;
	default:
		return false;
	}
}

/* A key without a name needs none: it is the only one. */
static const char *key_name(const struct client *c)
{
	return c->key && *c->key->name ? c->key->name : NULL;
}

static const char *event_name(const struct client *c, int err)
{
	if (is_want(err))
		return "no-room";
	return c->over ? "gone" : "served";
}

static void tell(const struct client *c, int err)
{
	const struct log_event e = {
		.priority = is_want(err) ? LOG_WARNING : LOG_INFO,
		.name = event_name(c, err),
		.peer = &c->s.addr,
		.service = c->service,
		.key = key_name(c),
		.err = err == -ECONNRESET ? 0 : err,
	};

	log_say(&c->server->guard.log, &e, "%s", is_want(err) ? "this host lacks resources" :
		c->over ? "gone" : c->service);
}

static void tell_why(const struct client *c, int err)
{
	const struct log_event e = {
		.priority = LOG_NOTICE,
		.name = "explained",
		.peer = &c->s.addr,
		.service = c->service,
		.key = key_name(c),
		.err = err,
	};
	char causes[EXPLAIN_TEXT_MAX], facts[EXPLAIN_TEXT_MAX];

	if (!c->s.explained || !c->s.why.nr_causes)
		return;
	explain_causes(&c->s.why, causes, sizeof(causes));
	explain_facts(&c->s.why, facts, sizeof(facts));
	log_say(&c->server->guard.log, &e, "likely: %s. Seen: %s", causes, facts);
}

static const char *service(const struct client *c)
{
	return c->server->rping ? "rping" : service_name(c->s.hello.what);
}

static void tell_unproven(const struct client *c, int err)
{
	const struct log_event e = {
		.priority = LOG_WARNING,
		.name = "unproven",
		.peer = &c->s.addr,
		.service = c->service,
		.key = key_name(c),
		.err = err,
	};

	log_say(&c->server->guard.log, &e, "%s", err == -EKEYREJECTED ? "has another key" :
		err == -EREMCHG ? "sees other addresses: another host is in between" :
		c->key ? "its key does not permit the service" :
		"does not prove that it has the key");
}

static int let_in(struct client *c)
{
	struct server *srv = c->server;
	int ret;

	c->keys = guard_keys(&srv->guard);
	if (!c->keys)
		return session_accept(&c->s, welcome_flags(srv), srv->idle_ms);
	ret = auth_accept(&c->s, welcome_flags(srv), srv->idle_ms, srv->auth_ms, c->keys,
			  &c->key);
	if (!ret && limit_proven(&c->visit))
		return -EDQUOT;
	/* A peer that disconnected has not tried a wrong key. */
	if (ret && ret != -ECONNRESET)
		tell_unproven(c, ret);
	return ret;
}

static int serve_rping(struct client *c)
{
	const struct log_event e = {
		.priority = LOG_WARNING,
		.name = "differed",
		.peer = &c->s.addr,
		.service = c->service,
	};
	struct rping_tally tally = { 0 };
	int ret = rping_serve(&c->s, &tally);

	if (tally.differed)
		log_say(&c->server->guard.log, &e, "%" PRIu64 " of %" PRIu64 " texts differed",
			tally.differed, tally.pings);
	return ret;
}

void serve_client_evict(struct visit *v)
{
	struct client *c = (void *)((char *)v - offsetof(struct client, visit));

	session_disconnect(&c->s);
}

/* Make a directory the root of what @conf permits; -errno in its place if it cannot be opened. */
static void enter_dir(struct files_conf *conf, const char *dir)
{
	struct path path, beneath;
	struct files_conf all = *conf;
	int ret;

	ret = path_parse(&path, dir, strlen(dir));
	if (!ret)
		ret = files_select(&all, &path, conf, &beneath);
	conf->root = ret ? ret : path_open(conf->root, beneath.text, O_PATH | O_DIRECTORY);
	conf->shares = NULL;
}

static void tell_no_dir(const struct client *c, int err)
{
	const struct log_event e = {
		.priority = LOG_WARNING,
		.name = "no-directory",
		.peer = &c->s.addr,
		.service = c->service,
		.key = key_name(c),
		.err = err,
	};

	log_say(&c->server->guard.log, &e, "cannot open the directory of its key");
}

/* Both the options of the server and the key of the client must permit something. */
static int serve_files(struct client *c)
{
	const struct key_rights *rights = c->key ? &c->key->rights : NULL;
	struct files_conf conf = c->server->files;
	int ret;

	if (!rights)
		return files_serve(&c->s, &conf);
	conf.read_only |= rights->read_only;
	conf.no_delete |= rights->no_delete;
	conf.super &= !rights->no_super;
	if (!rights->dir)
		return files_serve(&c->s, &conf);
	enter_dir(&conf, rights->dir);
	if (conf.root < 0)
		tell_no_dir(c, conf.root);
	ret = files_serve(&c->s, &conf);
	if (conf.root >= 0)
		close(conf.root);
	return ret;
}

static int serve_client(struct client *c)
{
	struct server *srv = c->server;
	int ret;

	ret = let_in(c);
	if (ret == -ETIMEDOUT && !c->keys)
		session_explain(&c->s, ret);
	if (ret)
		return ret;
	tell(c, 0);
	if (srv->rping)
		return serve_rping(c);
	switch (c->s.hello.what) {
	case WIRE_SERVICE_ECHO:
		return echo_serve(&c->s);
	case WIRE_SERVICE_BENCH:
		return bench_serve(&c->s, srv->bind);
	default:
		return serve_files(c);
	}
}

static void *client_main(void *arg)
{
	struct client *c = arg;
	int ret;

	ret = serve_client(c);
	session_free(&c->s);
	limit_leave(&c->visit);
	c->over = true;
	tell(c, ret);
	tell_why(c, ret);
	keyring_put(c->keys);
	pthread_mutex_lock(&c->server->lock);
	c->done = true;
	pthread_mutex_unlock(&c->server->lock);
	return NULL;
}

/* Reading the counters takes longer than many clients stay, so clients share them. */
static struct explain_base *counters(struct server *srv)
{
	if (srv->base && units_now() - srv->base->at < COUNTERS_SECONDS)
		return explain_base_get(srv->base);
	explain_base_put(srv->base);
	srv->base = explain_base_new();
	return explain_base_get(srv->base);
}

static int start_client(struct server *srv, struct client *c)
{
	sigset_t set, old;
	int ret;

	c->s.before = counters(srv);

	/* Signals are the main thread's: a client must not swallow them. */
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	ret = -pthread_create(&c->thread, NULL, client_main, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret) {
		explain_base_put(c->s.before);
		return ret;
	}
	c->next = srv->clients;
	srv->clients = c;
	srv->nr_clients++;
	srv->served++;
	return 0;
}

static struct client *new_client(struct server *srv, struct kverbs_conn *conn,
				 const struct wire_hello *hello)
{
	struct client *c = calloc(1, sizeof(*c));

	if (!c)
		return NULL;
	c->server = srv;
	session_init(&c->s, srv->kv, conn, hello);
	c->s.visit = &c->visit;
	c->service = service(c);
	return c;
}

unsigned int serve_client_take(struct server *srv, struct kverbs_conn *conn,
			       const struct wire_hello *hello)
{
	struct client *c;
	unsigned int why;

	if (!srv->rping && !service_included(srv->services, hello->what))
		return WIRE_REFUSED_SERVICE;
	if (srv->nr_clients >= srv->max_clients)
		return WIRE_REFUSED_BUSY;
	c = new_client(srv, conn, hello);
	if (!c)
		return WIRE_REFUSED_BUSY;
	why = guard_check(&srv->guard, &c->visit, &c->s.addr, hello);
	if (!why && start_client(srv, c))
		why = WIRE_REFUSED_BUSY;
	if (why) {
		limit_leave(&c->visit);
		free(c);
	}
	return why;
}

void serve_clients_reap(struct server *srv, bool all)
{
	struct client **at = &srv->clients, *c;
	bool done;

	while ((c = *at)) {
		pthread_mutex_lock(&srv->lock);
		done = c->done;
		pthread_mutex_unlock(&srv->lock);
		if (!done && !all) {
			at = &c->next;
			continue;
		}
		pthread_join(c->thread, NULL);
		*at = c->next;
		srv->nr_clients--;
		free(c);
	}
}

void serve_clients_disconnect(struct server *srv)
{
	struct client *c;

	for (c = srv->clients; c; c = c->next)
		session_disconnect(&c->s);
}
