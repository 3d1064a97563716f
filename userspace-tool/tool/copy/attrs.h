/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Access control lists and extended attributes of a file, as bytes. */
#ifndef KVERBS_TOOL_ATTRS_H
#define KVERBS_TOOL_ATTRS_H

#include <stddef.h>
#include <stdint.h>

/* Attributes of one file take at most so many bytes on the wire. */
#define ATTRS_MAX (1u << 20)

/* Which ones */
#define ATTRS_ACL	(1u << 0)	/* access control lists */
#define ATTRS_USER	(1u << 1)	/* user.* */
#define ATTRS_OTHER	(1u << 2)	/* all others but system.* */

/**
 * struct attrs - attributes, sorted by name, access control lists first
 * @bytes: for each its name's length (2 bytes), its value's (4), its name, its value
 * @len: all of them
 * @acl_len: those of access control lists
 */
struct attrs {
	uint8_t *bytes;
	size_t len;
	size_t acl_len;
};

/* @fd: may be open as a path. -EFBIG: more than ATTRS_MAX */
int attrs_read(struct attrs *a, int fd, unsigned int which);
int attrs_digests(const struct attrs *a, const uint8_t *key, uint64_t *acl, uint64_t *xattr);
/* Check what a peer sent, and find out @acl_len. */
int attrs_check(struct attrs *a);
/* Give @fd these, and take away others of @which. */
int attrs_apply(int fd, const struct attrs *a, unsigned int which);
void attrs_free(struct attrs *a);

#endif /* KVERBS_TOOL_ATTRS_H */
