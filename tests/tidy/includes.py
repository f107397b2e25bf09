"""The layers of the facade: its folders stand in an order, and a file includes only its own folder and earlier ones.

Between the modules CMake holds the layers: each has an include root of its own. The facade has one include root."""

import re

FACADE = "mpi-facade/src/"
ORDER = ("world", "replay", "threads", "object", "runtime", "p2p", "coll", "rma", "io", "spawn", "session", "api",
         "process", "interpose", "lifecycle")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def find(repository):
    files = {name for name in repository.product() if name.startswith(FACADE)}
    for name in sorted(files):
        folder, _, rest = name.removeprefix(FACADE).partition("/")
        if not rest or folder not in ORDER:
            yield "layers", name, "it is in no folder of the order in tests/tidy/includes.py"
            continue
        for included in INCLUDE.findall(repository.text(name)):
            other = included.split("/")[0]
            if FACADE + included in files and ORDER.index(other) > ORDER.index(folder):
                yield "layers", name, f"includes {included}, which stands above it"
