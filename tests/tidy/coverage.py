#!/usr/bin/env python3
"""Prints the share of lines and branches that the tests reach in each module, from gcovr's summary."""

import json
import os
import sys
from collections import defaultdict

MODULES = ("core/base", "core/log", "core/qos", "core/topics", "core/types", "core/sql", "core/dcps", "core/dds",
           "transport/llamanet", "transport/links", "transport/replication", "mpi-facade/src", "mpi-facade/waits", "mpi-facade/fortran", "launcher", "tools")


def main(summary):
    counts = defaultdict(lambda: [0, 0, 0, 0])
    with open(summary) as file:
        for entry in json.load(file)["files"]:
            # Headers of the facade are found by links in the build.
            path = os.path.relpath(os.path.realpath(entry["filename"]))
            module = next((name for name in MODULES if path.startswith(name + "/")), "others")
            for index, key in enumerate(("line_covered", "line_total", "branch_covered", "branch_total")):
                counts[module][index] += entry[key]
    print(f"{'module':20} {'lines':>8} {'reached':>8} {'branches':>9}")
    for module, (lines, lines_total, branches, branches_total) in sorted(counts.items()):
        print(f"{module:20} {lines_total:8} {100 * lines / max(lines_total, 1):7.1f}% "
              f"{100 * branches / max(branches_total, 1):8.1f}%")


if __name__ == "__main__":
    main(sys.argv[1])
