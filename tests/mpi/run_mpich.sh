#!/bin/bash
# Proves the MPI test programs against the system's MPICH: run_mpich.sh [folder for the programs] [program ...]
set -u
here=$(cd "$(dirname "$0")" && pwd)
out=${1:-/tmp/llamada-mpich-tests}
shift
mkdir -p "$out"
failed=0
for source in ${@:-"$here"/*.c}; do
  name=$(basename "$source" .c)
  mpicc.mpich -O1 -Wall -Wextra -Wno-stringop-overflow -o "$out/$name" "$here/$name.c" -lm || { failed=1; continue; }
  case $name in exit_*) continue ;; esac
  for ranks in 1 2 3 4 5; do
    if ! timeout 120 mpiexec.mpich -n $ranks "$out/$name" >"$out/$name.log" 2>&1 || ! grep -q "^ok $name" "$out/$name.log"; then
      echo "FAILED $name on $ranks ranks"
      head -20 "$out/$name.log"
      failed=1
    fi
  done
done
exit $failed
