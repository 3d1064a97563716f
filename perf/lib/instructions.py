#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run programs between marks, in a guest; then report what count.c has counted. For perf/instructions."""

import bisect
import collections
import json
import os
import shutil
import subprocess
import sys
from statistics import median

sys.dont_write_bytecode = True

import cases  # noqa: E402
import rst  # noqa: E402
import tools  # noqa: E402
from measure import serve  # noqa: E402

LISTS = (1, cases.LIST)
# The programs that copy a tree to the same host: the first by Soft-RoCE, the other by TCP.
COPIES = {
    "cp": ["kverbs", "cp", "-q", "-r", "{tree}", f"{tools.HOST}:"],
    "rsync": ["rsync", "-r", "-t", "--whole-file", "{tree}", f"rsync://{tools.HOST}/files/"],
}
TREES = "/tmp/trees"
PER_DIRECTORY = 100
# Modules by the row in which they are counted; all others are the kernel's.
ROWS = {
    "rdma_rxe": "Soft-RoCE, checksums", "crc32_pclmul": "Soft-RoCE, checksums",
    "ib_core": "ib_core, ib_uverbs", "ib_uverbs": "ib_core, ib_uverbs",
    "kverbs": "kverbs.ko", "kverbs_bench": "kverbs_bench.ko",
}
KERNEL = "kernel, except the rows above"
LIBRARY = "libkverbs"
PROGRAM = "program, other libraries"
TOTAL = "total"
ORDER = (*dict.fromkeys(ROWS.values()), KERNEL, LIBRARY, PROGRAM, TOTAL)
# Functions of which the calls are counted.
CALLS = {"__schedule": "calls of the scheduler", "process_one_work": "work items"}
USER_END = 1 << 47
# Columns of other programs than the tool.
OTHERS = ("perftest", "rsync")
# Where a program is loaded unless addresses are randomised, and the one that has the library in it.
LOADED_AT = 0x555555554000
TOOL = "userspace-tool/build/kverbs"


def modules():
    """Return the address of each module's code."""
    with open("/proc/modules", encoding="ascii") as file:
        return sorted((int(words[5], 16), words[0]) for words in map(str.split, file))


def functions():
    """Return the address of each function of kverbs.ko, and of those of which the calls are counted."""
    with open("/proc/kallsyms", encoding="ascii") as file:
        return sorted((int(words[0], 16), words[2]) for words in map(str.split, file)
                      if words[3:] == ["[kverbs]"] or len(words) == 3 and words[2] in CALLS)


def make_tree(files, size):
    """Return a directory with so many files, which it makes unless it is there."""
    tree = f"{TREES}/{files}"
    for number in range(0 if os.path.isdir(tree) else files):
        where = f"{tree}/{number // PER_DIRECTORY}"
        os.makedirs(where, exist_ok=True)
        with open(f"{where}/{number}", "wb") as file:
            file.write(os.urandom(size))
    return tree


def serve_rsync():
    config = "/tmp/rsyncd.conf"
    with open(config, "w", encoding="ascii") as file:
        file.write(f"uid = root\ngid = root\nuse chroot = no\n[files]\npath = {tools.ROOT}\nread only = no\n")
    subprocess.run(["rsync", "--daemon", f"--config={config}"], check=True)


def run_copies(mark, rounds, files, size):
    """As run() does, for copies of a few files and of three times as many."""
    runs = []
    serve_rsync()
    for _ in range(rounds):
        for column, command in COPIES.items():
            for count in files, 3 * files:
                tree = make_tree(count, size)
                subprocess.run([mark], check=True)
                subprocess.run([each.format(tree=tree) for each in command], check=True)
                subprocess.run([mark], check=True)
                shutil.rmtree(f"{tools.ROOT}/{count}")
                runs.append([1, column, count])
    return runs


def columns_of(operation):
    return [column for column in cases.columns_of(operation, True) if column.endswith("-e")]


def run_messages(mark, operation, rounds, messages, size):
    runs = []
    columns = columns_of(operation)
    for length in LISTS:
        case = cases.case("cost", operation, columns, size, list=length, moderation=cases.LIST)
        for _ in range(rounds):
            for column in columns:
                for count in messages, 3 * messages:
                    subprocess.run([mark], check=True)
                    tools.RUN[column](case, count)
                    subprocess.run([mark], check=True)
                    runs.append([length, column, count])
    return runs


def run(mark, operation, rounds, messages, size):
    """Print what was run, in the order of the marks, and where the kernel's code is."""
    with serve():
        if operation == "cp":
            runs = run_copies(mark, rounds, messages, size)
        else:
            runs = run_messages(mark, operation, rounds, messages, size)
    print(json.dumps({"runs": runs, "modules": modules(), "functions": functions()}))


def library():
    """Return the address and name of each function of the tool, and whether it is one of libkverbs."""
    lines = subprocess.run(["nm", "--defined-only", "--line-numbers", TOOL], check=True, stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    found = []
    for line in lines:
        words = line.split()
        if len(words) > 2 and words[1] in "tTwW":
            found.append((LOADED_AT + int(words[0], 16), words[2], len(words) > 3 and "/lib/" in words[3]))
    return sorted(found)


class Code:
    """Where the guest's code is."""

    def __init__(self, guest):
        self.tool = library()
        self.tool_starts = [start for start, _, _ in self.tool]
        self.starts = [start for start, _ in guest["modules"]]
        self.names = [name for _, name in guest["modules"]]
        self.functions = guest["functions"]
        self.function_starts = [start for start, _ in self.functions]
        self.calls = {start: CALLS[name] for start, name in self.functions if name in CALLS}

    def user_row(self, address, column):
        """Return the row of a program's instruction, and its function if that is one of kverbs."""
        at = bisect.bisect(self.tool_starts, address) - 1
        # Behind the tool's last function are the libraries, far away.
        if column.startswith(OTHERS) or at < 0 or at == len(self.tool) - 1:
            return PROGRAM, None
        return LIBRARY if self.tool[at][2] else PROGRAM, self.tool[at][1]

    def row(self, address, column):
        """Return the row of an instruction, and its function if that is one of kverbs."""
        if address < USER_END:
            return self.user_row(address, column)
        at = bisect.bisect(self.starts, address) - 1
        # The kernel's own code is behind that of all modules, as are its pages of BPF programs.
        row = ROWS.get(self.names[at], KERNEL) if at >= 0 else KERNEL
        if row != "kverbs.ko":
            return row, None
        return row, self.functions[bisect.bisect(self.function_starts, address) - 1][1]


def counts(path, code, column):
    """Return the instructions of each row and of each function, and the calls."""
    found = collections.Counter()
    with open(path, encoding="ascii") as file:
        for address, insns, executed in map(str.split, file):
            start = int(address, 16)
            executed = int(executed)
            row, function = code.row(start, column)
            found[row] += int(insns) * executed
            found[TOTAL] += int(insns) * executed
            if function:
                found[row, function] += int(insns) * executed
            if start in code.calls:
                found[code.calls[start]] += executed
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
        found = counts(f"{into}/counts.{2 * number + 1}", code, column)
        if count == messages:
            few = found
        else:
            found.subtract(few)
            rounds[length, column].append({name: value / (2 * messages) for name, value in found.items()})
    return {key: {name: median(each.get(name, 0) for each in values) for name in set().union(*values)}
            for key, values in rounds.items()}


def functions_of(found, columns):
    """Return a row for each function of which an instruction is executed in every other message or more often."""
    names = {name for column in columns for name in found[column] if isinstance(name, tuple)}
    most = {name: max(found[column].get(name, 0) for column in columns) for name in names}
    return [[": ".join(name), *(f"{found[column].get(name, 0):.0f}" for column in columns)]
            for name in sorted(names, key=most.get, reverse=True) if most[name] >= 0.5]


def decimal(value):
    """Return two digits, without the sign of a difference that is nearly 0."""
    return f"{round(value, 2) + 0:.2f}"


def report(into, messages, functions):
    found = figures(into, messages)
    columns = list(found)
    lists = len({length for length, _ in columns}) > 1
    head = ["executed in", *(cases.NAMES[column] + (f", -l {length}" if lists else "") for length, column in columns)]
    rows = [[name, *(decimal(found[each].get(name, 0) / 1000) for each in columns)] for name in ORDER]
    rows += [[name, *(decimal(found[each].get(name, 0)) for each in columns)] for name in CALLS.values()]
    print(rst.table(head, rows), end="")
    if functions:
        print(rst.table(["instructions in", *head[1:]], functions_of(found, columns)), end="")


def main():
    if sys.argv[1] == "run":
        run(sys.argv[2], sys.argv[3], *map(int, sys.argv[4:]))
    else:
        report(sys.argv[2], int(sys.argv[3]), sys.argv[4:])


if __name__ == "__main__":
    try:
        main()
    except (tools.Broken, OSError, ValueError, KeyError) as error:
        sys.exit(f"instructions: {error}")
