#!/usr/bin/env bash
# diverging.sh MPIRUN PROGRAM WAY: a replacement that goes another way ends the job as diverged, before a line is wrong.
set -eu
mpirun=$1 program=$2 way=$3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/used"
code=0
timeout 100 "$mpirun" -n 4 --qos fault-tolerant "$program" "$way" "$folder/used" >"$folder/output" 2>"$folder/messages" || code=$?
if [ "$code" -ne 122 ] || grep -q WRONG "$folder/output" || ! grep -q 'replay diverged' "$folder/messages"; then
  printf 'diverging.sh: %s ended with code %s, expected 122\n' "$way" "$code"
  cat "$folder/output" "$folder/messages"
  exit 1
fi
