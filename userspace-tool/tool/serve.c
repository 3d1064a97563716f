// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs serve: one server for everything, a thread for each client.
 */
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <json-c/json.h>

#include "bench_server.h"
#include "cmd.h"
#include "err.h"
#include "files.h"
#include "kv.h"
#include "opts.h"
#include "out.h"
#include "path.h"
#include "rping.h"
#include "rping_server.h"
#include "session.h"

#define CQ_ENTRIES 65536

/* How long a signal may go unseen if it comes just before a wait. */
#define LOOK_MS 500

struct server;

/**
 * struct client - one connection and its thread
 * @next: in the server's list
 * @server: whose it is
 * @thread: it
 * @s: the connection
 * @done: the thread has ended, but for being joined; under the server's lock
 */
struct client {
	struct client *next;
	struct server *server;
	pthread_t thread;
	struct session s;
	bool done;
};

/**
 * struct server - a run
 * @kv: the context
 * @listener: where clients come from
 * @bind: local address, or NULL
 * @port: port
 * @root_path: what is served, or NULL
 * @root: the same, open, or -1
 * @read_only: nothing is written there
 * @rping: clients are rping's
 * @verbose: a line for each client
 * @max_clients: at a time
 * @idle_ms: how long a client may say nothing
 * @lock: of what clients have under it
 * @clients: all of them
 * @nr_clients: how many
 * @served: so far
 */
struct server {
	struct kverbs *kv;
	struct kverbs_listener *listener;
	const char *bind;
	const char *port;
	const char *root_path;
	int root;
	bool read_only;
	bool rping;
	bool verbose;
	uint64_t max_clients;
	int idle_ms;
	pthread_mutex_t lock;
	struct client *clients;
	unsigned int nr_clients;
	uint64_t served;
};

static int stop;

static void on_signal(int sig)
{
	(void)sig;
	__atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
}

static bool stopping(void)
{
	return __atomic_load_n(&stop, __ATOMIC_RELAXED);
}

static void signal_set(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

static void catch_signals(void)
{
	struct sigaction sa = { .sa_handler = on_signal };

	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	sigemptyset(&sa.sa_mask);
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

/* ---- a client ---------------------------------------------------------- */

static uint32_t welcome_flags(const struct server *srv)
{
	uint32_t flags = 0;

	if (srv->root >= 0)
		flags |= WIRE_F_SERVES_FILES;
	if (srv->read_only)
		flags |= WIRE_F_READ_ONLY;
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

static void tell(const struct client *c, const char *what, int err)
{
	if (!c->server->verbose)
		return;
	if (err && err != -ECONNRESET)
		err_warn("client %s: %s (%s)", c->s.peer, what, err_name(err));
	else
		err_warn("client %s: %s", c->s.peer, what);
}

static int serve_client(struct client *c)
{
	struct server *srv = c->server;
	int ret;

	ret = session_accept(&c->s, welcome_flags(srv), srv->idle_ms);
	if (ret)
		return ret;
	if (srv->rping) {
		tell(c, "rping", 0);
		return rping_serve(&c->s);
	}
	switch (c->s.hello.what) {
	case WIRE_SERVICE_ECHO:
		tell(c, "ping", 0);
		return echo_serve(&c->s);
	case WIRE_SERVICE_BENCH:
		tell(c, "bench", 0);
		return bench_serve(&c->s, srv->bind);
	default:
		tell(c, "files", 0);
		return files_serve(&c->s, srv->root, srv->read_only);
	}
}

static void *client_main(void *arg)
{
	struct client *c = arg;
	int ret;

	ret = serve_client(c);
	session_free(&c->s);
	tell(c, "gone", ret);
	pthread_mutex_lock(&c->server->lock);
	c->done = true;
	pthread_mutex_unlock(&c->server->lock);
	return NULL;
}

static void reject(struct kverbs_conn *conn, unsigned int why)
{
	struct wire_hello hello = { .version = WIRE_VERSION, .what = why };
	char priv[WIRE_HELLO_LEN];

	wire_hello_encode(&hello, priv, sizeof(priv));
	kverbs_reject(conn, priv, sizeof(priv));
}

static int start_client(struct server *srv, struct client *c)
{
	sigset_t set, old;
	int ret;

	/* Signals are the main thread's: a client must not swallow them. */
	signal_set(&set);
	pthread_sigmask(SIG_BLOCK, &set, &old);
	ret = -pthread_create(&c->thread, NULL, client_main, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret)
		return ret;
	c->next = srv->clients;
	srv->clients = c;
	srv->nr_clients++;
	srv->served++;
	return 0;
}

/* 0, or why the client is refused. */
static int read_hello(const struct server *srv, struct kverbs_conn *conn,
		      struct wire_hello *hello)
{
	char priv[KVERBS_PRIV_CONNECT_MAX];
	int n;

	if (srv->rping) {
		rping_hello(hello);
		return 0;
	}
	n = kverbs_conn_priv(conn, priv, sizeof(priv));
	if (n < 0 || wire_hello_decode(hello, priv, n))
		return WIRE_REFUSED_VERSION;
	return wire_hello_check(hello);
}

static void admit(struct server *srv, struct kverbs_conn *conn)
{
	struct wire_hello hello;
	struct client *c;
	int why;

	why = read_hello(srv, conn, &hello);
	if (!why && srv->nr_clients >= srv->max_clients)
		why = WIRE_REFUSED_BUSY;
	c = why ? NULL : calloc(1, sizeof(*c));
	if (c) {
		c->server = srv;
		session_init(&c->s, srv->kv, conn, &hello);
	}
	if (!c || start_client(srv, c)) {
		reject(conn, why ? why : WIRE_REFUSED_BUSY);
		free(c);
	}
}

/* ---- the server -------------------------------------------------------- */

/* Join threads that have ended; with @all every one. */
static void reap(struct server *srv, bool all)
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

static int accept_all(struct server *srv)
{
	struct kverbs_conn *conn;
	int ret;

	while (!stopping()) {
		ret = kverbs_next_request(srv->listener, LOOK_MS, &conn);
		reap(srv, false);
		if (!ret)
			admit(srv, conn);
		else if (ret != -ETIMEDOUT && ret != -EINTR)
			return err_report(ERR_LISTEN, ret, "wait for clients");
	}
	return EXIT_OK;
}

static void disconnect_all(struct server *srv)
{
	struct client *c;

	for (c = srv->clients; c; c = c->next)
		session_disconnect(&c->s);
}

static void announce(const struct server *srv)
{
	unsigned int port = kverbs_listener_port(srv->listener);
	const char *bind = srv->bind ? srv->bind : "*";

	if (out_is_json()) {
		printf("{\"command\": \"serve\", \"status\": \"listening\", \"port\": %u}\n",
		       port);
		fflush(stdout);
		return;
	}
	out_text("listening on %s port %u, ", bind, port);
	if (srv->root_path)
		out_text("files in %s%s\n", srv->root_path,
			 srv->read_only ? " (read-only)" : "");
	else
		out_text(srv->rping ? "rping\n" : "no files\n");
}

static int listen_and_serve(struct server *srv)
{
	int ret, status;

	ret = kverbs_listen(srv->kv, srv->bind, srv->port, 0, &srv->listener);
	if (ret)
		return err_report(ERR_LISTEN, ret, "listen on %s port %s",
				  srv->bind ? srv->bind : "*", srv->port);
	catch_signals();
	announce(srv);
	status = accept_all(srv);
	kverbs_listener_free(srv->listener);
	disconnect_all(srv);
	reap(srv, true);
	if (out_is_json())
		json_object_object_add(out_root(), "clients_served",
				       json_object_new_int64(srv->served));
	return status;
}

static int run(struct server *srv)
{
	int status;

	srv->root = -1;
	if (srv->root_path) {
		srv->root = path_open_root(srv->root_path);
		if (srv->root < 0)
			return err_report(ERR_LOCAL, srv->root, "open %s",
					  srv->root_path);
	}
	status = kv_open(&srv->kv, CQ_ENTRIES);
	if (!status) {
		pthread_mutex_init(&srv->lock, NULL);
		status = listen_and_serve(srv);
		pthread_mutex_destroy(&srv->lock);
		kverbs_close(srv->kv);
	}
	if (srv->root >= 0)
		close(srv->root);
	return status;
}

static const char help[] =
"usage: kverbs serve [options]\n"
"\n"
"Serve ping, bench and, with --root, cp to any number of clients, until SIGTERM\n"
"or SIGINT. A client's parameters are adopted.\n"
"\n"
"      --root DIR         let clients read and write files beneath DIR\n"
"      --read-only        let them read only\n"
"  -b, --bind ADDR        local address (default: any)\n"
"  -p, --port PORT        port, 0: any (default " WIRE_DEFAULT_PORT "; rping's "
RPING_DEFAULT_PORT ")\n"
"      --rping            serve rdma-core's rping -c, and nothing else\n"
"      --max-clients N    at a time (default 1024)\n"
"      --idle-timeout S   seconds that a client may be silent (default 300)\n"
"  -v, --verbose          a line when a client comes and goes\n"
"  -j, --json             JSON: one object when it listens, one at the end\n"
"  -h, --help             this text\n"
"\n"
"Exit status: 0 ended by a signal, 1 failed, 2 usage, 4 not permitted or no device.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("root", 0, OPTS_TEXT, struct server, root_path),
	OPTS_OPTION("read-only", 0, OPTS_SET, struct server, read_only),
	OPTS_OPTION("bind", 'b', OPTS_TEXT, struct server, bind),
	OPTS_OPTION("port", 'p', OPTS_PORT, struct server, port),
	OPTS_OPTION("rping", 0, OPTS_SET, struct server, rping),
	OPTS_RANGE("max-clients", 0, OPTS_NUMBER, struct server, max_clients, 1, 65536),
	OPTS_RANGE("idle-timeout", 0, OPTS_MILLIS, struct server, idle_ms, 100, 86400000),
	OPTS_OPTION("verbose", 'v', OPTS_SET, struct server, verbose),
	{ }
};

static int serve_run(int argc, char **argv)
{
	struct server srv = {
		.max_clients = 1024,
		.idle_ms = 300000,
	};
	int first = opts_parse(argc, argv, options, &srv);

	if (first < 0)
		return EXIT_USAGE;
	if (first != argc)
		return err_usage("'%s' is one word too many", argv[first]);
	if (srv.read_only && !srv.root_path)
		return err_usage("--read-only wants --root");
	if (srv.rping && srv.root_path)
		return err_usage("--rping and --root do not go together");
	if (!srv.port)
		srv.port = srv.rping ? RPING_DEFAULT_PORT : WIRE_DEFAULT_PORT;
	return run(&srv);
}

const struct command cmd_serve = {
	.name = "serve",
	.summary = "Serve ping, bench and cp to other hosts",
	.help = help,
	.run = serve_run,
};
