// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <json-c/json.h>

#include "cli/json.h"
#include "cli/out.h"
#include "cli/units.h"
#include "copy/hash.h"
#include "copy/report.h"

#define CLEAN_MAX 512

/* Bytes of a character that commands a terminal, or alters the order of those after it; else 0 */
static size_t command_len(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;

	if (u[0] < 0x20 || u[0] == 0x7f)
		return 1;
	/* U+0080 to U+009F, U+061C */
	if ((u[0] == 0xc2 && u[1] < 0xa0) || (u[0] == 0xd8 && u[1] == 0x9c))
		return 2;
	/* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 */
	if (u[0] == 0xe2 && u[1] == 0x80 &&
	    (u[2] == 0x8e || u[2] == 0x8f || (u[2] >= 0xa8 && u[2] <= 0xae)))
		return 3;
	if (u[0] == 0xe2 && u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9)
		return 3;
	return 0;
}

/* A peer's names are bytes: none of them is to reach the terminal as a command. */
void report_clean(char *buf, size_t room, const char *name)
{
	char *to = buf, *from;
	size_t len;

	snprintf(buf, room, "%s", name);
	out_make_utf8(buf);
	for (from = buf; *from; from += len) {
		len = command_len(from);
		*to++ = len ? '?' : *from;
		len = len ? len : 1;
	}
	*to = '\0';
}

static void on_fail(struct copy *copy, enum err_area area, int err, const char *path)
{
	char clean[CLEAN_MAX];

	report_clean(clean, sizeof(clean), path);
	progress_clear(&copy->progress);
	if (copy->where)
		err_report(area, err, "on %s, copy %s", copy->where, clean);
	else
		err_report(area, err, "%s %s", area == ERR_REMOTE ? "there, copy" : "copy", clean);
}

static void on_skip(struct copy *copy, int err, const char *path)
{
	char clean[CLEAN_MAX];

	report_clean(clean, sizeof(clean), path);
	progress_clear(&copy->progress);
	err_warn("skipped: %s is %s", clean,
		 err == -ELOOP ? "a symbolic link" :
		 err == -ECANCELED ? "part of an incomplete copy" : "a special file");
}

static void on_done(struct copy *copy, const char *path, uint64_t size)
{
	char clean[CLEAN_MAX], source[64], sink[64];

	report_clean(clean, sizeof(clean), path);
	progress_clear(&copy->progress);
	out_text("%s: %" PRIu64 " bytes, %s to %s, %016" PRIx64 "\n", clean, size,
		 copy_methods(copy->source_methods, source, sizeof(source)),
		 copy_methods(copy->sink_methods, sink, sizeof(sink)), copy->digest);
}

static void on_item(struct copy *copy, const struct item *item)
{
	char clean[CLEAN_MAX], target[CLEAN_MAX], text[ITEM_TEXT_LEN];

	item_text(item, text);
	report_clean(clean, sizeof(clean), item->path);
	progress_clear(&copy->progress);
	if (!item->target) {
		out_text("%s %s\n", text, clean);
		return;
	}
	report_clean(target, sizeof(target), item->target);
	out_text("%s %s %s %s\n", text, clean, item->type == 'L' ? "->" : "=>", target);
}

static void on_removed(struct copy *copy, const char *path)
{
	char clean[CLEAN_MAX];

	report_clean(clean, sizeof(clean), path);
	progress_clear(&copy->progress);
	out_text("*deleting   %s\n", clean);
}

void report_init(struct copy *copy, const struct cp *cp)
{
	progress_init(&copy->progress, cp->progress && !cp->quiet);
	copy->fail = on_fail;
	copy->skip = cp->quiet ? NULL : on_skip;
	copy->done = cp->verbose ? on_done : NULL;
	copy->item = cp->itemize ? on_item : NULL;
	copy->removed = cp->itemize || cp->verbose ? on_removed : NULL;
}

static double rate_of(const struct copy *copy, double seconds)
{
	uint64_t moved = copy->progress.done - copy->progress.resumed;

	return seconds > 0 ? moved / seconds / 1e6 : 0;
}

static void put_methods(struct json_object *o, const struct copy *copy)
{
	struct json_object *z = json_object_new_object();
	char buf[64];

	json_put_str(z, "source", copy_methods(copy->source_methods, buf, sizeof(buf)));
	json_put_str(z, "sink", copy_methods(copy->sink_methods, buf, sizeof(buf)));
	json_object_object_add(o, "zero_copy", z);
}

/* Bytes on the wire, but for the headers of packets */
static uint64_t sent(const struct copy *copy, const struct cp *cp)
{
	return cp->before.wire_out + copy->session->bytes_out + cp->from_s.bytes_out +
	       (cp->upload ? copy->moved : 0);
}

static uint64_t received(const struct copy *copy, const struct cp *cp)
{
	return cp->before.wire_in + copy->session->bytes_in + cp->from_s.bytes_in +
	       (cp->upload && !cp->relay ? 0 : copy->moved);
}

static void print_json(const struct copy *copy, const struct cp *cp, double seconds)
{
	struct json_object *o = out_root();
	char digest[20];

	json_put_int(o, "files", copy->files);
	json_put_int(o, "directories", copy->dirs);
	json_put_int(o, "skipped", copy->skipped);
	json_put_int(o, "failed", copy->failed);
	json_put_int(o, "bytes", copy->bytes);
	json_put_int(o, "resumed_bytes", copy->resumed);
	json_put_int(o, "unchanged_files", copy->same);
	json_put_int(o, "unchanged_bytes", copy->same_bytes);
	json_put_int(o, "links_and_special_files", copy->others);
	json_put_int(o, "created", copy->created);
	json_put_int(o, "deleted", copy->deleted);
	json_put_int(o, "transferred_bytes", copy->moved);
	json_put_int(o, "wire_sent_bytes", sent(copy, cp));
	json_put_int(o, "wire_received_bytes", received(copy, cp));
	json_put_int(o, "reconnects", cp->losses);
	json_put_num(o, "seconds", seconds);
	json_put_num(o, "rate_MBps", rate_of(copy, seconds));
	json_put_str(o, "checksum_algorithm", copy->keyed ? HASH_KEYED_NAME : HASH_NAME);
	/* With a key the digest means nothing outside of this connection. */
	if (copy->files == 1 && !copy->keyed) {
		snprintf(digest, sizeof(digest), "%016" PRIx64, copy->digest);
		json_put_str(o, "checksum", digest);
	}
	put_methods(o, copy);
}

static const char *plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

static void print_text(const struct copy *copy, double seconds)
{
	out_text("%" PRIu64 " file%s", copy->files, plural(copy->files));
	if (copy->dirs)
		out_text(", %" PRIu64 " director%s", copy->dirs,
			 copy->dirs == 1 ? "y" : "ies");
	out_text(", %" PRIu64 " bytes in %.2f s, %.1f MB/s", copy->bytes, seconds,
		 rate_of(copy, seconds));
	if (copy->resumed)
		out_text(", %" PRIu64 " bytes of them from before", copy->resumed);
	if (copy->same)
		out_text(", %" PRIu64 " unchanged", copy->same);
	if (copy->deleted)
		out_text(", %" PRIu64 " deleted", copy->deleted);
	if (copy->failed)
		out_text(", %" PRIu64 " failed", copy->failed);
	if (copy->opts & WIRE_F_DRY_RUN)
		out_text(" (dry run)");
	else if (!copy->failed)
		out_text(", verified");
	else if (copy->files)
		out_text(", the others verified");
	out_text("\n");
}

/* As rsync prints it */
static void print_stats(const struct copy *copy, const struct cp *cp)
{
	uint64_t files = copy->files + copy->same;

	out_text("Number of files: %" PRIu64 " (reg: %" PRIu64 ", dir: %" PRIu64 ", other: %" PRIu64
		 ")\n", files + copy->dirs + copy->others, files, copy->dirs, copy->others);
	out_text("Number of created files: %" PRIu64 "\n", copy->created);
	out_text("Number of deleted files: %" PRIu64 "\n", copy->deleted);
	out_text("Number of regular files transferred: %" PRIu64 "\n", copy->files);
	out_text("Total file size: %" PRIu64 " bytes\n", copy->bytes + copy->same_bytes);
	out_text("Total transferred file size: %" PRIu64 " bytes\n", copy->bytes);
	out_text("Literal data: %" PRIu64 " bytes\n", copy->moved);
	out_text("Matched data: %" PRIu64 " bytes\n", copy->resumed);
	out_text("Total bytes sent: %" PRIu64 "\n", sent(copy, cp));
	out_text("Total bytes received: %" PRIu64 "\n", received(copy, cp));
}

/* The sum, and the exit status: the first failure's, if there was one. */
int report_end(struct copy *copy, const struct cp *cp, int status)
{
	double seconds = units_now() - copy->progress.start;
	const struct err_last *last = err_last();

	if (out_is_json())
		print_json(copy, cp, seconds);
	else if (!cp->quiet && (copy->files || copy->dirs || copy->same || !status))
		print_text(copy, seconds);
	if (cp->stats && !cp->quiet)
		print_stats(copy, cp);
	if (!status && copy->failed)
		status = last ? last->exit_status : EXIT_FAILED;
	return status;
}
