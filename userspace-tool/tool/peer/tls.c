// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>

#include "lib/byteorder.h"
#include "peer/tls.h"

/* All are of SHA-256, as a PSK belongs to one hash. */
#define SUITES		"TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256"
#define GROUPS		"X25519:P-256"
/* TLS_AES_128_GCM_SHA256: tells the hash of a PSK */
#define SUITE_OF_PSK	((const unsigned char[]){ 0x13, 0x01 })
#define PSK_LEN		32
#define PSK_LABEL	"kverbs tls psk 1"
/* Identity of a key without a name: TLS has no empty identities, and no key has this name. */
#define UNNAMED		"*"
#define RECORD_HEAD	5
/* Types of records: alert, handshake, and any that is encrypted */
#define RECORD_ALERT	21
#define RECORD_DATA	23

static SSL_CTX *client_ctx, *server_ctx;

/* ---- keys ------------------------------------------------------------------ */

/*
 * OpenSSL's PSKs are shorter than a key may be. Another use of the same key, as in earlier versions
 * of the protocol, has other secrets.
 */
static bool make_psk(const struct key *key, uint8_t psk[PSK_LEN])
{
	size_t len;

	return EVP_Q_mac(NULL, "HMAC", NULL, "SHA256", NULL, key->bytes, key->len,
			 (const void *)PSK_LABEL, sizeof(PSK_LABEL), psk, PSK_LEN, &len) &&
	       len == PSK_LEN;
}

static SSL_SESSION *psk_session(SSL *ssl, const struct key *key)
{
	const SSL_CIPHER *suite = SSL_CIPHER_find(ssl, SUITE_OF_PSK);
	SSL_SESSION *session = SSL_SESSION_new();
	uint8_t psk[PSK_LEN];
	bool good;

	good = session && suite && make_psk(key, psk) &&
	       SSL_SESSION_set1_master_key(session, psk, sizeof(psk)) &&
	       SSL_SESSION_set_cipher(session, suite) &&
	       SSL_SESSION_set_protocol_version(session, TLS1_3_VERSION);
	OPENSSL_cleanse(psk, sizeof(psk));
	if (good)
		return session;
	SSL_SESSION_free(session);
	return NULL;
}

static int use_psk(SSL *ssl, const EVP_MD *md, const unsigned char **id, size_t *id_len,
		   SSL_SESSION **session)
{
	struct tls *t = SSL_get_app_data(ssl);

	(void)md;
	*session = psk_session(ssl, t->key);
	*id = (const unsigned char *)t->name;
	*id_len = strlen(t->name);
	return *session ? 1 : 0;
}

static const struct key *named(const struct keyring *ring, const unsigned char *id, size_t len)
{
	char name[WIRE_KEY_NAME_MAX + 1] = "";

	if (!len || len > WIRE_KEY_NAME_MAX || memchr(id, '\0', len))
		return NULL;
	if (len != strlen(UNNAMED) || memcmp(id, UNNAMED, len))
		memcpy(name, id, len);
	return keyring_find(ring, name);
}

/* The handshake of a client that names an unknown key fails as that of one with a wrong key. */
static int find_psk(SSL *ssl, const unsigned char *id, size_t len, SSL_SESSION **session)
{
	struct tls *t = SSL_get_app_data(ssl);

	t->key = named(t->ring, id, len);
	*session = psk_session(ssl, t->key ? t->key : t->ring->decoy);
	return *session ? 1 : 0;
}

/* ---- contexts -------------------------------------------------------------- */

/* Only the PSK authenticates: a certificate does not prove that its holder has the key. */
static int refuse_certificate(X509_STORE_CTX *store, void *arg)
{
	(void)store;
	(void)arg;
	return 0;
}

static bool configure(SSL_CTX *ctx)
{
	/* A host's openssl.cnf may say otherwise. */
	SSL_CTX_clear_options(ctx, SSL_OP_ALLOW_NO_DHE_KEX | SSL_OP_ENABLE_MIDDLEBOX_COMPAT);
	SSL_CTX_set_options(ctx, SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
				 SSL_OP_NO_RENEGOTIATION);
	/* Idle clients would otherwise keep two buffers of a record's size each. */
	SSL_CTX_set_mode(ctx, SSL_MODE_RELEASE_BUFFERS);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_quiet_shutdown(ctx, 1);
	return SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) &&
	       SSL_CTX_set_max_proto_version(ctx, TLS1_3_VERSION) &&
	       SSL_CTX_set_ciphersuites(ctx, SUITES) &&
	       SSL_CTX_set1_groups_list(ctx, GROUPS) &&
	       SSL_CTX_set_num_tickets(ctx, 0) &&
	       SSL_CTX_set_max_early_data(ctx, 0) &&
	       SSL_CTX_set_recv_max_early_data(ctx, 0);
}

static SSL_CTX *new_ctx(const SSL_METHOD *method)
{
	SSL_CTX *ctx = SSL_CTX_new(method);

	if (ctx && configure(ctx))
		return ctx;
	SSL_CTX_free(ctx);
	return NULL;
}

static void make_contexts(void)
{
	client_ctx = new_ctx(TLS_client_method());
	server_ctx = new_ctx(TLS_server_method());
	if (client_ctx) {
		SSL_CTX_set_verify(client_ctx, SSL_VERIFY_PEER, NULL);
		SSL_CTX_set_cert_verify_callback(client_ctx, refuse_certificate, NULL);
		SSL_CTX_set_psk_use_session_callback(client_ctx, use_psk);
	}
	if (server_ctx)
		SSL_CTX_set_psk_find_session_callback(server_ctx, find_psk);
	ERR_clear_error();
}

/* ---- ends ------------------------------------------------------------------ */

static bool add_bios(struct tls *t)
{
	t->in = BIO_new(BIO_s_mem());
	t->out = BIO_new(BIO_s_mem());
	if (!t->in || !t->out) {
		BIO_free(t->in);
		BIO_free(t->out);
		return false;
	}
	SSL_set_bio(t->ssl, t->in, t->out);
	return true;
}

static struct tls *new_tls(SSL_CTX *const *ctx)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct tls *t = calloc(1, sizeof(*t));

	pthread_once(&once, make_contexts);
	if (!t)
		return NULL;
	t->rekey = TLS_REKEY_RECORDS;
	t->ssl = *ctx ? SSL_new(*ctx) : NULL;
	if (t->ssl && SSL_set_app_data(t->ssl, t) && add_bios(t))
		return t;
	ERR_clear_error();
	tls_free(t);
	return NULL;
}

int tls_client(struct tls **tls, const struct key *key)
{
	struct tls *t = new_tls(&client_ctx);

	if (!t)
		return -ENOMEM;
	t->key = key;
	strcpy(t->name, *key->name ? key->name : UNNAMED);
	SSL_set_connect_state(t->ssl);
	*tls = t;
	return 0;
}

int tls_server(struct tls **tls, const struct keyring *ring)
{
	struct tls *t = new_tls(&server_ctx);

	if (!t)
		return -ENOMEM;
	t->ring = ring;
	SSL_set_accept_state(t->ssl);
	*tls = t;
	return 0;
}

/* OpenSSL cleanses its secrets. */
void tls_free(struct tls *t)
{
	if (!t)
		return;
	SSL_free(t->ssl);
	free(t);
}

/* ---- handshake ------------------------------------------------------------- */

/* Otherwise a part of a record would wait for the next SEND. */
static bool whole_records(const uint8_t *p, size_t len, uint8_t least)
{
	size_t n;

	if (!len)
		return false;
	for (; len; p += n, len -= n) {
		if (len < RECORD_HEAD || *p < least || *p > RECORD_DATA)
			return false;
		n = RECORD_HEAD + get_be(p + 3, 2);
		if (n > len)
			return false;
	}
	return true;
}

static int feed(struct tls *t, const void *bytes, size_t len)
{
	size_t n;

	if (BIO_write_ex(t->in, bytes, len, &n) && n == len)
		return 0;
	ERR_clear_error();
	return -ENOMEM;
}

int tls_feed(struct tls *t, const void *bytes, size_t len)
{
	return whole_records(bytes, len, RECORD_ALERT) ? feed(t, bytes, len) : -EBADMSG;
}

/* Cause of a failed handshake: the first error that OpenSSL tells of. */
static int cause(const struct tls *t)
{
	unsigned long e = ERR_peek_error();
	int reason = ERR_GET_REASON(e);

	if (reason == ERR_R_MALLOC_FAILURE)
		return -ENOMEM;
	if (ERR_GET_LIB(e) == ERR_LIB_SSL && reason == SSL_R_BINDER_DOES_NOT_VERIFY)
		return -EKEYREJECTED;
	if (t->ring)
		return -EPROTO;
	/* The server's alert, or something that is no proof */
	return ERR_GET_LIB(e) == ERR_LIB_SSL && reason >= SSL_AD_REASON_OFFSET ? -EKEYREJECTED :
									       -ENOKEY;
}

/* OpenSSL would also complete a handshake that is authenticated by a certificate. */
static int check_proven(const struct tls *t)
{
	if (SSL_version(t->ssl) == TLS1_3_VERSION && SSL_session_reused(t->ssl) && t->key)
		return 0;
	return t->ring ? -EPROTO : -ENOKEY;
}

int tls_handshake(struct tls *t)
{
	int ret;

	ERR_clear_error();
	ret = SSL_do_handshake(t->ssl);
	if (ret == 1)
		ret = check_proven(t);
	else if (SSL_get_error(t->ssl, ret) == SSL_ERROR_WANT_READ)
		ret = -EAGAIN;
	else
		ret = cause(t);
	ERR_clear_error();
	return ret;
}

int tls_flush(struct tls *t, void *bytes, size_t room)
{
	size_t pending = BIO_ctrl_pending(t->out), n;

	if (!pending)
		return 0;
	if (pending > room)
		return -EMSGSIZE;
	if (BIO_read_ex(t->out, bytes, pending, &n) && n == pending)
		return n;
	ERR_clear_error();
	return -EIO;
}

/* ---- messages -------------------------------------------------------------- */

int tls_read(struct tls *t, void *msg, size_t room)
{
	size_t len = 0, n;
	int ret, why;

	ERR_clear_error();
	do {
		ret = SSL_read_ex(t->ssl, (char *)msg + len, room - len, &n);
		len += ret ? n : 0;
	} while (ret && len < room);
	why = ret ? SSL_ERROR_NONE : SSL_get_error(t->ssl, ret);
	ERR_clear_error();
	/* An alert: the answer to a KeyUpdate would go with the next message. */
	if (BIO_ctrl_pending(t->out))
		return -EBADMSG;
	/* A full buffer may be all there is. */
	if (why != SSL_ERROR_WANT_READ && (why != SSL_ERROR_NONE || SSL_has_pending(t->ssl)))
		return -EBADMSG;
	return BIO_ctrl_pending(t->in) ? -EBADMSG : (int)len;
}

static int add_key_update(struct tls *t)
{
	if (t->records < t->rekey)
		return 0;
	t->records = 0;
	return SSL_key_update(t->ssl, SSL_KEY_UPDATE_NOT_REQUESTED) ? 0 : -EIO;
}

int tls_seal(struct tls *t, const void *msg, size_t len, void *bytes, size_t room)
{
	size_t n;
	int ret;

	ERR_clear_error();
	ret = add_key_update(t);
	if (!ret && (!SSL_write_ex(t->ssl, msg, len, &n) || n != len))
		ret = -EIO;
	ERR_clear_error();
	if (ret)
		return ret;
	t->records += (len + WIRE_RECORD_MAX - 1) / WIRE_RECORD_MAX;
	return tls_flush(t, bytes, room);
}

int tls_open(struct tls *t, const void *bytes, size_t len, void *msg, size_t room)
{
	int ret;

	if (!whole_records(bytes, len, RECORD_DATA))
		return -EBADMSG;
	ret = feed(t, bytes, len);
	return ret ? ret : tls_read(t, msg, room);
}

int tls_export(struct tls *t, const char *label, const void *context, size_t context_len,
	       void *secret, size_t len)
{
	int ret = SSL_export_keying_material(t->ssl, secret, len, label, strlen(label), context,
					     context_len, 1);

	ERR_clear_error();
	return ret == 1 ? 0 : -EIO;
}
