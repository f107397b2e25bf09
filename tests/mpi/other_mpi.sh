#!/bin/bash
# other_mpi.sh MPIRUN PROGRAM LIBRARY: a program that uses another MPI library is told so, and no other program is.
set -u
mpirun=$1
program=$2
library=$3
said=$(mktemp) || exit 1
trap 'rm -f "$said"' EXIT
failures=0
wrong() {
  echo "WRONG: $*"
  sed 's/^/    /' "$said"
  failures=$((failures + 1))
}
# run arguments...: the job ends well.
run() { timeout -s KILL 60 "$mpirun" "$@" >/dev/null 2>"$said" </dev/null || wrong "mpirun $* failed"; }
quiet() { [ -s "$said" ] && wrong "something is said"; }
told() { grep -q "the program uses another MPI library, .*libmpi.so.40.*, and so ran 3 times" "$said" || wrong "nothing is said"; }

run -n 3 "$program"
told
[ "$(wc -l <"$said")" = 1 ] || wrong "more than a line is said"
run -n 3 "$program" silently
told
run -n 3 --qos fault-tolerant "$program"
told
# The program itself is not linked with it, as Python is not: seen while it runs.
run -n 3 env LD_PRELOAD="$library" sh -c 'echo hello; sleep 1'
told
run -n 1 "$program"
quiet
run -n 3 hostname
quiet
exit $failures
