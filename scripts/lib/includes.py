#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Print the includes of own headers that sources do not need, as FILE:LINE: TEXT.

usage: includes.py FILE...

An include is needed if the file names something that the header declares (a function, macro,
type, constant, variable or trace event), or accesses a member of a name that a struct of the
header has, or of a type that the header defines. Some are needed in any case: the header of a
source itself, x.h of x.c; what a header of tests includes for its users, and such a header
itself.
"""
import collections
import json
import os
import re
import subprocess
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]+[<"]([^>"]+)[>"]', re.M)
EVENT = re.compile(r"^(?:TRACE_EVENT|DEFINE_EVENT\(\w+,)\s*\(?\s*(\w+)", re.M)
KEY = re.compile(r"^DECLARE_\w+\((\w+)\)", re.M)
NO_CODE = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', re.S)
ACCESS = re.compile(r"(?:->|\.)(\w+)")
FIXTURE = re.compile(r"\btests/.*\.h$")
# The file that defines trace events includes what their headers only declare.
TRACES = re.compile(r"^#define CREATE_TRACE_POINTS", re.M)


def read(name):
    with open(name, encoding="utf-8") as file:
        return file.read()


def declared(headers):
    names = collections.defaultdict(set)
    pointers = collections.defaultdict(set)
    tags = subprocess.run(["ctags", "--output-format=json", "--languages=C", "--language-force=C",
                           "--kinds-C=+pxdegstuvfm", "-L", "-", "-f", "-"],
                          input="\n".join(headers), capture_output=True, text=True, check=True)
    for line in tags.stdout.splitlines():
        tag = json.loads(line)
        member = "." * (tag["kind"] == "member") + tag["name"]
        names[tag["path"]].add(member)
        if member[0] == "." and "typeref" in tag:
            pointers[re.sub(r"^struct:|[ *].*$", "", tag["typeref"])].add(member)
    for header in headers:
        text = read(header)
        names[header].update("trace_" + name for name in EVENT.findall(text))
        names[header].update(KEY.findall(text))
        # To dereference a member takes the struct that it points to.
        names[header].update(*[pointers[name] for name in names[header] if name in pointers])
    return names


def find(source, include, headers):
    """Return the header that an include of the source means, None if it is not an own one."""
    beside = os.path.normpath(os.path.join(os.path.dirname(source), include))
    if beside in headers:
        return beside
    found = [header for header in headers if header.endswith("/" + include)]
    return found[0] if len(found) == 1 else None


def main():
    files = sys.argv[1:]
    headers = [name for name in files if name.endswith(".h")]
    names = declared(headers)
    for source in files:
        text = read(source)
        if TRACES.search(text) or FIXTURE.search(source):
            continue
        code = NO_CODE.sub(" ", INCLUDE.sub("", text))
        words = set(re.findall(r"\w+", code)) | {"." + name for name in ACCESS.findall(code)}
        for found in INCLUDE.finditer(text):
            header = find(source, found[1], headers)
            if header is None or FIXTURE.search(header) or os.path.splitext(source)[0] == os.path.splitext(header)[0]:
                continue
            if not names[header] & words:
                print(f"{source}:{text.count(chr(10), 0, found.start(1)) + 1}: "
                      f"nothing of {found[1]} is used")


if __name__ == "__main__":
    main()
