/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Metadata of a file: permissions, owner, times and attributes. */
#ifndef KVERBS_TOOL_META_H
#define KVERBS_TOOL_META_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "copy/attrs.h"

/**
 * struct part_meta - what a file gets before it gets its name
 * @mode: permission bits
 * @mask: those of them that count
 * @set_owner: give it @uid
 * @set_group: give it @gid
 * @uid: owner
 * @gid: group
 * @times: access and modification time
 * @attrs: attributes, or NULL
 * @which: those of @attrs that count, ATTRS_*
 * @sync: force it to the disk
 * @beat: called now and then while that takes its time, or NULL
 * @arg: for @beat
 */
struct part_meta {
	mode_t mode;
	mode_t mask;
	bool set_owner;
	bool set_group;
	uid_t uid;
	gid_t gid;
	struct timespec times[2];
	const struct attrs *attrs;
	unsigned int which;
	bool sync;
	int (*beat)(void *arg);
	void *arg;
};

/* Bits WIRE_I_* of what differs, besides attributes */
unsigned int meta_differs(const struct part_meta *meta, const struct stat *st);
/* Change only what differs. @fd may be open with O_PATH, but must not be a symbolic link. */
int meta_apply(int fd, const struct part_meta *meta);
/* The same for a symbolic link, which has neither permissions nor attributes. */
int meta_apply_link(int dir, const char *name, const struct part_meta *meta);

#endif /* KVERBS_TOOL_META_H */
