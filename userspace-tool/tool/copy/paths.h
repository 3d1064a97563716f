/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Several addresses of one server, of which another is used when one does not answer. */
#ifndef KVERBS_TOOL_PATHS_H
#define KVERBS_TOOL_PATHS_H

#include "cli/opts.h"
#include "peer/session.h"

#define PATHS_MAX 8

/*
 * With another path an idle peer is probed at this interval, so that a loss is noticed within 3
 * seconds. Without CAP_NET_ADMIN the module takes a second. It must exceed the time that a window
 * takes on the slowest link that is of use.
 */
#define PATHS_KEEPALIVE_MS 750
/* How long a connection may take to come up, if another path is tried next */
#define PATHS_CONNECT_MS 5000

/**
 * struct paths - addresses of a server
 * @nr: number of them, at least 1
 * @at: the one in use
 * @lost: whether each has failed since another one was used
 * @host: of each, a name or an address; others than the first own the memory
 * @source: local address of each, or NULL: any
 */
struct paths {
	unsigned int nr;
	unsigned int at;
	bool lost[PATHS_MAX];
	const char *host[PATHS_MAX];
	const char *source[PATHS_MAX];
};

/*
 * The first path is that of @to, the others are @words: ADDRESS, or ADDRESS,SOURCE. Returns 0 or an
 * exit status, having said why. On an error, too, paths_free() it.
 */
int paths_init(struct paths *paths, const struct session_to *to, const struct opts_many *words);
void paths_free(struct paths *paths);
/* Let @to be a path; with @last none is tried after it. */
void paths_use(const struct paths *paths, unsigned int i, struct session_to *to, bool last);
/* Unless the path in use works, use the next one that has not failed; if all have, the next. */
void paths_next(struct paths *paths);

#endif /* KVERBS_TOOL_PATHS_H */
