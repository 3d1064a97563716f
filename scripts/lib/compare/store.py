# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Results as a file: JSON, with a line for each case, so that changes can be read."""

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
    """What save() wrote; nothing, if there is nothing."""
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
    """What was measured again, instead of what was there."""
    return {"schema": SCHEMA, "parts": {**old["parts"], **new["parts"]}}


def median(case, column, name):
    """Of all rounds, or None."""
    values = case["figures"].get(column, {}).get(name)
    return statistics.median(values) if values else None


def best(case, columns, name, choose=max):
    """The better of several columns."""
    values = [median(case, column, name) for column in columns]
    values = [value for value in values if value is not None]
    return choose(values) if values else None


def ratio(ours, theirs):
    return ours / theirs if ours is not None and theirs else None
