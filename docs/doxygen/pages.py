"""What Doxygen 1.9 does not know of our pages, for ./dev docs.

  pages.py filter PAGE     prints the page with a label behind each heading, and links to headings by these labels
  pages.py check FOLDER    fails if a link of the HTML leads to no file
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/tidy"))
import prose  # noqa: E402  the check that pages link to headings that exist

LINK_TO_HEADING = re.compile(r"\]\(([^()\s#:]*)#([\w-]+)\)")


def label(page, slug):
    """Doxygen's labels are unique in the whole reference."""
    return re.sub(r"\W", "_", page) + "_" + slug.replace("-", "_")


def filtered(page, text):
    made, rows, fenced = [], [], False
    for row in text.split("\n"):
        if prose.FENCE.match(row):
            fenced = not fenced
        elif not fenced:
            row = LINK_TO_HEADING.sub(lambda link: f"](@ref {label(target(page, link.group(1)), link.group(2))})", row)
            if re.match(r"#{2,6}\s", row):
                made.append(row)
                slug = next(iter(prose.anchors("\n".join(made)) - prose.anchors("\n".join(made[:-1]))))
                row += f" {{#{label(page, slug)}}}"
        rows.append(row)
    return "\n".join(rows)


def target(page, path):
    return prose.resolve(page, path) if path else page


def broken_links(folder):
    for page in sorted(folder.glob("*.html")):
        for link in re.findall(r'(?:href|src)="([^"#]+)(?:#[^"]*)?"', page.read_text(errors="replace")):
            is_elsewhere = re.match(r"[a-z]+:", link) or "$" in link
            if not is_elsewhere and not (folder / link).exists():
                yield f"{page.name}: '{link}' leads to no file"


def main(mode, place):
    if mode == "filter":
        page = Path(place).resolve()
        print(filtered(str(page.relative_to(ROOT)), page.read_text()), end="")
        return
    broken = list(broken_links(Path(place)))
    print("\n".join(broken), end="\n" if broken else "")
    sys.exit(1 if broken else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
