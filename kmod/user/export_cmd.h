/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_EXPORT_CMD_H
#define KVERBS_EXPORT_CMD_H

#include <linux/list.h>

#include "object.h"

struct kverbs_conn_obj;
struct kverbs_export;

/**
 * struct kverbs_export_obj - an export as user space knows it
 * @obj: the object
 * @conn_obj: the connection; a reference is held
 * @entry: in its list of exports, under its lock
 * @export: the export
 */
struct kverbs_export_obj {
	struct kverbs_object obj;
	struct kverbs_conn_obj *conn_obj;
	struct list_head entry;
	struct kverbs_export *export;
};

#endif /* KVERBS_EXPORT_CMD_H */
