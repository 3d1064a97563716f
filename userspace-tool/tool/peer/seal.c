// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/params.h>

#include "lib/byteorder.h"
#include "peer/seal.h"

#define NR_LEN	(WIRE_SEAL_LEN - WIRE_TAG_LEN)

static int make_tag(const struct seal *seal, const void *msg, size_t len,
		    uint8_t tag[WIRE_TAG_LEN])
{
	size_t size = WIRE_TAG_LEN, n;
	OSSL_PARAM params[] = {
		OSSL_PARAM_construct_size_t(OSSL_MAC_PARAM_SIZE, &size),
		OSSL_PARAM_construct_end(),
	};

	if (!EVP_Q_mac(NULL, "SIPHASH", NULL, NULL, params, seal->key, WIRE_SEAL_KEY_LEN, msg,
		       len, tag, WIRE_TAG_LEN, &n) || n != WIRE_TAG_LEN)
		return -EIO;
	return 0;
}

int seal_add(struct seal *seal, void *msg, size_t len)
{
	uint8_t *end = (uint8_t *)msg + len;
	int ret;

	put_be(end, seal->nr, NR_LEN);
	ret = make_tag(seal, msg, len + NR_LEN, end + NR_LEN);
	if (!ret)
		seal->nr++;
	return ret;
}

int seal_check(struct seal *seal, const void *msg, size_t len)
{
	uint8_t tag[WIRE_TAG_LEN];
	const uint8_t *end;
	int ret;

	if (len < WIRE_SEAL_LEN)
		return -EBADMSG;
	end = (const uint8_t *)msg + len - WIRE_SEAL_LEN;
	ret = make_tag(seal, msg, len - WIRE_TAG_LEN, tag);
	if (ret)
		return ret;
	if (CRYPTO_memcmp(tag, end + NR_LEN, sizeof(tag)) || get_be(end, NR_LEN) != seal->nr)
		return -EBADMSG;
	seal->nr++;
	return 0;
}
