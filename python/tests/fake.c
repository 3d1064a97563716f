// SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
#include "fake.h"
#include "fake_kernel.h"

void fake_set_loopback(bool loopback)
{
	fake.loopback = loopback;
}

void fake_set_segment(uint64_t max_segment)
{
	fake.max_segment = max_segment;
}
