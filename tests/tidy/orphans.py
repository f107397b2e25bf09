"""Sources, headers and corpora that nothing builds or runs: a test in no CMakeLists.txt never fails."""

from repository import HEADERS


def find(repository):
    inputs = repository.build_inputs()
    for name in repository.sources():
        if name not in inputs:
            yield "orphan", name, "nothing in the build compiles it; name it in a CMakeLists.txt"
    includes = repository.build_includes() | inputs
    for name in repository.headers():
        if name not in includes:
            yield "orphan", name, "no source that the build compiles includes it"
    yield from _corpora(repository)


def _corpora(repository):
    """Each harness has a corpus, which a test of the build replays."""
    commands = (repository.build / "tests/fuzz/CTestTestfile.cmake").read_text()
    for name in repository.suffixed({"_fuzz.cpp"}):
        corpus = name.removesuffix("_fuzz.cpp") + "_corpus"
        if f"/{corpus}\"" not in commands:
            yield "orphan", corpus, f"the corpus of {name}: no test replays it"
