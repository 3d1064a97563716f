// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include <glob.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>

#include "cli/util.h"
#include "watch/retries.h"

/* Each driver has its own words for it. */
static const char *const counters[] = {
	"completer_retry_err",	/* rxe: no answer in time, or one that is out of sequence */
	"rcvd_rnr_err",		/* rxe: the peer had posted no receive */
	"local_ack_timeout_err",	/* mlx5, hns */
	"packet_seq_err",	/* mlx5, hns */
	"rnr_nak_retry_err",	/* mlx5, hns */
	"to_retransmits",	/* bnxt_re */
	"seq_err_naks_rcvd",	/* bnxt_re */
	"rnr_naks_rcvd",	/* bnxt_re */
	"tcpRetransSegs",	/* cxgb4 */
	"RetransSegs",		/* irdma */
	"retrans_pkts",		/* efa */
};

/* Whether there is a number in the file, which is added. */
static int add_number(const char *path, int64_t *sum)
{
	FILE *file = fopen(path, "r");
	int64_t number;
	int found;

	if (!file)
		return 0;
	found = fscanf(file, "%" SCNd64, &number) == 1;
	fclose(file);
	if (found)
		*sum += number;
	return found;
}

/* A driver counts by port or for the device as a whole. */
static int add_counter(const char *sys, const char *device, const char *where,
		       const char *counter, int64_t *sum)
{
	char pattern[PATH_MAX + 128];
	glob_t paths;
	int found = 0;
	size_t i;

	snprintf(pattern, sizeof(pattern), "%s/%s/%shw_counters/%s", sys, device, where,
		 counter);
	if (!glob(pattern, 0, NULL, &paths))
		for (i = 0; i < paths.gl_pathc; i++)
			found += add_number(paths.gl_pathv[i], sum);
	globfree(&paths);
	return found;
}

int64_t retries_read(const char *sys, const char *device)
{
	int64_t sum = 0;
	unsigned int i;
	int found = 0;

	for (i = 0; i < ARRAY_SIZE(counters); i++) {
		found += add_counter(sys, device, "", counters[i], &sum);
		found += add_counter(sys, device, "ports/*/", counters[i], &sum);
	}
	return found ? sum : -1;
}
