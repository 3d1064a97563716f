// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * kverbs cp from a server that sends arbitrary messages to another one, which follows links below
 * the destination: only what was requested is written there. Nothing of either server's is left.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>

#include "copy/relay.h"
#include "fake_kernel.h"
#include "jail.h"
#include "msgs.h"

#define IN_MEMORY	(1u << 0)

/* Options of the copy that the first byte of the input chooses, from bit 1 on */
static const uint32_t options[] = {
	WIRE_F_RECURSIVE, WIRE_F_LINKS, WIRE_F_HARD_LINKS, WIRE_F_DELETE, WIRE_F_XATTRS,
	WIRE_F_DRY_RUN, WIRE_F_NO_RESUME,
};

static const struct wire_hello files_hello = {
	.version = WIRE_VERSION,
	.what = WIRE_SERVICE_FILES,
	.msg_max = WIRE_MSG_MAX,
	.depth = WIRE_FILES_DEPTH,
};

/**
 * struct sink_end - the server of the destination, in the same thread
 * @listener: its listener
 * @relay: the relay's side of the connection
 * @s: its own side
 * @copy: what it has done
 * @sink: the server
 */
struct sink_end {
	struct kverbs_listener *listener;
	struct session relay;
	struct session s;
	struct copy copy;
	struct sink sink;
};

static void connect_sink(struct kverbs *kv, struct sink_end *e)
{
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct kverbs_conn *conn;

	assert(!kverbs_listen(kv, "192.0.2.1", "0", 0, &e->listener));
	to.sin_port = htons(kverbs_listener_port(e->listener));
	inet_pton(AF_INET, "192.0.2.1", &to.sin_addr);
	assert(!kverbs_connect_start(kv, (void *)&to, NULL, &conn));
	session_init(&e->relay, kv, conn, &files_hello);
	assert(!session_open(&e->relay));
	assert(!kverbs_next_request(e->listener, 1000, &conn));
	session_init(&e->s, kv, conn, &files_hello);
	assert(!session_accept(&e->s, 0, 0));
	assert(!kverbs_conn_wait(e->relay.conn, 1000));
}

static void open_sink(struct kverbs *kv, struct sink_end *e, const struct jail *jail, uint32_t opts)
{
	char path[PATH_MAX + 16];

	memset(e, 0, sizeof(*e));
	connect_sink(kv, e);
	e->copy.session = &e->s;
	e->copy.opts = opts;
	snprintf(path, sizeof(path), "%s/into", jail->path);
	assert(!sink_open(&e->sink, &e->copy));
	assert(!sink_target_local(&e->sink, path, false));
	e->sink.resume = !(opts & WIRE_F_NO_RESUME);
	e->sink.dry = opts & WIRE_F_DRY_RUN;
	assert(!sink_greet(&e->sink));
}

static void close_sink(struct sink_end *e)
{
	sink_close(&e->sink);
	session_free(&e->s);
	session_free(&e->relay);
	sink_free(&e->sink);
	kverbs_listener_free(e->listener);
}

/* Returns 0 until a message violates the protocol, which ends a server's connection. */
static int take_all(struct sink_end *e)
{
	struct wire_msg msg;
	int ret = 0;

	while (!ret) {
		ret = session_recv(&e->s, &msg, 0);
		if (!ret)
			ret = sink_message(&e->sink, &msg);
	}
	return ret == -ETIMEDOUT ? 0 : ret;
}

/* Both run until nothing is on its way. */
static void pass_all(struct relay *r, struct sink_end *e)
{
	int ret = relay_greet(r);

	while (!ret && !r->gate.finished) {
		ret = relay_pump(r);
		if (!ret)
			ret = take_all(e);
	}
}

static void copy(struct link *l, const struct jail *jail, uint32_t opts)
{
	static struct sink_end e;
	static struct relay r;
	struct copy copied = { .session = &e.relay, .opts = opts };
	struct wire_msg msg;

	open_sink(l->kv, &e, jail, opts);
	relay_init(&r, &copied, &l->s);
	r.gate.top = "f";
	assert(!session_recv(&e.relay, &msg, 0) && msg.type == WIRE_SINK);
	assert(!source_open(&r.src, &copied, &msg));
	pass_all(&r, &e);
	relay_close(&r);
	session_stop(&e.relay);
	session_stop(&l->s);
	relay_free(&r);
	close_sink(&e);
}

static void check_got(const struct jail *jail, uint32_t opts)
{
	unsigned int all = jail_count(jail, "into", "", "");
	struct stat st;
	int got = !fstatat(jail->root, "into/f", &st, AT_SYMLINK_NOFOLLOW);

	assert(all == got + jail_count(jail, "into", ".f.", "kverbs-part"));
	if (got && !(opts & WIRE_F_RECURSIVE))
		assert(S_ISREG(st.st_mode));
	if (opts & WIRE_F_DRY_RUN)
		assert(!all);
	assert(jail_is_untouched(jail));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	unsigned int how = fuzz_take(&in, 1), i;
	struct jail *jail = jail_enter(how & IN_MEMORY);
	static struct link l;
	uint32_t opts = 0;

	for (i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (how & 2u << i)
			opts |= options[i];
	link_open(&l);
	msgs_send(&l, &in);
	copy(&l, jail, opts);
	link_close(&l);
	jail_check(jail);
	check_got(jail, opts);
	return 0;
}
