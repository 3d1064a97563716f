/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A kernel for the unit tests: the ioctls and the shared ring over plain memory, in place of the
 * library's sys.c. It keeps the contract of linux/kverbs.h and checks that the library does, too.
 * Accepted work stays pending until the test completes it, in any order. With fake.loopback, peers
 * of the same process complete it.
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

/* Timeout for events that must happen: longer than any test may take */
#define FAKE_PATIENCE_MS 3600000
#define FAKE_PATIENCE_S "3600"

/* A name that resolves to 192.0.2.1 and 192.0.2.2 */
#define FAKE_HOST "two.example"

/* Descriptor of a file of huge pages, and their size */
#define FAKE_MEMORY_FD 9999
#define FAKE_PAGE_SIZE 65536u

/* Descriptor of a dma-buf that is open for reading and writing, and its size */
#define FAKE_DMABUF_FD 9998
#define FAKE_DMABUF_SIZE 8192u

/* Index of a device on which no group can be created */
#define FAKE_NO_DEVICE UINT32_MAX

/* Outcome of a CONNECT: 0: established at once, -errno: FAILED, -ECONNREFUSED: REJECTED */
/* No event follows, and for a thread that waits with a deadline the deadline expires at once. */
#define FAKE_CONNECT_HANGS 1
/* Outcome of an ACCEPT: the connection is established, and its peer disconnects at once. */
#define FAKE_ACCEPT_LEFT 2

/**
 * struct fake_conf - how the fake kernel behaves; set it after fake_reset()
 * @abi: ABI that INFO reports
 * @sq_depth: send slots of a connection with the default depth
 * @rq_depth: receive slots of a connection with the default depth
 * @max_msg: limit that CONN_QUERY reports
 * @max_segment: size of an export's segments
 * @loopback: peers find each other, and work completes at once
 * @disconnect_lingers: DISCONNECT does not report the end; the test does
 * @destroy_drops: DESTROY of a connection drops its work instead of flushing it
 * @max_take: SUBMIT accepts at most this many entries at a time, 0: all
 * @port: attributes of all ports, but for its number and RDMA MTU
 * @port_mtu: RDMA MTU of all ports
 * @gid: attributes of all GIDs, but for their index
 * @query: what CONN_QUERY reports of the device, its port, the path's MTU, and traffic
 * @reject_reason: reason of REJECTED
 * @root: directory of the files that the library reads, or NULL: there are none
 * @memlock: RLIMIT_MEMLOCK, bytes, 0: unlimited
 * @last_connect: the last CONNECT
 * @last_accept: the last ACCEPT
 * @connect_param: parameters of the last CONNECT
 * @accept_param: parameters of the last ACCEPT
 * @last_bench: the last BENCH
 * @last_bench_seg: first segment of the last BENCH
 * @bench: answer of BENCH: its out_ fields, and @hist_len counts of 1
 * @last_conn: id of the last connection created
 * @step_ns: duration of each step of connecting, 0: not reported
 * @submits: number of SUBMITs with entries to accept
 * @wakes: number of SUBMITs that named a receive pool
 * @interrupt_nth: one sleep in this many is interrupted in SUBMIT, 0: none
 * @last_region: the last REGION_CREATE
 * @memory: where FAKE_MEMORY_FD was mapped last
 * @memory_offset: from which offset on
 * @memory_length: how many bytes
 * @memory_prot: with which protection
 * @time_jumps: the clock is stopped, and advances to the deadline of a thread that sleeps
 */
struct fake_conf {
	unsigned int abi;
	unsigned int sq_depth;
	unsigned int rq_depth;
	uint64_t max_msg;
	uint64_t max_segment;
	bool loopback;
	bool disconnect_lingers;
	bool destroy_drops;
	unsigned int max_take;
	struct kverbs_port port;
	unsigned int port_mtu;
	struct kverbs_gid gid;
	struct kverbs_cmd_conn_query query;
	uint32_t reject_reason;
	const char *root;
	uint64_t memlock;
	struct kverbs_cmd_connect last_connect;
	struct kverbs_cmd_accept last_accept;
	struct kverbs_conn_param connect_param;
	struct kverbs_conn_param accept_param;
	struct kverbs_cmd_bench last_bench;
	struct kverbs_segment last_bench_seg;
	struct kverbs_cmd_bench bench;
	uint32_t last_conn;
	uint64_t step_ns;
	unsigned int submits;
	unsigned int wakes;
	unsigned int interrupt_nth;
	struct kverbs_cmd_region_create last_region;
	uint8_t *memory;
	uint64_t memory_offset;
	size_t memory_length;
	int memory_prot;
	bool time_jumps;
};

extern struct fake_conf fake;

/* ---- the kernel as a whole ------------------------------------------------ */

/* Start over: default behaviour, no devices. */
void fake_reset(void);
/* Number of objects and mappings that are left. */
unsigned int fake_leftovers(void);
/* Let the @nth call of @cmd from now on, counted from 1, fail with @error. */
void fake_fail(unsigned long cmd, unsigned int nth, int error);
/* Let the @nth call that can fail, of any kind, fail with ENOMEM. */
void fake_fail_nth(unsigned int nth);
/* Returns true if that has happened. */
bool fake_fail_nth_hit(void);
/* Interrupt one thread that sleeps in SUBMIT, as a signal does. */
void fake_interrupt(void);
/* The same to one thread that sleeps in the library behind another one. */
void fake_interrupt_follower(void);
/* Advance the clock: threads whose deadline has passed wake up. */
void fake_advance(unsigned int ms);
/* Write a byte as a peer does, and wake threads that watch it. */
void fake_write(uint8_t *byte, uint8_t value);
/* Let memory change, as munmap(2) does: tracked regions become stale. */
void fake_change(void *addr, size_t length);
/* Return when @n threads sleep in SUBMIT. */
void fake_wait_sleepers(unsigned int n);

/* Add a device with this many ports and GIDs. */
void fake_add_device(uint32_t index, const char *name, unsigned int ports,
		     unsigned int gids);
/* Let kverbs not be able to use a device. */
void fake_make_unusable(uint32_t index, enum kverbs_unusable reason);
/* The next @times DEVICE_QUERYs that succeed each find one GID more than before. */
void fake_grow_gids(unsigned int times);

/* ---- work ----------------------------------------------------------------- */

/* Number of entries accepted and not completed. */
unsigned int fake_pending(void);
/* Return when @n entries are pending. */
void fake_wait_pending(unsigned int n);
/* Pending entry @n, oldest first. */
struct kverbs_sqe fake_entry(unsigned int n);
/* Piece @i of the list or buffer of pending entry @n, as SUBMIT has read it. */
struct kverbs_piece fake_piece(unsigned int n, unsigned int i);
/* Complete entry @n: with success if @wc_status is 0, else with -EIO. */
void fake_complete(unsigned int n, unsigned int wc_status);
/* Complete two entries so that the library reads them together: @n, then @m. */
void fake_complete_two(unsigned int n, unsigned int m);
/* Complete a receive. */
void fake_complete_recv(unsigned int n, uint64_t byte_len, unsigned int flags,
			uint32_t imm);
/*
 * Start a device with its own thread: it completes all but receives in random order, one in
 * @error_rate of them with an error, 0: none.
 */
void fake_device_start(unsigned int seed, unsigned int error_rate);
void fake_device_stop(void);
/* Returns true if the library has left no entry in the submission ring. */
bool fake_sq_empty(void);
/* Let poll(2) see which completions the library has read; it sees new completions without this. */
void fake_update_poll(void);
/* Put any completion into the first open file's ring. */
void fake_cqe(const struct kverbs_cqe *cqe);

/* ---- connections ------------------------------------------------------------ */

/* Outcomes of the next CONNECTs, in order; then 0. */
void fake_script_connect(int outcome);
/* A peer requests a connection from the listener on @port; returns its id. */
uint32_t fake_request(uint16_t port, const void *priv, uint32_t priv_len);
/* The same, with a peer that uses IPv4 or IPv6. */
uint32_t fake_request_family(uint16_t family, uint16_t port, const void *priv,
			     uint32_t priv_len);
/* Report an event of a connection. */
void fake_event(uint32_t conn_id, enum kverbs_cqe_type type, int result);
/* All connections are lost at both ends, as if a cable were cut; new ones can be made. */
void fake_cut(void);
/* Remove the device of a listener. */
void fake_remove_listener(uint16_t port);
/* Returns enum kverbs_conn_state, 0 if there is no such connection. */
unsigned int fake_conn_state(uint32_t conn_id);

#endif /* FAKE_KERNEL_H */
