/* SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB */
/* Members of the fake kernel's configuration, for tests that cannot name them. */
#ifndef FAKE_H
#define FAKE_H

#include <stdbool.h>
#include <stdint.h>

void fake_set_loopback(bool loopback);
void fake_set_segment(uint64_t max_segment);

#endif /* FAKE_H */
