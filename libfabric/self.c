// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The connection of a domain to itself. The kernel registers an export over an established
 * connection of the group, but fi_mr_reg() must give a key before the application has any. And
 * over this connection no registration waits behind the application's work.
 */
#include <stdlib.h>
#include <string.h>

#include "fi_kverbs.h"
#include "sys.h"

#define RING_ENTRIES 16
#define DEPTH 16

struct kvf_self {
	struct kverbs_ring ring;
	uint32_t listener_id;
	uint32_t active_id;
	uint32_t passive_id;
};

static int start_listening(struct kvf_domain *domain, struct kvf_self *self,
			   struct kverbs_addr *addr)
{
	struct kverbs_cmd_listen cmd = {
		.size = sizeof(cmd),
		.ring_id = self->ring.id,
		.backlog = 1,
	};
	int ret;

	kvf_addr_to_kernel(&cmd.inout_addr, &domain->addr);
	cmd.inout_addr.port = 0;
	ret = kverbs_sys_ioctl(domain->fabric->fd, KVERBS_LISTEN, &cmd);
	self->listener_id = cmd.out_id;
	*addr = cmd.inout_addr;
	return ret;
}

static struct kverbs_conn_param param_of(void)
{
	return (struct kverbs_conn_param){ .sq_depth = DEPTH, .rq_depth = DEPTH };
}

static int start_connecting(struct kvf_domain *domain, struct kvf_self *self,
			    const struct kverbs_addr *addr)
{
	struct kverbs_conn_param param = param_of();
	struct kverbs_cmd_connect cmd = {
		.size = sizeof(cmd),
		.ring_id = self->ring.id,
		.group_id = domain->group_id,
		.dst = *addr,
		.src = *addr,
		.param_uptr = (uintptr_t)&param,
		.param_size = sizeof(param),
		.timeout_ns = kvf_param.conn_timeout_ms * 1000000ull,
	};
	int ret;

	cmd.src.port = 0;
	ret = kverbs_sys_ioctl(domain->fabric->fd, KVERBS_CONNECT, &cmd);
	self->active_id = cmd.out_id;
	return ret;
}

static int accept_request(struct kvf_domain *domain, struct kvf_self *self, uint32_t id)
{
	struct kverbs_conn_param param = param_of();
	struct kverbs_cmd_accept cmd = {
		.size = sizeof(cmd),
		.conn_id = id,
		.group_id = domain->group_id,
		.param_uptr = (uintptr_t)&param,
		.param_size = sizeof(param),
		.timeout_ns = kvf_param.conn_timeout_ms * 1000000ull,
	};

	self->passive_id = id;
	return kverbs_sys_ioctl(domain->fabric->fd, KVERBS_ACCEPT, &cmd);
}

/* Another host may connect to the listener, too: its request is not answered. */
static int handle(struct kvf_domain *domain, struct kvf_self *self,
		  const struct kverbs_cqe *cqe, unsigned int *established)
{
	switch (cqe->type) {
	case KVERBS_CQE_CONN_REQUEST:
		if (self->passive_id)
			return kverbs_sys_destroy(domain->fabric->fd, cqe->id);
		return accept_request(domain, self, cqe->id);
	case KVERBS_CQE_ESTABLISHED:
		++*established;
		return 0;
	case KVERBS_CQE_WORK:
		return 0;
	default:
		if (cqe->id != self->active_id && cqe->id != self->passive_id)
			return 0;
		return cqe->result ? cqe->result : -ECONNRESET;
	}
}

static int establish(struct kvf_domain *domain, struct kvf_self *self)
{
	unsigned int established = 0;
	struct kverbs_addr addr;
	struct kverbs_cqe cqe;
	int ret;

	ret = start_listening(domain, self, &addr);
	if (!ret)
		ret = start_connecting(domain, self, &addr);
	while (!ret && established < 2) {
		ret = kverbs_ring_wait(&self->ring, 0, NULL);
		if (ret == -EINTR)
			ret = 0;
		while (!ret && kverbs_ring_next(&self->ring, &cqe))
			ret = handle(domain, self, &cqe, &established);
		kverbs_ring_seen(&self->ring);
	}
	return ret;
}

static void destroy(struct kvf_domain *domain, uint32_t id)
{
	if (id)
		kverbs_sys_destroy(domain->fabric->fd, id);
}

static void free_self(struct kvf_domain *domain, struct kvf_self *self)
{
	destroy(domain, self->listener_id);
	destroy(domain, self->active_id);
	destroy(domain, self->passive_id);
	kverbs_ring_close(&self->ring);
	free(self);
}

static int make_self(struct kvf_domain *domain, struct kvf_self **made)
{
	struct kvf_self *self;
	int ret;

	self = calloc(1, sizeof(*self));
	if (!self)
		return -FI_ENOMEM;
	ret = kverbs_ring_open(&self->ring, domain->fabric->fd, RING_ENTRIES, RING_ENTRIES, 0,
			       0);
	if (ret) {
		free(self);
		return ret;
	}
	ret = establish(domain, self);
	if (ret) {
		free_self(domain, self);
		kvf_warn(DOMAIN, "the device cannot connect to its own address: %s\n",
			 fi_strerror(-ret));
		return ret;
	}
	destroy(domain, self->listener_id);
	self->listener_id = 0;
	*made = self;
	return 0;
}

/* True if another thread has connected it anew meanwhile. */
static bool is_connected(struct kvf_domain *domain)
{
	struct kverbs_cmd_conn_query query = { .size = sizeof(query) };

	if (!domain->self)
		return false;
	query.conn_id = domain->self->active_id;
	return !kverbs_sys_ioctl(domain->fabric->fd, KVERBS_CONN_QUERY, &query) &&
	       query.out_state == KVERBS_CONN_ESTABLISHED;
}

int kvf_self_connect(struct kvf_domain *domain)
{
	int ret = 0;

	pthread_mutex_lock(&domain->self_lock);
	if (!is_connected(domain)) {
		kvf_self_close(domain);
		ret = make_self(domain, &domain->self);
	}
	pthread_mutex_unlock(&domain->self_lock);
	return ret;
}

void kvf_self_close(struct kvf_domain *domain)
{
	if (domain->self)
		free_self(domain, domain->self);
	domain->self = NULL;
}
