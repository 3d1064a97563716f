// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <errno.h>
#include <stdio.h>

#include "cli/units.h"
#include "copy/copy.h"

#define BEAT_SECONDS 1.0

void copy_failed(struct copy *copy, enum err_area area, int err, const char *path)
{
	copy->failed++;
	if (copy->fail)
		copy->fail(copy, area, err, path);
}

/* Links, special files and part files are left out; what cannot be read has failed. */
void copy_skipped(struct copy *copy, enum err_area area, int err, const char *path)
{
	if (err != -ELOOP && err != -EOPNOTSUPP && err != -ECANCELED) {
		copy_failed(copy, area, err, path);
		return;
	}
	copy->skipped++;
	if (copy->skip)
		copy->skip(copy, err, path);
}

void copy_done(struct copy *copy, const char *path, uint64_t size)
{
	copy->files++;
	copy->bytes += size;
	if (copy->done)
		copy->done(copy, path, size);
}

/* Called in long work without a message: the peer's waits have a bound. */
int copy_beat(void *arg)
{
	struct wire_msg msg = { .type = WIRE_ALIVE, .window = WIRE_NO_WINDOW };
	struct copy *copy = arg;
	double now = units_now();

	if (now - copy->beat < BEAT_SECONDS)
		return 0;
	copy->beat = now;
	return session_send(copy->session, &msg);
}

/* "mapped", or "mapped+buffered" if files differed. */
const char *copy_methods(unsigned int mask, char *buf, size_t room)
{
	static const char * const names[METHOD_COUNT] = {
		[METHOD_MAPPED] = "mapped",
		[METHOD_DIRECT] = "direct-io",
		[METHOD_BUFFERED] = "buffered",
	};
	size_t n = 0;
	int i;

	snprintf(buf, room, "none");
	for (i = METHOD_MAPPED; i < METHOD_COUNT; i++)
		if (mask & 1u << i && n < room)
			n += snprintf(buf + n, room - n, "%s%s", n ? "+" : "", names[i]);
	return buf;
}
