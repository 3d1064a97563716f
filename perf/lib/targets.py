# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The performance targets, and whether the results meet them.

A target is judged by its worst case. None means not measured.
"""

from store import median, paired, paired_best, ratio

KIB = 1024
THEIRS = ("perftest", "perftest-e")
USER = ("user", "user-e")
KERNEL = ("kernel", "kernel-e")


def find(results, part, **wanted):
    return [case for case in results["parts"].get(part, {}).get("cases", [])
            if all(case.get(key) == value for key, value in wanted.items())]


def worst(values, choose):
    """Return the worst one, or None if one is missing, which might be worse."""
    values = list(values)
    return choose(values) if values and None not in values else None


def bandwidth(results):
    cases = [case for size in (64 * KIB, 1024 * KIB) for case in find(results, "bw", size=size)]
    return worst((paired_best(case, USER, THEIRS, "MiBps") for case in cases), min)


def rate(results):
    return worst((paired_best(case, USER, THEIRS, "Mpps")
                  for case in find(results, "rate", list=32)), min)


def modes(case):
    """Pair columns of the same mode, including the kernel engine."""
    return [each for each in zip(USER, THEIRS, KERNEL)
            if each[0] in case["columns"] and each[1] in case["columns"]]


def hangs(case, column):
    """Return True if perftest with events sleeps for ever, so no comparison is possible."""
    return column in case.get("errors", {}) and not case["figures"][column]


def latency(results):
    cases = [case for size in (8, 4 * KIB) for case in find(results, "lat", size=size)]
    return worst((paired(case, ours, theirs, name)
                  for case in cases for ours, theirs, _ in modes(case) for name in ("p50_us", "p99_us")
                  if not hangs(case, theirs)), max)


def of_kernel(case, name):
    return paired_best(case, USER, KERNEL, name)


def engines(results):
    return worst((of_kernel(case, "MiBps") for case in find(results, "bw", list=1)
                  if case["size"] >= 4 * KIB), min)


def engines_lists(results):
    return worst((of_kernel(case, "MiBps") for case in find(results, "bw", list=32)), min)


def engines_small(results):
    return worst((of_kernel(case, "Mpps") for case in find(results, "rate", list=32)), min)


def kept(column):
    """Return the share of one connection's rate that many connections reach, at most 1."""
    def of(results):
        rates = [median(case, column, "MiBps") for case in find(results, "many")]
        return ratio(worst(rates[1:], min), rates[0]) if rates else None
    return of


def copy(results):
    cases = find(results, "cp")
    return ratio(median(cases[0], "cp", "own_MiBps"), median(cases[0], "write", "MiBps")) if cases else None


def allocations(results):
    values = [median(case, each, name) for case in find(results, "alloc") for each in case["columns"]
              for name in ("kverbs_slab", "kverbs_pages")]
    return worst(values, max)


# Number, description, "min" or "max", limit, function. Rows without a limit are for comparison,
# such as the loss of the device itself.
TARGETS = (
    ("1", "bandwidth at 64 KiB and 1 MiB, of perftest's better mode", "min", 1.0, bandwidth),
    ("2", "message rate at 64 B in lists of 32, of perftest's better mode", "min", 1.5, rate),
    ("3", "p50 and p99 at 8 B and 4 KiB, of perftest's in the same mode", "max", 1.0, latency),
    ("4", "user engine from 4 KiB up, of the kernel engine", "min", 0.95, engines),
    ("4", "the same at 4 KiB in lists of 32", "min", 0.95, engines_lists),
    ("4", "user engine at 64 B in lists of 32, of the kernel engine", "min", 0.75, engines_small),
    ("6", "allocations of kverbs for an operation", "max", 0.005, allocations),
    ("7", "10 to 1,000 connections, of one", "min", 0.8, kept("user-e")),
    ("7", "the same, kernel engine, for reference", None, None, kept("kernel-e")),
    ("8", "kverbs cp, of bench write-bw -s 1M, both in one guest", "min", 0.9, copy),
)


def verdict(value, bound, limit):
    if value is None:
        return "not measured"
    if limit is None:
        return ""
    return "met" if (value >= limit if bound == "min" else value <= limit) else "not met"


def judge(results):
    for number, what, bound, limit, how in TARGETS:
        value = how(results)
        yield number, what, bound, limit, value, verdict(value, bound, limit)
