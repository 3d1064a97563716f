// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Remote procedure calls over libfabric; see rpc.h.
 *
 * Calls and replies are messages of up to 4 KiB that fi_inject() copies, so nothing has to be kept
 * for them. -FI_EAGAIN of libfabric means that there is no room, or no connection yet: what could
 * not be posted waits in a list, until it can or its deadline is over.
 */
#include <endian.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "rpc.h"

#define RECEIVES 64
#define MAGIC 0x31637072u	/* "rpc1" */
#define ADDR_MAX 32

enum {
	KIND_CALL = 1,
	KIND_REPLY,
};

/* A message, in little-endian order; @data are @length bytes. */
struct message {
	uint32_t magic;
	uint32_t kind;
	uint64_t sequence;
	uint64_t handler;
	uint32_t timeout_ms;
	int32_t status;
	struct rpc_bulk bulk;
	uint32_t addr_length;
	uint32_t length;
	uint8_t addr[ADDR_MAX];
	uint8_t data[RPC_DATA_MAX];
};

#define HEADER offsetof(struct message, data)

/* The lists have a head whose pointers point to itself when they are empty. */
struct node {
	struct node *next;
	struct node *previous;
};

struct receive {
	struct fi_context context;
	struct message message;
};

struct handler {
	struct handler *next;
	uint64_t id;
	rpc_handler run;
	void *arg;
};

/* A call of this side that has not ended, and its message until that is posted */
struct call {
	struct node node;
	struct rpc *rpc;
	uint64_t sequence;
	uint64_t deadline;
	uint64_t peer;
	rpc_done done;
	void *arg;
	struct message *unsent;
	size_t size;
};

/* A call of a peer that was not answered, or whose reply is not posted */
struct rpc_request {
	struct node node;
	struct rpc *rpc;
	uint64_t sequence;
	uint64_t deadline;
	uint64_t peer;
	struct rpc_bulk bulk;
	unsigned int moving;
	struct message *unsent;
	size_t size;
};

/* A transfer, which is posted in parts of the largest size that the endpoint has */
struct transfer {
	struct fi_context context;
	struct node node;
	struct rpc_request *request;
	struct rpc_mem *mem;
	bool is_read;
	bool is_posted;
	uint64_t offset;
	size_t at;
	size_t left;
	size_t part;
	rpc_moved moved;
	void *arg;
};

struct rpc_mem {
	struct rpc *rpc;
	struct fid_mr *mr;
	uint8_t *mem;
	size_t length;
};

struct client {
	uint8_t addr[ADDR_MAX];
	size_t length;
	fi_addr_t peer;
};

struct rpc {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
	struct fid_mr *mr;
	struct receive *receives;
	struct message scratch;
	uint8_t addr[ADDR_MAX];
	size_t addr_length;
	uint64_t sequence;
	uint64_t key;
	unsigned long callbacks;
	struct handler *handlers;
	struct client *clients;
	size_t nr_clients;
	struct node calls;
	struct node requests;
	struct node transfers;
};

#define of(ptr, type) ((type *)((char *)(ptr) - offsetof(type, node)))
#define of_context(ptr, type) ((type *)((char *)(ptr) - offsetof(type, context)))

static void list_init(struct node *head)
{
	head->next = head;
	head->previous = head;
}

static void list_add(struct node *head, struct node *node)
{
	node->next = head;
	node->previous = head->previous;
	head->previous->next = node;
	head->previous = node;
}

static void list_del(struct node *node)
{
	node->next->previous = node->previous;
	node->previous->next = node->next;
}

static uint64_t now_ms(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000ull + now.tv_nsec / 1000000;
}

/* FNV-1a */
static uint64_t id_of(const char *name)
{
	uint64_t hash = 14695981039346656037ull;

	for (; *name; name++)
		hash = (hash ^ (uint8_t)*name) * 1099511628211ull;
	return hash;
}

/* ---- open and close ---- */

static int get_info(struct rpc *rpc, const char *provider, const char *address, const char *port)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	if (!hints)
		return -ENOMEM;
	hints->caps = FI_MSG | FI_RMA;
	hints->mode = FI_CONTEXT;
	hints->addr_format = FI_SOCKADDR_IN;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->tx_attr->inject_size = sizeof(struct message);
	hints->fabric_attr->prov_name = strdup(provider);
	ret = fi_getinfo(FI_VERSION(1, 9), address, port, address || port ? FI_SOURCE : 0, hints,
			 &rpc->info);
	fi_freeinfo(hints);
	return ret;
}

static int open_objects(struct rpc *rpc)
{
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_UNSPEC };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	int ret;

	ret = fi_fabric(rpc->info->fabric_attr, &rpc->fabric, NULL);
	if (!ret)
		ret = fi_domain(rpc->fabric, rpc->info, &rpc->domain, NULL);
	if (!ret)
		ret = fi_av_open(rpc->domain, &av_attr, &rpc->av, NULL);
	if (!ret)
		ret = fi_cq_open(rpc->domain, &cq_attr, &rpc->cq, NULL);
	if (!ret)
		ret = fi_endpoint(rpc->domain, rpc->info, &rpc->ep, NULL);
	if (!ret)
		ret = fi_ep_bind(rpc->ep, &rpc->av->fid, 0);
	if (!ret)
		ret = fi_ep_bind(rpc->ep, &rpc->cq->fid, FI_TRANSMIT | FI_RECV);
	if (!ret)
		ret = fi_enable(rpc->ep);
	rpc->addr_length = sizeof(rpc->addr);
	if (!ret)
		ret = fi_getname(&rpc->ep->fid, rpc->addr, &rpc->addr_length);
	return ret;
}

static int post_receive(struct rpc *rpc, struct receive *receive)
{
	return fi_recv(rpc->ep, &receive->message, sizeof(receive->message),
		       rpc->mr ? fi_mr_desc(rpc->mr) : NULL, FI_ADDR_UNSPEC, &receive->context);
}

static int post_receives(struct rpc *rpc)
{
	unsigned int i;
	int ret = 0;

	rpc->receives = calloc(RECEIVES, sizeof(*rpc->receives));
	if (!rpc->receives)
		return -ENOMEM;
	if (rpc->info->domain_attr->mr_mode & FI_MR_LOCAL)
		ret = fi_mr_reg(rpc->domain, rpc->receives, RECEIVES * sizeof(*rpc->receives),
				FI_RECV, 0, 0, 0, &rpc->mr, NULL);
	for (i = 0; i < RECEIVES && !ret; i++)
		ret = post_receive(rpc, &rpc->receives[i]);
	return ret;
}

int rpc_open(struct rpc **opened, const char *provider, const char *address, const char *port)
{
	struct rpc *rpc = calloc(1, sizeof(*rpc));
	int ret;

	if (!rpc)
		return -ENOMEM;
	list_init(&rpc->calls);
	list_init(&rpc->requests);
	list_init(&rpc->transfers);
	ret = get_info(rpc, provider, address, port);
	if (!ret)
		ret = open_objects(rpc);
	if (!ret)
		ret = post_receives(rpc);
	if (ret) {
		rpc_close(rpc);
		return ret;
	}
	*opened = rpc;
	return 0;
}

static void end_call(struct call *call, int status, const void *data, size_t length)
{
	list_del(&call->node);
	call->rpc->callbacks++;
	call->done(call->arg, status, data, length);
	free(call->unsent);
	free(call);
}

static void drop_request(struct rpc_request *request)
{
	list_del(&request->node);
	free(request->unsent);
	free(request);
}

static void drop_all(struct rpc *rpc)
{
	struct handler *handler;
	struct transfer *transfer;

	while (rpc->transfers.next != &rpc->transfers) {
		transfer = of(rpc->transfers.next, struct transfer);
		list_del(&transfer->node);
		free(transfer);
	}
	while (rpc->calls.next != &rpc->calls)
		end_call(of(rpc->calls.next, struct call), -ECANCELED, NULL, 0);
	while (rpc->requests.next != &rpc->requests)
		drop_request(of(rpc->requests.next, struct rpc_request));
	while ((handler = rpc->handlers)) {
		rpc->handlers = handler->next;
		free(handler);
	}
}

static void close_if(void *object)
{
	if (object)
		fi_close(object);
}

/* The objects of libfabric begin with their fid. */
void rpc_close(struct rpc *rpc)
{
	close_if(rpc->ep);
	drop_all(rpc);
	close_if(rpc->mr);
	close_if(rpc->cq);
	close_if(rpc->av);
	close_if(rpc->domain);
	close_if(rpc->fabric);
	if (rpc->info)
		fi_freeinfo(rpc->info);
	free(rpc->receives);
	free(rpc->clients);
	free(rpc);
}

/* ---- memory ---- */

int rpc_mem_open(struct rpc *rpc, void *mem, size_t length, bool peer_reads, bool peer_writes,
		 struct rpc_mem **opened)
{
	uint64_t access = FI_READ | FI_WRITE | (peer_reads ? FI_REMOTE_READ : 0) |
			  (peer_writes ? FI_REMOTE_WRITE : 0);
	struct rpc_mem *new = calloc(1, sizeof(*new));
	int ret;

	if (!new)
		return -ENOMEM;
	/* A provider without FI_MR_PROV_KEY takes the key that it is given. */
	ret = fi_mr_reg(rpc->domain, mem, length, access, 0, ++rpc->key, 0, &new->mr, NULL);
	if (ret) {
		free(new);
		return ret;
	}
	new->rpc = rpc;
	new->mem = mem;
	new->length = length;
	*opened = new;
	return 0;
}

void rpc_mem_close(struct rpc_mem *mem)
{
	fi_close(&mem->mr->fid);
	free(mem);
}

struct rpc_bulk rpc_mem_bulk(const struct rpc_mem *mem)
{
	bool is_virtual = mem->rpc->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR;

	return (struct rpc_bulk){
		.addr = is_virtual ? (uintptr_t)mem->mem : 0,
		.key = fi_mr_key(mem->mr),
		.length = mem->length,
	};
}

/* ---- messages ---- */

static struct rpc_bulk swap(struct rpc_bulk bulk)
{
	return (struct rpc_bulk){ htole64(bulk.addr), htole64(bulk.key), htole64(bulk.length) };
}

/* Returns the bytes that are to be sent. */
static size_t fill(struct rpc *rpc, struct message *m, unsigned int kind, uint64_t sequence,
		   const void *data, size_t length)
{
	memset(m, 0, HEADER);
	m->magic = htole32(MAGIC);
	m->kind = htole32(kind);
	m->sequence = htole64(sequence);
	m->addr_length = htole32(rpc->addr_length);
	m->length = htole32(length);
	memcpy(m->addr, rpc->addr, rpc->addr_length);
	if (length)
		memcpy(m->data, data, length);
	return HEADER + length;
}

static struct message *copy_of(const struct message *m, size_t size)
{
	struct message *copy = malloc(size);

	if (copy)
		memcpy(copy, m, size);
	return copy;
}

int rpc_lookup(struct rpc *rpc, const char *address, const char *port, uint64_t *peer)
{
	fi_addr_t addr;

	if (fi_av_insertsvc(rpc->av, address, port, &addr, 0, NULL) != 1)
		return -EADDRNOTAVAIL;
	*peer = addr;
	return 0;
}

int rpc_call(struct rpc *rpc, uint64_t peer, const char *name, const void *data, size_t length,
	     const struct rpc_bulk *bulk, unsigned int timeout_ms, rpc_done done, void *arg)
{
	struct message *m = &rpc->scratch;
	struct call *call;

	if (length > RPC_DATA_MAX)
		return -EMSGSIZE;
	call = calloc(1, sizeof(*call));
	if (!call)
		return -ENOMEM;
	call->rpc = rpc;
	call->sequence = ++rpc->sequence;
	call->deadline = now_ms() + timeout_ms;
	call->peer = peer;
	call->done = done;
	call->arg = arg;
	call->size = fill(rpc, m, KIND_CALL, call->sequence, data, length);
	m->handler = htole64(id_of(name));
	m->timeout_ms = htole32(timeout_ms);
	if (bulk)
		m->bulk = swap(*bulk);
	call->unsent = copy_of(m, call->size);
	if (!call->unsent) {
		free(call);
		return -ENOMEM;
	}
	list_add(&rpc->calls, &call->node);
	return 0;
}

/* ---- requests ---- */

int rpc_register(struct rpc *rpc, const char *name, rpc_handler run, void *arg)
{
	struct handler *handler;
	uint64_t id = id_of(name);

	for (handler = rpc->handlers; handler; handler = handler->next)
		if (handler->id == id)
			return -EEXIST;
	handler = calloc(1, sizeof(*handler));
	if (!handler)
		return -ENOMEM;
	handler->id = id;
	handler->run = run;
	handler->arg = arg;
	handler->next = rpc->handlers;
	rpc->handlers = handler;
	return 0;
}

struct rpc_bulk rpc_request_bulk(const struct rpc_request *request)
{
	return request->bulk;
}

bool rpc_request_is_late(const struct rpc_request *request)
{
	return now_ms() >= request->deadline;
}

/* A request that still has transfers under way is answered when they have ended. */
int rpc_reply(struct rpc_request *request, int status, const void *data, size_t length)
{
	struct rpc *rpc = request->rpc;
	struct message *m = &rpc->scratch;

	if (length > RPC_DATA_MAX || request->unsent)
		return -EINVAL;
	request->size = fill(rpc, m, KIND_REPLY, request->sequence, data, length);
	m->status = (int32_t)htole32(status);
	request->unsent = copy_of(m, request->size);
	return request->unsent ? 0 : -ENOMEM;
}

/* The caller's number for replies. Returns 0 or -errno. */
static int find_client(struct rpc *rpc, const struct message *m, fi_addr_t *peer)
{
	size_t i, length = le32toh(m->addr_length);
	struct client *clients;

	if (length != rpc->addr_length)
		return -EINVAL;
	for (i = 0; i < rpc->nr_clients; i++)
		if (!memcmp(rpc->clients[i].addr, m->addr, length)) {
			*peer = rpc->clients[i].peer;
			return 0;
		}
	clients = realloc(rpc->clients, (rpc->nr_clients + 1) * sizeof(*clients));
	if (!clients)
		return -ENOMEM;
	rpc->clients = clients;
	if (fi_av_insert(rpc->av, m->addr, 1, peer, 0, NULL) != 1)
		return -EADDRNOTAVAIL;
	clients[rpc->nr_clients] = (struct client){ .length = length, .peer = *peer };
	memcpy(clients[rpc->nr_clients++].addr, m->addr, length);
	return 0;
}

static struct handler *find_handler(struct rpc *rpc, uint64_t id)
{
	struct handler *handler;

	for (handler = rpc->handlers; handler && handler->id != id; handler = handler->next)
		;
	return handler;
}

static void take_call(struct rpc *rpc, const struct message *m)
{
	struct handler *handler = find_handler(rpc, le64toh(m->handler));
	struct rpc_request *request = calloc(1, sizeof(*request));

	if (!request || find_client(rpc, m, &request->peer)) {
		free(request);
		return;
	}
	request->rpc = rpc;
	request->sequence = le64toh(m->sequence);
	request->deadline = now_ms() + le32toh(m->timeout_ms);
	request->bulk = swap(m->bulk);
	list_add(&rpc->requests, &request->node);
	if (!handler) {
		rpc_reply(request, -ENOENT, NULL, 0);
		return;
	}
	rpc->callbacks++;
	handler->run(request, m->data, le32toh(m->length), handler->arg);
}

/* The reply to a call that has ended already finds none. */
static void take_reply(struct rpc *rpc, const struct message *m)
{
	struct node *at;

	for (at = rpc->calls.next; at != &rpc->calls; at = at->next)
		if (of(at, struct call)->sequence == le64toh(m->sequence)) {
			end_call(of(at, struct call), (int32_t)le32toh(m->status), m->data,
				 le32toh(m->length));
			return;
		}
}

/* A peer may send anything. */
static void take_message(struct rpc *rpc, const struct message *m, size_t size)
{
	if (size < HEADER || size - HEADER != le32toh(m->length) || le32toh(m->magic) != MAGIC)
		return;
	if (le32toh(m->kind) == KIND_CALL)
		take_call(rpc, m);
	else if (le32toh(m->kind) == KIND_REPLY)
		take_reply(rpc, m);
}

/* ---- transfers ---- */

static int move(struct rpc_request *request, uint64_t offset, struct rpc_mem *mem, size_t at,
		size_t length, bool is_read, rpc_moved moved, void *arg)
{
	struct transfer *transfer;

	if (offset > request->bulk.length || length > request->bulk.length - offset ||
	    at > mem->length || length > mem->length - at)
		return -ERANGE;
	transfer = calloc(1, sizeof(*transfer));
	if (!transfer)
		return -ENOMEM;
	transfer->request = request;
	transfer->mem = mem;
	transfer->is_read = is_read;
	transfer->offset = offset;
	transfer->at = at;
	transfer->left = length;
	transfer->moved = moved;
	transfer->arg = arg;
	request->moving++;
	list_add(&request->rpc->transfers, &transfer->node);
	return 0;
}

int rpc_pull(struct rpc_request *request, uint64_t offset, struct rpc_mem *mem, size_t at,
	     size_t length, rpc_moved moved, void *arg)
{
	return move(request, offset, mem, at, length, true, moved, arg);
}

int rpc_push(struct rpc_request *request, uint64_t offset, struct rpc_mem *mem, size_t at,
	     size_t length, rpc_moved moved, void *arg)
{
	return move(request, offset, mem, at, length, false, moved, arg);
}

static void end_transfer(struct transfer *transfer, int error)
{
	struct rpc_request *request = transfer->request;

	list_del(&transfer->node);
	request->moving--;
	request->rpc->callbacks++;
	transfer->moved(request, transfer->arg, error);
	free(transfer);
}

static int post_part(struct rpc *rpc, struct transfer *t)
{
	uint8_t *mem = t->mem->mem + t->at;
	void *desc = fi_mr_desc(t->mem->mr);
	const struct rpc_bulk *bulk = &t->request->bulk;

	t->part = t->left;
	if (t->part > rpc->info->ep_attr->max_msg_size)
		t->part = rpc->info->ep_attr->max_msg_size;
	if (t->is_read)
		return fi_read(rpc->ep, mem, t->part, desc, t->request->peer,
			       bulk->addr + t->offset, bulk->key, &t->context);
	return fi_write(rpc->ep, mem, t->part, desc, t->request->peer, bulk->addr + t->offset,
			bulk->key, &t->context);
}

static void advance(struct rpc *rpc, struct transfer *transfer)
{
	int ret;

	if (!transfer->left) {
		end_transfer(transfer, 0);
		return;
	}
	if (rpc_request_is_late(transfer->request)) {
		end_transfer(transfer, -ETIMEDOUT);
		return;
	}
	ret = post_part(rpc, transfer);
	if (!ret)
		transfer->is_posted = true;
	else if (ret != -FI_EAGAIN)
		end_transfer(transfer, ret);
}

static void part_moved(struct transfer *transfer, int error)
{
	transfer->is_posted = false;
	if (error) {
		end_transfer(transfer, error);
		return;
	}
	transfer->offset += transfer->part;
	transfer->at += transfer->part;
	transfer->left -= transfer->part;
}

/* ---- progress ---- */

/* Contexts are those of receives, which are an array, and of transfers. */
static struct receive *receive_of(struct rpc *rpc, void *context)
{
	struct receive *receive = of_context(context, struct receive);

	return receive >= rpc->receives && receive < rpc->receives + RECEIVES ? receive : NULL;
}

static int completed(struct rpc *rpc, void *context, size_t length, int error)
{
	struct receive *receive;

	if (!context)
		return 0;
	receive = receive_of(rpc, context);
	if (!receive) {
		part_moved(of_context(context, struct transfer), error);
		return 0;
	}
	if (!error)
		take_message(rpc, &receive->message, length);
	return post_receive(rpc, receive);
}

static int read_completions(struct rpc *rpc)
{
	struct fi_cq_err_entry error = { 0 };
	struct fi_cq_msg_entry entry;
	ssize_t n;
	int ret = 0;

	while (!ret) {
		n = fi_cq_read(rpc->cq, &entry, 1);
		if (n == -FI_EAGAIN)
			break;
		if (n == 1) {
			ret = completed(rpc, entry.op_context, entry.len, 0);
			continue;
		}
		if (n != -FI_EAVAIL || fi_cq_readerr(rpc->cq, &error, 0) != 1)
			return (int)n;
		ret = completed(rpc, error.op_context, 0, -error.err);
	}
	return ret;
}

/* Returns true if nothing is left to send. */
static bool send_unsent(struct rpc *rpc, struct message **unsent, size_t size, uint64_t peer)
{
	if (*unsent && !fi_inject(rpc->ep, *unsent, size, peer)) {
		free(*unsent);
		*unsent = NULL;
	}
	return !*unsent;
}

/*
 * Post what waits, and end what is late. Returns true if something waits to be posted. A callback
 * may add to the lists, but removes nothing from them.
 */
static bool post_waiting(struct rpc *rpc)
{
	struct node *at, *next;
	bool waits = false;

	for (at = rpc->transfers.next; at != &rpc->transfers; at = next) {
		next = at->next;
		if (!of(at, struct transfer)->is_posted)
			advance(rpc, of(at, struct transfer));
	}
	for (at = rpc->transfers.next; at != &rpc->transfers; at = at->next)
		waits |= !of(at, struct transfer)->is_posted;
	for (at = rpc->requests.next; at != &rpc->requests; at = next) {
		struct rpc_request *request = of(at, struct rpc_request);

		next = at->next;
		if (!request->unsent || request->moving)
			continue;
		if (send_unsent(rpc, &request->unsent, request->size, request->peer) ||
		    rpc_request_is_late(request))
			drop_request(request);
		else
			waits = true;
	}
	for (at = rpc->calls.next; at != &rpc->calls; at = next) {
		struct call *call = of(at, struct call);

		next = at->next;
		if (now_ms() >= call->deadline)
			end_call(call, -ETIMEDOUT, NULL, 0);
		else
			waits |= !send_unsent(rpc, &call->unsent, call->size, call->peer);
	}
	return waits;
}

static int until_next_deadline(struct rpc *rpc, int timeout_ms)
{
	uint64_t now = now_ms();
	struct node *at;

	for (at = rpc->calls.next; at != &rpc->calls; at = at->next) {
		uint64_t deadline = of(at, struct call)->deadline;

		if (deadline <= now)
			return 0;
		if (timeout_ms < 0 || deadline - now < (uint64_t)timeout_ms)
			timeout_ms = (int)(deadline - now);
	}
	return timeout_ms;
}

int rpc_progress(struct rpc *rpc, int timeout_ms)
{
	unsigned long callbacks = rpc->callbacks;
	struct fi_cq_msg_entry entry;
	bool waits;
	ssize_t n;
	int ret;

	ret = read_completions(rpc);
	if (ret)
		return ret;
	waits = post_waiting(rpc);
	/* A callback may have ended the last call, and then nothing would end the wait. */
	if (!timeout_ms || rpc->callbacks != callbacks)
		return 0;
	/* Room for what waits shows in the completion queue, a connection that failed does not. */
	if (waits)
		timeout_ms = 1;
	n = fi_cq_sread(rpc->cq, &entry, 1, NULL, until_next_deadline(rpc, timeout_ms));
	if (n == 1)
		ret = completed(rpc, entry.op_context, entry.len, 0);
	if (!ret)
		ret = read_completions(rpc);
	if (!ret)
		post_waiting(rpc);
	return ret;
}
