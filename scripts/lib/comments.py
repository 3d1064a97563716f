#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Print the comments of source files, one per line, as FILE:LINE: TEXT.

usage: comments.py FILE...

Knows C, Python with its docstrings, and files whose comments start with #. Consecutive lines
of comment are one comment.
"""
import ast
import re
import sys

C = re.compile(r'/\*(?P<block>.*?)\*/|//(?P<line>[^\n]*)|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S)
# A trailing comment has a blank on both sides; with a quote behind it, it may be in a string.
HASH = re.compile(r"""^[ \t]*\#(?!!)(?P<whole>.*)$|[ \t]\#[ ](?P<rest>\w[^"'`]*)$""", re.M | re.X)
DIRECTIVE = re.compile(r"SPDX-License-Identifier|^\s*(shellcheck|pylint:|noqa)\b")


def c_comments(text):
    for found in C.finditer(text):
        body = found["block"] if found["block"] is not None else found["line"]
        if body is not None:
            yield found.start(), re.sub(r"^[ \t]*\*+", "", body.lstrip("*"), flags=re.M)


def hash_comments(text):
    start, lines, end = 0, [], -1
    for found in HASH.finditer(text):
        whole = found["whole"]
        if whole is not None and DIRECTIVE.search(whole):
            continue
        if lines and (whole is None or found.start() != end + 1):
            yield start, " ".join(lines)
            lines = []
        if whole is None:
            yield found.start(), found["rest"]
            continue
        if not lines:
            start = found.start()
        lines.append(whole)
        end = found.end()
    if lines:
        yield start, " ".join(lines)


def docstrings(text):
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef)):
            body = ast.get_docstring(node)
            if body:
                yield starts[node.body[0].lineno - 1], body


def comments(name, text):
    if name.endswith((".c", ".h")):
        return c_comments(text)
    if name.endswith(".py") or re.match(r"#!.*python", text):
        return sorted([*hash_comments(text), *docstrings(text)])
    return hash_comments(text)


def main():
    for name in sys.argv[1:]:
        with open(name, encoding="utf-8") as file:
            text = file.read()
        for at, body in comments(name, text):
            print(f"{name}:{text.count(chr(10), 0, at) + 1}: {' '.join(body.split())}")


if __name__ == "__main__":
    main()
