/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
#ifndef KVERBS_LISTEN_CMD_H
#define KVERBS_LISTEN_CMD_H

/* Requests that may wait for an answer at one listener. */
#define KVERBS_MAX_BACKLOG	4096

#endif /* KVERBS_LISTEN_CMD_H */
