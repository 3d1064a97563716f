// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* A listing of connections: all text is printable and terminated, whatever names it contains. */
#include <ctype.h>
#include <stdio.h>

#include "fuzz.h"
#include "watch/snap.h"

static void check_text(const char *text, size_t room)
{
	assert(strnlen(text, room) < room);
	for (; *text; text++)
		assert(isprint((unsigned char)*text));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	FILE *file = size ? fmemopen((void *)data, size, "r") : NULL;
	struct snap snap;
	unsigned int i;

	if (!file)
		return 0;
	assert(!snap_read(&snap, file));
	fclose(file);
	for (i = 0; i < snap.nr; i++) {
		const struct snap_conn *conn = &snap.conns[i];

		check_text(conn->comm, sizeof(conn->comm));
		check_text(conn->state, sizeof(conn->state));
		check_text(conn->device, sizeof(conn->device));
		check_text(conn->local, sizeof(conn->local));
		check_text(conn->remote, sizeof(conn->remote));
		assert(snap_find(&snap, conn));
	}
	for (i = 0; i < snap.nr_devices; i++) {
		check_text(snap.devices[i].device, sizeof(snap.devices[i].device));
		assert(snap_find_device(&snap, snap.devices[i].device));
	}
	snap_free(&snap);
	return 0;
}
