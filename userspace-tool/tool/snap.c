// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#define _GNU_SOURCE
#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "snap.h"
#include "units.h"
#include "util.h"

enum kind { NUMBER, SIGNED, TEXT, PAIR };

#define FIELD(_name, _kind, _field)						\
	{ _name, _kind, offsetof(struct snap_conn, _field) }

/* Of each text, so that whoever is cut is known by what is left. */
#define TEXT_ROOM	sizeof(((struct snap_conn *)0)->comm)

static const struct field {
	const char *name;
	enum kind kind;
	size_t at;
} fields[] = {
	FIELD("pid", NUMBER, pid),
	FIELD("comm", TEXT, comm),
	FIELD("id", NUMBER, id),
	FIELD("state", TEXT, state),
	FIELD("error", SIGNED, error),
	FIELD("device", TEXT, device),
	FIELD("qp", NUMBER, qp),
	FIELD("local", TEXT, local),
	FIELD("remote", TEXT, remote),
	FIELD("sq", PAIR, sq_used),
	FIELD("rq", PAIR, rq_used),
	FIELD("ops", NUMBER, ops),
	FIELD("errors", NUMBER, errors),
	FIELD("bytes_out", NUMBER, bytes_out),
	FIELD("bytes_in", NUMBER, bytes_in),
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

static void put(struct snap_conn *conn, const struct field *field, char *value)
{
	void *to = (char *)conn + field->at;
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

/* Whether the line is a connection's. */
static bool parse(struct snap_conn *conn, char *line)
{
	static const char blanks[] = "\n ";
	char *save, *word, *value;
	bool found = false;
	unsigned int i;

	*conn = (struct snap_conn){ };
	for (word = strtok_r(line, blanks, &save); word; word = strtok_r(NULL, blanks, &save)) {
		value = strchr(word, '=');
		if (!value)
			continue;
		*value++ = 0;
		found = found || (!strcmp(word, "type") && !strcmp(value, "conn"));
		for (i = 0; i < ARRAY_SIZE(fields); i++)
			if (!strcmp(word, fields[i].name))
				put(conn, &fields[i], value);
	}
	return found;
}

static int add(struct snap *snap, const struct snap_conn *conn)
{
	struct snap_conn *more;

	/* Doubled whenever it is a power of two. */
	if (!(snap->nr & (snap->nr - 1))) {
		more = realloc(snap->conns, (snap->nr ? 2 * snap->nr : 1) * sizeof(*more));
		if (!more)
			return -ENOMEM;
		snap->conns = more;
	}
	snap->conns[snap->nr++] = *conn;
	return 0;
}

int snap_read(struct snap *snap, FILE *from)
{
	struct snap_conn conn;
	char *line = NULL;
	size_t room = 0;
	int ret = 0;

	*snap = (struct snap){ .at = units_now() };
	while (!ret && getline(&line, &room, from) >= 0)
		if (parse(&conn, line))
			ret = add(snap, &conn);
	if (!ret && ferror(from))
		ret = -EIO;
	free(line);
	if (ret)
		snap_free(snap);
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
	return ret;
}

void snap_free(struct snap *snap)
{
	free(snap->conns);
	*snap = (struct snap){ };
}

/* The same connection in another look, or NULL. */
const struct snap_conn *snap_find(const struct snap *snap, const struct snap_conn *like)
{
	unsigned int i;

	for (i = 0; i < snap->nr; i++)
		if (snap->conns[i].pid == like->pid && snap->conns[i].id == like->id &&
		    !strcmp(snap->conns[i].local, like->local) &&
		    !strcmp(snap->conns[i].remote, like->remote))
			return &snap->conns[i];
	return NULL;
}
