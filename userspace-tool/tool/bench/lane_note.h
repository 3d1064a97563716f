/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/*
 * Notes: 8 bytes in a lane, a number in network order. The side that drives it asks
 * for so many operations to be verified; the other one tells for how many it has
 * receives again, or how many it has verified.
 */
#ifndef KVERBS_TOOL_LANE_NOTE_H
#define KVERBS_TOOL_LANE_NOTE_H

#include "bench/lane.h"

#define NOTE_LEN	8
#define NOTE_STRIDE	64

void *note_in(const struct lane *l, unsigned int i);
/* The number in a note that came; -EBADMSG: it is none. */
int note_read(const struct lane *l, const struct kverbs_req *req, uint64_t *number);
/* Send one, or the last of several if one is on its way. */
void note_send(struct lane *l, uint64_t number);

#endif /* KVERBS_TOOL_LANE_NOTE_H */
