#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Print the medians of what perf/lib/storage has measured as a table."""

import collections
import statistics
import sys

NAMES = {"kverbs": "kverbs bench, kernel engine", "nvme": "NVMe over Fabrics", "iser": "iSER",
         "srp": "SRP", "nfs": "NFS over RDMA"}
COLUMNS = (("write", "MiB/s"), ("read", "MiB/s"), ("latency", "us"))


def main():
    values = collections.defaultdict(list)
    for line in sys.stdin:
        words = line.split()
        if len(words) == 4 and words[0] in NAMES:
            values[words[0], words[1]].append(float(words[2]))
    print(f"{'':28}" + "".join(f"{name + ' ' + unit:>16}" for name, unit in COLUMNS))
    for protocol, title in NAMES.items():
        cells = [values[protocol, name] for name, _ in COLUMNS]
        print(f"{title:28}" + "".join(f"{statistics.median(cell):16.1f}" if cell else f"{'-':>16}"
                                      for cell in cells))


if __name__ == "__main__":
    main()
