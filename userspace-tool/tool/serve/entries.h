/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The server's side of kverbs ls and kverbs rm. */
#ifndef KVERBS_TOOL_ENTRIES_H
#define KVERBS_TOOL_ENTRIES_H

#include "serve/files.h"

/* Answer @first and the requests after it until the client leaves. */
int entries_serve(struct session *s, const struct files_conf *conf, const struct wire_msg *first);

#endif /* KVERBS_TOOL_ENTRIES_H */
