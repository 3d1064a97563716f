// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <string.h>

#include "copy/entry.h"
#include "lib/byteorder.h"
#include "peer/wire.h"

#define HEAD 40

bool entry_put(const struct entry *entry, uint8_t *buf, size_t *len)
{
	size_t name_len = strlen(entry->name), target_len = strlen(entry->target);
	uint8_t *p = buf + *len;

	if (*len + HEAD + name_len + target_len > WIRE_TAIL_MAX)
		return false;
	put_be(p, entry->st.st_mode, 4);
	put_be(p + 4, entry->st.st_size, 8);
	put_be(p + 12, entry->st.st_mtim.tv_sec, 8);
	put_be(p + 20, entry->st.st_mtim.tv_nsec, 4);
	put_be(p + 24, entry->st.st_uid, 4);
	put_be(p + 28, entry->st.st_gid, 4);
	put_be(p + 32, entry->st.st_nlink, 4);
	put_be(p + 36, name_len, 2);
	put_be(p + 38, target_len, 2);
	memcpy(p + HEAD, entry->name, name_len);
	memcpy(p + HEAD + name_len, entry->target, target_len);
	*len += HEAD + name_len + target_len;
	return true;
}

ssize_t entry_get(struct entry *entry, char text[ENTRY_TEXT_LEN], const uint8_t *buf, size_t len,
		  size_t at)
{
	const uint8_t *p = buf + at;
	size_t name_len, target_len;

	memset(entry, 0, sizeof(*entry));
	if (len - at < HEAD)
		return -EPROTO;
	name_len = get_be(p + 36, 2);
	target_len = get_be(p + 38, 2);
	if (!name_len || name_len > NAME_MAX || target_len >= PATH_MAX ||
	    name_len + target_len > len - at - HEAD || memchr(p + HEAD, '/', name_len) ||
	    memchr(p + HEAD, '\0', name_len + target_len))
		return -EPROTO;
	entry->st.st_mode = get_be(p, 4);
	entry->st.st_size = get_be(p + 4, 8) & INT64_MAX;
	entry->st.st_mtim.tv_sec = get_be(p + 12, 8);
	entry->st.st_mtim.tv_nsec = get_be(p + 20, 4) % 1000000000;
	entry->st.st_uid = get_be(p + 24, 4);
	entry->st.st_gid = get_be(p + 28, 4);
	entry->st.st_nlink = get_be(p + 32, 4);
	memcpy(text, p + HEAD, name_len);
	text[name_len] = '\0';
	memcpy(text + name_len + 1, p + HEAD + name_len, target_len);
	text[name_len + 1 + target_len] = '\0';
	entry->name = text;
	entry->target = text + name_len + 1;
	/* A name that leads elsewhere is no entry of a directory. */
	if (!strcmp(text, ".") || !strcmp(text, ".."))
		return -EPROTO;
	return at + HEAD + name_len + target_len;
}
