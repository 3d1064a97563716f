// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * The provider as libfabric loads it, and its parameters.
 */
#include <string.h>

#include "fi_kverbs.h"

#define VERSION FI_VERSION(0, 1)
/* Of several providers with one name libfabric takes the newest. */
#define VERSION_AS_VERBS FI_VERSION(9999, 0)

/*
 * libfabric passes structs as its own headers define them, so a provider fits the versions that
 * have the same layouts as the headers it was built with. struct fi_info changed in 1.20.
 */
#define LAYOUT_FIRST FI_VERSION(1, 17)
#define LAYOUT_NEXT FI_VERSION(1, 20)

_Static_assert(FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION) >= LAYOUT_FIRST &&
	       FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION) < LAYOUT_NEXT,
	       "the provider is for libfabric 1.17 to 1.19");

struct kvf_param kvf_param = {
	.device_node = "/dev/kverbs",
	.inject = 256,
	.tx_size = 128,
	.rx_size = 128,
	.conn_timeout_ms = 10000,
	.keepalive_ms = 60000,
	.mr_cache_entries = 1024,
	.mr_cache_size = 256u << 20,
};

static void cleanup(void)
{
}

struct fi_provider kvf_prov = {
	.version = VERSION,
	.fi_version = FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION),
	.name = "kverbs",
	.getinfo = kvf_getinfo,
	.fabric = kvf_fabric,
	.cleanup = cleanup,
};

static void get_size(const char *name, size_t *value, size_t min, size_t max, const char *help)
{
	size_t size;

	fi_param_define(&kvf_prov, name, FI_PARAM_SIZE_T, "%s (default: %zu)", help, *value);
	if (fi_param_get_size_t(&kvf_prov, name, &size))
		return;
	if (size < min || size > max)
		kvf_warn(CORE, "%s must be %zu to %zu\n", name, min, max);
	else
		*value = size;
}

static void get_params(void)
{
	char *node;

	fi_param_define(&kvf_prov, "device_node", FI_PARAM_STRING, "Device node (default: %s)",
			kvf_param.device_node);
	if (!fi_param_get_str(&kvf_prov, "device_node", &node) && node)
		kvf_param.device_node = node;
	get_size("inject", &kvf_param.inject, 0, 4096, "Bytes that fi_inject() accepts");
	get_size("tx_size", &kvf_param.tx_size, 1, 4096, "Default of tx_attr.size");
	get_size("rx_size", &kvf_param.rx_size, 1, 4096, "Default of rx_attr.size");
	get_size("conn_timeout", &kvf_param.conn_timeout_ms, 1, 86400000,
		 "Time limit for a connection to become established, ms");
	get_size("keepalive", &kvf_param.keepalive_ms, 0, 86400000,
		 "Time after which an idle connection is probed, ms, 0: never");
	get_size("mr_cache", &kvf_param.mr_cache, 0, 1,
		 "1: cache registrations, and register buffers that the program does not");
	get_size("mr_cache_entries", &kvf_param.mr_cache_entries, 0, 65536,
		 "Registrations in the cache that nothing uses");
	get_size("mr_cache_size", &kvf_param.mr_cache_size, 0, SIZE_MAX, "Bytes of them");
}

/*
 * Some programs know a closed list of providers. Since peers of the provider verbs understand this
 * one, it may go by that name, and libfabric's own one is hidden then. The parameters are those of
 * kverbs all the same, so they must have been read.
 */
static void take_name(void)
{
	char *name;

	kvf_prov.name = "kverbs";
	kvf_prov.version = VERSION;
	fi_param_define(&kvf_prov, "name", FI_PARAM_STRING,
			"Name of the provider: verbs, in place of the other one (default: kverbs)");
	if (fi_param_get_str(&kvf_prov, "name", &name) || !name || !strcmp(name, "kverbs"))
		return;
	if (strcmp(name, "verbs")) {
		kvf_warn(CORE, "name must be kverbs or verbs\n");
		return;
	}
	kvf_warn(CORE, "provides verbs by way of %s\n", kvf_param.device_node);
	kvf_prov.name = "verbs";
	kvf_prov.version = VERSION_AS_VERBS;
}

struct fi_provider *fi_prov_ini(void);

__attribute__((visibility("default"))) struct fi_provider *fi_prov_ini(void)
{
	uint32_t version = fi_version();

	if (FI_VERSION_LT(version, LAYOUT_FIRST) || FI_VERSION_GE(version, LAYOUT_NEXT))
		return NULL;
	get_params();
	take_name();
	return &kvf_prov;
}
