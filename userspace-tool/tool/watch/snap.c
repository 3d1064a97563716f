// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE

#include <ctype.h>
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/units.h"
#include "cli/util.h"
#include "watch/snap.h"

enum kind { NUMBER, SIGNED, TEXT, PAIR };

#define CONN(_name, _kind, _field)						\
	{ _name, _kind, offsetof(struct snap_conn, _field) }
#define DEVICE(_name, _kind, _field)						\
	{ _name, _kind, offsetof(struct snap_device, _field) }

/* Room for a text; a truncated one is still recognized. */
#define TEXT_ROOM	sizeof(((struct snap_conn *)0)->comm)

struct field {
	const char *name;
	enum kind kind;
	size_t at;
};

static const struct field conn_fields[] = {
	CONN("file", NUMBER, file),
	CONN("pid", NUMBER, pid),
	CONN("comm", TEXT, comm),
	CONN("id", NUMBER, id),
	CONN("state", TEXT, state),
	CONN("error", SIGNED, error),
	CONN("device", TEXT, device),
	CONN("qp", NUMBER, qp),
	CONN("local", TEXT, local),
	CONN("remote", TEXT, remote),
	CONN("sq", PAIR, sq_used),
	CONN("rq", PAIR, rq_used),
	CONN("ops", NUMBER, moved.ops),
	CONN("errors", NUMBER, moved.errors),
	CONN("bytes_out", NUMBER, moved.bytes_out),
	CONN("bytes_in", NUMBER, moved.bytes_in),
	{ }
};

static const struct field device_fields[] = {
	DEVICE("device", TEXT, device),
	DEVICE("conns", NUMBER, conns),
	DEVICE("ops", NUMBER, moved.ops),
	DEVICE("errors", NUMBER, moved.errors),
	DEVICE("bytes_out", NUMBER, moved.bytes_out),
	DEVICE("bytes_in", NUMBER, moved.bytes_in),
	DEVICE("retries", SIGNED, retries),
	{ }
};

/* Object that a line describes. */
struct line {
	enum { OTHER, IS_CONN, IS_DEVICE } type;
	struct snap_conn conn;
	struct snap_device device;
};

/* Octal escapes, as the kernel's seq_escape() writes them; a name may have anything. */
static char next_char(const char **text)
{
	const char *c = *text;
	char value = *c++;

	if (value == '\\' && strspn(c, "01234567") >= 3) {
		value = (c[0] - '0') << 6 | (c[1] - '0') << 3 | (c[2] - '0');
		c += 3;
	}
	*text = c;
	return isprint((unsigned char)value) ? value : '?';
}

static void put_text(char *to, size_t room, const char *text)
{
	while (*text && room > 1) {
		*to++ = next_char(&text);
		room--;
	}
	*to = 0;
}

static void put(void *object, const struct field *field, char *value)
{
	void *to = (char *)object + field->at;
	uint64_t *numbers = to;
	char *end;

	switch (field->kind) {
	case TEXT:
		put_text(to, TEXT_ROOM, value);
		break;
	case SIGNED:
		*(int64_t *)to = strtoll(value, NULL, 10);
		break;
	case PAIR:
		numbers[0] = strtoull(value, &end, 10);
		numbers[1] = *end ? strtoull(end + 1, NULL, 10) : 0;
		break;
	case NUMBER:
		numbers[0] = strtoull(value, NULL, 10);
	}
}

static void put_if_known(void *object, const struct field *fields, const char *word,
			 char *value)
{
	for (; fields->name; fields++)
		if (!strcmp(word, fields->name))
			put(object, fields, value);
}

static void parse(struct line *line, char *text)
{
	static const char blanks[] = "\n ";
	char *save, *word, *value;

	*line = (struct line){ .device.retries = -1 };
	for (word = strtok_r(text, blanks, &save); word; word = strtok_r(NULL, blanks, &save)) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = 0;
		if (!strcmp(word, "type"))
			line->type = !strcmp(value, "conn") ? IS_CONN :
				     !strcmp(value, "device") ? IS_DEVICE : OTHER;
		put_if_known(&line->conn, conn_fields, word, value);
		put_if_known(&line->device, device_fields, word, value);
	}
}

/* Room for one more; it is doubled whenever there is a power of two of them. */
static void *grown(void *array, unsigned int nr, size_t size)
{
	if (nr & (nr - 1))
		return array;
	return realloc(array, (nr ? 2 * nr : 1) * size);
}

static int add_conn(struct snap *snap, const struct snap_conn *conn)
{
	struct snap_conn *conns = grown(snap->conns, snap->nr, sizeof(*conns));

	if (!conns)
		return -ENOMEM;
	snap->conns = conns;
	conns[snap->nr++] = *conn;
	return 0;
}

static int add_device(struct snap *snap, const struct snap_device *device)
{
	struct snap_device *devices = grown(snap->devices, snap->nr_devices,
					    sizeof(*devices));

	if (!devices)
		return -ENOMEM;
	snap->devices = devices;
	devices[snap->nr_devices++] = *device;
	return 0;
}

static int read_lines(struct snap *snap, FILE *from)
{
	struct line line;
	char *text = NULL;
	size_t room = 0;
	int ret = 0;

	while (!ret && getline(&text, &room, from) >= 0) {
		parse(&line, text);
		if (line.type == IS_CONN)
			ret = add_conn(snap, &line.conn);
		else if (line.type == IS_DEVICE)
			ret = add_device(snap, &line.device);
	}
	if (!ret && ferror(from))
		ret = -EIO;
	free(text);
	return ret;
}

int snap_read(struct snap *snap, FILE *from)
{
	int ret;

	*snap = (struct snap){ .at = units_now() };
	snap->devices_at = snap->at;
	ret = read_lines(snap, from);
	if (ret)
		snap_free(snap);
	return ret;
}

/* A module without a list of devices is not an error. */
static int take_devices(struct snap *snap)
{
	FILE *file = fopen(SNAP_DEVICES, "r");
	unsigned int i;
	int ret;

	if (!file)
		return 0;
	snap->devices_at = units_now();
	ret = read_lines(snap, file);
	fclose(file);
	for (i = 0; i < snap->nr_devices; i++)
		snap->devices[i].retries = retries_read(RETRIES_SYS, snap->devices[i].device);
	return ret;
}

int snap_take(struct snap *snap, const char *path)
{
	FILE *file = fopen(path, "r");
	int ret;

	if (!file)
		return -errno;
	ret = snap_read(snap, file);
	fclose(file);
	if (!ret && !strcmp(path, SNAP_OBJECTS)) {
		ret = take_devices(snap);
		if (ret)
			snap_free(snap);
	}
	return ret;
}

void snap_free(struct snap *snap)
{
	free(snap->conns);
	free(snap->devices);
	*snap = (struct snap){ };
}

/* An address is not known before, and not told while the connection goes up or down. */
static bool may_be(const char *one, const char *other)
{
	return !*one || !*other || !strcmp(one, other);
}

static bool is_same(const struct snap_conn *one, const struct snap_conn *other)
{
	return one->file == other->file && one->pid == other->pid && one->id == other->id &&
	       may_be(one->local, other->local) && may_be(one->remote, other->remote);
}

/* The same connection in another look, or NULL. */
const struct snap_conn *snap_find(const struct snap *snap, const struct snap_conn *like)
{
	unsigned int i;

	for (i = 0; i < snap->nr; i++)
		if (is_same(&snap->conns[i], like))
			return &snap->conns[i];
	return NULL;
}

/* The device of that name, or NULL. */
const struct snap_device *snap_find_device(const struct snap *snap, const char *name)
{
	unsigned int i;

	for (i = 0; i < snap->nr_devices; i++)
		if (!strcmp(snap->devices[i].device, name))
			return &snap->devices[i];
	return NULL;
}

/* Each driver has its own words for it. */
static const char *const counters[] = {
	"completer_retry_err",	/* rxe: no answer in time, or one that is out of sequence */
	"rcvd_rnr_err",		/* rxe: the peer had posted no receive */
	"local_ack_timeout_err",	/* mlx5, hns */
	"packet_seq_err",	/* mlx5, hns */
	"rnr_nak_retry_err",	/* mlx5, hns */
	"to_retransmits",	/* bnxt_re */
	"seq_err_naks_rcvd",	/* bnxt_re */
	"rnr_naks_rcvd",	/* bnxt_re */
	"tcpRetransSegs",	/* cxgb4 */
	"RetransSegs",		/* irdma */
	"retrans_pkts",		/* efa */
};

/* Whether there is a number in the file, which is added. */
static int add_number(const char *path, int64_t *sum)
{
	FILE *file = fopen(path, "r");
	int64_t number;
	int found;

	if (!file)
		return 0;
	found = fscanf(file, "%" SCNd64, &number) == 1;
	fclose(file);
	if (found)
		*sum += number;
	return found;
}

/* A driver counts by port or for the device as a whole. */
static int add_counter(const char *sys, const char *device, const char *where,
		       const char *counter, int64_t *sum)
{
	char pattern[PATH_MAX + 128];
	glob_t paths;
	int found = 0;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/%s/%shw_counters/%s", sys, device, where,
		 counter);
	if (!glob(pattern, 0, NULL, &paths))
		for (i = 0; i < paths.gl_pathc; i++)
			found += add_number(paths.gl_pathv[i], sum);
	globfree(&paths);
	return found;
}

int64_t retries_read(const char *sys, const char *device)
{
	int64_t sum = 0;
	unsigned int i;
	int found = 0;

	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		found += add_counter(sys, device, "", counters[i], &sum);
		found += add_counter(sys, device, "ports/*/", counters[i], &sum);
	}
	return found ? sum : -1;
}
