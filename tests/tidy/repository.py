"""The files of the repository, and what the build made of them."""

import pathlib
import re
import subprocess

SOURCES = {".cpp", ".c", ".cc", ".f90", ".F90", ".f"}
HEADERS = {".hpp", ".h"}
# Product code, in which the bounds on sizes hold. Tests and benches are held to the others.
PRODUCT = ("core/", "transport/", "mpi-facade/", "persistence-svc/", "launcher/", "tools/")


def is_unity(path):
    """Whether CMake has written this source for a unity build."""
    return re.search(r"/Unity/unity_\d+_(c|cxx)\.(c|cxx)$", path) is not None


def sources_of(path):
    """The sources that a unity source includes."""
    return re.findall(r'^#include "(.+)"$', pathlib.Path(path).read_text(), re.MULTILINE)


class Repository:
    """Paths are strings relative to the root, with '/'."""

    def __init__(self, root, build):
        self.root, self.build = root, build
        self.files = self._list()
        self._texts = {}

    def _list(self):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=self.root,
                                capture_output=True, text=True)
        if listed.returncode == 0:
            names = listed.stdout.splitlines()
            return sorted(name for name in set(names) if (self.root / name).is_file())
        # An unpacked archive.
        return sorted(str(path.relative_to(self.root)) for path in self.root.rglob("*")
                      if path.is_file() and "build" not in path.relative_to(self.root).parts)

    def text(self, name):
        if name not in self._texts:
            self._texts[name] = (self.root / name).read_text(errors="replace")
        return self._texts[name]

    def suffixed(self, suffixes):
        return [name for name in self.files if any(name.endswith(suffix) for suffix in suffixes)]

    def sources(self):
        return self.suffixed(SOURCES)

    def headers(self):
        return self.suffixed(HEADERS)

    def product(self):
        return [name for name in self.suffixed(SOURCES | HEADERS) if name.startswith(PRODUCT)]

    def build_inputs(self):
        """What ninja reads to make everything."""
        output = subprocess.run(["ninja", "-C", str(self.build), "-t", "inputs", "all"], check=True,
                                capture_output=True, text=True).stdout
        paths = {line.strip() for line in output.splitlines()}
        for path in [path for path in paths if is_unity(path)]:
            paths.update(sources_of(self.build / path))
        return self._inside(paths)

    def _inside(self, paths):
        inside = set()
        for path in set(paths):
            try:
                inside.add(str((self.build / path).resolve().relative_to(self.root)))
            except ValueError:
                pass
        return inside


COMMENT_OR_STRING = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'',
    re.DOTALL)


def without_comments(text):
    """C++ without comments and with empty strings; lines keep their numbers."""
    def blank(match):
        found = match.group(0)
        kept = "\n" * found.count("\n")
        return kept if found.startswith("/") else '""' + kept
    return COMMENT_OR_STRING.sub(blank, text)
