// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Without what they were measured on figures mean nothing. */
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <json-c/json.h>

#include "bench/bench.h"
#include "cli/row.h"

/* The first processor's; others are rarely of another kind. */
static void put_cpu(struct json_object *o)
{
	FILE *f = fopen("/proc/cpuinfo", "r");
	char line[256];

	while (f && fgets(line, sizeof(line), f)) {
		if (strncmp(line, "model name", 10) || !strchr(line, ':'))
			continue;
		line[strcspn(line, "\n")] = '\0';
		row_str(o, "cpu", strchr(line, ':') + 2);
		break;
	}
	if (f)
		fclose(f);
	row_int(o, "cpus", sysconf(_SC_NPROCESSORS_ONLN));
}

static void put_device(struct json_object *o, struct kverbs *kv, uint32_t index)
{
	struct kverbs_device *list;
	int i, n = kverbs_device_list(kv, &list);

	for (i = 0; i < n; i++) {
		if (list[i].attr->out_index != index)
			continue;
		row_str(o, "device", list[i].attr->out_name);
		row_str(o, "provider", list[i].attr->out_driver);
		row_str(o, "firmware", list[i].attr->out_fw_version);
	}
	if (n >= 0)
		kverbs_device_list_free(list, n);
}

static void put_link(struct json_object *o, const struct bench *b)
{
	struct kverbs_cmd_conn_query q;

	if (!b->s.conn || kverbs_conn_query(b->s.conn, &q, sizeof(q)))
		return;
	put_device(o, b->kv, q.out_device_index);
	row_str(o, "transport", kverbs_transport_str(q.out_transport));
	row_int(o, "path_mtu_bytes", q.out_mtu);
}

void bench_env_put(const struct bench *b, struct json_object *to)
{
	struct json_object *o = json_object_new_object();
	struct kverbs_cmd_info info;
	struct utsname uts;

	json_object_object_add(to, "environment", o);
	if (!uname(&uts)) {
		row_str(o, "kernel", uts.release);
		row_str(o, "machine", uts.machine);
	}
	put_cpu(o);
	row_str(o, "kverbs", kverbs_version());
	if (!kverbs_info(b->kv, &info, sizeof(info)))
		row_str(o, "module", info.out_version);
	put_link(o, b);
}
