// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <json-c/json.h>

#include "cli/err.h"
#include "cli/json.h"
#include "watch/rate.h"
#include "watch/snap.h"
#include "watch/snap_json.h"

static void add_moved(struct json_object *o, const struct snap_moved *moved)
{
	json_put_int(o, "operations", moved->ops);
	json_put_int(o, "errors", moved->errors);
	json_put_int(o, "bytes_out", moved->bytes_out);
	json_put_int(o, "bytes_in", moved->bytes_in);
}

struct json_object *snap_json_conn(const struct snap_conn *conn)
{
	struct json_object *o = json_object_new_object();

	json_put_int(o, "pid", conn->pid);
	json_put_str(o, "command", conn->comm);
	json_put_int(o, "file", conn->file);
	json_put_int(o, "conn", conn->id);
	json_put_str(o, "state", conn->state);
	json_put_str(o, "errno", conn->error ? err_name(conn->error) : "");
	json_put_str(o, "device", conn->device);
	json_put_int(o, "qp", conn->qp);
	json_put_str(o, "local", conn->local);
	json_put_str(o, "remote", conn->remote);
	json_put_int(o, "sq_used", conn->sq_used);
	json_put_int(o, "sq_depth", conn->sq_depth);
	json_put_int(o, "rq_used", conn->rq_used);
	json_put_int(o, "rq_depth", conn->rq_depth);
	add_moved(o, &conn->moved);
	return o;
}

struct json_object *snap_json_device(const struct snap_device *device)
{
	struct json_object *o = json_object_new_object();

	json_put_str(o, "ifname", device->device);
	json_put_int(o, "connections", device->conns);
	add_moved(o, &device->moved);
	if (device->retries >= 0)
		json_put_int(o, "retries", device->retries);
	return o;
}

void snap_json_rate(struct json_object *o, const struct rate *rate)
{
	json_put_num(o, "operations_per_second", rate->ops);
	json_put_num(o, "bytes_out_per_second", rate->out);
	json_put_num(o, "bytes_in_per_second", rate->in);
	json_put_num(o, "errors_per_second", rate->errors);
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
		json_put_num(o, "retries_per_second", rate.retries);
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
