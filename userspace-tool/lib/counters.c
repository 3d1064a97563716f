// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Counters of devices: those of the driver, which differ from one to the next, and those of the
 * port. Only some of the latter are read, since each may cost the device a management packet.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counters.h"
#include "sys.h"

#define NR(array) (sizeof(array) / sizeof((array)[0]))
#define SYS "/sys/class/infiniband"

/**
 * struct count - a counter
 * @device: the device's name
 * @port: the port
 * @name: the counter's name
 * @value: how much it was
 */
struct count {
	char device[64];
	unsigned int port;
	char name[KVERBS_COUNTER_NAME];
	uint64_t value;
};

/**
 * struct kverbs_counters - all counters at one time
 * @count: the counters
 * @nr: length of @count
 * @room: number of counters that @count has room for
 */
struct kverbs_counters {
	struct count *count;
	unsigned int nr;
	unsigned int room;
};

/* Names in the drivers of Linux 6.12. */
static const struct {
	const char *name;
	enum kverbs_counter_kind kind;
} kinds[] = {
	/* rxe */
	{ "sent_pkts", KVERBS_COUNTER_SENT },
	{ "rcvd_pkts", KVERBS_COUNTER_RECEIVED },
	{ "rcvd_seq_err", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "out_of_seq_request", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "duplicate_request", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "rcvd_rnr_err", KVERBS_COUNTER_RNR_NAK },
	{ "retry_rnr_exceeded_err", KVERBS_COUNTER_RNR_NAK },
	{ "send_rnr_err", KVERBS_COUNTER_NO_RECEIVE },
	{ "completer_retry_err", KVERBS_COUNTER_ACK_TIMEOUT },
	{ "retry_exceeded_err", KVERBS_COUNTER_ACK_TIMEOUT },
	{ "link_downed", KVERBS_COUNTER_LINK },
	/* mlx5, mlx4 */
	{ "out_of_sequence", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "packet_seq_err", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "implied_nak_seq_err", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "roce_adp_retrans", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "rq_num_oos", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "sq_num_oos", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "rnr_nak_retry_err", KVERBS_COUNTER_RNR_NAK },
	{ "req_rnr_retries_exceeded", KVERBS_COUNTER_RNR_NAK },
	{ "sq_num_rnr", KVERBS_COUNTER_RNR_NAK },
	{ "out_of_buffer", KVERBS_COUNTER_NO_RECEIVE },
	{ "rq_num_rnr", KVERBS_COUNTER_NO_RECEIVE },
	{ "local_ack_timeout_err", KVERBS_COUNTER_ACK_TIMEOUT },
	{ "req_transport_retries_exceeded", KVERBS_COUNTER_ACK_TIMEOUT },
	{ "roce_adp_retrans_to", KVERBS_COUNTER_ACK_TIMEOUT },
	{ "sq_num_to", KVERBS_COUNTER_ACK_TIMEOUT },
	{ "np_cnp_sent", KVERBS_COUNTER_CNP },
	{ "np_ecn_marked_roce_packets", KVERBS_COUNTER_CNP },
	{ "rp_cnp_handled", KVERBS_COUNTER_CNP },
	{ "cc_rx_ce_pkts", KVERBS_COUNTER_CNP },
	{ "cc_rx_cnp_pkts", KVERBS_COUNTER_CNP },
	{ "cc_tx_cnp_pkts", KVERBS_COUNTER_CNP },
	{ "rx_icrc_encapsulated", KVERBS_COUNTER_DISCARD },
	{ "req_remote_access_errors", KVERBS_COUNTER_ACCESS },
	{ "resp_remote_access_errors", KVERBS_COUNTER_ACCESS },
	/* bnxt_re */
	{ "tx_pkts", KVERBS_COUNTER_SENT },
	{ "rx_pkts", KVERBS_COUNTER_RECEIVED },
	{ "seq_err_naks_rcvd", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "missing_resp", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "oos_drop_count", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "dup_req", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "rnr_naks_rcvd", KVERBS_COUNTER_RNR_NAK },
	{ "rx_out_of_buffer", KVERBS_COUNTER_NO_RECEIVE },
	{ "to_retransmits", KVERBS_COUNTER_ACK_TIMEOUT },
	{ "max_retry_exceeded", KVERBS_COUNTER_ACK_TIMEOUT },
	{ "tx_cnp_pkts", KVERBS_COUNTER_CNP },
	{ "rx_cnp_pkts", KVERBS_COUNTER_CNP },
	{ "rx_ecn_marked_pkts", KVERBS_COUNTER_CNP },
	{ "tx_roce_discards", KVERBS_COUNTER_DISCARD },
	{ "rx_roce_discards", KVERBS_COUNTER_DISCARD },
	{ "rx_roce_errors", KVERBS_COUNTER_DISCARD },
	{ "remote_access_err", KVERBS_COUNTER_ACCESS },
	/* irdma, cxgb4 */
	{ "TxUDP", KVERBS_COUNTER_SENT },
	{ "RxUDP", KVERBS_COUNTER_RECEIVED },
	{ "tcpRetransSegs", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "ip4RetransSegs", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "ip6RetransSegs", KVERBS_COUNTER_OUT_OF_SEQUENCE },
	{ "cnpSent", KVERBS_COUNTER_CNP },
	{ "cnpHandled", KVERBS_COUNTER_CNP },
	{ "RxECNMrkd", KVERBS_COUNTER_CNP },
	{ "ip4InDiscards", KVERBS_COUNTER_DISCARD },
	{ "ip6InDiscards", KVERBS_COUNTER_DISCARD },
	/* the port's own */
	{ "port_xmit_packets", KVERBS_COUNTER_SENT },
	{ "port_rcv_packets", KVERBS_COUNTER_RECEIVED },
	{ "port_xmit_discards", KVERBS_COUNTER_DISCARD },
	{ "port_rcv_errors", KVERBS_COUNTER_DISCARD },
	{ "symbol_error", KVERBS_COUNTER_DISCARD },
};

static const char * const port_counters[] = {
	"port_xmit_packets", "port_rcv_packets", "port_xmit_discards", "port_rcv_errors",
	"symbol_error", "link_downed",
};

static enum kverbs_counter_kind kind_of(const char *name)
{
	unsigned int i;

	for (i = 0; i < NR(kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return kinds[i].kind;
	return KVERBS_COUNTER_OTHER;
}

int kverbs_sysfs_read(char *buf, size_t room, const char *fmt, ...)
{
	char path[KVERBS_SYSFS_PATH];
	va_list ap;
	int n;

	*buf = '\0';
	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	if (n >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return kverbs_sys_read_text(path, buf, room);
}

static int add(struct kverbs_counters *c, const char *device, unsigned int port,
	       const char *name, uint64_t value)
{
	struct count *count = c->count;

	if (c->nr == c->room) {
		count = realloc(count, (c->room + 64) * sizeof(*count));
		if (!count)
			return -ENOMEM;
		c->count = count;
		c->room += 64;
	}
	count += c->nr++;
	memset(count, 0, sizeof(*count));
	snprintf(count->device, sizeof(count->device), "%s", device);
	snprintf(count->name, sizeof(count->name), "%s", name);
	count->port = port;
	count->value = value;
	return 0;
}

/* Files that are no counters, such as the lifespan of the others, have no number or no name. */
static int add_file(struct kverbs_counters *c, const char *device, unsigned int port,
		    const char *dir, const char *name)
{
	char text[32], *end;
	uint64_t value;

	if (!strcmp(name, "lifespan") ||
	    kverbs_sysfs_read(text, sizeof(text), SYS "/%s/ports/%u/%s/%s", device, port, dir,
			      name))
		return 0;
	value = strtoull(text, &end, 10);
	return end == text || *end ? 0 : add(c, device, port, name, value);
}

/* The next name that does not begin with a dot, or NULL */
static const char *next(DIR *dir)
{
	const struct dirent *entry;

	do {
		entry = dir ? readdir(dir) : NULL;
	} while (entry && entry->d_name[0] == '.');
	return entry ? entry->d_name : NULL;
}

static DIR *open_dir(const char *fmt, ...)
{
	char path[KVERBS_SYSFS_PATH];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(path, sizeof(path), fmt, ap);
	va_end(ap);
	return n < (int)sizeof(path) ? kverbs_sys_opendir(path) : NULL;
}

static void close_dir(DIR *dir)
{
	if (dir)
		closedir(dir);
}

static int add_port(struct kverbs_counters *c, const char *device, unsigned int port)
{
	DIR *dir = open_dir(SYS "/%s/ports/%u/hw_counters", device, port);
	const char *name;
	unsigned int i;
	int ret = 0;

	while (!ret && (name = next(dir)))
		ret = add_file(c, device, port, "hw_counters", name);
	close_dir(dir);
	for (i = 0; i < NR(port_counters) && !ret; i++)
		ret = add_file(c, device, port, "counters", port_counters[i]);
	return ret;
}

static int add_device(struct kverbs_counters *c, const char *device)
{
	DIR *dir = open_dir(SYS "/%s/ports", device);
	const char *port;
	int ret = 0;

	while (!ret && (port = next(dir)))
		if (isdigit((unsigned char)*port))
			ret = add_port(c, device, strtoul(port, NULL, 10));
	close_dir(dir);
	return ret;
}

static int read_all(struct kverbs_counters *c)
{
	DIR *dir = open_dir(SYS);
	const char *device;
	int ret = 0;

	while (!ret && (device = next(dir)))
		ret = add_device(c, device);
	close_dir(dir);
	return ret;
}

int kverbs_counters_read(struct kverbs_counters **counters)
{
	struct kverbs_counters *c = calloc(1, sizeof(*c));
	int saved = errno, ret = -ENOMEM;

	if (c)
		ret = read_all(c);
	if (ret)
		kverbs_counters_free(c);
	else
		*counters = c;
	errno = saved;
	return ret;
}

void kverbs_counters_free(struct kverbs_counters *counters)
{
	if (!counters)
		return;
	free(counters->count);
	free(counters);
}

static const struct count *find(const struct kverbs_counters *c, const struct count *like)
{
	unsigned int i;

	for (i = 0; i < c->nr; i++)
		if (c->count[i].port == like->port && !strcmp(c->count[i].name, like->name) &&
		    !strcmp(c->count[i].device, like->device))
			return &c->count[i];
	return NULL;
}

/* Counters of a known kind come first, and the larger change before the smaller one. */
static int by_weight(const void *a, const void *b)
{
	const struct kverbs_counter *one = a, *other = b;

	if (!one->kind != !other->kind)
		return !one->kind ? 1 : -1;
	if (one->kind != other->kind)
		return one->kind > other->kind ? -1 : 1;
	return (one->change < other->change) - (one->change > other->change);
}

static void note(struct kverbs_explanation *why, const char *name, uint64_t change)
{
	enum kverbs_counter_kind kind = kind_of(name);
	struct kverbs_counter *counter;

	why->counted |= 1u << kind;
	why->total[kind] += change;
	if (!change || why->nr_counters == KVERBS_EXPLAIN_COUNTERS)
		return;
	counter = &why->counters[why->nr_counters++];
	snprintf(counter->name, sizeof(counter->name), "%s", name);
	counter->kind = kind;
	counter->change = change;
}

static void compare(const struct kverbs_counters *before, const struct kverbs_counters *now,
		    const char *device, unsigned int port, struct kverbs_explanation *why)
{
	const struct count *count, *old;

	for (count = now->count; count < now->count + now->nr; count++) {
		if (count->port != port || strcmp(count->device, device))
			continue;
		old = find(before, count);
		/* A device that was created anew counts from 0. */
		if (old)
			note(why, count->name,
			     count->value - (old->value <= count->value ? old->value : 0));
	}
	qsort(why->counters, why->nr_counters, sizeof(why->counters[0]), by_weight);
}

int kverbs_counters_compare(const struct kverbs_counters *before, const char *device,
			    unsigned int port, struct kverbs_explanation *why)
{
	struct kverbs_counters now = { .count = NULL };
	int saved = errno, ret;

	if (!before)
		return 0;
	ret = add_port(&now, device, port);
	if (!ret)
		compare(before, &now, device, port, why);
	free(now.count);
	errno = saved;
	return ret;
}
