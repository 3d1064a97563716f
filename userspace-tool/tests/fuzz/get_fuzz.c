// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs cp from a server that sends arbitrary messages: the client writes only what it requested,
 * only to its destination, and without -r no directory. Nothing of the server's is left.
 */
#include <fcntl.h>

#include "copy/sink.h"
#include "jail.h"
#include "msgs.h"

#define IN_MEMORY	(1u << 0)
#define RENAMED		(1u << 1)
#define FILES_ONLY	(1u << 2)
#define RESUME		(1u << 3)

static int take_all(struct sink *sink)
{
	struct wire_msg msg;
	int ret;

	ret = sink_greet(sink);
	while (!ret && !sink->finished) {
		ret = session_recv(sink->s, &msg, sink->s->timeout_ms);
		if (!ret)
			ret = sink_message(sink, &msg);
	}
	return ret;
}

static void get(struct session *s, const struct jail *jail, unsigned int how)
{
	static struct sink sink;
	struct copy copy = { .session = s };
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/into%s", jail->path, how & RENAMED ? "/n" : "");
	assert(!sink_open(&sink, &copy));
	assert(!sink_target_local(&sink, path, false));
	sink.top = "f";
	sink.files_only = how & FILES_ONLY;
	sink.resume = how & RESUME;
	take_all(&sink);
	sink_close(&sink);
	session_stop(s);
	sink_free(&sink);
}

static void check_got(const struct jail *jail, unsigned int how)
{
	const char *name = how & RENAMED ? "n" : "f";
	unsigned int all = jail_count(jail, "into", "", "");
	char path[16], hidden[8];
	struct stat st;
	int got;

	snprintf(path, sizeof(path), "into/%s", name);
	snprintf(hidden, sizeof(hidden), ".%s.", name);
	got = !fstatat(jail->root, path, &st, AT_SYMLINK_NOFOLLOW);
	assert(all == got + jail_count(jail, "into", hidden, "kverbs-part"));
	if (got && how & FILES_ONLY)
		assert(S_ISREG(st.st_mode));
	assert(jail_is_untouched(jail));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	unsigned int how = fuzz_take(&in, 1);
	struct jail *jail = jail_enter(how & IN_MEMORY);
	static struct link l;

	link_open(&l);
	msgs_send(&l, &in);
	get(&l.s, jail, how);
	link_close(&l);
	jail_check(jail);
	check_got(jail, how);
	return 0;
}
