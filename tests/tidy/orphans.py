"""Sources, headers and corpora that nothing builds or runs: a test in no CMakeLists.txt never fails."""

import re

INCLUDED = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def find(repository):
    inputs = repository.build_inputs()
    # What is built only where an optional package is installed is named at least.
    for name in repository.sources():
        if name not in inputs and name.rsplit("/", 1)[-1] not in _list_above(repository, name):
            yield "orphan", name, "nothing in the build compiles it; name it in a CMakeLists.txt"
    included = {path.rsplit("/", 1)[-1] for name in repository.sources() + repository.headers()
                for path in INCLUDED.findall(repository.text(name))}
    for name in repository.headers():
        if name not in inputs and name.rsplit("/", 1)[-1] not in included:
            yield "orphan", name, "no source includes it"
    yield from _corpora(repository)


def _list_above(repository, name):
    """The CMakeLists.txt of the file's folder, or of the nearest one above."""
    folder = name
    while "/" in folder:
        folder = folder.rsplit("/", 1)[0]
        if f"{folder}/CMakeLists.txt" in repository.files:
            return repository.text(f"{folder}/CMakeLists.txt")
    return ""


def _corpora(repository):
    """Each harness has a corpus, which a test of the build replays."""
    commands = (repository.build / "tests/fuzz/CTestTestfile.cmake").read_text()
    for name in repository.suffixed({"_fuzz.cpp"}):
        corpus = name.removesuffix("_fuzz.cpp") + "_corpus"
        if f"/{corpus}\"" not in commands:
            yield "orphan", corpus, f"the corpus of {name}: no test replays it"
