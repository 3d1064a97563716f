// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Only clients that prove the key are served. */
#define _GNU_SOURCE
#include "cli/util.h"
#include "guarded.h"
#include "serve/limit.h"

/* ---- clients --------------------------------------------------------------- */

static struct key key_of(const char *text)
{
	struct key key = { .len = strlen(text) };

	memcpy(key.bytes, text, key.len);
	return key;
}

static int keyed(void **state)
{
	make_files(NULL);
	put("allow", "");
	return server_start(state, (const char *const[]){ "--root", "ROOT", "--key",
				    key_file, NULL });
}

static void client_without_a_key_is_refused_with_a_reason(void **state)
{
	(void)state;
	expect_refused(NULL, &echo, WIRE_REFUSED_KEY);
	assert_int_equal(ping(), EXIT_DENIED);
	expect_error(-ENOKEY, "this server requires a key", "--key FILE");
}

static void client_with_the_key_is_served(void **state)
{
	(void)state;
	assert_int_equal(ping("--key", key_file), EXIT_OK);
	assert_int_equal(ping("-s", "0", "--key", key_file), EXIT_OK);
	/* Of one record, of two, and of 65 */
	assert_int_equal(ping("-s", "16280", "--key", key_file), EXIT_OK);
	assert_int_equal(ping("-s", "16281", "--key", key_file), EXIT_OK);
	assert_int_equal(ping("-s", "1048576", "--key", key_file), EXIT_OK);
	assert_int_equal(run_command(&cmd_bench, "write-bw", "192.0.2.1", "-n", "10", "-s",
				     "64", "--key", key_file), EXIT_OK);
	assert_int_equal(run_command(&cmd_bench, "connect", "192.0.2.1", "-n", "10",
				     "--key", key_file), EXIT_OK);
	assert_int_equal(run_command(&cmd_cp, "--key", key_file, key_file, "192.0.2.1:copy"),
			 EXIT_OK);
}

/* Each side posts its only receive again before it says what the other one answers. */
static void client_with_a_single_receive_is_served(void **state)
{
	struct key key = key_of(right);
	struct wire_hello hello = {
		.version = WIRE_VERSION, .what = WIRE_SERVICE_ECHO, .depth = 1,
	};
	struct client c;
	int i;

	(void)state;
	auth_hello(&hello);
	assert_int_equal(enter(&c, NULL, &hello), 0);
	assert_int_equal(auth_connect(&c.s, &key), 0);
	for (i = 0; i < 3; i++)
		expect_echo(&c);
	leave(&c);
}

/* A host that connects and says nothing must not lock out those that have the key. */
static void silent_clients_are_disconnected_for_new_ones(void **state)
{
	struct client silent[LIMIT_UNPROVEN_PEER_MAX];
	struct wire_msg msg;
	unsigned int i;

	(void)state;
	for (i = 0; i < ARRAY_SIZE(silent); i++)
		assert_int_equal(enter(&silent[i], NULL, &echo_with_key), 0);
	/* They are of one address, and make room only for others of it. */
	assert_int_equal(ping("-I", "192.0.2.3", "--key", key_file), EXIT_OK);
	assert_int_equal(kverbs_conn_error(silent[0].s.conn), 0);
	assert_int_equal(ping("--key", key_file), EXIT_OK);
	assert_int_equal(session_recv(&silent[0].s, &msg, FAKE_PATIENCE_MS), -ECONNRESET);
	for (i = 0; i < ARRAY_SIZE(silent); i++)
		leave(&silent[i]);
}

static void environment_can_name_the_key_file(void **state)
{
	(void)state;
	setenv(KEY_ENV, key_file, 1);
	assert_int_equal(ping(), EXIT_OK);
	unsetenv(KEY_ENV);
}

/* Every kind of file, with digests that are made with the key */
static void copies_have_keyed_digests(void **state)
{
	static const size_t sizes[] = { 0, 10, 65536, 65537, (5 << 20) + 3 };
	struct server_run *r = *state;
	char a[PATH_MAX + 16], b[PATH_MAX + 16];
	char *x = calloc(1, 6 << 20), *y = calloc(1, 6 << 20);
	unsigned int i;
	size_t n;
	int fd;

	snprintf(a, sizeof(a), "%s/a", etc->path);
	snprintf(b, sizeof(b), "%s/b", etc->path);
	for (n = 0; n < 6 << 20; n++)
		x[n] = n * 7 >> 3;
	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		fd = openat(etc->fd, "a", O_RDWR | O_CREAT | O_TRUNC, 0600);
		assert_int_equal(write(fd, x, sizes[i]), sizes[i]);
		close(fd);
		/* The last one goes on from what an earlier run left. */
		fd = openat(r->tmp->fd, "root/.c.kverbs-part", O_RDWR | O_CREAT, 0600);
		assert_int_equal(write(fd, x, min(sizes[i], (size_t)3 << 20)),
				 min(sizes[i], (size_t)3 << 20));
		close(fd);
		assert_int_equal(run_command(&cmd_cp, "--key", key_file, a, "192.0.2.1:c"),
				 EXIT_OK);
		assert_int_equal(run_command(&cmd_cp, "--key", key_file, "192.0.2.1:c", b),
				 EXIT_OK);
		assert_int_equal(tmp_read(etc, "b", y, 6 << 20), sizes[i]);
		assert_memory_equal(x, y, sizes[i]);
		/* Each of several connections has a TLS session of its own. */
		assert_int_equal(run_command(&cmd_cp, "-I", "--parallel", "3", "--key", key_file, a,
					     "192.0.2.1:c"), EXIT_OK);
		assert_int_equal(run_command(&cmd_cp, "-I", "--parallel", "3", "--key", key_file,
					     "192.0.2.1:c", b), EXIT_OK);
		assert_int_equal(tmp_read(etc, "b", y, 6 << 20), sizes[i]);
		assert_memory_equal(x, y, sizes[i]);
	}
	free(x);
	free(y);
}

/* Files that share a window differ in where they are, which the keyed digest covers. */
static void small_files_have_keyed_digests(void **state)
{
	char from[PATH_MAX + 16], back[PATH_MAX + 16], name[32], text[16], found[16];
	unsigned int i;

	(void)state;
	snprintf(from, sizeof(from), "%s/from", etc->path);
	snprintf(back, sizeof(back), "%s/back", etc->path);
	assert_int_equal(mkdirat(etc->fd, "from", 0755), 0);
	for (i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "from/%u", i);
		snprintf(text, sizeof(text), "%u", i * 12345);
		tmp_write(etc, name, text);
	}
	assert_int_equal(run_command(&cmd_cp, "-r", "--key", key_file, from, "192.0.2.1:tree"),
			 EXIT_OK);
	assert_int_equal(run_command(&cmd_cp, "-r", "--key", key_file, "192.0.2.1:tree", back),
			 EXIT_OK);
	for (i = 0; i < 50; i++) {
		snprintf(name, sizeof(name), "back/%u", i);
		snprintf(text, sizeof(text), "%u", i * 12345);
		assert_int_equal(tmp_read(etc, name, found, sizeof(found)), strlen(text));
		assert_memory_equal(found, text, strlen(text));
	}
}

static void client_with_another_key_is_refused_with_a_reason(void **state)
{
	(void)state;
	assert_int_equal(ping("--key", other_file), EXIT_DENIED);
	expect_error(-EKEYREJECTED, "it has another key", "the same key");
	assert_int_equal(ping("--key", key_file), EXIT_OK);
}

/**
 * struct flight - bytes of one SEND of a handshake
 * @bytes: they
 * @len: number of them
 */
struct flight {
	uint8_t bytes[WIRE_HANDSHAKE_MAX];
	int len;
};

static int fly(struct client *c, const struct flight *f)
{
	return session_send_raw(&c->s, f->bytes, f->len);
}

/* Send the first flight, and take the server's; c->s.tls has the handshake complete then. */
static void begin_as(struct client *c, const struct wire_hello *hello, const struct key *key,
		     struct flight *f)
{
	const void *bytes;
	struct tls *tls;
	size_t len;

	assert_int_equal(enter(c, NULL, hello), 0);
	assert_int_equal(tls_client(&tls, key), 0);
	assert_int_equal(tls_handshake(tls), -EAGAIN);
	f->len = tls_flush(tls, f->bytes, sizeof(f->bytes));
	assert_int_equal(fly(c, f), 0);
	assert_int_equal(session_recv_raw(&c->s, &bytes, &len, FAKE_PATIENCE_MS), 0);
	assert_int_equal(tls_feed(tls, bytes, len), 0);
	assert_int_equal(tls_handshake(tls), 0);
	c->s.tls = tls;
}

static void begin(struct client *c, const struct wire_hello *hello)
{
	struct key key = key_of(right);
	struct flight f;

	begin_as(c, hello, &key, &f);
}

/* The second flight: the end of the handshake, and the proof of a client that knows @a */
static void end(struct client *c, const struct auth *a, bool is_server, struct flight *f)
{
	uint8_t proof[WIRE_BIND_LEN], clear[WIRE_HEAD_LEN + WIRE_BIND_LEN];
	const struct wire_msg msg = {
		.type = WIRE_BIND, .window = WIRE_NO_WINDOW, .tail = proof,
		.tail_len = sizeof(proof),
	};

	assert_int_equal(auth_proof(c->s.tls, a, is_server, proof), 0);
	assert_int_equal(wire_encode(&msg, clear, sizeof(clear)), sizeof(clear));
	f->len = tls_seal(c->s.tls, clear, sizeof(clear), f->bytes, sizeof(f->bytes));
	assert_true(f->len > 0);
}

static void expect_status(struct client *c, int err)
{
	struct wire_msg msg;

	assert_int_equal(session_recv(&c->s, &msg, FAKE_PATIENCE_MS), 0);
	assert_int_equal(msg.type, WIRE_BIND);
	assert_int_equal(wire_errno(msg.status), err);
}

static void a_handshake_of_another_connection_is_refused(void **state)
{
	struct key key = key_of(right);
	struct flight first, second;
	struct client c;
	struct auth a;

	(void)state;
	begin_as(&c, &echo_with_key, &key, &first);
	auth_of(&a, &c.s, false);
	end(&c, &a, false, &second);
	assert_int_equal(fly(&c, &second), 0);
	expect_status(&c, 0);
	expect_echo(&c);
	leave(&c);
	/* Send the same again, byte for byte. */
	assert_int_equal(enter(&c, NULL, &echo_with_key), 0);
	assert_int_equal(fly(&c, &first), 0);
	assert_int_equal(hear_raw(&c, FAKE_PATIENCE_MS), 0);
	assert_int_equal(fly(&c, &second), 0);
	expect_thrown_out(&c);
	assert_int_equal(enter(&c, NULL, &echo_with_key), 0);
	assert_int_equal(fly(&c, &second), 0);
	expect_thrown_out(&c);
}

/* A host in between can pass TLS on, but not the addresses that the client sees. */
static void a_proof_of_another_connection_is_refused(void **state)
{
	struct flight f;
	struct client c;
	struct auth a;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(a); i += 7) {
		begin(&c, &echo_with_key);
		auth_of(&a, &c.s, false);
		((uint8_t *)&a)[i] ^= 1;
		end(&c, &a, false, &f);
		assert_int_equal(fly(&c, &f), 0);
		expect_status(&c, -EREMCHG);
		expect_thrown_out(&c);
	}
}

static void a_proof_of_the_server_is_refused_from_a_client(void **state)
{
	struct flight f;
	struct client c;
	struct auth a;

	(void)state;
	begin(&c, &echo_with_key);
	auth_of(&a, &c.s, false);
	end(&c, &a, true, &f);
	assert_int_equal(fly(&c, &f), 0);
	expect_status(&c, -EREMCHG);
	expect_thrown_out(&c);
}

static void nothing_is_served_before_the_proof(void **state)
{
	struct flight f;
	struct client c;

	(void)state;
	assert_int_equal(enter(&c, NULL, &echo_with_key), 0);
	assert_int_equal(say(&c, WIRE_ECHO, "hear", 4), 0);
	expect_thrown_out(&c);
	assert_int_equal(enter(&c, NULL, &files_with_key), 0);
	assert_int_equal(say(&c, WIRE_GET, "f", 1), 0);
	expect_thrown_out(&c);
	/* In place of the proof, by a client that has the key */
	begin(&c, &echo_with_key);
	assert_int_equal(say(&c, WIRE_ECHO, "hear", 4), 0);
	expect_thrown_out(&c);
	begin(&c, &files_with_key);
	assert_int_equal(say(&c, WIRE_PUT, "f", 1), 0);
	expect_thrown_out(&c);
	/* The end of the handshake alone */
	begin(&c, &echo_with_key);
	f.len = tls_flush(c.s.tls, f.bytes, sizeof(f.bytes));
	assert_int_equal(fly(&c, &f), 0);
	expect_thrown_out(&c);
}

static void a_truncated_handshake_is_refused(void **state)
{
	struct key key = key_of(right);
	struct flight f;
	struct client c;
	struct auth a;

	(void)state;
	assert_int_equal(enter(&c, NULL, &echo_with_key), 0);
	assert_int_equal(session_send_raw(&c.s, "\x16", 1), 0);
	expect_thrown_out(&c);
	assert_int_equal(enter(&c, NULL, &echo_with_key), 0);
	assert_int_equal(session_send_raw(&c.s, "", 0), 0);
	expect_thrown_out(&c);
	begin_as(&c, &echo_with_key, &key, &f);
	auth_of(&a, &c.s, false);
	end(&c, &a, false, &f);
	f.len--;
	assert_int_equal(fly(&c, &f), 0);
	expect_thrown_out(&c);
	assert_int_equal(ping("--key", key_file), EXIT_OK);
}

static void a_changed_handshake_is_refused(void **state)
{
	struct flight f;
	struct client c;
	struct auth a;
	int i, len = 6;

	(void)state;
	/* The end of the handshake, and the proof behind it */
	for (i = 5; i < len; i += 11) {
		begin(&c, &echo_with_key);
		auth_of(&a, &c.s, false);
		end(&c, &a, false, &f);
		len = f.len;
		f.bytes[i] ^= 1;
		assert_int_equal(fly(&c, &f), 0);
		expect_thrown_out(&c);
	}
	assert_int_equal(ping("--key", key_file), EXIT_OK);
}

static int keyed_and_impatient(void **state)
{
	make_files(NULL);
	return server_start(state, (const char *const[]){ "--key", key_file,
				    "--idle-timeout", SERVER_IDLE_S, NULL });
}

static void client_that_does_not_prove_in_time_is_disconnected(void **state)
{
	struct client c;

	(void)state;
	assert_int_equal(enter(&c, NULL, &echo_with_key), 0);
	expect_expired(&c);
	begin(&c, &echo_with_key);
	expect_expired(&c);
}

static void key_file_readable_by_others_is_refused(void **state)
{
	(void)state;
	assert_int_equal(fchmodat(etc->fd, "key", 0644, 0), 0);
	assert_int_equal(run_command(&cmd_serve, "--key", key_file), EXIT_DENIED);
	expect_error(-EPERM, key_file, "chmod");
	assert_int_equal(run_command(&cmd_ping, "--key", key_file, "192.0.2.1"), EXIT_DENIED);
	expect_error(-EPERM, key_file, "chmod");
}

static void rping_is_refused_together_with_a_key(void **state)
{
	(void)state;
	assert_int_equal(run_command(&cmd_serve, "--rping", "--key", key_file), EXIT_USAGE);
	assert_int_equal(run_command(&cmd_ping, "--rping", "--key", key_file, "192.0.2.1"),
			 EXIT_USAGE);
}

/* ---- named keys ------------------------------------------------------------ */

#define KEYS KEYRING_HEAD "\n"						\
	"admin the-secret-of-the-admin\n"					\
	"reader the-secret-of-a-reader ro dir=pub services=files\n"		\
	"writer the-secret-of-a-writer no-delete dir=in/box\n"		\
	"lost the-secret-of-lost dir=none\n"					\
	"probe the-secret-of-a-probe services=ping,bench\n"

static int named(void **state)
{
	make_files(NULL);
	put("key", KEYS);
	return server_start(state, (const char *const[]){ "--root", "ROOT", "--key",
				    key_file, NULL });
}

static const char *in_etc(const char *name)
{
	static char buf[2][PATH_MAX + 64];
	static int i;

	i = !i;
	snprintf(buf[i], sizeof(buf[i]), "%s/%s", etc->path, name);
	return buf[i];
}

static int cp_as(const char *name, const char *from, const char *to)
{
	return run_command(&cmd_cp, "--key", key_file, "--key-name", name, from, to);
}

static int ping_as(const char *name)
{
	return ping("--key", key_file, "--key-name", name);
}

static void a_key_permits_some_services(void **state)
{
	(void)state;
	assert_int_equal(ping_as("admin"), EXIT_OK);
	assert_int_equal(ping_as("probe"), EXIT_OK);
	assert_int_equal(ping_as("reader"), EXIT_DENIED);
	expect_error(-EOPNOTSUPP, "the key does not permit this service", "services=");
	assert_int_equal(cp_as("probe", "192.0.2.1:f", in_etc("got")), EXIT_DENIED);
	expect_error(-EOPNOTSUPP, "the key does not permit this service", "services=");
	assert_int_equal(run_command(&cmd_bench, "write-bw", "192.0.2.1", "-n", "5", "--key",
				     key_file, "--key-name", "probe"), EXIT_OK);
}

static void a_key_has_a_directory(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(mkdirat(r->tmp->fd, "root/pub", 0755), 0);
	assert_int_equal(mkdirat(r->tmp->fd, "root/in", 0755), 0);
	assert_int_equal(mkdirat(r->tmp->fd, "root/in/box", 0755), 0);
	tmp_write(r->tmp, "root/pub/f", "public");
	tmp_write(r->tmp, "root/secret", "secret");
	put("mine", "a file of mine");
	assert_int_equal(cp_as("reader", "192.0.2.1:/f", in_etc("got")), EXIT_OK);
	assert_true(tmp_exists(etc, "got"));
	assert_int_equal(cp_as("reader", "192.0.2.1:../secret", in_etc("no")), EXIT_DENIED);
	assert_int_equal(cp_as("reader", "192.0.2.1:secret", in_etc("no")), EXIT_FAILED);
	assert_int_equal(symlinkat("../secret", r->tmp->fd, "root/pub/link"), 0);
	assert_int_equal(cp_as("reader", "192.0.2.1:link", in_etc("no")), EXIT_DENIED);
	assert_false(tmp_exists(etc, "no"));
	assert_int_equal(cp_as("writer", in_etc("mine"), "192.0.2.1:"), EXIT_OK);
	assert_true(tmp_exists(r->tmp, "root/in/box/mine"));
	assert_int_equal(cp_as("admin", "192.0.2.1:secret", in_etc("all")), EXIT_OK);
	assert_int_equal(cp_as("lost", "192.0.2.1:secret", in_etc("no")), EXIT_FAILED);
	assert_int_equal(err_last()->err, -ENOENT);
}

static void a_key_permits_reading_only(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(mkdirat(r->tmp->fd, "root/pub", 0755), 0);
	tmp_write(r->tmp, "root/pub/f", "public");
	put("mine", "a file of mine");
	assert_int_equal(cp_as("reader", in_etc("mine"), "192.0.2.1:"), EXIT_DENIED);
	expect_error(-EROFS, "192.0.2.1", "read-only");
	assert_int_equal(run_command(&cmd_rm, "192.0.2.1:f", "--key", key_file, "--key-name",
				     "reader"), EXIT_DENIED);
	assert_true(tmp_exists(r->tmp, "root/pub/f"));
	assert_false(tmp_exists(r->tmp, "root/pub/mine"));
}

static void a_key_permits_no_deletion(void **state)
{
	struct server_run *r = *state;

	assert_int_equal(mkdirat(r->tmp->fd, "root/in", 0755), 0);
	assert_int_equal(mkdirat(r->tmp->fd, "root/in/box", 0755), 0);
	put("mine", "a file of mine");
	assert_int_equal(cp_as("writer", in_etc("mine"), "192.0.2.1:f"), EXIT_OK);
	put("mine", "another version of it");
	assert_int_equal(cp_as("writer", in_etc("mine"), "192.0.2.1:f"), EXIT_OK);
	assert_int_equal(run_command(&cmd_rm, "192.0.2.1:f", "--key", key_file, "--key-name",
				     "writer"), EXIT_DENIED);
	assert_true(tmp_exists(r->tmp, "root/in/box/f"));
	assert_int_equal(run_command(&cmd_rm, "192.0.2.1:in/box/f", "--key", key_file,
				     "--key-name", "admin"), EXIT_OK);
	assert_false(tmp_exists(r->tmp, "root/in/box/f"));
}

/* The client learns the same of a name that there is not as of a wrong secret. */
static void a_name_alone_is_nothing(void **state)
{
	(void)state;
	put("other", KEYRING_HEAD "\nadmin not-the-secret-of-it\nnobody the-secret-of-the-admin\n");
	assert_int_equal(ping("--key", other_file, "--key-name", "admin"), EXIT_DENIED);
	expect_error(-EKEYREJECTED, "it has another key", "by the same name");
	assert_int_equal(ping("--key", other_file, "--key-name", "nobody"), EXIT_DENIED);
	expect_error(-EKEYREJECTED, "it has another key", "by the same name");
	put("other", "the-secret-of-the-admin");
	assert_int_equal(ping("--key", other_file), EXIT_DENIED);
	expect_error(-EKEYREJECTED, "it has another key", "by the same name");
}

/* ---- records --------------------------------------------------------------------- */

static void authenticate(struct client *c)
{
	struct key key = key_of(right);

	assert_int_equal(enter(c, NULL, &echo_with_key), 0);
	assert_int_equal(auth_connect(&c->s, &key), 0);
}

/* Write an ECHO of 4 bytes as the client would send it next. Returns its length. */
static int encrypted_echo(struct client *c, uint8_t *buf, size_t room)
{
	const struct wire_msg msg = {
		.type = WIRE_ECHO, .window = WIRE_NO_WINDOW, .tail = "hear", .tail_len = 4,
	};
	uint8_t clear[WIRE_HEAD_LEN + 4];
	int len;

	assert_int_equal(wire_encode(&msg, clear, sizeof(clear)), sizeof(clear));
	len = tls_seal(c->s.tls, clear, sizeof(clear), buf, room);
	assert_int_equal(len, sizeof(clear) + WIRE_RECORD_LEN);
	return len;
}

/* The server must not answer. */
static void expect_ended(struct client *c)
{
	struct wire_msg msg;

	assert_int_equal(session_recv(&c->s, &msg, FAKE_PATIENCE_MS), -ECONNRESET);
	leave(c);
	server_wait_idle();
}

static void a_message_that_is_changed_ends_the_connection(void **state)
{
	uint8_t buf[256];
	struct client c;
	int len, i;

	(void)state;
	authenticate(&c);
	len = encrypted_echo(&c, buf, sizeof(buf));
	leave(&c);
	for (i = 0; i < len; i += 13) {
		authenticate(&c);
		len = encrypted_echo(&c, buf, sizeof(buf));
		buf[i] ^= 1;
		assert_int_equal(session_send_raw(&c.s, buf, len), 0);
		expect_ended(&c);
	}
	authenticate(&c);
	len = encrypted_echo(&c, buf, sizeof(buf));
	assert_int_equal(session_send_raw(&c.s, buf, len - 1), 0);
	expect_ended(&c);
}

static void a_message_that_is_not_encrypted_ends_the_connection(void **state)
{
	const struct wire_msg msg = {
		.type = WIRE_ECHO, .window = WIRE_NO_WINDOW, .tail = "hear", .tail_len = 4,
	};
	uint8_t buf[256];
	struct client c;
	int len;

	(void)state;
	authenticate(&c);
	len = wire_encode(&msg, buf, sizeof(buf));
	assert_int_equal(session_send_raw(&c.s, buf, len), 0);
	expect_ended(&c);
	authenticate(&c);
	assert_int_equal(session_send_raw(&c.s, buf, 5), 0);
	expect_ended(&c);
}

static void a_message_that_is_repeated_ends_the_connection(void **state)
{
	struct wire_msg msg;
	uint8_t buf[256];
	struct client c;
	int len;

	(void)state;
	authenticate(&c);
	len = encrypted_echo(&c, buf, sizeof(buf));
	assert_int_equal(session_send_raw(&c.s, buf, len), 0);
	assert_int_equal(session_recv(&c.s, &msg, FAKE_PATIENCE_MS), 0);
	assert_int_equal(session_send_raw(&c.s, buf, len), 0);
	expect_ended(&c);
	/* On another connection the keys are others. */
	authenticate(&c);
	assert_int_equal(session_send_raw(&c.s, buf, len), 0);
	expect_ended(&c);
}

static void a_message_that_is_left_out_ends_the_connection(void **state)
{
	uint8_t buf[256];
	struct client c;
	int len;

	(void)state;
	authenticate(&c);
	encrypted_echo(&c, buf, sizeof(buf));
	len = encrypted_echo(&c, buf, sizeof(buf));
	assert_int_equal(session_send_raw(&c.s, buf, len), 0);
	expect_ended(&c);
}

static void a_message_of_the_server_that_is_sent_back_ends_the_connection(void **state)
{
	struct client c;
	const void *buf;
	size_t len;

	(void)state;
	authenticate(&c);
	assert_int_equal(say(&c, WIRE_ECHO, "hear", 4), 0);
	assert_int_equal(session_recv_raw(&c.s, &buf, &len, FAKE_PATIENCE_MS), 0);
	assert_int_equal(len, WIRE_HEAD_LEN + 4 + WIRE_RECORD_LEN);
	assert_int_equal(session_send_raw(&c.s, buf, len), 0);
	expect_ended(&c);
}

/* ---- relays ------------------------------------------------------------------ */

/**
 * struct relay - a host that a client connects to, and that passes everything on to the server
 * @kv: its context
 * @listener: where the client comes from
 * @passed: messages of the server that it has passed on
 */
struct relay {
	struct kverbs *kv;
	struct kverbs_listener *listener;
	unsigned int passed;
};

static int pass(struct session *from, struct session *to)
{
	const void *bytes;
	size_t len;
	int ret;

	ret = session_recv_raw(from, &bytes, &len, FAKE_PATIENCE_MS);
	return ret ? ret : session_send_raw(to, bytes, len);
}

static void *relay_main(void *arg)
{
	struct session client;
	struct relay *r = arg;
	struct kverbs_conn *conn;
	struct client server;

	assert_int_equal(kverbs_next_request(r->listener, FAKE_PATIENCE_MS, &conn), 0);
	assert_int_equal(enter(&server, NULL, &echo_with_key), 0);
	session_init(&client, r->kv, conn, &echo_with_key);
	assert_int_equal(session_accept(&client, server.s.welcome.flags, FAKE_PATIENCE_MS), 0);
	while (!pass(&client, &server.s) && !pass(&server.s, &client))
		r->passed++;
	session_free(&client);
	leave(&server);
	return NULL;
}

/* Both have the key, and the relay changes nothing but that it is in between. */
static void a_handshake_is_not_passed_on(void **state)
{
	struct key key = key_of(right);
	struct session_to to = {
		.host = "192.0.2.66", .port = WIRE_DEFAULT_PORT, .timeout_ms = FAKE_PATIENCE_MS,
	};
	struct relay r = { .passed = 0 };
	pthread_t thread;
	struct client c;

	(void)state;
	to.port = "7473";
	assert_int_equal(kverbs_open(&r.kv, NULL), 0);
	assert_int_equal(kverbs_listen(r.kv, to.host, to.port, 0, &r.listener), 0);
	assert_int_equal(pthread_create(&thread, NULL, relay_main, &r), 0);
	assert_int_equal(kverbs_open(&c.kv, NULL), 0);
	assert_int_equal(session_connect(&c.s, c.kv, &to, &echo_with_key), 0);
	assert_int_equal(auth_connect(&c.s, &key), -EREMCHG);
	leave(&c);
	pthread_join(thread, NULL);
	/* The handshake, and that the server does not accept the proof */
	assert_int_equal(r.passed, 2);
	kverbs_listener_free(r.listener);
	kverbs_close(r.kv);
	assert_int_equal(ping("--key", key_file), EXIT_OK);
}

/* ---- false servers --------------------------------------------------------- */

static int without_key(void **state)
{
	make_files(NULL);
	return server_setup(state);
}

static void server_without_a_key_is_not_trusted(void **state)
{
	(void)state;
	assert_int_equal(ping("--key", key_file), EXIT_DENIED);
	expect_error(-ENOKEY, "it does not prove that it has the key", "not the server");
}

/* Answer a message of the client's. */
typedef void (*lie_fn)(struct session *s, const void *bytes, size_t len);

static void send_back(struct session *s, const void *bytes, size_t len)
{
	session_send_raw(s, bytes, len);
}

static void make_up(struct session *s, const void *bytes, size_t len)
{
	static const char anything[] = "trust me";

	(void)bytes;
	(void)len;
	session_send_raw(s, anything, sizeof(anything));
}

/* Proceed as if the handshake were over. */
static void jump(struct session *s, const void *bytes, size_t len)
{
	static const uint8_t proof[WIRE_BIND_LEN];
	const struct wire_msg msg = {
		.type = WIRE_BIND, .window = WIRE_NO_WINDOW, .tail = proof,
		.tail_len = sizeof(proof),
	};

	(void)bytes;
	(void)len;
	session_send(s, &msg);
}

/* More than a handshake has */
static void flood(struct session *s, const void *bytes, size_t len)
{
	static const uint8_t much[WIRE_HANDSHAKE_MAX + 1] = { 22, 3, 3, 0x40 };

	(void)bytes;
	(void)len;
	session_send_raw(s, much, sizeof(much));
}

struct liar {
	struct kverbs *kv;
	struct kverbs_listener *listener;
	lie_fn lie;
};

static void *liar_main(void *arg)
{
	struct liar *l = arg;
	struct kverbs_conn *conn;
	struct session s;
	const void *bytes;
	size_t len;

	assert_int_equal(kverbs_next_request(l->listener, FAKE_PATIENCE_MS, &conn), 0);
	session_init(&s, l->kv, conn, &echo_with_key);
	assert_int_equal(session_accept(&s, WIRE_F_KEY, FAKE_PATIENCE_MS), 0);
	while (!session_recv_raw(&s, &bytes, &len, FAKE_PATIENCE_MS))
		l->lie(&s, bytes, len);
	session_free(&s);
	return NULL;
}

static void expect_distrust(lie_fn lie)
{
	struct key key = key_of(right);
	struct liar l = { .lie = lie };
	pthread_t thread;
	struct client c;

	fake_reset();
	fake.loopback = true;
	assert_int_equal(kverbs_open(&l.kv, NULL), 0);
	assert_int_equal(kverbs_listen(l.kv, "192.0.2.1", WIRE_DEFAULT_PORT, 0, &l.listener), 0);
	assert_int_equal(pthread_create(&thread, NULL, liar_main, &l), 0);
	assert_int_equal(enter(&c, NULL, &echo_with_key), 0);
	assert_int_equal(auth_connect(&c.s, &key), -ENOKEY);
	leave(&c);
	pthread_join(thread, NULL);
	kverbs_listener_free(l.listener);
	kverbs_close(l.kv);
	assert_int_equal(fake_leftovers(), 0);
}

static void server_that_echoes_the_client_is_not_trusted(void **state)
{
	(void)state;
	expect_distrust(send_back);
}

static void server_with_a_made_up_proof_is_not_trusted(void **state)
{
	(void)state;
	expect_distrust(make_up);
	expect_distrust(jump);
	expect_distrust(flood);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		guarded(client_without_a_key_is_refused_with_a_reason, keyed),
		guarded(client_with_the_key_is_served, keyed),
		guarded(client_with_a_single_receive_is_served, keyed),
		guarded(copies_have_keyed_digests, keyed),
		guarded(small_files_have_keyed_digests, keyed),
		guarded(silent_clients_are_disconnected_for_new_ones, keyed),
		guarded(environment_can_name_the_key_file, keyed),
		guarded(client_with_another_key_is_refused_with_a_reason, keyed),
		guarded(a_handshake_of_another_connection_is_refused, keyed),
		guarded(a_proof_of_another_connection_is_refused, keyed),
		guarded(a_proof_of_the_server_is_refused_from_a_client, keyed),
		guarded(nothing_is_served_before_the_proof, keyed),
		guarded(a_truncated_handshake_is_refused, keyed),
		guarded(a_changed_handshake_is_refused, keyed),
		guarded(client_that_does_not_prove_in_time_is_disconnected, keyed_and_impatient),
		cmocka_unit_test_setup_teardown(key_file_readable_by_others_is_refused,
						make_files, remove_files),
		cmocka_unit_test_setup_teardown(rping_is_refused_together_with_a_key, make_files,
						remove_files),
		guarded(a_key_permits_some_services, named),
		guarded(a_key_has_a_directory, named),
		guarded(a_key_permits_reading_only, named),
		guarded(a_key_permits_no_deletion, named),
		guarded(a_name_alone_is_nothing, named),
		guarded(a_message_that_is_changed_ends_the_connection, keyed),
		guarded(a_message_that_is_not_encrypted_ends_the_connection, keyed),
		guarded(a_message_that_is_repeated_ends_the_connection, keyed),
		guarded(a_message_that_is_left_out_ends_the_connection, keyed),
		guarded(a_message_of_the_server_that_is_sent_back_ends_the_connection, keyed),
		guarded(a_handshake_is_not_passed_on, keyed),
		guarded(server_without_a_key_is_not_trusted, without_key),
		cmocka_unit_test(server_that_echoes_the_client_is_not_trusted),
		cmocka_unit_test(server_with_a_made_up_proof_is_not_trusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
