// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* kverbs cp from server to server: one kverbs serve is both, with a connection for each. */
#define _GNU_SOURCE
#include <arpa/inet.h>

#include "command_run.h"
#include "copy/relay.h"
#include "disk_server.h"

#define CHUNK (2u << 20)

/* "f" was copied to "g", and no part is left. */
static bool is_copied(const struct server_run *r)
{
	return !shell(r, "cmp root/f root/g && test $(ls -A root | wc -l) = 2");
}

/* ---- files ------------------------------------------------------------------- */

static void copy_all_sizes(const struct server_run *r, const char *options)
{
	static const unsigned int sizes[] = {
		0, 1, 4097, 65536, 65537, CHUNK - 1, CHUNK, CHUNK + 1, 13 * CHUNK + 4097,
	};
	char text[512];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		snprintf(text, sizeof(text), "head -c %u /dev/urandom >root/f", sizes[i]);
		assert_int_equal(shell(r, text), 0);
		snprintf(text, sizeof(text), "%s A:f A:g", options);
		assert_int_equal(cp(r, text), EXIT_OK);
		assert_true(is_copied(r));
	}
}

static void any_size_passes(void **state)
{
	copy_all_sizes(*state, "");
	fake_disk.type = 0;
	copy_all_sizes(*state, "");
}

/* There the sink grants windows of the file. */
static void any_size_passes_into_memory(void **state)
{
	fake_disk.type = TMPFS_MAGIC;
	copy_all_sizes(*state, "");
}

static void mode_and_time_are_kept(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "echo x >root/f && chmod 451 root/f\n"
				  "touch -d '2001-02-03 04:05:06.789' root/f"), 0);
	assert_int_equal(cp(r, "A:f A:g"), EXIT_OK);
	assert_int_equal(shell(r, "cd root && stat -c '%a %y' f g | uniq | wc -l | grep -qx 1"), 0);
	assert_int_equal(cp(r, "--chmod=F640 A:f A:h"), EXIT_OK);
	assert_int_equal(shell(r, "test $(stat -c %a root/h) = 640"), 0);
}

static void several_go_into_a_directory(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "head -c 3000000 /dev/urandom >root/f && echo x >root/g"), 0);
	assert_int_equal(cp(r, "A:f A:g A:none"), EXIT_FAILED);
	assert_int_equal(shell(r, "test $(ls -A root | wc -l) = 2 && mkdir root/d"), 0);
	assert_int_equal(cp(r, "A:f A:g A:d"), EXIT_OK);
	assert_int_equal(shell(r, "cmp root/f root/d/f && cmp root/g root/d/g"), 0);
	assert_int_equal(cp(r, "--mkpath A:f A:g A:x/y/"), EXIT_OK);
	assert_int_equal(shell(r, "cmp root/f root/x/y/f"), 0);
}

static void what_is_not_there_is_said(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(cp(r, "A:none A:g"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
	assert_non_null(strstr(err_last()->step, "on " HERE_ADDR ", copy none"));
	assert_false(tmp_exists(r->tmp, "root/g"));
	assert_int_equal(shell(r, "mkdir root/d"), 0);
	assert_int_equal(cp(r, "A:d A:e"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -EISDIR);
	assert_false(tmp_exists(r->tmp, "root/e"));
}

static void two_servers_have_one_path_each(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(cp(r, "--path 192.0.2.7 A:f A:g"), EXIT_USAGE);
	assert_int_equal(cp(r, "--parallel 2 A:f A:g"), EXIT_USAGE);
	assert_int_equal(cp(r, "--src-port 1 TMP/f A:g"), EXIT_USAGE);
	assert_int_equal(cp(r, "--src-key TMP/f A:g TMP/f"), EXIT_USAGE);
	assert_int_equal(cp(r, "A:f TMP/f A:g"), EXIT_USAGE);
	assert_int_equal(cp(r, "--src-port 1 A:f A:g"), EXIT_UNREACHABLE);
}

/* ---- trees ------------------------------------------------------------------- */

static int super(void **state)
{
	static const char * const words[] = { "--root", "ROOT", "--super", NULL };

	fake_disk_reset();
	return server_start(state, words);
}

/* Links of both kinds, holes, odd names, modes and times; attributes are added if there are any */
#define TREE									\
	"cd root && mkdir -p d/sub/deep d/empty 'd/odd  name' && echo one >d/one\n" \
	"head -c 3000000 /dev/urandom >d/big && head -c 70000 /dev/urandom >d/sub/mid\n" \
	": >d/empty-file && ln d/big d/sub/again && ln -s ../one d/sub/link\n" \
	"ln -s /nowhere d/dangling && ln d/dangling d/sub/dangling\n"		\
	"printf x >'d/odd  name/-n' && printf y >\"$(printf 'd/new\\nline')\"\n" \
	"truncate -s 40M d/hole && printf tail >>d/hole\n"			\
	"head -c 1M /dev/urandom | dd of=d/hole bs=1M seek=7 conv=notrunc status=none\n" \
	"mkfifo d/fifo && chmod 1777 d/empty\n"					\
	"chmod 4711 d/one && chmod 2750 d/sub/deep && touch -d '2001-02-03 04:05:06.789' d/one\n" \
	"touch -h -d 2002-03-04 d/sub/link && touch -d 2003-04-05 d/sub d"

static void make_tree(const struct server_run *r)
{
	assert_int_equal(shell(r, TREE), 0);
	/* Not all file systems have them. */
	if (!shell(r, "setfattr -n user.color -v blue root/d/one 2>/dev/null"))
		assert_int_equal(shell(r, "setfattr -n user.color -v red root/d/sub"), 0);
	shell(r, "cd root/d && setfacl -m u:12345:r big 2>/dev/null && setfacl -d -m g:777:rx sub");
}

static void copy_tree(const struct server_run *r, const char *options)
{
	char text[512];

	snprintf(text, sizeof(text), "%s -aHAX -S --stats A:d/ A:e", options);
	assert_int_equal(cp(r, text), EXIT_OK);
	assert_true(is_same_tree(r, "root/d", "root/e"));
	assert_true(stat_of("Literal data: ") >= 3070000);
	assert_true(stat_of("Literal data: ") <= 10 << 20);
	assert_true(stat_of("bytes received: ") > stat_of("Literal data: "));
	snprintf(text, sizeof(text), "%s -aHAX -i --stats A:d/ A:e", options);
	assert_int_equal(cp(r, text), EXIT_OK);
	assert_int_equal(changes(), 0);
	assert_int_equal(stat_of("Literal data: "), 0);
	/* Attributes alone are mended without data. */
	assert_int_equal(shell(r, "chmod 600 root/e/one; chmod 700 root/e/sub; touch root/e/big\n"
				  "setfattr -n user.color -v green root/e/one\n"
				  "setfattr -n user.more -v x root/e/sub\n"
				  "ln -sfn elsewhere root/e/sub/link\n"
				  "rm root/e/sub/again && cp -p root/e/big root/e/sub/again\n"
				  "setfacl -b root/e/big; true"), 0);
	snprintf(text, sizeof(text), "%s -aHAX -c -i --stats A:d/ A:e", options);
	assert_int_equal(cp(r, text), EXIT_OK);
	assert_int_equal(stat_of("Literal data: "), 0);
	assert_true(has(" sub/link -> ../one\n"));
	assert_true(is_same_tree(r, "root/d", "root/e"));
}

static void a_tree_is_the_same_for_rsync(void **state)
{
	make_tree(*state);
	copy_tree(*state, "-v");
}

static void a_dry_run_changes_nothing(void **state)
{
	struct server_run *r = *state;

	make_tree(r);
	assert_int_equal(shell(r, "mkdir root/to\n"
				  "find root -printf '%p %T@ %C@ %s\\n' | sort >before"), 0);
	assert_int_equal(cp(r, "-aHn -i A:d A:to"), EXIT_OK);
	assert_true(has("<f+++++++++ d/one\n"));
	assert_true(has("cd+++++++++ d/sub/\n"));
	assert_true(has("cL+++++++++ d/sub/link -> ../one\n"));
	assert_true(has("cS+++++++++ d/fifo\n"));
	assert_true(has("hf+++++++++ d/"));
	assert_int_equal(shell(r, "find root -printf '%p %T@ %C@ %s\\n' | sort | cmp - before"), 0);
}

static void patterns_and_lists_choose(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir -p root/d/obj root/d/src && cd root/d\n"
				  "touch obj/a.o src/a.c src/a.o keep.o src/keep.o"), 0);
	assert_int_equal(cp(r, "-r --include=/keep.o --exclude=*.o --exclude=obj/ A:d/ A:e"),
			 EXIT_OK);
	assert_true(lists(r, "root/e", ". ./keep.o ./src ./src/a.c"));
	assert_int_equal(shell(r, "printf '/obj/a.o\\n./src\\n' >list && mkdir root/to"), 0);
	assert_int_equal(cp(r, "-a --files-from=TMP/list A:d A:to"), EXIT_OK);
	assert_true(lists(r, "root/to", ". ./obj ./obj/a.o ./src"));
}

static void what_is_too_much_is_deleted(void **state)
{
	struct server_run *r = *state;

	make_tree(r);
	assert_int_equal(cp(r, "-aHAX A:d/ A:e"), EXIT_OK);
	assert_int_equal(shell(r, "cd root/e && mkdir x keep && touch x/z keep/k && cd x\n"
				  "seq -f 'file-with-a-long-name-%04g' 600 | xargs touch"), 0);
	assert_int_equal(cp(r, "-aH -i --stats --delete --exclude=keep A:d/ A:e"), EXIT_OK);
	assert_int_equal(stat_of("deleted files: "), 602);
	assert_true(has("*deleting   x/z\n"));
	assert_int_equal(shell(r, "cd root && test ! -e e/x && rm -r e/keep && touch -r d e"), 0);
	assert_true(is_same_tree(r, "root/d", "root/e"));
	/* An entry that the source skips exists there, so its copy must stay. */
	assert_int_equal(cp(r, "-r -i --delete A:d/ A:e"), EXIT_OK);
	assert_int_equal(shell(r, "test -L root/e/dangling"), 0);
}

/* ---- keys -------------------------------------------------------------------- */

static char key_file[PATH_MAX + 16], one_key[PATH_MAX + 16];

static int with_keys(void **state)
{
	static const char * const words[] = {
		"--root", "ROOT", "--super", "--key", key_file, NULL,
	};
	static const char keys[] = "kverbs-keys 1\n"
		"reader the-secret-of-the-reader no-super ro\n"
		"writer the-secret-of-the-writer\n";
	static char dir[] = "/tmp/kverbs-keys-XXXXXX";
	FILE *f;

	fake_disk_reset();
	memcpy(strrchr(dir, '-') + 1, "XXXXXX", 6);
	assert_non_null(mkdtemp(dir));
	snprintf(key_file, sizeof(key_file), "%s/keys", dir);
	snprintf(one_key, sizeof(one_key), "%s/one", dir);
	f = fopen(key_file, "w");
	assert_non_null(f);
	assert_int_equal(fchmod(fileno(f), 0600), 0);
	fputs(keys, f);
	fclose(f);
	f = fopen(one_key, "w");
	assert_non_null(f);
	assert_int_equal(fchmod(fileno(f), 0600), 0);
	fputs("kverbs-keys 1\nreader the-secret-of-the-reader\n", f);
	fclose(f);
	return server_start(state, words);
}

static int without_keys(void **state)
{
	int ret = server_teardown(state);

	unlink(key_file);
	unlink(one_key);
	*strrchr(key_file, '/') = '\0';
	rmdir(key_file);
	return ret;
}

static const char *both_keys(void)
{
	static char text[2 * PATH_MAX + 64];

	snprintf(text, sizeof(text), "--key %s --key-name writer --src-key-name reader", key_file);
	return text;
}

static void each_server_has_its_key(void **state)
{
	struct server_run *r = *state;
	char text[4 * PATH_MAX];

	copy_all_sizes(r, both_keys());
	snprintf(text, sizeof(text), "--key %s --key-name writer --src-key %s A:f A:h", key_file,
		 one_key);
	assert_int_equal(cp(r, text), EXIT_OK);
	assert_int_equal(shell(r, "cmp root/f root/h"), 0);
	/* The reader's key does not permit writing. */
	snprintf(text, sizeof(text), "--key %s --key-name reader A:f A:i", key_file);
	assert_int_equal(cp(r, text), EXIT_DENIED);
	/* Without a key the client is refused. */
	assert_int_equal(cp(r, "A:f A:i"), EXIT_DENIED);
	assert_false(tmp_exists(r->tmp, "root/i"));
}

static void a_tree_with_keys_is_the_same_for_rsync(void **state)
{
	struct server_run *r = *state;
	char options[2 * PATH_MAX];

	make_tree(r);
	snprintf(options, sizeof(options), "--key %s --key-name writer", key_file);
	copy_tree(r, options);
}

/* The digest of a file covers what is resumed, and the digests of the connections differ. */
static void with_keys_a_file_is_begun_again(void **state)
{
	struct server_run *r = *state;
	char text[4 * PATH_MAX];

	assert_int_equal(shell(r, "head -c 30M /dev/urandom >root/f\n"
				  "head -c 25M root/f >root/.g.kverbs-part"), 0);
	snprintf(text, sizeof(text), "--stats %s A:f A:g", both_keys());
	assert_int_equal(cp(r, text), EXIT_OK);
	assert_int_equal(stat_of("Matched data: "), 0);
	assert_true(is_copied(r));
}

/* ---- interruptions ------------------------------------------------------------- */

static void a_part_is_gone_on_with(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "head -c 30M /dev/urandom >root/f\n"
				  "head -c 25M root/f >root/.g.kverbs-part"), 0);
	assert_int_equal(cp(r, "--stats A:f A:g"), EXIT_OK);
	assert_int_equal(stat_of("Matched data: "), 25 << 20);
	assert_int_equal(stat_of("Literal data: "), 5 << 20);
	assert_true(is_copied(r));
	/* Not with that of another file */
	assert_int_equal(shell(r, "rm root/g && head -c 25M /dev/urandom >root/.g.kverbs-part"), 0);
	assert_int_equal(cp(r, "--stats A:f A:g"), EXIT_OK);
	assert_int_equal(stat_of("Matched data: "), 0);
	assert_int_equal(shell(r, "cmp root/f root/g"), 0);
}

static void a_lost_connection_ends_a_copy(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "head -c 40M /dev/urandom >root/f"), 0);
	disk_server_cut_at(7 << 20);
	assert_int_equal(cp(r, "A:f A:g"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ECONNRESET);
	assert_false(tmp_exists(r->tmp, "root/g"));
	server_wait_idle();
	assert_int_equal(cp(r, "--stats A:f A:g"), EXIT_OK);
	assert_true(stat_of("Matched data: ") >= 4 << 20);
	assert_true(is_copied(r));
}

static void a_copy_goes_on_from_what_is_verified(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir root/d && head -c 10M /dev/urandom >root/d/f\n"
				  "echo small >root/d/g"), 0);
	disk_server_cut_at(7 << 20);
	assert_int_equal(cp(r, "-r --retry 1 A:d A:e"), EXIT_OK);
	assert_null(err_last());
	assert_null(fake_disk.when_full);
	/* The directory that the first connection made is not one that takes others. */
	assert_int_equal(shell(r, "diff -r root/d root/e"), 0);
	server_wait_idle();
}

static const struct server_run *changing;

static void change_source(void)
{
	int fd = openat(changing->tmp->fd, "root/f", O_WRONLY);

	assert_int_equal(pwrite(fd, "changed", 7, 1), 7);
	close(fd);
	fake_disk.room = FAKE_DISK_ANY;
}

static void a_source_that_changes_is_stale(void **state)
{
	struct server_run *r = *state;

	changing = r;
	assert_int_equal(shell(r, "head -c 40M /dev/urandom >root/f"), 0);
	disk_server_hook(7 << 20, change_source);
	assert_int_equal(cp(r, "A:f A:g"), EXIT_FAILED);
	assert_true(err_last()->err == -ESTALE || err_last()->err == -EBADMSG);
	assert_non_null(strstr(err_last()->step, "on " HERE_ADDR ", copy f"));
	assert_false(tmp_exists(r->tmp, "root/g"));
	server_wait_idle();
	assert_int_equal(cp(r, "A:f A:g"), EXIT_OK);
	assert_int_equal(shell(r, "cmp root/f root/g"), 0);
}

static void a_disk_that_is_full_is_said(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "head -c 40M /dev/urandom >root/f"), 0);
	fake_disk.no_reserve = true;
	fake_disk.room = 9 << 20;
	assert_int_equal(cp(r, "A:f A:g"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOSPC);
	assert_false(tmp_exists(r->tmp, "root/g"));
	server_wait_idle();
	fake_disk.room = FAKE_DISK_ANY;
	assert_int_equal(cp(r, "--stats A:f A:g"), EXIT_OK);
	assert_true(stat_of("Matched data: ") >= 8 << 20);
	assert_true(is_copied(r));
}

static int bounded(void **state)
{
	static const char * const words[] = {
		"--root", "ROOT", "--max-file-size", "1M", NULL,
	};

	fake_disk_reset();
	return server_start(state, words);
}

static void a_file_that_fails_does_not_keep_others(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(shell(r, "mkdir root/d && cd root/d && echo 1 >a\n"
				  "echo 3 >z\n"
				  "head -c 3M /dev/zero >large\n"
				  "head -c 1M /dev/urandom >fits"), 0);
	assert_int_equal(cp(r, "-r A:d/ A:e"), EXIT_FAILED);
	assert_int_equal(err_last()->err, -EFBIG);
	assert_true(lists(r, "root/e", ". ./a ./fits ./z"));
	assert_int_equal(shell(r, "cmp root/d/fits root/e/fits"), 0);
}

/* ---- sources that violate the protocol -------------------------------------------- */

static const struct wire_hello files_hello = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_FILES,
	.msg_max = WIRE_MSG_MAX,
	.depth = WIRE_FILES_DEPTH,
};

/**
 * struct end - a connection of the relay under test
 * @listener: where the relay was reached
 * @s: the relay's side
 * @peer: the side of the test
 */
struct end {
	struct kverbs_listener *listener;
	struct session s;
	struct session peer;
};

/**
 * struct stage - a relay between two peers that the test plays, in one thread
 * @kv: the context of all
 * @source: the connection with the source
 * @sink: the connection with the sink
 * @copy: what the relay reports
 * @r: the relay
 */
struct stage {
	struct kverbs *kv;
	struct end source;
	struct end sink;
	struct copy copy;
	struct relay r;
};

static void connect_end(struct stage *g, struct end *e)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct kverbs_conn *conn;

	assert_int_equal(kverbs_listen(g->kv, HERE_ADDR, "0", 0, &e->listener), 0);
	to.sin_port = htons(kverbs_listener_port(e->listener));
	inet_pton(AF_INET, HERE_ADDR, &to.sin_addr);
	assert_int_equal(kverbs_connect_start(g->kv, (void *)&to, NULL, &conn), 0);
	session_init(&e->peer, g->kv, conn, &files_hello);
	e->peer.timeout_ms = FAKE_PATIENCE_MS;
	assert_int_equal(session_open(&e->peer), 0);
	assert_int_equal(kverbs_next_request(e->listener, 1000, &conn), 0);
	session_init(&e->s, g->kv, conn, &files_hello);
	assert_int_equal(session_accept(&e->s, 0, FAKE_PATIENCE_MS), 0);
	assert_int_equal(kverbs_conn_wait(e->peer.conn, 1000), 0);
}

/* "top" was asked for; the sink has no windows. */
static void begin(struct stage *g, uint32_t opts)
{
	const struct wire_msg sink = { .type = WIRE_SINK };
	struct wire_msg msg;

	memset(g, 0, sizeof(*g));
	fake_reset();
	fake.loopback = true;
	assert_int_equal(kverbs_open(&g->kv, NULL), 0);
	connect_end(g, &g->source);
	connect_end(g, &g->sink);
	g->copy.session = &g->sink.s;
	g->copy.opts = opts;
	relay_init(&g->r, &g->copy, &g->source.s);
	assert_int_equal(source_open(&g->r.src, &g->copy, &sink), 0);
	assert_int_equal(relay_greet(&g->r), 0);
	g->r.gate.top = "top";
	assert_int_equal(session_recv(&g->source.peer, &msg, 0), 0);
	assert_int_equal(msg.type, WIRE_SINK);
}

/* @buf: that peers have access to, or NULL */
static void end_with(struct stage *g, struct kverbs_buf *buf)
{
	relay_close(&g->r);
	session_free(&g->source.s);
	session_free(&g->sink.s);
	relay_free(&g->r);
	session_free(&g->source.peer);
	session_free(&g->sink.peer);
	kverbs_listener_free(g->source.listener);
	kverbs_listener_free(g->sink.listener);
	kverbs_buf_free(buf);
	kverbs_close(g->kv);
	assert_int_equal(fake_leftovers(), 0);
}

static void end(struct stage *g)
{
	end_with(g, NULL);
}

static int say(struct stage *g, const struct wire_msg *msg)
{
	assert_int_equal(session_send(&g->source.peer, msg), 0);
	return relay_pump(&g->r);
}

/* The relay answers in place of the sink, which is told nothing. */
static void expect_refused(struct stage *g, const struct wire_msg *msg, int err)
{
	struct wire_msg done;

	assert_int_equal(say(g, msg), 0);
	assert_int_equal(session_recv(&g->source.peer, &done, 0), 0);
	assert_int_equal(done.type, WIRE_DONE);
	assert_int_equal(done.id, msg->id);
	assert_int_equal(wire_errno(done.status), err);
	assert_int_equal(session_recv(&g->sink.peer, &done, 0), -ETIMEDOUT);
}

static void expect_passed(struct stage *g, const struct wire_msg *msg)
{
	struct wire_msg got, done = { .type = WIRE_DONE, .id = msg->id, .window = WIRE_NO_WINDOW };

	assert_int_equal(say(g, msg), 0);
	assert_int_equal(session_recv(&g->sink.peer, &got, 0), 0);
	assert_int_equal(got.type, msg->type);
	assert_int_equal(got.tail_len, msg->tail_len);
	assert_int_equal(session_send(&g->sink.peer, &done), 0);
	assert_int_equal(relay_pump(&g->r), 0);
	assert_int_equal(session_recv(&g->source.peer, &got, 0), 0);
	assert_int_equal(got.type, WIRE_DONE);
	assert_int_equal(got.id, msg->id);
}

/* @name: a literal */
#define NAMED(t, i, name, ...) \
	(&(struct wire_msg){ .type = (t), .id = (i), .window = WIRE_NO_WINDOW, \
			     .tail = name, .tail_len = sizeof(name) - 1, ##__VA_ARGS__ })
#define OF(name) .extra = name, .extra_len = sizeof(name) - 1

static void only_what_was_asked_for_is_passed_on(void **state)
{
	struct stage g;

	(void)state;
	begin(&g, WIRE_F_RECURSIVE | WIRE_F_HARD_LINKS);
	expect_passed(&g, NAMED(WIRE_DIR, 1, "top"));
	expect_passed(&g, NAMED(WIRE_ASK, 2, "top/f"));
	expect_passed(&g, NAMED(WIRE_HARD, 3, "top/g", OF("top/f")));
	expect_refused(&g, NAMED(WIRE_ASK, 4, "other"), -EPERM);
	expect_refused(&g, NAMED(WIRE_ASK, 5, "top/../other"), -EPERM);
	expect_refused(&g, NAMED(WIRE_DIR, 6, "other"), -EPERM);
	expect_refused(&g, NAMED(WIRE_HARD, 7, "top/h", OF("other")), -EPERM);
	expect_refused(&g, NAMED(WIRE_ASK, 8, "top/.f.kverbs-part"), -EPERM);
	expect_refused(&g, NAMED(WIRE_FILE, 9, "other", .flags = WIRE_F_UNASKED), -EPERM);
	end(&g);
}

static void without_recursion_only_files_are_passed_on(void **state)
{
	struct stage g;

	(void)state;
	begin(&g, WIRE_F_LINKS);
	expect_passed(&g, NAMED(WIRE_ASK, 1, "top"));
	expect_refused(&g, NAMED(WIRE_DIR, 2, "top"), -EISDIR);
	expect_refused(&g, NAMED(WIRE_ASK, 3, "top/f"), -EPERM);
	expect_refused(&g, NAMED(WIRE_LINK, 4, "top", OF("/etc")), -ELOOP);
	end(&g);
}

/* The sink would follow the link, to a place that was not asked for. */
static void nothing_passes_through_a_link_that_was_passed_on(void **state)
{
	struct stage g;

	(void)state;
	begin(&g, WIRE_F_RECURSIVE | WIRE_F_LINKS | WIRE_F_HARD_LINKS);
	expect_passed(&g, NAMED(WIRE_DIR, 1, "top"));
	expect_passed(&g, NAMED(WIRE_LINK, 2, "top/x", OF("../other")));
	expect_refused(&g, NAMED(WIRE_ASK, 3, "top/x/f"), -ELOOP);
	expect_refused(&g, NAMED(WIRE_ASK, 4, "top/./x//f"), -ELOOP);
	expect_refused(&g, NAMED(WIRE_DIR, 5, "top/x"), -ELOOP);
	expect_refused(&g, NAMED(WIRE_LINK, 6, "top/x/y", OF("z")), -ELOOP);
	expect_refused(&g, NAMED(WIRE_HARD, 7, "top/h", OF("top/x/f")), -ELOOP);
	expect_passed(&g, NAMED(WIRE_HARD, 8, "top/again", OF("top/x")));
	expect_refused(&g, NAMED(WIRE_ASK, 9, "top/again/f"), -ELOOP);
	expect_passed(&g, NAMED(WIRE_ASK, 10, "top/xy"));
	end(&g);
}

static void expect_end(uint32_t opts, const struct wire_msg *msgs, unsigned int n)
{
	struct stage g;
	unsigned int i;
	int ret = 0;

	begin(&g, opts);
	for (i = 0; i < n && !ret; i++)
		ret = say(&g, &msgs[i]);
	assert_int_equal(ret, -EPROTO);
	assert_int_equal(i, n);
	/* The source is to blame. */
	assert_ptr_equal(g.r.last, &g.source.s);
	end(&g);
}

#define expect_end(opts, ...) do {						\
	const struct wire_msg _msgs[] = { __VA_ARGS__ };			\
	expect_end(opts, _msgs, ARRAY_SIZE(_msgs));				\
} while (0)

static void a_source_keeps_the_order(void **state)
{
	const struct wire_msg large = *NAMED(WIRE_FILE, 1, "top", .flags = WIRE_F_UNASKED,
					     .size = 1 << 20);
	const struct wire_msg eager = *NAMED(WIRE_FILE, 1, "top", .size = 9,
					     .flags = WIRE_F_UNASKED | WIRE_F_EAGER);

	(void)state;
	expect_end(0, { .type = WIRE_START, .id = 1 });
	expect_end(0, { .type = WIRE_DATA, .id = 1 });
	expect_end(0, { .type = WIRE_END });
	expect_end(0, *NAMED(WIRE_FILE, 1, "top", .size = 1 << 20));
	expect_end(0, *NAMED(WIRE_FILE, 1, "top", .flags = WIRE_F_STREAM | WIRE_F_UNASKED));
	expect_end(0, *NAMED(WIRE_ASK, 0, "top"));
	expect_end(0, *NAMED(WIRE_ASK, 1, "top"), *NAMED(WIRE_ASK, 1, "top"));
	expect_end(0, *NAMED(WIRE_ASK, 1, "top"), *NAMED(WIRE_FILE, 1, "top", .size = 1 << 20));
	expect_end(0, large, { .type = WIRE_START, .id = 1 });
	expect_end(0, large, { .type = WIRE_ABORT, .id = 1 });
	expect_end(0, large, { .type = WIRE_DATA, .id = 1, .size = 1 << 20 });
	/* There is no window. */
	expect_end(0, eager);
	expect_end(WIRE_F_DRY_RUN, eager);
	/* These were not asked for. */
	expect_end(WIRE_F_RECURSIVE, *NAMED(WIRE_LINK, 1, "top", OF("x")));
	expect_end(WIRE_F_RECURSIVE, *NAMED(WIRE_HARD, 1, "top", OF("x")));
	expect_end(WIRE_F_RECURSIVE, *NAMED(WIRE_NODE, 1, "top"));
	expect_end(WIRE_F_RECURSIVE, *NAMED(WIRE_PRUNE, 1, "top"));
	expect_end(WIRE_F_DELETE, *NAMED(WIRE_PRUNE, 1, "top", .flags = WIRE_F_CONTINUE));
	expect_end(0, { .type = WIRE_GRANT, .tail = "x", .tail_len = 1 });
}

/* ---- windows -------------------------------------------------------------------- */

#define WINDOWS 4

static void say_as_sink(struct stage *g, const struct wire_msg *msg)
{
	assert_int_equal(session_send(&g->sink.peer, msg), 0);
	assert_int_equal(relay_pump(&g->r), 0);
}

/* The sink grants all windows of the file. */
static void grant_all(struct stage *g, struct kverbs_buf *file)
{
	struct kverbs_token token;
	struct wire_msg msg;
	unsigned int i;

	for (i = 0; i < WINDOWS; i++) {
		assert_int_equal(kverbs_export(g->sink.peer.conn, file, i * CHUNK, CHUNK,
					       KVERBS_REMOTE_WRITE, &token), 0);
		msg = (struct wire_msg){
			.id = 1, .window = i, .offset = i * CHUNK, .size = CHUNK,
		};
		assert_int_equal(landing_grant(&g->sink.peer, &msg, &token), 0);
		assert_int_equal(relay_pump(&g->r), 0);
		kverbs_token_free(&token);
	}
}

/* Windows that the source is granted now: those before @nr, it had been before. */
static unsigned int take_grants(struct stage *g, struct kverbs_token *tokens, unsigned int nr)
{
	struct wire_msg msg;

	while (!session_recv(&g->source.peer, &msg, 0)) {
		if (msg.type != WIRE_GRANT)
			continue;
		assert_int_equal(msg.window, nr);
		assert_int_equal(msg.offset, nr * CHUNK);
		assert_true(kverbs_token_unpack(&tokens[nr++], msg.tail, msg.tail_len) > 0);
	}
	return nr;
}

static void fill_window(struct stage *g, struct kverbs_buf *buf, struct kverbs_token *token,
			unsigned int i)
{
	const struct wire_msg data = {
		.type = WIRE_DATA, .id = 1, .window = i, .offset = i * CHUNK, .size = CHUNK,
	};
	struct kverbs_req req = { .done = NULL };

	memset(kverbs_buf_addr(buf), i + 1, CHUNK);
	assert_int_equal(kverbs_write(g->source.peer.conn, buf, 0, CHUNK, token, 0, &req), 0);
	assert_int_equal(kverbs_wait(&req, FAKE_PATIENCE_MS), 0);
	kverbs_token_free(token);
	assert_int_equal(say(g, &data), 0);
}

static void check_file(const uint8_t *file)
{
	unsigned int i;

	for (i = 0; i < WINDOWS; i++) {
		assert_int_equal(file[i * CHUNK], i + 1);
		assert_int_equal(file[i * CHUNK + CHUNK - 1], i + 1);
	}
}

/* The sink has four windows, and this host has memory for two: the source is lent two at a time. */
static void with_less_memory_fewer_windows_are_lent(void **state)
{
	struct wire_msg file = *NAMED(WIRE_FILE, 1, "top", .flags = WIRE_F_UNASKED,
				      .size = WINDOWS * CHUNK);
	const struct wire_msg start = { .type = WIRE_START, .id = 1 };
	const struct wire_msg ready = {
		.type = WIRE_READY, .id = 1, .size = CHUNK, .flags = WIRE_F_MAPPED,
	};
	struct kverbs_token tokens[WINDOWS];
	struct kverbs_buf *dst, *src;
	unsigned int i, nr;
	struct stage g;

	(void)state;
	begin(&g, 0);
	assert_int_equal(kverbs_buf_alloc(g.kv, WINDOWS * CHUNK, &dst), 0);
	assert_int_equal(kverbs_buf_alloc(g.kv, CHUNK, &src), 0);
	assert_int_equal(say(&g, &file), 0);
	say_as_sink(&g, &ready);
	assert_int_equal(say(&g, &start), 0);
	fake_fail(KVERBS_REGION_CREATE, 3, -ENOMEM);
	grant_all(&g, dst);
	nr = take_grants(&g, tokens, 0);
	assert_int_equal(nr, 2);
	for (i = 0; i < WINDOWS; i++) {
		fill_window(&g, src, &tokens[i], i);
		nr = take_grants(&g, tokens, nr);
		assert_int_equal(nr, min(i + 3, (unsigned int)WINDOWS));
	}
	check_file(kverbs_buf_addr(dst));
	kverbs_buf_free(src);
	end_with(&g, dst);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		disk_server_test(any_size_passes),
		disk_server_test(any_size_passes_into_memory),
		disk_server_test(mode_and_time_are_kept),
		disk_server_test(several_go_into_a_directory),
		disk_server_test(what_is_not_there_is_said),
		disk_server_test(two_servers_have_one_path_each),
		cmocka_unit_test_setup_teardown(a_tree_is_the_same_for_rsync, super,
						server_teardown),
		server_test(a_dry_run_changes_nothing),
		server_test(patterns_and_lists_choose),
		cmocka_unit_test_setup_teardown(what_is_too_much_is_deleted, super,
						server_teardown),
		cmocka_unit_test_setup_teardown(each_server_has_its_key, with_keys, without_keys),
		cmocka_unit_test_setup_teardown(a_tree_with_keys_is_the_same_for_rsync, with_keys,
						without_keys),
		cmocka_unit_test_setup_teardown(with_keys_a_file_is_begun_again, with_keys,
						without_keys),
		disk_server_test(a_part_is_gone_on_with),
		disk_server_test(a_lost_connection_ends_a_copy),
		disk_server_test(a_copy_goes_on_from_what_is_verified),
		disk_server_test(a_source_that_changes_is_stale),
		disk_server_test(a_disk_that_is_full_is_said),
		cmocka_unit_test_setup_teardown(a_file_that_fails_does_not_keep_others, bounded,
						server_teardown),
		cmocka_unit_test(only_what_was_asked_for_is_passed_on),
		cmocka_unit_test(without_recursion_only_files_are_passed_on),
		cmocka_unit_test(nothing_passes_through_a_link_that_was_passed_on),
		cmocka_unit_test(a_source_keeps_the_order),
		cmocka_unit_test(with_less_memory_fewer_windows_are_lent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
