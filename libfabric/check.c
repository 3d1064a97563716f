// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Does an info satisfy the hints? Each refusal says why, at the log level "info".
 */
#include <strings.h>

#include "fi_kverbs.h"

#define RMA_WAYS (FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE)

static bool refuse(const char *what)
{
	kvf_info(CORE, "the hints do not match: %s\n", what);
	return false;
}

/* Modes that an application has to support, unless it has no use for what requires them */
static uint64_t needed_mode(const struct fi_info *info, const struct fi_info *hints)
{
	bool wants_data = hints->domain_attr && hints->domain_attr->cq_data_size;

	return wants_data ? info->mode : info->mode & ~FI_RX_CQ_DATA;
}

/* The API before 1.5 knows FI_MR_BASIC and FI_MR_SCALABLE only. */
static bool is_old(uint32_t version)
{
	return FI_VERSION_LT(version, FI_VERSION(1, 5));
}

/* With the registration cache a buffer need not be registered. */
static bool needs_local(const struct fi_info *info)
{
	return info->domain_attr->mr_mode & FI_MR_LOCAL;
}

/*
 * With FI_MR_UNSPEC the application leaves the mode to the provider, and FI_MR_BASIC stands for
 * all but FI_MR_LOCAL, which is then the mode FI_LOCAL_MR.
 */
static bool check_mr_mode(uint32_t version, const struct fi_info *info,
			  const struct fi_info *hints)
{
	int mode = hints->domain_attr ? hints->domain_attr->mr_mode : FI_MR_UNSPEC;
	int needed = info->domain_attr->mr_mode;
	bool has_local = !needs_local(info) || hints->mode & FI_LOCAL_MR;

	if (mode == FI_MR_UNSPEC)
		return !is_old(version) || has_local;
	if (mode == FI_MR_BASIC)
		return has_local;
	return !is_old(version) && (mode & needed) == needed;
}

static bool check_threading(enum fi_threading threading)
{
	return threading <= FI_THREAD_ENDPOINT;
}

static bool check_domain(const struct fi_info *info, const struct fi_info *hints)
{
	const struct fi_domain_attr *has = info->domain_attr, *wants = hints->domain_attr;

	if (!wants)
		return true;
	if (wants->name && strcasecmp(wants->name, has->name))
		return refuse("domain name");
	if (!check_threading(wants->threading))
		return refuse("threading");
	if (wants->resource_mgmt == FI_RM_ENABLED && has->resource_mgmt != FI_RM_ENABLED)
		return refuse("resource_mgmt");
	if (wants->cq_data_size > has->cq_data_size)
		return refuse("cq_data_size");
	if (wants->cntr_cnt > has->cntr_cnt)
		return refuse("number of counters");
	if (wants->mr_key_size && wants->mr_key_size < has->mr_key_size)
		return refuse("mr_key_size");
	if (wants->mr_iov_limit > has->mr_iov_limit)
		return refuse("mr_iov_limit");
	if (wants->caps & ~has->caps)
		return refuse("capabilities of the domain");
	return true;
}

static bool check_ep(const struct fi_info *info, const struct fi_info *hints)
{
	const struct fi_ep_attr *has = info->ep_attr, *wants = hints->ep_attr;

	if (!wants)
		return true;
	if (wants->type != FI_EP_UNSPEC && wants->type != has->type)
		return refuse("endpoint type");
	if (wants->protocol != FI_PROTO_UNSPEC && wants->protocol != has->protocol)
		return refuse("protocol");
	if (wants->max_msg_size > has->max_msg_size)
		return refuse("max_msg_size");
	if (wants->tx_ctx_cnt > has->tx_ctx_cnt || wants->rx_ctx_cnt > has->rx_ctx_cnt)
		return refuse("contexts of an endpoint");
	if (wants->max_order_raw_size > has->max_order_raw_size ||
	    wants->max_order_war_size > has->max_order_war_size ||
	    wants->max_order_waw_size > has->max_order_waw_size)
		return refuse("ordered sizes");
	if (wants->auth_key_size)
		return refuse("authorization key");
	return true;
}

/* Flags that a default of operations may have */
#define TX_FLAGS (FI_INJECT | FI_COMPLETION | FI_INJECT_COMPLETE | FI_TRANSMIT_COMPLETE)

static bool check_tx(const struct fi_info *info, const struct fi_info *hints)
{
	const struct fi_tx_attr *has = info->tx_attr, *wants = hints->tx_attr;

	if (!wants)
		return true;
	if (wants->caps & ~KVF_CAPS)
		return refuse("transmit capabilities");
	if (wants->op_flags & ~TX_FLAGS)
		return refuse("transmit flags");
	if (wants->msg_order & ~has->msg_order)
		return refuse("order of messages");
	if (wants->comp_order & ~has->comp_order)
		return refuse("order of completions");
	if (wants->inject_size > has->inject_size)
		return refuse("inject_size");
	if (wants->size > has->size)
		return refuse("size of the transmit queue");
	if (wants->iov_limit > has->iov_limit || wants->rma_iov_limit > has->rma_iov_limit)
		return refuse("iov_limit");
	return true;
}

static bool check_rx(const struct fi_info *info, const struct fi_info *hints)
{
	const struct fi_rx_attr *has = info->rx_attr, *wants = hints->rx_attr;

	if (!wants)
		return true;
	if (wants->caps & ~KVF_CAPS)
		return refuse("receive capabilities");
	if (wants->op_flags & ~FI_COMPLETION)
		return refuse("receive flags");
	if (wants->msg_order & ~has->msg_order)
		return refuse("order of messages");
	if (wants->comp_order & ~has->comp_order)
		return refuse("order of completions");
	if (wants->total_buffered_recv > has->total_buffered_recv)
		return refuse("buffered receives");
	if (wants->size > has->size)
		return refuse("size of the receive queue");
	if (wants->iov_limit > has->iov_limit)
		return refuse("iov_limit");
	return true;
}

static bool check_format(const struct fi_info *info, const struct fi_info *hints)
{
	return hints->addr_format == FI_FORMAT_UNSPEC || hints->addr_format == FI_SOCKADDR ||
	       hints->addr_format == info->addr_format;
}

bool kvf_check(uint32_t version, const struct fi_info *info, const struct fi_info *hints)
{
	if (!hints)
		return true;
	if (!check_mr_mode(version, info, hints))
		return refuse("mr_mode");
	if (hints->caps & ~info->caps)
		return refuse("capabilities");
	if (needed_mode(info, hints) & ~hints->mode)
		return refuse("mode");
	if (!check_format(info, hints))
		return refuse("address format");
	if (hints->fabric_attr && hints->fabric_attr->name &&
	    strcasecmp(hints->fabric_attr->name, info->fabric_attr->name))
		return refuse("fabric name");
	return check_domain(info, hints) && check_ep(info, hints) && check_tx(info, hints) &&
	       check_rx(info, hints);
}

static void adopt_domain(struct fi_info *info, const struct fi_info *hints)
{
	const struct fi_domain_attr *wants = hints->domain_attr;

	if (!wants)
		return;
	if (wants->threading)
		info->domain_attr->threading = wants->threading;
	if (wants->control_progress)
		info->domain_attr->control_progress = wants->control_progress;
	if (wants->data_progress)
		info->domain_attr->data_progress = wants->data_progress;
	if (wants->resource_mgmt)
		info->domain_attr->resource_mgmt = wants->resource_mgmt;
	if (wants->av_type)
		info->domain_attr->av_type = wants->av_type;
}

/* An application gets the capabilities that it asks for; how peers are reached is no choice. */
static void adopt_caps(uint32_t version, struct fi_info *info, uint64_t wants)
{
	uint64_t locality = is_old(version) ? 0 : FI_LOCAL_COMM | FI_REMOTE_COMM;
	uint64_t caps = wants ? wants & (KVF_TX_CAPS | KVF_RX_CAPS) : KVF_TX_CAPS | KVF_RX_CAPS;

	if (caps & FI_MSG && !(caps & (FI_SEND | FI_RECV)))
		caps |= FI_SEND | FI_RECV;
	if (caps & FI_RMA && !(caps & RMA_WAYS))
		caps |= RMA_WAYS;
	info->caps = caps | locality;
	info->tx_attr->caps = caps & KVF_TX_CAPS;
	info->rx_attr->caps = caps & KVF_RX_CAPS;
	info->domain_attr->caps = locality;
}

static void adopt_mr_mode(uint32_t version, struct fi_info *info, const struct fi_info *hints)
{
	int mode = hints && hints->domain_attr ? hints->domain_attr->mr_mode : FI_MR_UNSPEC;

	if (!is_old(version) && mode != FI_MR_BASIC)
		return;
	if (needs_local(info))
		info->mode |= FI_LOCAL_MR;
	info->domain_attr->mr_mode = FI_MR_BASIC;
}

void kvf_adopt(uint32_t version, struct fi_info *info, const struct fi_info *hints)
{
	bool sized = false;

	adopt_caps(version, info, hints ? hints->caps : 0);
	adopt_mr_mode(version, info, hints);
	if (hints && !(hints->mode & FI_RX_CQ_DATA)) {
		info->mode &= ~FI_RX_CQ_DATA;
		info->rx_attr->mode &= ~FI_RX_CQ_DATA;
	}
	if (hints && hints->tx_attr) {
		info->tx_attr->op_flags = hints->tx_attr->op_flags;
		if (hints->tx_attr->size) {
			info->tx_attr->size = hints->tx_attr->size;
			sized = true;
		}
	}
	if (!sized)
		info->tx_attr->size = kvf_param.tx_size;
	sized = false;
	if (hints && hints->rx_attr) {
		info->rx_attr->op_flags = hints->rx_attr->op_flags;
		if (hints->rx_attr->size) {
			info->rx_attr->size = hints->rx_attr->size;
			sized = true;
		}
	}
	if (!sized)
		info->rx_attr->size = kvf_param.rx_size;
	if (hints)
		adopt_domain(info, hints);
}
