/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* What a service tells the manager that has started it, as sd_notify(3) does. */
#ifndef KVERBS_TOOL_NOTIFY_H
#define KVERBS_TOOL_NOTIFY_H

/* Lines such as "READY=1". Nobody may be there to hear them: then 0. */
int notify(const char *lines);
/* That it reads its files again, which wants to know when. */
int notify_reloading(void);

#endif /* KVERBS_TOOL_NOTIFY_H */
