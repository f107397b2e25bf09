"""Data members and functions of classes: where everything meets nothing can be changed alone."""

import re

from repository import without_comments

MEMBERS_MAX = 25
HEAD = re.compile(r"\b(?:class|struct)\s+(?:alignas\([^)]*\)\s*|\[\[[^\]]*\]\]\s*)*([A-Za-z_]\w*(?:<[^{};]*>)?(?:::\w+)*)"
                  r"\s*(?:final\s*)?(?::[^:;{}][^;{}]*)?\{")
NO_MEMBER = re.compile(r"^(using|typedef|friend|static|enum|class|struct|union|template|static_assert|public|private|protected|"
                       r"extern|namespace|LLAMADA_\w+)\b")


def bodies(text):
    """(name, line, body) of each class that is defined in the text."""
    for match in HEAD.finditer(text):
        depth, end = 1, match.end()
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield match.group(1), text.count("\n", 0, match.start()) + 1, text[match.end():end - 1]


def statements(body):
    """The declarations of a class's own level; bodies and initialisers in braces are left out."""
    depth, angle, current = 0, 0, ""
    for character in body:
        if character == "{":
            depth += 1
            if depth == 1:
                current += "{"
        elif character == "}":
            depth -= 1
            if depth == 0:
                current += "}"
                if re.search(r"\)[^=;]*\{\}$", current):  # a function's body
                    yield current
                    current = ""
        elif depth == 0 and character == ";":
            yield current
            current = ""
        elif depth == 0:
            current += character


def counts(body):
    """(data members, functions)"""
    members = functions = 0
    for statement in statements(body):
        declaration = re.sub(r"\b(public|private|protected)\s*:", "", statement).strip()
        declaration = re.sub(r"\[\[[^\]]*\]\]|alignas\s*\([^)]*\)", "", declaration).strip()
        plain = declaration
        while True:
            shorter = re.sub(r"<[^<>]*>", "", plain)
            if shorter == plain:
                break
            plain = shorter
        if "operator" in plain or "(" in plain.split("=")[0].split("{")[0]:
            if not re.match(r"(using|friend|static_assert)\b", plain):
                functions += 1
        elif plain and not NO_MEMBER.match(plain):
            members += 1 + plain.split("=")[0].count(",")
    return members, functions


def classes(repository):
    for name in repository.product():
        if name.endswith((".hpp", ".cpp")):
            for class_name, line, body in bodies(without_comments(repository.text(name))):
                yield (*counts(body), class_name, f"{name}:{line}")


def find(repository):
    for members, _, name, where in classes(repository):
        if members > MEMBERS_MAX:
            yield "members", name, f"{where}: {members} data members; {MEMBERS_MAX} at most"


def print_table(repository):
    print("## Classes by data members (and functions)")
    for members, functions, name, where in sorted(classes(repository), reverse=True)[:20]:
        print(f"{members:5} {functions:5} {name} {where}")
