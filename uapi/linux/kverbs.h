/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * kverbs: the RDMA transport of the kernel, lent to user space.
 *
 * This is the whole contract between kverbs.ko and its users. How the commands
 * play together is told in Documentation/reference/uapi.rst.
 */
#ifndef _UAPI_LINUX_KVERBS_H
#define _UAPI_LINUX_KVERBS_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: General
 *
 * Open /dev/kverbs, and everything made through that file belongs to it: one
 * open file is one security domain. Objects (rings, regions, listeners,
 * connections, exports) are named by __u32 ids, which are private to the file,
 * never 0, and not used again while a completion that names them may be unread.
 *
 * Every command is an ioctl on that file whose argument is a pointer to the
 * command's struct. The struct begins with its own size. A caller built
 * against an older header passes a shorter struct and the kernel reads the rest
 * as zero; a caller built against a newer one may pass a longer struct as long
 * as what the kernel does not know is zero. Zero always means "as before, or
 * the default". Fields named out_* are written by the kernel and not read;
 * reserved fields and unknown flags must be zero.
 *
 * Commands return 0 or one of:
 *
 * - ENOTTY: there is no such command.
 * - E2BIG: the struct is longer than the kernel knows, and not zero there.
 * - EINVAL: malformed: short struct, unknown flag, reserved field not zero,
 *   value or range out of bounds.
 * - EOPNOTSUPP: known and well formed, but not supported by this device,
 *   transport or memory.
 * - ENOENT: no object has this id, or it is of another type.
 * - EBUSY: the object is still used by another one or by work in flight.
 * - ENOTCONN: the connection's state does not allow it.
 * - EMSGSIZE: an array is too small (the needed count is returned in its
 *   length field), or a message is larger than the connection can carry.
 * - ENODEV: no such device, or the device is gone.
 * - EPERM, ENOMEM: a limit: RLIMIT_MEMLOCK, objects per file, memory.
 * - EAGAIN: no completion slot or no work request credit; reap, then retry.
 * - EADDRINUSE, EADDRNOTAVAIL, EACCES: as bind(2) means them.
 * - EBADF, EFAULT, EINTR: as usual. A struct without out_ fields is only read.
 *   If the fields cannot be written, nothing was made; SUBMIT alone may have
 *   taken entries, which the head of its ring then tells.
 *
 * The end of a connection carries one of ECONNREFUSED, ECONNRESET, ETIMEDOUT,
 * EHOSTUNREACH, ENETUNREACH, ECANCELED, ENODEV, EINVAL (depths or an address that
 * the device cannot serve) or EIO, as a negative number, in its last completion,
 * or 0 if this side asked for it.
 *
 * A failed work request completes with -EIO and its work completion status.
 *
 * The ioctl letter 0xBC with numbers 00-1F is not registered in the kernel's
 * ioctl-number.rst: kverbs is an out-of-tree module.
 */

#define KVERBS_ABI_VERSION	1
#define KVERBS_IOC_TYPE		0xBC

/* Command numbers. Their structs carry the size, so the numbers do not. */
#define KVERBS_INFO		_IO(KVERBS_IOC_TYPE, 0x00)
#define KVERBS_DEVICE_QUERY	_IO(KVERBS_IOC_TYPE, 0x01)
#define KVERBS_RING_CREATE	_IO(KVERBS_IOC_TYPE, 0x02)
#define KVERBS_SUBMIT		_IO(KVERBS_IOC_TYPE, 0x03)
#define KVERBS_REGION_CREATE	_IO(KVERBS_IOC_TYPE, 0x04)
#define KVERBS_LISTEN		_IO(KVERBS_IOC_TYPE, 0x05)
#define KVERBS_CONNECT		_IO(KVERBS_IOC_TYPE, 0x06)
#define KVERBS_ACCEPT		_IO(KVERBS_IOC_TYPE, 0x07)
#define KVERBS_REJECT		_IO(KVERBS_IOC_TYPE, 0x08)
#define KVERBS_DISCONNECT	_IO(KVERBS_IOC_TYPE, 0x09)
#define KVERBS_CONN_QUERY	_IO(KVERBS_IOC_TYPE, 0x0A)
#define KVERBS_EXPORT		_IO(KVERBS_IOC_TYPE, 0x0B)
#define KVERBS_DESTROY		_IO(KVERBS_IOC_TYPE, 0x0C)
#define KVERBS_BENCH		_IO(KVERBS_IOC_TYPE, 0x0D)

/**
 * struct kverbs_cmd_info - KVERBS_INFO: what this module can do
 * @size: sizeof(struct kverbs_cmd_info)
 * @flags: must be 0
 * @out_abi: KVERBS_ABI_VERSION of the module
 * @out_nr_devices: RDMA devices that the caller's network namespace can use now
 * @out_features: reserved for feature bits, 0 in this version
 * @out_opcodes: bit mask of the enum kverbs_opcode values that are supported
 * @out_max_objects: objects that one file may hold at a time
 * @out_max_sq_entries: largest submission ring
 * @out_max_cq_entries: largest completion ring
 * @out_max_backlog: largest backlog of a listener
 * @out_version: the module's version, a NUL-terminated string
 *
 * Errors: EINVAL, E2BIG, EFAULT.
 */
struct kverbs_cmd_info {
	__u32 size;
	__u32 flags;
	__u32 out_abi;
	__u32 out_nr_devices;
	__aligned_u64 out_features;
	__aligned_u64 out_opcodes;
	__u32 out_max_objects;
	__u32 out_max_sq_entries;
	__u32 out_max_cq_entries;
	__u32 out_max_backlog;
	char out_version[32];
};

/**
 * enum kverbs_transport - what carries the verbs of a port
 * @KVERBS_TRANSPORT_UNKNOWN: none that kverbs knows
 * @KVERBS_TRANSPORT_IB: InfiniBand
 * @KVERBS_TRANSPORT_ROCE: RDMA over Converged Ethernet, v1 or v2 by GID
 * @KVERBS_TRANSPORT_IWARP: iWARP, over TCP
 */
enum kverbs_transport {
	KVERBS_TRANSPORT_UNKNOWN = 0,
	KVERBS_TRANSPORT_IB = 1,
	KVERBS_TRANSPORT_ROCE = 2,
	KVERBS_TRANSPORT_IWARP = 3,
};

/**
 * enum kverbs_gid_type - how a GID's packets look on the wire
 * @KVERBS_GID_IB: InfiniBand, or the MAC of an iWARP port
 * @KVERBS_GID_ROCE_V1: RoCE v1, Ethertype 0x8915
 * @KVERBS_GID_ROCE_V2: RoCE v2, UDP port 4791
 */
enum kverbs_gid_type {
	KVERBS_GID_IB = 0,
	KVERBS_GID_ROCE_V1 = 1,
	KVERBS_GID_ROCE_V2 = 2,
};

/**
 * struct kverbs_port - one port of a device
 * @port: port number, from 1
 * @transport: enum kverbs_transport
 * @state: enum ib_port_state by number: 1 DOWN, 2 INIT, 3 ARMED, 4 ACTIVE
 * @phys_state: enum ib_port_phys_state by number: 5 LINK_UP
 * @__reserved: 0
 * @max_mtu: largest path MTU, bytes
 * @active_mtu: path MTU in force, bytes
 * @max_msg_size: largest message, bytes
 * @rate_100mbps: signalling rate in units of 100 Mbit/s, 0 if unknown
 * @lid: local identifier, InfiniBand only
 * @sm_lid: the subnet manager's, InfiniBand only
 * @gid_table_len: GID table slots, used or not
 * @ifindex: the network interface behind the port, 0 if none
 * @ifname: that interface's name, NUL-terminated
 * @__reserved2: 0
 */
struct kverbs_port {
	__u32 port;
	__u8 transport;
	__u8 state;
	__u8 phys_state;
	__u8 __reserved;
	__u32 max_mtu;
	__u32 active_mtu;
	__u32 max_msg_size;
	__u32 rate_100mbps;
	__u16 lid;
	__u16 sm_lid;
	__u32 gid_table_len;
	__u32 ifindex;
	char ifname[16];
	__u32 __reserved2;
};

/**
 * struct kverbs_gid - one used slot of a port's GID table
 * @gid: the GID, in network order
 * @port: port number, from 1
 * @index: slot in that port's table
 * @type: enum kverbs_gid_type
 * @ifindex: the network interface that gave the address, 0 if none
 */
struct kverbs_gid {
	__u8 gid[16];
	__u32 port;
	__u32 index;
	__u32 type;
	__u32 ifindex;
};

/* Bits of kverbs_cmd_device_query.out_caps */
#define KVERBS_CAP_ATOMIC	(1U << 0)
#define KVERBS_CAP_REMOTE_INV	(1U << 1)
#define KVERBS_CAP_VIRT_DMA	(1U << 2)

/**
 * struct kverbs_cmd_device_query - KVERBS_DEVICE_QUERY: one device
 * @size: sizeof(struct kverbs_cmd_device_query)
 * @index: the device with this index, or the next one above it; start at 0 and
 *	go on from @out_index + 1 until ENODEV; one that the caller's network
 *	namespace may not use does not count
 * @ports_len: in: room in @ports_uptr; out: ports of the device
 * @gids_len: in: room in @gids_uptr; out: used GID slots of all ports
 * @ports_uptr: array of struct kverbs_port, may be 0 if @ports_len is 0
 * @gids_uptr: array of struct kverbs_gid, may be 0 if @gids_len is 0
 * @out_index: the device's index, as in "rdma dev"
 * @out_caps: KVERBS_CAP_*
 * @out_name: the device's name, NUL-terminated
 * @out_fw_version: firmware version, NUL-terminated, may be empty
 * @out_node_guid: node GUID in network order, all devices of an adapter differ
 * @out_sys_image_guid: system image GUID in network order
 * @out_vendor_id: IEEE vendor number
 * @out_vendor_part_id: part number that the vendor gave it
 * @out_hw_version: hardware version
 * @out_max_qp: queue pairs
 * @out_max_qp_wr: work requests in one queue
 * @out_max_send_sge: scatter/gather entries of a SEND, RECV or WRITE
 * @out_max_read_sge: scatter/gather entries of a READ
 * @out_max_cqe: entries in one completion queue
 * @out_max_mr: memory regions
 * @out_max_mr_pages: pages in one fast-registered memory region; with the page
 *	size it bounds the length of one segment of an export
 * @out_max_rd_atomic: READs and atomics in flight per connection as a target
 * @out_max_init_rd_atomic: READs and atomics in flight per connection as a
 *	source
 * @out_driver: the module that drives the device, NUL-terminated, empty if it is
 *	built in: "mlx5_ib", "irdma", "rdma_rxe"
 *
 * Arrays that are too small are filled as far as they go and EMSGSIZE is
 * returned with everything else set.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENODEV, EMSGSIZE, ENOMEM.
 */
struct kverbs_cmd_device_query {
	__u32 size;
	__u32 index;
	__u32 ports_len;
	__u32 gids_len;
	__aligned_u64 ports_uptr;
	__aligned_u64 gids_uptr;
	__u32 out_index;
	__u32 out_caps;
	char out_name[64];
	char out_fw_version[32];
	__u8 out_node_guid[8];
	__u8 out_sys_image_guid[8];
	__u32 out_vendor_id;
	__u32 out_vendor_part_id;
	__u32 out_hw_version;
	__u32 out_max_qp;
	__u32 out_max_qp_wr;
	__u32 out_max_send_sge;
	__u32 out_max_read_sge;
	__u32 out_max_cqe;
	__u32 out_max_mr;
	__u32 out_max_mr_pages;
	__u32 out_max_rd_atomic;
	__u32 out_max_init_rd_atomic;
	char out_driver[64];
};

/**
 * enum kverbs_opcode - what a submission entry asks for
 * @KVERBS_OP_SEND: send a message into a receive of the peer
 * @KVERBS_OP_RECV: receive one message
 * @KVERBS_OP_WRITE: write into the peer's export
 * @KVERBS_OP_WRITE_IMM: the same, and complete a receive of the peer
 * @KVERBS_OP_READ: read from the peer's export
 * @KVERBS_OP_SEND_IMM: send a message with four bytes for its completion
 * @KVERBS_OP_SEND_INV: send a message and take a key of the peer's export back
 * @KVERBS_OP_CMP_SWAP: replace 8 bytes of the peer's export if they are as
 *	expected; what they were comes into the local buffer
 * @KVERBS_OP_FETCH_ADD: add to 8 bytes of the peer's export; what they were
 *	comes into the local buffer
 */
enum kverbs_opcode {
	KVERBS_OP_SEND = 1,
	KVERBS_OP_RECV = 2,
	KVERBS_OP_WRITE = 3,
	KVERBS_OP_WRITE_IMM = 4,
	KVERBS_OP_READ = 5,
	KVERBS_OP_SEND_IMM = 6,
	KVERBS_OP_SEND_INV = 7,
	KVERBS_OP_CMP_SWAP = 8,
	KVERBS_OP_FETCH_ADD = 9,
};

/* Bits of kverbs_sqe.flags */
#define KVERBS_SQE_SIGNAL	(1U << 0)	/* complete it even if it succeeds */
#define KVERBS_SQE_FENCE	(1U << 1)	/* wait for earlier READs and atomics */
#define KVERBS_SQE_SOLICITED	(1U << 2)	/* mark it solicited for the peer */
#define KVERBS_SQE_LIST		(1U << 3)	/* the buffer is a list of pieces */

/* Pieces that the list of one entry may have */
#define KVERBS_LIST_MAX	32

/**
 * struct kverbs_piece - one of several pieces of a local buffer
 * @offset: where it starts in the region, bytes
 * @length: bytes, at least 1
 * @region_id: its region
 * @__reserved: must be 0
 */
struct kverbs_piece {
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 region_id;
	__u32 __reserved;
};

/**
 * struct kverbs_sqe - a submission entry, written by the user
 * @opcode: enum kverbs_opcode
 * @flags: KVERBS_SQE_*; RECV always completes and takes no flag but
 *	KVERBS_SQE_LIST, which atomics do not take
 * @__reserved: must be 0
 * @conn_id: the connection
 * @user_data: comes back in the completion, not looked at
 * @remote_addr: WRITE*, READ, atomics: address as the peer's export gave it, plus
 *	offset; a multiple of 8 for an atomic
 * @rkey: WRITE*, READ, atomics: key as the peer's export gave it; SEND_INV: the
 *	key that shall stop working
 * @imm: *_IMM: four bytes for the peer, carried as they are
 * @region_id: the local buffer's region; must be 0 if @length is 0 or with a list
 * @__reserved2: must be 0
 * @offset: where the local buffer starts in the region, bytes; with
 *	KVERBS_SQE_LIST the address of an array of struct kverbs_piece; an atomic's
 *	8 bytes must be aligned in memory
 * @length: the local buffer's length, bytes; with KVERBS_SQE_LIST the number of
 *	pieces, 1 to KVERBS_LIST_MAX
 * @swap: CMP_SWAP: the new value, in place of @length, which is 8
 * @operand: CMP_SWAP: the value expected; FETCH_ADD: the value to add; else 0
 *
 * An atomic's values are in the byte order of the hosts, which must be the same.
 * Atomics exclude each other on the peer's device, but not the peer's processor
 * (IB_ATOMIC_HCA) unless the device says so.
 *
 * READ, RECV and atomics need a region that is not KVERBS_REGION_READ_ONLY. Without
 * KVERBS_SQE_SIGNAL an operation completes only if it fails. Small operations that
 * one SUBMIT takes together may complete together, up to 32 or 16 KiB; if the
 * connection breaks meanwhile all of them fail, even those that the peer has seen.
 * Operations other than RECV need an established connection. A list is read when
 * SUBMIT takes its entry. iWARP has neither immediate data nor atomics: EOPNOTSUPP; so it is with
 * atomics on a device without KVERBS_CAP_ATOMIC, and with both READ and atomics if the peer
 * answers none (@out_max_read of CONN_QUERY is 0). Receives are taken from the moment
 * that a connection has an id and are posted before the peer can send; only one
 * whose buffer lies in more pieces than the connection has scatter/gather
 * entries, and those after it, have to wait until it is established. Once it is,
 * a receive is posted when SUBMIT returns.
 */
struct kverbs_sqe {
	__u8 opcode;
	__u8 flags;
	__u16 __reserved;
	__u32 conn_id;
	__aligned_u64 user_data;
	__aligned_u64 remote_addr;
	__u32 rkey;
	__u32 imm;
	__u32 region_id;
	__u32 __reserved2;
	__aligned_u64 offset;
	union {
		__aligned_u64 length;
		__aligned_u64 swap;
	};
	__aligned_u64 operand;
};

/**
 * enum kverbs_cqe_type - what a completion tells
 * @KVERBS_CQE_WORK: a submission entry has ended
 * @KVERBS_CQE_CONN_REQUEST: a peer asks a listener for a connection: @id is the
 *	new connection's, user_data the listener's; ACCEPT, REJECT or DESTROY it
 * @KVERBS_CQE_ESTABLISHED: the connection is up; a receive may complete before
 * @KVERBS_CQE_DISCONNECTED: the connection was up and has ended
 * @KVERBS_CQE_REJECTED: the peer refused; @imm is the reason's number
 * @KVERBS_CQE_FAILED: the connection never came up
 * @KVERBS_CQE_DEVICE_REMOVED: the device under a connection or a listener went
 *	away
 *
 * A connection ends with exactly one of the last four, unless it is destroyed
 * before, and no other completion of the connection comes after it.
 */
enum kverbs_cqe_type {
	KVERBS_CQE_WORK = 1,
	KVERBS_CQE_CONN_REQUEST = 2,
	KVERBS_CQE_ESTABLISHED = 3,
	KVERBS_CQE_DISCONNECTED = 4,
	KVERBS_CQE_REJECTED = 5,
	KVERBS_CQE_FAILED = 6,
	KVERBS_CQE_DEVICE_REMOVED = 7,
};

/* Bits of kverbs_cqe.flags */
#define KVERBS_CQE_F_RECV	(1U << 0)	/* the entry was a RECV */
#define KVERBS_CQE_F_IMM	(1U << 1)	/* @imm is the peer's */
#define KVERBS_CQE_F_WRITE	(1U << 2)	/* RECV ended by the peer's WRITE_IMM */
#define KVERBS_CQE_F_INV	(1U << 3)	/* @imm is a key that the peer took back */

/**
 * struct kverbs_cqe - a completion, written by the kernel
 * @user_data: of the entry; for events that of the connection or listener
 * @byte_len: WORK: bytes moved; for a RECV what came
 * @id: the connection, or the listener that lost its device
 * @result: 0 or -errno
 * @type: enum kverbs_cqe_type
 * @wc_status: WORK: work completion status, enum ib_wc_status by number
 * @flags: KVERBS_CQE_F_*
 * @imm: immediate data as the peer gave it, the key that its SEND_INV took back,
 *	or the reason of a REJECTED
 */
struct kverbs_cqe {
	__aligned_u64 user_data;
	__aligned_u64 byte_len;
	__u32 id;
	__s32 result;
	__u8 type;
	__u8 wc_status;
	__u16 flags;
	__u32 imm;
};

/**
 * struct kverbs_ring_kernel - head of the completion mapping, kernel-written
 * @sq_head: submission entries taken so far, modulo 2^32; release order
 * @cq_tail: completions written so far, modulo 2^32; read it with acquire
 * @sq_entries: size of the submission ring, a power of two
 * @cq_entries: size of the completion ring, a power of two
 * @__reserved: 0
 *
 * The completions follow it in the same mapping: the one numbered n stands at
 * index n & (cq_entries - 1).
 */
struct kverbs_ring_kernel {
	__u32 sq_head;
	__u32 cq_tail;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 __reserved[12];
};

/**
 * struct kverbs_ring_user - the index page, user-written
 * @sq_tail: submission entries filled so far, modulo 2^32; write with release
 * @__reserved: 0; it keeps the two indices on lines of their own
 * @cq_head: completions read so far, modulo 2^32; write with release
 * @__reserved2: 0
 *
 * The kernel does not trust it: a wrong index costs its writer entries or
 * completions of his own and nothing else.
 */
struct kverbs_ring_user {
	__u32 sq_tail;
	__u32 __reserved[15];
	__u32 cq_head;
	__u32 __reserved2[15];
};

/* Bits of kverbs_cmd_ring_create.flags; BUSY_POLL goes with no other */
#define KVERBS_RING_BUSY_POLL	(1U << 0)	/* SUBMIT polls for completions */
#define KVERBS_RING_EVENTFD	(1U << 1)	/* @event_fd is told of completions */
#define KVERBS_RING_SOFTIRQ	(1U << 2)	/* a softirq takes them, not a thread */

/**
 * struct kverbs_cmd_ring_create - KVERBS_RING_CREATE: make a shared ring
 * @size: sizeof(struct kverbs_cmd_ring_create)
 * @flags: KVERBS_RING_BUSY_POLL; or any of KVERBS_RING_EVENTFD, KVERBS_RING_SOFTIRQ
 * @sq_entries: submission entries, a power of two
 * @cq_entries: completions, a power of two; every entry taken and every event
 *	that may come keeps one reserved: two for a connection, one more for one that
 *	a peer asks for, one for a listener
 * @out_id: the ring
 * @event_fd: with KVERBS_RING_EVENTFD an eventfd(2), to whose count 1 is added whenever
 *	completions are written, which may be several; else must be 0
 * @out_sq_offset: mmap(2) offset of the submission entries (read and write)
 * @out_cq_offset: mmap(2) offset of struct kverbs_ring_kernel and the
 *	completions (read only)
 * @out_idx_offset: mmap(2) offset of struct kverbs_ring_user (read and write)
 * @out_sq_size: bytes to map at @out_sq_offset
 * @out_cq_size: bytes to map at @out_cq_offset
 * @out_idx_size: bytes to map at @out_idx_offset
 *
 * Map each with MAP_SHARED and exactly its size. A fork(2)ed child does not
 * inherit the mappings. A file holds 256 rings at most.
 *
 * Completions are taken from the device by a thread of a workqueue, or on a SOFTIRQ
 * ring by a softirq of the processor that the device interrupted: sooner, but other
 * programs of that processor wait meanwhile.
 *
 * On a BUSY_POLL ring no interrupt reports that work has completed. SUBMIT looks
 * for it: once when it begins, and if it has to wait again and again, without
 * sleeping. What a program does not SUBMIT for does not complete, and poll(2) does
 * not see it; events of connections and listeners come by themselves. A connection
 * that ACCEPT moved here is looked at here, whatever ring its work came from.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOMEM; EBADF, EINVAL: of @event_fd.
 */
struct kverbs_cmd_ring_create {
	__u32 size;
	__u32 flags;
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 out_id;
	__s32 event_fd;
	__aligned_u64 out_sq_offset;
	__aligned_u64 out_cq_offset;
	__aligned_u64 out_idx_offset;
	__aligned_u64 out_sq_size;
	__aligned_u64 out_cq_size;
	__aligned_u64 out_idx_size;
};

/* Bits of kverbs_cmd_submit.flags */
#define KVERBS_SUBMIT_WATCH	(1U << 0)	/* wait for a byte of memory, too */

/**
 * struct kverbs_cmd_submit - KVERBS_SUBMIT: hand over entries, wait
 * @size: sizeof(struct kverbs_cmd_submit)
 * @flags: KVERBS_SUBMIT_WATCH, or 0
 * @ring_id: the ring
 * @to_submit: take at most so many entries from the submission ring
 * @min_complete: then wait until so many completions are unread; 0: do not wait
 * @out_taken: entries taken; they are never taken again
 * @deadline_ns: absolute CLOCK_MONOTONIC time at which to stop waiting; 0: none
 * @out_ready: completions unread on return
 * @out_error: 0, or the -errno that refused the first entry not taken
 * @watch_uptr: WATCH: address of the byte, else 0
 * @watch_old: WATCH: what it has been so far, 0-255; else 0
 * @__reserved: must be 0
 *
 * Returns 0 if anything was taken, if nothing was asked to be taken, or if the
 * deadline came first: look at @out_taken and @out_ready. If the first entry is
 * refused its errno is returned and nothing is waited for. Each entry is read
 * once. A signal ends the wait with EINTR, unless entries were taken: then with
 * 0.
 *
 * A peer's WRITE or atomic completes nothing here. With WATCH, which needs
 * @min_complete, the wait ends as well when the byte is other than @watch_old, or
 * cannot be read any more. The caller looks at it all the time, as if the ring were
 * BUSY_POLL, and makes way for whoever else wants the processor.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EINTR; of the first entry: EAGAIN,
 * EINVAL, ENOENT, ENOTCONN, EBUSY (a BENCH has the connection), ENODEV,
 * EOPNOTSUPP, EMSGSIZE, ENOMEM.
 */
struct kverbs_cmd_submit {
	__u32 size;
	__u32 flags;
	__u32 ring_id;
	__u32 to_submit;
	__u32 min_complete;
	__u32 out_taken;
	__aligned_u64 deadline_ns;
	__u32 out_ready;
	__s32 out_error;
	__aligned_u64 watch_uptr;
	__u32 watch_old;
	__u32 __reserved;
};

/* Bits of kverbs_cmd_region_create.flags */
#define KVERBS_REGION_READ_ONLY	(1U << 0)	/* the HCA only reads it */

/**
 * struct kverbs_cmd_region_create - KVERBS_REGION_CREATE: pin memory
 * @size: sizeof(struct kverbs_cmd_region_create)
 * @flags: KVERBS_REGION_READ_ONLY, or 0
 * @addr: start of the memory in the caller's address space, any alignment
 * @length: bytes, at least 1
 * @out_id: the region
 * @__reserved: must be 0
 *
 * The pages are pinned and charged to the caller's RLIMIT_MEMLOCK, unless he
 * has CAP_IPC_LOCK. Memory that cannot be pinned for as long as this, such as
 * a writable shared mapping of a file on disk, gives EFAULT or EOPNOTSUPP.
 *
 * Errors: EINVAL, E2BIG, EFAULT, EOPNOTSUPP, EPERM, ENOMEM, EINTR.
 */
struct kverbs_cmd_region_create {
	__u32 size;
	__u32 flags;
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 out_id;
	__u32 __reserved;
};

/**
 * struct kverbs_addr - an IPv4 or IPv6 address with a port
 * @family: AF_INET or AF_INET6; 0 where no address need be given
 * @port: in network order
 * @scope_id: IPv6: interface index of a link-local address, which needs one; else 0
 * @addr: the address in network order; IPv4 uses the first four bytes, the
 *	rest must be 0
 */
struct kverbs_addr {
	__u16 family;
	__u16 port;
	__u32 scope_id;
	__u8 addr[16];
};

/* Bits of kverbs_conn_param.valid */
#define KVERBS_PARAM_RETRY	(1U << 0)
#define KVERBS_PARAM_RNR_RETRY	(1U << 1)
#define KVERBS_PARAM_RNR_TIMER	(1U << 2)
#define KVERBS_PARAM_ACK_TIMEOUT (1U << 3)
#define KVERBS_PARAM_TOS	(1U << 4)

/**
 * struct kverbs_conn_param - what a connection is made of
 * @valid: KVERBS_PARAM_*, the fields below @max_read that are not default
 * @sq_depth: work requests in flight, 0: 128
 * @rq_depth: receives in flight, 0: 128
 * @max_sge: scatter/gather entries of one work request, 0: as many as suit the
 *	device, at most 32
 * @max_read: READs in flight in each direction, 0: as many as the device can,
 *	at most 16
 * @retry: 0-7, transport retries; default 7
 * @rnr_retry: 0-7, how often the peer tries again when this side has no
 *	receive, 7 is for ever; default 6. The CM carries it to the peer, so what
 *	this side does is the peer's choice.
 * @rnr_timer: 0-31, how long the peer waits between those, as in the
 *	InfiniBand specification, table 45; default 20 (10.24 ms)
 * @ack_timeout: 0-31, 4.096 us times 2 to this power; default the CM's
 * @tos: type of service, CONNECT only
 * @keepalive_ms: if nothing completes for so long the peer is probed, and if it does
 *	not answer for as long the connection ends with ETIMEDOUT; from 10 on, 0: off.
 *	An answer comes behind what was submitted before: let it be longer than one
 *	operation takes, on iWARP than all that are outstanding take
 *
 * Depths beyond the device's limits give EINVAL.
 */
struct kverbs_conn_param {
	__u32 valid;
	__u32 sq_depth;
	__u32 rq_depth;
	__u32 max_sge;
	__u8 max_read;
	__u8 retry;
	__u8 rnr_retry;
	__u8 rnr_timer;
	__u8 ack_timeout;
	__u8 tos;
	__u16 keepalive_ms;
};

/* Private data that the connection manager carries, bytes */
#define KVERBS_PRIV_CONNECT_MAX	56
#define KVERBS_PRIV_ACCEPT_MAX	196
#define KVERBS_PRIV_REJECT_MAX	148

/**
 * struct kverbs_cmd_listen - KVERBS_LISTEN: wait for connection requests
 * @size: sizeof(struct kverbs_cmd_listen)
 * @flags: must be 0
 * @ring_id: where the requests are announced
 * @backlog: requests that may wait for an answer, 0: 128
 * @user_data: comes back in the completions
 * @addr: what to listen on; in: port 0 chooses one, address 0 is any; out: as
 *	bound
 * @out_id: the listener
 * @__reserved: must be 0
 *
 * Bound in the caller's network namespace and with the caller's rights. An IPv6
 * listener takes IPv6 only: for both families make two, on the same port.
 * A request for which there is no room in the backlog, the ring or the file is
 * refused, and not told of.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EAGAIN, EADDRINUSE, EADDRNOTAVAIL,
 * EACCES, ENODEV, ENOMEM.
 */
struct kverbs_cmd_listen {
	__u32 size;
	__u32 flags;
	__u32 ring_id;
	__u32 backlog;
	__aligned_u64 user_data;
	struct kverbs_addr addr;
	__u32 out_id;
	__u32 __reserved;
};

/**
 * struct kverbs_cmd_connect - KVERBS_CONNECT: begin a connection
 * @size: sizeof(struct kverbs_cmd_connect)
 * @flags: must be 0
 * @ring_id: where all its completions go
 * @timeout_ms: give up if it is not established by then, 0: 10000
 * @user_data: comes back in the connection's events
 * @dst: the peer
 * @src: the local address, or family 0
 * @param: what it is made of
 * @priv_uptr: private data for the peer
 * @priv_len: at most KVERBS_PRIV_CONNECT_MAX
 * @out_id: the connection
 *
 * Returns at once. ESTABLISHED, REJECTED, FAILED or DEVICE_REMOVED follows.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EAGAIN, EADDRNOTAVAIL, ENODEV, ENOMEM.
 */
struct kverbs_cmd_connect {
	__u32 size;
	__u32 flags;
	__u32 ring_id;
	__u32 timeout_ms;
	__aligned_u64 user_data;
	struct kverbs_addr dst;
	struct kverbs_addr src;
	struct kverbs_conn_param param;
	__aligned_u64 priv_uptr;
	__u32 priv_len;
	__u32 out_id;
};

/**
 * struct kverbs_cmd_accept - KVERBS_ACCEPT: take a requested connection
 * @size: sizeof(struct kverbs_cmd_accept)
 * @flags: must be 0
 * @conn_id: the connection that CONN_REQUEST named
 * @ring_id: where its completions go from now on, 0: stay with the listener's
 * @user_data: comes back in the connection's events
 * @timeout_ms: give up if it is not established by then, 0: 10000
 * @priv_len: at most KVERBS_PRIV_ACCEPT_MAX
 * @priv_uptr: private data for the peer
 * @param: what it is made of
 *
 * Receives that were submitted before are posted before the peer is told; they
 * complete on the ring that they were submitted to. ESTABLISHED, FAILED or
 * DEVICE_REMOVED follows, also if an error other than the first six here is
 * returned.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EAGAIN, ENOTCONN; ENODEV, ENOMEM.
 */
struct kverbs_cmd_accept {
	__u32 size;
	__u32 flags;
	__u32 conn_id;
	__u32 ring_id;
	__aligned_u64 user_data;
	__u32 timeout_ms;
	__u32 priv_len;
	__aligned_u64 priv_uptr;
	struct kverbs_conn_param param;
};

/**
 * struct kverbs_cmd_reject - KVERBS_REJECT: refuse a requested connection
 * @size: sizeof(struct kverbs_cmd_reject)
 * @conn_id: the connection that CONN_REQUEST named
 * @priv_uptr: private data for the peer
 * @priv_len: at most KVERBS_PRIV_REJECT_MAX
 * @flags: must be 0
 *
 * FAILED with -ECANCELED follows; then it is there to be destroyed.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, ENOTCONN.
 */
struct kverbs_cmd_reject {
	__u32 size;
	__u32 conn_id;
	__aligned_u64 priv_uptr;
	__u32 priv_len;
	__u32 flags;
};

/**
 * struct kverbs_cmd_disconnect - KVERBS_DISCONNECT: end a connection
 * @size: sizeof(struct kverbs_cmd_disconnect)
 * @flags: must be 0
 * @conn_id: the connection, in any state
 * @__reserved: must be 0
 *
 * Returns at once. What is outstanding completes with -EIO (flushed), then
 * DISCONNECTED (or FAILED) follows. Wait for your own completions before, if
 * they shall reach the peer.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, ENOTCONN (it has ended already).
 */
struct kverbs_cmd_disconnect {
	__u32 size;
	__u32 flags;
	__u32 conn_id;
	__u32 __reserved;
};

/**
 * enum kverbs_conn_state - where a connection is in its life
 * @KVERBS_CONN_CONNECTING: on its way up, this side asked
 * @KVERBS_CONN_REQUESTED: the peer asked, no answer yet
 * @KVERBS_CONN_ACCEPTING: accepted, not yet established
 * @KVERBS_CONN_ESTABLISHED: up
 * @KVERBS_CONN_CLOSING: on its way down, completions may still come
 * @KVERBS_CONN_DEAD: ended; it only waits for DESTROY
 */
enum kverbs_conn_state {
	KVERBS_CONN_CONNECTING = 1,
	KVERBS_CONN_REQUESTED = 2,
	KVERBS_CONN_ACCEPTING = 3,
	KVERBS_CONN_ESTABLISHED = 4,
	KVERBS_CONN_CLOSING = 5,
	KVERBS_CONN_DEAD = 6,
};

/**
 * struct kverbs_cmd_conn_query - KVERBS_CONN_QUERY: all about a connection
 * @size: sizeof(struct kverbs_cmd_conn_query)
 * @flags: must be 0
 * @conn_id: the connection
 * @priv_len: in: room at @priv_uptr; out: bytes of the peer's private data, as
 *	the CM delivers it, which may be padded with zeroes
 * @priv_uptr: where to put the peer's private data, 0 if @priv_len is 0
 * @out_state: enum kverbs_conn_state
 * @out_error: 0, or the -errno that ended it
 * @out_device_index: the device, as in DEVICE_QUERY; 0xffffffff before it is
 *	known
 * @out_port: the device's port
 * @out_transport: enum kverbs_transport
 * @out_mtu: path MTU, bytes; 0 before it is known
 * @out_local: local address
 * @out_remote: the peer's address
 * @out_sq_depth: work requests that may be in flight
 * @out_rq_depth: receives that may be in flight
 * @out_max_sge: scatter/gather entries in one work request
 * @out_max_read: READs and atomics in flight that this side may start: no more than the
 *	peer answers, 0: none
 * @out_max_msg: largest SEND or RECV, bytes
 * @out_max_segment: most bytes that one segment of an export can cover
 * @out_sq_used: work requests in flight
 * @out_rq_used: receives in flight
 * @out_ops: operations completed well, receives included
 * @out_errors: operations failed, not counting those that the end flushed
 * @out_bytes_out: bytes that SENDs and WRITEs moved
 * @out_bytes_in: bytes that RECVs and READs moved
 * @out_addr_ns: nanoseconds from CONNECT until the peer's address was resolved; 0
 *	before that, and, like the next three, where a request was accepted
 * @out_route_ns: the same until the route was resolved
 * @out_qp_ns: the same until the queue pair was made, and the peer was asked
 * @out_up_ns: the same until it was ESTABLISHED
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EMSGSIZE.
 */
struct kverbs_cmd_conn_query {
	__u32 size;
	__u32 flags;
	__u32 conn_id;
	__u32 priv_len;
	__aligned_u64 priv_uptr;
	__u32 out_state;
	__s32 out_error;
	__u32 out_device_index;
	__u32 out_port;
	__u32 out_transport;
	__u32 out_mtu;
	struct kverbs_addr out_local;
	struct kverbs_addr out_remote;
	__u32 out_sq_depth;
	__u32 out_rq_depth;
	__u32 out_max_sge;
	__u32 out_max_read;
	__aligned_u64 out_max_msg;
	__aligned_u64 out_max_segment;
	__u32 out_sq_used;
	__u32 out_rq_used;
	__aligned_u64 out_ops;
	__aligned_u64 out_errors;
	__aligned_u64 out_bytes_out;
	__aligned_u64 out_bytes_in;
	__aligned_u64 out_addr_ns;
	__aligned_u64 out_route_ns;
	__aligned_u64 out_qp_ns;
	__aligned_u64 out_up_ns;
};

/* Rights that an export gives: kverbs_cmd_export.access */
#define KVERBS_REMOTE_READ	(1U << 0)
#define KVERBS_REMOTE_WRITE	(1U << 1)
#define KVERBS_REMOTE_ATOMIC	(1U << 2)

/**
 * struct kverbs_segment - a part of an export, as the peer must name it
 * @addr: remote address of its first byte; not an address of this host
 * @length: bytes
 * @rkey: remote key
 * @__reserved: 0
 */
struct kverbs_segment {
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 rkey;
	__u32 __reserved;
};

/**
 * struct kverbs_cmd_export - KVERBS_EXPORT: let a connection's peer at memory
 * @size: sizeof(struct kverbs_cmd_export)
 * @flags: must be 0
 * @conn_id: the connection, established; no other can use the keys
 * @region_id: the region
 * @access: KVERBS_REMOTE_*, at least one; WRITE and ATOMIC need a writable region,
 *	ATOMIC a device with KVERBS_CAP_ATOMIC, else EOPNOTSUPP
 * @segs_len: in: room in @segs_uptr; out: segments
 * @offset: first byte in the region
 * @length: bytes, at least 1
 * @segs_uptr: array of struct kverbs_segment, in order, covering exactly the
 *	bytes asked for
 * @out_id: the export
 * @__reserved: must be 0
 *
 * The keys work when it returns. DESTROY of the export takes them back: after
 * it not one byte moves. The export ends with its connection. A peer that knows a
 * key may take it back as well, with SEND_INV: then a RECV's completion says so,
 * and only a new export works again.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, ENOTCONN, EOPNOTSUPP, EMSGSIZE,
 * ENOMEM, ENODEV, EINTR, EIO (registration failed; the connection has ended).
 */
struct kverbs_cmd_export {
	__u32 size;
	__u32 flags;
	__u32 conn_id;
	__u32 region_id;
	__u32 access;
	__u32 segs_len;
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 segs_uptr;
	__u32 out_id;
	__u32 __reserved;
};

/**
 * struct kverbs_cmd_destroy - KVERBS_DESTROY: end an object of any type
 * @size: sizeof(struct kverbs_cmd_destroy)
 * @id: the object
 *
 * When it returns 0 the HCA no longer touches the object's memory, and all work
 * of a connection has completed to the ring. A region is
 * busy while an export or work in flight uses it, a ring while a connection or
 * a listener is attached. A connection takes its exports with it. Completions
 * that are in the ring already stay there.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EBUSY, EINTR.
 */
struct kverbs_cmd_destroy {
	__u32 size;
	__u32 id;
};

/* Bits of kverbs_cmd_bench.flags */
#define KVERBS_BENCH_LATENCY	(1U << 0)	/* one operation at a time, each timed */
#define KVERBS_BENCH_HALF	(1U << 1)	/* count half of each time */

/*
 * Times are counted in buckets. Below 2^KVERBS_BENCH_BUCKET_BITS ns each nanosecond has
 * its own; from there each doubling of the time has as many buckets as that, of one
 * width each; what takes 2^KVERBS_BENCH_TOP_BIT ns or more is in the last one.
 */
#define KVERBS_BENCH_BUCKET_BITS	7
#define KVERBS_BENCH_TOP_BIT		40
#define KVERBS_BENCH_BUCKETS		4353

/* Requests in flight: depth times the segments of an operation */
#define KVERBS_BENCH_REQS_MAX		65536
/* Segments that one operation may touch */
#define KVERBS_BENCH_SEGS_MAX		64
/* Receives that are kept posted */
#define KVERBS_BENCH_RECVS_MAX		1024

/**
 * struct kverbs_cmd_bench - KVERBS_BENCH: have the kernel make traffic, and time it
 * @size: sizeof(struct kverbs_cmd_bench)
 * @flags: KVERBS_BENCH_LATENCY, with it perhaps KVERBS_BENCH_HALF; or 0: bandwidth
 * @conn_id: the connection, established and with no work in flight
 * @region_id: the region of all local buffers, one that is not
 *	KVERBS_REGION_READ_ONLY unless they are only read
 * @offset: where the operations' buffer starts in the region, bytes
 * @length: bytes of an operation, at least 1; 8 of a FETCH_ADD, aligned
 * @opcode: KVERBS_OP_SEND, SEND_IMM, WRITE, WRITE_IMM, READ or FETCH_ADD, of 1
 * @depth: operations in flight, at least 1; the connection's sq_depth limits it too
 * @post_list: operations posted together, 1 to @depth
 * @cq_mod: let only each such operation tell of its completion, and with it of those
 *	before, up to @depth; the last of those posted together always does, on
 *	iWARP each; 0: each
 * @segs_len: segments at @segs_uptr, up to KVERBS_BENCH_SEGS_MAX; 0 for SEND*
 * @segs_uptr: array of struct kverbs_segment as the peer's export gave it; they must
 *	cover @length, and what is beyond it is not touched
 * @warm_up: operations before it counts, up to 2^32 - 1
 * @iterations: operations that count, 1 to 2^32 - 1; or 0 if @duration_ms is given
 * @duration_ms: how long it counts, up to 86400000; or 0
 * @timeout_ms: how long nothing may complete, up to 2^31 - 1, 0: 10000
 * @recvs: receives to keep posted, up to KVERBS_BENCH_RECVS_MAX; see below
 * @recv_length: bytes of each
 * @recv_offset: where the first one's buffer starts in the region
 * @recv_stride: from one receive's buffer to the next one's, bytes
 * @credit: messages that the peer has receives for to begin with, or 0
 * @hist_len: in: room at @hist_uptr; out: KVERBS_BENCH_BUCKETS for LATENCY, else 0
 * @hist_uptr: array of __u64, how many times fell into each bucket; 0 for bandwidth
 * @out_ops: operations that counted
 * @out_sent: operations in all
 * @out_received: messages that came in
 * @out_elapsed_ns: time in which @out_ops were done
 * @out_cpu_ns: of that, the calling thread's on a processor; completions are taken
 *	elsewhere, unless the connection's ring is BUSY_POLL
 * @out_min_ns: LATENCY: the shortest time
 * @out_max_ns: LATENCY: the longest
 * @out_sum_ns: LATENCY: all of them
 * @out_error: 0, or the -errno that ended it early: EIO, ENOTCONN, EINTR, ETIMEDOUT,
 *	EBADMSG or EPROTO for credit that is none, or what a SUBMIT would return
 * @out_wc_status: with EIO the work completion status, enum ib_wc_status by number
 *
 * It posts as any user within the kernel does, and completions are taken as the
 * connection's ring says: by a workqueue, a softirq, or by this command itself.
 *
 * A bandwidth keeps @depth operations in flight. With @credit it sends no more
 * messages than that ahead of what the peer has told in messages of its own, into
 * @recvs: 8 bytes in network order, how many it has receives for again. The same
 * goes for WRITE_IMM, which takes a receive too. Other opcodes have neither.
 *
 * A latency of READ or FETCH_ADD is until its completion. That of SEND* and
 * WRITE_IMM is until a message comes into one of @recvs, of which there must be 1 at
 * least. That of WRITE is until the peer has answered by a WRITE whose last byte, the
 * one at @recv_offset + @recv_length - 1, is the same as that of the WRITE before:
 * n % 255 + 1 for the n-th, counted from 0, which the kernel puts there. @recvs is
 * 0 then.
 *
 * Meanwhile other work for the connection is refused with EBUSY, and so is a second
 * BENCH. A signal ends it. Once anything has been posted it returns 0, and @out_error
 * says how it went; nothing is in flight then. Receives can only be taken
 * back by ending the connection, so that is over if there were any, and if
 * it ended early.
 *
 * Errors, when nothing was posted: EINVAL, E2BIG, EFAULT, ENOENT, EBUSY, ENOTCONN,
 * EOPNOTSUPP, EMSGSIZE (of @hist_len too), EAGAIN, ENOMEM, ENODEV, EINTR.
 */
struct kverbs_cmd_bench {
	__u32 size;
	__u32 flags;
	__u32 conn_id;
	__u32 region_id;
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 opcode;
	__u32 depth;
	__u32 post_list;
	__u32 segs_len;
	__aligned_u64 segs_uptr;
	__aligned_u64 warm_up;
	__aligned_u64 iterations;
	__u32 duration_ms;
	__u32 timeout_ms;
	__u32 recvs;
	__u32 recv_length;
	__aligned_u64 recv_offset;
	__u32 recv_stride;
	__u32 credit;
	__aligned_u64 hist_uptr;
	__u32 hist_len;
	__u32 cq_mod;
	__aligned_u64 out_ops;
	__aligned_u64 out_sent;
	__aligned_u64 out_received;
	__aligned_u64 out_elapsed_ns;
	__aligned_u64 out_cpu_ns;
	__aligned_u64 out_min_ns;
	__aligned_u64 out_max_ns;
	__aligned_u64 out_sum_ns;
	__s32 out_error;
	__u32 out_wc_status;
};

#endif /* _UAPI_LINUX_KVERBS_H */
