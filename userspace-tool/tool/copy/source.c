// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/util.h"
#include "copy/hash.h"
#include "copy/source.h"

static struct extent *oldest(struct source *src)
{
	return &src->ext[src->ext_head % SOURCE_EXTENTS];
}

static int reap_one(struct source *src)
{
	struct extent *x = oldest(src);
	size_t len = x->len;
	int ret;

	ret = session_wait(src->s, &x->req, src->s->timeout_ms);
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

/* Send a piece on its way. It must have been the last one loaded. */
static int source_write(struct source *src, struct extent *x, const struct kverbs_token *token)
{
	int ret;

	ret = kverbs_write(src->s->conn, x->buf, 0, x->len, token, 0, &x->req);
	if (ret) {
		extent_drop(x);
		if (ret == -ERANGE || ret == -EACCES)
			return -EPROTO;
		return ret == -ENOTCONN ? -ECONNRESET : ret;
	}
	x->busy = true;
	src->ext_tail++;
	return 0;
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

static void describe(struct wire_msg *msg, const struct stat *st, const char *path)
{
	msg->size = S_ISREG(st->st_mode) ? st->st_size : 0;
	msg->mode = st->st_mode & 0777;
	msg->mtime = st->st_mtim.tv_sec;
	msg->mtime_ns = st->st_mtim.tv_nsec;
	msg->atime = st->st_atim.tv_sec;
	msg->atime_ns = st->st_atim.tv_nsec;
	msg->tail = path;
	msg->tail_len = strlen(path);
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

/* Put all of a small file into a window. @file_err: it could not be had. */
static int fill_window(struct source *src, int fd, const struct stat *st,
		       struct wire_msg *msg, struct hash *hash, int *file_err)
{
	enum method method = METHOD_MAPPED;
	struct source_window *w;
	struct extent *x;
	uint64_t piece;
	int ret;

	ret = take_window(src, 0, src->nr_eager, msg->size, &w);
	if (ret)
		return ret;
	ret = source_load(src, fd, 0, msg->size, &method, &x, file_err);
	if (ret || *file_err) {
		w->free = true;
		return ret;
	}
	ret = source_write(src, x, &w->token);
	if (ret)
		return ret;
	/* Hashing goes on while the HCA works. */
	*file_err = hash_add(hash, extent_data(x), x->len, &piece);
	if (!*file_err)
		*file_err = check_same(fd, st);
	msg->window = number(src, w);
	msg->mode |= method << 16;
	src->copy->source_methods |= 1u << method;
	return 0;
}

static int send_eager(struct source *src, int fd, const char *path, const struct stat *st)
{
	struct wire_msg msg = {
		.type = WIRE_FILE, .flags = WIRE_F_EAGER, .window = WIRE_NO_WINDOW,
	};
	struct source_pending *p;
	struct hash hash;
	int ret, err = 0;

	describe(&msg, st, path);
	ret = hash_begin(&hash, session_mac_key(src->s), &msg);
	if (!ret)
		ret = source_pend(src, path, st->st_size, SOURCE_FILE, &msg.id);
	if (!ret && st->st_size)
		ret = fill_window(src, fd, st, &msg, &hash, &err);
	if (ret)
		return ret;
	ret = hash_value(&hash, &msg.digest);
	if (ret)
		return ret;
	p = source_pending(src, msg.id);
	p->digest = msg.digest;
	if (err) {
		p->err = err;
		msg.status = wire_status(err);
	}
	return session_send(src->s, &msg);
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

static void use_window(struct source *src, uint32_t window)
{
	struct source_stream *st = &src->stream;

	if (st->mapped)
		kverbs_token_free(&st->grants[st->head++ % COPY_STREAM_WINDOWS].token);
	else
		src->windows[window].free = false;
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

	ret = next_window(src, at, len, &token, &msg.window);
	if (ret || !token)
		return ret;
	ret = source_load(src, fd, at, len, method, &x, file_err);
	if (ret || *file_err)
		return ret;
	ret = source_write(src, x, token);
	use_window(src, msg.window);
	if (ret)
		return ret;
	/* Hashing goes on while the HCA works; DATA comes after the WRITE anyway. */
	*file_err = hash_add(hash, extent_data(x), len, &msg.digest);
	if (!*file_err)
		return session_send(src->s, &msg);
	/* The sink will not hear of it, so it is ours again. */
	if (!src->stream.mapped)
		src->windows[msg.window].free = true;
	return 0;
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

static void end_stream(struct source *src)
{
	struct source_stream *st = &src->stream;

	while (st->head != st->tail)
		kverbs_token_free(&st->grants[st->head++ % COPY_STREAM_WINDOWS].token);
	memset(st, 0, sizeof(*st));
}

static int send_stream(struct source *src, int fd, const char *path, const struct stat *st)
{
	struct wire_msg msg = { .type = WIRE_FILE, .window = WIRE_NO_WINDOW };
	int ret;

	describe(&msg, st, path);
	ret = source_pend(src, path, st->st_size, SOURCE_FILE, &msg.id);
	if (ret)
		return ret;
	src->stream.id = msg.id;
	ret = hash_begin(&src->stream.begin, session_mac_key(src->s), &msg);
	if (!ret)
		ret = session_send(src->s, &msg);
	while (!ret && !src->stream.ready && !is_dead(src))
		ret = source_pump(src);
	if (!ret && src->stream.ready)
		ret = send_chunks(src, fd, st);
	end_stream(src);
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
	if (sink->window > WIRE_WINDOWS_MAX || (sink->size && !sink->window) ||
	    sink->size > WIRE_BLOCK)
		return -EPROTO;
	src->nr_eager = sink->window;
	src->eager_size = sink->size;
	for (i = 0; i < src->nr_eager && !ret; i++)
		while (!ret && !src->windows[i].known)
			ret = source_pump(src);
	return ret;
}

int source_file(struct source *src, int fd, const char *path, const struct stat *st)
{
	progress_name(&src->copy->progress, path);
	await_tick(st);
	if ((uint64_t)st->st_size <= src->eager_size)
		return send_eager(src, fd, path, st);
	return send_stream(src, fd, path, st);
}

int source_dir(struct source *src, const char *path, const struct stat *st, bool end)
{
	struct wire_msg msg = {
		.type = end ? WIRE_DIR_END : WIRE_DIR, .window = WIRE_NO_WINDOW,
	};
	int ret;

	describe(&msg, st, path);
	ret = source_pend(src, path, 0, end ? SOURCE_DIR : SOURCE_OTHER, &msg.id);
	return ret ? ret : session_send(src->s, &msg);
}

/* Tell the sink of something that is not copied. */
int source_note(struct source *src, const char *path, int err)
{
	struct wire_msg msg = {
		.type = WIRE_NOTE,
		.status = wire_status(err),
		.window = WIRE_NO_WINDOW,
		.tail = path,
		.tail_len = strlen(path),
	};
	int ret;

	ret = source_pend(src, path, 0, SOURCE_OTHER, &msg.id);
	return ret ? ret : session_send(src->s, &msg);
}

static bool all_done(const struct source *src)
{
	int i;

	for (i = 0; i < COPY_PENDING_MAX; i++)
		if (src->pending[i].id)
			return false;
	return true;
}

/* Wait until the sink has done everything. */
int source_finish(struct source *src)
{
	int ret = 0;

	while (!ret && !all_done(src))
		ret = source_pump(src);
	while (!ret && src->ext_head != src->ext_tail)
		ret = source_reap(src, true);
	return ret;
}

void source_free(struct source *src)
{
	int i;

	end_stream(src);
	for (; src->ext_head != src->ext_tail; src->ext_head++)
		extent_drop(&src->ext[src->ext_head % SOURCE_EXTENTS]);
	for (i = 0; i < WIRE_WINDOWS_MAX; i++)
		if (src->windows[i].known)
			kverbs_token_free(&src->windows[i].token);
	for (i = 0; i < COPY_PENDING_MAX; i++)
		free(src->pending[i].path);
}
