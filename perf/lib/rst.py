# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Text and tables in reStructuredText."""

SPDX = ".. SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB\n.. Written by perf/compare.\n\n"
NONE = "-"


def table(head, rows):
    """Return a simple table; a cell is text, or None for a dash."""
    rows = [[NONE if cell is None else str(cell) for cell in row] for row in [head, *rows]]
    widths = [max(len(row[i]) for row in rows) for i in range(len(head))]
    rule = " ".join("=" * width for width in widths)
    lines = [" ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([rule, lines[0], rule, *lines[1:], rule]) + "\n"


def number(value):
    """Format with three significant digits or more."""
    if value is None:
        return None
    if value >= 100:
        return f"{value:.0f}"
    return f"{value:.1f}" if value >= 10 else f"{value:.2f}" if value >= 0.1 else f"{value:.4f}"


def exact(value):
    """Format so that zero differs from almost zero."""
    return None if value is None else f"{value:.3f}"


def ratio(value):
    return None if value is None else f"{value:.2f}"


def size(count):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if count >= unit and not count % unit:
            return f"{count // unit} {name}"
    return f"{count} B"


def title(text, under="-"):
    return f"{text}\n{under * len(text)}\n\n"


def figure(path, text):
    return f".. image:: {path}\n   :alt: {text}\n\n"
