#!/usr/bin/env python3
"""Checks the structure of the sources: ./dev check runs it before anything is built.

  tidy.py BUILD_FOLDER     prints a line for each finding, and fails if there is one
  tidy.py --tables BUILD   prints the largest files, functions and classes

Findings that are known stand in exceptions.txt with their reason. An exception that no longer applies is a
finding, too, so the list only shrinks.
"""

import sys
from pathlib import Path

import classes
import includes
import lines
import orphans
import prose
import scripts
from repository import Repository

CHECKS = [orphans.find, includes.find, lines.find, classes.find, scripts.find, prose.find]


def read_exceptions(path):
    """{(check, subject): reason} of lines 'check  subject  # reason'."""
    exceptions = {}
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        entry, _, reason = line.partition("#")
        words = entry.split()
        if len(words) != 2 or not reason.strip():
            sys.exit(f"{path}:{number}: an exception is 'check  subject  # reason'")
        exceptions[tuple(words)] = reason.strip()
    return exceptions


def main(arguments):
    tables = "--tables" in arguments
    folders = [argument for argument in arguments if argument != "--tables"]
    if len(folders) != 1:
        sys.exit(__doc__)
    repository = Repository(Path(__file__).resolve().parents[2], Path(folders[0]).resolve())
    if tables:
        for module in (lines, classes, prose):
            module.print_table(repository)
        return
    exceptions = read_exceptions(Path(__file__).with_name("exceptions.txt"))
    used, failed = set(), False
    for find in CHECKS:
        for check, subject, text in find(repository):
            if (check, subject) in exceptions:
                used.add((check, subject))
                continue
            failed = True
            print(f"{check}: {subject}: {text}")
    for check, subject in sorted(set(exceptions) - used):
        failed = True
        print(f"tests/tidy/exceptions.txt: '{check} {subject}' no longer applies; take it out")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main(sys.argv[1:])
