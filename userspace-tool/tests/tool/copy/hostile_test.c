// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Clients that violate the protocol: they lose their connection, other clients do not. */
#define _GNU_SOURCE
#include <openssl/sha.h>

#include "cli/units.h"
#include "cli/util.h"
#include "copy/copy.h"
#include "copy/sink.h"
#include "peer/wire.h"
#include "server.h"

static const struct wire_hello files_hello = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_FILES,
	.msg_max = WIRE_MSG_MAX,
	.depth = WIRE_FILES_DEPTH,
};

static int others_are_served(void)
{
	char *argv[] = {
		"ping", "-c", "3", "-i", "0", "-q", "-W", FAKE_PATIENCE_S, "192.0.2.1", NULL,
	};

	err_command("ping");
	return cmd_ping.run(ARRAY_SIZE(argv) - 1, argv) == EXIT_OK;
}

/* Returns true if the server has ended the connection, after any messages. */
static int is_dropped(struct session *s)
{
	struct wire_msg msg;
	int ret;

	do {
		ret = session_recv(s, &msg, FAKE_PATIENCE_MS);
	} while (!ret);
	return ret == -ECONNRESET;
}

static void send_all(struct session *s, const struct wire_msg *msgs, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (session_send(s, &msgs[i]))
			break;
}

/* Send messages that the server must refuse, and check that it does. */
static void expect_drop(const struct wire_msg *msgs, unsigned int n)
{
	struct kverbs *kv;
	struct session s;

	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, msgs, n);
	assert_true(is_dropped(&s));
	server_leave(&s, kv);
	assert_true(others_are_served());
}

#define expect_drop(...) do {							\
	const struct wire_msg _msgs[] = { __VA_ARGS__ };			\
	expect_drop(_msgs, ARRAY_SIZE(_msgs));			\
} while (0)

/* Of a file without contents */
#define EMPTY_DIGEST XXH64("\0\0\0\0\0\0\0", 8, 0)

#define EAGER(i, sz, w) \
	NAMED(WIRE_FILE, .id = (i), .size = (sz), .window = (w), .flags = WIRE_F_EAGER)
#define DATA(w, off, sz) \
	{ .type = WIRE_DATA, .id = 7, .window = (w), .offset = (off), .size = (sz) }
#define PUT { .type = WIRE_PUT, .window = WIRE_NO_WINDOW }
#define SINK(n, sz) { .type = WIRE_SINK, .window = (n), .size = (sz) }
#define NAMED(t, ...) { .type = (t), .tail = "f", .tail_len = 1, __VA_ARGS__ }

static void first_message_must_be_a_request(void **state)
{
	(void)state;
	expect_drop({ .type = WIRE_DATA, .id = 1 });
	expect_drop({ .type = WIRE_ECHO });
	expect_drop({ .type = WIRE_FINISH });
	expect_drop({ .type = 999 });
}

static void windows_must_exist(void **state)
{
	(void)state;
	expect_drop(PUT, EAGER(1, 10, WIRE_NO_WINDOW));
	expect_drop(PUT, EAGER(1, 10, 16));
	expect_drop(PUT, EAGER(1, 65537, 0));
	expect_drop(PUT, NAMED(WIRE_FILE, .id = 1, .size = 10, .offset = 65536 - 9,
			       .flags = WIRE_F_EAGER));
	expect_drop(PUT, NAMED(WIRE_FILE, .id = 1, .size = 10, .offset = ~0ull,
			       .flags = WIRE_F_EAGER));
	expect_drop(PUT, EAGER(0, 10, 0));
}

static void streams_keep_their_order(void **state)
{
	const struct wire_msg file = NAMED(WIRE_FILE, .id = 7, .size = 5 << 20);
	const struct wire_msg start = { .type = WIRE_START, .id = 7 };

	(void)state;
	expect_drop(PUT, { .type = WIRE_DATA, .id = 7 });
	expect_drop(PUT, { .type = WIRE_END, .id = 7 });
	expect_drop(PUT, { .type = WIRE_START, .id = 7 });
	expect_drop(PUT, file, file);
	expect_drop(PUT, file, { .type = WIRE_DATA, .id = 7 });
	expect_drop(PUT, file, { .type = WIRE_START, .id = 8 });
	expect_drop(PUT, file, { .type = WIRE_START, .id = 7, .offset = 1 << 20 });
	expect_drop(PUT, file, start, start);
	expect_drop(PUT, file, start, DATA(99, 0, 2 << 20));
	expect_drop(PUT, file, start, DATA(16, 2 << 20, 2 << 20));
	expect_drop(PUT, file, start, DATA(16, 0, 4 << 20));
	expect_drop(PUT, NAMED(WIRE_FILE, .id = 7, .size = 0));
}

static void sinks_must_make_sense(void **state)
{
	const struct wire_msg no_token = {
		.type = WIRE_GRANT, .size = 65536, .tail = "no token", .tail_len = 8,
	};

	(void)state;
	expect_drop(SINK(WIRE_WINDOWS_MAX + 1, 65536));
	expect_drop(SINK(0, 65536));
	expect_drop(SINK(1, (1 << 20) + 1));
	expect_drop(SINK(1, 65536), no_token);
	expect_drop(SINK(1, 65536), { .type = WIRE_CREDIT, .window = 0 });
	expect_drop(SINK(0, 0), { .type = WIRE_DONE, .id = 5 });
	expect_drop(SINK(0, 0), { .type = WIRE_READY, .id = 5, .size = 1 << 20 });
	expect_drop(SINK(0, 0), { .type = WIRE_CREDIT, .window = 12345678 });
	expect_drop(SINK(0, 0), PUT);
}

/* A source asks before it sends a file. */
static void await_file(struct session *s, struct wire_msg *file)
{
	struct wire_msg want = { .type = WIRE_WANT, .window = WIRE_NO_WINDOW };

	await_message(s, WIRE_ASK, file);
	want.id = file->id;
	assert_int_equal(session_send(s, &want), 0);
	await_message(s, WIRE_FILE, file);
}

/* A server has a few windows in flight, so a client must not choose their size. */
static void windows_are_no_larger_than_a_sink_of_ours_has_them(void **state)
{
	const struct wire_msg asks[] = { SINK(0, 0), NAMED(WIRE_GET) };
	struct wire_msg ready = { .type = WIRE_READY };
	struct server_run *r = *state;
	struct wire_msg file;
	struct kverbs *kv;
	struct session s;

	tmp_write(r->tmp, "root/f", "a file that no window of ours holds");
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, asks, 2);
	await_file(&s, &file);
	ready.id = file.id;
	ready.size = COPY_CHUNK + WIRE_BLOCK;
	assert_int_equal(session_send(&s, &ready), 0);
	assert_true(is_dropped(&s));
	server_leave(&s, kv);
	assert_true(others_are_served());
}

/* Counting a tree may take longer than the client's timeout. */
/* Ask for a tree, and answer that everything is there. Returns whether its total has come. */
static bool total_comes(struct session *s, uint64_t total)
{
	const struct wire_msg get = { .type = WIRE_GET, .flags = WIRE_F_RECURSIVE };
	struct wire_msg msg, done = { .type = WIRE_DONE, .window = WIRE_NO_WINDOW };
	bool complete = false;
	uint64_t sum = 0;

	send_all(s, &get, 1);
	do {
		assert_int_equal(session_recv(s, &msg, FAKE_PATIENCE_MS), 0);
		if (msg.type == WIRE_TOTAL) {
			sum += msg.size;
			complete = !(msg.flags & WIRE_F_GROWING);
		} else if (msg.type != WIRE_FINISH && msg.type != WIRE_ALIVE) {
			done.id = msg.id;
			send_all(s, &done, 1);
		}
	} while (msg.type != WIRE_FINISH);
	assert_true(!complete || sum == total);
	return complete;
}

/* A thread counts meanwhile: which file it is that the total comes before is not known. */
static void a_total_comes_while_a_tree_is_sent(void **state)
{
	const struct wire_msg sink = SINK(0, 0);
	double end = units_now() + FAKE_PATIENCE_MS / 1000.;
	struct server_run *r = *state;
	struct kverbs *kv;
	struct session s;

	tmp_write(r->tmp, "root/f", "a file");
	tmp_write(r->tmp, "root/g", "another");
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, &sink, 1);
	while (!total_comes(&s, 13))
		assert_true(units_now() < end);
	server_leave(&s, kv);
}

static void hellos_must_fit(void **state)
{
	struct wire_hello hello = files_hello;
	struct kverbs *kv;
	struct session s;

	(void)state;
	hello.version = WIRE_VERSION - 1;
	assert_int_equal(server_connect(&s, &kv, &hello), -ECONNREFUSED);
	server_leave(&s, kv);
	hello = files_hello;
	hello.what = 77;
	assert_int_equal(server_connect(&s, &kv, &hello), -ECONNREFUSED);
	server_leave(&s, kv);
	assert_true(others_are_served());
}

/* After a wrong digest the server reports it, stores nothing, and keeps the connection. */
static void wrong_digest_stores_nothing(void **state)
{
	const struct wire_msg msgs[] = {
		PUT, NAMED(WIRE_FILE, .id = 1, .size = 10, .flags = WIRE_F_EAGER,
			   .digest = 1234),
	};
	struct server_run *r = *state;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;

	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, msgs, 2);
	await_message(&s, WIRE_DONE, &msg);
	assert_int_equal(msg.id, 1);
	assert_int_equal(wire_errno(msg.status), -EBADMSG);
	assert_false(tmp_exists(r->tmp, "root/f"));
	assert_false(tmp_exists(r->tmp, "root/.f.kverbs-part"));
	server_leave(&s, kv);
}

static void names_stay_beneath(void **state)
{
	static const char * const names[] = { "../f", "/../f", "a/../../f", "..", "out/f" };
	struct server_run *r = *state;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;
	unsigned int i;

	assert_int_equal(symlinkat("..", r->tmp->fd, "root/out"), 0);
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	msg = (struct wire_msg)PUT;
	assert_int_equal(session_send(&s, &msg), 0);
	for (i = 0; i < ARRAY_SIZE(names); i++) {
		msg = (struct wire_msg){
			.type = i & 1 ? WIRE_DIR : WIRE_FILE, .id = i + 1,
			.flags = WIRE_F_EAGER, .window = WIRE_NO_WINDOW,
			.tail = names[i], .tail_len = strlen(names[i]),
		};
		assert_int_equal(session_send(&s, &msg), 0);
		await_message(&s, WIRE_DONE, &msg);
		assert_int_equal(wire_errno(msg.status), -EPERM);
	}
	server_leave(&s, kv);
	assert_false(tmp_exists(r->tmp, "f"));
}

/* Neither the part of a copy at work nor its name is another client's. */
static void names_of_parts_are_refused(void **state)
{
	static const char * const names[] = {
		".f.kverbs-part", "d/.f.KVERBS-part", ".d.kverbs-part/f",
	};
	struct server_run *r = *state;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;
	unsigned int i;

	assert_int_equal(mkdirat(r->tmp->fd, "root/d", 0755), 0);
	assert_int_equal(mkdirat(r->tmp->fd, "root/.d.kverbs-part", 0755), 0);
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	msg = (struct wire_msg)PUT;
	assert_int_equal(session_send(&s, &msg), 0);
	for (i = 0; i < 2 * ARRAY_SIZE(names); i++) {
		msg = (struct wire_msg){
			.type = i & 1 ? WIRE_DIR : WIRE_FILE, .id = i + 1,
			.flags = WIRE_F_EAGER, .window = WIRE_NO_WINDOW, .digest = EMPTY_DIGEST,
			.tail = names[i / 2], .tail_len = strlen(names[i / 2]),
		};
		assert_int_equal(session_send(&s, &msg), 0);
		await_message(&s, WIRE_DONE, &msg);
		assert_int_equal(wire_errno(msg.status), -EPERM);
	}
	server_leave(&s, kv);
	assert_false(tmp_exists(r->tmp, "root/.f.kverbs-part"));
}

#define HELD (4 << 20)

/* A part of HELD zeros, as an earlier run of a file twice as long leaves it. */
static void leave_zeros(const struct server_run *r, const char *name)
{
	int fd = openat(r->tmp->fd, name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, HELD), 0);
	assert_int_equal(futimens(fd, (struct timespec[]){ { .tv_sec = 5 }, { .tv_sec = 5 } }), 0);
	close(fd);
}

/* Upload the second half of such a file, up to START. */
static void go_on(struct session *s, struct wire_msg *ready)
{
	const struct wire_msg msgs[] = { PUT, NAMED(WIRE_FILE, .id = 7, .size = 2 * HELD) };
	struct wire_msg start = { .type = WIRE_START, .id = 7 };

	send_all(s, msgs, 2);
	await_message(s, WIRE_READY, ready);
	start.offset = ready->offset;
	send_all(s, &start, 1);
}

/* DONE of a note comes when all before it is done. */
static void await_start(struct session *s)
{
	const struct wire_msg note = NAMED(WIRE_NOTE, .id = 8, .status = 13);
	struct wire_msg msg;

	send_all(s, &note, 1);
	await_message(s, WIRE_DONE, &msg);
	assert_int_equal(msg.id, 8);
}

/* A file that does not fit must fail before its data comes, not in the middle. */
static void a_reservation_is_kept(void **state)
{
	struct server_run *r = *state;
	struct wire_msg ready;
	struct kverbs *kv;
	struct session s;
	struct stat st;

	leave_zeros(r, "root/.f.kverbs-part");
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	go_on(&s, &ready);
	await_start(&s);
	if (!(ready.flags & WIRE_F_MAPPED)) {
		assert_int_equal(ready.offset, HELD);
		assert_int_equal(fstatat(r->tmp->fd, "root/.f.kverbs-part", &st, 0), 0);
		assert_int_equal(st.st_size, HELD);
		assert_true(st.st_blocks * 512ll >= HELD);
	}
	server_leave(&s, kv);
}

/* A source that could not read on, for example, resumes later. */
static void an_abort_leaves_what_was_verified(void **state)
{
	const struct wire_msg abort = { .type = WIRE_ABORT, .id = 7, .status = wire_status(-EIO) };
	struct server_run *r = *state;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;
	struct stat st;

	leave_zeros(r, "root/.f.kverbs-part");
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	go_on(&s, &msg);
	if (!msg.offset)
		skip();
	send_all(&s, &abort, 1);
	await_message(&s, WIRE_DONE, &msg);
	assert_int_equal(wire_errno(msg.status), -EIO);
	assert_int_equal(fstatat(r->tmp->fd, "root/.f.kverbs-part", &st, 0), 0);
	assert_int_equal(st.st_size, HELD);
	server_leave(&s, kv);
}

/*
 * The source hashes what the sink says to have, which is all of the file, so between FILE and END
 * no window is needed.
 */
static void fetch_all_but(struct server_run *r, void (*change)(int fd), enum wire_type end)
{
	const struct wire_msg asks[] = { SINK(0, 0), NAMED(WIRE_GET) };
	uint8_t *zeros = calloc(1, HELD), sha[WIRE_SHA_LEN];
	struct wire_msg ready = {
		.type = WIRE_READY, .offset = HELD, .size = WIRE_BLOCK,
		.tail = sha, .tail_len = sizeof(sha),
	};
	int fd = openat(r->tmp->fd, "root", O_RDONLY | O_DIRECTORY), file;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;

	assert_non_null(SHA256(zeros, HELD, sha));
	free(zeros);
	leave_zeros(r, "root/f");
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, asks, 2);
	await_file(&s, &msg);
	ready.id = msg.id;
	file = openat(fd, "f", O_RDWR);
	change(file);
	close(file);
	close(fd);
	assert_int_equal(session_send(&s, &ready), 0);
	await_message(&s, end, &msg);
	if (end == WIRE_ABORT)
		assert_int_equal(wire_errno(msg.status), -ESTALE);
	server_leave(&s, kv);
}

static void leave_alone(int fd)
{
	assert_true(fd >= 0);
}

static void write_same(int fd)
{
	assert_int_equal(pwrite(fd, "", 1, 100), 1);
}

static void grow(int fd)
{
	assert_int_equal(ftruncate(fd, HELD + 1), 0);
}

/* Its time is set back, but not that of the change. */
static void write_and_set_back(int fd)
{
	assert_int_equal(pwrite(fd, "", 1, 100), 1);
	assert_int_equal(futimens(fd, (struct timespec[]){ { .tv_sec = 5 }, { .tv_sec = 5 } }), 0);
}

static void a_source_that_changes_is_stale(void **state)
{
	fetch_all_but(*state, leave_alone, WIRE_END);
	fetch_all_but(*state, write_same, WIRE_ABORT);
	fetch_all_but(*state, grow, WIRE_ABORT);
	fetch_all_but(*state, write_and_set_back, WIRE_ABORT);
}

/* A directory of an earlier run may have its final mode already, without write permission. */
static void a_directory_is_opened_up_and_gets_its_mode_back(void **state)
{
	const struct wire_msg dirs[] = {
		PUT, { .type = WIRE_DIR, .id = 1, .mode = 0555, .tail = "d", .tail_len = 1 },
		{ .type = WIRE_DIR_END, .id = 2, .mode = 0555, .tail = "d", .tail_len = 1 },
	};
	struct server_run *r = *state;
	struct wire_msg msg;
	struct kverbs *kv;
	struct session s;
	struct stat st;

	assert_int_equal(mkdirat(r->tmp->fd, "root/d", 0555), 0);
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	send_all(&s, dirs, 2);
	await_message(&s, WIRE_DONE, &msg);
	assert_int_equal(msg.status, 0);
	assert_int_equal(fstatat(r->tmp->fd, "root/d", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
	send_all(&s, dirs + 2, 1);
	await_message(&s, WIRE_DONE, &msg);
	assert_int_equal(fstatat(r->tmp->fd, "root/d", &st, 0), 0);
	assert_int_equal(st.st_mode & 07777, 0555);
	server_leave(&s, kv);
}

/* Without -r, a server that was asked for a file must not write into a directory of its name. */
static void what_was_asked_for_is_all_that_comes(void **state)
{
	static const struct {
		const char *name;
		bool files_only;
		int want;
	} cases[] = {
		{ "top", true, 0 }, { "top/evil", true, -EPERM }, { "top/evil", false, 0 },
		{ "other", false, -EPERM }, { "./top", true, -EPERM },
	};
	struct wire_msg msg = { .type = WIRE_FILE };
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		struct copy copy = { .user = true };
		struct sink sink = {
			.copy = &copy, .top = "top", .files_only = cases[i].files_only,
		};
		struct path path;

		msg.tail = cases[i].name;
		msg.tail_len = strlen(cases[i].name);
		assert_int_equal(sink_place(&sink, &msg, &path), cases[i].want);
	}
}

/* With -l a server could send a link out of the requested tree, and then files through it. */
static void a_link_that_came_leads_nowhere(void **state)
{
	struct server_run *r = *state;
	struct copy copy = { .user = true, .opts = WIRE_F_LINKS | WIRE_F_RECURSIVE };
	struct sink sink = { .copy = &copy, .base = r->tmp->fd, .top = "d", .parent = -1 };
	struct wire_msg msg = { .type = WIRE_FILE, .tail = "d/x/f", .tail_len = 5 };
	struct path path;

	assert_int_equal(mkdirat(r->tmp->fd, "d", 0755), 0);
	assert_int_equal(mkdirat(r->tmp->fd, "other", 0755), 0);
	assert_int_equal(symlinkat("../other", r->tmp->fd, "d/x"), 0);
	assert_int_equal(sink_place(&sink, &msg, &path), 0);
	assert_int_equal(sink_parent(&sink, &path), -ELOOP);
	assert_int_equal(sink_open_beneath(&sink, "d/x", O_PATH | O_DIRECTORY), -ELOOP);
}

static int impatient(void **state)
{
	static const char * const words[] = {
		"--root", "ROOT", "--idle-timeout", SERVER_IDLE_S, "--max-clients", "1", NULL,
	};

	return server_start(state, words);
}

static void silent_clients_are_dropped(void **state)
{
	struct session s, second;
	struct kverbs *kv, *kv2;
	struct wire_msg msg;
	int ret;

	(void)state;
	assert_int_equal(server_connect(&s, &kv, &files_hello), 0);
	/* While this client is connected, the server accepts no other. */
	assert_int_equal(server_connect(&second, &kv2, &files_hello), -ECONNREFUSED);
	server_leave(&second, kv2);
	do {
		fake_advance(SERVER_IDLE_MS);
		ret = session_recv(&s, &msg, 0);
	} while (ret == -ETIMEDOUT);
	assert_int_equal(ret, -ECONNRESET);
	server_leave(&s, kv);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		server_test(first_message_must_be_a_request),
		server_test(windows_must_exist),
		server_test(streams_keep_their_order),
		server_test(sinks_must_make_sense),
		server_test(windows_are_no_larger_than_a_sink_of_ours_has_them),
		server_test(a_total_comes_while_a_tree_is_sent),
		server_test(hellos_must_fit),
		server_test(wrong_digest_stores_nothing),
		server_test(names_stay_beneath),
		server_test(names_of_parts_are_refused),
		server_test(a_reservation_is_kept),
		server_test(an_abort_leaves_what_was_verified),
		server_test(a_source_that_changes_is_stale),
		server_test(a_directory_is_opened_up_and_gets_its_mode_back),
		cmocka_unit_test(what_was_asked_for_is_all_that_comes),
		server_test(a_link_that_came_leads_nowhere),
		cmocka_unit_test_setup_teardown(silent_clients_are_dropped, impatient,
						server_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
