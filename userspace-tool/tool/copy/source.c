// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cli/util.h"
#include "copy/hash.h"
#include "copy/source.h"

static struct extent *oldest(struct source *src)
{
	return &src->ext[src->ext_head % SOURCE_EXTENTS];
}

/* Errors of a WRITE that the peer's token or the connection does not permit */
static int post_error(int err)
{
	if (err == -ERANGE || err == -EACCES)
		return -EPROTO;
	return err == -ENOTCONN ? -ECONNRESET : err;
}

static int post_ops(struct source *src, const struct kverbs_op *ops)
{
	int n;

	while (src->unposted) {
		n = kverbs_post(src->s->conn, ops, src->unposted);
		if (n < 0)
			return post_error(n);
		src->unposted -= n;
		ops += n;
	}
	return 0;
}

/* Post the WRITEs of small files, which the messages in the queue of the session tell of. */
static int post_small(void *arg)
{
	struct source *src = arg;
	struct kverbs_op ops[SOURCE_EXTENTS];
	struct extent *x;
	unsigned int i;

	src->shared = NULL;
	for (i = 0; i < src->unposted; i++) {
		x = &src->ext[(src->ext_tail - src->unposted + i) % SOURCE_EXTENTS];
		ops[i] = (struct kverbs_op){
			.opcode = KVERBS_OP_WRITE,
			.buf = x->buf,
			.offset = x->at,
			.length = x->len,
			.token = x->token,
			.req = &x->req,
		};
	}
	return post_ops(src, ops);
}

static int reap_one(struct source *src)
{
	struct extent *x = oldest(src);
	size_t len = x->len;
	int ret = 0;

	if (src->ext_tail - src->ext_head == src->unposted)
		ret = post_small(src);
	if (!ret)
		ret = session_wait(x->lane, &x->req, src->s->timeout_ms);
	if (ret)
		return ret;
	extent_drop(x);
	src->ext_head++;
	progress_add(&src->copy->progress, len);
	return 0;
}

/* Let go of what has arrived; @wait: and of one more, if there is any. */
static int source_reap(struct source *src, bool wait)
{
	int ret = 0;

	while (!ret && src->ext_head != src->ext_tail &&
	       (wait || kverbs_complete(&oldest(src)->req))) {
		ret = reap_one(src);
		wait = false;
	}
	return ret;
}

/*
 * Have a piece of a file at hand. A limit on locked memory only means that less
 * is on its way at a time. @file_err: the piece cannot be had.
 */
static int source_load(struct source *src, int fd, uint64_t at, size_t len,
		       enum method *method, struct extent **px, int *file_err)
{
	struct extent *x = &src->ext[src->ext_tail % SOURCE_EXTENTS];
	bool full = src->ext_tail - src->ext_head == SOURCE_EXTENTS;
	int ret;

	*px = x;
	ret = source_reap(src, full);
	while (!ret) {
		*file_err = extent_load(x, src->s->kv, fd, at, len, method);
		if (*file_err != -ENOMEM && *file_err != -EPERM)
			break;
		*file_err = -ENOMEM;
		if (src->ext_head == src->ext_tail)
			break;
		ret = source_reap(src, true);
	}
	return ret;
}

/* If there is no memory for it, small files are loaded as large ones are. */
static bool has_small(struct source *src)
{
	if (!src->small && !src->no_small)
		src->no_small = kverbs_buf_alloc(src->s->kv, SOURCE_EXTENTS * SOURCE_SMALL,
						 &src->small);
	return !src->no_small;
}

/* Load all of a small file. Copying it costs less than mapping and registering its pages. */
static int load_small(struct source *src, int fd, size_t len, enum method *method,
		      struct extent **px, int *file_err)
{
	unsigned int slot = src->ext_tail % SOURCE_EXTENTS;
	int ret;

	if (len > SOURCE_SMALL || !has_small(src))
		return source_load(src, fd, 0, len, method, px, file_err);
	ret = source_reap(src, src->ext_tail - src->ext_head == SOURCE_EXTENTS);
	if (ret)
		return ret;
	*px = &src->ext[slot];
	*method = METHOD_BUFFERED;
	*file_err = extent_read(*px, src->small, slot * SOURCE_SMALL, fd, len);
	return 0;
}

/* Send a piece on its way. It must have been the last one loaded. */
static int source_write(struct source *src, struct extent *x, struct session *lane,
			const struct kverbs_token *token)
{
	int ret;

	x->lane = lane;
	ret = post_small(src);
	if (!ret)
		ret = kverbs_write(lane->conn, x->buf, x->at, x->len, token, 0, &x->req);
	if (ret) {
		extent_drop(x);
		return post_error(ret);
	}
	src->ext_tail++;
	return 0;
}

/* The same for all of a small file: its WRITE is posted with those of others. */
static int write_small(struct source *src, struct extent *x, const struct kverbs_token *token)
{
	if (!x->lent || !src->s->several)
		return source_write(src, x, src->s, token);
	x->lane = src->s;
	x->token = token;
	src->ext_tail++;
	src->unposted++;
	return 0;
}

/* Read a small file to follow the last one, if one WRITE can carry both. Else *@px is NULL. */
static int load_behind(struct source *src, int fd, size_t len, struct extent **px)
{
	struct extent *x = &src->ext[(src->ext_tail - 1) % SOURCE_EXTENTS];

	*px = NULL;
	if (!src->shared || x->len + len > SOURCE_SMALL || x->len + len > x->token->length)
		return 0;
	*px = x;
	return extent_append(x, fd, len);
}

static struct source_window *find_free(struct source *src, unsigned int from,
				       unsigned int to, uint64_t len)
{
	unsigned int i;

	for (i = from; i < to; i++)
		if (src->windows[i].free && src->windows[i].token.length >= len)
			return &src->windows[i];
	return NULL;
}

static int take_window(struct source *src, unsigned int from, unsigned int to,
		       uint64_t len, struct source_window **w)
{
	int ret = 0;

	while (!(*w = find_free(src, from, to, len)) && !ret)
		ret = source_pump(src);
	if (*w)
		(*w)->free = false;
	return ret;
}

static uint32_t number(const struct source *src, const struct source_window *w)
{
	return w - src->windows;
}

/* Whether the file is still what it was before it was read; else -ESTALE. */
static int check_same(int fd, const struct stat *was)
{
	struct stat now;

	if (fstat(fd, &now))
		return -errno;
	if (now.st_size != was->st_size ||
	    now.st_mtim.tv_sec != was->st_mtim.tv_sec ||
	    now.st_mtim.tv_nsec != was->st_mtim.tv_nsec ||
	    now.st_ctim.tv_sec != was->st_ctim.tv_sec ||
	    now.st_ctim.tv_nsec != was->st_ctim.tv_nsec)
		return -ESTALE;
	return 0;
}

static int64_t ns(const struct timespec *t)
{
	return t->tv_sec * 1000000000ll + t->tv_nsec;
}

/*
 * A file system takes times of changes from the coarse clock. Another change in the same tick
 * as the last one before fstat() would not alter them, so read only in a later tick.
 */
static void await_tick(const struct stat *st)
{
	struct timespec now, tick, until;
	int64_t late;

	clock_getres(CLOCK_REALTIME_COARSE, &tick);
	clock_gettime(CLOCK_REALTIME_COARSE, &now);
	late = ns(&st->st_ctim) + ns(&tick);
	/* A time far ahead is of another clock: any change sets one from this clock. */
	if (ns(&now) > ns(&st->st_ctim) || ns(&now) + 2 * ns(&tick) < late)
		return;
	until.tv_sec = late / 1000000000;
	until.tv_nsec = late % 1000000000;
	clock_nanosleep(CLOCK_REALTIME, TIMER_ABSTIME, &until, NULL);
}

/* Put all of a small file into a window of its own. @file_err: it could not be had. */
static int fill_window(struct source *src, int fd, size_t len, struct source_window **w,
		       struct extent **px, enum method *method, int *file_err)
{
	int ret = take_window(src, 0, src->nr_eager, len, w);

	if (ret)
		return ret;
	ret = load_small(src, fd, len, method, px, file_err);
	if (ret || *file_err) {
		(*w)->free = true;
		return ret;
	}
	ret = write_small(src, *px, &(*w)->token);
	if (!ret && src->packs && src->unposted)
		src->shared = *w;
	return ret;
}

/* The data of FILE, and its digest. @file_err: the data could not be had. */
static int load_eager(struct source *src, struct source_pending *p, struct wire_msg *msg,
		      struct hash *hash, int *file_err)
{
	enum method method = METHOD_BUFFERED;
	struct source_window *w;
	struct extent *x;
	uint64_t piece;
	int ret;

	ret = copy_pace(src->copy, msg->size);
	if (ret)
		return ret;
	*file_err = load_behind(src, p->fd, msg->size, &x);
	w = src->shared;
	if (!x) {
		method = METHOD_MAPPED;
		ret = fill_window(src, p->fd, msg->size, &w, &x, &method, file_err);
	}
	if (ret || *file_err)
		return ret;
	w->files++;
	msg->window = number(src, w);
	msg->offset = x->len - msg->size;
	msg->mode |= method << 16;
	src->copy->moved += msg->size;
	src->copy->source_methods |= 1u << method;
	/* Hashing goes on while the HCA works. */
	*file_err = hash_begin(hash, session_mac_key(src->s), msg);
	if (!*file_err)
		*file_err = hash_add(hash, (const char *)extent_data(x) + msg->offset, msg->size,
				     &piece);
	if (!*file_err)
		*file_err = check_same(p->fd, &p->st);
	return 0;
}

/* Prepare FILE. */
static int begin_file(struct source *src, struct source_pending *p, struct wire_msg *msg)
{
	source_describe(src, msg, &p->st, p->path);
	msg->id = p->id;
	if (p->unasked)
		msg->flags |= WIRE_F_UNASKED;
	return source_attrs(src, p->fd, msg);
}

static int send_eager(struct source *src, struct source_pending *p)
{
	struct wire_msg msg = {
		.type = WIRE_FILE, .flags = WIRE_F_EAGER, .window = WIRE_NO_WINDOW,
	};
	struct hash hash;
	int ret, err = 0;

	ret = begin_file(src, p, &msg);
	if (!ret && p->st.st_size)
		ret = load_eager(src, p, &msg, &hash, &err);
	else if (!ret)
		ret = hash_begin(&hash, session_mac_key(src->s), &msg);
	if (!ret && !err)
		ret = hash_value(&hash, &msg.digest);
	if (ret)
		return ret;
	p->digest = msg.digest;
	if (err) {
		p->err = err;
		msg.status = wire_status(err);
	}
	return session_queue(src->s, &msg);
}

/* Whether the sink has ended the file before we did. */
static bool is_dead(struct source *src)
{
	return !source_pending(src, src->stream.id);
}

static int send_abort(struct source *src, int err)
{
	struct wire_msg msg = {
		.type = WIRE_ABORT,
		.status = wire_status(err),
		.id = src->stream.id,
		.window = WIRE_NO_WINDOW,
	};
	struct source_pending *p = source_pending(src, src->stream.id);

	if (p)
		p->err = err;
	return session_send(src->s, &msg);
}

/* Both have hashed what the sink has: go on behind it, or begin again. */
static int send_start(struct source *src, int fd, uint64_t size, struct hash *hash,
		      uint64_t *at)
{
	struct wire_msg msg = { .type = WIRE_START, .window = WIRE_NO_WINDOW };
	uint64_t offset = src->stream.offset;
	uint8_t sha[WIRE_SHA_LEN];

	*hash = src->stream.begin;
	if (offset && offset <= size &&
	    !hash_prefix(hash, fd, offset, sha, copy_beat, src->copy) &&
	    !memcmp(sha, src->stream.sha, sizeof(sha)))
		msg.offset = offset;
	else
		*hash = src->stream.begin;
	*at = msg.offset;
	src->copy->resumed += msg.offset;
	progress_resume(&src->copy->progress, msg.offset);
	msg.id = src->stream.id;
	return session_send(src->s, &msg);
}

/* The next window for the stream: the file's own, or one for all. */
static int next_window(struct source *src, uint64_t at, uint64_t len,
		       const struct kverbs_token **token, uint32_t *window)
{
	struct source_stream *st = &src->stream;
	struct source_window *w = NULL;
	struct source_grant *g;
	int ret = 0;

	*token = NULL;
	while (!ret && !is_dead(src)) {
		g = &st->grants[st->head % COPY_STREAM_WINDOWS];
		if (st->mapped && st->head != st->tail) {
			*token = &g->token;
			*window = g->window;
			return g->at == at && g->len == len ? 0 : -EPROTO;
		}
		if (!st->mapped)
			w = find_free(src, src->nr_eager, WIRE_WINDOWS_MAX, len);
		if (w) {
			*token = &w->token;
			*window = number(src, w);
			return 0;
		}
		ret = source_pump(src);
	}
	return ret;
}

void source_use(struct source *src, uint32_t window)
{
	struct source_stream *st = &src->stream;

	if (st->mapped)
		kverbs_token_free(&st->grants[st->head++ % COPY_STREAM_WINDOWS].token);
	else
		src->windows[window].free = false;
}

/* DATA, and behind the data itself LANE, if another connection carries it */
static int send_data(struct source *src, const struct wire_msg *data)
{
	struct session *lane = copy_lane(src->copy, data->window);
	struct wire_msg msg = { .type = WIRE_LANE, .window = data->window };
	int ret = lane == src->s ? 0 : session_send(lane, &msg);

	return ret ? ret : session_send(src->s, data);
}

static int send_chunk(struct source *src, int fd, uint64_t at, uint64_t len,
		      struct hash *hash, enum method *method, int *file_err)
{
	struct wire_msg msg = {
		.type = WIRE_DATA, .id = src->stream.id, .offset = at, .size = len,
	};
	const struct kverbs_token *token;
	struct extent *x;
	int ret;

	ret = copy_pace(src->copy, len);
	if (!ret)
		ret = next_window(src, at, len, &token, &msg.window);
	if (ret || !token)
		return ret;
	ret = source_load(src, fd, at, len, method, &x, file_err);
	if (ret || *file_err)
		return ret;
	src->copy->moved += len;
	ret = source_write(src, x, copy_lane(src->copy, msg.window), token);
	source_use(src, msg.window);
	if (ret)
		return ret;
	/* Hashing goes on while the HCA works; DATA comes after the WRITE anyway. */
	*file_err = hash_add(hash, extent_data(x), len, &msg.digest);
	if (!*file_err)
		return send_data(src, &msg);
	/* The sink will not hear of it, so it is ours again. */
	if (!src->stream.mapped)
		src->windows[msg.window].free = true;
	return 0;
}

/* Bytes at @at that are a hole, in whole windows but at the end; 0: there is none. */
static uint64_t hole_at(const struct source *src, int fd, uint64_t at, uint64_t size)
{
	off_t data = lseek(fd, at, SEEK_DATA);
	uint64_t len = 0;

	if (data < 0)
		len = errno == ENXIO ? size - at : 0;
	else if ((uint64_t)data > at)
		len = min((uint64_t)data, size) - at;
	if (len == size - at && len <= COPY_HOLE_MAX)
		return len;
	if (len > COPY_HOLE_MAX)
		len = COPY_HOLE_MAX;
	return len / src->stream.chunk * src->stream.chunk;
}

void source_skip(struct source *src, uint64_t to)
{
	struct source_stream *st = &src->stream;
	struct source_grant *g;

	st->skipped = to;
	for (; st->head != st->tail; st->head++) {
		g = &st->grants[st->head % COPY_STREAM_WINDOWS];
		if (g->at >= to)
			break;
		kverbs_token_free(&g->token);
	}
}

static int send_hole(struct source *src, uint64_t at, uint64_t len, struct hash *hash)
{
	struct wire_msg msg = {
		.type = WIRE_DATA, .id = src->stream.id, .offset = at, .size = len,
		.window = WIRE_NO_WINDOW, .flags = WIRE_F_HOLE,
	};
	int ret = hash_add_zeros(hash, len, &msg.digest);

	if (ret)
		return ret;
	source_skip(src, at + len);
	progress_add(&src->copy->progress, len);
	ret = copy_beat(src->copy);
	return ret ? ret : session_send(src->s, &msg);
}

static int send_end(struct source *src, const struct hash *hash, enum method method)
{
	struct wire_msg msg = {
		.type = WIRE_END,
		.id = src->stream.id,
		.window = WIRE_NO_WINDOW,
		.size = hash->size,
		.mode = method << 16,
	};
	struct source_pending *p = source_pending(src, msg.id);
	int ret = hash_value(hash, &msg.digest);

	if (ret)
		return ret;
	if (p)
		p->digest = msg.digest;
	src->copy->source_methods |= 1u << method;
	return session_send(src->s, &msg);
}

static int send_chunks(struct source *src, int fd, const struct stat *st)
{
	uint64_t size = st->st_size;
	enum method method = METHOD_MAPPED;
	struct hash hash;
	uint64_t at, len;
	int ret, err = 0;

	ret = send_start(src, fd, size, &hash, &at);
	for (; !ret && !err && at < size && !is_dead(src); at += len) {
		len = hole_at(src, fd, at, size);
		if (len) {
			ret = send_hole(src, at, len, &hash);
			continue;
		}
		len = min(src->stream.chunk, size - at);
		ret = send_chunk(src, fd, at, len, &hash, &method, &err);
		if (!ret)
			ret = source_reap(src, false);
	}
	if (ret)
		return ret;
	if (!err)
		err = check_same(fd, st);
	if (err || is_dead(src))
		return send_abort(src, err ? err : -ECANCELED);
	return send_end(src, &hash, method);
}

void source_end_stream(struct source *src)
{
	struct source_stream *st = &src->stream;

	while (st->head != st->tail)
		kverbs_token_free(&st->grants[st->head++ % COPY_STREAM_WINDOWS].token);
	memset(st, 0, sizeof(*st));
}

static int await_ready(struct source *src)
{
	int ret = 0;

	while (!ret && !src->stream.ready && !is_dead(src))
		ret = source_pump(src);
	return ret;
}

static int send_stream(struct source *src, struct source_pending *p)
{
	struct wire_msg msg = { .type = WIRE_FILE, .window = WIRE_NO_WINDOW };
	int ret;

	src->stream.id = p->id;
	ret = begin_file(src, p, &msg);
	if (!ret)
		ret = hash_begin(&src->stream.begin, session_mac_key(src->s), &msg);
	if (!ret)
		ret = session_send(src->s, &msg);
	if (!ret)
		ret = await_ready(src);
	if (!ret && src->stream.ready)
		ret = send_chunks(src, p->fd, &p->st);
	source_end_stream(src);
	return ret;
}

int source_send(struct source *src, struct source_pending *p)
{
	uint32_t id = p->id;
	int ret;

	p->wanted = false;
	p->sent = true;
	src->asked--;
	progress_name(&src->copy->progress, p->path);
	await_tick(&p->st);
	if ((uint64_t)p->st.st_size <= src->eager_size)
		ret = send_eager(src, p);
	else
		ret = send_stream(src, p);
	/* The sink may have given it up by now. */
	p = source_pending(src, id);
	if (p && p->fd >= 0) {
		close(p->fd);
		p->fd = -1;
	}
	return ret;
}

/* ---- streams ----------------------------------------------------------- */

/* Read all of a window, or up to the end. */
static int read_window(struct source *src, int fd, char *p, size_t *len)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
	size_t room = *len;
	int ret = 0;
	ssize_t n;

	*len = 0;
	while (*len < room && !ret) {
		/* The writer of a pipe may be slower than the timeout of the sink. */
		if (!poll(&poll_fd, 1, 1000)) {
			ret = copy_beat(src->copy);
			continue;
		}
		n = read(fd, p + *len, room - *len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (!n)
			break;
		*len += n;
	}
	return ret;
}

static int send_read(struct source *src, int fd, struct hash *hash, size_t *len)
{
	struct wire_msg msg = { .type = WIRE_DATA, .id = src->stream.id, .offset = hash->size };
	struct extent *x = &src->ext[src->ext_tail % SOURCE_EXTENTS];
	const struct kverbs_token *token;
	int ret;

	ret = source_reap(src, src->ext_tail - src->ext_head == SOURCE_EXTENTS);
	if (ret)
		return ret;
	memset(x, 0, sizeof(*x));
	ret = kverbs_buf_alloc(src->s->kv, src->stream.chunk, &x->buf);
	if (ret)
		return ret;
	*len = src->stream.chunk;
	ret = read_window(src, fd, kverbs_buf_addr(x->buf), len);
	x->len = *len;
	if (!ret && *len)
		ret = copy_pace(src->copy, *len);
	if (!ret && *len)
		ret = next_window(src, msg.offset, *len, &token, &msg.window);
	if (ret || !*len || !token) {
		extent_drop(x);
		*len = ret ? *len : 0;
		return ret;
	}
	src->copy->moved += *len;
	ret = source_write(src, x, copy_lane(src->copy, msg.window), token);
	source_use(src, msg.window);
	if (!ret)
		ret = hash_add(hash, extent_data(x), *len, &msg.digest);
	msg.size = *len;
	return ret ? ret : send_data(src, &msg);
}

static int send_all_read(struct source *src, int fd, struct source_pending *p)
{
	struct hash hash = src->stream.begin;
	struct wire_msg start = {
		.type = WIRE_START, .id = src->stream.id, .window = WIRE_NO_WINDOW,
	};
	size_t len = 1;
	int ret;

	if (src->stream.mapped)
		return -EPROTO;
	ret = session_send(src->s, &start);
	while (!ret && len && !is_dead(src))
		ret = send_read(src, fd, &hash, &len);
	if (ret)
		return ret;
	if (is_dead(src))
		return send_abort(src, -ECANCELED);
	p->size = hash.size;
	return send_end(src, &hash, hash.size ? METHOD_BUFFERED : METHOD_NONE);
}

int source_stdin(struct source *src, int fd, const char *path)
{
	struct wire_msg msg = {
		.type = WIRE_FILE, .flags = WIRE_F_STREAM, .window = WIRE_NO_WINDOW,
	};
	struct stat st = { .st_mode = S_IFREG | 0666 };
	struct source_pending *p;
	mode_t mask = umask(0);
	int ret;

	umask(mask);
	st.st_mode &= ~mask;
	st.st_uid = geteuid();
	st.st_gid = getegid();
	clock_gettime(CLOCK_REALTIME, &st.st_mtim);
	st.st_atim = st.st_mtim;
	p = source_pend(src, path, 0, SOURCE_FILE, &ret);
	if (!p)
		return ret;
	p->sent = true;
	src->asked--;
	source_describe(src, &msg, &st, path);
	msg.id = p->id;
	src->stream.id = p->id;
	src->stream.endless = true;
	ret = hash_begin(&src->stream.begin, session_mac_key(src->s), &msg);
	if (!ret)
		ret = session_send(src->s, &msg);
	if (!ret)
		ret = await_ready(src);
	if (!ret && src->stream.ready)
		ret = send_all_read(src, fd, p);
	source_end_stream(src);
	return ret;
}

/* @sink: its SINK message; the windows that it tells of come next. */
int source_open(struct source *src, struct copy *copy, const struct wire_msg *sink)
{
	unsigned int i;
	int ret = 0;

	memset(src, 0, sizeof(*src));
	src->copy = copy;
	src->s = copy->session;
	src->s->before_send = post_small;
	src->s->before_arg = src;
	/* A server keeps only so much for a client. */
	src->links.max = copy->user ? 0 : LINKS_BYTES_MAX;
	if (sink->window > WIRE_WINDOWS_MAX || (sink->size && !sink->window) ||
	    sink->size > WIRE_BLOCK)
		return -EPROTO;
	src->packs = sink->flags & WIRE_F_PACKS;
	src->max_pending = src->packs ? COPY_PENDING_MAX : COPY_PENDING_OLD;
	src->nr_eager = sink->window;
	src->eager_size = sink->size;
	for (i = 0; i < src->nr_eager && !ret; i++)
		while (!ret && !src->windows[i].known)
			ret = source_pump(src);
	return ret;
}

/* Wait until the sink has done everything. */
int source_finish(struct source *src)
{
	int ret = source_drain(src);

	while (!ret && src->ext_head != src->ext_tail)
		ret = source_reap(src, true);
	return ret;
}

void source_free(struct source *src)
{
	int i;

	if (src->s)
		src->s->before_send = NULL;
	source_end_stream(src);
	for (; src->ext_head != src->ext_tail; src->ext_head++)
		extent_drop(&src->ext[src->ext_head % SOURCE_EXTENTS]);
	for (i = 0; i < WIRE_WINDOWS_MAX; i++)
		if (src->windows[i].known)
			kverbs_token_free(&src->windows[i].token);
	for (i = 0; i < COPY_PENDING_MAX; i++)
		if (src->pending[i].id)
			source_forget(src, &src->pending[i]);
	kverbs_buf_free(src->small);
	links_free(&src->links);
	free(src->fresh);
}
