// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "cli/util.h"
#include "copy/hash.h"
#include "msgs.h"

#define HASHED_MAX	(8u << 20)
#define SIZE_MAX_TRIED	(64u << 20)

/* Flags of the generator, besides those of the protocol */
#define F_WRONG_DIGEST	(1u << 6)
#define F_ANY_TAIL	(1u << 7)

/* A sink sends some of them, a source others. */
static const uint16_t types[] = {
	WIRE_PUT, WIRE_GET, WIRE_SINK, WIRE_GRANT, WIRE_READY, WIRE_CREDIT, WIRE_DONE,
	WIRE_ALIVE, WIRE_ECHO, WIRE_TOTAL, WIRE_DIR, WIRE_DIR_END, WIRE_FILE, WIRE_START,
	WIRE_DATA, WIRE_END, WIRE_ABORT, WIRE_NOTE, WIRE_FINISH, WIRE_FILTER, WIRE_ATTR,
	WIRE_ASK, WIRE_WANT, WIRE_LINK, WIRE_HARD, WIRE_NODE, WIRE_PRUNE, WIRE_LIST, WIRE_REMOVE,
	WIRE_COPY, WIRE_LANE,
};

/* Names in jail.c's directory, and names that lead out of it. */
static const char * const names[] = {
	"f", "d", "d/g", "new", "d/new", "f/new", ".", "/f", "d//g/", "fifo", "..", "../f",
	"d/../../f", "../secret", "out", "out/secret", "out/new", "abs", "abs/new",
	"abs/b/secret", ".f.kverbs-part", "f/.", "d/.", "d/..",
};

/* Return a size near the protocol's units, but never one that would fill a disk. */
static uint64_t take_size(struct fuzz_input *in)
{
	unsigned int how = fuzz_take(in, 1), n = how & 31;
	uint64_t v;

	switch (how >> 5) {
	case 0:
		return n;
	case 1:
		return n << 12;
	case 2:
		return (64 << 10) + n - 16;
	case 3:
		return (uint64_t)n << 20;
	case 4:
		return WIRE_BLOCK + n - 16;
	case 5:
		return (3 << 20) + n - 16;
	case 6:
		return fuzz_take(in, 2);
	default:
		v = fuzz_take(in, 8);
		return v < 1ull << 50 ? v % SIZE_MAX_TRIED : v;
	}
}

/* Windows are never written, so data is always zeros. */
static uint64_t digest(uint16_t type, uint64_t len)
{
	static const uint8_t zeros[HASHED_MAX];
	struct hash hash;
	uint64_t piece, value = 0;

	hash_init(&hash);
	if (len && (len > sizeof(zeros) || hash_add(&hash, zeros, len, &piece)))
		return 0;
	if (type == WIRE_DATA && len)
		return piece;
	return hash_value(&hash, &value) ? 0 : value;
}

static bool has_path(uint16_t type)
{
	switch (type) {
	case WIRE_PUT:
	case WIRE_GET:
	case WIRE_DIR:
	case WIRE_DIR_END:
	case WIRE_FILE:
	case WIRE_NOTE:
	case WIRE_ASK:
	case WIRE_LINK:
	case WIRE_HARD:
	case WIRE_NODE:
	case WIRE_PRUNE:
	case WIRE_LIST:
	case WIRE_REMOVE:
		return true;
	default:
		return false;
	}
}

/* Options of a copy, and modes with types, have more bits than others need. */
static void take_more(struct fuzz_input *in, struct wire_msg *msg)
{
	if (msg->type == WIRE_PUT || msg->type == WIRE_GET)
		msg->flags |= fuzz_take(in, 3) << 8;
	if (msg->type == WIRE_FILTER || msg->type == WIRE_PRUNE || msg->type == WIRE_LIST ||
	    msg->type == WIRE_REMOVE)
		msg->flags |= fuzz_take(in, 1) << 8;
}

static void take_any_tail(struct fuzz_input *in, struct wire_msg *msg)
{
	msg->tail_len = fuzz_bytes(in, fuzz_take(in, 1), &msg->tail);
}

static void take_path(struct fuzz_input *in, struct wire_msg *msg)
{
	unsigned int n = fuzz_take(in, 1);

	if (n >= ARRAY_SIZE(names)) {
		msg->tail_len = fuzz_bytes(in, n - ARRAY_SIZE(names), &msg->tail);
		return;
	}
	msg->tail = names[n];
	msg->tail_len = strlen(names[n]);
}

static void take_extra(struct fuzz_input *in, struct wire_msg *msg)
{
	static const uint8_t sha[WIRE_SHA_LEN];
	struct wire_msg name = { .tail = NULL };

	if (msg->type == WIRE_ASK && msg->flags & 1) {
		msg->extra = sha;
		msg->extra_len = sizeof(sha);
	}
	if (msg->type == WIRE_LINK || msg->type == WIRE_HARD ||
	    (msg->type == WIRE_GET && msg->flags & 1)) {
		take_path(in, &name);
		msg->extra = name.tail;
		msg->extra_len = name.tail_len;
	}
}

/* Patterns, each with its end */
static void take_patterns(struct fuzz_input *in, struct wire_msg *msg)
{
	static const char * const patterns[] = {
		"f\0*.o", "/d/", "**/g\0[a-f", "d/***\0?",
	};
	static const size_t lens[] = { 6, 4, 10, 8 };
	unsigned int i = fuzz_take(in, 1) % 4;

	msg->tail = patterns[i];
	msg->tail_len = lens[i];
}

/* An attribute, and the digest that the next entry has to have */
static void take_attr(struct fuzz_input *in, struct wire_msg *msg)
{
	static const uint8_t attr[] = "\0\6\0\0\0\1user.ax";

	if (fuzz_take(in, 1) & 1) {
		take_any_tail(in, msg);
		return;
	}
	msg->offset = 0;
	msg->size = sizeof(attr) - 1;
	msg->tail = attr;
	msg->tail_len = sizeof(attr) - 1;
}

static void add_token(struct link *l, struct wire_msg *msg)
{
	static uint8_t packed[WIRE_TAIL_MAX];
	const struct kverbs_token *token = link_token(l, msg->window % LINK_WINDOWS);

	msg->tail_len = kverbs_token_pack(token, packed, sizeof(packed));
	msg->tail = packed;
}

static void take_head(struct fuzz_input *in, struct wire_msg *msg)
{
	unsigned int window;

	msg->flags = fuzz_take(in, 1);
	msg->id = fuzz_take(in, 1);
	window = fuzz_take(in, 1);
	msg->window = window == 255 ? WIRE_NO_WINDOW : window;
	msg->offset = take_size(in);
	msg->size = take_size(in);
	msg->status = fuzz_take(in, 1) & 31;
	msg->mode = fuzz_take(in, 2);
	msg->mtime = (int8_t)msg->mode;
	msg->digest = digest(msg->type, msg->type == WIRE_READY ? msg->offset : msg->size);
	if (msg->flags & F_WRONG_DIGEST)
		msg->digest++;
}

static void send_one(struct link *l, struct fuzz_input *in, uint16_t type)
{
	struct wire_msg msg = { .type = type };
	static uint8_t buf[WIRE_MSG_MAX];
	int len;

	take_head(in, &msg);
	if (msg.flags & F_ANY_TAIL)
		take_any_tail(in, &msg);
	else if (has_path(type))
		take_path(in, &msg);
	else if (type == WIRE_GRANT)
		add_token(l, &msg);
	else if (type == WIRE_FILTER)
		take_patterns(in, &msg);
	else if (type == WIRE_ATTR)
		take_attr(in, &msg);
	take_more(in, &msg);
	take_extra(in, &msg);
	len = wire_encode(&msg, buf, sizeof(buf));
	link_send(l, buf, len);
}

void msgs_send(struct link *l, struct fuzz_input *in)
{
	const void *bytes;
	unsigned int n;
	size_t len;

	while (in->left && l->sent < LINK_MSGS_MAX) {
		n = fuzz_take(in, 1);
		if (n < 0xf0) {
			send_one(l, in, types[n % ARRAY_SIZE(types)]);
			continue;
		}
		len = fuzz_bytes(in, fuzz_take(in, 1), &bytes);
		link_send(l, bytes, len);
	}
}
