#!/usr/bin/env python3
"""Runs clang-tidy on the product's sources. Those of one folder are read together, as one translation unit that
includes them: most of the time goes into headers, which they share.

clang_tidy.py BUILD                     all
clang_tidy.py BUILD --sources N --seed S    a share: folders drawn by the seed, until there are N sources
clang_tidy.py BUILD FILE ...            these

Ends with 1 if there are findings. BUILD/compile_commands.json says how each source is compiled.
"""

import argparse
import json
import os
import random
import re
import shlex
import subprocess
import sys
from collections import defaultdict
from concurrent.futures import ThreadPoolExecutor

from repository import is_unity, sources_of

PRODUCT = re.compile(r"(core|transport|mpi-facade|persistence-svc|launcher|tools)/.*\.cpp$")
UNIT_SOURCES_MAX = 24


def commands_of(build):
    """The entry of compile_commands.json for each product source, by its path."""
    commands = {}
    with open(f"{build}/compile_commands.json") as file:
        for entry in json.load(file):
            for source in sources_of(entry["file"]) if is_unity(entry["file"]) else [entry["file"]]:
                name = os.path.relpath(source)
                if PRODUCT.match(name):
                    commands.setdefault(name, entry)
    return commands


def flags_of(entry):
    """Without the output and the source. Clang 14 cannot read headers under -mgeneral-regs-only."""
    return re.sub(r" -o .*| -mgeneral-regs-only", "", entry["command"])


def units_of(files, commands):
    """Lists of sources that can be read together: of one folder, with the same flags."""
    groups = defaultdict(list)
    for name in sorted(files):
        groups[os.path.dirname(name), flags_of(commands[name])].append(name)
    return [group[k:k + UNIT_SOURCES_MAX] for group in groups.values() for k in range(0, len(group), UNIT_SOURCES_MAX)]


def share_of(units, count, seed):
    share = []
    random.seed(seed)
    for unit in random.sample(units, len(units)):
        if sum(map(len, share)) < count:
            share.append(unit)
    return share


class Run:
    def __init__(self, build, commands):
        self.folder = os.path.abspath("build/tidy")
        self.commands = commands
        os.makedirs(self.folder, exist_ok=True)

    def findings(self, unit):
        """What clang-tidy says of the sources, which may have names in common: then they are read apart."""
        text = self._run(unit)
        if "clang-diagnostic-error" in text and len(unit) > 1:
            half = len(unit) // 2
            return self.findings(unit[:half]) + self.findings(unit[half:])
        return text

    def _run(self, unit):
        entry = self.commands[unit[0]]
        name = f"{self.folder}/{unit[0].replace('/', '_')}_{len(unit)}.cpp"
        with open(name, "w") as file:
            file.writelines(f'#include "{os.path.abspath(source)}"\n' for source in unit)
        command = ["clang-tidy-14", "--quiet", name, "--"] + shlex.split(flags_of(entry))[1:]
        done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
        if done.returncode != 0 and "error:" not in done.stdout:
            return f"clang-tidy-14 failed on {' '.join(unit)}: {done.stderr}\n"
        return done.stdout


def distinct(texts):
    """The findings, each once: several units see the same headers."""
    seen = []
    for text in texts:
        for finding in re.split(r"(?m)^(?=\S+:\d+:\d+: (?:error|warning):)", text):
            if finding.strip() and finding not in seen:
                seen.append(finding)
    return seen


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("files", nargs="*")
    parser.add_argument("--sources", type=int)
    parser.add_argument("--seed", type=int)
    options = parser.parse_args()
    commands = commands_of(options.build)
    files = [os.path.relpath(name) for name in options.files]
    unknown = [name for name in files if name not in commands]
    if unknown:
        sys.exit(f"clang_tidy.py: not a product source that {options.build} compiles: {' '.join(unknown)}")
    units = units_of(files or commands, commands)
    if options.sources:
        units = share_of(units, options.sources, options.seed)
    names = [name for unit in units for name in unit]
    print(f"{len(names)} sources in {len(units)} units", flush=True)
    run = Run(options.build, commands)
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        findings = distinct(pool.map(run.findings, units))
    print("".join(findings), end="")
    if findings:
        sys.exit(f"clang-tidy: {len(findings)} findings. Repeat with: ./dev tidy {' '.join(names)}")


if __name__ == "__main__":
    main()
