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

/* A peer's names are bytes: none of them is to reach the terminal as a command. */
void report_clean(char *buf, size_t room, const char *name)
{
	size_t i;

	for (i = 0; name[i] && i + 1 < room; i++)
		buf[i] = (unsigned char)name[i] < 0x20 || name[i] == 0x7f ? '?' : name[i];
	buf[i] = '\0';
}

static void on_fail(struct copy *copy, enum err_area area, int err, const char *path)
{
	char clean[CLEAN_MAX];

	report_clean(clean, sizeof(clean), path);
	progress_clear(&copy->progress);
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

void report_init(struct copy *copy, bool progress, bool verbose)
{
	progress_init(&copy->progress, progress);
	copy->fail = on_fail;
	copy->skip = on_skip;
	copy->done = verbose ? on_done : NULL;
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

static void print_json(const struct copy *copy, double seconds)
{
	struct json_object *o = out_root();
	char digest[20];

	json_put_int(o, "files", copy->files);
	json_put_int(o, "directories", copy->dirs);
	json_put_int(o, "skipped", copy->skipped);
	json_put_int(o, "failed", copy->failed);
	json_put_int(o, "bytes", copy->bytes);
	json_put_int(o, "resumed_bytes", copy->resumed);
	json_put_num(o, "seconds", seconds);
	json_put_num(o, "rate_MBps", rate_of(copy, seconds));
	json_put_str(o, "checksum_algorithm", HASH_NAME);
	if (copy->files == 1) {
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
	if (copy->failed)
		out_text(", %" PRIu64 " failed", copy->failed);
	out_text(copy->failed ? ", the others verified\n" : ", verified\n");
}

/* The sum, and the exit status: the first failure's, if there was one. */
int report_end(struct copy *copy, int status)
{
	double seconds = units_now() - copy->progress.start;
	const struct err_last *last = err_last();

	if (out_is_json())
		print_json(copy, seconds);
	else if (copy->files || copy->dirs || !status)
		print_text(copy, seconds);
	if (!status && copy->failed)
		status = last ? last->exit_status : EXIT_FAILED;
	return status;
}
