#!/usr/bin/env bash
# checkpoints.sh MPIRUN PROGRAM RULE...: a program in Fortran that takes checkpoints prints the same when its ranks are killed by these
# rules of --inject, and each replacement goes on from a checkpoint.
set -eu
mpirun=$1 program=$2
shift 2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
export LLAMADA_STORE=$work/store
rules=()
for rule; do rules+=(--inject "$rule"); done
expected=$("$mpirun" -n 3 "$program")
code=0
answer=$("$mpirun" -n 3 --qos fault-tolerant --verbose "${rules[@]}" "$program" 2>"$work/err") || code=$?
deaths=$(grep -c 'done *replaced as incarnation' "$work/err" || true)
restarts=$(grep -c 'goes on from a checkpoint' "$work/err" || true)
told=$(grep -c 'goes on at step *[1-9]' "$work/err" || true)
if [ "$code" != 0 ] || [ "$answer" != "$expected" ] || [ "$deaths" != $# ] || [ "$restarts" != $# ] || [ "$told" != $# ]; then
  echo "code $code, $deaths deaths, $restarts and $told restarts of $#; expected the answer"
  printf '%s\ngot\n%s\n' "$expected" "$answer"
  cat "$work/err"
  exit 1
fi
