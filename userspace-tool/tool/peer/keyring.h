/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * The keys of a file. Either the file has named keys, and its first line is KEYRING_HEAD, or the
 * contents but for line ends at the end are one key without a name.
 */
#ifndef KVERBS_TOOL_KEYRING_H
#define KVERBS_TOOL_KEYRING_H

#include <stddef.h>

#include "peer/key.h"

#define KEYRING_HEAD		"kverbs-keys 1"
#define KEYRING_KEYS_MAX	1024
#define KEYRING_FILE_MAX	(1u << 20)

/* Where clients look if they are not told, and a server in $CREDENTIALS_DIRECTORY. */
#define KEY_ENV			"KVERBS_KEY_FILE"
#define KEY_NAME_ENV		"KVERBS_KEY_NAME"
#define KEY_CREDENTIAL		"kverbs.key"

/**
 * struct keyring - keys of a file
 * @users: references
 * @nr: number of keys
 * @keys: list of them, in the order of the file
 * @decoy: a random key, for clients that name an unknown one
 */
struct keyring {
	unsigned int users;
	unsigned int nr;
	struct key *keys;
	struct key *decoy;
};

/*
 * -EPERM: others own, may read or may write the file; -EINVAL: what is in it is no key; -EEXIST: a
 * name occurs twice. @line: of the error, 0: none.
 */
int keyring_read(struct keyring **ring, const char *path, unsigned int *line);
struct keyring *keyring_get(struct keyring *ring);
/* The last user wipes it out; NULL is fine. */
void keyring_put(struct keyring *ring);
/* NULL: there is none of this name. */
const struct key *keyring_find(const struct keyring *ring, const char *name);

/* Check the owner and the permissions of a key file. */
int keyring_check_file(int fd);

/*
 * The key that a client uses: that of @name in @file, or the only one. Each is from the command
 * line, and NULL if it was not given; the environment may name them then. Returns an exit status,
 * having said why; @key is NULL if there is no file.
 */
int keyring_of_client(struct keyring **ring, const struct key **key, const char *file,
		      const char *name);
/* Path of a server's key file, which may be made in @buf; NULL: none. */
const char *keyring_of_server(const char *said, char *buf, size_t room);

#endif /* KVERBS_TOOL_KEYRING_H */
