/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A key that a server and a client share, and what its clients may do. */
#ifndef KVERBS_TOOL_KEY_H
#define KVERBS_TOOL_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "peer/wire.h"

#define KEY_MIN		16
#define KEY_MAX		4096
/* A line of a file of named keys */
#define KEY_LINE_MAX	(KEY_MAX + 4096 + 256)

/**
 * struct key_rights - what a server restricts clients with a key to, beyond its own options
 * @services: bits of enum wire_service, 0: any
 * @read_only: files are not written
 * @no_delete: files are not deleted, but may be replaced
 * @no_super: the server does not use the rights of root for them
 * @dir: directory below the served one that is their root, or NULL
 */
struct key_rights {
	unsigned int services;
	bool read_only;
	bool no_delete;
	bool no_super;
	char *dir;
};

/**
 * struct key - a key
 * @next: the next one of the same file
 * @name: what a client calls it; empty in a file that is nothing but a key
 * @rights: of its clients
 * @len: length of @bytes
 * @bytes: the secret
 */
struct key {
	struct key *next;
	char name[WIRE_KEY_NAME_MAX + 1];
	struct key_rights rights;
	size_t len;
	uint8_t bytes[KEY_MAX + 2];
};

/* A name has letters, digits, dots, hyphens and underscores. */
bool key_name_is_valid(const char *name);
/*
 * "NAME SECRET [RIGHT]...", which is modified. -EINVAL: that is not what it is. On an error, too,
 * key_free() it.
 */
int key_parse(struct key *key, char *line);
/* Parse one right: "ro", "no-delete", "no-super", "services=LIST" or "dir=PATH". */
int key_add_right(struct key_rights *rights, const char *word);
/* Wipe it out, and free() it. */
void key_free(struct key *key);

#endif /* KVERBS_TOOL_KEY_H */
