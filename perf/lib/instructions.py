#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run programs between marks, in a guest; then report what count.c has counted. For perf/instructions."""

import bisect
import collections
import json
import subprocess
import sys
from statistics import median

sys.dont_write_bytecode = True

import cases  # noqa: E402
import rst  # noqa: E402
import tools  # noqa: E402
from measure import serve  # noqa: E402

COLUMNS = ("perftest-e", "user-e", "kernel-e")
LISTS = (1, cases.LIST)
# Modules by the row in which they are counted; all others are the kernel's.
ROWS = {
    "rdma_rxe": "Soft-RoCE, checksums", "crc32_pclmul": "Soft-RoCE, checksums",
    "ib_core": "ib_core, ib_uverbs", "ib_uverbs": "ib_core, ib_uverbs",
    "kverbs": "kverbs.ko", "kverbs_bench": "kverbs_bench.ko",
}
KERNEL = "kernel, except the rows above"
PROGRAM = "program and its libraries"
TOTAL = "total"
ORDER = (*dict.fromkeys(ROWS.values()), KERNEL, PROGRAM, TOTAL)
# Functions of which the calls are counted.
CALLS = {"__schedule": "calls of the scheduler", "process_one_work": "work items"}
USER_END = 1 << 47


def modules():
    """Return the address of each module's code."""
    with open("/proc/modules", encoding="ascii") as file:
        return sorted((int(words[5], 16), words[0]) for words in map(str.split, file))


def functions():
    with open("/proc/kallsyms", encoding="ascii") as file:
        return {words[2]: int(words[0], 16) for words in map(str.split, file)
                if len(words) == 3 and words[2] in CALLS}


def run(mark, rounds, messages, size):
    """Print what was run, in the order of the marks, and where the kernel's code is."""
    runs = []
    with serve():
        for length in LISTS:
            case = cases.case("cost", "send-bw", COLUMNS, size, list=length, moderation=cases.LIST)
            for _ in range(rounds):
                for column in COLUMNS:
                    for count in messages, 3 * messages:
                        subprocess.run([mark], check=True)
                        tools.RUN[column](case, count)
                        subprocess.run([mark], check=True)
                        runs.append([length, column, count])
    print(json.dumps({"runs": runs, "modules": modules(), "functions": functions()}))


class Code:
    """Where the guest's code is."""

    def __init__(self, guest):
        self.starts = [start for start, _ in guest["modules"]]
        self.names = [name for _, name in guest["modules"]]
        self.functions = {start: CALLS[name] for name, start in guest["functions"].items()}

    def row(self, address):
        if address < USER_END:
            return PROGRAM
        at = bisect.bisect(self.starts, address) - 1
        # The kernel's own code is behind that of all modules, as are its pages of BPF programs.
        return ROWS.get(self.names[at], KERNEL) if at >= 0 else KERNEL


def counts(path, code):
    """Return the instructions of each row, and the calls."""
    found = collections.Counter()
    with open(path, encoding="ascii") as file:
        for address, insns, executed in map(str.split, file):
            start = int(address, 16)
            executed = int(executed)
            found[code.row(start)] += int(insns) * executed
            found[TOTAL] += int(insns) * executed
            if start in code.functions:
                found[code.functions[start]] += executed
    return found


def figures(into, messages):
    """Return the medians of each list length and column, per message."""
    with open(f"{into}/guest.json", encoding="utf-8") as file:
        guest = json.load(file)
    code = Code(guest)
    rounds = collections.defaultdict(list)
    few = None
    for number, (length, column, count) in enumerate(guest["runs"]):
        # Each run has a mark before it and one after it.
        found = counts(f"{into}/counts.{2 * number + 1}", code)
        if count == messages:
            few = found
        else:
            found.subtract(few)
            rounds[length, column].append({name: value / (2 * messages) for name, value in found.items()})
    return {key: {name: median(each.get(name, 0) for each in values) for name in {*ORDER, *CALLS.values()}}
            for key, values in rounds.items()}


def report(into, messages):
    found = figures(into, messages)
    columns = [(length, column) for length in LISTS for column in COLUMNS]
    head = ["executed in", *(f"{cases.NAMES[column]}, -l {length}" for length, column in columns)]
    rows = [[name, *(f"{found[each][name] / 1000:.2f}" for each in columns)] for name in ORDER]
    rows += [[name, *(f"{found[each][name]:.2f}" for each in columns)] for name in CALLS.values()]
    print(rst.table(head, rows), end="")


def main():
    if sys.argv[1] == "run":
        run(sys.argv[2], *map(int, sys.argv[3:]))
    else:
        report(sys.argv[2], int(sys.argv[3]))


if __name__ == "__main__":
    try:
        main()
    except (tools.Broken, OSError, ValueError, KeyError) as error:
        sys.exit(f"instructions: {error}")
