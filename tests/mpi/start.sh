#!/usr/bin/env bash
# start.sh MPIRUN CONTAINER PROGRAM [SANITIZED]: a fault-tolerant job starts, and replaces a rank, in any environment: with
# none, with a small stack, under a limit on address space, in a container. PROGRAM calls MPI_Allreduce and ends with 0.
set -eu
mpirun=$1 container=$2 program=$3 sanitized=${4-}
errors=$(mktemp) || exit 1
trap 'rm -f "$errors"' EXIT

# is_replaced WHAT COMMAND ...: the command, which is mpirun with what is before it, ends with 0, and a rank was replaced.
is_replaced() {
  local what=$1
  shift
  if ! "$@" -n 3 --qos fault-tolerant --inject 'kill rank 1 in MPI_Allreduce 2' "$program" </dev/null >/dev/null 2>"$errors" ||
    ! grep -q 'replaced as incarnation 2' "$errors"; then
    echo "start.sh: $what:"
    cat "$errors"
    exit 1
  fi
}

is_replaced "without an environment" env -i "$mpirun"
is_replaced "-genvnone" "$mpirun" -genvnone
(ulimit -s 96 && is_replaced "with a stack of 96 KiB" "$mpirun")
for gb in 1 3 29; do
  (ulimit -v ${gb}000000 && is_replaced "with $gb GB of address space" "$mpirun")
done
"$container" true || exit 0 # no seccomp here
is_replaced "in a container" "$container" "$mpirun"
if [ "$(grep -c 'randomisation of addresses' "$errors")" -ne 1 ]; then
  echo "start.sh: in a container: the warning about addresses is missing, or was said for each rank"
  cat "$errors"
  exit 1
fi
is_replaced "where signalfd4 and accept4 are refused" timeout 60 "$container" --old "$mpirun"
code=0
LLAMADA_NAMESPACE=start-$$ timeout -k 20 1 "$container" --old "${mpirun%/*}/llamada" top --interval 0.1 >/dev/null || code=$?
if [ $code -ne 124 ]; then
  echo "start.sh: llamada top goes on after SIGTERM where signalfd4 is refused: exit code $code"
  exit 1
fi
[ -z "$sanitized" ] || timeout 60 "$mpirun" -n 1 --qos fault-tolerant "$sanitized"
