// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Pulls a page from one end of a connection to the other, both in this module:
 *
 *	insmod pull.ko addr=192.0.2.1
 *
 * The address is one of an RDMA device. The passive end exposes a page in the message that tells
 * of it, and the active end reads the page, in pieces that are posted together. The active end
 * polls for its completions, those of the passive end are reported from a workqueue.
 */
#include <linux/completion.h>
#include <linux/in.h>
#include <linux/inet.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/net_namespace.h>

#include <kverbs/kverbs.h>

static char *addr = "";
module_param(addr, charp, 0);
MODULE_PARM_DESC(addr, "IPv4 address of an RDMA device of this host");

#define PIECES		4
#define PIECE_LEN	(PAGE_SIZE / PIECES)

static struct end {
	struct kverbs_k_conn *conn;
	struct kverbs_k_req *req;
	struct kverbs_k_req *reads[PIECES];
	struct kverbs_k_batch *batch;
	struct kverbs_region *region;
	void *memory;			/* a page for the message, and one for the text */
	struct completion up, done;
	int error;
} active, passive;

static void established(struct kverbs_k_conn *conn)
{
	struct end *end = kverbs_k_conn_context(conn);

	complete_all(&end->up);
}

static void ended(struct kverbs_k_conn *conn, int error)
{
	struct end *end = kverbs_k_conn_context(conn);

	end->error = error ?: -ENOTCONN;
	complete_all(&end->up);
}

static const struct kverbs_k_conn_ops conn_ops = { established, ended };
static const struct kverbs_k_conn_param param, polled = { .polled = true };

/* The module owns the connection from here on, whether or not it can be accepted. */
static void request(struct kverbs_k_listener *listener, struct kverbs_k_conn *conn)
{
	if (passive.conn) {
		kverbs_k_conn_free(conn);
		return;
	}
	passive.conn = conn;
	if (kverbs_k_conn_accept(conn, &conn_ops, &passive, &param))
		kverbs_k_conn_end(conn);
}

static const struct kverbs_k_listener_ops listener_ops = { .request = request };

static void done(struct kverbs_k_req *req)
{
	complete(req->context);
}

static void fill(struct kverbs_k_req *req, struct end *end, enum kverbs_k_opcode opcode,
		 u64 offset, u64 length)
{
	req->opcode = opcode;
	req->region = end->region;
	req->offset = offset;
	req->length = length;
	req->done = done;
	req->context = &end->done;
}

static int post(struct end *end, enum kverbs_k_opcode opcode, u64 offset, u64 length)
{
	fill(end->req, end, opcode, offset, length);
	return kverbs_k_post(end->req);
}

/* Requests also complete, with an error, when the connection ends. */
static int await(struct end *end, struct kverbs_k_req *req)
{
	if (end == &active)
		while (!completion_done(&end->done))
			if (!kverbs_k_conn_poll(end->conn))
				cond_resched();
	wait_for_completion(&end->done);
	return req->result;
}

static int alloc_req(struct end *end, struct kverbs_k_req_size size, struct kverbs_k_req **to)
{
	struct kverbs_k_req *req = kverbs_k_req_alloc(end->conn, &size, GFP_KERNEL);

	if (IS_ERR(req))
		return PTR_ERR(req);
	*to = req;
	return 0;
}

/* Both ends run on one kind of machine; a real protocol fixes the order of bytes. */
static int offer(void)
{
	struct kverbs_k_segment *segment = passive.memory;
	int ret;

	strscpy(passive.memory + PAGE_SIZE, "hello from the passive end", PAGE_SIZE);
	ret = passive.error ?: kverbs_k_region_map(passive.conn, passive.region);
	if (!ret)
		ret = alloc_req(&passive, (struct kverbs_k_req_size) { .expose_pages = 1 },
				&passive.req);
	if (!ret)
		ret = kverbs_k_expose(passive.req, passive.region, PAGE_SIZE, PAGE_SIZE,
				      KVERBS_K_REMOTE_READ, segment);
	if (!ret)
		ret = post(&passive, KVERBS_K_SEND, 0, sizeof(*segment));
	return ret ?: await(&passive, passive.req);
}

static int prepare_reads(const struct kverbs_k_segment *segment)
{
	struct kverbs_k_batch *batch;
	unsigned int i;
	int ret;

	for (i = 0; i < PIECES; i++) {
		ret = alloc_req(&active, (struct kverbs_k_req_size) { .read_pages = 1 },
				&active.reads[i]);
		if (ret)
			return ret;
		fill(active.reads[i], &active, KVERBS_K_READ, PAGE_SIZE + i * PIECE_LEN,
		     PIECE_LEN);
		active.reads[i]->remote_addr = segment->addr + i * PIECE_LEN;
		active.reads[i]->rkey = segment->rkey;
	}
	batch = kverbs_k_batch_alloc(active.conn, PIECES, GFP_KERNEL);
	if (!IS_ERR(batch))
		active.batch = batch;
	return PTR_ERR_OR_ZERO(batch);
}

/* Each request that was posted completes, also if another one was not posted. */
static int pull(void)
{
	unsigned int nr, i;
	int ret, error;

	ret = await(&active, active.req);
	if (!ret)
		ret = kverbs_k_region_map(active.conn, active.region);
	if (!ret)
		ret = prepare_reads(active.memory);
	if (ret)
		return ret;
	nr = kverbs_k_post_list(active.batch, active.reads, PIECES, &ret);
	for (i = 0; i < nr; i++) {
		error = await(&active, active.reads[i]);
		ret = ret ?: error;
	}
	return ret;
}

/* The receive is there before the peer can send. */
static int join(struct sockaddr *sa)
{
	struct kverbs_k_conn *conn;
	int ret;

	conn = kverbs_k_conn_create(&init_net, &conn_ops, &active, &polled, NULL, sa);
	if (IS_ERR(conn))
		return PTR_ERR(conn);
	active.conn = conn;
	ret = alloc_req(&active, (struct kverbs_k_req_size) {}, &active.req);
	if (!ret)
		ret = post(&active, KVERBS_K_RECV, 0, sizeof(struct kverbs_k_segment));
	if (ret)
		return ret;
	kverbs_k_conn_start(conn);
	wait_for_completion(&active.up);
	return active.error;
}

static int open_end(struct end *end)
{
	struct kverbs_region *region;

	init_completion(&end->up);
	init_completion(&end->done);
	end->memory = kzalloc(2 * PAGE_SIZE, GFP_KERNEL);
	if (!end->memory)
		return -ENOMEM;
	region = kverbs_k_region_of_buffer(end->memory, 2 * PAGE_SIZE, true, GFP_KERNEL);
	if (!IS_ERR(region))
		end->region = region;
	return PTR_ERR_OR_ZERO(region);
}

/* Requests first complete, then go, and the connection after them. */
static void close_end(struct end *end)
{
	unsigned int i;

	if (end->conn)
		kverbs_k_conn_close(end->conn);
	kverbs_k_batch_free(end->batch);
	for (i = 0; i < PIECES; i++)
		if (end->reads[i])
			kverbs_k_req_free(end->reads[i]);
	if (end->req)
		kverbs_k_req_free(end->req);
	if (end->conn)
		kverbs_k_conn_free(end->conn);
	if (end->region)
		kverbs_k_region_destroy(end->region);
	kfree(end->memory);
}

static int run(struct sockaddr *sa)
{
	struct kverbs_k_listener *listener;
	int ret;

	listener = kverbs_k_listener_create(&init_net, &listener_ops, NULL, sa, 0);
	if (IS_ERR(listener))
		return PTR_ERR(listener);
	ret = join(sa);
	/* After this, the request is answered, and the passive end has its connection. */
	kverbs_k_listener_free(listener);
	if (ret)
		return ret;
	wait_for_completion(&passive.up);
	ret = offer();
	return ret ?: pull();
}

static int __init pull_init(void)
{
	struct sockaddr_storage ss = {};
	struct sockaddr_in *sin = (struct sockaddr_in *)&ss;
	int ret;

	sin->sin_family = AF_INET;
	if (!in4_pton(addr, -1, (u8 *)&sin->sin_addr, -1, NULL))
		return -EINVAL;
	ret = open_end(&active) ?: open_end(&passive);
	if (!ret)
		ret = run((struct sockaddr *)&ss);
	if (!ret)
		pr_info("pull: %s\n", (char *)active.memory + PAGE_SIZE);
	close_end(&active);
	close_end(&passive);
	return ret;
}

static void __exit pull_exit(void)
{
}

module_init(pull_init);
module_exit(pull_exit);

MODULE_AUTHOR("The kverbs developers");
MODULE_DESCRIPTION("Pulls a page over RDMA");
MODULE_LICENSE("Dual BSD/GPL");
KVERBS_K_IMPORT();
