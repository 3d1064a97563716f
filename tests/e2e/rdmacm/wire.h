/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * What rdmacm_test and rdmacm_peer say to each other. Whoever connects sends a hello
 * first, as iWARP wants it, and is sent one. Then the test sends orders, and the peer
 * answers each when it is carried out. All numbers are in network order; what an atomic
 * works on is in that of the hosts.
 */
#ifndef RDMACM_WIRE_H
#define RDMACM_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Each side has a source and a sink of so many bytes. */
#define WIRE_SIZE	(40 * 4096UL)
#define WIRE_POISON	0xa5

/**
 * struct wire_token - memory that the other side may use
 * @addr: address of its first byte, as the other side must name it
 * @length: bytes
 * @rkey: remote key
 * @__reserved: 0
 */
struct wire_token {
	uint64_t addr;
	uint64_t length;
	uint32_t rkey;
	uint32_t __reserved;
};

/**
 * struct wire_hello - the first message of each side
 * @sink: may be written to, and changed by atomics where there are any
 * @source: may be read
 */
struct wire_hello {
	struct wire_token sink;
	struct wire_token source;
};

/**
 * enum wire_what - what the peer is told to do
 * @WIRE_CHECK: look whether @length bytes of the test's source from @from on are in the
 *	sink from @to on, and nothing else
 * @WIRE_WRITE: write from its source to the test's sink
 * @WIRE_READ: read from the test's source to its sink
 * @WIRE_FETCH_ADD: add @operand to the word at @to of the test's sink
 * @WIRE_CMP_SWAP: replace it by @swap if it is @operand
 * @WIRE_SET: put @operand into the word at @to of its own sink
 * @WIRE_GET: say what is there
 * @WIRE_SEND: send from its source
 * @WIRE_SEND_IMM: the same, with @operand's four bytes
 * @WIRE_RECV: answer twice: when a receive for the sink is posted, and when it is complete
 * @WIRE_STAY: nothing more; wait until the test disconnects
 * @WIRE_LEAVE: nothing more; disconnect
 */
enum wire_what {
	WIRE_CHECK = 1,
	WIRE_WRITE,
	WIRE_READ,
	WIRE_FETCH_ADD,
	WIRE_CMP_SWAP,
	WIRE_SET,
	WIRE_GET,
	WIRE_SEND,
	WIRE_SEND_IMM,
	WIRE_RECV,
	WIRE_STAY,
	WIRE_LEAVE,
};

/**
 * struct wire_order - from the test to the peer
 * @what: enum wire_what
 * @__reserved: 0
 * @from: offset in the source
 * @to: offset in the sink
 * @length: bytes
 * @operand: of an atomic, or what to send along
 * @swap: of an atomic
 */
struct wire_order {
	uint32_t what;
	uint32_t __reserved;
	uint64_t from;
	uint64_t to;
	uint64_t length;
	uint64_t operand;
	uint64_t swap;
};

/**
 * struct wire_answer - from the peer to the test
 * @failed: 0, or the status of the work completion, or the number of wrong bytes
 * @imm: of a receive: the four bytes that came
 * @has_imm: of a receive: whether any came
 * @__reserved: 0
 * @value: the word, or the bytes that came
 */
struct wire_answer {
	uint32_t failed;
	uint32_t imm;
	uint32_t has_imm;
	uint32_t __reserved;
	uint64_t value;
};

/* What the two sources are filled with. */
#define WIRE_TEST	3
#define WIRE_PEER	8

static inline unsigned char wire_byte(unsigned int side, size_t at)
{
	return (at * 2654435761u >> 13) + side + at;
}

#endif /* RDMACM_WIRE_H */
