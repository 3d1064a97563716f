// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * Exports: making and taking back.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "buf.h"
#include "conn.h"
#include "group.h"
#include "internal.h"

/* Room for so many segments at first, enough for most. */
#define FIRST_SEGS 4
#define EXPORT_TRIES 4

static int export_ioctl(struct kverbs *kv, struct kverbs_cmd_export *cmd)
{
	int ret;

	do {
		ret = kverbs_ioctl(kv, KVERBS_EXPORT, cmd);
	} while (ret == -EINTR);
	return ret;
}

/* Once more with as much room as the kernel says, until it is enough. */
static int export_segs(struct kverbs *kv, struct kverbs_cmd_export *cmd,
		       struct kverbs_segment **segs)
{
	int ret, tries = EXPORT_TRIES;

	cmd->inout_segs_len = FIRST_SEGS;
	do {
		*segs = calloc(cmd->inout_segs_len, sizeof(**segs));
		if (!*segs)
			return -ENOMEM;
		cmd->segs_uptr = (uintptr_t)*segs;
		ret = export_ioctl(kv, cmd);
		if (!ret)
			return 0;
		free(*segs);
	} while (ret == -EMSGSIZE && cmd->inout_segs_len && --tries);
	return ret;
}

/* @id: the connection or the group */
static int export_to(struct kverbs *kv, uint32_t id, struct kverbs_buf *buf, size_t offset,
		     size_t length, unsigned int access, struct kverbs_token *token)
{
	struct kverbs_cmd_export cmd = {
		.size = sizeof(cmd),
		.conn_id = id,
		.access = access,
		.offset = offset,
		.length = length,
		.segs_stride = sizeof(*token->segs),
	};
	struct kverbs_segment *segs;
	int ret;

	memset(token, 0, sizeof(*token));
	if (!length || !kverbs_buf_holds(buf, kv, offset, length))
		return -EINVAL;
	cmd.region_id = buf->id;
	ret = export_segs(kv, &cmd, &segs);
	if (ret)
		return ret;
	token->length = length;
	token->access = access;
	token->nr_segs = cmd.inout_segs_len;
	token->segs = segs;
	token->id = cmd.out_id;
	return 0;
}

int kverbs_export(struct kverbs_conn *conn, struct kverbs_buf *buf, size_t offset,
		  size_t length, unsigned int access, struct kverbs_token *token)
{
	return export_to(conn->kv, conn->obj.id, buf, offset, length, access, token);
}

int kverbs_group_export(struct kverbs_group *group, struct kverbs_buf *buf, size_t offset,
			size_t length, unsigned int access, struct kverbs_token *token)
{
	return export_to(group->kv, group->id, buf, offset, length, access, token);
}

static int unexport(struct kverbs *kv, struct kverbs_token *token)
{
	int ret = kverbs_destroy(kv, token->id);

	kverbs_token_free(token);
	return ret;
}

int kverbs_unexport(struct kverbs_conn *conn, struct kverbs_token *token)
{
	int ret = unexport(conn->kv, token);

	/* The connection has ended, and the export with it. */
	return ret == -ENOENT ? 0 : ret;
}

int kverbs_group_unexport(struct kverbs_group *group, struct kverbs_token *token)
{
	return unexport(group->kv, token);
}
