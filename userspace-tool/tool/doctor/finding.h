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

/* Set the verdict, and what was seen. */
void finding_set(struct finding *f, enum finding_verdict verdict, const char *fmt, ...)
	__printf(3, 4);

#define finding_ok(_f, ...)	finding_set(_f, FINDING_OK, __VA_ARGS__)
#define finding_warn(_f, ...)	finding_set(_f, FINDING_WARN, __VA_ARGS__)
#define finding_fail(_f, ...)	finding_set(_f, FINDING_FAIL, __VA_ARGS__)
#define finding_skip(_f, ...)	finding_set(_f, FINDING_SKIP, __VA_ARGS__)

/* Add a command, unless there is no room for another one. */
void finding_mend(struct finding *f, const char *fmt, ...) __printf(2, 3);
/* Append to the advice. */
void finding_advise(struct finding *f, const char *fmt, ...) __printf(2, 3);

const char *finding_verdict_name(enum finding_verdict verdict);

/* Columns to print in: those of the terminal, or 80. */
unsigned int finding_width(void);
void finding_print(const struct finding *f, const char *id, const char *host,
		   unsigned int width);
struct json_object *finding_json(const struct finding *f, const char *id,
				 const char *host);

#endif /* KVERBS_TOOL_DOCTOR_FINDING_H */
