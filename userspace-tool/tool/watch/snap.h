/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* All connections of this host at a moment, as the module lists them in debugfs. */
#ifndef KVERBS_TOOL_SNAP_H
#define KVERBS_TOOL_SNAP_H

#include <stdint.h>
#include <stdio.h>

#define SNAP_DIR	"/sys/kernel/debug/kverbs/"
#define SNAP_OBJECTS	SNAP_DIR "objects"
#define SNAP_DEVICES	SNAP_DIR "devices"

/**
 * struct snap_moved - what was done so far
 * @ops: operations that completed
 * @errors: operations that failed
 * @bytes_out: moved to the peer
 * @bytes_in: moved here
 */
struct snap_moved {
	uint64_t ops;
	uint64_t errors;
	uint64_t bytes_out;
	uint64_t bytes_in;
};

/**
 * struct snap_conn - a connection
 * @file: that has it, a number that no other file has; 0 of old modules
 * @pid: of the process that opened the file
 * @comm: its name, made printable
 * @id: of the connection in that file
 * @state: as the contract calls it
 * @error: -errno of its end
 * @device: empty if it is on none
 * @qp: queue pair number, 0: none
 * @local: address and port, empty before it is known
 * @remote: the same
 * @sq_used: work requests outstanding
 * @sq_depth: room for them
 * @rq_used: receives posted
 * @rq_depth: room for them
 * @moved: since it began
 */
struct snap_conn {
	uint64_t file;
	uint64_t pid;
	char comm[64];
	uint64_t id;
	char state[64];
	int64_t error;
	char device[64];
	uint64_t qp;
	char local[64];
	char remote[64];
	uint64_t sq_used;
	uint64_t sq_depth;
	uint64_t rq_used;
	uint64_t rq_depth;
	struct snap_moved moved;
};

/**
 * struct snap_device - a device
 * @device: its name
 * @conns: connections that are on it
 * @moved: by those and by all that were, since the module has known the device
 * @retries: requests that it sent again, of all users; -1: not reported
 */
struct snap_device {
	char device[64];
	uint64_t conns;
	struct snap_moved moved;
	int64_t retries;
};

/**
 * struct snap - a look at all of them
 * @at: when, seconds of the monotonic clock
 * @devices_at: the same of the devices, which are in a file of their own
 * @nr: connections
 * @conns: they, as listed
 * @nr_devices: devices
 * @devices: they, as listed
 */
struct snap {
	double at;
	double devices_at;
	unsigned int nr;
	struct snap_conn *conns;
	unsigned int nr_devices;
	struct snap_device *devices;
};

/* 0 or -errno; unknown keys and other objects are skipped. */
int snap_read(struct snap *snap, FILE *from);
/* Read @path; with the devices' own counters if it is SNAP_OBJECTS, the module's list. */
int snap_take(struct snap *snap, const char *path);
void snap_free(struct snap *snap);
const struct snap_conn *snap_find(const struct snap *snap, const struct snap_conn *like);
const struct snap_device *snap_find_device(const struct snap *snap, const char *name);

#define RETRIES_SYS "/sys/class/infiniband"

/*
 * Retries of all ports of @device below @sys, -1 if its driver counts none. No driver counts
 * those of a single queue pair.
 */
int64_t retries_read(const char *sys, const char *device);

#endif /* KVERBS_TOOL_SNAP_H */
