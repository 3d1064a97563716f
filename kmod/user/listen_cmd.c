// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Listeners, as user space makes and ends them. */
#include <linux/nsproxy.h>
#include <linux/slab.h>

#include "addr.h"
#include "conn_cmd.h"
#include "file.h"
#include "listener.h"
#include "listen_cmd.h"
#include "ring.h"

#define DEFAULT_BACKLOG	128

/**
 * struct kverbs_listener_obj - a listener as user space knows it
 * @obj: the object
 * @listener: the listener
 * @ring: where requests are announced
 * @user_data: what the user calls it
 * @slot: the slot that tells of its end is still reserved
 */
struct kverbs_listener_obj {
	struct kverbs_object obj;
	struct kverbs_listener *listener;
	struct kverbs_ring *ring;
	u64 user_data;
	bool slot;
};

static struct kverbs_listener_obj *to_listener_obj(struct kverbs_object *obj)
{
	return container_of(obj, struct kverbs_listener_obj, obj);
}

static int on_request(struct kverbs_listener *listener, struct rdma_cm_id *id,
		      const struct rdma_cm_event *event)
{
	struct kverbs_listener_obj *obj = listener->owner;

	return kverbs_conn_obj_request(obj->ring, obj->user_data, id, event,
				       listener->backlog);
}

static void on_removed(struct kverbs_listener *listener)
{
	struct kverbs_listener_obj *obj = listener->owner;
	struct kverbs_cqe cqe = {
		.user_data = obj->user_data,
		.id = obj->obj.id,
		.result = -ENODEV,
		.type = KVERBS_CQE_DEVICE_REMOVED,
	};

	obj->slot = false;
	kverbs_ring_event(obj->ring, &cqe);
}

static const struct kverbs_listener_ops listener_ops = {
	.request	= on_request,
	.removed	= on_removed,
};

static int listener_destroy(struct kverbs_object *obj)
{
	struct kverbs_listener_obj *listener_obj = to_listener_obj(obj);

	kverbs_listener_free(listener_obj->listener);
	if (listener_obj->slot)
		kverbs_ring_unreserve(listener_obj->ring, 1);
	atomic_dec(&listener_obj->ring->users);
	kfree_rcu(listener_obj, obj.rcu);
	return 0;
}

static const struct kverbs_object_ops listener_obj_ops = {
	.destroy	= listener_destroy,
};

static struct kverbs_listener_obj *new_listener_obj(const struct kverbs_cmd_listen *cmd,
						    struct kverbs_ring *ring)
{
	struct kverbs_listener_obj *obj = kzalloc(sizeof(*obj), GFP_KERNEL_ACCOUNT);

	if (!obj)
		return NULL;
	obj->ring = ring;
	obj->user_data = cmd->user_data;
	obj->slot = true;
	return obj;
}

static int bind_listener(struct kverbs_listener_obj *obj, struct kverbs_cmd_listen *cmd)
{
	struct sockaddr_storage addr;
	int ret;

	ret = kverbs_addr_in(&cmd->inout_addr, &addr);
	if (ret)
		return ret;
	obj->listener = kverbs_listener_create(current->nsproxy->net_ns,
					       (struct sockaddr *)&addr,
					       cmd->backlog ?: DEFAULT_BACKLOG,
					       &listener_ops, obj);
	if (IS_ERR(obj->listener))
		return PTR_ERR(obj->listener);
	kverbs_addr_out(&addr, &cmd->inout_addr);
	return 0;
}

/* Requests may come as soon as it listens, so that is the last step. */
static int listen_on_ring(struct kverbs_ucmd *ucmd, struct kverbs_ring *ring)
{
	struct kverbs_cmd_listen *cmd = ucmd->cmd;
	struct kverbs_listener_obj *obj;
	int ret;

	obj = new_listener_obj(cmd, ring);
	if (!obj)
		return -ENOMEM;
	ret = kverbs_object_reserve(ucmd->file, &obj->obj, KVERBS_OBJ_LISTENER,
				    &listener_obj_ops);
	if (ret)
		goto out_free_obj;
	ret = kverbs_ring_reserve(ring, 1);
	if (ret)
		goto out_unreserve;
	atomic_inc(&ring->users);
	ret = bind_listener(obj, cmd);
	if (ret)
		goto out_detach;
	ret = kverbs_listener_start(obj->listener);
	if (ret)
		goto out_free_listener;
	cmd->out_id = obj->obj.id;
	ucmd->new = &obj->obj;
	return 0;

out_free_listener:
	kverbs_listener_free(obj->listener);
out_detach:
	atomic_dec(&ring->users);
	if (obj->slot)
		kverbs_ring_unreserve(ring, 1);
out_unreserve:
	kverbs_object_unreserve(&obj->obj);
out_free_obj:
	kfree(obj);
	return ret;
}

int kverbs_cmd_listen(struct kverbs_ucmd *ucmd)
{
	struct kverbs_cmd_listen *cmd = ucmd->cmd;
	struct kverbs_ring *ring;
	int ret;

	if (cmd->flags || cmd->__reserved || cmd->backlog > KVERBS_MAX_BACKLOG)
		return -EINVAL;
	ring = kverbs_ring_get(ucmd->file, cmd->ring_id);
	if (IS_ERR(ring))
		return PTR_ERR(ring);
	ret = listen_on_ring(ucmd, ring);
	kverbs_object_put(&ring->obj);
	return ret;
}
