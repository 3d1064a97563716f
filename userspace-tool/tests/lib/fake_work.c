// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fake kernel's work: accepting entries, running them between peers of this process, completing
 * them.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_internal.h"

#define WC_REM_ACCESS_ERR 10

/* Properties of opcodes, as in the kernel */
#define REMOTE	(1u << 0)
#define KEY	(1u << 1)
#define IMM	(1u << 2)
#define SINK	(1u << 3)
#define ATOMIC	(1u << 4)

#define SQE_FLAGS (KVERBS_SQE_SIGNAL | KVERBS_SQE_FENCE | KVERBS_SQE_SOLICITED)

static const unsigned int rules[] = {
	[KVERBS_OP_SEND]	= 0,
	[KVERBS_OP_RECV]	= SINK,
	[KVERBS_OP_WRITE]	= REMOTE | KEY,
	[KVERBS_OP_WRITE_IMM]	= REMOTE | KEY | IMM,
	[KVERBS_OP_READ]	= REMOTE | KEY | SINK,
	[KVERBS_OP_SEND_IMM]	= IMM,
	[KVERBS_OP_SEND_INV]	= KEY,
	[KVERBS_OP_CMP_SWAP]	= REMOTE | KEY | SINK | ATOMIC,
	[KVERBS_OP_FETCH_ADD]	= REMOTE | KEY | SINK | ATOMIC,
};

/* Store the pieces of the local buffer in @w. */
static int find_pieces(const struct kverbs_sqe *sqe, struct fake_work *w)
{
	const struct kverbs_piece *list = (const void *)(uintptr_t)sqe->offset;

	if (sqe->flags & KVERBS_SQE_LIST) {
		if (sqe->region_id || !sqe->length || sqe->length > KVERBS_LIST_MAX)
			return -EINVAL;
		w->nr_pieces = sqe->length;
		memcpy(w->pieces, list, sqe->length * sizeof(*list));
		return 0;
	}
	w->pieces[0] = (struct kverbs_piece) {
		.region_id = sqe->region_id,
		.offset = sqe->offset,
		.length = rules[sqe->opcode] & ATOMIC ? 8 : sqe->length,
	};
	w->nr_pieces = w->pieces[0].length ? 1 : 0;
	return !w->nr_pieces && (sqe->region_id || sqe->offset) ? -EINVAL : 0;
}

static int check_piece(int fd, const struct kverbs_piece *p, unsigned int rule)
{
	struct fake_obj *o = fake_find(fd, p->region_id, FAKE_REGION);

	if (!o)
		return -ENOENT;
	if (!p->length || p->__reserved)
		return -EINVAL;
	if (p->offset > o->region.length || p->length > o->region.length - p->offset)
		return -EINVAL;
	return rule & SINK && o->region.flags & KVERBS_REGION_READ_ONLY ? -EINVAL : 0;
}

static int check_buffer(int fd, const struct kverbs_sqe *sqe, struct fake_work *w)
{
	unsigned int i;
	int ret;

	ret = find_pieces(sqe, w);
	for (i = 0; !ret && i < w->nr_pieces; i++) {
		ret = check_piece(fd, &w->pieces[i], rules[sqe->opcode]);
		w->length += w->pieces[i].length;
	}
	return !ret && w->length > fake.max_msg ? -EMSGSIZE : ret;
}

static int check_fields(const struct kverbs_sqe *sqe)
{
	unsigned int rule, flags;

	if (sqe->opcode < KVERBS_OP_SEND || sqe->opcode > KVERBS_OP_FETCH_ADD)
		return -EINVAL;
	rule = rules[sqe->opcode];
	if (sqe->flags & KVERBS_SQE_LIST ? sqe->piece_stride != sizeof(struct kverbs_piece) :
					   sqe->piece_stride != 0)
		return -EINVAL;
	if (sqe->__reserved || (sqe->operand && !(rule & ATOMIC)))
		return -EINVAL;
	if ((sqe->remote_addr && !(rule & REMOTE)) || (sqe->rkey && !(rule & KEY)) ||
	    (sqe->imm && !(rule & IMM)))
		return -EINVAL;
	flags = sqe->flags & (rule & ATOMIC ? ~0u : ~KVERBS_SQE_LIST);
	return flags & ~(sqe->opcode == KVERBS_OP_RECV ? 0 : SQE_FLAGS) ? -EINVAL : 0;
}

static int take_credit(struct fake_conn *c, const struct kverbs_sqe *sqe)
{
	bool recv = sqe->opcode == KVERBS_OP_RECV;
	unsigned int *used = recv ? &c->rq_used : &c->sq_used;

	if (*used >= (recv ? c->rq_depth : c->sq_depth))
		return -EAGAIN;
	++*used;
	return 0;
}

static void put_credit(struct fake_conn *c, const struct kverbs_sqe *sqe)
{
	if (sqe->opcode == KVERBS_OP_RECV)
		c->rq_used--;
	else
		c->sq_used--;
}

static int check_state(const struct fake_conn *c, const struct kverbs_sqe *sqe)
{
	if (c->state > KVERBS_CONN_ESTABLISHED)
		return -ENOTCONN;
	if (sqe->opcode != KVERBS_OP_RECV && c->state != KVERBS_CONN_ESTABLISHED)
		return -ENOTCONN;
	return 0;
}

static void use_regions(const struct fake_work *w, int by)
{
	unsigned int i;

	for (i = 0; i < w->nr_pieces; i++)
		fk.objs[w->pieces[i].region_id]->region.users += by;
}

static void add_work(struct fake_obj *conn, const struct kverbs_sqe *sqe,
		     const struct fake_work *buffer)
{
	struct fake_work *w = calloc(1, sizeof(*w));

	*w = *buffer;
	w->conn = conn;
	w->sqe = *sqe;
	use_regions(w, 1);
	*fk.work_tail = w;
	fk.work_tail = &w->next;
	fk.nr_work++;
}

int fake_work_take(int fd, struct fake_obj *ring, const struct kverbs_sqe *sqe)
{
	struct fake_obj *conn = fake_find(fd, sqe->conn_id, FAKE_CONN);
	struct fake_work buffer = { .ring = ring->id };
	int ret = check_fields(sqe);

	if (ret)
		return ret;
	if (!conn)
		return -ENOENT;
	ret = check_state(&conn->conn, sqe);
	if (!ret)
		ret = check_buffer(fd, sqe, &buffer);
	if (!ret)
		ret = take_credit(&conn->conn, sqe);
	if (ret)
		return ret;
	ret = fake_ring_reserve(ring, 1);
	if (ret) {
		put_credit(&conn->conn, sqe);
		return ret;
	}
	add_work(conn, sqe, &buffer);
	return 0;
}

void fake_work_take_buf(struct fake_obj *conn, const struct kverbs_pool_buf *buf)
{
	const struct kverbs_sqe sqe = {
		.opcode = KVERBS_OP_RECV,
		.conn_id = conn->id,
		.region_id = buf->region_id,
		.offset = buf->offset,
		.length = buf->length,
	};
	struct fake_work buffer = { .ring = conn->ring, .pooled = true, .buf_id = buf->id };

	fake_check(!check_buffer(conn->fd, &sqe, &buffer));
	fake_check(!take_credit(&conn->conn, &sqe));
	add_work(conn, &sqe, &buffer);
}

static void unlink_work(struct fake_work *w)
{
	struct fake_work **p;

	for (p = &fk.work; *p != w; p = &(*p)->next)
		fake_check(*p);
	*p = w->next;
	if (!w->next)
		fk.work_tail = p;
	fk.nr_work--;
	put_credit(&w->conn->conn, &w->sqe);
	use_regions(w, -1);
}

static bool is_silent(const struct fake_work *w)
{
	return w->sqe.opcode != KVERBS_OP_RECV && !(w->sqe.flags & KVERBS_SQE_SIGNAL);
}

void fake_work_end(struct fake_work *w, int result, unsigned int wc_status,
		   uint64_t byte_len, unsigned int flags, uint32_t imm)
{
	struct kverbs_cqe cqe = {
		.user_data = w->sqe.user_data,
		.byte_len = (uint32_t)byte_len,
		.id = w->conn->id,
		.result = result,
		.type = KVERBS_CQE_WORK,
		.wc_status = (uint8_t)wc_status,
		.flags = (uint16_t)flags,
		.imm = imm,
	};

	struct fake_obj *conn = w->conn;

	if (w->sqe.opcode == KVERBS_OP_RECV)
		cqe.flags |= KVERBS_CQE_F_RECV;
	if (w->pooled) {
		cqe.flags |= KVERBS_CQE_F_BUFFER | (wc_status ? 0 : KVERBS_CQE_F_MORE);
		cqe.buf_id = w->buf_id;
	}
	/* Return the slot before the completion becomes visible. */
	unlink_work(w);
	if (is_silent(w) && !result)
		fake_ring_return(fk.objs[w->ring]);
	else
		fake_ring_put(fk.objs[w->ring], &cqe);
	free(w);
	if (!wc_status)
		fake_pool_fill(conn);
}

void fake_work_drop(struct fake_obj *conn, bool flush)
{
	struct fake_work *w, *next;

	for (w = fk.work; w; w = next) {
		next = w->next;
		if (w->conn != conn)
			continue;
		if (flush) {
			fake_work_end(w, -EIO, FAKE_WC_FLUSH, 0, 0, 0);
			continue;
		}
		unlink_work(w);
		fake_ring_return(fk.objs[w->ring]);
		free(w);
	}
}

struct fake_work *fake_work_find(const struct fake_obj *conn, unsigned int opcode)
{
	struct fake_work *w;

	for (w = fk.work; w; w = w->next)
		if (w->conn == conn && w->sqe.opcode == opcode)
			return w;
	return NULL;
}

/* ---- between peers ------------------------------------------------------------ */

static uint8_t *piece_addr(const struct kverbs_piece *p)
{
	return fk.objs[p->region_id]->region.addr + p->offset;
}

/* Copy @n bytes between memory and the pieces, starting at byte @done of the pieces. */
static void copy_pieces(const struct fake_work *w, uint64_t done, uint8_t *mem, uint64_t n,
			bool in)
{
	const struct kverbs_piece *p;
	uint64_t part;

	for (p = w->pieces; n; p++) {
		fake_check(p < w->pieces + w->nr_pieces);
		if (done >= p->length) {
			done -= p->length;
			continue;
		}
		part = p->length - done < n ? p->length - done : n;
		memcpy(in ? piece_addr(p) + done : mem, in ? mem : piece_addr(p) + done, part);
		mem += part;
		n -= part;
		done = 0;
	}
}

/* Copy from the sender's pieces to the receiver's. */
static void copy_message(const struct fake_work *to, const struct fake_work *from)
{
	uint64_t done = 0;
	unsigned int i;

	for (i = 0; i < from->nr_pieces; i++) {
		copy_pieces(to, done, piece_addr(&from->pieces[i]), from->pieces[i].length,
			    true);
		done += from->pieces[i].length;
	}
}

/* Whether the peer can use an export: its own connection's, or that of its group. */
static bool is_granted(const struct fake_obj *export, const struct fake_obj *peer)
{
	return export->type == FAKE_EXPORT &&
	       (export->export.owner == peer->id ||
		(peer->conn.group && export->export.owner == peer->conn.group));
}

/* Whether one segment has @length bytes at @at. */
static bool is_in_segment(const struct fake_export *e, uint64_t at, uint64_t length)
{
	return at <= e->length && length <= e->length - at &&
	       (!length || at / e->max_segment == (at + length - 1) / e->max_segment);
}

/* An rkey is the export's id. */
static uint8_t *remote_addr(const struct fake_work *w, uint32_t access)
{
	struct fake_obj *peer = fk.objs[w->conn->conn.peer];
	struct fake_obj *o = w->sqe.rkey < FAKE_MAX_OBJS ? fk.objs[w->sqe.rkey] : NULL;
	uint64_t at;

	if (!o || !is_granted(o, peer) || !(o->export.access & access))
		return NULL;
	at = w->sqe.remote_addr - o->export.addr;
	if (!is_in_segment(&o->export, at, w->length))
		return NULL;
	return fk.objs[o->export.region]->region.addr + o->export.offset + at;
}

static bool deliver(struct fake_work *w, uint64_t byte_len, unsigned int flags)
{
	struct fake_work *r = fake_work_find(fk.objs[w->conn->conn.peer],
					     KVERBS_OP_RECV);

	if (!r)
		return false;
	fake_work_end(r, 0, 0, byte_len, flags, w->sqe.imm);
	return true;
}

static uint32_t message_flags(unsigned int opcode)
{
	if (opcode == KVERBS_OP_SEND_IMM)
		return KVERBS_CQE_F_IMM;
	return opcode == KVERBS_OP_SEND_INV ? KVERBS_CQE_F_INV : 0;
}

static bool do_send(struct fake_work *w)
{
	struct fake_work *r = fake_work_find(fk.objs[w->conn->conn.peer],
					     KVERBS_OP_RECV);

	if (!r)
		return false;
	fake_check(r->length >= w->length);
	copy_message(r, w);
	if (w->sqe.opcode == KVERBS_OP_SEND_INV)
		w->sqe.imm = w->sqe.rkey;
	deliver(w, w->length, message_flags(w->sqe.opcode));
	return true;
}

static int do_rdma(struct fake_work *w)
{
	bool read = w->sqe.opcode == KVERBS_OP_READ;
	uint8_t *there = remote_addr(w, read ? KVERBS_REMOTE_READ : KVERBS_REMOTE_WRITE);

	if (!w->length)
		return 0;
	if (!there)
		return WC_REM_ACCESS_ERR;
	copy_pieces(w, 0, there, w->length, read);
	return 0;
}

static int do_atomic(struct fake_work *w)
{
	uint64_t *there = (uint64_t *)remote_addr(w, KVERBS_REMOTE_ATOMIC);
	uint64_t was;

	if (!there)
		return WC_REM_ACCESS_ERR;
	was = *there;
	if (w->sqe.opcode == KVERBS_OP_FETCH_ADD)
		*there = was + w->sqe.operand;
	else if (was == w->sqe.operand)
		*there = w->sqe.swap;
	copy_pieces(w, 0, (uint8_t *)&was, sizeof(was), true);
	return 0;
}

/* Returns false if the work has to wait for a receive of the peer. */
static bool do_work(struct fake_work *w)
{
	int wc_status = 0;

	switch (w->sqe.opcode) {
	case KVERBS_OP_SEND:
	case KVERBS_OP_SEND_IMM:
	case KVERBS_OP_SEND_INV:
		if (!do_send(w))
			return false;
		break;
	case KVERBS_OP_CMP_SWAP:
	case KVERBS_OP_FETCH_ADD:
		wc_status = do_atomic(w);
		break;
	default:
		wc_status = do_rdma(w);
		if (!wc_status && w->sqe.opcode == KVERBS_OP_WRITE_IMM &&
		    !deliver(w, w->length, KVERBS_CQE_F_IMM | KVERBS_CQE_F_WRITE))
			return false;
		break;
	}
	fake_work_end(w, wc_status ? -EIO : 0, (unsigned int)wc_status,
		      wc_status ? 0 : w->length, 0, 0);
	return true;
}

/* Work runs in order: while it waits for a receive, later work of its connection waits, too. */
static bool is_first(const struct fake_work *w)
{
	const struct fake_work *p;

	for (p = fk.work; p != w; p = p->next)
		if (p->conn == w->conn && p->sqe.opcode != KVERBS_OP_RECV)
			return false;
	return true;
}

static bool run_one(void)
{
	struct fake_work *w;

	for (w = fk.work; w; w = w->next)
		if (w->sqe.opcode != KVERBS_OP_RECV && w->conn->conn.peer && is_first(w) &&
		    do_work(w))
			return true;
	return false;
}

void fake_work_run(void)
{
	while (fake.loopback && run_one())
		;
}

/* ---- for the tests ---------------------------------------------------------------- */

unsigned int fake_pending(void)
{
	unsigned int n;

	pthread_mutex_lock(&fk.lock);
	n = fk.nr_work;
	pthread_mutex_unlock(&fk.lock);
	return n;
}

void fake_wait_pending(unsigned int n)
{
	pthread_mutex_lock(&fk.lock);
	while (fk.nr_work != n)
		pthread_cond_wait(&fk.changed, &fk.lock);
	pthread_mutex_unlock(&fk.lock);
}

static struct fake_work *nth(unsigned int n)
{
	struct fake_work *w = fk.work;

	while (w && n--)
		w = w->next;
	fake_check(w);
	return w;
}

struct kverbs_sqe fake_entry(unsigned int n)
{
	struct kverbs_sqe sqe;

	pthread_mutex_lock(&fk.lock);
	sqe = nth(n)->sqe;
	pthread_mutex_unlock(&fk.lock);
	return sqe;
}

struct kverbs_piece fake_piece(unsigned int n, unsigned int i)
{
	struct kverbs_piece piece;

	pthread_mutex_lock(&fk.lock);
	fake_check(i < nth(n)->nr_pieces);
	piece = nth(n)->pieces[i];
	pthread_mutex_unlock(&fk.lock);
	return piece;
}

static void complete(unsigned int n, unsigned int wc_status)
{
	struct fake_work *w = nth(n);

	fake_work_end(w, wc_status ? -EIO : 0, wc_status,
		      wc_status ? 0 : w->length, 0, 0);
}

void fake_complete(unsigned int n, unsigned int wc_status)
{
	pthread_mutex_lock(&fk.lock);
	complete(n, wc_status);
	pthread_mutex_unlock(&fk.lock);
}

void fake_complete_two(unsigned int n, unsigned int m)
{
	pthread_mutex_lock(&fk.lock);
	complete(n, 0);
	complete(m, 0);
	pthread_mutex_unlock(&fk.lock);
}

void fake_complete_recv(unsigned int n, uint64_t byte_len, unsigned int flags,
			uint32_t imm)
{
	pthread_mutex_lock(&fk.lock);
	fake_work_end(nth(n), 0, 0, byte_len, flags, imm);
	pthread_mutex_unlock(&fk.lock);
}

/* ---- a device with a thread -------------------------------------------------------- */

static struct {
	pthread_t thread;
	bool stop;
	unsigned int seed, error_rate;
} device;

static unsigned int nr_active(void)
{
	const struct fake_work *w;
	unsigned int n = 0;

	for (w = fk.work; w; w = w->next)
		n += w->sqe.opcode != KVERBS_OP_RECV;
	return n;
}

static struct fake_work *active(unsigned int n)
{
	struct fake_work *w;

	for (w = fk.work; w; w = w->next)
		if (w->sqe.opcode != KVERBS_OP_RECV && !n--)
			break;
	return w;
}

static void end_any(void)
{
	struct fake_work *w = active((unsigned int)rand_r(&device.seed) % nr_active());
	bool error = device.error_rate &&
		     !((unsigned int)rand_r(&device.seed) % device.error_rate);

	fake_work_end(w, error ? -EIO : 0, error ? WC_REM_ACCESS_ERR : 0,
		      error ? 0 : w->length, 0, 0);
}

static void *run_device(void *arg)
{
	pthread_mutex_lock(&fk.lock);
	while (!device.stop) {
		if (nr_active())
			end_any();
		else
			pthread_cond_wait(&fk.changed, &fk.lock);
		/* Let other threads run in between. */
		pthread_mutex_unlock(&fk.lock);
		pthread_mutex_lock(&fk.lock);
	}
	pthread_mutex_unlock(&fk.lock);
	return arg;
}

void fake_device_start(unsigned int seed, unsigned int error_rate)
{
	device.stop = false;
	device.seed = seed;
	device.error_rate = error_rate;
	fake_check(!pthread_create(&device.thread, NULL, run_device, NULL));
}

void fake_device_stop(void)
{
	pthread_mutex_lock(&fk.lock);
	device.stop = true;
	pthread_cond_broadcast(&fk.changed);
	pthread_mutex_unlock(&fk.lock);
	pthread_join(device.thread, NULL);
}
