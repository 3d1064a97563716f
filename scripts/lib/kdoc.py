#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Convert a header's documentation to reStructuredText, for Documentation/ to include.

usage: kdoc.py KERNEL-DOC HEADER DIRECTORY

A header whose parts begin with lines such as /* ---- memory ---- */ gives a file for
each, DIRECTORY/memory.rst; one without gives DIRECTORY/all.rst, with headings. What the
header says of itself comes into head.rst, structs without contents into types.rst. All
text is the header's, made by kernel-doc of the kernel's source.
"""

import os
import re
import subprocess
import sys
import tempfile
import textwrap

PART = re.compile(r"^/\* ---- (.+?) -+ \*/$", re.M)
DOCUMENTED = re.compile(r"^/\*\*\n \* (?:(?:struct|enum|typedef) )?(\w+)(?:\(\))? - "
                        r"(?:(KVERBS_\w+): )?", re.M)
GENERAL = re.compile(r"^/\*\*\n \* DOC: (.+)$", re.M)
# A comment, and the constants that it describes.
CONSTANTS = re.compile(r"^(?:/\* (.+) \*/\n)?((?:#define KVERBS_\w+[ \t]+\S.*\n)+)", re.M)
# Types that programs only have pointers to.
OPAQUE = re.compile(r"^/\* (.+) \*/\nstruct (\w+);$", re.M)
# kernel-doc would parse a percent sign as the mark of a constant.
PERCENT = "\ue000"


def prepared(text):
    """Return the header without the parts that kernel-doc or a reader should not see."""
    text = text.replace("KVERBS_API ", "").replace("%", PERCENT)
    return re.sub(r"^#define KVERBS_API .*\n", "", text, flags=re.M)


def escaped(line):
    """Escape what only looks like markup, outside of literal blocks."""
    line = re.sub(r"(?<![*\w\\])\*(?=[A-Z_])", r"\\*", line)
    return re.sub(r"\b(\w+)_(?=[\s.,;:)]|$)", r"\1\\_", line)


def mended(rst):
    lines = []
    literal = None
    for line in rst.replace(PERCENT, "%").splitlines():
        indent = len(line) - len(line.lstrip())
        if literal is not None and line.strip() and indent <= literal:
            literal = None
        if literal is None and not line.lstrip().startswith(("..", "``")):
            if line.rstrip().endswith("::"):
                literal = indent
            else:
                line = escaped(line)
        lines.append(line)
    text = "\n".join(lines)
    return re.sub(r"\.\. c:macro:: (\w+)\n\n +\*\*Typedef\*\*: ", r".. c:type:: \1\n\n   ",
                  text)


def kernel_doc(program, header, *options):
    command = [program, "-rst", "-sphinx-version", "5.3", *options, header]
    done = subprocess.run(command, text=True, capture_output=True)
    sys.stderr.write(done.stderr)
    if done.returncode:
        sys.exit(done.returncode)
    return mended(done.stdout)


def nested(piece):
    """Indent an entry below its first line; kernel-doc puts it beside that line."""
    first, _, body = piece.partition("\n")
    runs = re.split(r"(?m)^\.\. container:: kernelindent$|^(?=\*\*)", body)
    text = "\n\n".join(textwrap.dedent(run).strip("\n") for run in runs if run.strip())
    return first + "\n\n" + textwrap.indent(text, "   ") + "\n\n"


def entries(program, header):
    """Return kernel-doc's output for each name."""
    rst = kernel_doc(program, header, "-no-doc-sections")
    rst = rst.replace("  **Parameters**\n\n  ``void``\n    no arguments\n\n", "")
    pieces = re.split(r"(?m)^(?=\.\. c:(?:function|struct|enum|type):: )", rst)[1:]
    return {re.match(r".*?(\w+)(?: \(.*)?$", piece.split("\n")[0])[1]: nested(piece)
            for piece in pieces}


def constants(before):
    """Return the constants before a struct, verbatim."""
    blocks = []
    for comment, defines in CONSTANTS.findall(before):
        block = (f"/* {comment} */\n" if comment else "") + defines
        blocks.append(".. code-block:: c\n\n" + re.sub(r"(?m)^", "   ", block.rstrip()) + "\n\n")
    return "".join(blocks)


def heading(found):
    """Return the heading: the name of a command's number, else the entry's own name."""
    title = found[2] or found[1]
    return f"{title}\n{'-' * len(title)}\n\n"


def of_part(part, entry, headings):
    """Yield the documented names of a part, with the constants before each."""
    text = ""
    at = 0
    for found in DOCUMENTED.finditer(part):
        before = constants(part[at:found.start()])
        title = heading(found) if headings else ""
        # The first sections describe all commands.
        text += (before + title if at == 0 else title + before) + entry[found[1]]
        at = found.end()
    return text + constants(part[at:])


def preamble(text):
    """Return the header's first comment after its license, without asterisks."""
    comment = re.search(r"^/\*\n((?: \*.*\n)+?) \*/$", text, re.M)
    return re.sub(r"(?m)^ \* ?", "", comment[1]) if comment else ""


def parts(text):
    pieces = PART.split(text)
    if len(pieces) == 1:
        return {"all": text}
    return {name.replace(" ", "-"): part for name, part in zip(pieces[1::2], pieces[2::2])}


def main():
    if len(sys.argv) != 4:
        sys.exit(__doc__.split("\n\n")[1])
    program, name, directory = sys.argv[1:]
    os.makedirs(directory, exist_ok=True)
    with open(name, encoding="utf-8") as file:
        text = prepared(file.read())
    with tempfile.NamedTemporaryFile("w", suffix=".h", encoding="utf-8") as header:
        header.write(text)
        header.flush()
        entry = entries(program, header.name)
        found = {"head": escaped(preamble(text)) + "\n"}
        if GENERAL.search(text):
            found["head"] = kernel_doc(program, header.name, "-function", GENERAL.search(text)[1])
    if OPAQUE.search(text):
        found["types"] = "".join(f".. c:struct:: {name}\n\n   {what}\n\n"
                                 for what, name in OPAQUE.findall(text))
    for part, body in parts(text).items():
        found[part] = of_part(body, entry, part == "all")
    for part, body in found.items():
        with open(os.path.join(directory, part + ".rst"), "w", encoding="utf-8") as file:
            file.write(body.replace(PERCENT, "%"))


if __name__ == "__main__":
    main()
