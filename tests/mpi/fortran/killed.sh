#!/usr/bin/env bash
# killed.sh MPIRUN PROGRAM: a program in Fortran gives the same answer, digit by digit, when its ranks are killed.
set -eu
mpirun=$1
program=$2
expected=$("$mpirun" -n 3 "$program")
rules=(--inject "kill rank 1 at call 120" --inject "kill rank 0 in MPI_Recv 50" --inject "kill rank 2 in the middle of MPI_Allreduce 40")
messages=$(mktemp)
trap 'rm -f "$messages"' EXIT
answer=$("$mpirun" -n 3 --qos fault-tolerant "${rules[@]}" "$program" 2>"$messages")
deaths=$(grep -c 'is live again' "$messages")
if [ "$answer" != "$expected" ] || [ "$deaths" -ne 3 ]; then
  printf 'killed.sh: %s replacements, expected the answer\n%s\ngot\n%s\n' "$deaths" "$expected" "$answer"
  cat "$messages"
  exit 1
fi
