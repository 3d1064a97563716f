/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * A copy from one server to another through this host: messages of either are passed on to the
 * other, and file data goes from a window here into one of the sink's.
 */
#ifndef KVERBS_TOOL_RELAY_H
#define KVERBS_TOOL_RELAY_H

#include "copy/landing.h"
#include "copy/sink.h"
#include "copy/source.h"

/* With a key, windows that have been verified and are on their way */
#define RELAY_OWN 2

/**
 * struct relay_write - a WRITE to the sink
 * @req: the request
 * @busy: @req is posted
 */
struct relay_write {
	struct kverbs_req req;
	bool busy;
};

/**
 * struct relay_own - copy of a window, which the source cannot write to
 * @buf: registered
 * @write: what is sent from @buf
 */
struct relay_own {
	struct kverbs_buf *buf;
	struct relay_write write;
};

/**
 * struct relay_slot - memory for a window of a large file
 * @landing: the only window
 * @write: what is sent from there
 */
struct relay_slot {
	struct landing landing;
	struct relay_write write;
};

/**
 * struct relay_entry - an entry that is pending, as the source knows it
 * @digest: of the source's message or file, with the key of its connection
 * @failed: the source has given it up
 */
struct relay_entry {
	uint64_t digest;
	bool failed;
};

/**
 * struct relay_hash - the digest of a file, once for each connection
 * @in: with the key of the source's
 * @out: with the key of the sink's
 */
struct relay_hash {
	struct hash in;
	struct hash out;
};

/**
 * struct relay - the whole of it
 * @copy: what was done; its connection is that with the sink
 * @from: the connection with the source
 * @src_host: the source, for error messages
 * @dst_host: the sink
 * @last: the connection of the last message, or of what failed
 * @keyed: a connection has a key, so that each needs digests of its own
 * @gate: what the source may send, and attributes of its next entry; stores nothing
 * @src: stands for the source towards the sink
 * @entries: of each element of @pending in @src
 * @links: paths of symbolic links that were passed on, a tree of tsearch(3)
 * @eager: windows for small files, numbered as the sink's
 * @eager_writes: what is sent from each of them
 * @slots: memory for large files
 * @nr_slots: how many there are
 * @nr_lasting: those of them that are granted for any file
 * @slot_of: which one a window of that kind has
 * @lent: grants of the stream, counted as @tail there, that the source knows
 * @started: the source has said where it begins the stream
 * @hash: of the stream, with a key
 * @own: windows out of reach of the source, with a key
 * @nr_own: how many have memory
 * @secured: windows copied there so far
 */
struct relay {
	struct copy *copy;
	struct copy from;
	const char *src_host;
	const char *dst_host;
	struct session *last;
	bool keyed;
	struct sink gate;
	struct source src;
	struct relay_entry entries[COPY_PENDING_MAX];
	void *links;
	struct landing eager;
	struct relay_write eager_writes[COPY_EAGER_WINDOWS];
	struct relay_slot slots[COPY_STREAM_WINDOWS];
	unsigned int nr_slots;
	unsigned int nr_lasting;
	unsigned int slot_of[WIRE_WINDOWS_MAX];
	unsigned int lent;
	bool started;
	struct relay_hash hash;
	struct relay_own own[RELAY_OWN];
	unsigned int nr_own;
	uint64_t secured;
};

/* @copy: its connection is that with the sink. @from: that with the source */
void relay_init(struct relay *r, struct copy *copy, struct session *from);
/*
 * All that follow return 0, -errno if a connection or the protocol broke, or an exit status having
 * said why.
 */
/* Tell the source of windows, after the sink has told of its own. */
int relay_greet(struct relay *r);
/* Pass on one message. */
int relay_pump(void *arg);
/* Wait until all that was sent has arrived. */
int relay_flush(struct relay *r);
/* While the connections are there; then, after session_stop(), relay_free(). */
void relay_close(struct relay *r);
void relay_free(struct relay *r);

/* Messages to the source, and to the sink */
int relay_to_source(struct relay *r, const struct wire_msg *msg);
int relay_to_sink(struct relay *r, const struct wire_msg *msg);
const uint8_t *relay_source_key(const struct relay *r);
const uint8_t *relay_sink_key(const struct relay *r);
/* Report that an entry of the source is not passed on, and answer in place of the sink. */
int relay_refuse(struct relay *r, const struct wire_msg *msg, int err);
/* An entry of the source, or what follows FILE */
int relay_from_source(struct relay *r, const struct wire_msg *msg);

/* Memory for one more window out of reach of the source, if it has a key */
int relay_add_own(struct relay *r);
/* FILE with the data, and without it; @out: as it goes to the sink */
int relay_eager(struct relay *r, const struct wire_msg *msg, struct wire_msg *out,
		struct source_pending *p);
int relay_begin(struct relay *r, const struct wire_msg *msg, const struct wire_msg *out);
int relay_start(struct relay *r, const struct wire_msg *msg);
int relay_data(struct relay *r, const struct wire_msg *msg);
/* END or ABORT */
int relay_end(struct relay *r, const struct wire_msg *msg);
/* GRANT of a window that is not for small files */
int relay_grant(struct relay *r, const struct wire_msg *msg);
/* Wait until what was sent from a window of this number has left it. */
int relay_await_window(struct relay *r, uint32_t window);
/* Wait for all of them. */
int relay_await_all(struct relay *r);

#endif /* KVERBS_TOOL_RELAY_H */
