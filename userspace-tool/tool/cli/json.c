// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <json-c/json.h>

#include "cli/hist.h"
#include "cli/json.h"

void json_put_int(struct json_object *row, const char *key, uint64_t v)
{
	json_object_object_add(row, key, json_object_new_int64(v));
}

void json_put_num(struct json_object *row, const char *key, double v)
{
	json_object_object_add(row, key, json_object_new_double(v));
}

void json_put_str(struct json_object *row, const char *key, const char *v)
{
	json_object_object_add(row, key, json_object_new_string(v));
}

void json_put_flag(struct json_object *row, const char *key, bool v)
{
	json_object_object_add(row, key, json_object_new_boolean(v));
}

void json_put_times(struct json_object *row, const struct hist *h)
{
	json_put_num(row, "t_min_us", h->rtt.min / 1e3);
	json_put_num(row, "t_max_us", h->rtt.max / 1e3);
	json_put_num(row, "t_typical_us", hist_us(h, 50));
	json_put_num(row, "t_avg_us", h->rtt.mean / 1e3);
	json_put_num(row, "t_stdev_us", rtt_mdev(&h->rtt) / 1e3);
	json_put_num(row, "p50_us", hist_us(h, 50));
	json_put_num(row, "p90_us", hist_us(h, 90));
	json_put_num(row, "p99_us", hist_us(h, 99));
	json_put_num(row, "p99_9_us", hist_us(h, 99.9));
	json_put_num(row, "p99_99_us", hist_us(h, 99.99));
}
