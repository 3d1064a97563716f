// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "cli/err.h"
#include "peer/key.h"

/*
 * A group may read it: so clients of several users can share one, and so systemd gives
 * a credential to the user of a service.
 */
static int check_file(int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	/* Another user could put another key there. */
	if (st.st_uid && st.st_uid != geteuid())
		return -EPERM;
	return st.st_mode & 0027 ? -EPERM : 0;
}

static int read_bytes(int fd, struct key *key)
{
	ssize_t n;

	do {
		n = read(fd, key->bytes + key->len, sizeof(key->bytes) - key->len);
		if (n < 0 && errno != EINTR)
			return -errno;
		key->len += n > 0 ? n : 0;
	} while (n && key->len < sizeof(key->bytes));
	while (key->len && (key->bytes[key->len - 1] == '\n' ||
			    key->bytes[key->len - 1] == '\r'))
		key->len--;
	return key->len < KEY_MIN || key->len > KEY_MAX ? -EINVAL : 0;
}

int key_read(struct key **key, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;
	struct key *k;

	if (fd < 0)
		return -errno;
	k = calloc(1, sizeof(*k));
	if (k)
		k->users = 1;
	ret = k ? check_file(fd) : -ENOMEM;
	if (!ret)
		ret = read_bytes(fd, k);
	close(fd);
	if (ret) {
		key_put(k);
		return ret;
	}
	*key = k;
	return 0;
}

int key_load(struct key **key, const char *path)
{
	int ret = key_read(key, path);

	return ret ? err_report(ERR_KEY, ret, "read the key in %s", path) : EXIT_OK;
}

struct key *key_get(struct key *key)
{
	__atomic_add_fetch(&key->users, 1, __ATOMIC_RELAXED);
	return key;
}

void key_put(struct key *key)
{
	if (!key || __atomic_sub_fetch(&key->users, 1, __ATOMIC_ACQ_REL))
		return;
	OPENSSL_cleanse(key, sizeof(*key));
	free(key);
}

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

const char *key_of_client(const char *said)
{
	return said ? said : env(KEY_ENV);
}

const char *key_of_server(const char *said, char *buf, size_t room)
{
	const char *dir = env("CREDENTIALS_DIRECTORY");

	if (said || !dir || snprintf(buf, room, "%s/" KEY_CREDENTIAL, dir) >= (int)room)
		return said;
	return access(buf, F_OK) ? NULL : buf;
}
