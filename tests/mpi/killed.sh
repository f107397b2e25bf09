#!/usr/bin/env bash
# killed.sh MPIRUN RANKS PROGRAM RULE...: a program prints the same when its ranks are killed by these rules of --inject,
# under the profile $KILLED_QOS (fault-tolerant).
set -eu
mpirun=$1 ranks=$2 program=$3
shift 3
rules=()
for rule; do rules+=(--inject "$rule"); done
expected=$("$mpirun" -n "$ranks" "$program")
messages=$(mktemp) || exit 1
trap 'rm -f "$messages"' EXIT
code=0
answer=$("$mpirun" -n "$ranks" --qos "${KILLED_QOS:-fault-tolerant}" "${rules[@]}" "$program" 2>"$messages") || code=$?
# Not 'is live again': a replacement may be killed before it is.
deaths=$(grep -c 'done *replaced as incarnation' "$messages" || true)
if [ "$code" -ne 0 ] || [ "$answer" != "$expected" ] || [ "$deaths" -ne $# ]; then
  printf 'killed.sh: code %s, %s replacements of %s; expected the answer\n%s\ngot\n%s\n' "$code" "$deaths" $# "$expected" "$answer"
  cat "$messages"
  exit 1
fi
