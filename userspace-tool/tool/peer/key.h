/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* A key that server and clients share: the bytes of a file, but for line ends at its end. */
#ifndef KVERBS_TOOL_KEY_H
#define KVERBS_TOOL_KEY_H

#include <stddef.h>
#include <stdint.h>

#define KEY_MIN		16
#define KEY_MAX		4096

/* Where clients look if they are not told, and a server in $CREDENTIALS_DIRECTORY. */
#define KEY_ENV		"KVERBS_KEY_FILE"
#define KEY_CREDENTIAL	"kverbs.key"

/**
 * struct key - a key
 * @users: who has it
 * @len: its length
 * @bytes: it
 */
struct key {
	unsigned int users;
	size_t len;
	uint8_t bytes[KEY_MAX + 2];
};

/* -EPERM: others own, may read or may write the file; -EINVAL: what is in it is no key. */
int key_read(struct key **key, const char *path);
/* The same, and an exit status, having said why. */
int key_load(struct key **key, const char *path);
struct key *key_get(struct key *key);
/* The last user wipes it out; NULL is fine. */
void key_put(struct key *key);

/* Path from the command line, else from the environment; NULL: no key. */
const char *key_of_client(const char *said);
/* The same for a server; the credential's name is made in @buf. */
const char *key_of_server(const char *said, char *buf, size_t room);

#endif /* KVERBS_TOOL_KEY_H */
