// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * A large file, window by window.
 */
#define _GNU_SOURCE

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/util.h"
#include "copy/sink.h"
#include "copy/store.h"

static struct sink_window *slot(struct sink_file *f, unsigned int i)
{
	return &f->windows[i % COPY_STREAM_WINDOWS];
}

/* The connection that may write to a mapped window */
static struct kverbs_conn *conn_of(const struct sink *sink, const struct sink_window *w)
{
	return copy_lane(sink->copy, w - sink->file.windows)->conn;
}

/* The pages must be there: a hole would be found by a page fault that cannot fail. */
static int map_window(struct sink *sink, struct sink_window *w, int fd)
{
	int ret;

	if (fallocate(fd, 0, w->at, w->len))
		return -errno;
	w->map = mmap(NULL, w->len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, w->at);
	if (w->map == MAP_FAILED)
		return -errno;
	ret = kverbs_buf_register(sink->s->kv, w->map, w->len, 0, &w->buf);
	if (ret)
		goto out_unmap;
	ret = kverbs_export(conn_of(sink, w), w->buf, 0, w->len, KVERBS_REMOTE_WRITE,
			    &w->token);
	if (ret)
		goto out_unregister;
	return 0;

out_unregister:
	kverbs_buf_free(w->buf);
out_unmap:
	munmap(w->map, w->len);
	return ret;
}

static void unmap_window(struct sink_window *w)
{
	kverbs_buf_free(w->buf);
	munmap(w->map, w->len);
	memset(w, 0, sizeof(*w));
}

static int grant_one(struct sink *sink)
{
	struct sink_file *f = &sink->file;
	struct sink_window *w = slot(f, f->tail);
	struct wire_msg msg = { .id = f->id };
	int ret;

	w->at = f->granted;
	w->len = min((uint64_t)COPY_CHUNK, f->size - f->granted);
	/* Another copy may have filled the file system in the meantime. */
	ret = sink_room(sink, f->part.fd, w->at + w->len);
	if (ret)
		return ret;
	ret = map_window(sink, w, f->part.fd);
	if (ret)
		return ret;
	msg.window = f->tail % COPY_STREAM_WINDOWS;
	msg.offset = w->at;
	msg.size = w->len;
	f->tail++;
	f->granted += w->len;
	return landing_grant(sink->s, &msg, &w->token);
}

/* A limit on locked memory only means that less is lent at a time. */
static bool is_later(const struct sink_file *f, int err)
{
	return (err == -ENOMEM || err == -EPERM) && f->head != f->tail;
}

/* Lend as much as may be lent. What goes wrong is the file's. */
static int sink_window_grant(struct sink *sink)
{
	struct sink_file *f = &sink->file;
	int ret = 0;

	while (!ret && f->granted < f->size && f->tail - f->head < COPY_STREAM_WINDOWS)
		ret = grant_one(sink);
	if (is_later(f, ret))
		return 0;
	return ret == -EPERM ? -ENOMEM : ret;
}

static int check(struct sink_file *f, const struct wire_msg *msg)
{
	struct sink_window *w = slot(f, f->head);

	if (f->head == f->tail || msg->window != f->head % COPY_STREAM_WINDOWS ||
	    msg->offset != w->at || msg->size != w->len)
		return -EPROTO;
	return 0;
}

/* The source has filled the oldest one. -EBADMSG: it does not hold what it should. */
static int sink_window_take(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	struct sink_window *w = slot(f, f->head);
	uint64_t piece;
	int ret;

	ret = check(f, msg);
	if (ret)
		return ret;
	/* First the leave to write, then the look: it cannot change in between. */
	ret = kverbs_unexport(conn_of(sink, w), &w->token);
	if (!ret)
		ret = hash_add(&f->hash, w->map, w->len, &piece);
	if (!ret && piece != msg->digest)
		ret = -EBADMSG;
	if (!ret)
		f->good += w->len;
	if (!ret && sink->copy->opts & WIRE_F_SPARSE)
		store_punch(f->part.fd, w->map, w->len, w->at);
	unmap_window(w);
	f->head++;
	return ret;
}

/* Windows of a part of the file that the source skips are not needed. */
static int drop_windows(struct sink *sink, uint64_t to)
{
	struct sink_file *f = &sink->file;
	struct sink_window *w;
	int ret = 0;

	for (; f->head != f->tail && slot(f, f->head)->at < to && !ret; f->head++) {
		w = slot(f, f->head);
		ret = kverbs_unexport(conn_of(sink, w), &w->token);
		fallocate(f->part.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, w->at, w->len);
		unmap_window(w);
	}
	f->granted = max(f->granted, to);
	return ret;
}

/* While the connection is there. */
static void sink_window_release(struct sink *sink)
{
	struct sink_file *f = &sink->file;
	struct sink_window *w;

	for (; f->head != f->tail; f->head++) {
		w = slot(f, f->head);
		kverbs_unexport(conn_of(sink, w), &w->token);
		unmap_window(w);
	}
}

/* Stream windows to try for, most first: locked memory may be short. */
static const struct {
	unsigned int count;
	size_t size;
} pools[] = {
	{ COPY_STREAM_WINDOWS, COPY_CHUNK },
	{ 4, COPY_CHUNK },
	{ 4, WIRE_BLOCK },
	{ 2, WIRE_BLOCK },
};

int sink_done(struct sink *sink, uint32_t id, uint32_t window, int err,
	      enum method method, uint64_t digest)
{
	struct wire_msg msg = {
		.type = WIRE_DONE,
		.status = wire_status(err),
		.id = id,
		.window = window,
		.mode = method << 16,
	};
	int ret = 0;

	if (!err)
		ret = hash_confirm(session_mac_key(sink->s), digest, 0, &msg.digest);
	return ret ? ret : session_queue(sink->s, &msg);
}

static int open_pool(struct sink *sink)
{
	unsigned int i;
	int ret = 0;

	if (sink->stream.buf)
		return 0;
	for (i = 0; i < ARRAY_SIZE(pools); i++) {
		ret = landing_open(&sink->stream, sink->copy, COPY_EAGER_WINDOWS,
				   pools[i].count, pools[i].size);
		if (ret != -ENOMEM && ret != -EPERM)
			break;
	}
	if (ret)
		return ret == -EPERM ? -ENOMEM : ret;
	return landing_announce(&sink->stream);
}

/*
 * How much of an earlier run's file to offer. A mapped one has been made longer
 * for windows that may never have been filled, so what could be those is left.
 */
static uint64_t usable(const struct sink *sink)
{
	const struct sink_file *f = &sink->file;
	uint64_t spare = COPY_STREAM_WINDOWS * COPY_CHUNK, len;
	struct stat st;

	if (!sink->resume || f->endless || sink->out >= 0)
		return 0;
	if (fstat(f->part.fd, &st) || (uint64_t)st.st_size > f->size)
		return 0;
	len = st.st_size;
	if (f->method == METHOD_MAPPED)
		len = len > spare ? len - spare : 0;
	return len / WIRE_BLOCK * WIRE_BLOCK;
}

static int send_ready(struct sink *sink, uint64_t offset, const uint8_t sha[WIRE_SHA_LEN])
{
	struct sink_file *f = &sink->file;
	struct wire_msg msg = {
		.type = WIRE_READY,
		.id = f->id,
		.window = WIRE_NO_WINDOW,
		.offset = offset,
		.size = f->method == METHOD_MAPPED ? COPY_CHUNK : sink->stream.size,
		.flags = f->method == METHOD_MAPPED ? WIRE_F_MAPPED : 0,
		.tail = sha,
		.tail_len = offset ? WIRE_SHA_LEN : 0,
	};

	return session_send(sink->s, &msg);
}

/* With holes, less than the whole of a file may be needed. */
static int reserve(struct sink *sink)
{
	struct sink_file *f = &sink->file;

	if (f->method == METHOD_MAPPED || sink->copy->opts & WIRE_F_SPARSE)
		return 0;
	return store_reserve(f->part.fd, f->size);
}

/* The attributes that have come are this file's. */
static int take_attrs(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	int ret = sink_attrs_match(sink, msg);

	if (ret)
		return ret;
	f->attrs = sink->attrs;
	memset(&sink->attrs, 0, sizeof(sink->attrs));
	f->meta.attrs = &f->attrs;
	return 0;
}

static int open_file(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	struct path path;
	int ret;

	ret = sink_place(sink, msg, &path);
	if (!ret)
		ret = sink_name(sink, &path);
	if (!ret)
		ret = take_attrs(sink, msg);
	if (ret)
		return ret;
	f->method = METHOD_BUFFERED;
	if (sink->out >= 0)
		return 0;
	/* A stream has no name of its own. */
	if (path_is_top(&path) || (f->endless && !sink->rename))
		return -EISDIR;
	memcpy(f->path, path.text, sizeof(f->path));
	ret = sink_parent(sink, &path);
	if (ret < 0)
		return ret;
	ret = part_open(&f->part, ret, path.name);
	if (ret)
		return ret;
	ret = sink_room(sink, f->part.fd, f->size);
	if (ret)
		return ret;
	/* A window is mapped for a range of the final size, which a stream does not have. */
	f->method = store_method(f->part.fd, f->endless ? COPY_CHUNK : f->size);
	if (f->endless && f->method == METHOD_MAPPED)
		f->method = METHOD_BUFFERED;
	return reserve(sink);
}

/* Give the file up; the source will END or ABORT it yet. */
static int give_up(struct sink *sink, int err)
{
	struct sink_file *f = &sink->file;

	f->err = err;
	copy_failed(sink->copy, err == -ENOMEM ? ERR_MEMORY : ERR_LOCAL, err, f->path);
	return sink_done(sink, f->id, WIRE_NO_WINDOW, err, METHOD_NONE, 0);
}

/* A connection that is over is no fault of the file's: what came stays. */
static int give_up_or_end(struct sink *sink, int err)
{
	if (err == -EPROTO)
		return err;
	if (err != -EBADMSG && session_broken(sink->s, err))
		return -ECONNRESET;
	return give_up(sink, err);
}

static void forget(struct sink *sink)
{
	attrs_free(&sink->file.attrs);
	memset(&sink->file, 0, sizeof(sink->file));
	sink->file.part.fd = -1;
}

static int refuse(struct sink *sink, int err)
{
	int ret;

	part_leave(&sink->file.part);
	ret = give_up(sink, err);
	/* No READY was sent, so nothing more comes of it. */
	forget(sink);
	return ret;
}

/* Offer to resume behind the bytes of an earlier run; if they cannot be hashed, from 0. */
static int offer(struct sink *sink)
{
	struct sink_file *f = &sink->file;
	uint64_t offset = usable(sink);
	uint8_t sha[WIRE_SHA_LEN];

	if (hash_prefix(&f->hash, f->part.fd, offset, sha, copy_beat, sink->copy)) {
		f->hash = f->begin;
		offset = 0;
	}
	f->good = offset;
	return send_ready(sink, offset, sha);
}

/* FILE, not eager. */
int sink_file_begin(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	int ret;

	if (f->id || !msg->id || sink->dry || !msg->size == !(msg->flags & WIRE_F_STREAM))
		return -EPROTO;
	forget(sink);
	if (msg->flags & WIRE_F_UNASKED)
		sink_say(sink, msg, ITEM_RECEIVED, 'f', WIRE_I_NEW);
	f->id = msg->id;
	f->size = msg->size;
	f->endless = msg->flags & WIRE_F_STREAM;
	snprintf(f->path, sizeof(f->path), "%.*s", (int)msg->tail_len,
		 (const char *)msg->tail);
	sink_meta(sink, msg, &f->meta);
	ret = hash_begin(&f->begin, session_mac_key(sink->s), msg);
	f->hash = f->begin;
	progress_name(&sink->copy->progress, f->path);
	if (!ret)
		ret = open_file(sink, msg);
	if (!ret && f->method != METHOD_MAPPED)
		ret = open_pool(sink);
	return ret ? refuse(sink, ret) : offer(sink);
}

/* On some file systems truncation frees what is reserved behind the end. */
static int cut(struct sink *sink, uint64_t size)
{
	struct sink_file *f = &sink->file;
	struct stat st;
	int ret;

	if (sink->out >= 0)
		return 0;
	if (fstat(f->part.fd, &st))
		return -errno;
	if ((uint64_t)st.st_size != size && ftruncate(f->part.fd, size))
		return -errno;
	ret = sink_room(sink, f->part.fd, f->size);
	return ret ? ret : reserve(sink);
}

/* START: what was offered is right, or it begins again. */
int sink_file_start(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	int ret;

	if (!f->id || msg->id != f->id || f->started ||
	    (msg->offset && msg->offset != f->hash.size))
		return -EPROTO;
	f->started = true;
	if (!msg->offset)
		f->hash = f->begin;
	f->good = msg->offset;
	f->granted = msg->offset;
	sink->copy->resumed += msg->offset;
	progress_resume(&sink->copy->progress, msg->offset);
	ret = cut(sink, msg->offset);
	if (!ret && f->method == METHOD_MAPPED)
		ret = sink_window_grant(sink);
	return ret ? give_up_or_end(sink, ret) : 0;
}

/* All windows but the last one of a file are full. */
static int check_landed(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;

	if (msg->offset != f->hash.size)
		return -EPROTO;
	if (!f->endless)
		return msg->size == min((uint64_t)sink->stream.size, f->size - f->hash.size) ?
		       0 : -EPROTO;
	if (!msg->size || msg->size > sink->stream.size || f->hash.size % WIRE_BLOCK)
		return -EPROTO;
	f->size += msg->size;
	return sink->out >= 0 ? 0 : sink_room(sink, f->part.fd, f->size);
}

static int write_landed(struct sink *sink, const struct wire_msg *msg, const void *data)
{
	struct sink_file *f = &sink->file;

	if (sink->out >= 0)
		return sink_out(sink, data, msg->size);
	if (sink->copy->opts & WIRE_F_SPARSE)
		return store_write_sparse(f->part.fd, &f->method, data, msg->size, msg->offset);
	return store_write(f->part.fd, &f->method, data, msg->size, msg->offset);
}

static int take_landed(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	const void *data;
	uint64_t piece;
	int ret;

	ret = check_landed(sink, msg);
	if (!ret)
		ret = sink_landed(sink, landing_window(&sink->stream, msg->window), msg->size,
				  &data);
	if (!ret)
		ret = hash_add(&f->hash, data, msg->size, &piece);
	if (!ret && piece != msg->digest)
		ret = -EBADMSG;
	if (!ret)
		ret = write_landed(sink, msg, data);
	if (!ret)
		f->good += msg->size;
	return ret;
}

static int write_zeros(struct sink *sink, uint64_t len)
{
	static const char zeros[COPY_EAGER_SIZE];
	int ret = 0;
	size_t n;

	for (; len && !ret && sink->out >= 0; len -= n) {
		n = len < sizeof(zeros) ? len : sizeof(zeros);
		ret = sink_out(sink, zeros, n);
	}
	return ret;
}

/* DATA of zeros, which the file has already: its windows are not needed. */
static int hole(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	uint64_t piece, step = f->method == METHOD_MAPPED ? COPY_CHUNK : WIRE_BLOCK;
	int ret;

	if (f->err)
		return 0;
	if (f->endless || msg->offset != f->hash.size || !msg->size ||
	    msg->size > COPY_HOLE_MAX || msg->size > f->size - f->hash.size ||
	    (msg->size != f->size - f->hash.size && msg->size % step))
		return -EPROTO;
	ret = hash_add_zeros(&f->hash, msg->size, &piece);
	if (!ret && piece != msg->digest)
		ret = -EBADMSG;
	if (!ret)
		ret = write_zeros(sink, msg->size);
	if (!ret && f->method == METHOD_MAPPED) {
		ret = drop_windows(sink, msg->offset + msg->size);
		if (!ret)
			ret = sink_window_grant(sink);
	}
	if (!ret)
		f->good += msg->size;
	return ret ? give_up_or_end(sink, ret) : 0;
}

static int send_credit(struct sink *sink, uint32_t window)
{
	struct wire_msg msg = { .type = WIRE_CREDIT, .window = window };

	return session_send(sink->s, &msg);
}

static int landed(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	int ret = 0;

	if (!landing_window(&sink->stream, msg->window))
		return -EPROTO;
	if (!f->err)
		ret = take_landed(sink, msg);
	if (ret == -EPROTO)
		return ret;
	if (ret)
		ret = give_up(sink, ret);
	return ret ? ret : send_credit(sink, msg->window);
}

static int mapped(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	int ret;

	if (f->err)
		return 0;
	ret = sink_window_take(sink, msg);
	if (!ret)
		ret = sink_window_grant(sink);
	return ret ? give_up_or_end(sink, ret) : 0;
}

/*
 * DATA comes by the first connection and may overtake what another one carries, so LANE follows the
 * data there.
 */
static int await_lane(struct sink *sink, const struct wire_msg *data)
{
	struct session *lane = copy_lane(sink->copy, data->window);
	struct wire_msg msg;
	int ret;

	if (lane == sink->s)
		return 0;
	ret = copy_recv(sink->copy, lane, &msg);
	if (ret)
		return ret;
	return msg.type == WIRE_LANE && msg.window == data->window ? 0 : -EPROTO;
}

/* DATA */
int sink_file_data(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	int ret;

	if (!f->id || msg->id != f->id || !f->started)
		return -EPROTO;
	ret = msg->flags & WIRE_F_HOLE ? 0 : await_lane(sink, msg);
	if (ret)
		return ret;
	if (msg->flags & WIRE_F_HOLE)
		ret = hole(sink, msg);
	else
		ret = f->method == METHOD_MAPPED ? mapped(sink, msg) : landed(sink, msg);
	if (!ret && !f->err) {
		progress_add(&sink->copy->progress, msg->size);
		sink->copy->moved += msg->flags & WIRE_F_HOLE ? 0 : msg->size;
	}
	return ret;
}

static int verify(const struct sink_file *f, const struct wire_msg *msg)
{
	uint64_t value = 0;
	int ret = hash_value(&f->hash, &value);

	if (ret)
		return ret;
	return f->hash.size == f->size && msg->size == f->size && msg->digest == value ?
	       0 : -EBADMSG;
}

/* A hole at the end leaves the file too short. */
static int set_size(const struct sink_file *f)
{
	struct stat st;

	if (fstat(f->part.fd, &st))
		return -errno;
	return (uint64_t)st.st_size != f->size && ftruncate(f->part.fd, f->size) ? -errno : 0;
}

static int commit(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	struct copy *c = sink->copy;
	int ret;

	ret = verify(f, msg);
	if (!ret && sink->out < 0)
		ret = set_size(f);
	if (!ret && sink->out < 0)
		ret = part_commit(&f->part, &f->meta);
	if (ret) {
		part_drop(&f->part);
		return give_up(sink, ret);
	}
	c->digest = msg->digest;
	c->source_methods |= 1u << (msg->mode >> 16 & 0xf);
	c->sink_methods |= 1u << f->method;
	copy_done(c, f->path, f->size);
	return sink_done(sink, f->id, WIRE_NO_WINDOW, 0, f->method, msg->digest);
}

/* The verified beginning stays for a later run, which hashes it again. */
static void keep(struct sink_file *f)
{
	part_keep(&f->part, f->good / WIRE_BLOCK * WIRE_BLOCK);
}

static int aborted(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;

	keep(f);
	copy_failed(sink->copy, ERR_REMOTE, wire_errno(msg->status), f->path);
	return sink_done(sink, f->id, WIRE_NO_WINDOW, wire_errno(msg->status),
			 METHOD_NONE, 0);
}

/* END or ABORT */
int sink_file_end(struct sink *sink, const struct wire_msg *msg)
{
	struct sink_file *f = &sink->file;
	int ret = 0;

	if (!f->id || msg->id != f->id || !f->started)
		return -EPROTO;
	/* Before the file is verified or left to others, its windows must be closed. */
	sink_window_release(sink);
	if (f->err == -EBADMSG)
		part_drop(&f->part);
	else if (f->err)
		keep(f);
	else if (msg->type == WIRE_END)
		ret = commit(sink, msg);
	else
		ret = aborted(sink, msg);
	forget(sink);
	return ret;
}

/* The connection is about to go: what is verified stays for a later run. */
void sink_file_close(struct sink *sink)
{
	struct sink_file *f = &sink->file;

	sink_window_release(sink);
	if (f->id && f->err != -EBADMSG)
		keep(f);
	else
		part_drop(&f->part);
	forget(sink);
}
