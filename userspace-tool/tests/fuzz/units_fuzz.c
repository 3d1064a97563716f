// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
/* Bytes and times as text: the text fits, and its value is close to the original. */
#include <math.h>

#include "cli/units.h"
#include "fuzz.h"

static void fuzz_size(uint64_t bytes)
{
	static const char letters[] = "BkMGTPE";
	char buf[UNITS_LEN], unit[3];
	double v, scale;

	assert(units_bytes(bytes, buf, sizeof(buf)) == buf);
	assert(strlen(buf) < sizeof(buf) - 1);
	assert(sscanf(buf, "%lf %2s", &v, unit) == 2 && strchr(letters, *unit));
	assert(v < 1000);
	scale = pow(1000, strchr(letters, *unit) - letters);
	assert(fabs(v * scale - bytes) <= (*unit == 'B' ? 0 : 0.0501 * scale));
}

static double read_time(const char *buf)
{
	unsigned int a, b, c;
	int n = sscanf(buf, "%u:%u:%u", &a, &b, &c);

	assert(n >= 2 && b < 60);
	if (n == 2)
		return a * 60. + b;
	assert(c < 60);
	return a * 3600. + b * 60. + c;
}

static void fuzz_time(double seconds)
{
	char buf[UNITS_LEN];

	assert(units_time(seconds, buf, sizeof(buf)) == buf);
	assert(strlen(buf) < sizeof(buf) - 1);
	if (seconds >= 0 && seconds < 100 * 3600)
		assert(fabs(read_time(buf) - seconds) <= 0.5);
	else
		assert(!strcmp(buf, "--:--"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = { data, size };
	uint64_t v = fuzz_take(&in, 8);
	double seconds;

	memcpy(&seconds, &v, sizeof(seconds));
	fuzz_size(v);
	fuzz_time(seconds);
	fuzz_time(v >> 32);
	return 0;
}
