// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/err.h"
#include "cli/units.h"
#include "copy/source.h"
#include "peer/session.h"
#include "serve/guard.h"

#define WHY_MAX 256
/* Of a connection: its events, and the two messages before it has slots of its own */
#define SPARE_SLOTS 8

/* Describe an error in word @bad of a list; @line of @path, or 0. */
static void say_why(char why[WHY_MAX], const char *path, unsigned int line, int err,
		    const char *bad)
{
	if (path && !line)
		snprintf(why, WHY_MAX, "%.160s", path);
	else if (path)
		snprintf(why, WHY_MAX, "%.120s:%u: '%s' %s", path, line, bad, allow_why(err));
	else
		snprintf(why, WHY_MAX, "--allow: '%s' %s", bad, allow_why(err));
}

static int read_allow(const struct guard_opts *opts, struct allow *a, char why[WHY_MAX])
{
	char bad[ALLOW_WORD_MAX] = "";
	unsigned int i, line = 0;
	int ret = 0;

	for (i = 0; i < opts->allow.nr && !ret; i++)
		ret = allow_add(a, opts->allow.words[i], bad);
	if (ret) {
		say_why(why, NULL, 0, ret, bad);
		return ret;
	}
	if (opts->allow_file)
		ret = allow_read(a, opts->allow_file, &line, bad);
	if (ret)
		say_why(why, opts->allow_file, line, ret, bad);
	return ret;
}

/* Both as they are in the files now, or neither. */
static int read_files(const struct guard *g, struct allow *a, struct keyring **keys,
		      char why[WHY_MAX])
{
	unsigned int line = 0;
	int ret = 0;

	if (g->key_path)
		ret = keyring_read(keys, g->key_path, &line);
	if (ret) {
		snprintf(why, WHY_MAX, line ? "the key in %.200s, line %u" : "the key in %.200s",
			 g->key_path, line);
		return ret;
	}
	ret = read_allow(&g->opts, a, why);
	if (!ret)
		return 0;
	allow_free(a);
	keyring_put(*keys);
	return ret;
}

static void set(struct guard *g, const struct allow *a, struct keyring *keys)
{
	struct keyring *old;

	allow_free(&g->allow);
	g->allow = *a;
	pthread_mutex_lock(&g->lock);
	old = g->keys;
	g->keys = keys;
	pthread_mutex_unlock(&g->lock);
	keyring_put(old);
}

static int reload(struct guard *g, char why[WHY_MAX])
{
	struct allow a = { 0 };
	struct keyring *keys = NULL;
	int ret = read_files(g, &a, &keys, why);

	if (!ret)
		set(g, &a, keys);
	return ret;
}

/* Report an error under the area whose remedies apply. */
static int report(int err, const char *why)
{
	if (!strncmp(why, "the key", strlen("the key")))
		return err_report(ERR_KEY, err, "read %s", why);
	if (!strncmp(why, "--allow", strlen("--allow")))
		return err_usage("%s", why);
	return err_report(ERR_LOCAL, err, "read %s", why);
}

int guard_open(struct guard *g, bool verbose)
{
	char why[WHY_MAX];
	int ret;

	if (log_open(&g->log, g->opts.log, LOG_JOURNAL_SOCKET))
		return err_usage("--log: '%s' is neither text nor json", g->opts.log);
	g->log.verbose = verbose;
	g->log.rate = g->opts.log_rate;
	g->key_path = keyring_of_server(g->opts.key_file, g->credential,
					sizeof(g->credential));
	pthread_mutex_init(&g->lock, NULL);
	limit_init(&g->limit);
	ret = reload(g, why);
	if (!ret)
		return EXIT_OK;
	guard_close(g);
	return report(ret, why);
}

void guard_close(struct guard *g)
{
	allow_free(&g->allow);
	keyring_put(g->keys);
	g->keys = NULL;
	limit_free(&g->limit);
	pthread_mutex_destroy(&g->lock);
	log_close(&g->log);
}

void guard_reload(struct guard *g)
{
	char why[WHY_MAX];
	int ret = reload(g, why);

	if (ret)
		log_say(&g->log, &(struct log_event){ LOG_ERR, "reload-failed", .err = ret },
			"not reloaded, the old settings remain: read %s", why);
	else
		log_say(&g->log, &(struct log_event){ LOG_NOTICE, .name = "reloaded" },
			"reloaded");
}

unsigned int guard_admit(struct guard *g, const struct kverbs_addr *peer)
{
	return allow_has(&g->allow, peer) ? 0 : WIRE_REFUSED_ADDRESS;
}

/*
 * Maximum of memory and of ring slots for a client: all of its receives and sends, which
 * it can prevent from completing. bench charges its lanes later; they have rings of their own.
 */
static struct limit_need need_of(const struct wire_hello *hello)
{
	struct limit_need need = {
		.bytes = session_bytes(hello),
		.slots = 2ull * hello->depth + SPARE_SLOTS,
	};

	/* As a source, which has more than a sink has windows. */
	if (hello->what == WIRE_SERVICE_FILES) {
		need.bytes += SOURCE_EXTENTS * (COPY_CHUNK + SOURCE_SMALL);
		need.slots += SOURCE_EXTENTS;
	}
	return need;
}

void guard_bound_memory(struct guard *g)
{
	uint64_t pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);

	if (!g->limit.all_bytes)
		g->limit.all_bytes = pages * page / 4 * 3;
	if (!g->limit.bytes)
		g->limit.bytes = g->limit.all_bytes / 2;
}

unsigned int guard_check(struct guard *g, struct visit *v, const struct kverbs_addr *peer,
			 const struct wire_hello *hello)
{
	if (g->key_path && !(hello->flags & WIRE_F_KEY))
		return WIRE_REFUSED_KEY;
	return limit_enter(&g->limit, v, peer, need_of(hello), g->key_path, units_now());
}

struct keyring *guard_keys(struct guard *g)
{
	struct keyring *keys;

	pthread_mutex_lock(&g->lock);
	keys = g->keys ? keyring_get(g->keys) : NULL;
	pthread_mutex_unlock(&g->lock);
	return keys;
}

void guard_refused(struct guard *g, const struct kverbs_addr *peer, unsigned int why)
{
	const struct log_event e = { LOG_WARNING, "refused", .peer = peer };

	log_say(&g->log, &e, "refused: %s", wire_refusal_name(why));
}
