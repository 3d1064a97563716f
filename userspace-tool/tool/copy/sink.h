/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The end of a copy that gets the files: it lends windows and stores what lands. */
#ifndef KVERBS_TOOL_SINK_H
#define KVERBS_TOOL_SINK_H

#include "copy/attrs.h"
#include "copy/copy.h"
#include "copy/hash.h"
#include "copy/landing.h"
#include "copy/names.h"
#include "copy/part.h"
#include "copy/path.h"
#include "copy/prune.h"

/**
 * struct sink_window - a piece of the file at hand, lent to the source
 * @map: the file's pages
 * @at: where in the file
 * @len: bytes
 * @buf: registered
 * @token: leave to write there
 */
struct sink_window {
	void *map;
	uint64_t at;
	uint64_t len;
	struct kverbs_buf *buf;
	struct kverbs_token token;
};

/**
 * struct sink_file - the file that comes window by window
 * @id: its number, 0: there is none
 * @path: its name
 * @part: where it is written to
 * @meta: what it gets in the end
 * @method: how it is written
 * @attrs: attributes that it gets in the end
 * @size: what it will have
 * @endless: @size is not known before the end
 * @hash: of what has come
 * @begin: the same before anything came
 * @good: bytes from the beginning that are verified and stored
 * @started: the source has said where it begins
 * @granted: end of what has been lent, in the file
 * @windows: lent pieces, a ring
 * @head: pieces that came back so far
 * @tail: pieces lent so far
 * @err: why it was given up, or 0
 */
struct sink_file {
	uint32_t id;
	char path[PATH_MAX];
	struct part part;
	struct part_meta meta;
	enum method method;
	struct attrs attrs;
	uint64_t size;
	bool endless;
	struct hash hash;
	struct hash begin;
	uint64_t good;
	bool started;
	uint64_t granted;
	struct sink_window windows[COPY_STREAM_WINDOWS];
	unsigned int head;
	unsigned int tail;
	int err;
};

/**
 * struct sink - the whole of it
 * @copy: what was done
 * @s: the connection
 * @base: directory that everything goes beneath
 * @rename: what the topmost name becomes, or NULL: it stays
 * @out: standard output, to which the only file goes, or -1
 * @top: the only name that the source may give, and begin others with, or NULL: any
 * @files_only: no directories
 * @resume: go on with what an earlier run left
 * @sync: force everything to the disk
 * @dry: change nothing
 * @missing: @base does not exist, which is so only if nothing is changed
 * @no_delete: nothing is deleted
 * @umask: permission bits that nothing gets
 * @min_free: bytes that must stay free where files go
 * @max_size: bytes that a file may have, 0: any
 * @eager: windows for small files
 * @stream: windows for large ones, made when first needed
 * @own: copy of a window, which the source cannot write to, if there is a key
 * @parent: the last file's directory, or -1
 * @parent_path: its name
 * @attrs: attributes of the next entry
 * @names: what the source has, if other names are to be deleted
 * @incomplete: the source could not read something, so nothing is deleted
 * @prune: what is being deleted
 * @file: the large file at hand
 * @finished: the source's FINISH has come
 */
struct sink {
	struct copy *copy;
	struct session *s;
	int base;
	char *rename;
	int out;
	const char *top;
	bool files_only;
	bool resume;
	bool sync;
	bool dry;
	bool missing;
	bool no_delete;
	mode_t umask;
	uint64_t min_free;
	uint64_t max_size;
	struct landing eager;
	struct landing stream;
	void *own;
	int parent;
	char parent_path[PATH_MAX];
	struct attrs attrs;
	struct names names;
	bool incomplete;
	struct prune prune;
	struct sink_file file;
	bool finished;
};

/* Each returns 0, or -errno if the connection or the protocol broke. */
int sink_open(struct sink *sink, struct copy *copy);
int sink_target(struct sink *sink, int root, const struct path *path, bool must_be_dir);
int sink_target_local(struct sink *sink, const char *path, bool must_be_dir);
int sink_greet(struct sink *sink);
int sink_message(struct sink *sink, const struct wire_msg *msg);
/* While the connection is there; then, after session_stop(), sink_free(). */
void sink_close(struct sink *sink);
void sink_free(struct sink *sink);

/* These return why the file cannot be had */
int sink_place(struct sink *sink, const struct wire_msg *msg, struct path *path);
/* Whether the file @fd may get @size bytes */
int sink_room(const struct sink *sink, int fd, uint64_t size);
int sink_parent(struct sink *sink, const struct path *path);
int sink_open_beneath(const struct sink *sink, const char *path, int flags);

/*
 * The data that has landed in a window. An attacker on the path could still write to a window that
 * is exported, so with a key this is a copy, which cannot change after it was verified.
 */
int sink_landed(struct sink *sink, const void *window, size_t len, const void **data);
int sink_done(struct sink *sink, uint32_t id, uint32_t window, int err,
	      enum method method, uint64_t digest);
/* DONE of an entry that has no data; @bits: WIRE_I_* */
int sink_answer(struct sink *sink, const struct wire_msg *msg, int err, uint32_t bits);
int sink_attr(struct sink *sink, const struct wire_msg *msg);
/* The same without the answer */
int sink_take_attr(struct sink *sink, const struct wire_msg *msg);
/* Whether the attributes that have come are those of @msg */
int sink_attrs_match(struct sink *sink, const struct wire_msg *msg);
/* Note that the source has this name. */
int sink_name(struct sink *sink, const struct path *path);
void sink_say(struct sink *sink, const struct wire_msg *msg, enum item_action action, char type,
	      uint32_t bits);
int sink_ask(struct sink *sink, const struct wire_msg *msg);
int sink_link(struct sink *sink, const struct wire_msg *msg);
int sink_hard(struct sink *sink, const struct wire_msg *msg);
int sink_node(struct sink *sink, const struct wire_msg *msg);
int sink_dir(struct sink *sink, const struct wire_msg *msg);
int sink_dir_end(struct sink *sink, const struct wire_msg *msg);
int sink_prune(struct sink *sink, const struct wire_msg *msg);
/* Compare @msg with the metadata of the open @fd. */
int sink_differs(struct sink *sink, const struct wire_msg *msg, int fd, const struct stat *st,
		 uint32_t *bits);
/* Write to standard output. */
int sink_out(struct sink *sink, const void *data, size_t len);
int sink_file_begin(struct sink *sink, const struct wire_msg *msg);
int sink_file_start(struct sink *sink, const struct wire_msg *msg);
int sink_file_data(struct sink *sink, const struct wire_msg *msg);
int sink_file_end(struct sink *sink, const struct wire_msg *msg);
void sink_file_close(struct sink *sink);
void sink_meta(const struct sink *sink, const struct wire_msg *msg,
	       struct part_meta *meta);

#endif /* KVERBS_TOOL_SINK_H */
