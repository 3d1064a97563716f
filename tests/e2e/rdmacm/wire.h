/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Protocol of rdmacm_test and rdmacm_peer. The active side sends a hello first, as iWARP requires,
 * and the passive side answers with its own. Then the test sends orders, and the peer answers each
 * one when it has carried it out. Numbers are in network byte order; the operands of atomics are in
 * host byte order.
 */
#ifndef RDMACM_WIRE_H
#define RDMACM_WIRE_H

#include <stddef.h>
#include <stdint.h>

/* Size of each side's source and sink */
#define WIRE_SIZE	(40 * 4096UL)
#define WIRE_POISON	0xa5

/**
 * struct wire_token - memory that the other side may access
 * @addr: remote address of its first byte
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
 * @sink: memory to write to, and to change with atomics where available
 * @source: memory to read
 */
struct wire_hello {
	struct wire_token sink;
	struct wire_token source;
};

/**
 * enum wire_what - order to the peer
 * @WIRE_CHECK: check that @length bytes of the test's source at @from are in the sink at
 *	@to, and that the rest of the sink is unchanged
 * @WIRE_WRITE: write from its source to the test's sink
 * @WIRE_READ: read from the test's source to its sink
 * @WIRE_FETCH_ADD: add @operand to the word at @to of the test's sink
 * @WIRE_CMP_SWAP: replace that word by @swap if it equals @operand
 * @WIRE_SET: store @operand in the word at @to of its own sink
 * @WIRE_GET: return the word at @to of its own sink
 * @WIRE_SEND: send from its source
 * @WIRE_SEND_IMM: send from its source, with @operand's four bytes as immediate data
 * @WIRE_RECV: answer twice: when a receive for the sink is posted, and when it completes
 * @WIRE_STAY: no more orders; wait until the test disconnects
 * @WIRE_LEAVE: no more orders; disconnect
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
 * @operand: operand of an atomic, or immediate data
 * @swap: new value of a compare-and-swap
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
 * @imm: immediate data of a receive
 * @has_imm: a receive had immediate data
 * @__reserved: 0
 * @value: the word, or the number of bytes received
 */
struct wire_answer {
	uint32_t failed;
	uint32_t imm;
	uint32_t has_imm;
	uint32_t __reserved;
	uint64_t value;
};

/* Fill patterns of the two sources. */
#define WIRE_TEST	3
#define WIRE_PEER	8

static inline unsigned char wire_byte(unsigned int side, size_t at)
{
	return (at * 2654435761u >> 13) + side + at;
}

#endif /* RDMACM_WIRE_H */
