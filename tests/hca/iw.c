// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The iWARP CM of a device whose connections begin and end on itself. */
#include <linux/in.h>
#include <linux/slab.h>

#include "hca.h"

#define READ_DEPTH	4
/* The CM drops a request whose listener goes away, and destroys no id that waits for an answer. */
#define ANSWER_PATIENCE	(30 * HZ)

/**
 * struct hca_listener - a listening id
 * @entry: in @listeners of the device
 * @cm: the id
 */
struct hca_listener {
	struct list_head entry;
	struct iw_cm_id *cm;
};

/**
 * struct hca_call - a connection request without an answer
 * @hca: the device
 * @id: its index in @calls of the device; the task that erases it there gives the answer
 * @qp: queue pair of the caller, which waits for the answer, as does the id of its CM
 * @give_up: answers it in the end
 */
struct hca_call {
	struct hca *hca;
	u32 id;
	struct hca_qp *qp;
	struct delayed_work give_up;
};

static struct ib_qp *get_qp(struct ib_device *ib, int qpn)
{
	struct hca_qp *qp = xa_load(&to_hca(ib)->qps, qpn);

	return qp ? &qp->ib : NULL;
}

/* A queue pair outlives the id of its CM, so references need not be counted. */
static void no_ref(struct ib_qp *ib)
{
}

static __be16 port_of(const struct sockaddr_storage *addr)
{
	return ((const struct sockaddr_in *)addr)->sin_port;
}

static struct iw_cm_id *find_listener(struct hca *hca, __be16 port)
{
	struct hca_listener *listener;

	lockdep_assert_held(&hca->cm_lock);
	list_for_each_entry(listener, &hca->listeners, entry)
		if (port_of(&listener->cm->local_addr) == port)
			return listener->cm;
	return NULL;
}

static void answer(struct hca_qp *qp, int status, const void *priv, u8 len)
{
	struct iw_cm_id *cm = qp->cm;
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REPLY,
		.status = status,
		.local_addr = cm->local_addr,
		.remote_addr = cm->remote_addr,
		.private_data = (void *)priv,
		.private_data_len = len,
		.ird = READ_DEPTH,
		.ord = READ_DEPTH,
	};

	cm->event_handler(cm, &event);
}

static struct hca_call *take_call(struct hca *hca, u32 id)
{
	return xa_erase(&hca->calls, id);
}

static void give_up(struct work_struct *work)
{
	struct hca_call *call = container_of(to_delayed_work(work), struct hca_call, give_up);

	if (take_call(call->hca, call->id) != call)
		return;
	answer(call->qp, -ETIMEDOUT, NULL, 0);
	kfree(call);
}

static struct hca_call *new_call(struct hca *hca, struct hca_qp *qp)
{
	struct hca_call *call = kzalloc(sizeof(*call), GFP_KERNEL);
	int ret;

	if (!call)
		return ERR_PTR(-ENOMEM);
	call->hca = hca;
	call->qp = qp;
	INIT_DELAYED_WORK(&call->give_up, give_up);
	ret = xa_alloc_cyclic(&hca->calls, &call->id, call, xa_limit_31b, &hca->next_call,
			      GFP_KERNEL);
	if (ret >= 0)
		return call;
	kfree(call);
	return ERR_PTR(ret);
}

static int tell_listener(struct hca *hca, struct iw_cm_id *cm, struct iw_cm_conn_param *param,
			 struct hca_call *call)
{
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = cm->remote_addr,
		.remote_addr = cm->local_addr,
		.private_data = (void *)param->private_data,
		.private_data_len = param->private_data_len,
		.provider_data = (void *)(uintptr_t)call->id,
		.ird = READ_DEPTH,
		.ord = READ_DEPTH,
	};
	struct iw_cm_id *listener;
	int ret = -ECONNREFUSED;

	mutex_lock(&hca->cm_lock);
	listener = find_listener(hca, port_of(&cm->remote_addr));
	if (listener)
		ret = listener->event_handler(listener, &event);
	mutex_unlock(&hca->cm_lock);
	return ret;
}

static int iw_connect(struct iw_cm_id *cm, struct iw_cm_conn_param *param)
{
	struct hca *hca = to_hca(cm->device);
	struct hca_qp *qp = xa_load(&hca->qps, param->qpn);
	struct hca_call *call = new_call(hca, qp);

	if (IS_ERR(call))
		return PTR_ERR(call);
	cm->add_ref(cm);
	qp->cm = cm;
	schedule_delayed_work(&call->give_up, ANSWER_PATIENCE);
	if (!tell_listener(hca, cm, param, call))
		return 0;
	take_call(hca, call->id);
	cancel_delayed_work_sync(&call->give_up);
	kfree(call);
	answer(qp, -ECONNREFUSED, NULL, 0);
	return 0;
}

/* Returns the queue pair that waits for the answer, or NULL if it does not wait any more. */
static struct hca_qp *end_call(struct hca *hca, const struct iw_cm_id *cm)
{
	struct hca_call *call = take_call(hca, (u32)(uintptr_t)cm->provider_data);
	struct hca_qp *qp;

	if (!call)
		return NULL;
	cancel_delayed_work_sync(&call->give_up);
	qp = call->qp;
	kfree(call);
	return qp;
}

static int iw_accept(struct iw_cm_id *cm, struct iw_cm_conn_param *param)
{
	struct hca *hca = to_hca(cm->device);
	struct hca_qp *qp = xa_load(&hca->qps, param->qpn);
	struct hca_qp *peer = end_call(hca, cm);
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_ESTABLISHED,
		.local_addr = cm->local_addr,
		.remote_addr = cm->remote_addr,
		.ird = READ_DEPTH,
		.ord = READ_DEPTH,
	};

	if (!peer)
		return -ECONNRESET;
	cm->add_ref(cm);
	qp->cm = cm;
	hca_qp_connect(qp, peer);
	cm->event_handler(cm, &event);
	answer(peer, 0, param->private_data, param->private_data_len);
	return 0;
}

static int iw_reject(struct iw_cm_id *cm, const void *priv, u8 len)
{
	struct hca_qp *peer = end_call(to_hca(cm->device), cm);

	if (peer)
		answer(peer, -ECONNREFUSED, priv, len);
	return 0;
}

static int iw_create_listen(struct iw_cm_id *cm, int backlog)
{
	struct hca *hca = to_hca(cm->device);
	struct hca_listener *listener = kzalloc(sizeof(*listener), GFP_KERNEL);

	if (!listener)
		return -ENOMEM;
	listener->cm = cm;
	cm->add_ref(cm);
	cm->provider_data = listener;
	mutex_lock(&hca->cm_lock);
	list_add_tail(&listener->entry, &hca->listeners);
	mutex_unlock(&hca->cm_lock);
	return 0;
}

static int iw_destroy_listen(struct iw_cm_id *cm)
{
	struct hca *hca = to_hca(cm->device);
	struct hca_listener *listener = cm->provider_data;

	mutex_lock(&hca->cm_lock);
	list_del(&listener->entry);
	mutex_unlock(&hca->cm_lock);
	cm->rem_ref(cm);
	kfree(listener);
	return 0;
}

/**
 * hca_iw_close() - tell the CM that a connection has ended
 * @qp: its queue pair, which has been in RTS
 */
void hca_iw_close(struct hca_qp *qp)
{
	struct iw_cm_event event = { .event = IW_CM_EVENT_CLOSE };

	qp->cm->event_handler(qp->cm, &event);
}

const struct ib_device_ops hca_iw_ops = {
	.iw_accept	= iw_accept,
	.iw_add_ref	= no_ref,
	.iw_connect	= iw_connect,
	.iw_create_listen = iw_create_listen,
	.iw_destroy_listen = iw_destroy_listen,
	.iw_get_qp	= get_qp,
	.iw_reject	= iw_reject,
	.iw_rem_ref	= no_ref,
};
