#!/usr/bin/env python3
"""digest.py FILE: whether the last line of an output has the FNV-1a of all lines before it, and how many lines there are."""
import sys

digest = 2166136261
lines = open(sys.argv[1], "rb").read().splitlines(keepends=True)
for line in lines[:-1]:
    for byte in line:
        digest = ((digest ^ byte) * 16777619) & 0xFFFFFFFF
print(bool(lines) and lines[-1].decode().split() == ["digest", str(digest)], len(lines))
