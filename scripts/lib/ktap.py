# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Read KTAP, the nested test results of a kernel."""

import re

RESULT = re.compile(r"^( *)(not ok|ok) (\d+)(?: -)?(?: ([^#]*))?(?:# *(\S+) ?(.*))?$")
PLAN = re.compile(r"^( *)1\.\.(\d+)")
SUBTEST = re.compile(r"^( *)# Subtest: (.*)")


class Case:
    """A leaf: one test case, or one parameter of one."""

    def __init__(self, name, verdict, notes):
        self.name = name
        self.verdict = verdict  # ok, FAIL or skip
        self.notes = notes


def _leaf(match, level):
    _, word, number, name, directive, _ = match.groups()
    verdict = "ok" if word == "ok" else "FAIL"
    if directive and directive.upper() == "SKIP":
        verdict = "skip"
    return Case((name or "").strip() or number, verdict, level["notes"])


def parse(text):
    """All leaves of one report; what breaks its own plan is a failed leaf."""
    levels = {}

    def level(indent):
        return levels.setdefault(indent, {"plan": None, "seen": 0, "cases": [], "notes": []})

    def close(indent):
        """The leaves of every level deeper than this one."""
        cases = []
        for deeper in sorted(each for each in levels if each > indent):
            what = levels.pop(deeper)
            if what["plan"] is not None and what["plan"] != what["seen"]:
                cases.append(Case(f"plan of {what['plan']}, {what['seen']} ran", "FAIL", []))
            cases += what["cases"]
        return cases

    for line in text.splitlines():
        match = RESULT.match(line)
        if match:
            indent = len(match[1])
            inner = close(indent)
            here = level(indent)
            here["seen"] += 1
            leaf = _leaf(match, here)
            here["notes"] = []
            if inner:
                for case in inner:
                    case.name = f"{leaf.name}/{case.name}"
                if leaf.verdict == "FAIL" and all(case.verdict != "FAIL" for case in inner):
                    inner.append(leaf)
                here["cases"] += inner
            else:
                here["cases"].append(leaf)
            continue
        match = PLAN.match(line)
        if match:
            level(len(match[1]))["plan"] = int(match[2])
        elif line.strip() and not SUBTEST.match(line) and "KTAP version" not in line:
            indent = len(line) - len(line.lstrip(" "))
            nearest = max((each for each in levels if each <= indent), default=0)
            level(nearest)["notes"].append(line.strip())
    return close(-1)
