#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Measure the pause of a copy whose first link falls silent. Runs in a guest, perf/paths calls it.

usage: pause.py ROUNDS SRC DST
"""

import random
import statistics
import subprocess
import sys
import time

LINKS = "eth0", "eth1"
# Probes and what the connection manager sends are less than that.
DATA = 50000


def carried(*links):
    """Return the bytes that links have sent and received."""
    total = 0
    for link in links:
        for way in "rx_bytes", "tx_bytes":
            with open(f"/sys/class/net/{link}/statistics/{way}", encoding="ascii") as file:
                total += int(file.read())
    return total


def silence(change):
    subprocess.run(["tc", "qdisc", change, "dev", LINKS[0], "root", "netem", "loss", "100%"], check=True)


def round_of(source, sink, size):
    """Copy and silence the first link at a random moment; return the longest time without data in s."""
    at = carried(*LINKS)
    cut = carried(LINKS[0]) + random.uniform(0.2, 0.8) * size
    silent = False
    longest = 0
    with subprocess.Popen(["kverbs", "cp", "-I", "--bwlimit", "5M", "--path", "a.2", source, sink]) as copy:
        since = time.monotonic()
        while copy.poll() is None:
            now = time.monotonic()
            if not silent and carried(LINKS[0]) >= cut:
                silence("add")
                silent = True
            if carried(*LINKS) >= at + DATA:
                at = carried(*LINKS)
                if silent:
                    longest = max(longest, now - since)
                since = now
            time.sleep(0.005)
    if silent:
        silence("del")
    if copy.returncode or not silent:
        sys.exit(f"pause: the copy ended with {copy.returncode}, {'' if silent else 'not '}cut")
    return longest


def ready():
    """Wait until the first link carries again."""
    while subprocess.run(["kverbs", "ping", "-q", "-c", "1", "a"], check=False).returncode:
        pass


def main():
    rounds, source, sink = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    subprocess.run(["modprobe", "-q", "sch_netem"], check=True)
    size = 40000000
    with open("/tmp/file", "wb") as file:
        file.write(random.randbytes(size))
    pauses = []
    for _ in range(rounds):
        ready()
        pauses.append(round_of(source, sink, size))
    print(f"{source} to {sink}: pauses of {statistics.median(pauses):.2f} s in the median, "
          f"{max(pauses):.2f} s at most, {rounds} cuts")


main()
