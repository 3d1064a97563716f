// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The iWARP CM of a registered fake device, without a network, and with a peer that the test
 * controls.
 */
#include <linux/in.h>

#include "fake_qp.h"

#define PEER_PORT	4791

static struct ib_qp *get_qp(struct ib_device *ib, int qpn)
{
	return xa_load(&to_fake_hca(ib)->qps, qpn);
}

/* The queue pair outlives the CM's id, so references need not be counted. */
static void no_ref(struct ib_qp *ib)
{
}

static void begin(struct fake_hca *hca, struct iw_cm_id *cm, u32 qpn, bool asked)
{
	struct fake_qp *qp = to_fake_qp(xa_load(&hca->qps, qpn));

	cm->add_ref(cm);
	qp->cm = cm;
	qp->asked = asked;
	hca->pending = &qp->ib;
	complete_all(&hca->asked);
}

static int iw_connect(struct iw_cm_id *cm, struct iw_cm_conn_param *param)
{
	struct fake_hca *hca = to_fake_hca(cm->device);
	int ret = fake_hca_fails(hca, FAKE_CONNECT);

	if (ret)
		return ret;
	begin(hca, cm, param->qpn, true);
	return 0;
}

static int iw_accept(struct iw_cm_id *cm, struct iw_cm_conn_param *param)
{
	struct fake_hca *hca = to_fake_hca(cm->device);
	int ret = fake_hca_fails(hca, FAKE_ACCEPT);

	if (ret)
		return ret;
	begin(hca, cm, param->qpn, false);
	return 0;
}

static int iw_reject(struct iw_cm_id *cm, const void *priv, u8 len)
{
	to_fake_hca(cm->device)->nr_rejects++;
	return 0;
}

static int iw_create_listen(struct iw_cm_id *cm, int backlog)
{
	struct fake_hca *hca = to_fake_hca(cm->device);
	int ret = fake_hca_fails(hca, FAKE_LISTEN);

	if (ret)
		return ret;
	hca->listening = cm;
	return 0;
}

static int iw_destroy_listen(struct iw_cm_id *cm)
{
	to_fake_hca(cm->device)->listening = NULL;
	return 0;
}

const struct ib_device_ops fake_iw_ops = {
	.iw_accept	= iw_accept,
	.iw_add_ref	= no_ref,
	.iw_connect	= iw_connect,
	.iw_create_listen = iw_create_listen,
	.iw_destroy_listen = iw_destroy_listen,
	.iw_get_qp	= get_qp,
	.iw_reject	= iw_reject,
	.iw_rem_ref	= no_ref,
};

/**
 * fake_iw_request() - let the peer request a connection from the listener
 * @hca: the device of the listener
 * @priv: the peer's private data
 * @len: length of @priv
 */
void fake_iw_request(struct fake_hca *hca, const void *priv, u8 len)
{
	struct iw_cm_id *cm = hca->listening;
	struct iw_cm_event event = {
		.event = IW_CM_EVENT_CONNECT_REQUEST,
		.local_addr = cm->local_addr,
		.remote_addr = cm->local_addr,
		.private_data = (void *)priv,
		.private_data_len = len,
		.ord = 4,
		.ird = 4,
	};

	((struct sockaddr_in *)&event.remote_addr)->sin_port = htons(PEER_PORT);
	cm->event_handler(cm, &event);
}

/**
 * fake_iw_answer() - let the peer answer, or complete an accept
 * @hca: the device of the connection; without one nothing happens
 * @status: 0, or for the active side an errno such as -ECONNREFUSED
 * @priv: the peer's private data
 * @len: length of @priv
 */
void fake_iw_answer(struct fake_hca *hca, int status, const void *priv, u8 len)
{
	struct ib_qp *ib = xchg(&hca->pending, NULL);
	struct iw_cm_event event = {
		.status = status,
		.private_data = (void *)priv,
		.private_data_len = len,
		.ord = 4,
		.ird = 4,
	};
	struct iw_cm_id *cm;

	if (!ib)
		return;
	cm = to_fake_qp(ib)->cm;
	event.event = to_fake_qp(ib)->asked ? IW_CM_EVENT_CONNECT_REPLY :
					      IW_CM_EVENT_ESTABLISHED;
	event.local_addr = cm->local_addr;
	event.remote_addr = cm->remote_addr;
	cm->event_handler(cm, &event);
}

/**
 * fake_iw_give_up() - stop waiting for the peer
 * @hca: the device of the connection, if any
 *
 * Every provider does so after some time; the CM destroys no id before that.
 */
void fake_iw_give_up(struct fake_hca *hca)
{
	struct ib_qp *ib = READ_ONCE(hca->pending);

	if (ib)
		fake_iw_answer(hca, to_fake_qp(ib)->asked ? -ECONNRESET : 0, NULL, 0);
}

/**
 * fake_iw_close() - let the peer close the connection
 * @ib: the queue pair of an established connection
 */
void fake_iw_close(struct ib_qp *ib)
{
	struct iw_cm_event event = { .event = IW_CM_EVENT_CLOSE };
	struct fake_qp *qp = to_fake_qp(ib);

	qp->cm->event_handler(qp->cm, &event);
}
