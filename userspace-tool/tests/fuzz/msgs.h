/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Builds messages from any bytes. Most are valid messages about existing files, since invalid ones
 * are refused before other code sees them.
 */
#ifndef MSGS_H
#define MSGS_H

#include "fuzz.h"
#include "link.h"

/* Send messages until the input is consumed. */
void msgs_send(struct link *l, struct fuzz_input *in);

#endif /* MSGS_H */
