/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* State that both ends of a copy share: results, and callbacks that report them. */
#ifndef KVERBS_TOOL_COPY_H
#define KVERBS_TOOL_COPY_H

#include <stdint.h>

#include "cli/err.h"
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

/* Files whose DONE may be outstanding. */
#define COPY_PENDING_MAX	16

/**
 * struct copy - one end of a copy
 * @session: the connection
 * @progress: how far it is
 * @files: files done and verified
 * @dirs: directories done
 * @bytes: bytes of those files
 * @resumed: those that were there from an earlier run
 * @skipped: links, special files and part files left out
 * @failed: files and directories that could not be copied
 * @source_methods: bit mask of enum method
 * @sink_methods: the same of the other end
 * @keyed: digests are made with a key of the connection
 * @digest: of the last file
 * @depth_max: levels of a tree that are read, 0: any
 * @beat: when the peer was last told that we are still alive
 * @fail: told of each failure, or NULL
 * @skip: told of each that is left out, or NULL
 * @done: told of each file done, or NULL
 */
struct copy {
	struct session *session;
	struct progress progress;
	uint64_t files;
	uint64_t dirs;
	uint64_t bytes;
	uint64_t resumed;
	uint64_t skipped;
	uint64_t failed;
	unsigned int source_methods;
	unsigned int sink_methods;
	bool keyed;
	uint64_t digest;
	unsigned int depth_max;
	double beat;
	void (*fail)(struct copy *copy, enum err_area area, int err, const char *path);
	void (*skip)(struct copy *copy, int err, const char *path);
	void (*done)(struct copy *copy, const char *path, uint64_t size);
};

void copy_failed(struct copy *copy, enum err_area area, int err, const char *path);
void copy_skipped(struct copy *copy, enum err_area area, int err, const char *path);
void copy_done(struct copy *copy, const char *path, uint64_t size);
int copy_beat(void *arg);
const char *copy_methods(unsigned int mask, char *buf, size_t room);

#endif /* KVERBS_TOOL_COPY_H */
