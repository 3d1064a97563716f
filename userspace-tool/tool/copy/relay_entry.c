// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Messages of the source of a relay. A source must not choose what is written at the sink, as it
 * must not choose it here when files are copied from there.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/util.h"
#include "copy/attrs.h"
#include "copy/mode.h"
#include "copy/relay.h"

/**
 * struct kind - a message about an entry
 * @type: its type
 * @kind: how its DONE is counted
 * @needs: option without which the source must not send it, or 0
 * @mode: type of the entry for --chmod, 0: its mode is not changed
 */
struct kind {
	unsigned int type;
	enum source_kind kind;
	uint32_t needs;
	mode_t mode;
};

static const struct kind kinds[] = {
	{ WIRE_ATTR, SOURCE_OTHER, 0, 0 },
	{ WIRE_NOTE, SOURCE_OTHER, 0, 0 },
	{ WIRE_FILE, SOURCE_FILE, 0, S_IFREG },
	{ WIRE_ASK, SOURCE_FILE, 0, S_IFREG },
	{ WIRE_DIR, SOURCE_DIR, 0, S_IFDIR },
	{ WIRE_DIR_END, SOURCE_DIR, 0, S_IFDIR },
	{ WIRE_LINK, SOURCE_LINK, WIRE_F_LINKS, 0 },
	{ WIRE_HARD, SOURCE_HARD, WIRE_F_HARD_LINKS, 0 },
	{ WIRE_NODE, SOURCE_NODE, WIRE_F_DEVICES, S_IFMT },
	{ WIRE_PRUNE, SOURCE_PRUNE, WIRE_F_DELETE, 0 },
};

static const struct kind *find_kind(unsigned int type)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(kinds); i++)
		if (kinds[i].type == type)
			return &kinds[i];
	return NULL;
}

static bool is_about_dir(unsigned int type)
{
	return type == WIRE_DIR || type == WIRE_DIR_END || type == WIRE_PRUNE;
}

static void name_of(const struct wire_msg *msg, char name[PATH_MAX])
{
	snprintf(name, PATH_MAX, "%.*s", (int)msg->tail_len, (const char *)msg->tail);
}

/* ---- what may be passed on ------------------------------------------------------- */

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* Components "." are left out, so that each entry has one name. */
static void canonical(const struct path *path, char name[PATH_MAX])
{
	const char *p = path->text;
	size_t len = 0, n;

	name[0] = '\0';
	for (; *p; p += n + (p[n] == '/')) {
		n = strcspn(p, "/");
		if (n != 1 || *p != '.')
			len += snprintf(name + len, PATH_MAX - len, "%s%.*s", len ? "/" : "",
					(int)n, p);
	}
}

static bool is_link(const struct relay *r, const char *name)
{
	return tfind(name, &r->links, by_text);
}

static int remember_link(struct relay *r, const struct path *path)
{
	char name[PATH_MAX], *own;
	void *node;

	canonical(path, name);
	own = strdup(name);
	node = own ? tsearch(own, &r->links, by_text) : NULL;
	if (!node || *(char **)node != own)
		free(own);
	return node ? 0 : -ENOMEM;
}

/*
 * A sink follows links beneath the destination, so a source could send one and then files to where
 * it leads, beneath another name than that which was asked for.
 */
static int check_links(const struct relay *r, const struct wire_msg *msg, const struct path *path)
{
	char at[PATH_MAX], *slash;

	canonical(path, at);
	for (slash = strchr(at, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (is_link(r, at))
			return -ELOOP;
		*slash = '/';
	}
	return is_about_dir(msg->type) && is_link(r, at) ? -ELOOP : 0;
}

/* The file that gets another name; the other name of a link is a link, too. */
static int check_first(struct relay *r, const struct wire_msg *msg, const struct path *path)
{
	const struct wire_msg named = { .tail = msg->extra, .tail_len = msg->extra_len };
	char name[PATH_MAX];
	struct path first;
	int ret;

	ret = sink_place(&r->gate, &named, &first);
	if (!ret)
		ret = check_links(r, msg, &first);
	if (ret)
		return ret;
	canonical(&first, name);
	return is_link(r, name) ? remember_link(r, path) : 0;
}

/* Only files were asked for. */
static int check_type(const struct relay *r, unsigned int type)
{
	if (!r->gate.files_only || type == WIRE_FILE || type == WIRE_ASK)
		return 0;
	if (is_about_dir(type))
		return -EISDIR;
	return type == WIRE_LINK ? -ELOOP : -EOPNOTSUPP;
}

static int check_entry(struct relay *r, const struct wire_msg *msg)
{
	struct path path;
	int ret;

	ret = sink_place(&r->gate, msg, &path);
	if (!ret)
		ret = check_type(r, msg->type);
	if (!ret)
		ret = check_links(r, msg, &path);
	if (!ret && msg->type == WIRE_HARD)
		ret = check_first(r, msg, &path);
	if (!ret && msg->type == WIRE_LINK)
		ret = remember_link(r, &path);
	return ret;
}

int relay_refuse(struct relay *r, const struct wire_msg *msg, int err)
{
	struct wire_msg done = {
		.type = WIRE_DONE, .status = wire_status(err), .id = msg->id, .window = msg->window,
	};
	char name[PATH_MAX];

	name_of(msg, name);
	copy_failed(r->copy, ERR_REMOTE, err, name);
	return relay_to_source(r, &done);
}

/* ---- entries --------------------------------------------------------------------- */

/* The user changes modes on the way, and digests of attributes are made with another key. */
static int translate(struct relay *r, struct wire_msg *msg, const struct kind *k)
{
	mode_t type = k->mode & (k->mode == S_IFMT ? msg->mode : S_IFMT);
	int ret;

	if (type)
		msg->mode = (msg->mode & ~07777u) |
			    (mode_change(r->copy->chmod, type | (msg->mode & 07777)) & 07777);
	if (!r->keyed)
		return 0;
	ret = sink_attrs_match(&r->gate, msg);
	if (ret)
		return ret;
	return attrs_digests(&r->gate.attrs, relay_sink_key(r), &msg->acl, &msg->xattr);
}

/* The entry has the number that the source gave it. */
static struct source_pending *pend(struct relay *r, const struct wire_msg *msg,
				   enum source_kind kind, int *ret)
{
	struct source_pending *p;
	char name[PATH_MAX];

	*ret = -EPROTO;
	if (!msg->id || source_pending(&r->src, msg->id) || !source_pending(&r->src, 0))
		return NULL;
	name_of(msg, name);
	p = source_pend(&r->src, name, msg->size, kind, ret);
	if (!p)
		return NULL;
	p->id = msg->id;
	p->begin = msg->type == WIRE_DIR;
	p->st.st_mode = msg->mode;
	if (kind == SOURCE_LINK || kind == SOURCE_HARD) {
		p->target = strndup(msg->extra, msg->extra_len);
		*ret = p->target ? 0 : -ENOMEM;
	}
	r->entries[p - r->src.pending] = (struct relay_entry){ .digest = msg->digest };
	return *ret ? NULL : p;
}

static int send_entry(struct relay *r, struct wire_msg *msg, struct source_pending *p)
{
	int ret = hash_message(relay_sink_key(r), msg, &msg->digest);

	p->digest = msg->digest;
	return ret ? ret : relay_to_sink(r, msg);
}

static int on_entry(struct relay *r, const struct wire_msg *msg, const struct kind *k)
{
	struct source_pending *p;
	struct wire_msg out = *msg;
	int ret;

	ret = check_entry(r, msg);
	if (!ret)
		ret = translate(r, &out, k);
	if (ret)
		return relay_refuse(r, msg, ret);
	p = pend(r, msg, k->kind, &ret);
	return p ? send_entry(r, &out, p) : ret;
}

/* The sink checks attributes with the digests that the entry has; with a key they are made anew. */
static int on_attr(struct relay *r, const struct wire_msg *msg, const struct kind *k)
{
	struct wire_msg out = *msg;
	struct source_pending *p;
	int ret = r->keyed ? sink_take_attr(&r->gate, msg) : 0;

	if (ret)
		return ret;
	p = pend(r, msg, k->kind, &ret);
	return p ? send_entry(r, &out, p) : ret;
}

/* The sink must know: it deletes nothing when the source could not read something. */
static int on_note(struct relay *r, const struct wire_msg *msg, const struct kind *k)
{
	struct wire_msg out = *msg;
	struct source_pending *p;
	char name[PATH_MAX];
	int ret;

	name_of(msg, name);
	copy_skipped(r->copy, ERR_REMOTE, wire_errno(msg->status), name);
	p = pend(r, msg, k->kind, &ret);
	return p ? send_entry(r, &out, p) : ret;
}

/* The rest of the answer to PRUNE is asked for. */
static int go_on_pruning(struct relay *r, const struct wire_msg *msg)
{
	struct source_pending *p = msg->id ? source_pending(&r->src, msg->id) : NULL;
	struct wire_msg out = *msg;

	if (!p || p->kind != SOURCE_PRUNE || !p->more)
		return -EPROTO;
	p->more = false;
	r->entries[p - r->src.pending].digest = msg->digest;
	return send_entry(r, &out, p);
}

/* ---- files ------------------------------------------------------------------------- */

/* A file that the sink was not asked for, since its directory is new there */
static struct source_pending *pend_unasked(struct relay *r, const struct wire_msg *msg, int *ret)
{
	struct source_pending *p = pend(r, msg, SOURCE_FILE, ret);

	if (!p)
		return NULL;
	p->unasked = true;
	p->wanted = true;
	source_say(&r->src, p, WIRE_I_NEW);
	return p;
}

static int send_file(struct relay *r, const struct wire_msg *msg, struct wire_msg *out,
		     struct source_pending *p)
{
	p->wanted = false;
	p->sent = true;
	p->size = msg->size;
	r->src.asked--;
	r->entries[p - r->src.pending].digest = msg->digest;
	progress_name(&r->copy->progress, p->path);
	return msg->flags & WIRE_F_EAGER ? relay_eager(r, msg, out, p) : relay_begin(r, msg, out);
}

static int on_file(struct relay *r, const struct wire_msg *msg, const struct kind *k)
{
	struct source_pending *p = msg->id ? source_pending(&r->src, msg->id) : NULL;
	struct wire_msg out = *msg;
	int ret;

	if (msg->flags & WIRE_F_STREAM || r->copy->opts & WIRE_F_DRY_RUN ||
	    !p != !!(msg->flags & WIRE_F_UNASKED) || (p && !p->wanted))
		return -EPROTO;
	ret = check_entry(r, msg);
	if (!ret)
		ret = translate(r, &out, k);
	if (ret) {
		if (p)
			source_forget(&r->src, p);
		return relay_refuse(r, msg, ret);
	}
	if (!p)
		p = pend_unasked(r, msg, &ret);
	return p ? send_file(r, msg, &out, p) : ret;
}

/* With a key, these carry a digest of the message itself. */
static int check_digest(struct relay *r, const struct wire_msg *msg)
{
	return msg->type == WIRE_FILE ? 0 : copy_check(&r->from, msg);
}

static int about_entry(struct relay *r, const struct wire_msg *msg)
{
	const struct kind *k = find_kind(msg->type);

	if (!k || (k->needs && !(r->copy->opts & k->needs)))
		return -EPROTO;
	if (check_digest(r, msg))
		return -EBADMSG;
	switch (msg->type) {
	case WIRE_ATTR:
		return on_attr(r, msg, k);
	case WIRE_NOTE:
		return on_note(r, msg, k);
	case WIRE_FILE:
		return on_file(r, msg, k);
	case WIRE_PRUNE:
		return msg->flags & WIRE_F_CONTINUE ? go_on_pruning(r, msg) : on_entry(r, msg, k);
	default:
		return on_entry(r, msg, k);
	}
}

int relay_from_source(struct relay *r, const struct wire_msg *msg)
{
	switch (msg->type) {
	case WIRE_TOTAL:
		progress_more(&r->copy->progress, msg->size, msg->flags & WIRE_F_GROWING);
		return 0;
	case WIRE_START:
		return relay_start(r, msg);
	case WIRE_DATA:
		return relay_data(r, msg);
	case WIRE_END:
	case WIRE_ABORT:
		return relay_end(r, msg);
	case WIRE_FINISH:
		r->gate.finished = true;
		return 0;
	/* The sink's waits have a bound, too. */
	case WIRE_ALIVE:
		return relay_to_sink(r, msg);
	default:
		return about_entry(r, msg);
	}
}
