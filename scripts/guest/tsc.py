# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The rate of the TSC of this machine."""

import ctypes
import mmap
import platform
import time

# rdtsc; shl $32,%rdx; or %rdx,%rax; ret
RDTSC = b"\x0f\x31\x48\xc1\xe2\x20\x48\x09\xd0\xc3"
SAMPLES = 20
INTERVAL = 0.05


def _sample(rdtsc):
    """Return a time in nanoseconds and the TSC then, read as quickly as possible."""
    def pair():
        before = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        tsc = rdtsc()
        after = time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW)
        return after - before, (before + after) / 2, tsc
    return min(pair() for _ in range(SAMPLES))[1:]


def khz():
    """Return the rate in kHz, or None if this machine has no TSC or lets no code be made."""
    if platform.machine() != "x86_64":
        return None
    try:
        code = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    except OSError:
        return None
    code.write(RDTSC)
    rdtsc = ctypes.CFUNCTYPE(ctypes.c_uint64)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    start, first = _sample(rdtsc)
    time.sleep(INTERVAL)
    end, last = _sample(rdtsc)
    return round((last - first) / (end - start) * 1e6)
