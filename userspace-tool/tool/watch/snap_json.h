/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Connections and devices in JSON. */
#ifndef KVERBS_TOOL_SNAP_JSON_H
#define KVERBS_TOOL_SNAP_JSON_H

struct json_object;
struct rate;
struct snap;
struct snap_conn;
struct snap_device;

struct json_object *snap_json_conn(const struct snap_conn *conn);
struct json_object *snap_json_device(const struct snap_device *device);
void snap_json_rate(struct json_object *o, const struct rate *rate);
/* All devices of a look, with their rates if there was one before. */
struct json_object *snap_json_devices(const struct snap *now, const struct snap *before);

#endif /* KVERBS_TOOL_SNAP_JSON_H */
