#!/usr/bin/env bash
# refusing.sh MPIRUN REFUSING PROGRAM: where one system call is refused a fault-tolerant job runs all the same and replaces
# a rank, or ends at once and says what is refused. PROGRAM calls MPI_Allreduce and ends with 0.
set -u
mpirun=$1 refusing=$2 program=$3
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
"$refusing" close_range EPERM true || exit 0 # no seccomp here

# What no job can do without. All others may be refused.
needed=' epoll_create1 epoll_ctl eventfd2 ftruncate getrandom getsockopt memfd_create ppoll prctl setsockopt socketpair timerfd_create '

# try CALL ERROR TEXT
try() {
  local call=$1 error=$2 code=0 output=$folder/$1.$2
  timeout -s KILL 60 "$refusing" "$call" "$error" "$mpirun" -n 2 --qos fault-tolerant --inject 'kill rank 1 in MPI_Allreduce 2' \
    "$program" </dev/null >"$output.out" 2>"$output.err" || code=$?
  case $needed in
    *" $call "*) [ "$code" -ne 0 ] && [ "$code" -ne 137 ] && [ ! -s "$output.out" ] && grep -q "$3" "$output.err" && return ;;
    *) [ "$code" -eq 0 ] && grep -q '^ok' "$output.out" && grep -q 'replaced as incarnation 2' "$output.err" && return ;;
  esac
  {
    echo "refusing.sh: $call refused with $error: code $code"
    cat "$output.out" "$output.err"
  } >"$folder/failed.$call.$error"
}

for call in $("$refusing" list); do
  try "$call" EPERM 'Operation not permitted' &
  try "$call" ENOSYS 'Function not implemented' &
  wait
done
cat "$folder"/failed.* 2>/dev/null && exit 1
exit 0
