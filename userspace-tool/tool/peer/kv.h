/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Opening the module and the peer, with the failures said. */
#ifndef KVERBS_TOOL_KV_H
#define KVERBS_TOOL_KV_H

#include "peer/session.h"

/*
 * Connect, and authenticate if there is a key. Returns 0, -errno, or an exit status having said
 * why. On an error session_free() it after kv_report().
 */
int kv_try(struct session *s, struct kverbs *kv, const struct session_to *to,
	   const struct wire_hello *hello);
/* Say why kv_try() failed. Returns the exit status. */
int kv_report(struct session *s, const struct session_to *to, int err);

/* Each returns EXIT_OK, or another exit status having said why. */
int kv_open(struct kverbs **kv, unsigned int cq_entries);
int kv_connect(struct session *s, struct kverbs *kv, const struct session_to *to,
	       const struct wire_hello *hello);

#endif /* KVERBS_TOOL_KV_H */
