#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Generate tables and plots of results; perf/compare calls it."""

import argparse
import json
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True

import cases  # noqa: E402
import rst  # noqa: E402
import store  # noqa: E402
import targets  # noqa: E402
from store import median, paired, paired_best, ratio  # noqa: E402

BENCH_PLOT = os.path.join(os.path.dirname(os.path.realpath(__file__)), os.pardir, os.pardir,
                          "contrib", "bench-plot")
THEIRS, USER = targets.THEIRS, targets.USER
TITLES = {"send": "SEND", "write": "WRITE", "read": "READ"}


def shown(part):
    """Return the columns of all cases of a part, in the order of NAMES."""
    return [each for each in cases.NAMES if any(each in case["columns"] for case in part["cases"])]


def names(columns):
    return [cases.NAMES[each] for each in columns]


def rate_rows(part, name, first):
    columns = shown(part)
    for case in part["cases"]:
        values = [median(case, each, name) for each in columns]
        yield [*first(case), *map(rst.number, values),
               rst.ratio(paired_best(case, USER, THEIRS, name)),
               *([rst.ratio(targets.of_kernel(case, name))] if "kernel" in columns else [])]


def rate_table(part, name, head, first):
    columns = shown(part)
    head = [*head, *names(columns), "kverbs/perftest"] + (["user/kernel"] if "kernel" in columns else [])
    return rst.table(head, rate_rows(part, name, first))


def operation(case):
    return TITLES[cases.verb(case["operation"])]


def bandwidth(part):
    return ("MiB per second. ``-t`` is the depth, ``-Q`` the moderation and ``-l`` the operations of a\n"
            "post, of both.\n\n" +
            rate_table(part, "MiBps", ["operation", "size", "-t", "-Q", "-l"],
                       lambda case: (operation(case), rst.size(case["size"]), case["depth"],
                                     case["moderation"], case["list"])))


def rates(part):
    return ("Million operations of 64 bytes per second, with ``-t 128`` and the ``-l`` and ``-Q`` that\n"
            "are shown. perftest posts receives in the same lists (``--recv_post_list``), as kverbs\n"
            "does.\n\n" +
            rate_table(part, "Mpps", ["operation", "-l", "-Q"],
                       lambda case: (operation(case), case["list"], case["moderation"])))


def cost_rows(part):
    columns = shown(part)
    for case in part["cases"]:
        values = [ratio(1, median(case, each, "Mpps")) for each in columns]
        known = dict(zip(columns, values))
        yield [operation(case), rst.size(case["size"]), case["list"], *map(rst.number, values),
               rst.ratio(ratio(known["user-e"], known["perftest-e"])),
               *([rst.ratio(ratio(known["user-e"], known["kernel-e"]))] if "kernel-e" in known else [])]


def cost(part):
    columns = shown(part)
    head = ["operation", "size", "-l", *names(columns), "kverbs/perftest"]
    head += ["user/kernel"] if "kernel-e" in columns else []
    return ("Thousand instructions per operation, counted for the whole guest: both ends and the\n"
            "device; ``-t 128 -Q 32``. A ratio below 1 means that kverbs needs fewer.\n\n" +
            rst.table(head, cost_rows(part)))


def latency_rows(part):
    for case in part["cases"]:
        for ours, theirs, kernel in targets.modes(case):
            mode = "events" if ours.endswith("-e") else "polling"
            row = [operation(case), rst.size(case["size"]), mode]
            for name in "p50_us", "p99_us":
                pair = median(case, theirs, name), median(case, ours, name)
                row += [*map(rst.number, pair), rst.ratio(paired(case, ours, theirs, name))]
            row += [rst.number(median(case, kernel, f"p{q}_us")) for q in (50, 99)]
            yield row


def latency(part):
    head = ["operation", "size", "both", "perftest p50", "kverbs p50", "ratio",
            "perftest p99", "kverbs p99", "ratio", "kernel p50", "kernel p99"]
    rows = list(latency_rows(part))
    if "kernel" not in shown(part):
        head, rows = head[:-2], [row[:-2] for row in rows]
    return ("Microseconds; half a round trip of SEND and WRITE, a whole one of READ. A ratio below 1\n"
            "means that kverbs is faster.\n\n" + rst.table(head, rows))


def many(part):
    columns = shown(part)
    head = ["connections"]
    for each in columns:
        head += [cases.NAMES[each], "of one"]
    head += ["client CPU", "server CPU"]
    rows, first = [], {}
    for case in part["cases"]:
        row = [case["lanes"]]
        for each in columns:
            value = median(case, each, "MiBps")
            row += [rst.number(value), rst.ratio(ratio(value, first.setdefault(each, value)))]
        row += [rst.number(median(case, "user-e", f"{side}_cpu_us_per_operation"))
                for side in ("client", "server")]
        rows.append(row)
    return ("READs of 4 KiB, 16 in flight on each connection, with events; MiB per second in\n"
            "total, and CPU time of kverbs' measuring thread in microseconds per operation.\n\n" +
            rst.table(head, rows))


def only(part):
    return part["cases"][0]


def connect(part):
    case = only(part)
    rows = [[cases.NAMES[each], rst.number(median(case, each, "us")),
             rst.number(median(case, each, "end_us"))] for each in case["columns"]]
    steps = [[step, *(rst.number(median(case, "connect", f"step_{step}_{q}_us")) for q in ("p50", "p99"))]
             for step in step_names(case)]
    return ("Microseconds to set up a connection, until it is established, and to end it. cmtime makes\n"
            "one connection per run, and its figure is the median of as many runs as there are rounds;\n"
            "*all at once* it makes a hundred, each step for all of them, divided by their number.\n"
            "kverbs makes one after another.\n\n" + rst.table(["tool", "set up", "end"], rows) +
            "\nThe steps of kverbs:\n\n" + rst.table(["step", "p50", "p99"], steps))


def step_names(case):
    return [name[5:-7] for name in case["figures"]["connect"]
            if name.startswith("step_") and name.endswith("_p50_us")]


def ping(part):
    rows = []
    for case in part["cases"]:
        pair = [median(case, each, "us") for each in ("rping", "ping")]
        rows.append([rst.size(case["size"]), *map(rst.number, pair), rst.ratio(ratio(pair[1], pair[0]))])
    return ("Microseconds per round of rping (SEND, READ, SEND, SEND, WRITE, SEND) against rdma-core's\n"
            "server, from the difference between the times of many rounds and of few.\n\n" +
            rst.table(["size", "rping", "kverbs ping --rping", "ratio"], rows))


def copy(part):
    case = only(part)
    rcopy, cp, own, write = (median(case, *key) for key in (
        ("rcopy", "MiBps"), ("cp", "MiBps"), ("cp", "own_MiBps"), ("write", "MiBps")))
    return (f"A file of {case['count']} MiB from tmpfs to tmpfs, in MiB per second over the run time of\n"
            "the command; the rate that kverbs cp itself prints excludes its start and connection, as\n"
            "that of bench does. kverbs verifies the copy, rcopy does not.\n\n" +
            rst.table(["rcopy", "kverbs cp", "ratio", "kverbs cp, by itself", "bench write-bw -s 1M", "ratio"],
                      [[rst.number(rcopy), rst.number(cp), rst.ratio(ratio(cp, rcopy)),
                        rst.number(own), rst.number(write), rst.ratio(ratio(own, write))]]))


def allocations(part):
    head = ["operation", "size", "engine", "slab, kverbs", "pages, kverbs", "slab, driver", "pages, driver"]
    rows = [[operation(case), rst.size(case["size"]), "kernel" if each == "alloc-kernel" else "user",
             *(rst.exact(median(case, each, name)) for name in (
                 "kverbs_slab", "kverbs_pages", "driver_slab", "driver_pages"))]
            for case in part["cases"] for each in case["columns"]]
    return ("Allocations per operation, at both ends: the difference between a long run and one of a\n"
            "fifth of its length, from the kernel's trace events. Each belongs to the nearest module in\n"
            "the stack; those of ib_core, ib_uverbs and Soft-RoCE are the driver's.\n\n" +
            rst.table(head, rows))


def aim(bound, limit):
    return {"min": "at least ", "max": "at most "}[bound] + f"{limit:g}" if bound else "-"


def judged(results):
    rows = [[number, what, aim(bound, limit), "-" if value is None else f"{value:.3f}", verdict]
            for number, what, bound, limit, value, verdict in targets.judge(results)]
    return ("The worst case of each, from the tables below.\n\n" +
            rst.table(["no.", "what", "target", "measured", ""], rows))


def setting(results):
    """Return the machine and versions, for each part if they differ."""
    groups = {}
    for name, part in results["parts"].items():
        text = ", ".join(f"{key} {value}" for key, value in sorted(part["environment"].items()))
        groups.setdefault(text, []).append(name)
    lines = []
    for text, parts in groups.items():
        lines.append(f"``{' '.join(parts)}``\n    {text}\n")
    rounds = sorted({case["rounds"] for part in results["parts"].values() for case in part["cases"]})
    return ("\n".join(lines) + f"\nEach figure is the median of {' or '.join(map(str, rounds))} rounds, in which all\n"
            "columns of a row are measured in turns, every second time in reverse order. Ratios of\n"
            "rates and latencies are medians of the ratios of each round.\n" +
            failures(results))


def failures(results):
    lines = [f"- {name}, {case['operation']} {rst.size(case['size'])}, {column}: ``{error.replace('`', '')}``\n"
             for name, part in results["parts"].items() for case in part["cases"]
             for column, error in case["errors"].items()]
    return "\nNot measured:\n\n" + "".join(lines) if lines else ""


MAKERS = {"bw": bandwidth, "rate": rates, "cost": cost, "lat": latency, "many": many, "connect": connect,
          "ping": ping, "cp": copy, "alloc": allocations}


# ---- pictures --------------------------------------------------------------------


def bench_json(part, verb, column, key, name):
    """Return the input of contrib/bench-plot: a sweep with one operation per post."""
    rows = [{"operation": case["operation"], "size_bytes": case["size"], name: value}
            for case in part["cases"] if cases.verb(case["operation"]) == verb and case["list"] == 1
            for value in [median(case, column, key)] if value]
    return {"rows": rows} if rows else None


def draw(part, verb, key, name, path):
    with tempfile.TemporaryDirectory() as directory:
        files = []
        for column in shown(part):
            sweep = bench_json(part, verb, column, key, name)
            if sweep:
                files.append(os.path.join(directory, cases.NAMES[column].replace(",", "") + ".json"))
                with open(files[-1], "w", encoding="utf-8") as file:
                    json.dump(sweep, file)
        subprocess.run([BENCH_PLOT, *files, "-o", path], check=True)


def pictures(results, part_name, into):
    key, name = {"bw": ("MiBps", "bw_avg_MiBps"), "lat": ("p50_us", "t_typical_us")}[part_name]
    text = ""
    for verb, word in TITLES.items():
        path = f"{part_name}-{verb}.svg"
        draw(results["parts"][part_name], verb, key, name, os.path.join(into, path))
        what = "bandwidth" if part_name == "bw" else "median latency"
        text += rst.figure(path, f"{what} of {word} against size")
    return text


def write(into, name, text):
    with open(os.path.join(into, name + ".inc"), "w", encoding="utf-8") as file:
        file.write(rst.SPDX + text.rstrip("\n") + "\n")


def make(path, into):
    """Write all tables and plots of these results to a directory."""
    results = store.load(path)
    os.makedirs(into, exist_ok=True)
    for name, maker in MAKERS.items():
        if name not in results["parts"]:
            write(into, name, "Not measured.\n")
            continue
        text = maker(results["parts"][name])
        if name in ("bw", "lat"):
            text += "\n" + pictures(results, name, into)
        write(into, name, text)
    write(into, "targets", judged(results))
    write(into, "setting", setting(results))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results")
    parser.add_argument("into")
    options = parser.parse_args()
    make(options.results, options.into)


if __name__ == "__main__":
    main()
