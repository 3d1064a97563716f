# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Count allocations per operation and their owners with the kernel's own tracing.

A histogram of stacks counts every allocation of slab and of pages. The first module in a
stack is who asked. What is there once is not counted: a long run less a short one.
"""

import os
import re

import tools

TRACING = "/sys/kernel/tracing/events/kmem"
MODULES = "kverbs", "kverbs_bench"
EVENTS = {"kmalloc": "slab", "kmem_cache_alloc": "slab", "mm_page_alloc": "pages"}
TRIGGER = "hist:keys=common_stacktrace:size=4096"
STACK = re.compile(r"\{ common_stacktrace:\n(.*?)\} hitcount: +(\d+)", re.S)
# Operations of a run, times the case's factor.
SHORT, LONG = 200, 1000


def owner(stack):
    """Return the module nearest to the allocation."""
    match = re.search(r"\[(\w+)\]$", stack, re.M)
    return match[1] if match else "kernel"


def parse(text):
    """Return the number of allocations of each owner in a histogram."""
    counts = {}
    for stack, hits in STACK.findall(text):
        name = owner(stack)
        counts[name] = counts.get(name, 0) + int(hits)
    return counts


def put(event, text):
    with open(f"{TRACING}/{event}/trigger", "w", encoding="ascii") as file:
        file.write(text)


def counted(run):
    """Return the allocations while the command ran: kind and owner to number."""
    counts = {}
    try:
        for event in EVENTS:
            put(event, TRIGGER)
        run()
        for event, kind in EVENTS.items():
            with open(f"{TRACING}/{event}/hist", encoding="utf-8") as file:
                for name, hits in parse(file.read()).items():
                    counts[kind, name] = counts.get((kind, name), 0) + hits
    finally:
        for event in EVENTS:
            if os.path.exists(f"{TRACING}/{event}/trigger"):
                put(event, "!" + TRIGGER)
    return counts


def per_operation(short, long, operations):
    figures = {"kverbs_slab": 0.0, "kverbs_pages": 0.0, "driver_slab": 0.0, "driver_pages": 0.0}
    for (kind, name), hits in long.items():
        whose = "kverbs" if name in MODULES else "driver"
        if name != "kernel":
            figures[f"{whose}_{kind}"] += (hits - short.get((kind, name), 0)) / operations
    return figures


def measure(case, count, engine=None):
    short, long = (counted(lambda n=number: tools.bench(case, n * count, False, engine))
                   for number in (SHORT, LONG))
    return per_operation(short, long, (LONG - SHORT) * count)
