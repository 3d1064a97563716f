#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Print circles of files: a .c/.h pair calls a function of another pair, which in turn depends on it.

usage: circles.py FILE...
"""

import os
import re
import sys

DEFINITION = re.compile(r"^(?!static)[a-z][^\n;={}()]*?\b(\w+)\([^;{}]*?\)\n\{", re.M)
CALL = re.compile(r"\b(\w+)\(")


def read(paths):
    """Return the text of each pair without comments, by the path without its suffix."""
    pairs = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/", "", file.read(), flags=re.S)
        name = os.path.splitext(path)[0]
        pairs[name] = pairs.get(name, "") + text
    return pairs


def calls(pairs):
    """Return for each pair those that it calls."""
    home = {name: pair for pair, text in pairs.items() for name in DEFINITION.findall(text)}
    return {pair: {home[name] for name in CALL.findall(text) if name in home} - {pair}
            for pair, text in pairs.items()}


def reached(graph, start):
    seen, todo = set(), [start]
    while todo:
        for pair in graph[todo.pop()] - seen:
            seen.add(pair)
            todo.append(pair)
    return seen


def main():
    graph = calls(read(sys.argv[1:]))
    reach = {pair: reached(graph, pair) for pair in graph}
    circles = {frozenset(other for other in reach[pair] if pair in reach[other])
               for pair in graph if pair in reach[pair]}
    for circle in circles:
        print(f"a circle of files: {' '.join(sorted(circle))}")
    return bool(circles)


sys.exit(main())
