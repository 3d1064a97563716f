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
#define WIRE_VERSION		2
#define WIRE_DEFAULT_PORT	"7472"

#define WIRE_HELLO_LEN		24
#define WIRE_HEAD_LEN		72
#define WIRE_TAIL_MAX		4096
#define WIRE_MSG_MAX		(WIRE_HEAD_LEN + WIRE_TAIL_MAX)
#define WIRE_PATH_MAX		4095
#define WIRE_WINDOWS_MAX	64
#define WIRE_NONCE_LEN		32
#define WIRE_PROOF_LEN		32
#define WIRE_SHA_LEN		32
/* Of two keys of SipHash */
#define WIRE_MAC_KEY_LEN	32
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

/* Bits of wire_hello.flags; the last one is of the connector, too */
#define WIRE_F_SERVES_FILES	(1u << 0)
#define WIRE_F_READ_ONLY	(1u << 1)
#define WIRE_F_KEY		(1u << 2)	/* I have a key, and prove it */

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
	WIRE_NONCE = 2,
	WIRE_PROOF = 3,
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
	WIRE_BENCH_SETUP = 48,
	WIRE_BENCH_OPEN = 49,
	WIRE_BENCH_TOKEN = 50,
	WIRE_BENCH_GO = 51,
	WIRE_BENCH_RESULT = 52,
};

/* Bits of wire_msg.flags */
#define WIRE_F_MUST_BE_DIR	(1u << 0)	/* PUT */
#define WIRE_F_NO_RESUME	(1u << 1)	/* PUT */
#define WIRE_F_SYNC		(1u << 2)	/* PUT */
#define WIRE_F_RECURSIVE	(1u << 3)	/* GET */
#define WIRE_F_EAGER		(1u << 4)	/* FILE: the whole of it is there */
#define WIRE_F_MAPPED		(1u << 5)	/* READY: windows come by GRANT */

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
 * @mode: permission bits; in END, FILE and DONE the method in the upper half
 * @mtime: seconds since the epoch
 * @atime: seconds since the epoch
 * @mtime_ns: nanoseconds
 * @atime_ns: nanoseconds
 * @tail: a path, a packed token, a SHA-256 or an echo's payload; points into the message
 * @tail_len: its length
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
	const void *tail;
	size_t tail_len;
};

int wire_hello_encode(const struct wire_hello *hello, void *buf, size_t room);
int wire_hello_decode(struct wire_hello *hello, const void *buf, size_t len);
int wire_hello_check(const struct wire_hello *hello);

int wire_encode(const struct wire_msg *msg, void *buf, size_t room);
int wire_decode(struct wire_msg *msg, const void *buf, size_t len);

uint16_t wire_status(int err);
int wire_errno(uint16_t status);
const char *wire_type_name(unsigned int type);
const char *wire_refusal_name(unsigned int refusal);

#endif /* KVERBS_TOOL_WIRE_H */
