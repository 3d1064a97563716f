// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/xattr.h>

#include "copy/attrs.h"
#include "copy/hash.h"
#include "lib/byteorder.h"

#define ENTRY_HEAD 6
#define ACL_PREFIX "system.posix_acl_"
#define FD_PATH_LEN 40

static void name_fd(char path[FD_PATH_LEN], int fd)
{
	snprintf(path, FD_PATH_LEN, "/proc/self/fd/%d", fd);
}

static bool is_acl(const char *name)
{
	return !strncmp(name, ACL_PREFIX, strlen(ACL_PREFIX));
}

static bool is_wanted(const char *name, unsigned int which)
{
	if (is_acl(name))
		return which & ATTRS_ACL;
	if (!strncmp(name, "user.", 5))
		return which & ATTRS_USER;
	return which & ATTRS_OTHER && strncmp(name, "system.", 7);
}

static int compare(const void *a, const void *b)
{
	const char *x = *(const char * const *)a, *y = *(const char * const *)b;

	if (is_acl(x) != is_acl(y))
		return is_acl(x) ? -1 : 1;
	return strcmp(x, y);
}

/**
 * struct name_list - names of attributes
 * @text: all of them, each ended by a NUL
 * @names: those that are wanted, sorted
 * @nr: how many
 */
struct name_list {
	char *text;
	const char **names;
	size_t nr;
};

static void list_free(struct name_list *l)
{
	free(l->text);
	free(l->names);
}

static int list_names(const char *path, unsigned int which, struct name_list *l)
{
	const char *at;
	ssize_t len;

	memset(l, 0, sizeof(*l));
	len = listxattr(path, NULL, 0);
	/* A file system, or a type of file, without attributes has none. */
	if (len < 0 && (errno == EOPNOTSUPP || errno == EPERM || errno == EACCES))
		return 0;
	if (len <= 0)
		return len ? -errno : 0;
	l->text = malloc(len + 1);
	l->names = calloc(len, sizeof(*l->names));
	if (!l->text || !l->names)
		return -ENOMEM;
	len = listxattr(path, l->text, len);
	if (len < 0)
		return -errno;
	l->text[len] = '\0';
	for (at = l->text; at < l->text + len; at += strlen(at) + 1)
		if (*at && is_wanted(at, which))
			l->names[l->nr++] = at;
	qsort(l->names, l->nr, sizeof(*l->names), compare);
	return 0;
}

static int get_value(const char *path, const char *name, uint8_t *value, size_t room)
{
	ssize_t n = getxattr(path, name, value, room);

	return n < 0 ? -errno : n;
}

static int add(struct attrs *a, const char *path, const char *name)
{
	static const size_t room = ENTRY_HEAD + XATTR_NAME_MAX + XATTR_SIZE_MAX;
	size_t name_len = strlen(name);
	uint8_t *p;
	int n;

	if (a->len + room > ATTRS_MAX + XATTR_SIZE_MAX)
		return -EFBIG;
	p = realloc(a->bytes, a->len + room);
	if (!p)
		return -ENOMEM;
	a->bytes = p;
	p += a->len;
	n = get_value(path, name, p + ENTRY_HEAD + name_len, XATTR_SIZE_MAX);
	/* The attribute has just been removed, or may be listed but not read. */
	if (n == -ENODATA || n == -EPERM || n == -EACCES)
		return 0;
	if (n < 0)
		return n;
	put_be(p, name_len, 2);
	put_be(p + 2, n, 4);
	memcpy(p + ENTRY_HEAD, name, name_len);
	a->len += ENTRY_HEAD + name_len + n;
	if (is_acl(name))
		a->acl_len = a->len;
	return a->len > ATTRS_MAX ? -EFBIG : 0;
}

int attrs_read(struct attrs *a, int fd, unsigned int which)
{
	char path[FD_PATH_LEN];
	struct name_list l;
	size_t i;
	int ret;

	memset(a, 0, sizeof(*a));
	if (!which)
		return 0;
	name_fd(path, fd);
	ret = list_names(path, which, &l);
	for (i = 0; i < l.nr && !ret; i++)
		ret = add(a, path, l.names[i]);
	list_free(&l);
	if (ret)
		attrs_free(a);
	return ret;
}

int attrs_digests(const struct attrs *a, const uint8_t *key, uint64_t *acl, uint64_t *xattr)
{
	int ret = hash_bytes(key, a->bytes, a->acl_len, acl);

	if (ret || a->len == a->acl_len) {
		*xattr = 0;
		return ret;
	}
	return hash_bytes(key, a->bytes + a->acl_len, a->len - a->acl_len, xattr);
}

/**
 * struct entry - an attribute
 * @name: its name
 * @value: its value
 * @len: bytes of @value
 */
struct entry {
	char name[XATTR_NAME_MAX + 1];
	const uint8_t *value;
	size_t len;
};

/* Read the entry at @at. Returns the place of the next one, or -EBADMSG. */
static ssize_t read_entry(const struct attrs *a, size_t at, struct entry *e)
{
	const uint8_t *p = a->bytes + at;
	size_t left = a->len - at, name_len;

	if (left < ENTRY_HEAD)
		return -EBADMSG;
	name_len = get_be(p, 2);
	e->len = get_be(p + 2, 4);
	if (!name_len || name_len > XATTR_NAME_MAX || e->len > XATTR_SIZE_MAX ||
	    left - ENTRY_HEAD < name_len + e->len || memchr(p + ENTRY_HEAD, '\0', name_len))
		return -EBADMSG;
	memcpy(e->name, p + ENTRY_HEAD, name_len);
	e->name[name_len] = '\0';
	e->value = p + ENTRY_HEAD + name_len;
	return at + ENTRY_HEAD + name_len + e->len;
}

int attrs_check(struct attrs *a)
{
	bool acls = true;
	struct entry e;
	ssize_t at = 0;

	a->acl_len = 0;
	while (at < (ssize_t)a->len) {
		at = read_entry(a, at, &e);
		if (at < 0 || (is_acl(e.name) && !acls))
			return -EBADMSG;
		acls = is_acl(e.name);
		if (acls)
			a->acl_len = at;
	}
	return 0;
}

static bool has(const struct attrs *a, const char *name)
{
	struct entry e;
	ssize_t at = 0;

	while (at < (ssize_t)a->len) {
		at = read_entry(a, at, &e);
		if (at < 0)
			return false;
		if (!strcmp(e.name, name))
			return true;
	}
	return false;
}

static int remove_others(const char *path, const struct attrs *a, unsigned int which)
{
	struct name_list l;
	size_t i;
	int ret;

	ret = list_names(path, which, &l);
	for (i = 0; i < l.nr && !ret; i++)
		if (!has(a, l.names[i]) && removexattr(path, l.names[i]) && errno != ENODATA)
			ret = -errno;
	list_free(&l);
	return ret;
}

static bool is_same(const char *path, const struct entry *e, uint8_t *buf)
{
	int n = get_value(path, e->name, buf, XATTR_SIZE_MAX);

	return n >= 0 && (size_t)n == e->len && !memcmp(buf, e->value, n);
}

int attrs_apply(int fd, const struct attrs *a, unsigned int which)
{
	uint8_t *buf = malloc(XATTR_SIZE_MAX);
	char path[FD_PATH_LEN];
	struct entry e;
	ssize_t at = 0;
	int ret;

	if (!buf)
		return -ENOMEM;
	name_fd(path, fd);
	ret = remove_others(path, a, which);
	while (at < (ssize_t)a->len) {
		at = read_entry(a, at, &e);
		if (at < 0) {
			ret = at;
			break;
		}
		if (is_wanted(e.name, which) && !is_same(path, &e, buf) &&
		    setxattr(path, e.name, e.value, e.len, 0) && !ret)
			ret = -errno;
	}
	free(buf);
	return ret;
}

void attrs_free(struct attrs *a)
{
	free(a->bytes);
	memset(a, 0, sizeof(*a));
}
