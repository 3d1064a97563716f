#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Merge new results into old ones, and add what only the guest's host knows."""

import os
import re
import subprocess
import sys

sys.dont_write_bytecode = True

import store  # noqa: E402


def emulator():
    done = subprocess.run(["qemu-system-x86_64", "--version"], stdout=subprocess.PIPE, check=True)
    return re.search(r"version (\S+)", done.stdout.decode())[1]


def main():
    new, kept = sys.argv[1:]
    results = store.load(new)
    for part in results["parts"].values():
        part["environment"]["qemu"] = emulator()
        part["environment"]["accelerator"] = os.environ.get("KVERBS_ACCEL", "tcg")
    store.save(kept, store.merge(store.load(kept), results))


main()
