"""Shell functions that are defined twice, of which the shell silently takes the last, or that nothing calls."""

import re

DEFINITION = re.compile(r"^\s*([A-Za-z_][A-Za-z0-9_]*)\(\)\s*\{", re.MULTILINE)


def find(repository):
    for name in repository.files:
        if not (name.endswith(".sh") or "." not in name.rsplit("/", 1)[-1]):
            continue
        text = repository.text(name)
        if not re.match(r"#!.*\b(ba)?sh\b", text):
            continue
        functions = DEFINITION.findall(text)
        code = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
        for function in sorted(set(functions)):
            if functions.count(function) > 1:
                yield "defined-twice", f"{name}:{function}", f"{functions.count(function)} functions have this name"
            elif len(re.findall(rf"(?<![\w-]){function}(?![\w-])", code)) == 1:
                yield "never-called", f"{name}:{function}", "no line calls this function"
