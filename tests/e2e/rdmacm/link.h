/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A connection as programs that use librdmacm make it. */
#ifndef RDMACM_LINK_H
#define RDMACM_LINK_H

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>
#include <stdbool.h>

#include "patience.h"

/**
 * struct queue - a completion queue
 * @channel: signals new completions
 * @cq: the queue
 */
struct queue {
	struct ibv_comp_channel *channel;
	struct ibv_cq *cq;
};

/**
 * struct link - the connection
 * @events: channel of the CM's events
 * @listener: the listener that it came from, or NULL
 * @id: the connection
 * @pd: its protection domain
 * @sent: completions of SENDs, WRITEs, READs and atomics
 * @received: completions of receives
 * @is_iwarp: the device has neither atomics nor immediate data
 */
struct link {
	struct rdma_event_channel *events;
	struct rdma_cm_id *listener;
	struct rdma_cm_id *id;
	struct ibv_pd *pd;
	struct queue sent;
	struct queue received;
	bool is_iwarp;
};

void __attribute__((__noreturn__, __format__(printf, 1, 2))) give_up(const char *format, ...);

bool queue_poll(struct queue *queue, struct ibv_wc *wc, int timeout_ms);

void link_listen(struct link *link, const char *host);
void link_resolve(struct link *link, const char *host, const char *port);
void link_await_request(struct link *link);
void link_accept(struct link *link);
void link_connect(struct link *link);
struct ibv_mr *link_register(struct link *link, void *addr, size_t length, int access);
void link_recv(struct link *link, const struct ibv_mr *mr, void *addr, uint32_t length);
void link_post(struct link *link, struct ibv_send_wr *wr);
void link_await_end(struct link *link);
void link_close(struct link *link);

#endif /* RDMACM_LINK_H */
