// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/*
 * other_version PORT: a server with an unknown protocol version. See
 * Documentation/reference/protocol.rst for its answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <kverbs.h>

static void must(int ret, const char *what)
{
	if (ret >= 0)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(-ret));
	exit(EXIT_FAILURE);
}

int main(int argc, char **argv)
{
	/* "KVBR", version 99, refused because of the version */
	static const unsigned char no[24] = { 'K', 'V', 'B', 'R', 0, 99, 0, 1 };
	struct kverbs_listener *listener;
	struct kverbs_conn *conn;
	struct kverbs *kv;

	if (argc != 2)
		return EXIT_FAILURE;
	must(kverbs_open(&kv, NULL), "open");
	must(kverbs_listen(kv, NULL, argv[1], 0, &listener), "listen");
	puts("listening");
	fflush(stdout);
	for (;;) {
		must(kverbs_next_request(listener, -1, &conn), "next request");
		kverbs_reject(conn, no, sizeof(no));
	}
}
