# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""The comparison: each case is a row of a table; its columns are measured in turns."""

KIB = 1024
MIB = 1024 * KIB
PARTS = ("bw", "rate", "cost", "lat", "many", "connect", "ping", "cp", "alloc")
# Time limits in seconds: no round starts after this.
BUDGET = {"bw": 840, "rate": 240, "cost": 240, "lat": 600, "many": 300, "connect": 60, "ping": 60, "cp": 60,
          "alloc": 60}
NAMES = {
    "perftest": "perftest", "perftest-e": "perftest -e",
    "user": "kverbs", "user-e": "kverbs -e", "kernel": "kernel engine",
    "kernel-e": "kernel engine -e",
    "rping": "rping", "ping": "kverbs ping --rping",
    "cmtime": "cmtime", "cmtime-many": "cmtime, all at once", "connect": "kverbs bench connect",
    "alloc": "kverbs", "alloc-kernel": "kernel engine",
    "rcopy": "rcopy", "cp": "kverbs cp", "rsync": "rsync", "write": "kverbs bench write-bw",
}
# Limit of the bytes in flight on each side, so that a run with 8 MiB ends in acceptable time.
FLIGHT = 16 * MIB
DEPTH = 128
RECEIVES = 512
LIST = 32


def depth_of(size):
    return max(2, min(DEPTH, FLIGHT // max(size, 1)))


def verb(operation):
    return operation.split("-")[0]


def columns_of(operation, kernel):
    """perftest has no events for WRITE, and no tool has them for its latency."""
    ours = ["user"] + (["kernel"] if kernel else [])
    if operation == "write-lat":
        return ["perftest", *ours]
    ours += [f"{each}-e" for each in ours]
    return ["perftest"] + (["perftest-e"] if verb(operation) != "write" else []) + ours


def case(part, operation, columns, size, **more):
    depth = more.pop("depth", depth_of(size))
    return {"part": part, "operation": operation, "columns": columns, "size": size,
            "depth": depth, "list": 1, "moderation": max(1, depth // 4), "lanes": 1, **more}


def bandwidths(kernel, quick):
    sizes = (64 * KIB,) if quick else (8, 4 * KIB, 64 * KIB, MIB, 8 * MIB)
    for operation in ("send-bw", "write-bw", "read-bw"):
        columns = columns_of(operation, kernel)
        for size in sizes:
            yield case("bw", operation, columns, size)
        if not quick or operation == "send-bw":
            yield case("bw", operation, columns, 4 * KIB, list=LIST)


def rates(kernel, quick):
    for operation in ("send-bw", "write-bw") if quick else ("send-bw", "write-bw", "read-bw"):
        columns = columns_of(operation, kernel)
        if not quick:
            yield case("rate", operation, columns, 64, moderation=1)
        yield case("rate", operation, columns, 64, list=LIST, moderation=LIST)


def costs(kernel, quick):
    """With events: on one CPU a polling task uses up the time of the task it waits for."""
    for operation in ("send-bw", "read-bw") if quick else ("send-bw", "write-bw", "read-bw"):
        columns = [each for each in columns_of(operation, kernel) if each.endswith("-e")]
        for size, length in ((64, LIST),) if quick else ((64, 1), (64, LIST), (4 * KIB, 1), (4 * KIB, LIST)):
            yield case("cost", operation, columns, size, list=length, moderation=LIST, most=3)


def latencies(kernel, quick):
    sizes = (8,) if quick else (8, 4 * KIB, 256 * KIB, 8 * MIB)
    for operation in ("send-lat", "write-lat", "read-lat"):
        for size in sizes:
            yield case("lat", operation, columns_of(operation, kernel), size)


def many(kernel, quick):
    columns = ["user-e", "perftest-e"] + (["kernel-e"] if kernel else [])
    for lanes in (1, 4) if quick else (1, 10, 100, 1000):
        yield case("many", "read-bw", columns, 4 * KIB, depth=16, moderation=4, lanes=lanes)


def singles(_kernel, quick):
    yield case("connect", "connect", ["cmtime", "cmtime-many", "connect"], 0, depth=DEPTH,
               count=5 if quick else 20)


def pings(_kernel, quick):
    for size in (64,) if quick else (64, 4 * KIB, 32 * KIB):
        yield case("ping", "ping", ["rping", "ping"], size, count=100 if quick else 1000)


def copies(_kernel, quick):
    yield case("cp", "cp", ["rcopy", "cp", "write"], MIB, depth=16, moderation=1,
               count=8 if quick else 128)


def allocations(kernel, quick):
    columns = ["alloc"] + (["alloc-kernel"] if kernel else [])
    for operation in ("write-bw",) if quick else ("send-bw", "write-bw", "read-bw"):
        for size in (64,) if quick else (64, 64 * KIB):
            yield case("alloc", operation, columns, size, depth=64, most=1,
                       count=1 if quick else 5)


MAKERS = dict(zip(PARTS, (bandwidths, rates, costs, latencies, many, singles, pings, copies, allocations)))


def cases_of(part, kernel, quick):
    return list(MAKERS[part](kernel, quick))
