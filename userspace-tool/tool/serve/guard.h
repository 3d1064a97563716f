/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Admission of clients: addresses, keys, limits, and logging of refusals. */
#ifndef KVERBS_TOOL_GUARD_H
#define KVERBS_TOOL_GUARD_H

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/opts.h"
#include "peer/keyring.h"
#include "peer/wire.h"
#include "serve/allow.h"
#include "serve/limit.h"
#include "serve/log.h"

/**
 * struct guard_opts - the part of the command line that it is for
 * @allow: prefixes
 * @allow_file: a file of more of them, or NULL
 * @key_file: of the keys of which clients must prove to have one, or NULL
 * @log: how lines look, "text" or "json", or NULL
 * @log_rate: lines a second about one address, 0: no bound
 */
struct guard_opts {
	struct opts_many allow;
	const char *allow_file;
	const char *key_file;
	const char *log;
	uint64_t log_rate;
};

/**
 * struct guard - what stands there
 * @opts: as they were given
 * @allow: who may come; the thread's that admits
 * @limit: what one address may have
 * @key_path: where the keys are read from, or NULL
 * @credential: the name that it may have
 * @lock: of @keys
 * @keys: of which clients must prove to have one, or NULL
 * @log: where it is told
 */
struct guard {
	struct guard_opts opts;
	struct allow allow;
	struct limit limit;
	const char *key_path;
	char credential[PATH_MAX];
	pthread_mutex_t lock;
	struct keyring *keys;
	struct log log;
};

/* An exit status, having said why. */
int guard_open(struct guard *g, bool verbose);
void guard_close(struct guard *g);
/* Read again what is in files; what is wrong with them leaves all as it was. */
void guard_reload(struct guard *g);
/* 0, or why a peer is refused, enum wire_refusal. */
unsigned int guard_admit(struct guard *g, const struct kverbs_addr *peer);
/* The same of what it asks for; the visit is to leave, whatever it is. */
unsigned int guard_check(struct guard *g, struct visit *v, const struct kverbs_addr *peer,
			 const struct wire_hello *hello);
/* Memory for all clients, and a part of it for one address, if no option says how much. */
void guard_bound_memory(struct guard *g);
/* Get the current keys, to be put; NULL: clients need none. */
struct keyring *guard_keys(struct guard *g);
/* Tell that a peer is refused. */
void guard_refused(struct guard *g, const struct kverbs_addr *peer, unsigned int why);

#endif /* KVERBS_TOOL_GUARD_H */
