// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <openssl/crypto.h>

#include "cli/err.h"
#include "peer/keyring.h"

/**
 * struct text - contents of a key file
 * @bytes: the contents, and a NUL
 * @len: number of bytes before the NUL
 */
struct text {
	char *bytes;
	size_t len;
};

/*
 * A group may read it: so clients of several users can share one, and so systemd gives
 * a credential to the user of a service.
 */
int keyring_check_file(int fd)
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

static int read_text(int fd, struct text *t)
{
	ssize_t n;

	t->bytes = malloc(KEYRING_FILE_MAX + 1);
	if (!t->bytes)
		return -ENOMEM;
	do {
		n = read(fd, t->bytes + t->len, KEYRING_FILE_MAX - t->len);
		if (n < 0 && errno != EINTR)
			return -errno;
		t->len += n > 0 ? n : 0;
	} while (n && t->len < KEYRING_FILE_MAX);
	t->bytes[t->len] = '\0';
	return n ? -EINVAL : 0;
}

static int append(struct keyring *ring, struct key *key)
{
	struct key **at = &ring->keys;

	for (; *at; at = &(*at)->next)
		if (!strcmp((*at)->name, key->name))
			return -EEXIST;
	if (ring->nr == KEYRING_KEYS_MAX)
		return -EINVAL;
	*at = key;
	ring->nr++;
	return 0;
}

static int add_line(struct keyring *ring, char *line)
{
	struct key *key;
	int ret;

	line += strspn(line, " \t");
	if (!*line || *line == '#')
		return 0;
	key = calloc(1, sizeof(*key));
	ret = key ? key_parse(key, line) : -ENOMEM;
	if (!ret)
		ret = append(ring, key);
	if (ret)
		key_free(key);
	return ret;
}

static int add_lines(struct keyring *ring, struct text *t, unsigned int *line)
{
	char *at = t->bytes, *end;
	int ret;

	/* A NUL would hide the rest of the file. */
	if (memchr(t->bytes, '\0', t->len))
		return -EINVAL;
	for (*line = 1; at; at = end ? end + 1 : NULL, ++*line) {
		end = strchr(at, '\n');
		if (end)
			*end = '\0';
		at[strcspn(at, "\r")] = '\0';
		ret = *line == 1 ? 0 : add_line(ring, at);
		if (ret)
			return ret;
	}
	*line = 0;
	return ring->nr ? 0 : -EINVAL;
}

static int add_whole(struct keyring *ring, struct text *t)
{
	struct key *key;

	while (t->len && (t->bytes[t->len - 1] == '\n' || t->bytes[t->len - 1] == '\r'))
		t->len--;
	if (t->len < KEY_MIN || t->len > KEY_MAX)
		return -EINVAL;
	key = calloc(1, sizeof(*key));
	if (!key)
		return -ENOMEM;
	key->len = t->len;
	memcpy(key->bytes, t->bytes, t->len);
	return append(ring, key);
}

static bool has_head(const struct text *t)
{
	size_t len = strlen(KEYRING_HEAD);

	return t->len > len && !memcmp(t->bytes, KEYRING_HEAD, len) &&
	       (t->bytes[len] == '\n' || t->bytes[len] == '\r');
}

static struct keyring *new_ring(void)
{
	struct keyring *ring = calloc(1, sizeof(*ring));

	if (!ring)
		return NULL;
	ring->users = 1;
	ring->decoy = calloc(1, sizeof(*ring->decoy));
	if (ring->decoy) {
		ring->decoy->len = 32;
		if (getrandom(ring->decoy->bytes, 32, 0) == 32)
			return ring;
	}
	keyring_put(ring);
	return NULL;
}

static int read_ring(struct keyring *ring, int fd, unsigned int *line)
{
	struct text t = { .len = 0 };
	int ret = keyring_check_file(fd);

	if (!ret)
		ret = read_text(fd, &t);
	if (!ret)
		ret = has_head(&t) ? add_lines(ring, &t, line) : add_whole(ring, &t);
	if (t.bytes)
		OPENSSL_cleanse(t.bytes, KEYRING_FILE_MAX);
	free(t.bytes);
	return ret;
}

int keyring_read(struct keyring **ring, const char *path, unsigned int *line)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY), ret;
	struct keyring *r;

	*line = 0;
	if (fd < 0)
		return -errno;
	r = new_ring();
	ret = r ? read_ring(r, fd, line) : -ENOMEM;
	close(fd);
	if (ret) {
		keyring_put(r);
		return ret;
	}
	*ring = r;
	return 0;
}

struct keyring *keyring_get(struct keyring *ring)
{
	__atomic_add_fetch(&ring->users, 1, __ATOMIC_RELAXED);
	return ring;
}

void keyring_put(struct keyring *ring)
{
	struct key *key;

	if (!ring || __atomic_sub_fetch(&ring->users, 1, __ATOMIC_ACQ_REL))
		return;
	while ((key = ring->keys)) {
		ring->keys = key->next;
		key_free(key);
	}
	key_free(ring->decoy);
	free(ring);
}

const struct key *keyring_find(const struct keyring *ring, const char *name)
{
	const struct key *key;

	for (key = ring->keys; key && strcmp(key->name, name); key = key->next)
		;
	return key;
}

static const char *env(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

static int report(int err, const char *file, unsigned int line)
{
	if (line)
		return err_report(ERR_KEY, err, "read the key in %s, line %u", file, line);
	return err_report(ERR_KEY, err, "read the key in %s", file);
}

static int pick(const struct keyring *ring, const struct key **key, const char *file,
		const char *name)
{
	*key = name ? keyring_find(ring, name) : ring->keys;
	if (!*key)
		return err_report(ERR_KEY, -ENOKEY, "find the key '%s' in %s", name, file);
	if (!name && ring->nr > 1)
		return err_usage("%s has %u keys: choose one with --key-name", file, ring->nr);
	return EXIT_OK;
}

int keyring_of_client(struct keyring **ring, const struct key **key, const char *file,
		      const char *name)
{
	unsigned int line;
	int ret;

	*ring = NULL;
	*key = NULL;
	if (!file)
		file = env(KEY_ENV);
	if (!file)
		return name ? err_usage("--key-name requires --key") : EXIT_OK;
	ret = keyring_read(ring, file, &line);
	if (ret)
		return report(ret, file, line);
	ret = pick(*ring, key, file, name ? name : env(KEY_NAME_ENV));
	if (!ret)
		return EXIT_OK;
	keyring_put(*ring);
	*ring = NULL;
	*key = NULL;
	return ret;
}

const char *keyring_of_server(const char *said, char *buf, size_t room)
{
	const char *dir = env("CREDENTIALS_DIRECTORY");

	if (said || !dir || snprintf(buf, room, "%s/" KEY_CREDENTIAL, dir) >= (int)room)
		return said;
	return access(buf, F_OK) ? NULL : buf;
}
