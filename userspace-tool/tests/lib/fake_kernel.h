/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel for the unit tests: the ioctls and the shared ring over plain memory,
 * in place of the library's sys.c. It keeps the contract of linux/kverbs.h and
 * checks that the library does.
 *
 * Work that is taken stays pending until the test completes it, in any order, or
 * until fake.loopback lets peers of the same process reach each other.
 */
#ifndef FAKE_KERNEL_H
#define FAKE_KERNEL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <linux/kverbs.h>

#define FAKE_WC_FLUSH 5

/* Calls other than ioctls, for fake_fail() */
#define FAKE_OPEN 1u
#define FAKE_MMAP 2u
#define FAKE_MMAP_ANON 3u

/* How long to wait for what comes: as long as the test may take, and longer. */
#define FAKE_PATIENCE_MS 3600000
#define FAKE_PATIENCE_S "3600"

/* A name that resolves to 192.0.2.1 and 192.0.2.2 */
#define FAKE_HOST "two.example"

/* What becomes of a CONNECT; 0: up at once, -errno: FAILED, -ECONNREFUSED: REJECTED */
/* Nothing comes of it, and whoever waits for it until a deadline finds that it has come. */
#define FAKE_CONNECT_HANGS 1
/* For one that is accepted: it comes up, and its peer leaves at once. */
#define FAKE_ACCEPT_LEFT 2

/**
 * struct fake_conf - how the fake kernel behaves; set it after fake_reset()
 * @abi: what INFO tells
 * @sq_depth: credits of a connection that asks for none
 * @rq_depth: the same for receives
 * @max_msg: what CONN_QUERY tells
 * @max_segment: exports are cut to segments of this size
 * @loopback: peers find each other, and work is done and completed at once
 * @destroy_drops: DESTROY of a connection forgets its work instead of flushing
 * @max_take: SUBMIT takes no more than so many at a time, 0: all
 * @port_mtu: RDMA MTU of all ports
 * @last_connect: the last CONNECT
 * @last_accept: the last ACCEPT
 * @last_bench: the last BENCH
 * @last_bench_seg: its first segment
 * @bench: what BENCH tells: its out_ fields, and @hist_len counts of 1
 * @last_conn: the id of the last connection made
 * @step_ns: what each step of connecting took, 0: it does not tell
 * @submits: SUBMITs that were to take something
 * @interrupt_nth: each so many sleeps in SUBMIT are interrupted, 0: none
 * @time_jumps: the clock stands, and who sleeps until a deadline finds that it has come
 */
struct fake_conf {
	unsigned int abi;
	unsigned int sq_depth;
	unsigned int rq_depth;
	uint64_t max_msg;
	uint64_t max_segment;
	bool loopback;
	bool destroy_drops;
	unsigned int max_take;
	unsigned int port_mtu;
	struct kverbs_cmd_connect last_connect;
	struct kverbs_cmd_accept last_accept;
	struct kverbs_cmd_bench last_bench;
	struct kverbs_segment last_bench_seg;
	struct kverbs_cmd_bench bench;
	uint32_t last_conn;
	uint64_t step_ns;
	unsigned int submits;
	unsigned int interrupt_nth;
	bool time_jumps;
};

extern struct fake_conf fake;

/* ---- the kernel as a whole ------------------------------------------------ */

/* Start over: default behaviour, no devices. */
void fake_reset(void);
/* Objects and mappings that are left. */
unsigned int fake_leftovers(void);
/* The @nth call of @cmd from now, counted from 1, gives @error. */
void fake_fail(unsigned long cmd, unsigned int nth, int error);
/* The @nth call that can fail, of whatever kind, fails for want of memory. */
void fake_fail_nth(unsigned int nth);
/* Whether that has happened. */
bool fake_fail_nth_hit(void);
/* Interrupt one thread that sleeps in SUBMIT, as a signal does. */
void fake_interrupt(void);
/* So much later it is now: who sleeps until a deadline before that wakes. */
void fake_advance(unsigned int ms);
/* Write a byte as a peer does, for whoever watches it. */
void fake_write(uint8_t *byte, uint8_t value);
/* Return when @n threads sleep in SUBMIT. */
void fake_wait_sleepers(unsigned int n);

/* Add a device with so many ports and GIDs. */
void fake_add_device(uint32_t index, const char *name, unsigned int ports,
		     unsigned int gids);
/* The next DEVICE_QUERY that succeeds finds a GID more than the one before. */
void fake_grow_gids(unsigned int times);

/* ---- work ----------------------------------------------------------------- */

/* Entries taken and not completed. */
unsigned int fake_pending(void);
/* Return when there are @n. */
void fake_wait_pending(unsigned int n);
/* The @n th of them, oldest first. */
struct kverbs_sqe fake_entry(unsigned int n);
/* Complete the @n th: with success if @wc_status is 0, else with -EIO. */
void fake_complete(unsigned int n, unsigned int wc_status);
/* Complete two that the library will read together: the @n th, then the @m th. */
void fake_complete_two(unsigned int n, unsigned int m);
/* Complete a receive. */
void fake_complete_recv(unsigned int n, uint64_t byte_len, unsigned int flags,
			uint32_t imm);
/*
 * A device of its own thread: completes all but receives, in random order, one in
 * @error_rate of them with an error, 0: none.
 */
void fake_device_start(unsigned int seed, unsigned int error_rate);
void fake_device_stop(void);
/* Whether the submission ring is empty as the library left it. */
bool fake_sq_empty(void);
/* Let poll(2) see what the library has read; what arrives it sees by itself. */
void fake_update_poll(void);
/* Put any completion in the first open file's ring. */
void fake_cqe(const struct kverbs_cqe *cqe);

/* ---- connections ------------------------------------------------------------ */

/* What becomes of the next CONNECTs, in order; after that: 0. */
void fake_script_connect(int outcome);
/* A peer asks the listener on @port for a connection; its id. */
uint32_t fake_request(uint16_t port, const void *priv, uint32_t priv_len);
/* The same, of a peer that comes by IPv4 or IPv6. */
uint32_t fake_request_family(uint16_t family, uint16_t port, const void *priv,
			     uint32_t priv_len);
/* An event of a connection's life. */
void fake_event(uint32_t conn_id, enum kverbs_cqe_type type, int result);
/* The device under a listener goes away. */
void fake_remove_listener(uint16_t port);
/* enum kverbs_conn_state; 0: there is none. */
unsigned int fake_conn_state(uint32_t conn_id);

#endif /* FAKE_KERNEL_H */
