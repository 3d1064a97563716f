/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The server's side of copies. */
#ifndef KVERBS_TOOL_FILES_H
#define KVERBS_TOOL_FILES_H

#include "peer/session.h"

int files_serve(struct session *s, int root, bool read_only);

#endif /* KVERBS_TOOL_FILES_H */
