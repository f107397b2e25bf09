#!/usr/bin/env bash
# handled.sh MPIRUN PROGRAM: ranks that handle signals are replaced, and handle them again at the same calls.
source "$(dirname "$0")/script.sh"

# Waits until PATTERN stands in FILE.
wait_for() {
  for ((i = 0; i < 600; i++)); do
    grep -q "$1" "$2" 2>/dev/null && return
    sleep 0.05
  done
  fail "'$1' does not come"
}

start() {
  : >"$folder/messages" # here, not by the job: an earlier one has written the same lines
  : >"$folder/out"
  "$mpirun" --timeout 100 --qos fault-tolerant "$@" >"$folder/out" 2>"$folder/messages" &
  job=$!
}

# finish WHAT: with the right answer.
finish() {
  code=0
  wait "$job" || code=$?
  [ "$code" -eq 0 ] && [ "$(tail -n 1 "$folder/out")" = 'ok handled' ] || fail "code $code with $1"
}

# run WAY RULE: with a SIGUSR1 for mpirun where the way needs one: some before the death, one meanwhile.
run() {
  local way=$1 rule=$2
  start -n 3 --inject "$rule" "$program" "$way"
  if [ "$way" = user ] || [ "$way" = sleep ]; then
    wait_for 'all handle signals' "$folder/out"
    for i in 1 2 3; do
      kill -USR1 "$job" 2>/dev/null
      sleep 0.2
    done
    wait_for 'done *replaced as incarnation' "$folder/messages"
    kill -USR1 "$job" 2>/dev/null
  fi
  finish "$way, $rule"
  grep -q 'done *replaced as incarnation' "$folder/messages" || fail "nobody was replaced with $way, $rule"
}

for way in itself timer user sleep; do
  for call in 25 60 100; do run "$way" "kill rank 1 in MPI_Allreduce $call"; done
done
for way in once realtime ppoll pselect epoll suspend sigwait sigwaitinfo pending any; do
  run "$way" 'kill rank 1 in MPI_Allreduce 70'
done
run any 'kill rank 2 in MPI_Waitany 41'
run suspend 'kill rank 2 after 500ms'

# A loop that only a signal ends comes to no call at which the signal could be handled.
start -n 2 "$program" spin
wait_for 'all handle signals' "$folder/out"
kill -USR1 "$job"
finish spin
grep -q 'handled in the middle of a computation.* cannot be repeated by a replacement' "$folder/messages" ||
  fail 'spin says nothing'
exit "$failed"
