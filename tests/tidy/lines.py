"""Lengths of files, functions and lines of prose, and page sizes written out."""

import re

from repository import HEADERS, SOURCES, without_comments

FILE_LINES_MAX = 500
PROSE_LINE_MAX = 125
PAGE = re.compile(r"\b(?:4096|4095)\b")


def find(repository):
    for name in repository.suffixed(SOURCES | HEADERS | {".py", ".sh"}):
        count = repository.text(name).count("\n")
        if count > FILE_LINES_MAX:
            yield "file", name, f"{count} lines; a file has one subject, and {FILE_LINES_MAX} lines at most"
    for name in repository.product():
        for number, line in enumerate(without_comments(repository.text(name)).split("\n"), 1):
            if PAGE.search(line) and "page" in line:
                yield "page", name, f"line {number}: a page is llamada::page_bytes (core/base/page.hpp)"
    for name in repository.suffixed({".md"}):
        long = [number for number, line in enumerate(repository.text(name).split("\n"), 1) if _too_long(line)]
        if long:
            yield "prose", name, f"{len(long)} lines over {PROSE_LINE_MAX} characters, the first is line {long[0]}"


def _too_long(line):
    """A row of a table and a line that is one link or name cannot be broken."""
    return len(line) > PROSE_LINE_MAX and not line.lstrip().startswith("|") and " " in line.strip()[:PROSE_LINE_MAX]


def functions(text):
    """(lines, first line, head) of each function body, by the format: a body ends at its head's indentation."""
    rows = without_comments(text).split("\n")
    for number, row in enumerate(rows):
        stripped = row.strip()
        if not stripped.endswith("{") or ")" not in row or re.match(r"(if|for|while|switch|else|do|catch|try|\}|namespace)\b",
                                                                    stripped):
            continue
        indent = len(row) - len(row.lstrip())
        if indent > 4:
            continue
        for end in range(number + 1, len(rows)):
            if rows[end].startswith(" " * indent + "}"):
                yield end - number - 1, number + 1, stripped[:-1].strip()
                break


def print_table(repository):
    print("## Files over 500 lines")
    for name in repository.product():
        count = repository.text(name).count("\n")
        if count > FILE_LINES_MAX:
            print(f"{count:5} {name}")
    print("## Longest functions")
    found = [(count, f"{name}:{line} {head}") for name in repository.product() if name.endswith(("pp",))
             for count, line, head in functions(repository.text(name))]
    for count, where in sorted(found, reverse=True)[:15]:
        print(f"{count:5} {where}")
