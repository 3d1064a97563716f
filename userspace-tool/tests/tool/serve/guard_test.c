// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Allowed addresses, limits per address, reloading, and the end of a server. */
#define _GNU_SOURCE
#include <sys/socket.h>
#include <sys/un.h>

#include "guarded.h"

/* ---- addresses ------------------------------------------------------------- */

static int choosy(void **state)
{
	return start_with(state, "--allow", "198.51.100.0/24,203.0.113.1", "--allow",
			  "2001:db8::/32");
}

static void who_is_not_on_the_list_is_refused(void **state)
{
	(void)state;
	expect_refused("192.0.2.2", &echo, WIRE_REFUSED_ADDRESS);
	expect_refused("203.0.113.2", &echo, WIRE_REFUSED_ADDRESS);
	expect_served("198.51.100.7");
	expect_served("203.0.113.1");
}

static void a_client_is_told_that_its_address_is_not_allowed(void **state)
{
	(void)state;
	assert_int_equal(ping(), EXIT_DENIED);
	expect_error(-EACCES, "this server does not allow this address", "--allow");
	assert_int_equal(ping("-I", "198.51.100.7"), EXIT_OK);
}

static void a_list_that_is_none_is_wrong_usage(void **state)
{
	(void)state;
	assert_int_equal(run_command(&cmd_serve, "--allow", "192.0.2.1/24"), EXIT_USAGE);
	assert_non_null(strstr(err_last()->step, "'192.0.2.1/24' has bits set beyond its prefix"));
	assert_int_equal(run_command(&cmd_serve, "--allow", "here"), EXIT_USAGE);
	assert_int_equal(run_command(&cmd_serve, "--allow-file", "/nowhere"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
	assert_int_equal(run_command(&cmd_serve, "--log", "xml"), EXIT_USAGE);
	assert_int_equal(run_command(&cmd_serve, "--umask", "8"), EXIT_USAGE);
	assert_int_equal(run_command(&cmd_serve, "--umask", "1000"), EXIT_USAGE);
	assert_int_equal(run_command(&cmd_serve, "--services", "ping,"), EXIT_USAGE);
	assert_int_equal(run_command(&cmd_serve, "--services", "files"), EXIT_USAGE);
}

/* ---- resources of the host --------------------------------------------------- */

static int quiet(void **state)
{
	return start_with(state, "--log", "text");
}

/* The log's reader ends: "kverbs serve 2>&1 | logger" */
static void a_log_without_a_reader_is_no_end(void **state)
{
	int old = dup(STDERR_FILENO), said[2];

	(void)state;
	assert_int_equal(pipe(said), 0);
	close(said[0]);
	dup2(said[1], STDERR_FILENO);
	fake_fail(KVERBS_ACCEPT, 1, -EAGAIN);
	assert_int_not_equal(ping("-q"), EXIT_OK);
	server_wait_idle();
	dup2(old, STDERR_FILENO);
	close(old);
	close(said[1]);
	assert_int_equal(ping(), EXIT_OK);
}

static void who_finds_no_room_is_told_of_without_v(void **state)
{
	int old = dup(STDERR_FILENO), said[2];
	char line[256];
	FILE *log;

	(void)state;
	assert_int_equal(pipe(said), 0);
	dup2(said[1], STDERR_FILENO);
	assert_int_equal(ping(), EXIT_OK);
	fake_fail(KVERBS_ACCEPT, 1, -EAGAIN);
	assert_int_not_equal(ping(), EXIT_OK);
	/* The client prints messages, too. */
	log = fdopen(said[0], "r");
	do
		assert_non_null(fgets(line, sizeof(line), log));
	while (!strstr(line, "this host lacks resources"));
	dup2(old, STDERR_FILENO);
	assert_non_null(strstr(line, "192.0.2.2"));
	close(old);
	close(said[1]);
	fclose(log);
}

/* ---- limits of an address ---------------------------------------------------- */

static int one_each(void **state)
{
	return start_with(state, "--peer-clients", "1");
}

static void an_address_has_as_many_clients_as_it_may(void **state)
{
	struct client c;

	(void)state;
	assert_int_equal(enter(&c, NULL, &echo), 0);
	expect_refused(NULL, &echo, WIRE_REFUSED_PEER);
	expect_served("192.0.2.3");
	assert_int_equal(ping(), EXIT_UNREACHABLE);
	expect_error(-EBUSY, "this address is at its limit of clients", "later");
	leave(&c);
}

static int copy(void)
{
	return run_command(&cmd_cp, "--timeout", FAKE_PATIENCE_S, key_file, "192.0.2.1:copy");
}

#define bench(op, ...) \
	run_command(&cmd_bench, op, "-W", FAKE_PATIENCE_S, "192.0.2.1", "-n", "5", __VA_ARGS__)

static int frugal(void **state)
{
	return start_with(state, "--root", "ROOT", "--peer-bytes", "100K");
}

static void an_address_has_as_much_memory_as_it_may(void **state)
{
	(void)state;
	assert_int_equal(ping(), EXIT_OK);
	server_wait_idle();
	assert_int_equal(ping("-s", "64K"), EXIT_UNREACHABLE);
	expect_error(-EDQUOT, "exceed its limit of memory", "--peer-bytes");
	assert_int_equal(copy(), EXIT_UNREACHABLE);
	assert_int_equal(bench("write-bw", "-s", "1K"), EXIT_OK);
	server_wait_idle();
	assert_int_equal(bench("write-bw", "-s", "128K"), EXIT_FAILED);
	expect_error(-EDQUOT, "prepare the measurement there", "--peer-bytes");
}

/* However small the operations: their bookkeeping and the message buffers count, too. */
static void a_measurement_is_counted_with_all_that_it_takes(void **state)
{
	(void)state;
	assert_int_equal(bench("send-bw", "-s", "1", "-r", "1024"), EXIT_FAILED);
	expect_error(-EDQUOT, "prepare the measurement there", "--peer-bytes");
	server_wait_idle();
	assert_int_equal(bench("write-bw", "-s", "1", "-q", "16"), EXIT_FAILED);
	expect_error(-EDQUOT, "prepare the measurement there", "--peer-bytes");
}

static int barely_frugal(void **state)
{
	return start_with(state, "--root", "ROOT", "--peer-bytes", "32M");
}

/* Reading clients use more of the server's memory than writing ones: 16 pieces of 2 MiB. */
static void a_copy_is_counted_as_what_it_may_lock(void **state)
{
	(void)state;
	assert_int_equal(copy(), EXIT_UNREACHABLE);
	expect_error(-EDQUOT, "exceed its limit of memory", "--peer-bytes");
}

static int slow(void **state)
{
	return start_with(state, "--rate", "0.001");
}

static void an_address_comes_as_often_as_it_may(void **state)
{
	(void)state;
	expect_served(NULL);
	expect_refused(NULL, &echo, WIRE_REFUSED_RATE);
	expect_served("192.0.2.3");
	assert_int_equal(ping(), EXIT_UNREACHABLE);
	expect_error(-EBUSY, "exceeds its limit of new clients", "later");
}

/* ---- notification of the service manager ------------------------------------- */

static int manager = -1;

static void become_manager(void)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	socklen_t len = sizeof(at);

	/* The kernel chooses an abstract name that is unique. */
	manager = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(manager, (struct sockaddr *)&at, sizeof(at.sun_family)), 0);
	assert_int_equal(getsockname(manager, (struct sockaddr *)&at, &len), 0);
	at.sun_path[len - offsetof(struct sockaddr_un, sun_path)] = '\0';
	at.sun_path[0] = '@';
	setenv("NOTIFY_SOCKET", at.sun_path, 1);
}

/* Wait until the server has sent this word. */
static void await(const char *word)
{
	char said[128] = "";

	do {
		assert_true(recv(manager, said, sizeof(said) - 1, 0) > 0);
	} while (strncmp(said, word, strlen(word)));
}

static int stop_managed(void **state)
{
	int ret = stop_server(state);

	close(manager);
	return ret;
}

#define managed(name, how) cmocka_unit_test_setup_teardown(name, how, stop_managed)

static void reload(void)
{
	server_signal(SIGHUP);
	await("RELOADING=1");
	await("READY=1");
}

static int rereading(void **state)
{
	int ret;

	become_manager();
	make_files(NULL);
	ret = server_start(state, (const char *const[]){ "--key", key_file, "--allow-file",
			   allow_file, NULL });
	await("READY=1");
	return ret;
}

static void a_list_is_read_again(void **state)
{
	(void)state;
	expect_refused("203.0.113.1", &echo_with_key, WIRE_REFUSED_ADDRESS);
	put("allow", "203.0.113.1\n");
	reload();
	assert_int_equal(ping("-I", "203.0.113.1", "--key", key_file), EXIT_OK);
	expect_refused("198.51.100.1", &echo_with_key, WIRE_REFUSED_ADDRESS);
}

static void a_key_is_read_again(void **state)
{
	(void)state;
	put("key", wrong);
	reload();
	assert_int_equal(ping("-I", "198.51.100.1", "--key", other_file), EXIT_OK);
	put("key", right);
	assert_int_equal(ping("-I", "198.51.100.1", "--key", key_file), EXIT_DENIED);
}

static void what_is_wrong_with_a_file_changes_nothing(void **state)
{
	(void)state;
	put("allow", "203.0.113.1\nnonsense\n");
	put("key", wrong);
	reload();
	put("key", right);
	assert_int_equal(ping("-I", "198.51.100.1", "--key", key_file), EXIT_OK);
	put("allow", "203.0.113.1\n");
	put("key", "short");
	reload();
	put("key", right);
	assert_int_equal(ping("-I", "198.51.100.1", "--key", key_file), EXIT_OK);
	expect_refused("203.0.113.1", &echo_with_key, WIRE_REFUSED_ADDRESS);
}

/* ---- the end ----------------------------------------------------------------- */

static int managed_with_grace(void **state, const char *seconds)
{
	int ret;

	become_manager();
	ret = start_with(state, "--grace", seconds);
	await("READY=1");
	return ret;
}

static int gracious(void **state)
{
	return managed_with_grace(state, FAKE_PATIENCE_S);
}

static int hasty(void **state)
{
	return managed_with_grace(state, SERVER_IDLE_S);
}

static void who_is_there_may_finish_and_nobody_comes(void **state)
{
	struct client c;

	(void)state;
	assert_int_equal(enter(&c, NULL, &echo), 0);
	expect_echo(&c);
	server_signal(SIGTERM);
	await("STOPPING=1");
	expect_refused(NULL, &echo, WIRE_REFUSED_ENDING);
	expect_echo(&c);
	leave(&c);
}

static void a_second_signal_ends_it_at_once(void **state)
{
	struct client c;

	(void)state;
	assert_int_equal(enter(&c, NULL, &echo), 0);
	server_signal(SIGTERM);
	await("STOPPING=1");
	expect_echo(&c);
	server_signal(SIGTERM);
	expect_thrown_out(&c);
}

static void who_does_not_finish_is_cut_off(void **state)
{
	struct client c;

	(void)state;
	assert_int_equal(enter(&c, NULL, &echo), 0);
	server_signal(SIGTERM);
	await("STOPPING=1");
	expect_expired(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		guarded(who_is_not_on_the_list_is_refused, choosy),
		guarded(a_client_is_told_that_its_address_is_not_allowed, choosy),
		cmocka_unit_test(a_list_that_is_none_is_wrong_usage),
		guarded(who_finds_no_room_is_told_of_without_v, quiet),
		guarded(a_log_without_a_reader_is_no_end, quiet),
		guarded(an_address_has_as_many_clients_as_it_may, one_each),
		guarded(an_address_has_as_much_memory_as_it_may, frugal),
		guarded(a_measurement_is_counted_with_all_that_it_takes, frugal),
		guarded(a_copy_is_counted_as_what_it_may_lock, barely_frugal),
		guarded(an_address_comes_as_often_as_it_may, slow),
		managed(a_list_is_read_again, rereading),
		managed(a_key_is_read_again, rereading),
		managed(what_is_wrong_with_a_file_changes_nothing, rereading),
		managed(who_is_there_may_finish_and_nobody_comes, gracious),
		managed(a_second_signal_ends_it_at_once, gracious),
		managed(who_does_not_finish_is_cut_off, hasty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
