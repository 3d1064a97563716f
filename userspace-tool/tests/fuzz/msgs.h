/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Messages out of any bytes. Most are what the wire knows, about things that are
 * there, since what is no message is refused before anything sees it.
 */
#ifndef MSGS_H
#define MSGS_H

#include "fuzz.h"
#include "link.h"

/* Send all that the input has. */
void msgs_send(struct link *l, struct fuzz_input *in);

#endif /* MSGS_H */
