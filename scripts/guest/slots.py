# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Limit of concurrent guests: many more guests than CPUs only slow each other down."""

import fcntl
import os
import time

CACHE = os.path.join(os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache"), "kverbs")


def _lock(name, flags):
    file = open(os.path.join(CACHE, name), "w", encoding="ascii")
    try:
        fcntl.flock(file, flags)
    except BlockingIOError:
        file.close()
        return None
    return file


def take(wanted):
    """Wait for this many slots; they are held as long as the returned object exists.

    Only one process waits at a time, for all of its slots, to avoid a deadlock.
    """
    number = int(os.environ.get("KVERBS_GUESTS") or (os.cpu_count() or 1) + 2)
    held = []
    turn = _lock("slots.lock", fcntl.LOCK_EX)
    while len(held) < min(wanted, number):
        for each in range(number):
            file = _lock(f"slot-{each}.lock", fcntl.LOCK_EX | fcntl.LOCK_NB)
            if file:
                held.append(file)
                break
        else:
            time.sleep(0.1)
    turn.close()
    return held
