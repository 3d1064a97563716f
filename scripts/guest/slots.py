# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""How many guests run at a time: more than there are CPUs only slow each other."""

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
    """Wait for that many slots; they are held while what is returned lives.

    One waits at a time, for all it wants: two that each held half would wait forever.
    """
    number = int(os.environ.get("KVERBS_GUESTS") or (os.cpu_count() or 1) + 1)
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
