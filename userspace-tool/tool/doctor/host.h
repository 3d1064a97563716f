/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Sources of findings: files of the kernel, and output of commands. */
#ifndef KVERBS_TOOL_DOCTOR_HOST_H
#define KVERBS_TOOL_DOCTOR_HOST_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/util.h"

struct json_object;

/*
 * Paths are below @root, which is empty but in tests. The text of a file comes
 * without the last newline; 0 or -errno, and then it is empty.
 */
int doctor_read(const char *root, char *buf, size_t room, const char *fmt, ...) __printf(4, 5);
bool doctor_exists(const char *root, const char *fmt, ...) __printf(2, 3);
DIR *doctor_opendir(const char *root, const char *fmt, ...) __printf(2, 3);
/* The next entry that is not hidden, or NULL. */
const char *doctor_next(DIR *dir);

/*
 * Run a command that prints JSON. -ENOENT: there is no such command; -EIO: it failed,
 * and @said has its messages.
 */
int doctor_ask(const char *const *argv, struct json_object **answer, char *said, size_t room);
/* The same for a command that prints a line; without its newline, and empty if it failed. */
int doctor_ask_text(const char *const *argv, char *answer, size_t room);

#endif /* KVERBS_TOOL_DOCTOR_HOST_H */
