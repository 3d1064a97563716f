// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "cli/util.h"
#include "lib/byteorder.h"
#include "peer/wire.h"

int wire_hello_encode(const struct wire_hello *hello, void *buf, size_t room)
{
	uint8_t *p = buf;

	if (room < WIRE_HELLO_LEN)
		return -EMSGSIZE;
	put_be(p, WIRE_MAGIC, 4);
	put_be(p + 4, hello->version, 2);
	put_be(p + 6, hello->what, 2);
	put_be(p + 8, hello->msg_max, 4);
	put_be(p + 12, hello->depth, 4);
	put_be(p + 16, hello->flags, 4);
	put_be(p + 20, 0, 4);
	return WIRE_HELLO_LEN;
}

/* The CM may pad private data, so more than a hello is fine, and not looked at. */
int wire_hello_decode(struct wire_hello *hello, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	memset(hello, 0, sizeof(*hello));
	if (len < WIRE_HELLO_LEN || get_be(p, 4) != WIRE_MAGIC)
		return -EBADMSG;
	hello->version = get_be(p + 4, 2);
	hello->what = get_be(p + 6, 2);
	hello->msg_max = get_be(p + 8, 4);
	hello->depth = get_be(p + 12, 4);
	hello->flags = get_be(p + 16, 4);
	return 0;
}

/* Whether an acceptor can do what a connector's hello asks for: 0 or a refusal. */
int wire_hello_check(const struct wire_hello *hello)
{
	if (hello->version != WIRE_VERSION)
		return WIRE_REFUSED_VERSION;
	if (hello->what < WIRE_SERVICE_ECHO || hello->what > WIRE_SERVICE_BENCH)
		return WIRE_REFUSED_SERVICE;
	if (!hello->depth || hello->depth > WIRE_DEPTH_MAX)
		return WIRE_REFUSED_PARAM;
	if (hello->msg_max < WIRE_HEAD_LEN ||
	    hello->msg_max > WIRE_HEAD_LEN + WIRE_ECHO_MAX)
		return WIRE_REFUSED_PARAM;
	if (hello->flags & WIRE_F_KEY && hello->msg_max < WIRE_HEAD_LEN + WIRE_BIND_LEN)
		return WIRE_REFUSED_PARAM;
	if ((uint64_t)hello->msg_max * hello->depth > WIRE_SLOTS_MAX)
		return WIRE_REFUSED_PARAM;
	if (hello->what == WIRE_SERVICE_FILES &&
	    (hello->msg_max != WIRE_MSG_MAX || hello->depth != WIRE_FILES_DEPTH))
		return WIRE_REFUSED_PARAM;
	if (hello->what == WIRE_SERVICE_BENCH &&
	    (hello->msg_max != WIRE_MSG_MAX || hello->depth != WIRE_BENCH_DEPTH))
		return WIRE_REFUSED_PARAM;
	return 0;
}

size_t wire_room(const struct wire_hello *hello)
{
	size_t msg_max = hello->msg_max, records;

	if (!(hello->flags & WIRE_F_KEY))
		return msg_max;
	records = (msg_max + WIRE_RECORD_MAX - 1) / WIRE_RECORD_MAX;
	return max(msg_max + records * WIRE_RECORD_LEN + WIRE_KEY_UPDATE_LEN,
		   (size_t)WIRE_HANDSHAKE_MAX);
}

int wire_encode(const struct wire_msg *msg, void *buf, size_t room)
{
	size_t len = WIRE_HEAD_LEN + msg->tail_len + msg->extra_len;
	uint8_t *p = buf;

	if (len > room)
		return -EMSGSIZE;
	put_be(p, msg->type, 2);
	put_be(p + 2, msg->status, 2);
	put_be(p + 4, len, 4);
	put_be(p + 8, msg->id, 4);
	put_be(p + 12, msg->window, 4);
	put_be(p + 16, msg->offset, 8);
	put_be(p + 24, msg->size, 8);
	put_be(p + 32, msg->digest, 8);
	put_be(p + 40, msg->flags, 4);
	put_be(p + 44, msg->mode, 4);
	put_be(p + 48, msg->mtime, 8);
	put_be(p + 56, msg->atime, 8);
	put_be(p + 64, msg->mtime_ns, 4);
	put_be(p + 68, msg->atime_ns, 4);
	put_be(p + 72, msg->uid, 4);
	put_be(p + 76, msg->gid, 4);
	put_be(p + 80, msg->acl, 8);
	put_be(p + 88, msg->xattr, 8);
	put_be(p + 96, msg->extra_len, 4);
	put_be(p + 100, 0, 4);
	if (msg->tail_len)
		memcpy(p + WIRE_HEAD_LEN, msg->tail, msg->tail_len);
	if (msg->extra_len)
		memcpy(p + WIRE_HEAD_LEN + msg->tail_len, msg->extra, msg->extra_len);
	return len;
}

static bool is_path(const void *p, size_t len)
{
	return len <= WIRE_PATH_MAX && !(len && memchr(p, '\0', len));
}

static bool tail_fits(const struct wire_msg *msg)
{
	switch (msg->type) {
	case WIRE_ECHO:
		return true;
	case WIRE_BIND:
		return msg->tail_len == (msg->status ? 0 : WIRE_BIND_LEN);
	case WIRE_PUT:
	case WIRE_GET:
	case WIRE_LIST:
		return is_path(msg->tail, msg->tail_len);
	case WIRE_DIR:
	case WIRE_DIR_END:
	case WIRE_FILE:
	case WIRE_NOTE:
	case WIRE_ASK:
	case WIRE_LINK:
	case WIRE_HARD:
	case WIRE_NODE:
	case WIRE_PRUNE:
	case WIRE_REMOVE:
		return msg->tail_len && is_path(msg->tail, msg->tail_len);
	case WIRE_READY:
		return msg->tail_len == (msg->offset ? WIRE_SHA_LEN : 0);
	case WIRE_BENCH_TOKEN:
	case WIRE_DONE:
		return msg->tail_len <= WIRE_TAIL_MAX;
	case WIRE_GRANT:
	case WIRE_FILTER:
	case WIRE_ATTR:
	case WIRE_BENCH_SETUP:
	case WIRE_BENCH_RESULT:
		return msg->tail_len && msg->tail_len <= WIRE_TAIL_MAX;
	default:
		return !msg->tail_len;
	}
}

static bool extra_fits(const struct wire_msg *msg)
{
	if (msg->tail_len + msg->extra_len > WIRE_TAIL_MAX)
		return msg->type == WIRE_ECHO && !msg->extra_len;
	switch (msg->type) {
	case WIRE_ASK:
		return !msg->extra_len || msg->extra_len == WIRE_SHA_LEN;
	case WIRE_LINK:
	case WIRE_HARD:
		return msg->extra_len && is_path(msg->extra, msg->extra_len);
	case WIRE_GET:
		return is_path(msg->extra, msg->extra_len);
	default:
		return !msg->extra_len;
	}
}

static bool values_fit(const struct wire_msg *msg)
{
	return msg->offset <= INT64_MAX && msg->size <= INT64_MAX &&
	       msg->mtime_ns < 1000000000 && msg->atime_ns < 1000000000;
}

int wire_length(const void *buf, size_t len)
{
	const uint8_t *p = buf;
	size_t own;

	if (len < WIRE_HEAD_LEN)
		return -EBADMSG;
	own = get_be(p + 4, 4);
	return own < WIRE_HEAD_LEN || own > len ? -EBADMSG : (int)own;
}

int wire_decode(struct wire_msg *msg, const void *buf, size_t len)
{
	const uint8_t *p = buf;

	memset(msg, 0, sizeof(*msg));
	if (len < WIRE_HEAD_LEN || get_be(p + 4, 4) != len)
		return -EBADMSG;
	msg->type = get_be(p, 2);
	msg->status = get_be(p + 2, 2);
	msg->id = get_be(p + 8, 4);
	msg->window = get_be(p + 12, 4);
	msg->offset = get_be(p + 16, 8);
	msg->size = get_be(p + 24, 8);
	msg->digest = get_be(p + 32, 8);
	msg->flags = get_be(p + 40, 4);
	msg->mode = get_be(p + 44, 4);
	msg->mtime = get_be(p + 48, 8);
	msg->atime = get_be(p + 56, 8);
	msg->mtime_ns = get_be(p + 64, 4);
	msg->atime_ns = get_be(p + 68, 4);
	msg->uid = get_be(p + 72, 4);
	msg->gid = get_be(p + 76, 4);
	msg->acl = get_be(p + 80, 8);
	msg->xattr = get_be(p + 88, 8);
	msg->extra_len = get_be(p + 96, 4);
	if (msg->extra_len > len - WIRE_HEAD_LEN || get_be(p + 100, 4))
		return -EBADMSG;
	msg->tail = p + WIRE_HEAD_LEN;
	msg->tail_len = len - WIRE_HEAD_LEN - msg->extra_len;
	msg->extra = p + len - msg->extra_len;
	if (!wire_type_name(msg->type) || !tail_fits(msg) || !extra_fits(msg) ||
	    !values_fit(msg))
		return -EBADMSG;
	return 0;
}

/* errno differs between architectures, so the wire has numbers of its own. */
static const int statuses[] = {
	0, EIO, EPERM, ENOENT, EACCES, EEXIST, ENOTDIR, EISDIR, EINVAL, ENOSPC,
	EDQUOT, EROFS, ENAMETOOLONG, ELOOP, ENOMEM, EFBIG, EBADMSG, ESTALE,
	EPROTO, ETIMEDOUT, EOPNOTSUPP, ECANCELED, EMFILE, EBUSY, ENOTEMPTY,
	ETXTBSY, ENFILE, EOVERFLOW, EREMCHG,
};

uint16_t wire_status(int err)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(statuses); i++)
		if (statuses[i] == -err)
			return i;
	return 1;
}

int wire_errno(uint16_t status)
{
	return status < ARRAY_SIZE(statuses) ? -statuses[status] : -EIO;
}

const char *wire_type_name(unsigned int type)
{
	static const char * const names[] = {
		[WIRE_ECHO] = "ECHO", [WIRE_BIND] = "BIND",
		[WIRE_PUT] = "PUT", [WIRE_GET] = "GET",
		[WIRE_SINK] = "SINK", [WIRE_GRANT] = "GRANT",
		[WIRE_TOTAL] = "TOTAL", [WIRE_DIR] = "DIR",
		[WIRE_DIR_END] = "DIR_END", [WIRE_FILE] = "FILE",
		[WIRE_READY] = "READY", [WIRE_START] = "START",
		[WIRE_DATA] = "DATA", [WIRE_CREDIT] = "CREDIT",
		[WIRE_END] = "END", [WIRE_ABORT] = "ABORT",
		[WIRE_DONE] = "DONE", [WIRE_NOTE] = "NOTE",
		[WIRE_FINISH] = "FINISH", [WIRE_ALIVE] = "ALIVE",
		[WIRE_FILTER] = "FILTER", [WIRE_ATTR] = "ATTR",
		[WIRE_ASK] = "ASK", [WIRE_WANT] = "WANT",
		[WIRE_LINK] = "LINK", [WIRE_HARD] = "HARD",
		[WIRE_NODE] = "NODE", [WIRE_PRUNE] = "PRUNE",
		[WIRE_LIST] = "LIST", [WIRE_REMOVE] = "REMOVE",
		[WIRE_COPY] = "COPY", [WIRE_LANE] = "LANE",
		[WIRE_BENCH_SETUP] = "BENCH_SETUP",
		[WIRE_BENCH_OPEN] = "BENCH_OPEN",
		[WIRE_BENCH_TOKEN] = "BENCH_TOKEN",
		[WIRE_BENCH_GO] = "BENCH_GO",
		[WIRE_BENCH_RESULT] = "BENCH_RESULT",
	};

	return type < ARRAY_SIZE(names) ? names[type] : NULL;
}

const char *wire_refusal_name(unsigned int refusal)
{
	static const char * const names[] = {
		[WIRE_REFUSED_VERSION] = "it has another protocol version",
		[WIRE_REFUSED_SERVICE] = "it does not have this service",
		[WIRE_REFUSED_BUSY] = "it is at its limit of clients",
		[WIRE_REFUSED_PARAM] = "it does not accept these parameters",
		[WIRE_REFUSED_ADDRESS] = "this server does not allow this address",
		[WIRE_REFUSED_KEY] = "this server requires a key",
		[WIRE_REFUSED_PEER] = "this address is at its limit of clients",
		[WIRE_REFUSED_MEMORY] = "this address would exceed its limit of memory",
		[WIRE_REFUSED_RATE] = "this address exceeds its limit of new clients",
		[WIRE_REFUSED_ENDING] = "it is shutting down",
	};

	if (refusal < ARRAY_SIZE(names) && names[refusal])
		return names[refusal];
	return "it refused";
}
