#!/usr/bin/env python3
"""Draws the pictures of these pages as SVG from the text files beside it.

  draw.py           writes NAME.svg for each NAME.txt
  draw.py --check   fails if an SVG is not what its text gives

A text has a line for each thing:
  size  W H                      of the picture, in units of 10 pixels
  box   NAME X Y W H TEXT        a box; '/' in TEXT begins another line
  dead  NAME X Y W H TEXT        the same, for something that has died
  arrow FROM TO TEXT             from the edge of one box to the edge of another
  note  X Y TEXT                 text without a box
"""

import sys
from html import escape
from pathlib import Path

UNIT = 10
STYLE = """<style>
text { font: 13px sans-serif; fill: #222; text-anchor: middle }
.note { text-anchor: start; fill: #555 }
rect { fill: #f4f7fb; stroke: #35618f; stroke-width: 1.5 }
.dead { fill: #fbf1ef; stroke: #b04632; stroke-dasharray: 5 4 }
line { stroke: #35618f; stroke-width: 1.5; marker-end: url(#head) }
</style>
<defs><marker id="head" markerWidth="9" markerHeight="7" refX="8" refY="3.5" orient="auto">
<path d="M0,0 L9,3.5 L0,7 z" fill="#35618f"/></marker></defs>
<rect width="100%" height="100%" style="fill: white; stroke: none"/>"""


class Picture:
    def __init__(self, text):
        self.boxes, self.parts = {}, []
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip() and not line.startswith("#"):
                try:
                    kind, *rest = line.split(None, 1)
                    getattr(self, kind)(rest[0])
                except (AttributeError, IndexError, KeyError, ValueError) as error:
                    sys.exit(f"line {number}: '{line}' is no box, dead, arrow or note: {error}")

    def box(self, rest, css=""):
        name, x, y, w, h, text = rest.split(None, 5)
        x, y, w, h = (int(float(value) * UNIT) for value in (x, y, w, h))
        self.boxes[name] = (x, y, w, h)
        self.parts.append(f'<rect x="{x}" y="{y}" width="{w}" height="{h}" rx="6"{css}/>')
        self._text(x + w / 2, y + h / 2, text)

    def dead(self, rest):
        self.box(rest, ' class="dead"')

    def note(self, rest):
        x, y, text = rest.split(None, 2)
        self.parts.append(f'<text class="note" x="{float(x) * UNIT:g}" y="{float(y) * UNIT:g}">{escape(text)}</text>')

    def arrow(self, rest):
        start, end, *text = rest.split(None, 2)
        (ax, ay), (bx, by) = self._ends(self.boxes[start], self.boxes[end])
        self.parts.append(f'<line x1="{ax:g}" y1="{ay:g}" x2="{bx:g}" y2="{by:g}"/>')
        if text:
            self._text((ax + bx) / 2, (ay + by) / 2 - 8 if ay == by else (ay + by) / 2, text[0], background=ay != by)

    @staticmethod
    def _ends(a, b):
        """Where an arrow leaves one box and meets the other: sides that face each other."""
        ax, ay, bx, by = a[0] + a[2] / 2, a[1] + a[3] / 2, b[0] + b[2] / 2, b[1] + b[3] / 2
        if b[0] >= a[0] + a[2]:
            return (a[0] + a[2], ay), (b[0], ay if b[1] < ay < b[1] + b[3] else by)
        if a[0] >= b[0] + b[2]:
            return (a[0], ay), (b[0] + b[2], ay if b[1] < ay < b[1] + b[3] else by)
        middle = (max(a[0], b[0]) + min(a[0] + a[2], b[0] + b[2])) / 2
        return ((middle, a[1] + a[3]), (middle, b[1])) if by > ay else ((middle, a[1]), (middle, b[1] + b[3]))

    def _text(self, x, y, text, background=False):
        lines = [line.strip() for line in text.split("/")]
        y -= 8 * (len(lines) - 1)
        for index, line in enumerate(lines):
            top = y + 4 + 16 * index
            if background:
                width = 7 * len(line) + 6
                self.parts.append(f'<rect x="{x - width / 2:g}" y="{top - 12:g}" width="{width}" height="16" '
                                  f'style="fill: white; stroke: none"/>')
            self.parts.append(f'<text x="{x:g}" y="{top:g}">{escape(line)}</text>')


def draw(text):
    first, *rest = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    word, width, height = first.split()
    if word != "size":
        sys.exit("the first line is 'size W H'")
    width, height = int(width) * UNIT, int(height) * UNIT
    parts = Picture("\n".join(rest)).parts
    return "\n".join([f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" '
                      f'viewBox="0 0 {width} {height}">', STYLE, *parts, "</svg>", ""])


def main(arguments):
    stale = []
    for source in sorted(Path(__file__).resolve().parent.glob("*.txt")):
        picture, target = draw(source.read_text()), source.with_suffix(".svg")
        if arguments != ["--check"]:
            target.write_text(picture)
        elif not target.is_file() or target.read_text() != picture:
            stale.append(target.name)
    if stale:
        sys.exit(f"not what their texts give: {', '.join(stale)}; run docs/pictures/draw.py")


if __name__ == "__main__":
    main(sys.argv[1:])
