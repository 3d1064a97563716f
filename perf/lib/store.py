# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Files of results: JSON with a line for each case, so that diffs are readable."""

import json
import os
import statistics

SCHEMA = 1


def save(path, results):
    parts = []
    for name, part in results["parts"].items():
        head = {key: value for key, value in part.items() if key != "cases"}
        lines = ",\n".join(json.dumps(case) for case in part["cases"])
        parts.append(f'{json.dumps(name)}: {{"about": {json.dumps(head)}, "cases": [\n{lines}\n]}}')
    text = f'{{"schema": {results["schema"]}, "parts": {{\n' + ",\n".join(parts) + "\n}}\n"
    with open(path + ".new", "w", encoding="utf-8") as file:
        file.write(text)
    os.replace(path + ".new", path)


def load(path):
    """Load what save() has written; empty if there is no file."""
    try:
        with open(path, encoding="utf-8") as file:
            results = json.load(file)
    except FileNotFoundError:
        return {"schema": SCHEMA, "parts": {}}
    if results.get("schema") != SCHEMA:
        raise ValueError(f"{path} is of schema {results.get('schema')}, not {SCHEMA}")
    for name, part in results["parts"].items():
        results["parts"][name] = {**part["about"], "cases": part["cases"]}
    return results


def merge(old, new):
    """Replace old results by those that were measured again."""
    return {"schema": SCHEMA, "parts": {**old["parts"], **new["parts"]}}


def median(case, column, name):
    """Return the median of all rounds, or None."""
    values = case["figures"].get(column, {}).get(name)
    return statistics.median(values) if values else None


def best(case, columns, name):
    """Return the column with the largest median, or None."""
    known = {each: median(case, each, name) for each in columns}
    known = {each: value for each, value in known.items() if value is not None}
    return max(known, key=known.get, default=None)


def ratio(ours, theirs):
    return ours / theirs if ours is not None and theirs else None


def paired(case, ours, theirs, name):
    """Return the median of the rounds' ratios: a slow host slows down both of a pair."""
    pairs = [case["figures"].get(each, {}).get(name, []) for each in (ours, theirs)]
    if len(pairs[0]) != len(pairs[1]):
        return ratio(median(case, ours, name), median(case, theirs, name))
    ratios = [mine / other for mine, other in zip(*pairs) if other]
    return statistics.median(ratios) if ratios else None


def paired_best(case, ours, theirs, name):
    """Do the same with the better column of each side."""
    return paired(case, best(case, ours, name), best(case, theirs, name), name)
