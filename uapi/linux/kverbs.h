/* SPDX-License-Identifier: ((GPL-2.0 WITH Linux-syscall-note) OR Linux-OpenIB) */
/*
 * kverbs: the kernel's RDMA transport for user space.
 *
 * This is the whole contract between kverbs.ko and its users. See
 * Documentation/reference/uapi.rst for how the commands work together.
 */
#ifndef _UAPI_LINUX_KVERBS_H
#define _UAPI_LINUX_KVERBS_H

#include <linux/ioctl.h>
#include <linux/types.h>

/**
 * DOC: General
 *
 * Every object belongs to the open file of /dev/kverbs that it was created
 * with: one open file is one security domain. Objects (rings, regions, pools,
 * listeners, groups, connections, exports) are named by __u32 ids, which are private to
 * the file, never 0, and not reused while a completion that names them may be
 * unread.
 *
 * Every command is an ioctl on that file whose argument is a pointer to the
 * command's struct. The struct begins with its own size. A caller built
 * against an older header passes a shorter struct and the kernel reads the rest
 * as zero; a caller built against a newer one may pass a longer struct if the
 * part that the kernel does not know is zero. Zero always means "as before, or
 * the default". Fields named out_* are written by the kernel and not read, those
 * named inout_* are read and then written; reserved fields and unknown flags must be
 * zero.
 *
 * An array is described by its address (*_uptr), the number of its elements and the
 * size of one element (*_stride), so that its elements can grow, too. The rules for
 * the size of a struct hold for each element; a stride of 0 is the size in ABI version
 * 2.
 *
 * Times are in nanoseconds. A time at which a command gives up is relative to its
 * begin or, with KVERBS_TIME_ABSOLUTE in its flags, a time of CLOCK_MONOTONIC as the
 * caller's time namespace shows it.
 *
 * Commands return 0 or one of:
 *
 * - ENOTTY: there is no such command.
 * - E2BIG: the struct is longer than the kernel's, and the excess is not zero.
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
 * - ESTALE: the exporter of a dma-buf has revoked its memory.
 * - EPERM, ENOMEM: a limit: RLIMIT_MEMLOCK, objects per file, memory.
 * - EDQUOT: the limit that rdma.max of the caller's control group has for the
 *   device.
 * - EAGAIN: no free completion slot; reap completions, retry.
 * - EADDRINUSE, EADDRNOTAVAIL, EACCES: as bind(2) means them.
 * - EBADF: the file is not open for writing, which all commands need but INFO,
 *   DEVICE_QUERY and CONN_QUERY.
 * - EFAULT, EINTR: as usual. A struct without out_ fields is only read.
 *   If the out_ fields cannot be written, no object was created. SUBMIT may have
 *   accepted entries even so: the ring's sq_head shows how many.
 *
 * The last completion of a connection carries one of ECONNREFUSED, ECONNRESET,
 * ETIMEDOUT, EHOSTUNREACH, ENETUNREACH, ECANCELED, ENODEV, ESTALE, EDQUOT, EINVAL
 * (depths or an address that the device cannot serve) or EIO, as a negative number,
 * or 0 if this side disconnected.
 *
 * A failed work request completes with -EIO and its work completion status.
 *
 * The ioctl letter 0xBC with numbers 00-1F is not registered in the kernel's
 * ioctl-number.rst: kverbs is an out-of-tree module.
 */

#define KVERBS_ABI_VERSION	2
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
#define KVERBS_GROUP_CREATE	_IO(KVERBS_IOC_TYPE, 0x0E)
#define KVERBS_POOL_CREATE	_IO(KVERBS_IOC_TYPE, 0x0F)
#define KVERBS_REGION_EXPORT_FD	_IO(KVERBS_IOC_TYPE, 0x10)

/* Bit of flags of CONNECT, ACCEPT and SUBMIT: @timeout_ns is a time, not a duration */
#define KVERBS_TIME_ABSOLUTE	(1U << 31)

/* Bits of kverbs_cmd_info.out_features */
#define KVERBS_FEATURE_BENCH	(1ULL << 0)	/* KVERBS_BENCH, if kverbs_bench.ko is installed */
#define KVERBS_FEATURE_GROUP	(1ULL << 1)	/* KVERBS_GROUP_CREATE, and exports of groups */
#define KVERBS_FEATURE_IOVA	(1ULL << 2)	/* KVERBS_EXPORT_IOVA */
#define KVERBS_FEATURE_POOL	(1ULL << 3)	/* KVERBS_POOL_CREATE: receive pools */
#define KVERBS_FEATURE_TRACK	(1ULL << 4)	/* KVERBS_REGION_TRACK */
#define KVERBS_FEATURE_REGION_FD (1ULL << 5)	/* KVERBS_REGION_EXPORT_FD, KVERBS_REGION_FD */
#define KVERBS_FEATURE_RING_FD	(1ULL << 6)	/* KVERBS_RING_FD */
#define KVERBS_FEATURE_WAKE	(1ULL << 7)	/* KVERBS_UFLAG_NO_WAIT, KVERBS_SUBMIT_WAKE */
#define KVERBS_FEATURE_DMABUF	(1ULL << 8)	/* KVERBS_REGION_DMABUF */

/* Bits of kverbs_op_info.flags */
#define KVERBS_OP_INFO_REMOTE	(1U << 0)	/* names memory of the peer */
#define KVERBS_OP_INFO_STORES	(1U << 1)	/* stores to the local buffer */
#define KVERBS_OP_INFO_CONSUMES	(1U << 2)	/* consumes a receive of the peer */
#define KVERBS_OP_INFO_NO_IWARP	(1U << 3)	/* not on iWARP */

/**
 * struct kverbs_op_info - one opcode that the module supports
 * @opcode: enum kverbs_opcode
 * @flags: KVERBS_OP_INFO_*
 * @sqe_flags: KVERBS_SQE_* that an entry of it may have
 * @caps: KVERBS_CAP_* that the connection's device must have
 */
struct kverbs_op_info {
	__u16 opcode;
	__u16 flags;
	__u32 sqe_flags;
	__u32 caps;
};

/**
 * struct kverbs_cmd_info - KVERBS_INFO: limits and features of the module
 * @size: sizeof(struct kverbs_cmd_info)
 * @flags: must be 0
 * @out_abi: KVERBS_ABI_VERSION of the module
 * @out_nr_devices: RDMA devices that the caller's network namespace can use now
 * @inout_ops_len: in: room in @ops_uptr; out: opcodes that the module supports
 * @ops_stride: bytes from one element of @ops_uptr to the next
 * @ops_uptr: array of struct kverbs_op_info, may be 0 if @inout_ops_len is 0
 * @out_features: KVERBS_FEATURE_*
 * @out_max_objects: objects that one file may hold at a time
 * @out_max_rings: rings that one file may hold at a time
 * @out_max_sq_entries: largest submission ring
 * @out_max_cq_entries: largest completion ring
 * @out_max_list: pieces in the list of one entry, see KVERBS_SQE_LIST
 * @out_max_backlog: largest backlog of a listener
 * @out_max_depth: largest @sq_depth and @rq_depth of a connection; the device may
 *	allow less
 * @out_max_sge: largest @max_sge of a connection; the device may allow less
 * @out_max_read: largest @max_read of a connection; the device may allow less
 * @out_max_priv_connect: bytes of private data that CONNECT can carry
 * @out_max_priv_accept: bytes of private data that ACCEPT can carry
 * @out_max_priv_reject: bytes of private data that REJECT can carry
 * @out_version: the module's version, a NUL-terminated string
 * @out_max_pools: receive pools that one file may hold at a time
 * @out_max_pool_entries: largest receive pool
 *
 * If @ops_uptr has not enough room, the command fills it, sets all other fields and
 * returns EMSGSIZE, unless @inout_ops_len was 0.
 *
 * Errors: EINVAL, E2BIG, EFAULT, EMSGSIZE.
 */
struct kverbs_cmd_info {
	__u32 size;
	__u32 flags;
	__u32 out_abi;
	__u32 out_nr_devices;
	__u32 inout_ops_len;
	__u32 ops_stride;
	__aligned_u64 ops_uptr;
	__aligned_u64 out_features;
	__u32 out_max_objects;
	__u32 out_max_rings;
	__u32 out_max_sq_entries;
	__u32 out_max_cq_entries;
	__u32 out_max_list;
	__u32 out_max_backlog;
	__u32 out_max_depth;
	__u32 out_max_sge;
	__u32 out_max_read;
	__u32 out_max_priv_connect;
	__u32 out_max_priv_accept;
	__u32 out_max_priv_reject;
	char out_version[32];
	__u32 out_max_pools;
	__u32 out_max_pool_entries;
};

/**
 * enum kverbs_transport - transport protocol of a port
 * @KVERBS_TRANSPORT_UNKNOWN: not known to kverbs
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
 * enum kverbs_gid_type - packet format that a GID selects
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
 * @sm_lid: local identifier of the subnet manager, InfiniBand only
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
 * @ifindex: the network interface that the address belongs to, 0 if none
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
 * enum kverbs_unusable - why kverbs cannot use a device
 * @KVERBS_USABLE: it can
 * @KVERBS_UNUSABLE_NO_KERNEL_VERBS: the driver offers its verbs to user space only
 * @KVERBS_UNUSABLE_NO_FAST_REG: the device does not register memory by work requests
 *	(IB_DEVICE_MEM_MGT_EXTENSIONS)
 * @KVERBS_UNUSABLE_NO_MR_PAGES: a memory region that is registered by a work request
 *	cannot cover a page
 * @KVERBS_UNUSABLE_NO_CM: no port has a connection manager, of InfiniBand, RoCE or iWARP
 * @KVERBS_UNUSABLE_SWITCH: the device is a switch, and has no connection manager
 * @KVERBS_UNUSABLE_NETNS: the device is in another network namespace
 * @KVERBS_UNUSABLE_FIXED_IOVA: the driver registers memory correctly only at its DMA address,
 *	which a peer must not learn
 */
enum kverbs_unusable {
	KVERBS_USABLE = 0,
	KVERBS_UNUSABLE_NO_KERNEL_VERBS = 1,
	KVERBS_UNUSABLE_NO_FAST_REG = 2,
	KVERBS_UNUSABLE_NO_MR_PAGES = 3,
	KVERBS_UNUSABLE_NO_CM = 4,
	KVERBS_UNUSABLE_SWITCH = 5,
	KVERBS_UNUSABLE_NETNS = 6,
	KVERBS_UNUSABLE_FIXED_IOVA = 7,
};

/**
 * struct kverbs_cmd_device_query - KVERBS_DEVICE_QUERY: one device
 * @size: sizeof(struct kverbs_cmd_device_query)
 * @flags: must be 0
 * @index: query the device with this index, or the next one above it; start at 0
 *	and continue with @out_index + 1 until ENODEV. Devices of another network
 *	namespace are skipped, unless the caller has CAP_NET_ADMIN in the user
 *	namespace that owns that
 * @__reserved: must be 0
 * @inout_ports_len: in: room in @ports_uptr; out: ports of the device
 * @ports_stride: bytes from one element of @ports_uptr to the next
 * @inout_gids_len: in: room in @gids_uptr; out: used GID slots of all ports
 * @gids_stride: bytes from one element of @gids_uptr to the next
 * @ports_uptr: array of struct kverbs_port, may be 0 if @inout_ports_len is 0
 * @gids_uptr: array of struct kverbs_gid, may be 0 if @inout_gids_len is 0
 * @out_index: the device's index, as in "rdma dev"
 * @out_caps: KVERBS_CAP_*. KVERBS_CAP_ATOMIC: an export may have the right to
 *	atomics; cleared once the device has refused that. Not every driver posts
 *	atomics itself, mlx5 does not
 * @out_name: the device's name, NUL-terminated
 * @out_fw_version: firmware version, NUL-terminated, may be empty
 * @out_node_guid: node GUID in network order, different for each device of an
 *	adapter
 * @out_sys_image_guid: system image GUID in network order
 * @out_vendor_id: IEEE vendor number
 * @out_vendor_part_id: the vendor's part number
 * @out_hw_version: hardware version
 * @out_max_qp: queue pairs
 * @out_max_qp_wr: work requests in one queue
 * @out_max_send_sge: scatter/gather entries of a SEND or WRITE
 * @out_max_read_sge: scatter/gather entries of a READ
 * @out_max_cqe: entries in one completion queue
 * @out_max_mr: memory regions
 * @out_max_mr_pages: pages in one fast-registered memory region; times the page
 *	size, this limits the length of one segment of an export, unless the device
 *	registers huge pages as such
 * @out_max_rd_atomic: READs and atomics in flight per connection as a target
 * @out_max_init_rd_atomic: READs and atomics in flight per connection as a
 *	source
 * @out_driver: the driver's module, such as "mlx5_ib", "irdma" or "rdma_rxe",
 *	NUL-terminated, empty if the driver is built in
 * @out_unusable: enum kverbs_unusable; such a device is not in @out_nr_devices of
 *	INFO, and its ports are those that can be queried
 * @out_numa_node: NUMA node of the device, -1 if unknown
 * @out_max_recv_sge: scatter/gather entries of a RECV
 * @__reserved2: 0
 *
 * If an array is too small, the command fills it, sets all other fields and
 * returns EMSGSIZE.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENODEV, EMSGSIZE, ENOMEM.
 */
struct kverbs_cmd_device_query {
	__u32 size;
	__u32 flags;
	__u32 index;
	__u32 __reserved;
	__u32 inout_ports_len;
	__u32 ports_stride;
	__u32 inout_gids_len;
	__u32 gids_stride;
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
	__u32 out_unusable;
	__s32 out_numa_node;
	__u32 out_max_recv_sge;
	__u32 __reserved2;
};

/**
 * enum kverbs_opcode - operation that a submission entry requests
 * @KVERBS_OP_SEND: send a message into a receive of the peer
 * @KVERBS_OP_RECV: receive one message
 * @KVERBS_OP_WRITE: write into the peer's export
 * @KVERBS_OP_WRITE_IMM: write into the peer's export, and complete a receive of
 *	the peer
 * @KVERBS_OP_READ: read from the peer's export
 * @KVERBS_OP_SEND_IMM: send a message with four bytes of immediate data
 * @KVERBS_OP_SEND_INV: send a message and revoke a key of the peer's export
 * @KVERBS_OP_CMP_SWAP: replace 8 bytes of the peer's export if they equal the
 *	expected value; the local buffer receives the previous value
 * @KVERBS_OP_FETCH_ADD: add to 8 bytes of the peer's export; the local buffer
 *	receives the previous value
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
#define KVERBS_SQE_SIGNAL	(1U << 0)	/* report success as well as failure */
#define KVERBS_SQE_FENCE	(1U << 1)	/* wait for earlier READs and atomics */
#define KVERBS_SQE_SOLICITED	(1U << 2)	/* solicited event at the peer */
#define KVERBS_SQE_LIST		(1U << 3)	/* the buffer is a list of pieces */

/* Most pieces in the list of one entry, see KVERBS_SQE_LIST */
#define KVERBS_LIST_MAX	32

/**
 * struct kverbs_piece - one of several pieces of a local buffer
 * @offset: start of the piece in the region, bytes
 * @length: bytes, at least 1
 * @region_id: the region
 * @__reserved: must be 0
 */
struct kverbs_piece {
	__aligned_u64 offset;
	__aligned_u64 length;
	__u32 region_id;
	__u32 __reserved;
};

/**
 * struct kverbs_sqe - a submission entry, written by user space
 * @opcode: enum kverbs_opcode
 * @flags: KVERBS_SQE_*; RECV always reports a completion and accepts no flag but
 *	KVERBS_SQE_LIST, which atomics do not accept
 * @__reserved: must be 0
 * @conn_id: the connection
 * @user_data: copied to the completion, not interpreted
 * @remote_addr: WRITE*, READ, atomics: address from the peer's export, plus
 *	offset; a multiple of 8 for an atomic
 * @rkey: WRITE*, READ, atomics: key from the peer's export; SEND_INV: the key to
 *	revoke
 * @imm: *_IMM: four bytes for the peer, not converted
 * @region_id: the local buffer's region; must be 0 if @length is 0 or with a list
 * @piece_stride: with KVERBS_SQE_LIST: bytes from one piece to the next, else 0
 * @offset: start of the local buffer in the region, bytes; with KVERBS_SQE_LIST
 *	the address of an array of struct kverbs_piece; an atomic's 8 bytes must be
 *	aligned in memory
 * @length: the local buffer's length, at most 2^32 - 1 bytes, as the pieces together;
 *	with KVERBS_SQE_LIST the number of pieces, 1 to KVERBS_LIST_MAX
 * @swap: CMP_SWAP: the new value, in place of @length, which is 8
 * @operand: CMP_SWAP: the expected value; FETCH_ADD: the value to add; else 0
 *
 * An atomic's values are in the byte order of the hosts, which must be the same.
 * An atomic is atomic with respect to other atomics of the peer's device, but not
 * to the peer's CPU (IB_ATOMIC_HCA) unless the device guarantees more.
 *
 * RECV fails with EINVAL on a connection that names a receive pool.
 *
 * READ, RECV and atomics need a region that is not KVERBS_REGION_READ_ONLY. Without
 * KVERBS_SQE_SIGNAL an operation reports a completion only if it fails. Small
 * operations that one SUBMIT accepts may be coalesced, up to 32 operations or
 * 16 KiB. If the connection breaks before they complete, all of them fail, even
 * those that have reached the peer.
 *
 * Operations other than RECV need an established connection. SUBMIT reads the list
 * of an entry when it accepts the entry. EOPNOTSUPP is returned for immediate data
 * and atomics on iWARP, for atomics on a device without KVERBS_CAP_ATOMIC or whose
 * driver does not post them, and for READ and atomics if the peer answers none
 * (@out_max_read of CONN_QUERY is 0).
 *
 * Receives are accepted as soon as a connection has an id, and are posted before
 * the peer can send. A receive whose buffer needs more scatter/gather entries than
 * the connection has is deferred until the connection is established, and so are
 * the receives after it. On an established connection a receive has been posted
 * when SUBMIT returns, unless more than @rq_depth are under way.
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
	__u32 piece_stride;
	__aligned_u64 offset;
	union {
		__aligned_u64 length;
		__aligned_u64 swap;
	};
	__aligned_u64 operand;
};

/**
 * enum kverbs_cqe_type - event that a completion reports
 * @KVERBS_CQE_WORK: the operation of a submission entry has completed
 * @KVERBS_CQE_CONN_REQUEST: a peer requests a connection from a listener: @id is
 *	the new connection's, user_data the listener's; ACCEPT, REJECT or DESTROY it
 * @KVERBS_CQE_ESTABLISHED: the connection is up; a receive may complete before
 * @KVERBS_CQE_DISCONNECTED: the connection was up and has ended
 * @KVERBS_CQE_REJECTED: the peer rejected the request
 * @KVERBS_CQE_FAILED: the connection was never established
 * @KVERBS_CQE_DEVICE_REMOVED: the device of a connection or a listener was
 *	removed
 * @KVERBS_CQE_REGION_STALE: the memory of a region with KVERBS_REGION_TRACK has changed:
 *	@id is the region's
 *
 * Exactly one of DISCONNECTED, REJECTED, FAILED and DEVICE_REMOVED is the last completion of
 * a connection, unless the connection is destroyed before.
 */
enum kverbs_cqe_type {
	KVERBS_CQE_WORK = 1,
	KVERBS_CQE_CONN_REQUEST = 2,
	KVERBS_CQE_ESTABLISHED = 3,
	KVERBS_CQE_DISCONNECTED = 4,
	KVERBS_CQE_REJECTED = 5,
	KVERBS_CQE_FAILED = 6,
	KVERBS_CQE_DEVICE_REMOVED = 7,
	KVERBS_CQE_REGION_STALE = 8,
};

/* Bits of kverbs_cqe.flags */
#define KVERBS_CQE_F_RECV	(1U << 0)	/* the entry was a RECV */
#define KVERBS_CQE_F_IMM	(1U << 1)	/* @imm is immediate data */
#define KVERBS_CQE_F_WRITE	(1U << 2)	/* the peer's WRITE_IMM completed the RECV */
#define KVERBS_CQE_F_INV	(1U << 3)	/* the peer revoked a key */
#define KVERBS_CQE_F_BUFFER	(1U << 4)	/* @buf_id names a buffer of the receive pool */
#define KVERBS_CQE_F_MORE	(1U << 5)	/* the connection takes more buffers of the pool */

/**
 * struct kverbs_cqe - a completion, written by the kernel
 * @user_data: the entry's; for events, and with KVERBS_CQE_F_BUFFER, the connection's, the
 *	listener's or the region's
 * @id: the connection, the listener that lost its device, or the stale region
 * @result: 0 or -errno
 * @type: enum kverbs_cqe_type
 * @wc_status: WORK: work completion status, enum ib_wc_status by number
 * @flags: KVERBS_CQE_F_*
 * @byte_len: WORK: bytes moved; for a RECV bytes received
 * @imm: KVERBS_CQE_F_IMM: the peer's immediate data, not converted
 * @revoked_key: KVERBS_CQE_F_INV: the key that the peer's SEND_INV revoked
 * @reject_reason: REJECTED: number of the reason
 * @buf_id: KVERBS_CQE_F_BUFFER: the buffer, which is the program's again
 * @__reserved: 0
 *
 * @imm, @revoked_key and @reject_reason share their place; it is 0 if none applies.
 *
 * A receive from a pool has KVERBS_CQE_F_RECV and KVERBS_CQE_F_BUFFER, and with
 * KVERBS_CQE_F_MORE the connection went on when it completed. Without that flag the
 * connection has ended, and the buffer comes back unused.
 */
struct kverbs_cqe {
	__aligned_u64 user_data;
	__u32 id;
	__s32 result;
	__u8 type;
	__u8 wc_status;
	__u16 flags;
	__u32 byte_len;
	union {
		__u32 imm;
		__u32 revoked_key;
		__u32 reject_reason;
	};
	__u16 buf_id;
	__u16 __reserved;
};

/* Bits of kverbs_ring_kernel.flags */
#define KVERBS_KFLAG_FULL	(1U << 0)	/* SUBMIT stopped for want of a completion slot */
#define KVERBS_KFLAG_BAD_INDEX	(1U << 1)	/* @sq_tail was out of range */

/**
 * struct kverbs_ring_kernel - head of the completion mapping, written by the kernel
 * @sq_head: submission entries accepted so far, modulo 2^32; written with release
 * @flags: KVERBS_KFLAG_FULL, until a SUBMIT accepts all that it finds, and
 *	KVERBS_KFLAG_BAD_INDEX, for good
 * @__reserved: 0; keeps what different CPUs write on separate cache lines
 * @cq_tail: completions written so far, modulo 2^32; read it with acquire
 * @__reserved2: 0
 * @sq_entries: size of the submission ring, a power of two
 * @cq_entries: size of the completion ring, a power of two
 * @stale: regions that became stale so far, modulo 2^32, each with a completion
 *	KVERBS_CQE_REGION_STALE in this ring; read it with acquire
 * @__reserved3: 0
 *
 * The completions are at @out_cqes_offset of the mapping: completion n, counted from 0,
 * at index n & (cq_entries - 1).
 */
struct kverbs_ring_kernel {
	__u32 sq_head;
	__u32 flags;
	__u32 __reserved[14];
	__u32 cq_tail;
	__u32 __reserved2[15];
	__u32 sq_entries;
	__u32 cq_entries;
	__u32 stale;
	__u32 __reserved3[13];
};

/* Bits of kverbs_ring_user.flags */
#define KVERBS_UFLAG_NO_EVENTFD	(1U << 0)	/* do not signal the eventfd */
#define KVERBS_UFLAG_WANT_ROOM	(1U << 1)	/* a free completion slot ends a wait, too */
#define KVERBS_UFLAG_NO_WAIT	(1U << 2)	/* SUBMIT does not wait */

/**
 * struct kverbs_ring_user - the index page, written by user space
 * @sq_tail: submission entries filled so far, modulo 2^32; write with release
 * @__reserved: 0; keeps the two indices on separate cache lines
 * @cq_head: completions read so far, modulo 2^32; write with release
 * @flags: any of KVERBS_UFLAG_NO_EVENTFD, KVERBS_UFLAG_WANT_ROOM and KVERBS_UFLAG_NO_WAIT; other
 *	bits are ignored
 * @__reserved2: 0
 *
 * Work without KVERBS_SQE_SIGNAL gives its completion slot back without a completion.
 * With KVERBS_UFLAG_WANT_ROOM that ends the wait of SUBMIT, signals the eventfd and lets
 * poll(2) report POLLOUT, as long as a slot is free.
 *
 * With KVERBS_UFLAG_NO_WAIT SUBMIT does not wait, and poll(2) reports POLLIN. Tasks that wait
 * already notice it at the next SUBMIT with KVERBS_SUBMIT_WAKE, which a signal handler
 * may call: this way a process ends the waits of all its threads.
 *
 * The kernel does not trust the indices: with a wrong index a process loses its
 * own entries or completions and nothing else.
 */
struct kverbs_ring_user {
	__u32 sq_tail;
	__u32 __reserved[15];
	__u32 cq_head;
	__u32 flags;
	__u32 __reserved2[14];
};

/* Bits of kverbs_cmd_ring_create.flags; BUSY_POLL excludes EVENTFD and SOFTIRQ */
#define KVERBS_RING_BUSY_POLL	(1U << 0)	/* SUBMIT polls for completions */
#define KVERBS_RING_EVENTFD	(1U << 1)	/* signal @event_fd on completions */
#define KVERBS_RING_SOFTIRQ	(1U << 2)	/* a softirq polls the device, not a thread */
#define KVERBS_RING_FD		(1U << 3)	/* the ring gets a descriptor of its own */

/**
 * struct kverbs_cmd_ring_create - KVERBS_RING_CREATE: create a shared ring
 * @size: sizeof(struct kverbs_cmd_ring_create)
 * @flags: KVERBS_RING_BUSY_POLL, or any of KVERBS_RING_EVENTFD and KVERBS_RING_SOFTIRQ; and
 *	KVERBS_RING_FD
 * @sq_entries: submission entries, a power of two
 * @cq_entries: completions, a power of two. Every accepted entry reserves one, and
 *	so does every possible event: two per connection, three if a peer requested
 *	it, one per listener, one per region with KVERBS_REGION_TRACK
 * @out_id: the ring
 * @event_fd: with KVERBS_RING_EVENTFD an eventfd(2): the kernel adds 1 to its count
 *	each time it writes one or more completions; else must be 0
 * @out_sq_offset: mmap(2) offset of the submission entries (read and write)
 * @out_cq_offset: mmap(2) offset of struct kverbs_ring_kernel and the
 *	completions (read only)
 * @out_idx_offset: mmap(2) offset of struct kverbs_ring_user (read and write)
 * @out_sq_size: bytes to map at @out_sq_offset
 * @out_cq_size: bytes to map at @out_cq_offset
 * @out_idx_size: bytes to map at @out_idx_offset
 * @out_cqes_offset: of the first completion in the mapping at @out_cq_offset, bytes
 * @out_fd: with KVERBS_RING_FD a descriptor of the ring, with FD_CLOEXEC; else 0
 * @__reserved: 0
 *
 * Map each area with MAP_SHARED and exactly its size. A child of fork(2) does not
 * inherit the mappings. A file holds 256 rings at most.
 *
 * The descriptor that KVERBS_RING_FD asks for can be mapped, at the same offsets, and poll(2)
 * on it reports this ring only, while poll(2) on /dev/kverbs leaves it out: POLLIN while
 * completions are unread, POLLOUT while a completion slot is free. It can be passed to another
 * process, which then shares the ring, but can do nothing else with the file: SUBMIT and all
 * other commands need /dev/kverbs. The descriptor keeps the module loaded, but not the ring. Once
 * the ring is destroyed or its file closed, poll(2) reports POLLHUP and mmap(2) fails with ENODEV;
 * what is mapped stays readable and does not change any more.
 *
 * A thread of a workqueue polls the device for completions. On a SOFTIRQ ring a
 * softirq of the interrupted CPU does so: this is sooner, but delays the programs
 * on that CPU.
 *
 * On a BUSY_POLL ring no interrupt reports that work has completed. SUBMIT polls
 * the device: once when it begins and, if it has to wait, continuously and without
 * sleeping. Work completes only during SUBMIT, and poll(2) does not report it.
 * Events of connections and listeners need no SUBMIT. If ACCEPT has moved a
 * connection to this ring, SUBMIT on this ring polls for it, even for work that
 * was submitted on another ring.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOMEM; EBADF, EINVAL: @event_fd is not an eventfd; with
 * KVERBS_RING_FD EMFILE, ENFILE.
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
	__aligned_u64 out_cqes_offset;
	__s32 out_fd;
	__u32 __reserved;
};

/* Bits of kverbs_cmd_submit.flags */
#define KVERBS_SUBMIT_WATCH	(1U << 0)	/* wait for a change of a byte, too */
#define KVERBS_SUBMIT_WAKE	(1U << 1)	/* tasks that wait check the ring's flags again */

/**
 * struct kverbs_cmd_submit - KVERBS_SUBMIT: submit entries, wait for completions
 * @size: sizeof(struct kverbs_cmd_submit)
 * @flags: any of KVERBS_SUBMIT_WATCH, KVERBS_SUBMIT_WAKE and KVERBS_TIME_ABSOLUTE
 * @ring_id: the ring
 * @to_submit: accept at most this many entries from the submission ring
 * @min_complete: then wait until this many completions are unread; 0: do not wait
 * @out_taken: entries accepted; none of them is accepted again
 * @timeout_ns: when to stop waiting, from the begin of the wait; 0: never
 * @out_ready: completions unread on return
 * @out_error: 0; -EAGAIN if there was no completion slot for the next entry; -EINVAL if
 *	the ring's @sq_tail is out of range
 * @watch_uptr: WATCH: address of the byte, else 0
 * @watch_old: WATCH: the byte's previous value, 0-255; else 0
 * @pool_id: a receive pool whose waiting connections look for buffers again, 0: none
 *
 * SUBMIT accepts every entry for which there is a free completion slot, and reads it once.
 * An invalid entry completes with an error, with or without KVERBS_SQE_SIGNAL: EINVAL,
 * EFAULT, ENOENT, ENOTCONN, EBUSY (BENCH uses the connection), ENODEV, EOPNOTSUPP,
 * EMSGSIZE, ENOMEM or EDQUOT; with a region of a dma-buf also ESTALE, or what its exporter
 * says. That completion is in the ring when SUBMIT returns. Later operations of this SUBMIT
 * for the same connection, except receives, complete with ECANCELED, so that none overtakes one
 * that failed.
 *
 * EMSGSIZE is of an operation that is too large. A SEND or RECV has @out_max_msg of
 * CONN_QUERY. A READ, a WRITE or an atomic is at most 64 work requests, and at most
 * @sq_depth. Memory in more pieces than a work request has entries is registered in chunks
 * of at most @out_max_segment; on first use each registration is one of these work
 * requests. On iWARP each work request of a READ moves at most one such chunk, so that a
 * READ is at most 64 times @out_max_segment.
 *
 * If the connection's queue is full, operations are held until there is room, and are then
 * posted in order; other connections are not delayed. If a held operation cannot be
 * posted, it completes with an error, and the connection ends.
 *
 * Returns 0 if an entry was accepted, if @to_submit is 0, if the time is over, or with
 * KVERBS_UFLAG_NO_WAIT: check @out_taken and @out_ready. If no entry could be accepted, SUBMIT
 * returns @out_error and does not wait. A signal ends the wait with EINTR, or with 0 if
 * entries were accepted.
 *
 * A peer's WRITE or atomic generates no completion here. With WATCH, which needs
 * @min_complete, the wait also ends when the byte differs from @watch_old or can
 * no longer be read. The calling task polls the byte continuously, as on a
 * BUSY_POLL ring, and yields the CPU to other tasks. The byte says nothing about
 * other bytes: those of the same WRITE may arrive later, in any order. Data
 * written before may be read after the completion of a RECV that the peer caused
 * behind it, by SEND or WRITE_IMM.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EAGAIN, EINTR.
 */
struct kverbs_cmd_submit {
	__u32 size;
	__u32 flags;
	__u32 ring_id;
	__u32 to_submit;
	__u32 min_complete;
	__u32 out_taken;
	__aligned_u64 timeout_ns;
	__u32 out_ready;
	__s32 out_error;
	__aligned_u64 watch_uptr;
	__u32 watch_old;
	__u32 pool_id;
};

/* Bits of kverbs_cmd_region_create.flags */
#define KVERBS_REGION_READ_ONLY	(1U << 0)	/* the HCA only reads it */
#define KVERBS_REGION_TRACK	(1U << 1)	/* tell when the memory has changed */
#define KVERBS_REGION_FD	(1U << 2)	/* the memory of KVERBS_REGION_EXPORT_FD */
#define KVERBS_REGION_DMABUF	(1U << 3)	/* a part of a dma-buf */

/**
 * struct kverbs_cmd_region_create - KVERBS_REGION_CREATE: pin memory
 * @size: sizeof(struct kverbs_cmd_region_create)
 * @flags: KVERBS_REGION_READ_ONLY or 0, and at most one of KVERBS_REGION_TRACK, KVERBS_REGION_FD
 *	and KVERBS_REGION_DMABUF
 * @addr: start of the memory in the caller's address space, any alignment; with
 *	KVERBS_REGION_FD must be 0; with KVERBS_REGION_DMABUF the offset of the first byte in the
 *	dma-buf
 * @length: bytes, at least 1; with KVERBS_REGION_FD must be 0
 * @out_id: the region
 * @ring_id: with KVERBS_REGION_TRACK the ring that tells when the region becomes stale;
 *	else must be 0
 * @user_data: with KVERBS_REGION_TRACK: copied to that completion, not interpreted; else
 *	must be 0
 * @fd: with KVERBS_REGION_FD a descriptor from KVERBS_REGION_EXPORT_FD, with
 *	KVERBS_REGION_DMABUF one of a dma-buf; else must be 0
 * @__reserved: must be 0
 * @out_length: bytes of the region
 *
 * The pages are pinned and charged to the caller's RLIMIT_MEMLOCK, unless the
 * caller has CAP_IPC_LOCK. EFAULT or EOPNOTSUPP is returned for memory that cannot
 * be pinned long-term, such as a writable shared mapping of a file on disk.
 *
 * A region keeps its pages, even if the process unmaps the memory and maps other memory at
 * the same address. With KVERBS_REGION_TRACK the region becomes stale then: when a part of
 * the range, in whole pages, is unmapped, remapped or discarded (munmap, mremap, mmap over
 * it, MADV_DONTNEED, MADV_FREE, a hole in its file, or its truncation by any process), and
 * when the process exits or calls execve(2). Before the system call that does so
 * returns, @stale of struct kverbs_ring_kernel has been incremented, and a completion
 * KVERBS_CQE_REGION_STALE with @user_data is in the ring, whose slot was reserved by
 * REGION_CREATE. A region becomes stale once, and stays so. Work in flight and later work
 * still use the pages of the region, which is of no use but to be destroyed.
 *
 * fork(2), in the parent, and mprotect(2) do not make a region stale. However, the kernel
 * may report a change that then does not happen: if it splits a transparent huge page that
 * is in the region in part, which fork and mprotect may do, at fork with private
 * memory of hugetlbfs, and if it tries to move or to merge pages. So a region may become
 * stale without need, but never has other pages than the process without being stale.
 *
 * A tracked region keeps its ring busy. Its completion may precede the return of
 * REGION_CREATE, if the memory changes that early. If REGION_CREATE then fails, the
 * completion names a region that does not exist.
 *
 * With KVERBS_REGION_FD the region refers to memory that is pinned already, which the caller
 * need not have mapped; nothing is charged. What one region is used for does not concern the
 * other: it may be destroyed, and the file that it belongs to closed, at any time.
 *
 * With KVERBS_REGION_DMABUF the region is a part of the memory of a dma-buf, such as that of a GPU.
 * It keeps the dma-buf, whose descriptor may be closed. The memory is the exporter's: nothing is
 * charged, and the exporter pins it when the region is first used on a device. That use, which may
 * be an entry or EXPORT, fails with the error of the exporter if the device cannot reach the
 * memory, and with EOPNOTSUPP on a device that has no DMA, such as Soft-RoCE and Soft-iWARP. The
 * exporter may revoke the memory, for example when its own device is removed. Then the connections
 * end that have used the region, and so do all those of a group for which an export or a shared
 * receive queue has used it. The error in their last completion is ESTALE, with which later uses
 * fail, too. The RDMA device may access the memory until the connections have ended.
 *
 * Errors: EINVAL, E2BIG, EFAULT, EOPNOTSUPP (KVERBS_REGION_TRACK without
 * KVERBS_FEATURE_TRACK, too), EPERM, ENOMEM, EINTR; with KVERBS_REGION_TRACK ENOENT (no such
 * ring) and EAGAIN (no completion slot); with KVERBS_REGION_FD and KVERBS_REGION_DMABUF EBADF (not
 * open), EINVAL (a descriptor of something else) and EACCES (read-only, and
 * KVERBS_REGION_READ_ONLY is not set); with KVERBS_REGION_DMABUF EINVAL (the dma-buf has no such
 * part) and EOPNOTSUPP (without KVERBS_FEATURE_DMABUF).
 */
struct kverbs_cmd_region_create {
	__u32 size;
	__u32 flags;
	__aligned_u64 addr;
	__aligned_u64 length;
	__u32 out_id;
	__u32 ring_id;
	__aligned_u64 user_data;
	__s32 fd;
	__u32 __reserved;
	__aligned_u64 out_length;
};

/**
 * struct kverbs_cmd_region_export_fd - KVERBS_REGION_EXPORT_FD: share the memory of a region
 * @size: sizeof(struct kverbs_cmd_region_export_fd)
 * @flags: KVERBS_REGION_READ_ONLY: regions made of the descriptor are read-only; 0: they may be
 *	written to if @region_id may
 * @region_id: the region
 * @out_fd: a descriptor with FD_CLOEXEC, to be passed to other processes or used with another
 *	open /dev/kverbs
 *
 * The memory is pinned and charged once: to the process that created the first region, until
 * its last region and descriptor are gone. The descriptor knows no operation but
 * KVERBS_REGION_FD, and keeps the module loaded. A process that receives one cannot read or
 * write the memory by it, but can let peers do so. Its line "length" in /proc/PID/fdinfo gives
 * the bytes.
 *
 * A descriptor of a tracked region refers to the pages that the region has; regions made of it
 * are not told when they become stale.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT (no such region), EACCES (the region is read-only, and
 * KVERBS_REGION_READ_ONLY is not set), EMFILE, ENFILE, ENOMEM.
 */
struct kverbs_cmd_region_export_fd {
	__u32 size;
	__u32 flags;
	__u32 region_id;
	__s32 out_fd;
};

/**
 * struct kverbs_pool_buf - a buffer of a receive pool, written by user space
 * @offset: its start in the region, bytes
 * @length: bytes, at least 1
 * @region_id: its region, not KVERBS_REGION_READ_ONLY
 * @id: copied to the completion, not interpreted
 * @__reserved: must be 0
 * @__reserved2: must be 0
 */
struct kverbs_pool_buf {
	__aligned_u64 offset;
	__u32 length;
	__u32 region_id;
	__u16 id;
	__u16 __reserved[3];
	__aligned_u64 __reserved2;
};

/* Bits of kverbs_pool_kernel.flags */
#define KVERBS_POOL_KFLAG_WAITING	(1U << 0)	/* SUBMIT must name the pool */
#define KVERBS_POOL_KFLAG_BAD_INDEX	(1U << 1)	/* @tail was out of range */

/**
 * struct kverbs_pool_kernel - what the kernel writes of a receive pool
 * @head: buffers taken so far, modulo 2^32; read it with acquire
 * @flags: KVERBS_POOL_KFLAG_WAITING, as long as a connection waits that has fewer than half
 *	of its receives, and KVERBS_POOL_KFLAG_BAD_INDEX, for good
 * @entries: size of the pool's ring, a power of two
 * @__reserved: 0
 */
struct kverbs_pool_kernel {
	__u32 head;
	__u32 flags;
	__u32 entries;
	__u32 __reserved[13];
};

/**
 * struct kverbs_pool_user - what user space writes of a receive pool, before its buffers
 * @tail: buffers added so far, modulo 2^32; write with release
 * @__reserved: 0; keeps the buffers on cache lines of their own
 *
 * Buffer n, counted from 0, is at index n & (entries - 1) of the array of struct
 * kverbs_pool_buf at @out_bufs_offset of the same mapping.
 */
struct kverbs_pool_user {
	__u32 tail;
	__u32 __reserved[15];
};

/**
 * struct kverbs_cmd_pool_create - KVERBS_POOL_CREATE: create a pool of receive buffers
 * @size: sizeof(struct kverbs_cmd_pool_create)
 * @flags: must be 0
 * @entries: buffers that its ring holds, a power of two, at most @out_max_pool_entries of
 *	INFO
 * @out_id: the pool
 * @out_user_offset: mmap(2) offset of struct kverbs_pool_user and the buffers (read and
 *	write)
 * @out_kernel_offset: mmap(2) offset of struct kverbs_pool_kernel (read only)
 * @out_user_size: bytes to map at @out_user_offset
 * @out_kernel_size: bytes to map at @out_kernel_offset
 * @out_bufs_offset: of the first buffer in the mapping at @out_user_offset, bytes
 *
 * The connections that name the pool in CONNECT or ACCEPT receive into its buffers. The
 * module keeps @rq_depth receives posted on each of them as long as the pool has buffers,
 * and needs no SUBMIT for that. A connection without a receive goes before those that have
 * some. Each receive completes as described at struct kverbs_cqe, on the ring of its
 * connection, and reserves a completion slot there from the time at which the buffer is
 * taken.
 *
 * To add buffers, write them behind @tail, then @tail. A buffer is read once, when it is
 * taken: @head shows how many were. A buffer that cannot be posted completes with an error,
 * such as EINVAL, ENOENT (no such region) or EMSGSIZE, and the connection takes the next one.
 * A region is busy while a buffer in it is posted.
 *
 * A connection that finds no buffer, or no completion slot for it, looks again when one of its
 * receives completes. If it has fewer than half of @rq_depth posted,
 * KVERBS_POOL_KFLAG_WAITING is set: after writing @tail, or a ring's @cq_head, issue a full
 * memory barrier, read @flags, and if it is set call SUBMIT with the pool's id. If no receive
 * is posted, the peer's messages wait for one, as the peer's @rnr_retry and this side's
 * @rnr_timer allow; iWARP does not retry, and ends the connection.
 *
 * When a connection ends, its buffers complete with -EIO (flushed) before its last completion;
 * if it is destroyed, before DESTROY returns. A pool is busy while a connection uses it.
 *
 * Connections of one group, on one ring, share their receives if the device has shared receive
 * queues and its transport retries, which iWARP's does not. Then @rq_depth is of no effect: up
 * to 256 buffers are posted, no more than @entries and than the device allows, and each message
 * takes the next one, whatever its connection. When a connection ends, only what its messages
 * had begun to fill completes as flushed; all else does with the last of the connections. A
 * buffer in more pieces than the device takes completes with EMSGSIZE, as nothing is
 * registered for such a receive. CONN_QUERY tells in @out_rq_used how many are posted.
 *
 * The kernel does not trust what the mapping contains: wrong indices or buffers harm the
 * file's own connections and nothing else.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOMEM.
 */
struct kverbs_cmd_pool_create {
	__u32 size;
	__u32 flags;
	__u32 entries;
	__u32 out_id;
	__aligned_u64 out_user_offset;
	__aligned_u64 out_kernel_offset;
	__aligned_u64 out_user_size;
	__aligned_u64 out_kernel_size;
	__aligned_u64 out_bufs_offset;
};

/**
 * struct kverbs_addr - an IPv4 or IPv6 address with a port
 * @family: AF_INET or AF_INET6; 0 for no address, where it is optional
 * @port: in network order
 * @scope_id: IPv6: interface index, required for a link-local address; else 0
 * @addr: the address in network order; IPv4 uses the first four bytes, the
 *	rest must be 0
 * @__reserved: must be 0: room for other families, since the struct cannot grow
 */
struct kverbs_addr {
	__u16 family;
	__u16 port;
	__u32 scope_id;
	__u8 addr[16];
	__aligned_u64 __reserved[3];
};

/* Bits of kverbs_conn_param.valid */
#define KVERBS_PARAM_RETRY	(1U << 0)
#define KVERBS_PARAM_RNR_RETRY	(1U << 1)
#define KVERBS_PARAM_RNR_TIMER	(1U << 2)
#define KVERBS_PARAM_ACK_TIMEOUT (1U << 3)
#define KVERBS_PARAM_TOS	(1U << 4)

/**
 * struct kverbs_conn_param - depths, retries and timers of a connection
 * @valid: KVERBS_PARAM_*: the fields after @max_read that replace the defaults
 * @sq_depth: work requests in flight, 0: 128
 * @rq_depth: receives in flight, 0: 128
 * @max_sge: scatter/gather entries of one work request, 0: chosen for the device,
 *	at most 32
 * @max_read: READs in flight in each direction, 0: the device's limit, at most 16
 * @retry: 0-7, transport retries; default 7; CONNECT only, since the CM carries it to
 *	the passive side
 * @rnr_retry: 0-7, how often the peer retries when this side has no receive
 *	posted, 7: without limit; default 6. The CM carries it to the peer, so the
 *	peer's value applies to this side.
 * @rnr_timer: 0-31, how long the peer waits between these retries, encoded as in
 *	the InfiniBand specification, table 45; default 20 (10.24 ms)
 * @ack_timeout: 0-31, 4.096 us times 2 to this power; default the CM's
 * @tos: type of service, CONNECT only
 * @__reserved: must be 0
 * @keepalive_ns: interval in nanoseconds, 10 ms to 24 days, 0: off. Without
 *	CAP_NET_ADMIN an interval below a second counts as a second. If nothing
 *	completes for one interval the peer is probed, and if it does not answer within
 *	another the connection ends with ETIMEDOUT. The answer queues behind
 *	earlier work: choose an interval that is longer than one operation takes
 *	and than the peer may lack a receive for a message. The device does not
 *	tell whether it retries for want of a receive or of a peer
 *
 * Depths beyond the device's limits give EINVAL. A command names it by address and
 * size; without it, all of it is 0.
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
	__u8 __reserved[2];
	__aligned_u64 keepalive_ns;
};

/* Limits of the private data that the connection manager carries, bytes */
#define KVERBS_PRIV_CONNECT_MAX	56
#define KVERBS_PRIV_ACCEPT_MAX	196
#define KVERBS_PRIV_REJECT_MAX	148

/**
 * struct kverbs_cmd_listen - KVERBS_LISTEN: listen for connection requests
 * @size: sizeof(struct kverbs_cmd_listen)
 * @flags: must be 0
 * @ring_id: the ring that reports the requests
 * @backlog: requests that may wait for an answer, 0: 128
 * @user_data: copied to the completions
 * @inout_addr: in: the address to listen on, port 0: any free port, address 0: any;
 *	out: the bound address
 * @out_id: the listener
 * @__reserved: must be 0
 *
 * The listener is bound in the caller's network namespace and with the caller's
 * credentials. An IPv6 listener accepts only IPv6: for both families create two on
 * the same port. If the backlog, the ring or the file is full, a request is
 * rejected and not reported.
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
	struct kverbs_addr inout_addr;
	__u32 out_id;
	__u32 __reserved;
};

/**
 * struct kverbs_cmd_group_create - KVERBS_GROUP_CREATE: create a group of connections
 * @size: sizeof(struct kverbs_cmd_group_create)
 * @flags: must be 0
 * @device_index: the device of its connections, @out_index of DEVICE_QUERY
 * @out_id: the group
 *
 * The connections of a group share a protection domain; a connection without a group has one
 * of its own. CONNECT and ACCEPT name the group. A key of any export of the group, or of any
 * of its connections, is valid on all connections of the group. So each peer of a group can
 * use keys that another one was told or that it guesses, and can revoke them by SEND_INV.
 *
 * A group is busy while connections or exports of it exist. When its device is removed the
 * exports are revoked, and the group can only be destroyed.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENODEV (no such device, or one that kverbs cannot use),
 * ENOMEM, EDQUOT.
 */
struct kverbs_cmd_group_create {
	__u32 size;
	__u32 flags;
	__u32 device_index;
	__u32 out_id;
};

/**
 * struct kverbs_cmd_connect - KVERBS_CONNECT: start to connect
 * @size: sizeof(struct kverbs_cmd_connect)
 * @flags: KVERBS_TIME_ABSOLUTE, or 0
 * @ring_id: the ring of all its completions
 * @out_id: the connection
 * @user_data: copied to the connection's events
 * @timeout_ns: limit for becoming established, at most 24 days from now; 0: 10 seconds
 * @param_uptr: struct kverbs_conn_param: depths, retries and timers; or 0
 * @param_size: its size, or 0
 * @priv_len: at most KVERBS_PRIV_CONNECT_MAX
 * @priv_uptr: private data for the peer
 * @dst: the peer's address
 * @src: the local address, or family 0
 * @group_id: the connection's group, 0: none
 * @pool_id: the receive pool that it receives into, 0: none
 *
 * CONNECT does not wait. ESTABLISHED, REJECTED, FAILED or DEVICE_REMOVED follows. It is
 * FAILED with ENODEV if the route to the peer is on another device than the group.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EAGAIN, EADDRNOTAVAIL, ENODEV, ENOMEM,
 * EDQUOT.
 */
struct kverbs_cmd_connect {
	__u32 size;
	__u32 flags;
	__u32 ring_id;
	__u32 out_id;
	__aligned_u64 user_data;
	__aligned_u64 timeout_ns;
	__aligned_u64 param_uptr;
	__u32 param_size;
	__u32 priv_len;
	__aligned_u64 priv_uptr;
	struct kverbs_addr dst;
	struct kverbs_addr src;
	__u32 group_id;
	__u32 pool_id;
};

/**
 * struct kverbs_cmd_accept - KVERBS_ACCEPT: accept a requested connection
 * @size: sizeof(struct kverbs_cmd_accept)
 * @flags: KVERBS_TIME_ABSOLUTE, or 0
 * @conn_id: the connection that CONN_REQUEST named
 * @ring_id: the ring of its completions from now on, 0: the listener's
 * @user_data: copied to the connection's events
 * @timeout_ns: limit for becoming established, at most 24 days from now; 0: 10 seconds
 * @param_uptr: struct kverbs_conn_param: depths, retries and timers; or 0
 * @param_size: its size, or 0
 * @priv_len: at most KVERBS_PRIV_ACCEPT_MAX
 * @priv_uptr: private data for the peer
 * @group_id: the connection's group, 0: none; EINVAL if it is on another device, or its
 *	device was removed
 * @pool_id: the receive pool that it receives into, 0: none. EINVAL if a receive was
 *	submitted before
 *
 * Receives that were submitted before are posted before the peer receives the
 * answer; they complete on the ring that they were submitted to. ESTABLISHED,
 * FAILED or DEVICE_REMOVED follows, even if ACCEPT returns an error other than the
 * first six below.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EAGAIN, ENOTCONN; ENODEV, ENOMEM, EDQUOT.
 */
struct kverbs_cmd_accept {
	__u32 size;
	__u32 flags;
	__u32 conn_id;
	__u32 ring_id;
	__aligned_u64 user_data;
	__aligned_u64 timeout_ns;
	__aligned_u64 param_uptr;
	__u32 param_size;
	__u32 priv_len;
	__aligned_u64 priv_uptr;
	__u32 group_id;
	__u32 pool_id;
};

/**
 * struct kverbs_cmd_reject - KVERBS_REJECT: reject a requested connection
 * @size: sizeof(struct kverbs_cmd_reject)
 * @flags: must be 0
 * @conn_id: the connection that CONN_REQUEST named
 * @priv_len: at most KVERBS_PRIV_REJECT_MAX
 * @priv_uptr: private data for the peer
 *
 * A FAILED completion with -ECANCELED follows; the id stays valid until DESTROY.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, ENOTCONN.
 */
struct kverbs_cmd_reject {
	__u32 size;
	__u32 flags;
	__u32 conn_id;
	__u32 priv_len;
	__aligned_u64 priv_uptr;
};

/**
 * struct kverbs_cmd_disconnect - KVERBS_DISCONNECT: end a connection
 * @size: sizeof(struct kverbs_cmd_disconnect)
 * @flags: must be 0
 * @conn_id: the connection, in any state
 * @__reserved: must be 0
 *
 * DISCONNECT does not wait. Outstanding work completes with -EIO (flushed), then
 * DISCONNECTED or FAILED follows. To be sure that operations reach the peer, wait
 * for their completions first.
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
 * enum kverbs_conn_state - state of a connection
 * @KVERBS_CONN_CONNECTING: CONNECT was called, not yet established
 * @KVERBS_CONN_REQUESTED: requested by the peer, not yet answered
 * @KVERBS_CONN_ACCEPTING: accepted, not yet established
 * @KVERBS_CONN_ESTABLISHED: established
 * @KVERBS_CONN_CLOSING: being closed, completions may still follow
 * @KVERBS_CONN_DEAD: closed; no completion follows, DESTROY frees the id
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
 * struct kverbs_cmd_conn_query - KVERBS_CONN_QUERY: state and counters of a connection
 * @size: sizeof(struct kverbs_cmd_conn_query)
 * @flags: must be 0
 * @conn_id: the connection
 * @inout_priv_len: in: room at @priv_uptr; out: bytes of the peer's private data as
 *	the CM delivers it, perhaps padded with zeroes
 * @priv_uptr: buffer for the peer's private data, 0 if @inout_priv_len is 0
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
 * @out_max_read: READs and atomics that this side may have in flight, limited by
 *	what the peer answers; 0: none
 * @out_max_msg: largest SEND or RECV, bytes
 * @out_max_segment: most bytes that one segment of an export covers, unless the memory
 *	lies in huge pages, or is contiguous for the device: then up to 1 GiB
 * @out_sq_used: work requests in flight
 * @out_rq_used: receives in flight; of a shared receive queue those of all its connections
 * @out_ops: operations that succeeded, receives included
 * @out_errors: operations that failed, without those flushed when it ended
 * @out_bytes_out: bytes that SENDs and WRITEs moved
 * @out_bytes_in: bytes that RECVs and READs moved
 * @out_addr_ns: nanoseconds from CONNECT until the peer's address was resolved; like
 *	the next three 0 if not reached yet, and on the passive side
 * @out_route_ns: nanoseconds from CONNECT until the route was resolved
 * @out_qp_ns: nanoseconds from CONNECT until the queue pair was created and the
 *	request sent
 * @out_up_ns: nanoseconds from CONNECT until ESTABLISHED
 * @out_group_id: the connection's group, 0: none
 * @__reserved: 0
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EMSGSIZE.
 */
struct kverbs_cmd_conn_query {
	__u32 size;
	__u32 flags;
	__u32 conn_id;
	__u32 inout_priv_len;
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
	__u32 out_group_id;
	__u32 __reserved;
};

/* Rights that an export grants: kverbs_cmd_export.access */
#define KVERBS_REMOTE_READ	(1U << 0)
#define KVERBS_REMOTE_WRITE	(1U << 1)
#define KVERBS_REMOTE_ATOMIC	(1U << 2)

/* Bits of kverbs_cmd_export.flags */
#define KVERBS_EXPORT_IOVA	(1U << 0)	/* the first byte gets the remote address @iova */

/**
 * struct kverbs_segment - a part of an export, as the peer addresses it
 * @addr: remote address of its first byte; with KVERBS_EXPORT_IOVA as the caller chose
 *	it, else not an address of this host
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
 * struct kverbs_cmd_export - KVERBS_EXPORT: grant peers access to memory
 * @size: sizeof(struct kverbs_cmd_export)
 * @flags: KVERBS_EXPORT_IOVA, or 0
 * @conn_id: an established connection; the keys are valid only on it, and on the other
 *	connections of its group. Or a group with an established connection: the keys are
 *	valid on all connections of the group, whether established before or after this
 * @region_id: the region
 * @access: KVERBS_REMOTE_*, at least one; WRITE and ATOMIC need a writable region,
 *	ATOMIC a device with KVERBS_CAP_ATOMIC, else EOPNOTSUPP
 * @inout_segs_len: in: room in @segs_uptr; out: segments
 * @offset: first byte in the region
 * @length: bytes, at least 1
 * @segs_uptr: array of struct kverbs_segment, in order, covering exactly the
 *	bytes asked for
 * @segs_stride: bytes from one element of @segs_uptr to the next
 * @out_id: the export
 * @iova: with KVERBS_EXPORT_IOVA the remote address of the first byte: as far from a page
 *	boundary as the byte is in memory, and @iova + @length must be less than 2^64; else
 *	must be 0
 *
 * The segments of an export with KVERBS_EXPORT_IOVA follow each other without gaps, but each
 * still has a key of its own. The peer learns the addresses, so they should tell it no more
 * than it may know.
 *
 * The keys are valid when EXPORT returns. DESTROY of the export revokes them: once
 * it has returned, the peer can no longer move a byte. The end of the connection
 * revokes them, too; an export of a group outlives all connections. The peer may
 * revoke a key with SEND_INV: the completion of this side's RECV reports it, and
 * only a new export restores access.
 *
 * EXPORT, and DESTROY of an export of a connection, post work requests behind the operations
 * that the connection has in flight, and wait for them. If none of these completes for 30
 * seconds, the connection ends with ETIMEDOUT, as if the peer were dead. A single operation
 * that takes longer has the same effect, and so have 16 MiB of unsignalled ones, which complete
 * together: on a slow link keep operations so short that each moves its bytes in that time.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, ENOTCONN, EOPNOTSUPP, EMSGSIZE,
 * ENOMEM, EDQUOT, ENODEV, EINTR, EIO (registration failed; the connection, or one of
 * the group, has ended); for a region of a dma-buf also ESTALE, and what its exporter says.
 */
struct kverbs_cmd_export {
	__u32 size;
	__u32 flags;
	__u32 conn_id;
	__u32 region_id;
	__u32 access;
	__u32 inout_segs_len;
	__aligned_u64 offset;
	__aligned_u64 length;
	__aligned_u64 segs_uptr;
	__u32 segs_stride;
	__u32 out_id;
	__aligned_u64 iova;
};

/**
 * struct kverbs_cmd_destroy - KVERBS_DESTROY: destroy an object of any type
 * @size: sizeof(struct kverbs_cmd_destroy)
 * @flags: must be 0
 * @id: the object
 * @__reserved: must be 0
 *
 * When DESTROY has returned 0, the HCA no longer accesses the object's memory, and
 * all work of a connection has been reported in the ring. A region is busy while
 * an export or work in flight uses it, a ring while a connection or a listener is
 * attached, a pool while a connection uses it, a group while it has connections or exports.
 * Destroying a connection destroys its exports, but not those of its group. Completions that
 * are in the ring already stay there; DESTROY adds those of work, and no event. DESTROY of a
 * connection or region waits for each SUBMIT of the file that is accepting entries. DESTROY of
 * an export of a connection waits for operations in flight as EXPORT does, with the same limit
 * of 30 seconds without progress. A task that is killed waits neither for another task that
 * uses the object nor, on iWARP, for a peer that has not answered: DESTROY returns EINTR, and the
 * object stays. A connection ends all the same, without an event.
 *
 * Errors: EINVAL, E2BIG, EFAULT, ENOENT, EBUSY, EINTR.
 */
struct kverbs_cmd_destroy {
	__u32 size;
	__u32 flags;
	__u32 id;
	__u32 __reserved;
};

/* Bits of kverbs_cmd_bench.flags */
#define KVERBS_BENCH_LATENCY	(1U << 0)	/* one operation at a time, each timed */
#define KVERBS_BENCH_HALF	(1U << 1)	/* count half of each time */

/*
 * The histogram counts times in buckets. Below 2^KVERBS_BENCH_BUCKET_BITS ns each
 * nanosecond has its own bucket. From there on each power of two is divided into
 * 2^KVERBS_BENCH_BUCKET_BITS buckets of equal width. The last bucket counts all times
 * of 2^KVERBS_BENCH_TOP_BIT ns or more.
 */
#define KVERBS_BENCH_BUCKET_BITS	7
#define KVERBS_BENCH_TOP_BIT		40
#define KVERBS_BENCH_BUCKETS		4353

/* Most work requests in flight: depth times the segments of an operation */
#define KVERBS_BENCH_REQS_MAX		65536
/* Most segments of one operation */
#define KVERBS_BENCH_SEGS_MAX		64
/* Most receives that BENCH keeps posted */
#define KVERBS_BENCH_RECVS_MAX		1024

/**
 * struct kverbs_cmd_bench - KVERBS_BENCH: generate traffic in the kernel and time it
 * @size: sizeof(struct kverbs_cmd_bench)
 * @flags: 0: bandwidth; KVERBS_BENCH_LATENCY, optionally with KVERBS_BENCH_HALF
 * @conn_id: the connection, established and with no work in flight
 * @region_id: the region of all local buffers; KVERBS_REGION_READ_ONLY only if the
 *	operations only read them
 * @offset: start of the operations' buffer in the region, bytes
 * @length: bytes of an operation, at least 1; 8 of a FETCH_ADD, aligned
 * @opcode: KVERBS_OP_SEND, SEND_IMM, WRITE, WRITE_IMM, READ or FETCH_ADD; FETCH_ADD
 *	adds 1
 * @depth: operations in flight, at least 1; the connection's sq_depth limits it too
 * @post_list: operations posted together, 1 to @depth
 * @cq_mod: signal one operation in this many, up to @depth, whose completion covers
 *	those before it; 0: each. The last operation of those posted together is
 *	always signalled, on iWARP every one
 * @segs_len: segments at @segs_uptr, up to KVERBS_BENCH_SEGS_MAX; 0 for SEND*
 * @segs_uptr: array of struct kverbs_segment from the peer's export; they must cover
 *	@length, and memory beyond @length is not accessed
 * @warm_up: operations before the measurement, up to 2^32 - 1
 * @iterations: operations measured, 1 to 2^32 - 1; or 0 if @duration_ms is given
 * @duration_ms: duration of the measurement, up to 86400000; or 0
 * @timeout_ms: longest time without a completion, up to 2^31 - 1, 0: 10000
 * @recvs: receives to keep posted, up to KVERBS_BENCH_RECVS_MAX; see below
 * @recv_length: bytes of each
 * @recv_offset: start of the first receive's buffer in the region, bytes
 * @recv_stride: distance of the receives' buffers, bytes
 * @credit: receives that the peer has posted at the start, or 0: no flow control
 * @hist_len: in: room at @hist_uptr; out: KVERBS_BENCH_BUCKETS for LATENCY, else 0
 * @hist_uptr: array of __u64, the number of times in each bucket; 0 for bandwidth
 * @out_ops: operations measured
 * @out_sent: operations in all
 * @out_received: messages received
 * @out_elapsed_ns: duration of the measurement of @out_ops operations
 * @out_cpu_ns: CPU time of the calling thread in it; completions are handled in other
 *	threads, unless the connection's ring is BUSY_POLL
 * @out_min_ns: LATENCY: the shortest time
 * @out_max_ns: LATENCY: the longest time
 * @out_sum_ns: LATENCY: the sum of all times
 * @out_error: 0, or the -errno that ended it early: EIO, ENOTCONN, EINTR, ETIMEDOUT,
 *	EBADMSG or EPROTO for an invalid credit message, or an error of SUBMIT
 * @out_wc_status: with EIO the work completion status, enum ib_wc_status by number
 *
 * BENCH posts like any in-kernel user of the verbs, and completions are handled as on
 * the connection's ring: by a workqueue, a softirq, or by the command itself.
 *
 * A bandwidth test keeps @depth operations in flight. With @credit a test of SEND* or
 * WRITE_IMM, which consume receives of the peer, limits the messages in flight: it
 * sends @credit messages, plus as many as the peer grants. The peer grants them with
 * messages into @recvs: 8 bytes in network order, the number of receives that it has
 * posted again. Other opcodes use neither @credit nor @recvs.
 *
 * The latency of a READ or FETCH_ADD ends with its completion. The latency of SEND*
 * and WRITE_IMM ends when a message arrives in one of @recvs, of which at least 1 is
 * required. The latency of a WRITE ends when the peer has answered with a WRITE whose
 * last byte, at @recv_offset + @recv_length - 1, equals the last byte of this side's
 * WRITE. The kernel sets that byte to n % 255 + 1 for WRITE n, counted from 0. @recvs
 * must be 0 for WRITE.
 *
 * While BENCH runs, other work for the connection and a second BENCH fail with EBUSY. BENCH
 * fails with EBUSY on a connection that names a receive pool.
 * A signal ends BENCH, and so do suspend and a debugger. Once BENCH has posted a work request
 * it returns 0, @out_error has the result, and nothing is in flight. Receives can only be
 * cancelled by closing the connection: if there were any, or if BENCH ended early, the
 * connection has ended.
 *
 * The traffic is generated by a module of its own, kverbs_bench, which BENCH asks modprobe to
 * load if it is not loaded.
 *
 * Errors, if nothing was posted: EINVAL, E2BIG, EFAULT, ENOENT, EBUSY, ENOTCONN,
 * EOPNOTSUPP (the module cannot be loaded, the device lacks the operation, or @recv_length is not 0
 * in a region of a dma-buf, which the kernel cannot read), EMSGSIZE (of @hist_len too),
 * EAGAIN, ENOMEM, ENODEV, EINTR.
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
