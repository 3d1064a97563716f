// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* The command line: accepted values are within the bounds of their option. */
#include <netdb.h>
#include <netinet/in.h>

#include "cli/opts.h"
#include "fuzz.h"

#define WORDS_MAX 16
#define MILLIS_MAX 86400000

struct words {
	bool quiet;
	bool bar;
	const char *source;
	const char *port;
	uint64_t size;
	int wait_ms;
	struct opts_many hosts;
};

static const struct opts_option table[] = {
	OPTS_OPTION("quiet", 'q', OPTS_SET, struct words, quiet),
	OPTS_OPTION("no-bar", 0, OPTS_CLEAR, struct words, bar),
	OPTS_OPTION("source", 'I', OPTS_TEXT, struct words, source),
	OPTS_OPTION("port", 'p', OPTS_PORT, struct words, port),
	OPTS_RANGE("size", 's', OPTS_NUMBER, struct words, size, 23, 1ull << 40),
	OPTS_RANGE("wait", 'w', OPTS_MILLIS, struct words, wait_ms, 100, MILLIS_MAX),
	OPTS_OPTION("host", 'h', OPTS_MANY, struct words, hosts),
	{ }
};

/* Error messages go to a stream that is discarded. */
static FILE *nobody, *heard;

static void hush(void)
{
	if (!nobody)
		nobody = fopen("/dev/null", "w");
	heard = stderr;
	stderr = nobody;
}

/* The resolver accepts it as a port in range, whatever "010" and "1k" may mean. */
static void check_port(const char *port)
{
	struct addrinfo hints = {
		.ai_family = AF_INET, .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST,
	};
	struct addrinfo *list;
	const struct sockaddr_in *in;

	assert(!getaddrinfo("127.0.0.1", port, &hints, &list));
	in = (const void *)list->ai_addr;
	assert(ntohs(in->sin_port) == strtoull(port, NULL, 10));
	freeaddrinfo(list);
}

static void check(const struct words *w, int first, int argc)
{
	unsigned int i;

	assert(first >= 1 && first <= argc);
	for (i = 0; i < w->hosts.nr; i++)
		assert(w->hosts.words[i]);
	assert(!w->size || (w->size >= 23 && w->size <= 1ull << 40));
	assert(!w->wait_ms || (w->wait_ms >= 100 && w->wait_ms <= MILLIS_MAX));
	if (w->port)
		check_port(w->port);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_text(data, size), *p = text;
	char *argv[WORDS_MAX + 2] = { "x" };
	struct words words = { .bar = true };
	int argc = 1, first;

	/* Words end with a NUL. */
	for (; argc <= WORDS_MAX && p <= text + size; p += strlen(p) + 1)
		argv[argc++] = p;
	hush();
	first = opts_parse(argc, argv, table, &words);
	stderr = heard;
	if (first >= 0)
		check(&words, first, argc);
	free(text);
	return 0;
}
