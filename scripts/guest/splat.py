# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Find bugs in a kernel log."""

import re

SPLAT = re.compile(
    r"""BUG:|WARNING:|Oops:|kernel[ ]BUG[ ]at|Internal[ ]error
    |general[ ]protection[ ]fault|Kernel[ ]panic|KASAN:|UBSAN:|ODEBUG:
    |DEBUG_LOCKS_WARN|possible[ ](recursive|circular|irq)|inconsistent[ ]lock[ ]state
    |suspicious[ ]RCU[ ]usage|sleeping[ ]function[ ]called|scheduling[ ]while[ ]atomic
    |refcount_t:|list_(add|del)[ ]corruption|unregister_netdevice:[ ]waiting
    |blocked[ ]for[ ]more[ ]than|soft[ ]lockup|hard[ ]LOCKUP|workqueue[ ]lockup
    |rcu.*(detected[ ](expedited[ ])?stalls|self-detected[ ]stall)
    |:[ ][0-9a-f]{4}[ ]\[\#[0-9]+\]
    |(rxe|infiniband).*queue[ ]full|(?<!cgroup[ ])[Oo]ut[ ]of[ ]memory:""",
    re.VERBOSE,
)
CONTEXT = 45
MOST = 200


def find(log, ignore=None):
    """Return the lines of every splat in a log and those after it, at most MOST."""
    lines = log.splitlines()
    shown = []
    until = 0
    for number, line in enumerate(lines):
        if SPLAT.search(line) and not (ignore and re.search(ignore, line)):
            until = number + CONTEXT
        if number < until:
            shown.append(line)
    if len(shown) > MOST:
        shown[MOST:] = [f"... and {len(shown) - MOST} lines more"]
    return shown


def leaks(report):
    """Return the blocks of a kmemleak report that kverbs has allocated."""
    blocks = re.split(r"(?m)^(?=unreferenced object)", report)
    ours = [block for block in blocks if "kverbs" in block and not is_of_kunit_mm(block)]
    return [line for block in ours for line in block.splitlines()]


def is_of_kunit_mm(block):
    """Tell whether a block is, or belongs to, an mm that KUnit leaks.

    KUnit of 6.12 never drops the reference on an mm that a test's thread uses. The mm owns
    what the first MMU notifier has allocated.
    """
    return "kunit_vm_mmap_init" in block or (
        'comm "kunit_try_catch"' in block and "__mmu_notifier_register" in block
    )
