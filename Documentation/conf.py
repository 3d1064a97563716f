# SPDX-License-Identifier: GPL-2.0 OR Linux-OpenIB
"""Sphinx configuration of Documentation/, used by scripts/docs."""

import glob
import os
import re
import sys

here = os.path.dirname(os.path.abspath(__file__))


def tool_version():
    with open(os.path.join(here, "../userspace-tool/Makefile"), encoding="utf-8") as file:
        return re.search(r"^VERSION := (\S+)$", file.read(), re.M)[1]


def man_page(path):
    """Describe a page such as reference/man/kverbs-cp.1.rst, whose ".. summary:" is its NAME line."""
    name, section = os.path.basename(path)[:-4].rsplit(".", 1)
    with open(path, encoding="utf-8") as file:
        summary = re.search(r"^\.\. summary: (.+)$", file.read(), re.M)[1]
    return f"reference/man/{name}.{section}", name, summary, "", int(section)


project = "kverbs"
version = release = tool_version()
primary_domain = "c"

# The module of Python loads the library when its first function is called, not on import.
extensions = ["sphinx.ext.autodoc"]
sys.path.insert(0, os.path.join(here, "../python"))
sys.dont_write_bytecode = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
highlight_language = "none"
smartquotes = False

html_theme = "alabaster"
html_theme_options = {"page_width": "64em", "sidebar_width": "15em"}
html_copy_source = False
html_show_copyright = False

man_pages = sorted(man_page(path) for path in glob.glob(os.path.join(here, "reference/man", "*.rst")))

# Types that the headers use and other headers define.
nitpick_ignore_regex = [
    ("c:identifier", r"(__)?[us]\d+|__aligned_u64|__be32|u?int\d+_t|size_t|gfp_t|bool|sockaddr(_storage)?"
     r"|bio_vec|net"),
]
