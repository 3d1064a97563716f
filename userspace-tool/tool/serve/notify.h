/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Notifications to the service manager, as of sd_notify(3). */
#ifndef KVERBS_TOOL_NOTIFY_H
#define KVERBS_TOOL_NOTIFY_H

/* Send lines such as "READY=1"; 0 also without a service manager. */
int notify(const char *lines);
/* Announce a reload, with its time. */
int notify_reloading(void);

#endif /* KVERBS_TOOL_NOTIFY_H */
