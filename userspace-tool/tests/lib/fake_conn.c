// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The fake kernel's connections, listeners and exports.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <string.h>

#include "fake_internal.h"

#define MAX_SCRIPT 16

static int script[MAX_SCRIPT];
static unsigned int script_len, script_pos;

void fake_conn_reset(void)
{
	script_len = 0;
	script_pos = 0;
}

void fake_script_connect(int outcome)
{
	fake_check(script_len < MAX_SCRIPT);
	script[script_len++] = outcome;
}

static bool is_end(enum kverbs_cqe_type type)
{
	return type >= KVERBS_CQE_DISCONNECTED;
}

static void put_event(struct fake_obj *o, enum kverbs_cqe_type type, int result)
{
	struct kverbs_cqe cqe = {
		.user_data = o->conn.user_data,
		.id = o->id,
		.result = result,
		.type = (uint8_t)type,
		.reject_reason = type == KVERBS_CQE_REJECTED ? fake.reject_reason : 0,
	};

	if (type == KVERBS_CQE_ESTABLISHED)
		o->conn.state = KVERBS_CONN_ESTABLISHED;
	if (is_end(type)) {
		fake_work_drop(o, true);
		o->conn.state = KVERBS_CONN_DEAD;
		o->conn.error = result;
		o->conn.peer = 0;
	}
	fake_check(o->conn.slots);
	o->conn.slots--;
	fake_ring_put(fake_ring_of(o), &cqe);
	/* No event follows the final one. */
	if (is_end(type)) {
		fake_ring_of(o)->r.reserved -= o->conn.slots;
		o->conn.slots = 0;
	}
}

static void set_param(struct fake_conn *c, const struct kverbs_conn_param *param,
		      uint32_t size)
{
	const struct kverbs_conn_param none = { 0 };

	fake_check(size == (param ? sizeof(*param) : 0));
	param = param ? param : &none;
	c->sq_depth = param->sq_depth ? param->sq_depth : fake.sq_depth;
	c->rq_depth = param->rq_depth ? param->rq_depth : fake.rq_depth;
}

static void set_priv(struct fake_conn *c, const void *priv, uint32_t len)
{
	fake_check(len <= sizeof(c->priv));
	if (len)
		memcpy(c->priv, priv, len);
	c->priv_len = len;
}

static const void *user_ptr(uint64_t uptr)
{
	return (const void *)(uintptr_t)uptr;
}

static struct kverbs_conn_param param_of(uint64_t uptr)
{
	const struct kverbs_conn_param *param = user_ptr(uptr);

	return param ? *param : (struct kverbs_conn_param){ 0 };
}

static struct fake_obj *new_conn(struct fake_obj *ring, enum kverbs_conn_state state)
{
	struct fake_obj *o;

	if (fake_ring_reserve(ring, FAKE_CONN_SLOTS))
		return NULL;
	o = fake_new(ring->fd, FAKE_CONN);
	o->ring = ring->id;
	o->conn.slots = FAKE_CONN_SLOTS;
	o->conn.state = state;
	set_param(&o->conn, NULL, 0);
	fake.last_conn = o->id;
	return o;
}

/* ---- listeners ------------------------------------------------------------------ */

/* @family 0 finds any family. */
static struct fake_obj *find_port(uint16_t family, uint16_t port)
{
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_LISTENER &&
		    fk.objs[id]->listener.port == port &&
		    (!family || fk.objs[id]->listener.family == family))
			return fk.objs[id];
	return NULL;
}

int fake_listen(int fd, struct kverbs_cmd_listen *cmd)
{
	struct fake_obj *ring = fake_find(fd, cmd->ring_id, FAKE_RING), *o;
	uint16_t port = ntohs(cmd->inout_addr.port);

	if (!ring)
		return -ENOENT;
	if (port && find_port(cmd->inout_addr.family, port))
		return -EADDRINUSE;
	if (fake_ring_reserve(ring, 1))
		return -EAGAIN;
	o = fake_new(fd, FAKE_LISTENER);
	o->ring = ring->id;
	o->listener.family = cmd->inout_addr.family;
	o->listener.port = port ? port : (uint16_t)(40000 + o->id % 20000);
	o->listener.user_data = cmd->user_data;
	cmd->inout_addr.port = htons(o->listener.port);
	cmd->out_id = o->id;
	return 0;
}

static struct fake_obj *announce(struct fake_obj *listener, const void *priv,
				 uint32_t priv_len)
{
	struct fake_obj *o = new_conn(fake_ring_of(listener), KVERBS_CONN_REQUESTED);

	if (!o)
		return NULL;
	set_priv(&o->conn, priv, priv_len);
	o->conn.user_data = listener->listener.user_data;
	put_event(o, KVERBS_CQE_CONN_REQUEST, 0);
	return o;
}

uint32_t fake_request_family(uint16_t family, uint16_t port, const void *priv,
			     uint32_t priv_len)
{
	struct fake_obj *o;

	pthread_mutex_lock(&fk.lock);
	o = find_port(family, port);
	fake_check(o);
	o = announce(o, priv, priv_len);
	fake_check(o);
	pthread_mutex_unlock(&fk.lock);
	return o->id;
}

uint32_t fake_request(uint16_t port, const void *priv, uint32_t priv_len)
{
	return fake_request_family(0, port, priv, priv_len);
}

void fake_remove_listener(uint16_t port)
{
	struct kverbs_cqe cqe = {
		.result = -ENODEV,
		.type = KVERBS_CQE_DEVICE_REMOVED,
	};
	struct fake_obj *o;

	pthread_mutex_lock(&fk.lock);
	o = find_port(0, port);
	fake_check(o);
	cqe.id = o->id;
	cqe.user_data = o->listener.user_data;
	fake_ring_put(fake_ring_of(o), &cqe);
	fake_ring_of(o)->r.reserved++;	/* DESTROY returns it once more */
	pthread_mutex_unlock(&fk.lock);
}

/* ---- connections ----------------------------------------------------------------- */

/* A client of this process without a source address uses this address. */
static void join(struct fake_obj *o, struct fake_obj *peer,
		 const struct kverbs_cmd_connect *cmd)
{
	struct kverbs_addr from = {
		.family = AF_INET, .port = htons(40000), .addr = { 192, 0, 2, 2 },
	};

	if (cmd->src.family)
		from = cmd->src;
	peer->conn.peer = o->id;
	o->conn.local = from;
	peer->conn.local = cmd->dst;
	peer->conn.remote = from;
}

static void decide(struct fake_obj *o, const struct kverbs_cmd_connect *cmd)
{
	struct fake_obj *listener = find_port(cmd->dst.family, ntohs(cmd->dst.port)), *peer;
	int outcome = script_pos < script_len ? script[script_pos++] : 0;

	if (fake.loopback && !outcome) {
		peer = listener ? announce(listener, user_ptr(cmd->priv_uptr),
					   cmd->priv_len) : NULL;
		if (peer)
			join(o, peer, cmd);
		else
			put_event(o, KVERBS_CQE_REJECTED, -ECONNREFUSED);
	} else if (!outcome) {
		put_event(o, KVERBS_CQE_ESTABLISHED, 0);
	} else if (outcome == -ECONNREFUSED) {
		put_event(o, KVERBS_CQE_REJECTED, outcome);
	} else if (outcome != FAKE_CONNECT_HANGS) {
		put_event(o, KVERBS_CQE_FAILED, outcome);
	} else {
		o->conn.hangs = true;
	}
}

int fake_connect(int fd, struct kverbs_cmd_connect *cmd)
{
	struct fake_obj *ring = fake_find(fd, cmd->ring_id, FAKE_RING), *o;

	if (!ring)
		return -ENOENT;
	if (cmd->priv_len > KVERBS_PRIV_CONNECT_MAX)
		return -EINVAL;
	if (cmd->group_id && !fake_find(fd, cmd->group_id, FAKE_GROUP))
		return -ENOENT;
	fake.last_connect = *cmd;
	fake.connect_param = param_of(cmd->param_uptr);
	o = new_conn(ring, KVERBS_CONN_CONNECTING);
	if (!o)
		return -EAGAIN;
	set_param(&o->conn, user_ptr(cmd->param_uptr), cmd->param_size);
	o->conn.user_data = cmd->user_data;
	o->conn.group = cmd->group_id;
	o->conn.remote = cmd->dst;
	cmd->out_id = o->id;
	o->conn.pool = cmd->pool_id;
	fake_pool_fill(o);
	decide(o, cmd);
	return 0;
}

static void join_peers(struct fake_obj *o, const struct kverbs_cmd_accept *cmd)
{
	struct fake_obj *peer = fk.objs[o->conn.peer];

	peer->conn.peer = o->id;
	set_priv(&peer->conn, user_ptr(cmd->priv_uptr), cmd->priv_len);
	put_event(peer, KVERBS_CQE_ESTABLISHED, 0);
	put_event(o, KVERBS_CQE_ESTABLISHED, 0);
}

static void decide_accepted(struct fake_obj *o)
{
	int outcome = script_pos < script_len ? script[script_pos++] : 0;

	if (outcome != FAKE_CONNECT_HANGS)
		put_event(o, KVERBS_CQE_ESTABLISHED, 0);
	if (outcome == FAKE_ACCEPT_LEFT)
		put_event(o, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
}

static int move_to_ring(struct fake_obj *o, struct fake_obj *ring)
{
	if (!ring)
		return -ENOENT;
	if (fake_ring_reserve(ring, o->conn.slots))
		return -EAGAIN;
	fake_ring_of(o)->r.reserved -= o->conn.slots;
	o->ring = ring->id;
	return 0;
}

int fake_accept(int fd, struct kverbs_cmd_accept *cmd)
{
	struct fake_obj *o = fake_find(fd, cmd->conn_id, FAKE_CONN);
	int ret;

	if (!o)
		return -ENOENT;
	if (o->conn.state != KVERBS_CONN_REQUESTED)
		return -ENOTCONN;
	if (cmd->group_id && !fake_find(fd, cmd->group_id, FAKE_GROUP))
		return -ENOENT;
	if (cmd->ring_id && cmd->ring_id != o->ring) {
		ret = move_to_ring(o, fake_find(fd, cmd->ring_id, FAKE_RING));
		if (ret)
			return ret;
	}
	fake.last_accept = *cmd;
	fake.accept_param = param_of(cmd->param_uptr);
	set_param(&o->conn, user_ptr(cmd->param_uptr), cmd->param_size);
	o->conn.user_data = cmd->user_data;
	o->conn.group = cmd->group_id;
	o->conn.state = KVERBS_CONN_ACCEPTING;
	o->conn.pool = cmd->pool_id;
	fake_pool_fill(o);
	if (o->conn.peer)
		join_peers(o, cmd);
	else
		decide_accepted(o);
	return 0;
}

static void tell_peer(struct fake_obj *o, enum kverbs_cqe_type type, int result)
{
	struct fake_obj *peer = o->conn.peer ? fk.objs[o->conn.peer] : NULL;

	if (peer)
		put_event(peer, type, result);
	o->conn.peer = 0;
}

int fake_reject(int fd, struct kverbs_cmd_reject *cmd)
{
	struct fake_obj *o = fake_find(fd, cmd->conn_id, FAKE_CONN);

	if (!o)
		return -ENOENT;
	if (o->conn.state != KVERBS_CONN_REQUESTED)
		return -ENOTCONN;
	if (cmd->priv_len > KVERBS_PRIV_REJECT_MAX)
		return -EINVAL;
	if (o->conn.peer)
		set_priv(&fk.objs[o->conn.peer]->conn, user_ptr(cmd->priv_uptr),
			 cmd->priv_len);
	tell_peer(o, KVERBS_CQE_REJECTED, -ECONNREFUSED);
	put_event(o, KVERBS_CQE_FAILED, -ECANCELED);
	return 0;
}

static void hang_up(struct fake_obj *o)
{
	switch (o->conn.state) {
	case KVERBS_CONN_ESTABLISHED:
		tell_peer(o, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
		break;
	case KVERBS_CONN_REQUESTED:
	case KVERBS_CONN_ACCEPTING:
		tell_peer(o, KVERBS_CQE_REJECTED, -ECONNREFUSED);
		break;
	default:
		break;
	}
}

int fake_disconnect(int fd, struct kverbs_cmd_disconnect *cmd)
{
	struct fake_obj *o = fake_find(fd, cmd->conn_id, FAKE_CONN);
	bool up;

	if (!o)
		return -ENOENT;
	if (o->conn.state >= KVERBS_CONN_CLOSING)
		return -ENOTCONN;
	up = o->conn.state == KVERBS_CONN_ESTABLISHED;
	hang_up(o);
	if (fake.disconnect_lingers) {
		o->conn.state = KVERBS_CONN_CLOSING;
		return 0;
	}
	put_event(o, up ? KVERBS_CQE_DISCONNECTED : KVERBS_CQE_FAILED, -ECANCELED);
	return 0;
}

/* The connection that would become its peer finds that it is gone. */
static void forget_peer(uint32_t conn_id)
{
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_CONN &&
		    fk.objs[id]->conn.peer == conn_id)
			put_event(fk.objs[id], KVERBS_CQE_FAILED, -ECONNRESET);
}

static void drop_exports(uint32_t conn_id)
{
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_EXPORT &&
		    fk.objs[id]->export.owner == conn_id)
			fake_del(fk.objs[id]);
}

void fake_conn_destroy(struct fake_obj *o)
{
	hang_up(o);
	forget_peer(o->id);
	drop_exports(o->id);
	fake_work_drop(o, !fake.destroy_drops);
	fake_ring_of(o)->r.reserved -= o->conn.slots;
}

int fake_conn_query(int fd, struct kverbs_cmd_conn_query *cmd)
{
	struct fake_obj *o = fake_find(fd, cmd->conn_id, FAKE_CONN);
	uint32_t room = cmd->inout_priv_len;

	if (!o)
		return -ENOENT;
	cmd->inout_priv_len = o->conn.priv_len;
	if (room < o->conn.priv_len)
		return -EMSGSIZE;
	if (o->conn.priv_len)
		memcpy((void *)user_ptr(cmd->priv_uptr), o->conn.priv, o->conn.priv_len);
	cmd->out_state = o->conn.state;
	cmd->out_error = o->conn.error;
	cmd->out_local = fake.query.out_local.family ? fake.query.out_local : o->conn.local;
	cmd->out_remote = o->conn.remote;
	cmd->out_sq_depth = o->conn.sq_depth;
	cmd->out_rq_depth = o->conn.rq_depth;
	cmd->out_sq_used = o->conn.sq_used;
	cmd->out_rq_used = o->conn.rq_used;
	cmd->out_max_msg = fake.max_msg;
	cmd->out_max_segment = fake.max_segment;
	cmd->out_transport = KVERBS_TRANSPORT_ROCE;
	cmd->out_device_index = fake.query.out_device_index;
	cmd->out_port = fake.query.out_port;
	cmd->out_mtu = fake.query.out_mtu;
	cmd->out_ops = fake.query.out_ops;
	cmd->out_bytes_out = fake.query.out_bytes_out;
	cmd->out_bytes_in = fake.query.out_bytes_in;
	cmd->out_addr_ns = fake.step_ns;
	cmd->out_route_ns = 2 * fake.step_ns;
	cmd->out_qp_ns = 3 * fake.step_ns;
	cmd->out_up_ns = 4 * fake.step_ns;
	cmd->out_group_id = o->conn.group;
	return 0;
}

/* ---- exports ------------------------------------------------------------------------ */

static void fill_segs(const struct fake_obj *o, struct kverbs_segment *segs)
{
	uint64_t done;

	for (done = 0; done < o->export.length; done += segs++->length) {
		segs->addr = o->export.addr + done;
		segs->length = o->export.length - done;
		if (segs->length > fake.max_segment)
			segs->length = fake.max_segment;
		segs->rkey = o->id;
	}
}

/* Whether a connection of @group, or any, is established. */
static bool group_is_up(const struct fake_obj *group, bool any)
{
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_CONN &&
		    fk.objs[id]->conn.group == group->id &&
		    (any || fk.objs[id]->conn.state == KVERBS_CONN_ESTABLISHED))
			return true;
	return false;
}

bool fake_group_used(const struct fake_obj *group)
{
	uint32_t id;

	for (id = 1; id <= fk.nr_ids; id++)
		if (fk.objs[id] && fk.objs[id]->type == FAKE_EXPORT &&
		    fk.objs[id]->export.owner == group->id)
			return true;
	return group_is_up(group, true);
}

int fake_group_create(int fd, struct kverbs_cmd_group_create *cmd)
{
	fake_check(cmd->size == sizeof(*cmd));
	if (cmd->device_index == FAKE_NO_DEVICE)
		return -ENODEV;
	cmd->out_id = fake_new(fd, FAKE_GROUP)->id;
	return 0;
}

static int check_export(int fd, const struct kverbs_cmd_export *cmd)
{
	struct fake_obj *conn = fake_find(fd, cmd->conn_id, FAKE_CONN);
	struct fake_obj *group = fake_find(fd, cmd->conn_id, FAKE_GROUP);
	struct fake_obj *region = fake_find(fd, cmd->region_id, FAKE_REGION);

	if ((!conn && !group) || !region)
		return -ENOENT;
	if (!cmd->access || cmd->access >= KVERBS_REMOTE_ATOMIC << 1)
		return -EINVAL;
	if (cmd->flags & ~KVERBS_EXPORT_IOVA || (!cmd->flags && cmd->iova))
		return -EINVAL;
	if (!cmd->length || cmd->offset > region->region.length ||
	    cmd->length > region->region.length - cmd->offset)
		return -EINVAL;
	if (group)
		return group_is_up(group, false) ? 0 : -ENOTCONN;
	return conn->conn.state == KVERBS_CONN_ESTABLISHED ? 0 : -ENOTCONN;
}

int fake_export(int fd, struct kverbs_cmd_export *cmd)
{
	uint32_t need = (uint32_t)((cmd->length + fake.max_segment - 1) / fake.max_segment);
	uint32_t room = cmd->inout_segs_len;
	int ret = check_export(fd, cmd);
	struct fake_obj *o;

	if (ret)
		return ret;
	cmd->inout_segs_len = need;
	if (room < need)
		return -EMSGSIZE;
	o = fake_new(fd, FAKE_EXPORT);
	o->export.owner = cmd->conn_id;
	o->export.region = cmd->region_id;
	o->export.access = cmd->access;
	o->export.offset = cmd->offset;
	o->export.length = cmd->length;
	o->export.addr = cmd->flags & KVERBS_EXPORT_IOVA ? cmd->iova : (uint64_t)o->id << 32;
	o->export.max_segment = fake.max_segment;
	fk.objs[cmd->region_id]->region.users++;
	fill_segs(o, (struct kverbs_segment *)user_ptr(cmd->segs_uptr));
	cmd->out_id = o->id;
	return 0;
}

/* ---- for the tests -------------------------------------------------------------------- */

void fake_event(uint32_t conn_id, enum kverbs_cqe_type type, int result)
{
	pthread_mutex_lock(&fk.lock);
	fake_check(fk.objs[conn_id] && fk.objs[conn_id]->type == FAKE_CONN);
	put_event(fk.objs[conn_id], type, result);
	pthread_mutex_unlock(&fk.lock);
}

void fake_cut(void)
{
	struct fake_obj *o;
	uint32_t id;

	pthread_mutex_lock(&fk.lock);
	for (id = 1; id <= fk.nr_ids; id++) {
		o = fk.objs[id];
		if (o && o->type == FAKE_CONN && o->conn.state == KVERBS_CONN_ESTABLISHED) {
			hang_up(o);
			put_event(o, KVERBS_CQE_DISCONNECTED, -ECONNRESET);
		}
	}
	pthread_mutex_unlock(&fk.lock);
}

unsigned int fake_conn_state(uint32_t conn_id)
{
	struct fake_obj *o;
	unsigned int state;

	pthread_mutex_lock(&fk.lock);
	o = fk.objs[conn_id];
	state = o && o->type == FAKE_CONN ? o->conn.state : 0;
	pthread_mutex_unlock(&fk.lock);
	return state;
}

/* ---- measuring ---------------------------------------------------------------- */

static void check_bench(int fd, const struct kverbs_cmd_bench *cmd)
{
	struct fake_obj *region = fake_find(fd, cmd->region_id, FAKE_REGION);

	fake_check(cmd->size == sizeof(*cmd));
	fake_check(region && cmd->offset + cmd->length <= region->region.length);
	fake_check(!cmd->segs_len == !cmd->segs_uptr);
}

static void tell_bench(struct kverbs_cmd_bench *cmd)
{
	uint64_t *hist = (uint64_t *)(uintptr_t)cmd->hist_uptr;
	uint32_t i;

	for (i = 0; i < fake.bench.hist_len && i < cmd->hist_len; i++)
		hist[i] = 1;
	cmd->out_ops = fake.bench.out_ops;
	cmd->out_sent = fake.bench.out_sent;
	cmd->out_received = fake.bench.out_received;
	cmd->out_elapsed_ns = fake.bench.out_elapsed_ns;
	cmd->out_cpu_ns = fake.bench.out_cpu_ns;
	cmd->out_min_ns = fake.bench.out_min_ns;
	cmd->out_max_ns = fake.bench.out_max_ns;
	cmd->out_sum_ns = fake.bench.out_sum_ns;
	cmd->out_error = fake.bench.out_error;
	cmd->out_wc_status = fake.bench.out_wc_status;
}

/* No data moves: the test sets the results of the measurement. */
int fake_bench(int fd, struct kverbs_cmd_bench *cmd)
{
	struct fake_obj *o = fake_find(fd, cmd->conn_id, FAKE_CONN);

	if (!o)
		return -ENOENT;
	if (o->conn.state != KVERBS_CONN_ESTABLISHED)
		return -ENOTCONN;
	if (o->conn.sq_used || o->conn.rq_used)
		return -EBUSY;
	check_bench(fd, cmd);
	fake.last_bench = *cmd;
	if (cmd->segs_len)
		fake.last_bench_seg = *(struct kverbs_segment *)(uintptr_t)cmd->segs_uptr;
	tell_bench(cmd);
	return 0;
}
