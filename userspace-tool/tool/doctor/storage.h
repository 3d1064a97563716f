/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * kverbs doctor --for: what the kernel's clients of a storage protocol need. The checks follow
 * those of devices and of the way to the peer, on which they depend.
 */
#ifndef KVERBS_TOOL_DOCTOR_STORAGE_H
#define KVERBS_TOOL_DOCTOR_STORAGE_H

#include <stdbool.h>

#include "doctor/finding.h"

#define STORAGE_NAMES "nvme iser srp nfs smb"

struct doctor;

enum storage_id {
	STORAGE_MODULE,
	STORAGE_COMMAND,
	STORAGE_REGISTRATION,
	STORAGE_MEMLOCK,
	STORAGE_LISTENER,
	STORAGE_CHECKS,
};

/**
 * struct storage - a storage protocol
 * @name: argument of --for
 * @title: the protocol's name in a sentence
 * @module: the client's kernel module
 * @on_demand: the kernel or the client's command loads @module
 * @command: program that connects, or NULL: none is needed
 * @package: Debian's package of @command
 * @port: the server's port, or NULL: it has no fixed one
 * @listen: command that makes the server listen; %s: the port
 */
struct storage {
	const char *name;
	const char *title;
	const char *module;
	bool on_demand;
	const char *command;
	const char *package;
	const char *port;
	const char *listen;
};

/* NULL: no such protocol */
const struct storage *storage_find(const char *name);
/* Fill in the finding of a check. */
void storage_look(struct doctor *d, enum storage_id id, struct finding *f);
const char *storage_check_name(enum storage_id id);
/* Exit status if it is the first check that fails */
int storage_exit_status(enum storage_id id);
/* Whether it is asked: the last one needs a peer. */
bool storage_is_asked(const struct doctor *d, enum storage_id id);

#endif /* KVERBS_TOOL_DOCTOR_STORAGE_H */
