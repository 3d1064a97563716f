// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <openssl/evp.h>

#include "cli/signals.h"
#include "cli/util.h"
#include "copy/hash.h"
#include "copy/store.h"
#include "peer/wire.h"

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

void hash_init(struct hash *hash)
{
	XXH64_reset(&hash->state, 0);
	hash->size = 0;
}

static void hash_blocks(struct hash *hash, XXH64_state_t *window, const char *p,
			size_t len)
{
	size_t n;

	for (; len; len -= n, p += n) {
		uint64_t digest;

		n = len < WIRE_BLOCK ? len : WIRE_BLOCK;
		digest = XXH64(p, n, 0);
		add_digest(&hash->state, digest);
		add_digest(window, digest);
		hash->size += n;
	}
}

/*
 * Add what follows in the file; only its end may be no multiple of a block.
 * @piece is the digest of @data alone. -ESTALE: the file shrank under it.
 */
int hash_add(struct hash *hash, const void *data, size_t len, uint64_t *piece)
{
	XXH64_state_t window;

	pthread_once(&guard_once, guard_install);
	XXH64_reset(&window, 0);
	if (sigsetjmp(escape, 1)) {
		set_guarded(0);
		return -ESTALE;
	}
	set_guarded(1);
	hash_blocks(hash, &window, data, len);
	set_guarded(0);
	*piece = XXH64_digest(&window);
	return 0;
}

/* The digest of all so far, with its length. */
uint64_t hash_value(const struct hash *hash)
{
	XXH64_state_t state = hash->state;

	add_digest(&state, hash->size);
	return XXH64_digest(&state);
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
