// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <json-c/json.h>

#include "cli/err.h"
#include "cli/table.h"
#include "watch/rate.h"
#include "watch/snap.h"
#include "watch/snap_json.h"

static void add_moved(struct json_object *o, const struct snap_moved *moved)
{
	row_int(o, "operations", moved->ops);
	row_int(o, "errors", moved->errors);
	row_int(o, "bytes_out", moved->bytes_out);
	row_int(o, "bytes_in", moved->bytes_in);
}

struct json_object *snap_json_conn(const struct snap_conn *conn)
{
	struct json_object *o = json_object_new_object();

	row_int(o, "pid", conn->pid);
	row_str(o, "command", conn->comm);
	row_int(o, "file", conn->file);
	row_int(o, "conn", conn->id);
	row_str(o, "state", conn->state);
	row_str(o, "errno", conn->error ? err_name(conn->error) : "");
	row_str(o, "device", conn->device);
	row_int(o, "qp", conn->qp);
	row_str(o, "local", conn->local);
	row_str(o, "remote", conn->remote);
	row_int(o, "sq_used", conn->sq_used);
	row_int(o, "sq_depth", conn->sq_depth);
	row_int(o, "rq_used", conn->rq_used);
	row_int(o, "rq_depth", conn->rq_depth);
	add_moved(o, &conn->moved);
	return o;
}

struct json_object *snap_json_device(const struct snap_device *device)
{
	struct json_object *o = json_object_new_object();

	row_str(o, "ifname", device->device);
	row_int(o, "connections", device->conns);
	add_moved(o, &device->moved);
	if (device->retries >= 0)
		row_int(o, "retries", device->retries);
	return o;
}

void snap_json_rate(struct json_object *o, const struct rate *rate)
{
	row_num(o, "operations_per_second", rate->ops);
	row_num(o, "bytes_out_per_second", rate->out);
	row_num(o, "bytes_in_per_second", rate->in);
	row_num(o, "errors_per_second", rate->errors);
}

static struct json_object *device_of(const struct snap *now, const struct snap *before,
				     const struct snap_device *device)
{
	struct json_object *o = snap_json_device(device);
	struct rate rate;

	if (!before)
		return o;
	rate = rate_device(now, before, device);
	snap_json_rate(o, &rate);
	if (device->retries >= 0)
		row_num(o, "retries_per_second", rate.retries);
	return o;
}

struct json_object *snap_json_devices(const struct snap *now, const struct snap *before)
{
	struct json_object *devices = json_object_new_array();
	unsigned int i;

	for (i = 0; i < now->nr_devices; i++)
		json_object_array_add(devices, device_of(now, before, &now->devices[i]));
	return devices;
}
