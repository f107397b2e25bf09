"""Plain English in the pages and in the comments of public headers: short sentences that name who acts, and links that
lead somewhere.

Two checks: 'plain' for sentences, 'link' for links between files. Code, whether a block or a span, is not prose.
"""

import re

SENTENCE_WORDS_MAX = 25
TABLE_ROW_MAX = 400

OPENINGS = re.compile(r"(?:Of (?!course\b)|The same\b|Whether\b|What\b|Who\b|Whoever\b|Whatever\b|Whichever\b)")
# A clause behind ':' or ';' that begins like a question and is none.
HEADLESS = re.compile(r"[:;] (?:what|who|whoever|whatever|whether) (?!to\b)[^?]*$")
PHRASES = {
    "in place of": "instead of",
    "not any more": "no longer",
    "cannot be .{1,20} any more": "can no longer be",
    "for want of": "because ... is missing, out of",
    "but for": "except",
    "by way of": "through, by",
    "in the manner of": "like",
    "nobody can tell": "name the actor",
    "so it is (?:when|with|for)": "the same holds",
    ", which (?:it|they) says?": "say who prints what",
    "for ever": "forever",
}
PHRASE = re.compile(r"((?:\b|(?=,))(?:" + "|".join(PHRASES) + r")\b)", re.IGNORECASE)

# The headers of which ./dev docs makes the reference.
PUBLIC = ("core/dds/include/", "core/qos/include/", "mpi-facade/include/mpi-ext.h",
          "mpi-facade/include/llamada-checkpoint.h")
COMMENT = re.compile(r"\s*(?:///?<?|/\*\*?|\*)(?: |$)(.*?)(?:\*/)?$")
BESIDE = re.compile(r"\S.*?///< (.*)$")

FENCE = re.compile(r"^\s*(```|~~~)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+\.)\s+")
CODE = re.compile(r"`[^`]+`")
# Lists of names count as one word: `a`, `b` and `c`.
NAMES = re.compile(r"\x00(?:\x01)?(?:(?:, | and | or |, and |, or | / |/)\x00)+")
LINK = re.compile(r"!?\[([^\]]*)\]\(([^()\s]+(?:\([^()]*\))?)\)")
PARENTHESIS = re.compile(r"\(([^()]*)\)")
SENTENCE_END = re.compile(r"(?<=[.!?:])[\"'*)\]]*\s+")
ABBREVIATION = re.compile(r"\b(e\.g|i\.e|etc|vs|cf|No)\.")


def pages(repository):
    return repository.suffixed({".md"})


def public_headers(repository):
    return [name for name in repository.suffixed({".hpp", ".h"}) if name.startswith(PUBLIC)]


def findings_of(name, text):
    return findings(text) if name.endswith(".md") else findings_of_comments(text)


def find(repository):
    for name in pages(repository) + public_headers(repository):
        found = list(findings_of(name, repository.text(name)))
        if found:
            line, what = found[0]
            yield "plain", name, f"line {line}: {what}" + (f" ({len(found)} findings)" if len(found) > 1 else "")
    yield from broken_links(repository)


def findings(text):
    """(line, what is wrong) of each sentence that a reader would stumble over."""
    for line, paragraph in paragraphs(text):
        for sentence in sentences(paragraph):
            for wrong in faults(sentence):
                yield line, f'{wrong}: "{_shown(sentence)}"'
    for number, row in enumerate(text.split("\n"), 1):
        if row.startswith("|") and len(row) > TABLE_ROW_MAX:
            yield number, f"a table's row of {len(row)} characters; {TABLE_ROW_MAX} at most, or make it a list"


def findings_of_comments(text):
    """Each block of lines of // or * is a text. A comment beside a member, ///<, is one of its own."""
    rows = text.split("\n")
    whole = [COMMENT.match(row) for row in rows]
    yield from findings("\n".join(comment.group(1) if comment else "" for comment in whole))
    for number, row in enumerate(rows, 1):
        if (beside := BESIDE.match(row)) and not whole[number - 1]:
            for _, wrong in findings(beside.group(1)):
                yield number, wrong


def faults(sentence):
    count = words(sentence)
    if count > SENTENCE_WORDS_MAX:
        yield f"{count} words; {SENTENCE_WORDS_MAX} at most"
    if OPENINGS.match(sentence.lstrip("*_\"'(")) and not sentence.rstrip("*_\"')").endswith("?"):
        yield "a sentence without a subject; say who does it"
    if HEADLESS.search(sentence):
        yield "a clause without a subject; say who does it"
    for phrase in PHRASE.findall(sentence):
        better = next(better for pattern, better in PHRASES.items() if re.fullmatch(pattern, phrase, re.IGNORECASE))
        yield f"'{phrase.lower()}'; write: {better}"


def words(sentence):
    return len([word for word in sentence.split() if re.search(r"[\w\x00]", word)])


def paragraphs(text):
    """(first line, text) of paragraphs, list items and cells of tables. Headings and code are left out."""
    lines, first, fenced, comment = [], 0, False, False
    previous_blank = True
    for number, row in enumerate(text.split("\n") + [""], 1):
        if FENCE.match(row):
            fenced = not fenced
            row = ""
        elif fenced:
            continue
        if row.startswith("<!--"):
            comment = True
        if comment:
            comment = "-->" not in row
            row = ""
        code = re.match(r"(?: {4}|\t)", row) and previous_blank and not lines
        item = ITEM.match(row)
        if (not row.strip() or row.startswith(("#", "|", "---")) or item or code) and lines:
            yield first, " ".join(lines)
            lines = []
        if row.startswith("|"):
            for cell in row.strip("|").replace("\\|", "/").split("|"):
                if re.search(r"\w", cell):
                    yield number, cell.strip()
        elif row.strip() and not row.startswith(("#", "---")) and not (code and not item):
            if not lines:
                first = number
            lines.append(ITEM.sub("", row).lstrip("> ").strip())
        # Further rows of a block of code are code, too.
        previous_blank = not row.strip() or bool(code)


def sentences(paragraph):
    plain = LINK.sub(lambda link: link.group(1), paragraph)
    plain = CODE.sub("\x00", plain)
    plain = NAMES.sub("\x00", plain)
    plain = ABBREVIATION.sub(lambda match: match.group(1), plain)
    # An aside is a sentence of its own.
    asides = []
    while PARENTHESIS.search(plain):
        asides += [aside for aside in PARENTHESIS.findall(plain)]
        plain = PARENTHESIS.sub("", plain)
    for part in [plain] + asides:
        for sentence in SENTENCE_END.split(part):
            if sentence.strip():
                yield sentence.strip()


def _shown(sentence):
    shown = sentence.replace("\x00", "`…`")
    return shown if len(shown) < 90 else shown[:87] + "..."


def broken_links(repository):
    files = set(repository.files)
    folders = {"/".join(name.split("/")[:depth]) for name in files for depth in range(1, name.count("/") + 1)} | {"."}
    for name in pages(repository):
        for target in links(repository.text(name)):
            path, _, anchor = target.partition("#")
            there = resolve(name, path) if path else name
            if there not in files and there not in folders:
                yield "link", name, f"'{target}' leads to no file"
            elif anchor and there.endswith(".md") and anchor not in anchors(repository.text(there)):
                yield "link", name, f"'{target}': that page has no such heading"


def links(text):
    fenced = False
    for row in text.split("\n"):
        if FENCE.match(row):
            fenced = not fenced
        elif not fenced:
            for _, target in LINK.findall(CODE.sub("", row)):
                if not re.match(r"[a-z]+:", target):
                    yield target


def resolve(page, path):
    parts = page.split("/")[:-1]
    for part in path.rstrip("/").split("/"):
        if part == "..":
            if not parts:
                return ".."
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts) or "."


def anchors(text):
    """As the forges make them of headings."""
    made, fenced = set(), False
    for row in text.split("\n"):
        if FENCE.match(row):
            fenced = not fenced
        elif not fenced and (heading := re.match(r"#+\s+(.*)", row)):
            plain = LINK.sub(lambda link: link.group(1), heading.group(1)).lower()
            slug = re.sub(r"[^\w\- ]", "", plain).replace(" ", "-")
            count = sum(1 for other in made if other == slug or re.fullmatch(re.escape(slug) + r"-\d+", other))
            made.add(slug if not count else f"{slug}-{count}")
    return made


def lengths(text):
    return [words(sentence) for _, paragraph in paragraphs(text) for sentence in sentences(paragraph)]


def print_table(repository):
    print("## Sentences of the pages: words, median, 90th percentile, longest, findings")
    for name in pages(repository):
        text = repository.text(name)
        counts = sorted(lengths(text))
        if counts:
            print(f"{sum(counts):6} {counts[len(counts) // 2]:4} {counts[len(counts) * 9 // 10]:4} {counts[-1]:4} "
                  f"{len(list(findings(text))):4} {name}")


if __name__ == "__main__":
    # For those who write: all findings of these pages.
    import sys
    for path in sys.argv[1:]:
        with open(path) as page:
            content = page.read()
        for number, wrong in findings_of(path, content):
            print(f"{path}:{number}: {wrong}")
        for number, row in enumerate(content.split("\n"), 1):
            if path.endswith(".md") and len(row) > 125 and not row.lstrip().startswith("|"):
                print(f"{path}:{number}: {len(row)} characters; 125 at most")
