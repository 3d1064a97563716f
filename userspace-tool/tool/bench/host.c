// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "bench/host.h"

#define NSEC_PER_SEC 1000000000ull

/* Other guests' time is not this host's, and a guest's is in user time already. */
static uint64_t busy_ticks(const char *line)
{
	uint64_t user, nice, system, idle, iowait, irq, softirq;

	if (sscanf(line, "cpu %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
		   " %" SCNu64 " %" SCNu64, &user, &nice, &system, &idle, &iowait, &irq,
		   &softirq) != 7)
		return 0;
	return user + nice + system + irq + softirq;
}

static void parse_line(const char *line, long ticks_per_second, struct host_work *w)
{
	if (!strncmp(line, "cpu ", 4))
		w->cpu_ns = busy_ticks(line) * (NSEC_PER_SEC / ticks_per_second);
	else if (!strncmp(line, "intr ", 5))
		sscanf(line, "intr %" SCNu64, &w->interrupts);
	else if (!strncmp(line, "ctxt ", 5))
		sscanf(line, "ctxt %" SCNu64, &w->switches);
}

/* The line of interrupts may be longer than any buffer: its beginning has the sum. */
void host_parse(FILE *stat, long ticks_per_second, struct host_work *w)
{
	bool begins = true;
	char line[256];

	memset(w, 0, sizeof(*w));
	while (fgets(line, sizeof(line), stat)) {
		if (begins)
			parse_line(line, ticks_per_second, w);
		begins = strchr(line, '\n');
	}
}

void host_read(struct host_work *w)
{
	FILE *f = fopen("/proc/stat", "r");

	memset(w, 0, sizeof(*w));
	if (!f)
		return;
	host_parse(f, sysconf(_SC_CLK_TCK), w);
	fclose(f);
}
