/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Finding of one check of kverbs doctor: verdict, observation, remedy. */
#ifndef KVERBS_TOOL_DOCTOR_FINDING_H
#define KVERBS_TOOL_DOCTOR_FINDING_H

#include <stdbool.h>

#include "cli/util.h"

#define FINDING_COMMANDS 4

struct json_object;

/* From the best to the worst, but for what was not looked at. */
enum finding_verdict {
	FINDING_SKIP,
	FINDING_OK,
	FINDING_WARN,
	FINDING_FAIL,
};

/**
 * struct finding - the result of a check
 * @verdict: so it is
 * @seen: what was seen, a phrase
 * @advice: what no command does, or empty
 * @remedy: commands that mend it, in this order
 * @nr: how many there are
 * @there: they are for the other host
 */
struct finding {
	enum finding_verdict verdict;
	char seen[512];
	char advice[512];
	char remedy[FINDING_COMMANDS][200];
	unsigned int nr;
	bool there;
};

/* The verdict, and what was seen. */
void finding_ok(struct finding *f, const char *fmt, ...) __printf(2, 3);
void finding_warn(struct finding *f, const char *fmt, ...) __printf(2, 3);
void finding_fail(struct finding *f, const char *fmt, ...) __printf(2, 3);
void finding_skip(struct finding *f, const char *fmt, ...) __printf(2, 3);
/* One more command; what has no room is left out. */
void finding_mend(struct finding *f, const char *fmt, ...) __printf(2, 3);
/* Goes on where the one before ended. */
void finding_advise(struct finding *f, const char *fmt, ...) __printf(2, 3);

const char *finding_verdict_name(enum finding_verdict verdict);

/* Columns to print in: those of the terminal, or 80. */
unsigned int finding_width(void);
void finding_print(const struct finding *f, const char *id, const char *host,
		   unsigned int width);
struct json_object *finding_json(const struct finding *f, const char *id,
				 const char *host);

#endif /* KVERBS_TOOL_DOCTOR_FINDING_H */
