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
#include "copy/path.h"
#include "peer/auth.h"
#include "peer/kv.h"
#include "peer/service.h"
#include "ping/rping.h"
#include "serve/announce.h"
#include "serve/notify.h"
#include "serve/serve.h"

#define CQ_ENTRIES 65536

/* Descriptors of a client besides those of the tree that it copies, and levels of a tree */
#define CLIENT_FILES 52
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

static void say_listening(const struct server *srv)
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
	if (srv->shares.nr)
		out_text("%u share%s%s\n", srv->shares.nr, srv->shares.nr == 1 ? "" : "s",
			 srv->files.read_only ? " (read-only)" : "");
	else if (srv->root_path)
		out_text("files in %s%s\n", srv->root_path,
			 srv->files.read_only ? " (read-only)" : "");
	else
		out_text(srv->rping ? "rping\n" : "no files\n");
}

/* Bits of enum wire_service that clients can have. */
static unsigned int services_of(const struct server *srv)
{
	bool files = srv->root_path || srv->shares.nr;
	unsigned int i, services = 0;

	for (i = WIRE_SERVICE_ECHO; i <= WIRE_SERVICE_BENCH; i++)
		if (service_included(srv->services, i) && (files || i != WIRE_SERVICE_FILES))
			services |= 1u << i;
	return services;
}

static int announce_it(struct server *srv)
{
	const struct announce_what what = {
		.kv = srv->kv,
		.bind = srv->bind,
		.port = kverbs_listener_port(srv->listener),
		.services = services_of(srv),
		.key = srv->guard.key_path,
		.log = &srv->guard.log,
	};

	return srv->announced ? announce_start(&srv->announce, &what) : EXIT_OK;
}

static int listen_and_serve(struct server *srv)
{
	int ret, status;

	ret = kverbs_listen(srv->kv, srv->bind, srv->port, 0, &srv->listener);
	if (ret)
		return err_report(ERR_LISTEN, ret, "listen on %s port %s",
				  srv->bind ? srv->bind : "*", srv->port);
	catch_signals();
	say_listening(srv);
	status = announce_it(srv);
	if (!status) {
		notify("READY=1");
		status = accept_all(srv);
	}
	notify("STOPPING=1");
	announce_stop(srv->announce);
	if (!status)
		await_clients(srv);
	kverbs_listener_free(srv->listener);
	serve_clients_disconnect(srv);
	serve_clients_reap(srv, true);
	explain_base_put(srv->base);
	srv->base = NULL;
	if (out_is_json())
		json_put_int(out_root(), "clients_served", srv->served);
	return status;
}

static int open_files(struct server *srv)
{
	int status = shares_open(&srv->shares, &srv->share_words);

	if (status)
		return status;
	if (srv->shares.nr)
		srv->files.shares = &srv->shares;
	if (!srv->root_path)
		return 0;
	srv->files.root = path_open_root(srv->root_path);
	if (srv->files.root < 0)
		return err_report(ERR_LOCAL, srv->files.root, "open %s", srv->root_path);
	return 0;
}

static int run_open(struct server *srv)
{
	int status;

	status = open_files(srv);
	if (!status)
		status = kv_open(&srv->kv, CQ_ENTRIES);
	if (!status) {
		pthread_mutex_init(&srv->lock, NULL);
		copies_init(&srv->copies);
		srv->files.copies = &srv->copies;
		status = listen_and_serve(srv);
		pthread_mutex_destroy(&srv->lock);
		kverbs_close(srv->kv);
	}
	if (srv->files.root >= 0)
		close(srv->files.root);
	shares_close(&srv->shares);
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
		    OPTS_HELP("DIR", "let clients read and write files below DIR"),
		    OPTS_DOC("Let clients read and write files below *DIR*. Without it no files\n"
			     "are served.")),
	OPTS_OPTION("share", 0, OPTS_MANY, struct server, share_words,
		    OPTS_HELP("NAME=DIR", "the same for several directories, known by names;\n"
			      "NAME,ro=DIR and NAME,no-delete=DIR restrict one (repeatable)"),
		    OPTS_DOC("Let clients read and write files below *DIR*, as *HOST*:*NAME*. May\n"
			     "be repeated, for several directories; not together with ``--root``.\n"
			     "*NAME*\\ ``,ro=``\\ *DIR* only lets them read, and\n"
			     "*NAME*\\ ``,no-delete=``\\ *DIR* lets them replace, but not delete\n"
			     "files. Other options about files apply to all directories.\n"
			     "**kverbs ls** *HOST*: lists the names.")),
	OPTS_OPTION("read-only", 0, OPTS_SET, struct server, files.read_only,
		    OPTS_HELP(NULL, "do not let clients write"),
		    OPTS_DOC("Do not let clients write. Requires ``--root`` or ``--share``.")),
	OPTS_OPTION("no-delete", 0, OPTS_SET, struct server, files.no_delete,
		    OPTS_HELP(NULL, "do not let clients delete files"),
		    OPTS_DOC("Refuse **kverbs rm** and ``kverbs cp --delete``. Clients may still\n"
			     "replace files.")),
	OPTS_OPTION("super", 0, OPTS_SET, struct server, files.super,
		    OPTS_HELP(NULL, "as root, let clients set owners, set-user-ID bits, devices\n"
			      "and all attributes"),
		    OPTS_DOC("If the server runs as root, let clients use its rights: set owners\n"
			     "and groups, set-user-ID, set-group-ID and sticky bits, make device\n"
			     "nodes, and read and write extended attributes besides ``user.*``.\n"
			     "Only for clients that may have the rights of root on this host.")),
	OPTS_OPTION("umask", 0, OPTS_TEXT, struct server, umask,
		    OPTS_HELP("MODE", "permission bits to clear in files and directories\n"
			      "(default: none)"),
		    OPTS_DOC("Clear the permission bits *MODE*, an octal number, in files and\n"
			     "directories that clients write.")),
	OPTS_RANGE("min-free", 0, OPTS_NUMBER, struct server, files.min_free, 1, 1ull << 62,
		   OPTS_HELP("BYTES", "leave so much of the file system free (default: none)"),
		   OPTS_DOC("Refuse to store what would leave less than *BYTES* of the file\n"
			    "system available, with ENOSPC.")),
	OPTS_RANGE("max-file-size", 0, OPTS_NUMBER, struct server, files.max_size, 1, 1ull << 62,
		   OPTS_HELP("BYTES", "maximum size of a file that clients write (default: none)"),
		   OPTS_DOC("Refuse files of more than *BYTES*, with EFBIG.")),
	OPTS_OPTION("services", 0, OPTS_TEXT, struct server, services_list,
		    OPTS_HELP("LIST", "serve only these: ping, files, bench (comma-separated)"),
		    OPTS_DOC("Serve only the services in *LIST*: ``ping``, ``files``, ``bench``,\n"
			     "separated by commas. ``files`` requires ``--root`` or ``--share``. A\n"
			     "measurement of **bench** occupies a processor for as long as the\n"
			     "client wants.")),
	OPTS_OPTION("bind", 'b', OPTS_TEXT, struct server, bind,
		    OPTS_HELP("ADDR", "listen on this local address only (default: all)"),
		    OPTS_DOC("Listen on this local address only; the default is all addresses,\n"
			     "IPv4 and IPv6.")),
	OPTS_OPTION("port", 'p', OPTS_PORT, struct server, port,
		    OPTS_HELP("PORT", "listen on this port, 0: a free one (default "
			      WIRE_DEFAULT_PORT ", with --rping " RPING_DEFAULT_PORT ")"),
		    OPTS_DOC("Listen on this port; 0 selects a free one. The default is 7472,\n"
			     "with ``--rping`` 7174.")),
	OPTS_OPTION("announce", 0, OPTS_SET, struct server, announced,
		    OPTS_HELP(NULL, "announce the server to kverbs hosts, by DNS-SD"),
		    OPTS_DOC("Announce the server by DNS-SD, with the help of **avahi-daemon**,\n"
			     "on all network interfaces that have an RDMA device when it starts:\n"
			     "**kverbs hosts** on other hosts lists it. The announcement has the\n"
			     "host's name, its addresses, the port, the services, the name of the\n"
			     "RDMA device, and whether a key is required. Every host on these\n"
			     "networks can read it. Without this option nothing is announced.")),
	OPTS_OPTION("rping", 0, OPTS_SET, struct server, rping,
		    OPTS_HELP(NULL, "serve rdma-core's rping -c, and nothing else"),
		    OPTS_DOC("Serve rdma-core's **rping -c** and nothing else. Not together\n"
			     "with ``--root`` or ``--share``.")),
	OPTS_OPTION("allow", 0, OPTS_MANY, struct server, guard.opts.allow,
		    OPTS_HELP("CIDR", "accept only clients from CIDR (comma-separated,\n"
			      "repeatable)"),
		    OPTS_DOC("Accept only clients whose address is in *CIDR*, an address or a\n"
			     "prefix such as ``192.0.2.0/24`` or ``2001:db8::/32``. Takes a\n"
			     "comma-separated list and may be repeated. Other clients are\n"
			     "rejected with a reason before resources are allocated, and\n"
			     "logged. An IPv4-mapped IPv6 address counts as IPv4, so ``::/0``\n"
			     "does not include IPv4.")),
	OPTS_OPTION("allow-file", 0, OPTS_TEXT, struct server, guard.opts.allow_file,
		    OPTS_HELP("FILE", "read such prefixes from FILE; SIGHUP reloads it"),
		    OPTS_DOC("Read such prefixes from *FILE*, separated by whitespace or\n"
			     "commas; ``#`` starts a comment. SIGHUP reloads the file.")),
	OPTS_OPTION("key", 0, OPTS_TEXT, struct server, guard.opts.key_file,
		    OPTS_HELP("FILE", "authenticate both sides with a key in FILE\n"
			      "(default: the credential kverbs.key, if there is one)"),
		    OPTS_DOC("Authenticate both sides with a key in *FILE* before any file is\n"
			     "accessed or measurement started. *FILE* has named keys with rights,\n"
			     "or one key; see :manpage:`kverbs-key(1)`. It must belong to the\n"
			     "server's user or to root. Other users must have no permission on\n"
			     "the file, and its group must not be able to write to it. Without\n"
			     "this option the file is the systemd credential ``kverbs.key``\n"
			     "(``$CREDENTIALS_DIRECTORY/kverbs.key``), if it exists. A client\n"
			     "has 3 seconds to authenticate. At most 64 clients, 16 of one\n"
			     "address, may be in that state; another one disconnects the oldest\n"
			     "of the address with most of them. Not together with ``--rping``,\n"
			     "which has no authentication. SIGHUP reloads the file.")),
	OPTS_OPTION("log", 0, OPTS_TEXT, struct server, guard.opts.log,
		    OPTS_HELP("FORM", "text or json (default: the journal, or text)"),
		    OPTS_VALUES("text json"),
		    OPTS_DOC("Log to standard error as ``text`` or as ``json``, one object per\n"
			     "line. By default, the log goes to the systemd journal with fields\n"
			     "if standard error is connected to it, and otherwise is text. See\n"
			     "Log_.")),
	OPTS_RANGE("log-rate", 0, OPTS_NUMBER, struct server, guard.opts.log_rate, 0, 1000000,
		   OPTS_HELP("N", "log at most N lines per second about one address,\n"
			     "0: no limit (default 5)"),
		   OPTS_DOC("Log at most *N* lines per second about one address, with bursts of\n"
			    "ten times as many; 0 removes the limit. The default is 5. All\n"
			    "addresses together may cause 20 times as many. The next line\n"
			    "reports how many were dropped.")),
	OPTS_RANGE("max-clients", 0, OPTS_NUMBER, struct server, max_clients, 1, 65536,
		   OPTS_HELP("N", "accept at most N clients at a time (default 1024)"),
		   OPTS_DOC("Reject more than *N* concurrent clients, 1 to 65536; default 1024.\n"
			    "Clients are also rejected if their messages would need more than\n"
			    "the server's 65536 completions: 431 clients of **cp** at a time.")),
	OPTS_RANGE("peer-clients", 0, OPTS_NUMBER, struct server, guard.limit.clients, 1, 65536,
		   OPTS_HELP("N", "accept at most N clients of one address (default 256)"),
		   OPTS_DOC("Reject more than *N* concurrent clients of one address, 1 to\n"
			    "65536; default 256. Here and below an address is an IPv4 address,\n"
			    "also if it is mapped to IPv6, or an IPv6 prefix of 64 bits, for\n"
			    "link-local addresses together with the interface. One address may\n"
			    "use at most half of the completions. A tree that a client reads\n"
			    "may have so many levels that all clients of one address use at\n"
			    "most half of the open files that the server may have, between 16\n"
			    "and 128; deeper directories fail with EMFILE.")),
	OPTS_RANGE("peer-bytes", 0, OPTS_NUMBER, struct server, guard.limit.bytes, 1, 1ull << 50,
		   OPTS_HELP("BYTES", "use at most BYTES of memory for clients of one address\n"
			     "(default: half of --max-bytes)"),
		   OPTS_DOC("Reject a client, or a measurement of **bench**, if all clients of\n"
			    "its address together would use more than *BYTES* of the server's\n"
			    "memory: for messages, for **cp** (32 MiB for each client), and for\n"
			    "data and operations of **bench**. The default is half of\n"
			    "``--max-bytes``.")),
	OPTS_RANGE("max-bytes", 0, OPTS_NUMBER, struct server, guard.limit.all_bytes, 1,
		   1ull << 50,
		   OPTS_HELP("BYTES", "use at most BYTES of memory for all clients\n"
			     "(default: three quarters of this host's)"),
		   OPTS_DOC("The same limit for all clients together. The default is three\n"
			    "quarters of this host's memory. ``RLIMIT_MEMLOCK`` limits the\n"
			    "memory actually locked, unless the server has CAP_IPC_LOCK.")),
	OPTS_OPTION("rate", 0, OPTS_REAL, struct server, guard.limit.rate,
		    OPTS_HELP("N", "accept at most N new clients of one address per second\n"
			      "(default: no limit)"),
		    OPTS_DOC("Reject more than *N* new clients per second of one address; *N*\n"
			     "may be fractional. The default is no limit. The data connections\n"
			     "of **bench** do not count, except those of ``connect``.")),
	OPTS_RANGE("auth-timeout", 0, OPTS_MILLIS, struct server, auth_ms, 100, 86400000,
		   OPTS_HELP("S", "with --key, disconnect a client that has not authenticated\n"
			     "within S seconds (default 3)"),
		   OPTS_DOC("With ``--key``, disconnect a client that has not authenticated\n"
			    "after *S* seconds; default 3.")),
	OPTS_RANGE("grace", 0, OPTS_MILLIS, struct server, grace_ms, 0, 86400000,
		   OPTS_HELP("S", "let clients finish within S seconds after a signal\n"
			     "(default 10)"),
		   OPTS_DOC("On shutdown, give connected clients up to *S* seconds to finish;\n"
			    "default 10.")),
	OPTS_RANGE("idle-timeout", 0, OPTS_MILLIS, struct server, idle_ms, 100, 86400000,
		   OPTS_HELP("S", "disconnect a client after S idle seconds (default 300)"),
		   OPTS_DOC("Disconnect a client that sends nothing for *S* seconds; default\n"
			    "300.")),
	OPTS_OPTION("verbose", 'v', OPTS_SET, struct server, verbose,
		    OPTS_HELP(NULL, "log when clients connect and disconnect"),
		    OPTS_DOC("Also log when clients connect and disconnect.")),
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
	const char *wrong;

	if (!srv->services_list)
		return 0;
	wrong = service_parse(&srv->services, srv->services_list);
	if (!wrong)
		return 0;
	return err_usage("--services: '%.*s' is none of ping, files and bench",
			 (int)strcspn(wrong, ","), wrong);
}

static int serve_run(int argc, char **argv)
{
	struct server srv = {
		.files.root = -EOPNOTSUPP,
		.guard.opts.log_rate = 5,
		.guard.limit.clients = 256,
		.auth_ms = AUTH_MS,
		.grace_ms = 10000,
		.max_clients = 1024,
		.idle_ms = 300000,
	};
	int first = opts_parse(argc, argv, options, &srv);
	bool files;

	if (first < 0)
		return EXIT_USAGE;
	if (first != argc)
		return err_usage("unexpected argument '%s'", argv[first]);
	files = srv.root_path || srv.share_words.nr;
	if (srv.root_path && srv.share_words.nr)
		return err_usage("--root and --share exclude each other");
	if (srv.files.read_only && !files)
		return err_usage("--read-only requires --root or --share");
	if (srv.files.no_delete && !files)
		return err_usage("--no-delete requires --root or --share");
	if (srv.files.super && !files)
		return err_usage("--super requires --root or --share");
	if (srv.rping && srv.services_list)
		return err_usage("--rping and --services exclude each other");
	if (srv.rping && srv.announced)
		return err_usage("--rping and --announce exclude each other");
	if (parse_umask(&srv) || parse_services(&srv))
		return EXIT_USAGE;
	if (srv.services & 1u << WIRE_SERVICE_FILES && !files)
		return err_usage("--services: files require --root or --share");
	if (srv.rping && files)
		return err_usage("--rping serves no files: it excludes --root and --share");
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
	.json_doc = "Print a JSON object when the server starts to listen, and another one at\n"
		    "the end.",
	.notes = notes,
	.run = serve_run,
};
