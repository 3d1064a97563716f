/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* State that both ends of a copy share: results, and callbacks that report them. */
#ifndef KVERBS_TOOL_COPY_H
#define KVERBS_TOOL_COPY_H

#include <stdint.h>

#include "cli/err.h"
#include "copy/filter.h"
#include "copy/item.h"
#include "copy/progress.h"
#include "peer/session.h"

/* How bytes get between a file and the HCA. */
enum method {
	METHOD_NONE,		/* there were none */
	METHOD_MAPPED,		/* the HCA has the file's own pages */
	METHOD_DIRECT,		/* the block device has the HCA's pages: O_DIRECT */
	METHOD_BUFFERED,	/* the file system copies, as in any read or write */
	METHOD_COUNT,
};

/* Windows of a sink: many small ones for small files, a few for streams. */
#define COPY_EAGER_WINDOWS	16
#define COPY_EAGER_SIZE		(64u << 10)
#define COPY_STREAM_WINDOWS	8
#define COPY_CHUNK		(2u << 20)

/* Zeros that one message stands for, which both ends hash. */
#define COPY_HOLE_MAX		(1u << 30)

/* Connections of a copy besides the first one, which carry windows of large files. */
#define COPY_LANES_MAX 7

/*
 * Entries whose DONE may be outstanding; three quarters of them are files that the sink is asked
 * for. Fewer without WIRE_F_PACKS: older relays have no room for more.
 */
#define COPY_PENDING_MAX	32
#define COPY_PENDING_OLD	16

/**
 * struct copy - one end of a copy
 * @session: the connection
 * @lanes: further connections, which carry data only
 * @nr_lanes: number of them
 * @lost: set by copy_stop(): bit 0 if @session had failed before, bit 1 if the first lane had, ...;
 *	not if the peer had ended it
 * @opts: what is wanted, WIRE_F_* of PUT and GET
 * @user: this end was started by a user, and reports what is done
 * @privileged: this end may change owners and set-user-ID bits
 * @super: both ends may read and write all attributes
 * @filter: names that are left out, or NULL
 * @chmod: change of permissions, see mode.h, or NULL
 * @rate: bytes per second that a source sends, 0: any
 * @progress: how far it is
 * @files: files done and verified
 * @same: files that the sink had already
 * @created: entries of which the sink had none
 * @deleted: entries removed at the sink
 * @dirs: directories done
 * @others: symbolic links, other links and special files done
 * @bytes: bytes of those files
 * @same_bytes: bytes of files that the sink had already
 * @moved: bytes of files that were moved by RDMA
 * @sent_until: when all that was sent has been sent at @rate
 * @resumed: those that were there from an earlier run
 * @skipped: links, special files and part files left out
 * @failed: files and directories that could not be copied
 * @source_methods: bit mask of enum method
 * @sink_methods: the same of the other end
 * @keyed: digests are made with a key of the connection
 * @digest: of the last file
 * @depth_max: levels of a tree that are read, 0: any
 * @beat: when the peer was last told that we are still alive
 * @where: between two servers, the one whose message is being handled, or NULL
 * @fail: told of each failure, or NULL
 * @skip: told of each that is left out, or NULL
 * @done: told of each file done, or NULL
 * @item: told of each entry that is copied or differs, or NULL
 * @removed: told of each entry that is deleted at the sink, or NULL
 */
struct copy {
	struct session *session;
	struct session *lanes[COPY_LANES_MAX];
	unsigned int nr_lanes;
	unsigned int lost;
	uint32_t opts;
	bool user;
	bool privileged;
	bool super;
	const struct filter *filter;
	const char *chmod;
	uint64_t rate;
	struct progress progress;
	uint64_t files;
	uint64_t same;
	uint64_t created;
	uint64_t deleted;
	uint64_t dirs;
	uint64_t others;
	uint64_t bytes;
	uint64_t same_bytes;
	uint64_t moved;
	double sent_until;
	uint64_t resumed;
	uint64_t skipped;
	uint64_t failed;
	unsigned int source_methods;
	unsigned int sink_methods;
	bool keyed;
	uint64_t digest;
	unsigned int depth_max;
	double beat;
	const char *where;
	void (*fail)(struct copy *copy, enum err_area area, int err, const char *path);
	void (*skip)(struct copy *copy, int err, const char *path);
	void (*done)(struct copy *copy, const char *path, uint64_t size);
	void (*item)(struct copy *copy, const struct item *item);
	void (*removed)(struct copy *copy, const char *path);
};

void copy_failed(struct copy *copy, enum err_area area, int err, const char *path);
void copy_skipped(struct copy *copy, enum err_area area, int err, const char *path);
void copy_done(struct copy *copy, const char *path, uint64_t size);
void copy_item(struct copy *copy, const struct item *item);
void copy_removed(struct copy *copy, const char *path);
/* Send a message of the source with its digest, which is left in it. */
int copy_send(struct copy *copy, struct wire_msg *msg);
/* -EBADMSG: with a key, it is not what was sent. */
int copy_check(struct copy *copy, const struct wire_msg *msg);
/* The connection that carries data for a window of a large file */
struct session *copy_lane(const struct copy *copy, uint32_t window);
/* Receive on a connection of the copy, while all of them are there. */
int copy_recv(struct copy *copy, struct session *s, struct wire_msg *msg);
/* End all connections of the copy. */
void copy_stop(struct copy *copy);
/* Which attributes are copied, ATTRS_* */
unsigned int copy_attrs(const struct copy *copy);
/* Wait until @bytes more may be sent. */
int copy_pace(struct copy *copy, uint64_t bytes);
int copy_beat(void *arg);
const char *copy_methods(unsigned int mask, char *buf, size_t room);

#endif /* KVERBS_TOOL_COPY_H */
