/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* One run of kverbs cp. */
#ifndef KVERBS_TOOL_CP_H
#define KVERBS_TOOL_CP_H

#include "cli/opts.h"
#include "copy/copy.h"
#include "copy/counter.h"
#include "copy/paths.h"
#include "copy/retry.h"
#include "peer/target.h"

struct sink;
struct source;

/**
 * struct cp_before - what the connections of a copy did that were lost
 * @files: files done, which the next one finds unchanged
 * @bytes: bytes of those files
 * @wire_out: bytes of messages sent
 * @wire_in: bytes of messages received
 */
struct cp_before {
	uint64_t files;
	uint64_t bytes;
	uint64_t wire_out;
	uint64_t wire_in;
};

/**
 * struct cp - one run of cp
 * @to: the server, at the address in use
 * @path_words: other addresses of it
 * @paths: all addresses of it
 * @parallel: connections at a time
 * @lanes: those besides the first one
 * @lane_path: the path of each
 * @id: number that tells a server which connections are of the same copy, random
 * @sources: what is copied
 * @nr_sources: how many
 * @dst: where to
 * @upload: to the server
 * @relay: from another server
 * @from: that one
 * @from_s: the connection with it
 * @lost_from: the connection with it was lost, and not that with @to
 * @archive: several options at once
 * @recursive: directories too
 * @links: symbolic links too
 * @perms: all permission bits
 * @times: also those of the destination directory
 * @owner: owners
 * @group: groups
 * @devices: FIFOs, sockets and devices too
 * @hard_links: files with several names stay one
 * @acls: access control lists
 * @xattrs: extended attributes
 * @sparse: make holes of zeros
 * @checksum: compare data, not size and time
 * @dry_run: change nothing
 * @update: leave newer files alone
 * @ignore_times: copy all files
 * @size_only: compare only sizes
 * @existing: create no files
 * @ignore_existing: change no files
 * @itemize: say what is done
 * @quiet: say nothing but errors
 * @stats: say how much was done
 * @delete: delete what the source does not have
 * @mkpath: make the destination's directories
 * @no_resume: begin again in any case
 * @sync: force it to the disk
 * @progress: draw a bar
 * @verbose: a line for each file
 * @rules: patterns, and files of them
 * @files_from: file of names, or NULL
 * @chmod: change of permissions, or NULL
 * @bwlimit: bytes per second, as text, or NULL
 * @names: those in @files_from
 * @nr_names: how many
 * @counter: counts the bytes that are to go there, for the progress bar
 * @retry: attempts to connect again
 * @losses: connections that were lost
 * @before: what earlier connections of the copy did
 * @filter: made of @rules
 * @copy: what was done
 */
struct cp {
	struct session_to to;
	struct opts_many path_words;
	struct paths paths;
	uint64_t parallel;
	struct session lanes[COPY_LANES_MAX];
	unsigned int lane_path[COPY_LANES_MAX];
	uint64_t id;
	struct target *sources;
	int nr_sources;
	struct target dst;
	bool upload;
	bool relay;
	struct session_to from;
	struct session from_s;
	bool lost_from;
	bool archive;
	bool recursive;
	bool links;
	bool perms;
	bool times;
	bool owner;
	bool group;
	bool devices;
	bool hard_links;
	bool acls;
	bool xattrs;
	bool sparse;
	bool checksum;
	bool dry_run;
	bool update;
	bool ignore_times;
	bool size_only;
	bool existing;
	bool ignore_existing;
	bool itemize;
	bool quiet;
	bool stats;
	bool delete;
	bool mkpath;
	bool no_resume;
	bool sync;
	bool progress;
	bool verbose;
	struct opts_many rules;
	const char *files_from;
	const char *chmod;
	const char *bwlimit;
	char **names;
	size_t nr_names;
	struct counter counter;
	struct retry retry;
	unsigned int losses;
	struct cp_before before;
	struct filter filter;
	struct copy copy;
};

/**
 * struct cp_getter - how the answers to GET are taken
 * @sink: names that were asked for, and the connection
 * @pump: takes one message; sets @finished of @sink when FINISH has come
 * @arg: for @pump
 */
struct cp_getter {
	struct sink *sink;
	int (*pump)(void *arg);
	void *arg;
};

/* Each returns an exit status, having said why, or -errno of the connection. */
int cp_get(struct cp *cp);
int cp_put(struct cp *cp);
int cp_relay(struct cp *cp);
/* Ask for all sources, one after another. */
int cp_get_each(struct cp *cp, const struct cp_getter *get);
/* Ask for the destination; the answer tells of windows, or why not. */
int cp_ask(struct cp *cp, struct source *src);
/*
 * Connect over the first path that answers, and to both servers if there are two. Returns an exit
 * status, having said why.
 */
int cp_connect(struct cp *cp, struct session *s, struct kverbs *kv);
/*
 * Connect again after @err, over the next path, unless there were too many attempts. Returns 0, or
 * an exit status having said why.
 */
int cp_reconnect(struct cp *cp, struct session *s, int err);
/* Say that the connection was lost. Returns the exit status. */
int cp_report_lost(struct cp *cp, struct session *s, int err);
/* COPY: the server ends connections of this copy before; LANE: this one carries data of it. */
int cp_announce(const struct cp *cp, struct session *s, unsigned int type);
void cp_add_lanes(struct cp *cp);
/* After copy_stop(); @err: of the copy */
void cp_free_lanes(struct cp *cp, int err);
/* Count what is to be sent. */
void cp_count(struct cp *cp);
/* The patterns, and the names in a file. Return 0 or an exit status. */
int cp_read_rules(struct cp *cp);
int cp_read_names(struct cp *cp);

#endif /* KVERBS_TOOL_CP_H */
