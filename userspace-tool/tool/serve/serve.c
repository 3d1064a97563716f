// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs serve: one server for everything, a thread for each client.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <json-c/json.h>

#include "cli/cmd.h"
#include "cli/err.h"
#include "cli/json.h"
#include "cli/opts.h"
#include "cli/out.h"
#include "cli/signals.h"
#include "cli/units.h"
#include "cli/util.h"
#include "copy/path.h"
#include "peer/kv.h"
#include "ping/rping.h"
#include "serve/notify.h"
#include "serve/serve.h"

#define CQ_ENTRIES 65536

/* Descriptors of a client besides those of a tree, and levels of a tree. */
#define CLIENT_FILES 8
#define DEPTH_LEAST 16
#define DEPTH_MOST 128

/* How long a signal may go unseen if it comes just before a wait. */
#define LOOK_MS 500

/* The same while clients have time to finish, so that it ends soon after them. */
#define GRACE_LOOK_MS 50

/* How often each was asked for. */
static int stop;
static int reload;

static void catch_signals(void)
{
	__atomic_store_n(&stop, 0, __ATOMIC_RELAXED);
	__atomic_store_n(&reload, 0, __ATOMIC_RELAXED);
	signals_count(SIGINT, &stop);
	signals_count(SIGTERM, &stop);
	signals_count(SIGHUP, &reload);
	/* The end of the log's reader must not end the server. */
	signals_handle(SIGPIPE, SIG_IGN);
}

static void reject(struct kverbs_conn *conn, unsigned int why)
{
	struct wire_hello hello = { .version = WIRE_VERSION, .what = why };
	char priv[WIRE_HELLO_LEN];

	wire_hello_encode(&hello, priv, sizeof(priv));
	kverbs_reject(conn, priv, sizeof(priv));
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

static void refuse(struct server *srv, struct kverbs_conn *conn,
		   const struct kverbs_addr *peer, unsigned int why)
{
	reject(conn, why);
	guard_refused(&srv->guard, peer, why);
}

/* Check the address first: refusing it must cost no more than a query. */
static void admit(struct server *srv, struct kverbs_conn *conn)
{
	struct kverbs_cmd_conn_query query;
	struct wire_hello hello;
	unsigned int why;

	if (kverbs_conn_query(conn, &query, sizeof(query))) {
		kverbs_conn_free(conn);
		return;
	}
	why = guard_admit(&srv->guard, &query.out_remote);
	if (!why)
		why = read_hello(srv, conn, &hello);
	if (!why)
		why = serve_client_take(srv, conn, &hello);
	if (why)
		refuse(srv, conn, &query.out_remote, why);
}

static void reread(struct server *srv)
{
	if (!__atomic_exchange_n(&reload, 0, __ATOMIC_RELAXED))
		return;
	notify_reloading();
	guard_reload(&srv->guard);
	notify("READY=1");
}

static int accept_all(struct server *srv)
{
	struct kverbs_conn *conn;
	int ret;

	while (!signals_seen(&stop)) {
		reread(srv);
		ret = kverbs_next_request(srv->listener, LOOK_MS, &conn);
		serve_clients_reap(srv, false);
		if (!ret)
			admit(srv, conn);
		else if (ret != -ETIMEDOUT && ret != -EINTR)
			return err_report(ERR_LISTEN, ret, "wait for clients");
	}
	return EXIT_OK;
}

static void tell_ending(struct server *srv, const char *name, const char *what)
{
	const struct log_event e = { .priority = LOG_NOTICE, .name = name };

	log_say(&srv->guard.log, &e, "shutting down, clients that %s: %u", what, srv->nr_clients);
}

/* Refuse a new client with WIRE_REFUSED_ENDING. */
static int turn_away(struct server *srv)
{
	struct kverbs_cmd_conn_query query;
	struct kverbs_conn *conn;
	int ret;

	ret = kverbs_next_request(srv->listener, GRACE_LOOK_MS, &conn);
	if (ret)
		return ret == -ETIMEDOUT || ret == -EINTR ? 0 : ret;
	if (kverbs_conn_query(conn, &query, sizeof(query)))
		kverbs_conn_free(conn);
	else
		refuse(srv, conn, &query.out_remote, WIRE_REFUSED_ENDING);
	return 0;
}

/* Let clients finish, until the grace period or a second signal ends it. */
static void await_clients(struct server *srv)
{
	double until = units_now() + srv->grace_ms / 1e3;

	serve_clients_reap(srv, false);
	if (!srv->nr_clients)
		return;
	tell_ending(srv, "ending", "may finish");
	while (srv->nr_clients && signals_seen(&stop) < 2 && units_now() < until && !turn_away(srv))
		serve_clients_reap(srv, false);
	if (srv->nr_clients)
		tell_ending(srv, "cut-off", "are cut off");
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
			 srv->files.read_only ? " (read-only)" : "");
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
	notify("READY=1");
	status = accept_all(srv);
	notify("STOPPING=1");
	if (!status)
		await_clients(srv);
	kverbs_listener_free(srv->listener);
	serve_clients_disconnect(srv);
	serve_clients_reap(srv, true);
	if (out_is_json())
		json_put_int(out_root(), "clients_served", srv->served);
	return status;
}

static int run_open(struct server *srv)
{
	int status;

	if (srv->root_path) {
		srv->files.root = path_open_root(srv->root_path);
		if (srv->files.root < 0)
			return err_report(ERR_LOCAL, srv->files.root, "open %s",
					  srv->root_path);
	}
	status = kv_open(&srv->kv, CQ_ENTRIES);
	if (!status) {
		pthread_mutex_init(&srv->lock, NULL);
		status = listen_and_serve(srv);
		pthread_mutex_destroy(&srv->lock);
		kverbs_close(srv->kv);
	}
	if (srv->files.root >= 0)
		close(srv->files.root);
	return status;
}

/*
 * As many descriptors as the system permits, and of a half of them so few for each client that
 * those of one address cannot use them up.
 */
static void bound_descriptors(struct server *srv)
{
	uint64_t depth;
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		limit = (struct rlimit){ .rlim_cur = 1024, .rlim_max = 1024 };
	limit.rlim_cur = limit.rlim_max;
	if (setrlimit(RLIMIT_NOFILE, &limit))
		getrlimit(RLIMIT_NOFILE, &limit);
	depth = limit.rlim_cur / 2 / srv->guard.limit.clients;
	if (depth > DEPTH_MOST + CLIENT_FILES)
		srv->files.depth_max = DEPTH_MOST;
	else if (depth < DEPTH_LEAST + CLIENT_FILES)
		srv->files.depth_max = DEPTH_LEAST;
	else
		srv->files.depth_max = depth - CLIENT_FILES;
}

static int run(struct server *srv)
{
	int status;

	srv->guard.limit.all_slots = CQ_ENTRIES;
	srv->guard.limit.evict = serve_client_evict;
	guard_bound_memory(&srv->guard);
	bound_descriptors(srv);
	status = guard_open(&srv->guard, srv->verbose);

	if (status)
		return status;
	if (srv->rping && srv->guard.key_path)
		status = err_usage("rping has no authentication: --rping excludes a key");
	else
		status = run_open(srv);
	guard_close(&srv->guard);
	return status;
}

static const char usage[] =
"usage: kverbs serve [options]\n"
"\n"
"Serve ping, bench and, with --root, cp to any number of clients, until SIGTERM or\n"
"SIGINT; a second signal ends it at once. Clients choose the parameters.\n";

static const char notes[] =
"Exit status: 0 ended by a signal, 1 failed, 2 usage, 4 not permitted or no device.\n";

static const struct opts_option options[] = {
	OPTS_OPTION("root", 0, OPTS_TEXT, struct server, root_path,
		    OPTS_HELP("DIR", "let clients read and write files beneath DIR")),
	OPTS_OPTION("read-only", 0, OPTS_SET, struct server, files.read_only,
		    OPTS_HELP(NULL, "do not let clients write")),
	OPTS_OPTION("umask", 0, OPTS_TEXT, struct server, umask,
		    OPTS_HELP("MODE", "permission bits to clear in files and directories\n"
			      "(default: none)")),
	OPTS_RANGE("min-free", 0, OPTS_NUMBER, struct server, files.min_free, 1, 1ull << 62,
		   OPTS_HELP("BYTES", "leave so much of the file system free (default: none)")),
	OPTS_RANGE("max-file-size", 0, OPTS_NUMBER, struct server, files.max_size, 1, 1ull << 62,
		   OPTS_HELP("BYTES", "maximum size of a file that clients write (default: none)")),
	OPTS_OPTION("services", 0, OPTS_TEXT, struct server, services_list,
		    OPTS_HELP("LIST", "serve only these: ping, files, bench (comma-separated)")),
	OPTS_OPTION("bind", 'b', OPTS_TEXT, struct server, bind,
		    OPTS_HELP("ADDR", "local address (default: any)")),
	OPTS_OPTION("port", 'p', OPTS_PORT, struct server, port,
		    OPTS_HELP("PORT", "port, 0: any (default " WIRE_DEFAULT_PORT
			      "; rping's " RPING_DEFAULT_PORT ")")),
	OPTS_OPTION("rping", 0, OPTS_SET, struct server, rping,
		    OPTS_HELP(NULL, "serve rdma-core's rping -c, and nothing else")),
	OPTS_OPTION("allow", 0, OPTS_MANY, struct server, guard.opts.allow,
		    OPTS_HELP("CIDR", "accept only clients from CIDR (comma-separated,\n"
			      "repeatable)")),
	OPTS_OPTION("allow-file", 0, OPTS_TEXT, struct server, guard.opts.allow_file,
		    OPTS_HELP("FILE", "the same from a file; SIGHUP reads it again")),
	OPTS_OPTION("key", 0, OPTS_TEXT, struct server, guard.opts.key_file,
		    OPTS_HELP("FILE", "require clients to have the same key, and prove to have it\n"
			      "(default: the credential kverbs.key, if there is one)")),
	OPTS_OPTION("log", 0, OPTS_TEXT, struct server, guard.opts.log,
		    OPTS_HELP("FORM", "text or json (default: the journal, or text)")),
	OPTS_RANGE("log-rate", 0, OPTS_NUMBER, struct server, guard.opts.log_rate, 0, 1000000,
		   OPTS_HELP("N", "lines per second about one address, 0: any (default 5)")),
	OPTS_RANGE("max-clients", 0, OPTS_NUMBER, struct server, max_clients, 1, 65536,
		   OPTS_HELP("N", "maximum of clients (default 1024)")),
	OPTS_RANGE("peer-clients", 0, OPTS_NUMBER, struct server, guard.limit.clients, 1, 65536,
		   OPTS_HELP("N", "maximum of clients of one address (default 256)")),
	OPTS_RANGE("peer-bytes", 0, OPTS_NUMBER, struct server, guard.limit.bytes, 1, 1ull << 50,
		   OPTS_HELP("BYTES", "maximum of memory for clients of one address\n"
			     "(default: half of --max-bytes)")),
	OPTS_RANGE("max-bytes", 0, OPTS_NUMBER, struct server, guard.limit.all_bytes, 1,
		   1ull << 50,
		   OPTS_HELP("BYTES", "maximum of memory for all clients\n"
			     "(default: three quarters of this host's)")),
	OPTS_OPTION("rate", 0, OPTS_REAL, struct server, guard.limit.rate,
		    OPTS_HELP("N", "new clients of one address per second (default: any)")),
	OPTS_RANGE("grace", 0, OPTS_MILLIS, struct server, grace_ms, 0, 86400000,
		   OPTS_HELP("S", "seconds for clients to finish after a signal (default 10)")),
	OPTS_RANGE("idle-timeout", 0, OPTS_MILLIS, struct server, idle_ms, 100, 86400000,
		   OPTS_HELP("S", "disconnect a client after S idle seconds (default 300)")),
	OPTS_OPTION("verbose", 'v', OPTS_SET, struct server, verbose,
		    OPTS_HELP(NULL, "log when clients connect and disconnect")),
	{ }
};

static int parse_umask(struct server *srv)
{
	char *end;
	unsigned long v;

	if (!srv->umask)
		return 0;
	v = strtoul(srv->umask, &end, 8);
	if (*end || end == srv->umask || end - srv->umask > 4 || v > 0777)
		return err_usage("--umask: '%s' is not an octal number up to 777", srv->umask);
	srv->files.umask = v;
	return 0;
}

static int parse_services(struct server *srv)
{
	static const char * const names[] = {
		[WIRE_SERVICE_ECHO] = "ping",
		[WIRE_SERVICE_FILES] = "files",
		[WIRE_SERVICE_BENCH] = "bench",
	};
	const char *p = srv->services_list;
	unsigned int i;
	size_t len;

	for (; p; p = p[len] ? p + len + 1 : NULL) {
		len = strcspn(p, ",");
		for (i = WIRE_SERVICE_ECHO; i < ARRAY_SIZE(names); i++)
			if (strlen(names[i]) == len && !memcmp(names[i], p, len))
				break;
		if (i == ARRAY_SIZE(names))
			return err_usage("--services: '%.*s' is none of ping, files and bench",
					 (int)len, p);
		srv->services |= 1u << i;
	}
	return 0;
}

static int serve_run(int argc, char **argv)
{
	struct server srv = {
		.files.root = -1,
		.guard.opts.log_rate = 5,
		.guard.limit.clients = 256,
		.grace_ms = 10000,
		.max_clients = 1024,
		.idle_ms = 300000,
	};
	int first = opts_parse(argc, argv, options, &srv);

	if (first < 0)
		return EXIT_USAGE;
	if (first != argc)
		return err_usage("unexpected argument '%s'", argv[first]);
	if (srv.files.read_only && !srv.root_path)
		return err_usage("--read-only requires --root");
	if (srv.rping && srv.services_list)
		return err_usage("--rping and --services exclude each other");
	if (parse_umask(&srv) || parse_services(&srv))
		return EXIT_USAGE;
	if (srv.services & 1u << WIRE_SERVICE_FILES && !srv.root_path)
		return err_usage("--services: files require --root");
	if (srv.rping && srv.root_path)
		return err_usage("--rping and --root exclude each other");
	if (!srv.port)
		srv.port = srv.rping ? RPING_DEFAULT_PORT : WIRE_DEFAULT_PORT;
	return run(&srv);
}

const struct command cmd_serve = {
	.name = "serve",
	.summary = "Serve ping, bench and cp to other hosts",
	.usage = usage,
	.options = options,
	.json = "print a JSON object when listening, and one at the end",
	.notes = notes,
	.run = serve_run,
};
