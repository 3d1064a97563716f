# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""What in a kernel's log means that something went wrong."""

import re

SPLAT = re.compile(
    r"""BUG:|WARNING:|Oops:|kernel[ ]BUG[ ]at|Internal[ ]error
    |general[ ]protection[ ]fault|Kernel[ ]panic|KASAN:|UBSAN:|ODEBUG:
    |DEBUG_LOCKS_WARN|possible[ ](recursive|circular|irq)|inconsistent[ ]lock[ ]state
    |suspicious[ ]RCU[ ]usage|sleeping[ ]function[ ]called|scheduling[ ]while[ ]atomic
    |refcount_t:|list_(add|del)[ ]corruption|unregister_netdevice:[ ]waiting
    |blocked[ ]for[ ]more[ ]than|soft[ ]lockup|hard[ ]LOCKUP|workqueue[ ]lockup
    |rcu.*(detected[ ](expedited[ ])?stalls|self-detected[ ]stall)
    |(rxe|infiniband).*queue[ ]full|out[ ]of[ ]memory:""",
    re.VERBOSE,
)
# Under load QEMU's TCG has been seen to lose the flags of a CPU: whatever lies there
# instead may have the trap flag, which the kernel warns of and clears, or anything else,
# of which it dies. Bits 22 to 31 of EFLAGS are reserved and 0 (Intel SDM, volume 1,
# 3.4.3), so no CPU shows them set.
# A CPU of its that runs code while the kernel patches that has also been seen to trap on
# a breakpoint that is gone, and the kernel does not know it: before RIP there is no cc.
BREAKPOINT = re.compile(r"int3: ")
GONE = re.compile(r"Code: .*(?<! cc) <")
EFLAGS = re.compile(r"EFLAGS: ([0-9a-f]{8})")
# rxe_resp_queue_pkt() of 6.12's Soft-RoCE gives its reference to a queue pair away with a
# packet, and then schedules that one's task: another CPU may have dealt with the packet by
# then and dropped the last reference, if the queue pair is being destroyed. The peer's task
# calls it; whoever posts to what he has destroyed has another function there.
GIVEN_AWAY = re.compile(r"WARNING: .* rxe_sched_task\+")
SENDER = re.compile(r"Call Trace:\n.*<TASK>\n.*\] +rxe_xmit_packet\+")
CONTEXT = 45
MOST = 200


def is_drivers(lines):
    """Whether a splat is of a driver's own race."""
    return bool(GIVEN_AWAY.search(lines[0]) and SENDER.search("\n".join(lines)))


def find(log, ignore=None):
    """The lines of every splat in a log, with what follows each, at most MOST."""
    lines = log.splitlines()
    shown = []
    until = 0
    for number, line in enumerate(lines):
        if (SPLAT.search(line) and not (ignore and re.search(ignore, line))
                and not is_drivers(lines[number:number + CONTEXT])):
            until = number + CONTEXT
        if number < until:
            shown.append(line)
    if len(shown) > MOST:
        shown[MOST:] = [f"... and {len(shown) - MOST} lines more"]
    return shown


def is_emulators(lines):
    """Whether what find() has found begins with what no CPU does."""
    flags = [int(value, 16) for line in lines for value in EFLAGS.findall(line)]
    code = [line for line in lines if "Code: " in line]
    return (bool(flags) and flags[0] >> 22 != 0
            or bool(code) and bool(BREAKPOINT.search(lines[0]) and GONE.search(code[0])))


def leaks(report):
    """The blocks of a kmemleak report that our module allocated."""
    blocks = re.split(r"(?m)^(?=unreferenced object)", report)
    return [line for block in blocks if "kverbs" in block for line in block.splitlines()]
