// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* TLS over bytes that are carried: who completes a handshake, and which records are taken. */
#define _GNU_SOURCE
#include "tls_pair.h"

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#define TEXT	"hear"
#define ALERT	21
#define DATA	23

static struct key key = { .len = 16, .bytes = "0123456789abcdef" };
static struct key other = { .len = 16, .bytes = "0123456789abcdeF" };
static struct key decoy = { .len = 16, .bytes = "????????????????" };
static struct key named = { .name = "box", .len = 17, .bytes = "the secret of box" };
static struct key longest = { .name = "long", .len = KEY_MAX, .bytes = "and zeros" };
static struct keyring ring = { .users = 1, .nr = 1, .keys = &key, .decoy = &decoy };

static int make_ring(void **state)
{
	(void)state;
	key.next = &named;
	named.next = &longest;
	return 0;
}

/* No end leaves errors for the next user of OpenSSL in this thread. */
static int expect_no_errors(void **state)
{
	(void)state;
	return ERR_peek_error() ? -1 : 0;
}

/* ---- handshakes ------------------------------------------------------------ */

static void expect_proven(const struct key *k, const char *name)
{
	struct pair p;

	pair_open(&p, k, &ring);
	pair_shake(&p);
	assert_int_equal(SSL_version(p.client->ssl), TLS1_3_VERSION);
	assert_true(SSL_session_reused(p.client->ssl));
	assert_ptr_equal(p.server->key, k);
	assert_string_equal(p.client->name, name);
	/* Nothing more, such as a ticket for another session, is said. */
	assert_int_equal(tls_flush(p.server, p.bytes, PAIR_ROOM), 0);
	assert_int_equal(tls_flush(p.client, p.bytes, PAIR_ROOM), 0);
	pair_close(&p);
}

static void the_server_finds_the_key_by_its_name(void **state)
{
	(void)state;
	expect_proven(&key, "*");
	expect_proven(&named, "box");
	expect_proven(&longest, "long");
}

/* Carry the client's hello to the server, which must refuse it; @p gets the alert. */
static void expect_alert(struct pair *p, const struct key *k)
{
	pair_open(p, k, &ring);
	assert_int_equal(tls_handshake(p->client), -EAGAIN);
	pair_carry(p, p->client, p->server);
	assert_int_equal(tls_handshake(p->server), -EKEYREJECTED);
	pair_carry(p, p->server, p->client);
	assert_int_equal(p->bytes[0], ALERT);
	assert_int_equal(tls_handshake(p->client), -EKEYREJECTED);
}

static void an_unknown_name_gets_the_answer_of_a_wrong_key(void **state)
{
	struct key unknown = named, too = key;
	struct pair a, b;

	(void)state;
	strcpy(unknown.name, "nobody");
	strcpy(too.name, "boX");
	expect_alert(&a, &other);
	expect_alert(&b, &unknown);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.bytes, b.bytes, a.len);
	pair_close(&b);
	expect_alert(&b, &too);
	assert_int_equal(a.len, b.len);
	assert_memory_equal(a.bytes, b.bytes, a.len);
	pair_close(&b);
	pair_close(&a);
}

/* The same secret under another name is another key. */
static void a_name_is_not_changed_on_the_way(void **state)
{
	struct pair p;
	uint8_t *at;

	(void)state;
	pair_open(&p, &named, &ring);
	assert_int_equal(tls_handshake(p.client), -EAGAIN);
	p.len = tls_flush(p.client, p.bytes, WIRE_HANDSHAKE_MAX);
	at = memmem(p.bytes, p.len, "box", 3);
	assert_non_null(at);
	memcpy(at, "boy", 3);
	named.name[2] = 'y';
	assert_int_equal(tls_feed(p.server, p.bytes, p.len), 0);
	assert_int_equal(tls_handshake(p.server), -EKEYREJECTED);
	named.name[2] = 'x';
	pair_close(&p);
}

static void the_secret_is_not_in_what_is_said(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &named, &ring);
	assert_int_equal(tls_handshake(p.client), -EAGAIN);
	pair_carry(&p, p.client, p.server);
	assert_null(memmem(p.bytes, p.len, named.bytes, named.len));
	pair_close(&p);
}

/* Change one byte of the message @nr of a handshake; one of the ends must refuse it. */
static bool survives(unsigned int nr, int at)
{
	struct tls *ends[2];
	unsigned int i;
	struct pair p;
	bool beyond;
	int ret = 0;

	pair_open(&p, &named, &ring);
	ends[0] = p.client;
	ends[1] = p.server;
	assert_int_equal(tls_handshake(p.client), -EAGAIN);
	for (i = 0; i <= nr; i++) {
		p.len = tls_flush(ends[i & 1], p.bytes, WIRE_HANDSHAKE_MAX);
		assert_true(p.len > 0);
		if (i == nr && at < p.len)
			p.bytes[at] ^= 0x11;
		ret = tls_feed(ends[~i & 1], p.bytes, p.len);
		assert_true(!ret || i == nr);
		if (!ret)
			ret = tls_handshake(ends[~i & 1]);
	}
	beyond = at >= p.len;
	/* A client that is content must not be content after the server's answer. */
	if (!beyond && nr == 0 && ret == -EAGAIN) {
		p.len = tls_flush(p.server, p.bytes, WIRE_HANDSHAKE_MAX);
		if (p.len > 0) {
			assert_int_equal(tls_feed(p.client, p.bytes, p.len), 0);
			ret = tls_handshake(p.client);
		}
	}
	if (!beyond)
		assert_true(ret < 0);
	pair_close(&p);
	return !beyond;
}

/* But for the version of a record, which TLS 1.3 ignores in a hello */
static void a_handshake_that_is_changed_does_not_complete(void **state)
{
	unsigned int nr;
	int at;

	(void)state;
	for (nr = 0; nr < 3; nr++)
		for (at = 5; survives(nr, at); at += 3)
			;
}

static void a_truncated_handshake_is_not_taken(void **state)
{
	struct pair p;
	int len;

	(void)state;
	for (len = 0; len < 200; len += 7) {
		pair_open(&p, &key, &ring);
		assert_int_equal(tls_handshake(p.client), -EAGAIN);
		p.len = tls_flush(p.client, p.bytes, WIRE_HANDSHAKE_MAX);
		assert_true(len < p.len);
		assert_int_equal(tls_feed(p.server, p.bytes, len), -EBADMSG);
		assert_int_equal(tls_handshake(p.server), -EAGAIN);
		assert_int_equal(tls_flush(p.server, p.bytes, PAIR_ROOM), 0);
		pair_close(&p);
	}
}

static void a_hello_that_is_sent_back_is_no_proof(void **state)
{
	struct pair p;

	(void)state;
	pair_open(&p, &key, &ring);
	assert_int_equal(tls_handshake(p.client), -EAGAIN);
	pair_carry(&p, p.client, p.client);
	assert_int_equal(tls_handshake(p.client), -ENOKEY);
	pair_close(&p);
}

/* ---- strangers ------------------------------------------------------------- */

static SSL *stranger(SSL_CTX *ctx, bool is_server)
{
	SSL *ssl = SSL_new(ctx);

	assert_non_null(ssl);
	SSL_set_bio(ssl, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	if (is_server)
		SSL_set_accept_state(ssl);
	else
		SSL_set_connect_state(ssl);
	return ssl;
}

/* Make a certificate, as any host can. */
static void certify(SSL_CTX *ctx)
{
	EVP_PKEY *pkey = EVP_EC_gen("P-256");
	X509 *cert = X509_new();

	assert_true(pkey && cert);
	assert_true(X509_set_version(cert, 2));
	assert_true(ASN1_INTEGER_set(X509_get_serialNumber(cert), 1));
	assert_non_null(X509_gmtime_adj(X509_getm_notBefore(cert), 0));
	assert_non_null(X509_gmtime_adj(X509_getm_notAfter(cert), 86400));
	assert_true(X509_set_pubkey(cert, pkey));
	assert_true(X509_sign(cert, pkey, EVP_sha256()));
	assert_true(SSL_CTX_use_certificate(ctx, cert));
	assert_true(SSL_CTX_use_PrivateKey(ctx, pkey));
	X509_free(cert);
	EVP_PKEY_free(pkey);
}

static void a_certificate_does_not_prove_the_key(void **state)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	struct tls *client;
	uint8_t bytes[8192];
	SSL *server;
	int len;

	(void)state;
	certify(ctx);
	SSL_CTX_clear_options(ctx, SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
	server = stranger(ctx, true);
	assert_int_equal(tls_client(&client, &key), 0);
	assert_int_equal(tls_handshake(client), -EAGAIN);
	len = tls_flush(client, bytes, sizeof(bytes));
	assert_int_equal(BIO_write(SSL_get_rbio(server), bytes, len), len);
	assert_int_equal(SSL_do_handshake(server), -1);
	len = BIO_read(SSL_get_wbio(server), bytes, sizeof(bytes));
	assert_true(len > 0);
	assert_int_equal(tls_feed(client, bytes, len), 0);
	assert_int_equal(tls_handshake(client), -ENOKEY);
	tls_free(client);
	SSL_free(server);
	SSL_CTX_free(ctx);
	ERR_clear_error();
}

static void expect_stranger_refused(int version)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());
	struct tls *server;
	uint8_t bytes[4096];
	SSL *client;
	int len;

	assert_true(SSL_CTX_set_max_proto_version(ctx, version));
	client = stranger(ctx, false);
	assert_int_equal(tls_server(&server, &ring), 0);
	assert_int_equal(SSL_do_handshake(client), -1);
	len = BIO_read(SSL_get_wbio(client), bytes, sizeof(bytes));
	assert_true(len > 0);
	assert_int_equal(tls_feed(server, bytes, len), 0);
	assert_int_equal(tls_handshake(server), -EPROTO);
	len = tls_flush(server, bytes, sizeof(bytes));
	assert_true(len > 0);
	assert_int_equal(bytes[0], ALERT);
	tls_free(server);
	SSL_free(client);
	SSL_CTX_free(ctx);
	ERR_clear_error();
}

static void a_client_of_tls_that_names_no_key_is_refused(void **state)
{
	(void)state;
	expect_stranger_refused(TLS1_3_VERSION);
	expect_stranger_refused(TLS1_2_VERSION);
}

/* ---- secrets --------------------------------------------------------------- */

static void both_ends_export_the_same_and_no_other_session_does(void **state)
{
	uint8_t a[32], b[32], c[32];
	struct pair p, q;

	(void)state;
	pair_open(&p, &key, &ring);
	pair_shake(&p);
	pair_open(&q, &key, &ring);
	pair_shake(&q);
	assert_int_equal(tls_export(p.client, "EXPORTER-x", "y", 1, a, sizeof(a)), 0);
	assert_int_equal(tls_export(p.server, "EXPORTER-x", "y", 1, b, sizeof(b)), 0);
	assert_memory_equal(a, b, sizeof(a));
	assert_int_equal(tls_export(p.server, "EXPORTER-z", "y", 1, b, sizeof(b)), 0);
	assert_memory_not_equal(a, b, sizeof(a));
	assert_int_equal(tls_export(p.server, "EXPORTER-x", "z", 1, b, sizeof(b)), 0);
	assert_memory_not_equal(a, b, sizeof(a));
	/* A session of the same key */
	assert_int_equal(tls_export(q.client, "EXPORTER-x", "y", 1, c, sizeof(c)), 0);
	assert_memory_not_equal(a, c, sizeof(a));
	pair_close(&q);
	pair_close(&p);
}

static void nothing_is_exported_before_the_handshake(void **state)
{
	uint8_t a[32];
	struct pair p;

	(void)state;
	pair_open(&p, &key, &ring);
	assert_int_equal(tls_export(p.client, "EXPORTER-x", "y", 1, a, sizeof(a)), -EIO);
	pair_close(&p);
}

/* ---- messages -------------------------------------------------------------- */

static void open_shaken(struct pair *p)
{
	pair_open(p, &key, &ring);
	pair_shake(p);
}

/* The client's next message, in p->bytes */
static void seal(struct pair *p)
{
	p->len = tls_seal(p->client, TEXT, sizeof(TEXT), p->bytes, PAIR_ROOM);
	assert_int_equal(p->len, sizeof(TEXT) + WIRE_RECORD_LEN);
	assert_int_equal(p->bytes[0], DATA);
	assert_null(memmem(p->bytes, p->len, TEXT, sizeof(TEXT)));
}

static int open_at(struct tls *t, const struct pair *p, int len)
{
	char text[64] = "";
	int ret = tls_open(t, p->bytes, len, text, sizeof(text));

	if (ret == sizeof(TEXT))
		assert_string_equal(text, TEXT);
	return ret;
}

static void messages_of_any_size_have_the_room_that_the_protocol_says(void **state)
{
	static const size_t sizes[] = {
		1, WIRE_HEAD_LEN, 16383, 16384, 16385, 32768, 32769, WIRE_HEAD_LEN + WIRE_ECHO_MAX,
	};
	uint8_t *msg = malloc(PAIR_ROOM), *back = malloc(PAIR_ROOM);
	struct wire_hello hello = { .flags = WIRE_F_KEY };
	struct pair p;
	unsigned int i;
	int room;

	(void)state;
	for (i = 0; i < PAIR_ROOM; i++)
		msg[i] = i * 7 >> 3;
	open_shaken(&p);
	/* Each message is preceded by another key. */
	p.client->rekey = 0;
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		hello.msg_max = sizes[i];
		room = wire_room(&hello);
		p.len = tls_seal(p.client, msg, sizes[i], p.bytes, room);
		assert_true(p.len > 0 && (p.len == room || room == WIRE_HANDSHAKE_MAX));
		assert_int_equal(tls_open(p.server, p.bytes, p.len, back, sizes[i]), sizes[i]);
		assert_memory_equal(msg, back, sizes[i]);
	}
	pair_close(&p);
	free(back);
	free(msg);
}

static void a_message_that_exceeds_its_room_is_refused(void **state)
{
	uint8_t msg[40] = { 0 }, back[39];
	struct pair p;

	(void)state;
	open_shaken(&p);
	p.len = tls_seal(p.client, msg, sizeof(msg), p.bytes, PAIR_ROOM);
	assert_int_equal(tls_open(p.server, p.bytes, p.len, back, sizeof(back)), -EBADMSG);
	assert_int_equal(tls_seal(p.client, msg, sizeof(msg), p.bytes, sizeof(msg)), -EMSGSIZE);
	pair_close(&p);
}

static void a_key_is_replaced_in_time(void **state)
{
	struct pair p;
	int i;

	(void)state;
	open_shaken(&p);
	p.client->rekey = 3;
	for (i = 0; i < 1000; i++) {
		p.len = tls_seal(p.client, TEXT, sizeof(TEXT), p.bytes, PAIR_ROOM);
		assert_int_equal(p.len, sizeof(TEXT) + WIRE_RECORD_LEN +
				 (i && i % 3 == 0 ? WIRE_KEY_UPDATE_LEN : 0));
		assert_int_equal(open_at(p.server, &p, p.len), sizeof(TEXT));
		p.len = tls_seal(p.server, TEXT, sizeof(TEXT), p.bytes, PAIR_ROOM);
		assert_int_equal(p.len, sizeof(TEXT) + WIRE_RECORD_LEN);
		assert_int_equal(open_at(p.client, &p, p.len), sizeof(TEXT));
	}
	pair_close(&p);
}

/* RFC 8446 wants an answer, which goes with the next message. */
static void a_peer_can_ask_for_another_key_within_the_room_of_a_message(void **state)
{
	struct pair p;

	(void)state;
	open_shaken(&p);
	assert_true(SSL_key_update(p.client->ssl, SSL_KEY_UPDATE_REQUESTED));
	p.len = tls_seal(p.client, TEXT, sizeof(TEXT), p.bytes, PAIR_ROOM);
	assert_int_equal(open_at(p.server, &p, p.len), sizeof(TEXT));
	p.len = tls_seal(p.server, TEXT, sizeof(TEXT), p.bytes, PAIR_ROOM);
	assert_int_equal(p.len, sizeof(TEXT) + WIRE_RECORD_LEN + WIRE_KEY_UPDATE_LEN);
	assert_int_equal(open_at(p.client, &p, p.len), sizeof(TEXT));
	pair_close(&p);
}

static void a_record_that_is_changed_is_refused(void **state)
{
	struct pair p;
	int at, len = sizeof(TEXT) + WIRE_RECORD_LEN;

	(void)state;
	for (at = 0; at < len; at++) {
		open_shaken(&p);
		seal(&p);
		p.bytes[at] ^= 1;
		assert_int_equal(open_at(p.server, &p, p.len), -EBADMSG);
		pair_close(&p);
	}
}

static void a_record_that_is_cut_off_or_goes_on_is_refused(void **state)
{
	struct pair p;
	int len;

	(void)state;
	for (len = 1; len < (int)sizeof(TEXT) + WIRE_RECORD_LEN; len++) {
		open_shaken(&p);
		seal(&p);
		assert_int_equal(open_at(p.server, &p, len), -EBADMSG);
		pair_close(&p);
	}
	open_shaken(&p);
	seal(&p);
	memset(p.bytes + p.len, 0, 5);
	assert_int_equal(open_at(p.server, &p, p.len + 1), -EBADMSG);
	assert_int_equal(open_at(p.server, &p, p.len + 5), -EBADMSG);
	pair_close(&p);
}

static void a_record_that_is_repeated_is_refused(void **state)
{
	struct pair p, q;

	(void)state;
	open_shaken(&p);
	seal(&p);
	assert_int_equal(open_at(p.server, &p, p.len), sizeof(TEXT));
	assert_int_equal(open_at(p.server, &p, p.len), -EBADMSG);
	/* On another connection, too */
	open_shaken(&q);
	assert_int_equal(open_at(q.server, &p, p.len), -EBADMSG);
	pair_close(&q);
	pair_close(&p);
}

static void records_out_of_order_are_refused(void **state)
{
	struct pair p;

	(void)state;
	open_shaken(&p);
	seal(&p);
	seal(&p);
	assert_int_equal(open_at(p.server, &p, p.len), -EBADMSG);
	pair_close(&p);
}

static void a_record_that_is_sent_back_is_refused(void **state)
{
	struct pair p;

	(void)state;
	open_shaken(&p);
	seal(&p);
	assert_int_equal(open_at(p.client, &p, p.len), -EBADMSG);
	pair_close(&p);
}

static void what_is_not_encrypted_is_refused(void **state)
{
	static const uint8_t alert[] = { ALERT, 3, 3, 0, 2, 1, 0 };
	struct pair p;
	char text[8];

	(void)state;
	open_shaken(&p);
	assert_int_equal(tls_open(p.server, alert, sizeof(alert), text, sizeof(text)), -EBADMSG);
	assert_int_equal(tls_open(p.server, TEXT, sizeof(TEXT), text, sizeof(text)), -EBADMSG);
	assert_int_equal(tls_open(p.server, NULL, 0, text, sizeof(text)), -EBADMSG);
	pair_close(&p);
}

int main(void)
{
#define rule(name) cmocka_unit_test_teardown(name, expect_no_errors)
	const struct CMUnitTest tests[] = {
		rule(the_server_finds_the_key_by_its_name),
		rule(an_unknown_name_gets_the_answer_of_a_wrong_key),
		rule(a_name_is_not_changed_on_the_way),
		rule(the_secret_is_not_in_what_is_said),
		rule(a_handshake_that_is_changed_does_not_complete),
		rule(a_truncated_handshake_is_not_taken),
		rule(a_hello_that_is_sent_back_is_no_proof),
		rule(a_certificate_does_not_prove_the_key),
		rule(a_client_of_tls_that_names_no_key_is_refused),
		rule(both_ends_export_the_same_and_no_other_session_does),
		rule(nothing_is_exported_before_the_handshake),
		rule(messages_of_any_size_have_the_room_that_the_protocol_says),
		rule(a_message_that_exceeds_its_room_is_refused),
		rule(a_key_is_replaced_in_time),
		rule(a_peer_can_ask_for_another_key_within_the_room_of_a_message),
		rule(a_record_that_is_changed_is_refused),
		rule(a_record_that_is_cut_off_or_goes_on_is_refused),
		rule(a_record_that_is_repeated_is_refused),
		rule(records_out_of_order_are_refused),
		rule(a_record_that_is_sent_back_is_refused),
		rule(what_is_not_encrypted_is_refused),
	};

	return cmocka_run_group_tests(tests, make_ring, NULL);
}
