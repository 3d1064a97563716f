// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "err.h"
#include "opts.h"

static int shift_of(const char *suffix)
{
	static const char letters[] = "kmgt";
	const char *at;

	if (!*suffix)
		return 0;
	at = strchr(letters, tolower((unsigned char)*suffix));
	if (!at || suffix[1])
		return -1;
	return 10 * (at - letters + 1);
}

/* A number with K, M, G or T for powers of 1024. */
int opts_number(const char *name, const char *arg, uint64_t min, uint64_t max,
		uint64_t *value)
{
	char *end;
	uint64_t v;
	int shift;

	errno = 0;
	v = strtoull(arg, &end, 0);
	shift = shift_of(end);
	if (errno || end == arg || shift < 0 || !isdigit((unsigned char)*arg) ||
	    v > UINT64_MAX >> shift || v << shift < min || v << shift > max) {
		err_usage("%s: '%s' is not a number from %" PRIu64 " to %" PRIu64,
			  name, arg, min, max);
		return -EINVAL;
	}
	*value = v << shift;
	return 0;
}

/* Seconds, maybe with a fraction; the bounds are milliseconds. */
int opts_millis(const char *name, const char *arg, int min, int max, int *ms)
{
	char *end;
	double s;

	errno = 0;
	s = strtod(arg, &end);
	if (errno || end == arg || *end || !(s * 1000 >= min && s * 1000 <= max)) {
		err_usage("%s: '%s' is not a time from %g to %g seconds", name, arg,
			  min / 1000., max / 1000.);
		return -EINVAL;
	}
	*ms = s * 1000 + 0.5;
	return 0;
}

int opts_port(const char *arg, const char **port)
{
	uint64_t v;

	if (opts_number("--port", arg, 0, 65535, &v))
		return -EINVAL;
	*port = arg;
	return 0;
}
