// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A connection made with rdma-core: CM events in sequence, one CQ for each direction. */
#include <netdb.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "link.h"

#define DEPTH		8

void give_up(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	fputs("# rdmacm_peer: ", stdout);
	vprintf(format, args);
	va_end(args);
	printf(": %m\n");
	exit(EXIT_FAILURE);
}

/* From the connection request on, events carry the id of the connection. */
static void await_event(struct link *link, enum rdma_cm_event_type type)
{
	struct rdma_cm_event *event;

	if (rdma_get_cm_event(link->events, &event))
		give_up("rdma_get_cm_event");
	if (event->event != type)
		give_up("%s (%d) and not %s", rdma_event_str(event->event), event->status,
			rdma_event_str(type));
	if (type == RDMA_CM_EVENT_CONNECT_REQUEST)
		link->id = event->id;
	rdma_ack_cm_event(event);
}

static struct rdma_addrinfo *resolve(const char *host, const char *port, int flags)
{
	struct rdma_addrinfo hints = { .ai_flags = flags, .ai_port_space = RDMA_PS_TCP };
	struct rdma_addrinfo *info;

	if (rdma_getaddrinfo(host, port, &hints, &info))
		give_up("rdma_getaddrinfo %s", host);
	return info;
}

static void queue_open(struct queue *queue, struct ibv_context *verbs)
{
	queue->channel = ibv_create_comp_channel(verbs);
	if (!queue->channel)
		give_up("ibv_create_comp_channel");
	queue->cq = ibv_create_cq(verbs, DEPTH, NULL, queue->channel, 0);
	if (!queue->cq)
		give_up("ibv_create_cq");
}

static void queue_close(struct queue *queue)
{
	if (ibv_destroy_cq(queue->cq))
		give_up("ibv_destroy_cq");
	if (ibv_destroy_comp_channel(queue->channel))
		give_up("ibv_destroy_comp_channel");
}

static bool poll_once(struct queue *queue, struct ibv_wc *wc)
{
	int nr = ibv_poll_cq(queue->cq, 1, wc);

	if (nr < 0)
		give_up("ibv_poll_cq");
	return nr;
}

static bool await_channel(struct queue *queue, int timeout_ms)
{
	struct pollfd wait = { .fd = queue->channel->fd, .events = POLLIN };
	struct ibv_cq *cq;
	void *context;

	if (poll(&wait, 1, timeout_ms) <= 0)
		return false;
	if (ibv_get_cq_event(queue->channel, &cq, &context))
		give_up("ibv_get_cq_event");
	ibv_ack_cq_events(cq, 1);
	return true;
}

/* Return the next completion, whatever its status; false if none comes in time. */
bool queue_poll(struct queue *queue, struct ibv_wc *wc, int timeout_ms)
{
	do {
		if (poll_once(queue, wc))
			return true;
		if (ibv_req_notify_cq(queue->cq, 0))
			give_up("ibv_req_notify_cq");
		if (poll_once(queue, wc))
			return true;
	} while (await_channel(queue, timeout_ms));
	return false;
}

static void create_qp(struct link *link)
{
	struct ibv_context *verbs = link->id->verbs;
	struct ibv_qp_init_attr attr = {
		.cap = { DEPTH, DEPTH, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};

	link->is_iwarp = verbs->device->transport_type == IBV_TRANSPORT_IWARP;
	link->pd = ibv_alloc_pd(verbs);
	if (!link->pd)
		give_up("ibv_alloc_pd");
	queue_open(&link->sent, verbs);
	queue_open(&link->received, verbs);
	attr.send_cq = link->sent.cq;
	attr.recv_cq = link->received.cq;
	if (rdma_create_qp(link->id, link->pd, &attr))
		give_up("rdma_create_qp");
}

/* Listen on a free port and print it. */
void link_listen(struct link *link, const char *host)
{
	struct rdma_addrinfo *info = resolve(host, NULL, RAI_PASSIVE);

	link->events = rdma_create_event_channel();
	if (!link->events || rdma_create_id(link->events, &link->listener, NULL, RDMA_PS_TCP))
		give_up("rdma_create_id");
	if (rdma_bind_addr(link->listener, info->ai_src_addr))
		give_up("rdma_bind_addr");
	if (rdma_listen(link->listener, 1))
		give_up("rdma_listen");
	rdma_freeaddrinfo(info);
	printf("listening %u\n", ntohs(rdma_get_src_port(link->listener)));
	fflush(stdout);
}

/* On return the connection has its queues, so the caller may post receives. */
void link_await_request(struct link *link)
{
	await_event(link, RDMA_CM_EVENT_CONNECT_REQUEST);
	create_qp(link);
}

void link_accept(struct link *link)
{
	struct rdma_conn_param param = {
		.responder_resources = 4,
		.initiator_depth = 4,
		.rnr_retry_count = 7,
	};

	if (rdma_accept(link->id, &param))
		give_up("rdma_accept");
	await_event(link, RDMA_CM_EVENT_ESTABLISHED);
}

/* On return the connection has its queues, so the caller may post receives. */
void link_resolve(struct link *link, const char *host, const char *port)
{
	struct rdma_addrinfo *info = resolve(host, port, 0);

	link->events = rdma_create_event_channel();
	if (!link->events || rdma_create_id(link->events, &link->id, NULL, RDMA_PS_TCP))
		give_up("rdma_create_id");
	if (rdma_resolve_addr(link->id, NULL, info->ai_dst_addr, test_patience_ms()))
		give_up("rdma_resolve_addr");
	rdma_freeaddrinfo(info);
	await_event(link, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (rdma_resolve_route(link->id, test_patience_ms()))
		give_up("rdma_resolve_route");
	await_event(link, RDMA_CM_EVENT_ROUTE_RESOLVED);
	create_qp(link);
}

void link_connect(struct link *link)
{
	struct rdma_conn_param param = {
		.responder_resources = 4,
		.initiator_depth = 4,
		.retry_count = 7,
		.rnr_retry_count = 7,
	};

	if (rdma_connect(link->id, &param))
		give_up("rdma_connect");
	await_event(link, RDMA_CM_EVENT_ESTABLISHED);
}

struct ibv_mr *link_register(struct link *link, void *addr, size_t length, int access)
{
	struct ibv_mr *mr = ibv_reg_mr(link->pd, addr, length, access);

	if (!mr)
		give_up("ibv_reg_mr");
	return mr;
}

void link_recv(struct link *link, const struct ibv_mr *mr, void *addr, uint32_t length)
{
	struct ibv_sge sge = { (uintptr_t)addr, length, mr->lkey };
	struct ibv_recv_wr wr = { .sg_list = &sge, .num_sge = 1 };
	struct ibv_recv_wr *bad;

	if (ibv_post_recv(link->id->qp, &wr, &bad))
		give_up("ibv_post_recv");
}

void link_post(struct link *link, struct ibv_send_wr *wr)
{
	struct ibv_send_wr *bad;

	if (ibv_post_send(link->id->qp, wr, &bad))
		give_up("ibv_post_send");
}

void link_await_end(struct link *link)
{
	await_event(link, RDMA_CM_EVENT_DISCONNECTED);
}

void link_close(struct link *link)
{
	rdma_destroy_qp(link->id);
	queue_close(&link->sent);
	queue_close(&link->received);
	if (ibv_dealloc_pd(link->pd))
		give_up("ibv_dealloc_pd");
	if (rdma_destroy_id(link->id))
		give_up("rdma_destroy_id");
	if (link->listener && rdma_destroy_id(link->listener))
		give_up("rdma_destroy_id of the listener");
	rdma_destroy_event_channel(link->events);
}
