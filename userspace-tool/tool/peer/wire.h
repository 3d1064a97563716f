/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages between kverbs processes, encoded. Documentation/reference/protocol.rst describes
 * the protocol. Pure functions; input is untrusted.
 */
#ifndef KVERBS_TOOL_WIRE_H
#define KVERBS_TOOL_WIRE_H

#include <stddef.h>
#include <stdint.h>

#define WIRE_MAGIC		0x4b564252u	/* "KVBR" */
#define WIRE_VERSION		5
#define WIRE_DEFAULT_PORT	"7472"

#define WIRE_HELLO_LEN		24
#define WIRE_HEAD_LEN		104
#define WIRE_TAIL_MAX		4096
#define WIRE_MSG_MAX		(WIRE_HEAD_LEN + WIRE_TAIL_MAX)
#define WIRE_PATH_MAX		4095
#define WIRE_WINDOWS_MAX	64
#define WIRE_BIND_LEN		32
#define WIRE_KEY_NAME_MAX	32
#define WIRE_SHA_LEN		32
/* Of two keys of SipHash */
#define WIRE_MAC_KEY_LEN	32
/* Of TLS, see tls.h: the largest SEND of a handshake, and the number of them from one side */
#define WIRE_HANDSHAKE_MAX	1024
#define WIRE_HANDSHAKE_SENDS	3
/* Plaintext of a record, what a record adds to it, and a KeyUpdate before the first record */
#define WIRE_RECORD_MAX		16384
#define WIRE_RECORD_LEN		22
#define WIRE_KEY_UPDATE_LEN	27
#define WIRE_NO_WINDOW		0xffffffffu

/* Bytes that one digest covers; every file offset on the wire is a multiple of it. */
#define WIRE_BLOCK		(1u << 20)

/* Messages that one side may have unanswered, and the bounds of a hello. */
#define WIRE_FILES_DEPTH	64
#define WIRE_BENCH_DEPTH	4
#define WIRE_DEPTH_MAX		128
#define WIRE_ECHO_MAX		(1u << 20)
#define WIRE_SLOTS_MAX		(16u << 20)

enum wire_service {
	WIRE_SERVICE_ECHO = 1,
	WIRE_SERVICE_FILES = 2,
	WIRE_SERVICE_BENCH = 3,
	WIRE_SERVICE_LANE = 4,	/* of a measurement, on a port of its own */
};

enum wire_refusal {
	WIRE_REFUSED_VERSION = 1,
	WIRE_REFUSED_SERVICE = 2,
	WIRE_REFUSED_BUSY = 3,
	WIRE_REFUSED_PARAM = 4,
	WIRE_REFUSED_ADDRESS = 5,
	WIRE_REFUSED_KEY = 6,
	WIRE_REFUSED_PEER = 7,
	WIRE_REFUSED_MEMORY = 8,
	WIRE_REFUSED_RATE = 9,
	WIRE_REFUSED_ENDING = 10,
};

/*
 * Bits of wire_hello.flags, and of a server's BIND; WIRE_F_KEY and WIRE_F_SEVERAL are of the
 * connector, too
 */
#define WIRE_F_SERVES_FILES	(1u << 0)
#define WIRE_F_READ_ONLY	(1u << 1)
#define WIRE_F_KEY		(1u << 2)	/* I have a key, and prove it */
#define WIRE_F_PRIVILEGED	(1u << 3)	/* owners and privileged attributes are copied */
#define WIRE_F_SEVERAL		(1u << 4)	/* I take several messages in a SEND */

/**
 * struct wire_hello - the private data of connect, accept and reject
 * @version: WIRE_VERSION of the one who speaks
 * @what: enum wire_service, or in a reject enum wire_refusal
 * @msg_max: largest message that the connection carries; of a lane: its key
 * @depth: receives that each side keeps posted; of a lane: its number
 * @flags: WIRE_F_*
 */
struct wire_hello {
	uint16_t version;
	uint16_t what;
	uint32_t msg_max;
	uint32_t depth;
	uint32_t flags;
};

enum wire_type {
	WIRE_ECHO = 1,
	WIRE_BIND = 2,
	WIRE_PUT = 16,
	WIRE_GET = 17,
	WIRE_SINK = 18,
	WIRE_GRANT = 19,
	WIRE_TOTAL = 20,
	WIRE_DIR = 21,
	WIRE_DIR_END = 22,
	WIRE_FILE = 23,
	WIRE_READY = 24,
	WIRE_START = 25,
	WIRE_DATA = 26,
	WIRE_CREDIT = 27,
	WIRE_END = 28,
	WIRE_ABORT = 29,
	WIRE_DONE = 30,
	WIRE_NOTE = 31,
	WIRE_FINISH = 32,
	WIRE_ALIVE = 33,
	WIRE_FILTER = 34,
	WIRE_ATTR = 35,
	WIRE_ASK = 36,
	WIRE_WANT = 37,
	WIRE_LINK = 38,
	WIRE_HARD = 39,
	WIRE_NODE = 40,
	WIRE_PRUNE = 41,
	WIRE_LIST = 42,
	WIRE_REMOVE = 43,
	WIRE_COPY = 44,
	WIRE_LANE = 45,
	WIRE_BENCH_SETUP = 48,
	WIRE_BENCH_OPEN = 49,
	WIRE_BENCH_TOKEN = 50,
	WIRE_BENCH_GO = 51,
	WIRE_BENCH_RESULT = 52,
};

/* Bits of wire_msg.flags in PUT and GET: the options of the copy */
#define WIRE_F_MUST_BE_DIR	(1u << 0)
#define WIRE_F_NO_RESUME	(1u << 1)
#define WIRE_F_SYNC		(1u << 2)
#define WIRE_F_RECURSIVE	(1u << 3)
#define WIRE_F_DRY_RUN		(1u << 6)
#define WIRE_F_UPDATE		(1u << 7)
#define WIRE_F_CHECKSUM		(1u << 8)
#define WIRE_F_IGNORE_TIMES	(1u << 9)
#define WIRE_F_SIZE_ONLY	(1u << 10)
#define WIRE_F_LINKS		(1u << 11)
#define WIRE_F_PERMS		(1u << 12)
#define WIRE_F_TIMES		(1u << 13)
#define WIRE_F_OWNER		(1u << 14)
#define WIRE_F_GROUP		(1u << 15)
#define WIRE_F_DEVICES		(1u << 16)	/* and FIFOs and sockets */
#define WIRE_F_HARD_LINKS	(1u << 17)
#define WIRE_F_XATTRS		(1u << 18)
#define WIRE_F_ACLS		(1u << 19)
#define WIRE_F_SPARSE		(1u << 20)
#define WIRE_F_DELETE		(1u << 21)
#define WIRE_F_MKPATH		(1u << 22)
#define WIRE_F_RELATIVE		(1u << 23)
#define WIRE_F_CONTENTS		(1u << 24)	/* what is in a directory, not the directory */
#define WIRE_F_SUPER		(1u << 25)	/* the client has the rights of root */
#define WIRE_F_EXISTING		(1u << 26)
#define WIRE_F_IGNORE_EXISTING	(1u << 27)
/* The destination is the name of the entry, even if it is a directory by now; also in SINK */
#define WIRE_F_AS_NAMED		(1u << 28)
#define WIRE_F_PACKS		(1u << 29)	/* SINK: a window takes several small files */

/* Bits of wire_msg.flags in other messages */
#define WIRE_F_EAGER		(1u << 4)	/* FILE: the whole of it is there */
#define WIRE_F_MAPPED		(1u << 5)	/* READY: windows come by GRANT */
#define WIRE_F_STREAM		(1u << 6)	/* FILE: END tells the size */
#define WIRE_F_HOLE		(1u << 7)	/* DATA: zeros, of which none are sent */
#define WIRE_F_UNASKED		(1u << 10)	/* FILE: its directory was empty */
#define WIRE_F_GROWING		(1u << 11)	/* TOTAL: more is being counted */
#define WIRE_F_INCLUDE		(1u << 8)	/* FILTER: patterns of what is copied */
#define WIRE_F_CONTINUE		(1u << 9)	/* LIST, REMOVE, PRUNE: the rest of it */

/* Bits of wire_msg.flags in WANT and DONE: how the sink's entry differed from the source's */
#define WIRE_I_NEW		(1u << 0)	/* there was none */
#define WIRE_I_DATA		(1u << 1)	/* checksum, link's target or device */
#define WIRE_I_SIZE		(1u << 2)
#define WIRE_I_TIME		(1u << 3)
#define WIRE_I_PERMS		(1u << 4)
#define WIRE_I_OWNER		(1u << 5)
#define WIRE_I_GROUP		(1u << 6)
#define WIRE_I_ACL		(1u << 7)
#define WIRE_I_XATTR		(1u << 8)
#define WIRE_I_NEWER		(1u << 9)	/* left alone: an option says so */
#define WIRE_I_MORE		(1u << 10)	/* of a LIST, REMOVE or PRUNE */
#define WIRE_I_CHANGES		(WIRE_I_NEWER - 1)

/**
 * struct wire_msg - any message
 * @type: enum wire_type
 * @status: a status, see wire_status()
 * @id: the file or directory it is about
 * @window: a window's number, or WIRE_NO_WINDOW; in SINK how many there are
 * @offset: in the file, bytes
 * @size: bytes
 * @digest: see hash.h
 * @flags: WIRE_F_*
 * @mode: permission bits, in NODE with the type; in END, FILE and DONE the method in the
 *	upper half
 * @mtime: seconds since the epoch
 * @atime: seconds since the epoch
 * @mtime_ns: nanoseconds
 * @atime_ns: nanoseconds
 * @uid: owner
 * @gid: group
 * @acl: digest of the access control lists, 0: there are none
 * @xattr: digest of the extended attributes, 0: there are none
 * @tail: a path, a packed token, a SHA-256 or an echo's payload; points into the message
 * @tail_len: its length
 * @extra: follows @tail: a SHA-256, a link's target, a key's name or a name beneath the path
 * @extra_len: its length
 */
struct wire_msg {
	uint16_t type;
	uint16_t status;
	uint32_t id;
	uint32_t window;
	uint64_t offset;
	uint64_t size;
	uint64_t digest;
	uint32_t flags;
	uint32_t mode;
	int64_t mtime;
	int64_t atime;
	uint32_t mtime_ns;
	uint32_t atime_ns;
	uint32_t uid;
	uint32_t gid;
	uint64_t acl;
	uint64_t xattr;
	const void *tail;
	size_t tail_len;
	const void *extra;
	size_t extra_len;
};

int wire_hello_encode(const struct wire_hello *hello, void *buf, size_t room);
int wire_hello_decode(struct wire_hello *hello, const void *buf, size_t len);
int wire_hello_check(const struct wire_hello *hello);
/* The largest SEND of a connection: with a key a message in records of TLS, or a handshake's */
size_t wire_room(const struct wire_hello *hello);

int wire_encode(const struct wire_msg *msg, void *buf, size_t room);
int wire_decode(struct wire_msg *msg, const void *buf, size_t len);
/* Returns the length of the first message of several, or -EBADMSG. */
int wire_length(const void *buf, size_t len);

uint16_t wire_status(int err);
int wire_errno(uint16_t status);
const char *wire_type_name(unsigned int type);
const char *wire_refusal_name(unsigned int refusal);

#endif /* KVERBS_TOOL_WIRE_H */
