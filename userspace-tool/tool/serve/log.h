/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Log of a server: a line for each event, to the journal with fields if standard error is
 * connected to it, else to standard error. Lines about one address are rate-limited, and
 * control characters are replaced. A reader that does not read loses lines, but does not stop
 * the server.
 */
#ifndef KVERBS_TOOL_LOG_H
#define KVERBS_TOOL_LOG_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <syslog.h>

#include <linux/kverbs.h>

#include "cli/util.h"
#include "serve/bucket.h"

#define LOG_JOURNAL_SOCKET	"/run/systemd/journal/socket"

/* Addresses share a slot rather than make the table grow. */
#define LOG_SLOTS		256
/* A second's lines of all addresses, in those of one; and what may come at once. */
#define LOG_ALL			20
#define LOG_BURST		10

enum log_form {
	LOG_FORM_TEXT,
	LOG_FORM_JSON,
	LOG_FORM_JOURNAL,
};

/**
 * struct log_event - an event
 * @priority: of syslog(3); LOG_INFO is logged with --verbose only
 * @name: one word
 * @peer: address of the client, or NULL
 * @service: service that the client asked for, or NULL
 * @key: name of the client's key, or NULL
 * @err: -errno, or 0
 */
struct log_event {
	int priority;
	const char *name;
	const struct kverbs_addr *peer;
	const char *service;
	const char *key;
	int err;
};

/**
 * struct log_slot - what was told of some addresses
 * @bucket: lines
 * @held: those that were left out since
 */
struct log_slot {
	struct bucket bucket;
	unsigned int held;
};

/**
 * struct log - a log
 * @lock: protects all members
 * @form: format of lines
 * @fd: standard error or a socket
 * @journal: path of the socket, to connect again
 * @verbose: LOG_INFO too
 * @rate: lines a second about one address, 0: no bound
 * @seed: random, so that clients cannot choose which addresses share a slot
 * @all: rate of lines about any address
 * @slots: rates for each address
 */
struct log {
	pthread_mutex_t lock;
	enum log_form form;
	int fd;
	const char *journal;
	bool verbose;
	double rate;
	uint64_t seed;
	struct log_slot all;
	struct log_slot slots[LOG_SLOTS];
};

/* @form: "text", "json" or NULL, which finds out. -EINVAL: it is neither. */
int log_open(struct log *l, const char *form, const char *journal);
void log_say(struct log *l, const struct log_event *e, const char *fmt, ...) __printf(3, 4);
void log_close(struct log *l);

#endif /* KVERBS_TOOL_LOG_H */
