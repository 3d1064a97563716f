/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* The server's side of copies. */
#ifndef KVERBS_TOOL_FILES_H
#define KVERBS_TOOL_FILES_H

#include <stdbool.h>
#include <sys/types.h>

#include "copy/path.h"
#include "peer/session.h"
#include "serve/copies.h"
#include "serve/share.h"

/**
 * struct files_conf - what clients may do with files
 * @root: the directory, open, or -errno: why there is none
 * @shares: named directories in place of @root, or NULL
 * @read_only: nothing is written there
 * @no_delete: nothing is deleted there, but files may be replaced
 * @super: as root, owners, set-user-ID bits, devices and all attributes may be copied
 * @depth_max: levels of a tree that is read, each of which takes a descriptor; 0: any
 * @umask: permission bits that files and directories do not get
 * @min_free: bytes of the file system that must stay free
 * @max_size: bytes that a file may have, 0: any
 * @copies: those that run, or NULL
 */
struct files_conf {
	int root;
	const struct shares *shares;
	bool read_only;
	bool no_delete;
	bool super;
	unsigned int depth_max;
	mode_t umask;
	uint64_t min_free;
	uint64_t max_size;
	struct copies *copies;
};

/* The server may and does use the rights of root for clients. */
bool files_privileged(const struct files_conf *conf);
/* Whether there are any */
bool files_exist(const struct files_conf *conf);
/*
 * Find out what a client may do with a path. @beneath: the path below the root in @out.
 * -EACCES: it is the directory of all shares, of which there is only a list.
 */
int files_select(const struct files_conf *conf, const struct path *path, struct files_conf *out,
		 struct path *beneath);
int files_serve(struct session *s, const struct files_conf *conf);

#endif /* KVERBS_TOOL_FILES_H */
