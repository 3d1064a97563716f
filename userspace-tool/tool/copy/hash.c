// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/core_names.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "cli/signals.h"
#include "cli/util.h"
#include "copy/hash.h"
#include "copy/store.h"
#include "lib/byteorder.h"
#include "peer/wire.h"

#define SIP_KEY_LEN (WIRE_MAC_KEY_LEN / 2)

/*
 * hash_add() may read a mapping of a file that another process truncates: SIGBUS must
 * fail this file, not the process.
 */
static __thread sigjmp_buf escape;
static __thread sig_atomic_t guarded;
static pthread_once_t guard_once = PTHREAD_ONCE_INIT;

static void on_sigbus(int sig)
{
	if (__atomic_load_n(&guarded, __ATOMIC_RELAXED))
		siglongjmp(escape, 1);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void set_guarded(int on)
{
	__atomic_store_n(&guarded, on, __ATOMIC_RELAXED);
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static void guard_install(void)
{
	signals_handle(SIGBUS, on_sigbus);
}

static void add_digest(XXH64_state_t *state, uint64_t digest)
{
	XXH64_canonical_t be;

	XXH64_canonicalFromHash(&be, digest);
	XXH64_update(state, &be, sizeof(be));
}

/* The first key is for blocks, the second for all else. */
static int sip(const uint8_t *key, unsigned int which, const void *data, size_t len,
	       uint64_t *value)
{
	size_t size = 8, n;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
		OSSL_PARAM_construct_end(),
	};
	uint8_t out[8];

	if (!EVP_Q_mac(NULL, "SIPHASH", NULL, NULL, params, key + which * SIP_KEY_LEN, SIP_KEY_LEN,
		       data, len, out, sizeof(out), &n) || n != sizeof(out))
		return -EIO;
	*value = get_be(out, 8);
	return 0;
}

static int sip_numbers(const uint8_t *key, uint64_t a, uint64_t b, const char what[4],
		       uint64_t *value)
{
	uint8_t bytes[20];

	put_be(bytes, a, 8);
	put_be(bytes + 8, b, 8);
	memcpy(bytes + 16, what, 4);
	return sip(key, 1, bytes, sizeof(bytes), value);
}

void hash_init(struct hash *hash)
{
	memset(hash, 0, sizeof(*hash));
	XXH64_reset(&hash->state, 0);
}

#define MESSAGE_LEN 84

int hash_message(const uint8_t *key, const struct wire_msg *msg, uint64_t *value)
{
	uint8_t bytes[MESSAGE_LEN + WIRE_TAIL_MAX];

	*value = 0;
	if (!key)
		return 0;
	if (msg->tail_len + msg->extra_len > WIRE_TAIL_MAX)
		return -ENAMETOOLONG;
	put_be(bytes, msg->size, 8);
	put_be(bytes + 8, msg->mtime, 8);
	put_be(bytes + 16, msg->atime, 8);
	put_be(bytes + 24, msg->mtime_ns, 4);
	put_be(bytes + 28, msg->atime_ns, 4);
	/* Without the method, which is for display */
	put_be(bytes + 32, msg->mode & 0xffff, 4);
	put_be(bytes + 36, msg->type, 2);
	put_be(bytes + 38, msg->id, 4);
	put_be(bytes + 42, msg->flags, 4);
	put_be(bytes + 46, msg->offset, 8);
	put_be(bytes + 54, msg->uid, 4);
	put_be(bytes + 58, msg->gid, 4);
	put_be(bytes + 62, msg->acl, 8);
	put_be(bytes + 70, msg->xattr, 8);
	put_be(bytes + 78, msg->tail_len, 4);
	put_be(bytes + 82, msg->type == WIRE_NOTE ? msg->status : 0, 2);
	if (msg->tail_len)
		memcpy(bytes + MESSAGE_LEN, msg->tail, msg->tail_len);
	if (msg->extra_len)
		memcpy(bytes + MESSAGE_LEN + msg->tail_len, msg->extra, msg->extra_len);
	return sip(key, 1, bytes, MESSAGE_LEN + msg->tail_len + msg->extra_len, value);
}

int hash_bytes(const uint8_t *key, const void *data, size_t len, uint64_t *value)
{
	*value = 0;
	if (!len)
		return 0;
	if (key)
		return sip(key, 0, data, len, value);
	*value = XXH64(data, len, 0);
	return 0;
}

int hash_begin(struct hash *hash, const uint8_t *key, const struct wire_msg *file)
{
	hash_init(hash);
	hash->key = key;
	return hash_message(key, file, &hash->chain);
}

int hash_confirm(const uint8_t *key, uint64_t digest, uint32_t flags, uint64_t *confirm)
{
	*confirm = digest;
	return key ? sip_numbers(key, digest, flags, "DONE", confirm) : 0;
}

static int block_digest(const struct hash *hash, const void *p, size_t len, uint64_t *digest)
{
	if (hash->key)
		return sip(hash->key, 0, p, len, digest);
	*digest = XXH64(p, len, 0);
	return 0;
}

/**
 * struct window - the digest of what is added at once
 * @state: over the digests of its blocks
 * @chain: with a key, in place of @state
 */
struct window {
	XXH64_state_t state;
	uint64_t chain;
};

static void begin_window(struct window *w)
{
	w->chain = 0;
	XXH64_reset(&w->state, 0);
}

static int add_block(struct hash *hash, struct window *w, size_t len, uint64_t digest)
{
	int ret;

	hash->size += len;
	if (!hash->key) {
		add_digest(&hash->state, digest);
		add_digest(&w->state, digest);
		return 0;
	}
	ret = sip_numbers(hash->key, hash->chain, digest, "BLCK", &hash->chain);
	return ret ? ret : sip_numbers(hash->key, w->chain, digest, "DATA", &w->chain);
}

static uint64_t end_window(const struct hash *hash, const struct window *w)
{
	return hash->key ? w->chain : XXH64_digest(&w->state);
}

static int hash_blocks(struct hash *hash, const char *p, size_t len, uint64_t *piece)
{
	struct window w;
	uint64_t digest;
	int ret = 0;
	size_t n;

	begin_window(&w);
	for (; len && !ret; len -= n, p += n) {
		n = len < WIRE_BLOCK ? len : WIRE_BLOCK;
		ret = block_digest(hash, p, n, &digest);
		if (!ret)
			ret = add_block(hash, &w, n, digest);
	}
	*piece = end_window(hash, &w);
	return ret;
}

int hash_add_zeros(struct hash *hash, uint64_t len, uint64_t *piece)
{
	static const char zeros[WIRE_BLOCK];
	struct window w;
	uint64_t digest;
	int ret = 0;
	size_t n;

	begin_window(&w);
	for (; len && !ret; len -= n) {
		n = len < WIRE_BLOCK ? len : WIRE_BLOCK;
		digest = hash->zeros;
		if (n < WIRE_BLOCK || !hash->knows_zeros)
			ret = block_digest(hash, zeros, n, &digest);
		if (n == WIRE_BLOCK) {
			hash->zeros = digest;
			hash->knows_zeros = !ret;
		}
		if (!ret)
			ret = add_block(hash, &w, n, digest);
	}
	*piece = end_window(hash, &w);
	return ret;
}

/*
 * Add what follows in the file; only its end may be no multiple of a block.
 * @piece is the digest of @data alone. -ESTALE: the file shrank under it.
 */
int hash_add(struct hash *hash, const void *data, size_t len, uint64_t *piece)
{
	int ret;

	pthread_once(&guard_once, guard_install);
	if (sigsetjmp(escape, 1)) {
		set_guarded(0);
		return -ESTALE;
	}
	set_guarded(1);
	ret = hash_blocks(hash, data, len, piece);
	set_guarded(0);
	return ret;
}

/* The digest of all so far, with its length. */
int hash_value(const struct hash *hash, uint64_t *value)
{
	XXH64_state_t state = hash->state;

	if (hash->key)
		return sip_numbers(hash->key, hash->chain, hash->size, "END ", value);
	add_digest(&state, hash->size);
	*value = XXH64_digest(&state);
	return 0;
}

static int add_prefix(struct hash *hash, int fd, uint64_t len, EVP_MD_CTX *sha,
		      int (*beat)(void *arg), void *arg)
{
	/* Where direct I/O may put it, if that is how the file is open. */
	char *buf = aligned_alloc(STORE_DIRECT_ALIGN, WIRE_BLOCK);
	uint64_t at, piece;
	size_t n;
	int ret = 0;

	if (!buf)
		return -ENOMEM;
	for (at = 0; at < len && !ret; at += n) {
		n = min(len - at, (uint64_t)WIRE_BLOCK);
		ret = store_read(fd, buf, n, n, at);
		if (!ret)
			ret = hash_add(hash, buf, n, &piece);
		if (!ret && !EVP_DigestUpdate(sha, buf, n))
			ret = -EIO;
		if (!ret && beat)
			ret = beat(arg);
	}
	free(buf);
	return ret;
}

/*
 * Add the first @len bytes of a file, and get their SHA-256, which may take long: @beat is
 * called after each block. -ESTALE: it is shorter.
 */
int hash_prefix(struct hash *hash, int fd, uint64_t len, uint8_t sha[WIRE_SHA_LEN],
		int (*beat)(void *arg), void *arg)
{
	EVP_MD_CTX *ctx = EVP_MD_CTX_new();
	int ret;

	if (!ctx)
		return -ENOMEM;
	ret = EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) ? 0 : -EIO;
	if (!ret)
		ret = add_prefix(hash, fd, len, ctx, beat, arg);
	if (!ret && !EVP_DigestFinal_ex(ctx, sha, NULL))
		ret = -EIO;
	EVP_MD_CTX_free(ctx);
	return ret;
}

int hash_whole(int fd, uint8_t sha[WIRE_SHA_LEN], int (*beat)(void *arg), void *arg)
{
	struct hash unused;
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	hash_init(&unused);
	return hash_prefix(&unused, fd, st.st_size, sha, beat, arg);
}
