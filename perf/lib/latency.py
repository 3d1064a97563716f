#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Run cyclictest beside programs on its CPU; runs in a guest, perf/latency-rt calls it."""

import json
import os
import sys
import time

sys.dont_write_bytecode = True

import rst  # noqa: E402
import tools  # noqa: E402

# The last one; the server runs on the first one.
CPU = os.cpu_count() - 1
PRIORITY = 90
INTERVAL_US = 1000
# Longer latencies are in no bucket of the histogram; the longest one is known nevertheless.
BUCKETS = 50000
RESULT = "/tmp/cyclictest.json"
# Longer than any round; the program is killed at its end.
FOREVER = 3600
BENCH = ["kverbs", "bench", "read-lat", tools.HOST, "-s", "8", "-D", FOREVER]
LOADS = {
    "nothing": None,
    "a loop in user space": ["sh", "-c", "while :; do :; done"],
    "kverbs, sleeping": [*BENCH, "-e"],
    "kverbs, polling": BENCH,
    "kverbs, polling, kernel engine": [*BENCH, "--engine", "kernel"],
}


def cpu_seconds(pid):
    """Return the CPU time that a process has used, in the kernel and outside."""
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        fields = file.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def await_load(load):
    """Wait until the program has used the CPU, which it does when it has connected."""
    until = time.monotonic() + tools.LIMIT
    while cpu_seconds(load.child.pid) < 0.5:
        if time.monotonic() > until or load.child.poll() is not None:
            raise tools.Broken(f"{' '.join(load.command)} does not run: {tools.tail(load.text)}")
        time.sleep(0.05)


class Latency:
    """The wake-ups of all rounds beside one program."""

    def __init__(self):
        self.histogram = {}
        self.total = 0
        self.maxima = []
        self.share = []

    def add(self, result):
        """Add a result of cyclictest."""
        self.total += result["cycles"]
        self.maxima.append(result["max"])
        for latency, count in result["histogram"].items():
            self.histogram[int(latency)] = self.histogram.get(int(latency), 0) + count

    def quantile(self, fraction):
        """Return the latency that this fraction of the wake-ups does not exceed."""
        seen = 0
        for latency in sorted(self.histogram):
            seen += self.histogram[latency]
            if seen >= fraction * self.total:
                return latency
        return max(self.maxima)

    def row(self, name):
        share = f"{100 * sum(self.share) / len(self.share):.0f} %" if self.share else None
        return [name, share, self.total, *(self.quantile(each) for each in (0.5, 0.99, 0.999)),
                max(self.maxima), ", ".join(map(str, self.maxima))]


def cyclictest(seconds):
    tools.output("cyclictest", "--quiet", "--mlockall", f"--priority={PRIORITY}", f"--affinity={CPU}",
                 "--threads=1", f"--interval={INTERVAL_US}", f"--duration={seconds}",
                 f"--histogram={BUCKETS}", f"--json={RESULT}")
    with open(RESULT, encoding="utf-8") as file:
        return json.load(file)["thread"]["0"]


def measure(command, seconds, latency):
    """Run cyclictest once, beside a program if there is one."""
    if not command:
        latency.add(cyclictest(seconds))
        return
    with tools.Process("taskset", "-c", CPU, *command) as load:
        await_load(load)
        used, began = cpu_seconds(load.child.pid), time.monotonic()
        latency.add(cyclictest(seconds))
        latency.share.append((cpu_seconds(load.child.pid) - used) / (time.monotonic() - began))
        if load.child.poll() is not None:
            raise tools.Broken(f"{' '.join(load.command)} has ended: {tools.tail(load.text)}")


def main():
    rounds, seconds = map(int, sys.argv[1:])
    latencies = {name: Latency() for name in LOADS}
    with tools.Process("taskset", "-c", 0, "kverbs", "serve", "-v") as server:
        server.wait_for("^listening")
        for _ in range(rounds):
            for name, command in LOADS.items():
                measure(command, seconds, latencies[name])
    print(rst.table(["beside", "its share of the CPU", "wake-ups", "p50", "p99", "p99.9", "max", "max of each round"],
                    [latency.row(name) for name, latency in latencies.items()]), end="")


if __name__ == "__main__":
    try:
        main()
    except (tools.Broken, OSError, ValueError, KeyError) as error:
        sys.exit(f"latency-rt: {error}")
