#!/usr/bin/env bash
# leak_check.sh MPIRUN PROGRAM: valgrind's search for leaks comes to its end in each rank. PROGRAM makes as many MPI calls
# as its argument says.
set -u
mpirun=$1 program=$2
if ! command -v valgrind >/dev/null; then
  echo "SKIPPED: mpi.leak_check: valgrind is not installed"
  exit 77
fi
errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT
for profile in default fault-tolerant; do
  timeout -k 10 280 "$mpirun" -n 2 --qos $profile valgrind --leak-check=full "$program" 5 </dev/null >/dev/null 2>"$errors"
  code=$?
  [ $code = 0 ] && [ "$(grep -c 'LEAK SUMMARY' "$errors")" = 2 ] && continue
  echo "leak_check.sh: $profile: code $code"
  cat "$errors"
  exit 1
done
