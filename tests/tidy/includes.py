"""Includes that leave their folder by "..": the compiler finds those without asking an include root.

All else is the compiler's: a module, and a folder of the facade, has an include root of its own."""

import re

INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)


def find(repository):
    for name in repository.product():
        for included in INCLUDE.findall(repository.text(name)):
            if ".." in included.split("/"):
                yield "layers", name, f"includes {included}; name it from an include root that the module has"
