/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Options of all commands that connect to a server. They fill @_to, a struct target in
 * @_struct. Arguments named _help and _doc complete the texts of one command.
 */
#ifndef KVERBS_TOOL_SERVER_OPTS_H
#define KVERBS_TOOL_SERVER_OPTS_H

#include "cli/opts.h"

#define SERVER_OPTS_SOURCE(_struct, _to)					\
	OPTS_OPTION("source", 'I', OPTS_TEXT, _struct, _to.source,		\
		    OPTS_HELP("ADDR", "connect from this local address"),	\
		    OPTS_DOC("Connect from this local address."))

#define SERVER_OPTS_KEY_NAME(_struct, _to)					\
	OPTS_OPTION("key-name", 0, OPTS_TEXT, _struct, _to.key_name,		\
		    OPTS_HELP("NAME", "use the key NAME of that file\n"		\
			      "(default: $KVERBS_KEY_NAME, or the only one)"),	\
		    OPTS_DOC("Use the key *NAME* of the key file. The default is the\n" \
			     "environment variable ``KVERBS_KEY_NAME``, if set, else the\n" \
			     "only key of the file."))

#define SERVER_OPTS_KEY(_struct, _to, _doc)					\
	OPTS_OPTION("key", 0, OPTS_TEXT, _struct, _to.key_file,			\
		    OPTS_HELP("FILE", "authenticate both sides with the key in FILE\n"	\
			      "(default: $KVERBS_KEY_FILE)"),			\
		    OPTS_DOC("Authenticate both sides with the key in *FILE* before\n" \
			     "anything is sent. The default is the file named by the\n" \
			     "environment variable ``KVERBS_KEY_FILE``, if set. With a\n" \
			     "key, the client refuses a server that has none. See\n" \
			     ":manpage:`kverbs-key(1)` for the format." _doc))

#define SERVER_OPTS_PORT(_struct, _to, _help, _doc)				\
	OPTS_OPTION("port", 'p', OPTS_PORT, _struct, _to.port,			\
		    OPTS_HELP("PORT", "the server's port (default " WIRE_DEFAULT_PORT _help ")"), \
		    OPTS_DOC("The server's port; default " WIRE_DEFAULT_PORT _doc))

#define SERVER_OPTS_EXPLAIN(_struct, _to)					\
	OPTS_OPTION("explain", 0, OPTS_SET, _struct, _to.explain,		\
		    OPTS_HELP(NULL, "on a failure, print how to check each likely cause"), \
		    OPTS_DOC("If the connection or an operation fails, print for each\n" \
			     "likely cause how to check or fix it, and all counters of\n" \
			     "the device that have changed. Without it, causes and the\n" \
			     "most telling counters are printed."))

#endif /* KVERBS_TOOL_SERVER_OPTS_H */
