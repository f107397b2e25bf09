#!/usr/bin/env bash
# locked.sh MPIRUN CONTAINER PROGRAM: ranks that lock their memory make no more of it than they use, and replacements
# neither, also where arenas are memfds, as they are under what CONTAINER refuses.
set -u
mpirun=$1 container=$2 program=$3
errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT

# locks WHAT COMMAND ...: the command, which is mpirun with what is before it and options, ends with 0.
locks() {
  local what=$1
  shift
  timeout -k 10 120 "$@" "$program" </dev/null >/dev/null 2>"$errors"
  local code=$?
  if [ $code = 77 ]; then
    echo "SKIPPED: mpi.locked: this user may not lock so much memory (ulimit -l)"
    exit 77
  fi
  [ $code = 0 ] && return
  echo "locked.sh: $what: code $code"
  cat "$errors"
  exit 1
}
kills=(-n 3 --qos fault-tolerant --inject 'kill rank 1 in MPI_Barrier 50' --inject 'kill rank 2 in MPI_Barrier 120'
  --inject 'kill rank 1 in MPI_Barrier 150')
are_replaced() {
  [ "$(grep -c 'replaced as incarnation' "$errors")" = 3 ] && return
  echo "locked.sh: $1: not every rank was replaced"
  cat "$errors"
  exit 1
}

locks "by default" "$mpirun" -n 3
locks "with kills" "$mpirun" "${kills[@]}"
are_replaced "with kills"
"$container" true || exit 0 # no seccomp here
locks "in a container" "$container" "$mpirun" -n 3
locks "in a container, with kills" "$container" "$mpirun" "${kills[@]}"
are_replaced "in a container"
