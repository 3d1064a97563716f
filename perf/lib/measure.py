#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Measure all columns of all cases in turns; runs in a guest, perf/compare calls it."""

import argparse
import json
import os
import re
import subprocess
import sys
import time

sys.dont_write_bytecode = True

import alloc  # noqa: E402
import cases  # noqa: E402
import store  # noqa: E402
import tools  # noqa: E402

# Operations of the trial run that determines the number of operations.
TRIAL = {"bw": 64, "rate": 1024, "cost": 1024, "lat": 20, "many": 16}
LEAST = {"bw": 5, "rate": 1024, "cost": 2048, "lat": 20, "many": 16}
MOST = {"bw": 20000, "rate": 40000, "cost": 8192, "lat": 4000, "many": 4000}


RUN = {**tools.RUN, "alloc": alloc.measure,
       "alloc-kernel": lambda case, count: alloc.measure(case, count, "kernel")}


FAILURES = (tools.Broken, OSError, ValueError, KeyError, subprocess.SubprocessError)
# Attempts for a column that fails; each hang costs at most its time limit.
TRIES = 5
PATIENCE = 40


def note(text):
    print(f"compare: {text}", file=sys.stderr, flush=True)


def has_kernel_engine():
    return "--engine" in tools.output("kverbs", "bench", "--help")[0]


def count_for(case, seconds):
    """Return a number of operations for a run of this time, a multiple of list and moderation."""
    part = case["part"]
    if "count" in case:
        return case["count"]
    trial = TRIAL[part]
    if part == "bw":
        trial = max(5, min(trial, 2 * cases.FLIGHT // case["size"]))
    column = "user" if "user" in case["columns"] else "user-e"
    figures = RUN[column](case, trial)
    if "Mpps" in figures:
        count = seconds * figures["Mpps"] * 1e6 / case["lanes"]
    else:
        count = seconds * 1e6 / figures["avg_us"]
    # A bandwidth requires queues that were full at least once.
    least = case["depth"] if part == "bw" and seconds >= 0.1 else LEAST[part]
    count = int(max(least, LEAST[part], min(MOST[part], count)))
    return -(-count // case["list"]) * case["list"]


def look(result, column):
    """Measure one more figure, with retries, unless the column has failed too often already."""
    errors = result["errors"].setdefault(column, [])
    lost = result["lost"]
    while len(errors) < TRIES and lost[column] < PATIENCE:
        began = time.monotonic()
        try:
            figures = RUN[column](result, result["count"])
        except FAILURES as error:
            note(f"{result['operation']} {result['size']}, {column}: {error}")
            errors.append(str(error))
            lost[column] += time.monotonic() - began
            continue
        for name, value in figures.items():
            result["figures"][column].setdefault(name, []).append(round(value, 4))
        return


def causes(result):
    """Return the reasons for columns without any figure."""
    return {column: errors[0] for column, errors in result["errors"].items()
            if errors and not result["figures"][column]}


def begin(case, seconds):
    result = {**case, "errors": {}, "lost": {each: 0 for each in case["columns"]},
              "figures": {each: {} for each in case["columns"]}}
    try:
        result["count"] = count_for(case, seconds)
    except FAILURES as error:
        note(f"{case['operation']} {case['size']}, trial: {error}")
        result["count"] = LEAST.get(case["part"], 1)
    return result


def measure_round(results, number):
    """Measure a round; every second one in reverse order, so that no column is always first."""
    for result in results:
        if number >= result.get("most", number + 1):
            continue
        for column in result["columns"][:: -1 if number % 2 else 1]:
            look(result, column)
        result["rounds"] = number + 1


def measure_part(part, options, kernel):
    """Measure as many rounds as time permits, at least one, at most the requested number."""
    began = time.monotonic()
    seconds = 0.03 if options.quick else options.seconds
    results = [begin(case, seconds) for case in cases.cases_of(part, kernel, options.quick)]
    for number in range(1 if options.quick else options.rounds):
        # A column without any result is not tried again in each round.
        lost = sum(sum(result["lost"].values()) for result in results)
        spent = time.monotonic() - began - lost
        if number and spent * (number + 1) / number > cases.BUDGET[part]:
            note(f"{part}: no time for round {number + 1}")
            break
        measure_round(results, number)
    for result in results:
        result["errors"] = causes(result)
        del result["lost"]
    spent = time.monotonic() - began
    note(f"{part}: {spent:.0f} s")
    return {"cases": results, "seconds": round(spent)}


def version(*command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return done.stdout.decode().strip().splitlines()[0] if done.stdout else ""


def environment():
    row = json.loads(tools.output("kverbs", "bench", "write-bw", tools.HOST, "-j", "-n", "5")[0])
    found = row["environment"]
    for package in "perftest", "rdmacm-utils":
        found[package] = version("dpkg-query", "-W", "-f", "${Version}", package)
    with open("/sys/class/net/dummy0/mtu", encoding="ascii") as file:
        found["netdev_mtu_bytes"] = int(file.read())
    with open("/proc/cmdline", encoding="ascii") as file:
        found["idle"] = dict(re.findall(r"(\S+)=(\S*)", file.read())).get("idle", "halt")
    return found


def serve():
    """Run one server for everything, with its defaults."""
    os.makedirs(tools.ROOT, exist_ok=True)
    server = tools.Process("kverbs", "serve", "--root", tools.ROOT)
    until = time.monotonic() + tools.LIMIT
    while subprocess.run(["kverbs", "ping", "-q", "-c", "1", tools.HOST], check=False,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode:
        if time.monotonic() > until or server.child.poll() is not None:
            sys.exit("compare: kverbs serve does not listen")
    return server


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=0.3)
    parser.add_argument("--into", required=True)
    parser.add_argument("parts", nargs="+", choices=cases.PARTS)
    options = parser.parse_args()
    with serve():
        kernel = has_kernel_engine()
        where = environment()
        parts = {}
        for part in options.parts:
            parts[part] = {"environment": where, **measure_part(part, options, kernel)}
            store.save(options.into, {"schema": store.SCHEMA, "parts": parts})


if __name__ == "__main__":
    main()
