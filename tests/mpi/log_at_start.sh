#!/usr/bin/env bash
# log_at_start.sh MPIRUN PROGRAM: log_bytes_at_start of a profile is made before the ranks run, changes no answer, and is
# refused where there is not so much memory.
source "$(dirname "$0")/script.sh"

# run CODE PROFILE OPTION... -- ARGUMENT: the job must end with this code.
run() {
  local wanted=$1 qos=$2 code=0 options=()
  shift 2
  while [ "$1" != -- ]; do options+=("$1") && shift; done
  shift
  timeout 120 "$mpirun" -n 2 --qos "$qos" "${options[@]}" "$program" "$@" >"$folder/out" 2>"$folder/messages" || code=$?
  [ "$code" -eq "$wanted" ] || fail "code $code instead of $wanted with $qos"
}

profile made '128 MiB' '48 MiB'
profile much '1048576 GiB' '1048576 GiB'
profile wrong '1 MiB' '2 MiB'

run 0 default -- 0
answer=$(cat "$folder/out")
run 0 "$folder/made.xml" -- 24
[ "$(cat "$folder/out")" = "$answer" ] || fail "another answer than $answer"
run 0 "$folder/made.xml" --inject 'kill rank 1 in MPI_Sendrecv 20' -- 0
[ "$(cat "$folder/out")" = "$answer" ] || fail "another answer than $answer after a death"
grep -q 'replaced as incarnation 2' "$folder/messages" || fail 'nobody was replaced'
run 125 "$folder/much.xml" -- 0
grep -q "log_bytes_at_start of the profile 'test::much' is 1048576 GiB, but this node has" "$folder/messages" || fail 'no reason'
run 125 "$folder/wrong.xml" -- 0
grep -q 'log_bytes_at_start (2 MiB) is more than log_bytes_per_node (1 MiB)' "$folder/messages" || fail 'no reason'
exit "$failed"
