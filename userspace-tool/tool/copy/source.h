/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The end of a copy that has the files: it writes them into the sink's windows. */
#ifndef KVERBS_TOOL_SOURCE_H
#define KVERBS_TOOL_SOURCE_H

#include <sys/stat.h>

#include "copy/copy.h"
#include "copy/extent.h"
#include "copy/hash.h"
#include "copy/links.h"

#define SOURCE_EXTENTS 16
/* Files of up to this many bytes are read into memory that is registered once. */
#define SOURCE_SMALL (64u << 10)

/**
 * struct source_window - a window of the sink's, good for any file
 * @token: leave to write there
 * @known: the sink has granted it
 * @free: nothing of ours is in it
 * @files: small files in it that are not done
 */
struct source_window {
	struct kverbs_token token;
	bool known;
	bool free;
	unsigned int files;
};

/**
 * struct source_grant - a window of one file
 * @token: leave to write there
 * @window: its number
 * @at: where in the file
 * @len: bytes
 */
struct source_grant {
	struct kverbs_token token;
	uint32_t window;
	uint64_t at;
	uint64_t len;
};

/* How a DONE is counted. */
enum source_kind {
	SOURCE_FILE,
	SOURCE_DIR,
	SOURCE_LINK,
	SOURCE_HARD,
	SOURCE_NODE,
	SOURCE_PRUNE,
	SOURCE_OTHER,
};

/**
 * struct source_pending - something whose DONE has not come yet
 * @id: its number, 0: the entry is free
 * @path: its name
 * @target: of a link, or NULL
 * @size: bytes, if it is a file
 * @kind: what it is
 * @fd: the file, while the sink has not said whether it wants it, or -1
 * @st: of @fd
 * @wanted: the sink wants it
 * @sent: its data is on its way
 * @unasked: the sink was not asked for it, since it cannot have it
 * @begin: it is the beginning of a directory
 * @more: PRUNE has more to tell
 * @digest: of the file, or of the message
 * @err: why we gave up, or 0
 */
struct source_pending {
	uint32_t id;
	char *path;
	char *target;
	uint64_t size;
	enum source_kind kind;
	int fd;
	struct stat st;
	bool wanted;
	bool sent;
	bool unasked;
	bool begin;
	bool more;
	uint64_t digest;
	int err;
};

/**
 * struct source_stream - the file that goes window by window
 * @id: its number, 0: there is none
 * @ready: the sink's READY has come
 * @mapped: windows come by GRANT
 * @endless: its size is not known
 * @skipped: windows before that place are not needed
 * @chunk: bytes of a window
 * @offset: what the sink has of it already
 * @begin: the digest before anything was sent
 * @sha: SHA-256 of that
 * @grants: windows granted and not used, a ring
 * @head: grants used so far
 * @tail: grants so far
 */
struct source_stream {
	uint32_t id;
	bool ready;
	bool mapped;
	bool endless;
	uint64_t skipped;
	uint64_t chunk;
	uint64_t offset;
	struct hash begin;
	uint8_t sha[WIRE_SHA_LEN];
	struct source_grant grants[COPY_STREAM_WINDOWS];
	unsigned int head;
	unsigned int tail;
};

/**
 * struct source - the whole of it
 * @copy: what was done
 * @s: the connection
 * @next_id: of the next file or directory
 * @nr_eager: windows below this number are for small files
 * @eager_size: bytes that one of those takes
 * @packs: the sink takes several small files in one of those
 * @windows: of the sink
 * @pending: entries not done yet
 * @max_pending: how many there may be
 * @asked: files of them that the sink has not said yet whether it wants
 * @counter: counts what is being sent, or NULL
 * @counted: bytes of it that the sink has been told of
 * @told: when that was, 0: never
 * @links: files with several names
 * @fresh: a directory that the sink has just made, or NULL: the sink has nothing in it
 * @skip: told of what a walk leaves out, or NULL: the sink is told
 * @stream: the large file at hand
 * @ext: pieces of files on their way, a ring
 * @ext_head: pieces that have arrived so far
 * @ext_tail: pieces so far
 * @unposted: the last of these, whose WRITEs are yet to be posted, all together
 * @shared: the window of the last one, if more files can go there, or NULL
 * @small: registered memory for small files, one for each of @ext, or NULL
 * @no_small: there is no memory for @small
 */
struct source {
	struct copy *copy;
	struct session *s;
	uint32_t next_id;
	unsigned int nr_eager;
	uint64_t eager_size;
	bool packs;
	struct source_window windows[WIRE_WINDOWS_MAX];
	struct source_pending pending[COPY_PENDING_MAX];
	unsigned int max_pending;
	unsigned int asked;
	struct counter *counter;
	uint64_t counted;
	double told;
	struct links links;
	char *fresh;
	int (*skip)(void *arg, const char *path, int err);
	struct source_stream stream;
	struct extent ext[SOURCE_EXTENTS];
	uint64_t ext_head;
	uint64_t ext_tail;
	unsigned int unposted;
	struct source_window *shared;
	struct kverbs_buf *small;
	bool no_small;
};

/* All return 0, or -errno if the connection or the protocol broke. */
int source_open(struct source *src, struct copy *copy, const struct wire_msg *sink);
/* Tell the sink how much has been counted, if a counter is set, and not too often. */
int source_total(struct source *src);
/* Takes @fd over. */
int source_file(struct source *src, int fd, const char *path, const struct stat *st);
/* Send a stream: all data from @fd, which may be a pipe. */
int source_stdin(struct source *src, int fd, const char *path);
int source_dir(struct source *src, int fd, const char *path, const struct stat *st, bool end);
int source_link(struct source *src, int dir, const char *name, const char *path,
		const struct stat *st);
int source_node(struct source *src, const char *path, const struct stat *st);
int source_note(struct source *src, const char *path, int err);
/* Wait until nothing is pending. */
int source_drain(struct source *src);
int source_finish(struct source *src);
/* After session_stop(). */
void source_free(struct source *src);

int source_message(struct source *src, const struct wire_msg *msg);
int source_pump(struct source *src);
struct source_pending *source_pend(struct source *src, const char *path, uint64_t size,
				   enum source_kind kind, int *ret);
struct source_pending *source_pending(struct source *src, uint32_t id);
/* Release an entry that expects no more answers. */
void source_forget(struct source *src, struct source_pending *p);
void source_say(struct source *src, const struct source_pending *p, uint32_t bits);
/* Send the data of a file that the sink wants. */
int source_send(struct source *src, struct source_pending *p);
/* Send the attributes of @fd, and store their digests in @msg. */
int source_attrs(struct source *src, int fd, struct wire_msg *msg);
/* Windows granted for what is before @to in the stream are void. */
void source_skip(struct source *src, uint64_t to);
/* A window of the stream is in use. */
void source_use(struct source *src, uint32_t window);
/* No more is sent of the stream. */
void source_end_stream(struct source *src);
void source_describe(const struct source *src, struct wire_msg *msg, const struct stat *st,
		     const char *path);

#endif /* KVERBS_TOOL_SOURCE_H */
