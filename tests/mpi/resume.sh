#!/usr/bin/env bash
# resume.sh MPIRUN LLAMADA PROGRAM ROUNDS SEED [EVERY]: all processes of a job with DURABILITY PERSISTENT are killed, again and again, and
# mpirun --resume goes on with it. Its output comes to files once, without a gap and without a line twice; nothing is left. PROGRAM
# is tests/mpi/resumed; with EVERY tests/mpi/checkpointed, which takes a checkpoint every so many steps.
set -u
mpirun=$1 llamada=$2 program=$3 rounds=$4
RANDOM=$5
every=${6:-}
more_lines=$((${every:+2} + 1))
work=$(mktemp -d) || exit 1
trap '[ -n "${KEEP:-}" ] || rm -rf "$work"' EXIT
export LLAMADA_STORE=$work/store
failures=0
wrong() {
  echo "WRONG: $*"
  tail -n 5 "$work"/out* "$work"/err* 2>/dev/null | sed 's/^/    /'
  failures=$((failures + 1))
}
# The process and all that descend from it.
family() {
  local child
  echo "$1"
  for child in $(cat /proc/"$1"/task/*/children 2>/dev/null); do family "$child"; done
}
# Stopped first, so that none of them sees the others die and does something about it.
kill_all() {
  local pids round
  for round in 1 2 3; do
    pids=$(family "$1")
    kill -STOP $pids 2>/dev/null
  done
  kill -KILL $pids 2>/dev/null
  wait "$1" 2>/dev/null
  for pid in $pids; do
    for _ in $(seq 200); do [ -d "/proc/$pid" ] && [ "$(cut -d' ' -f3 "/proc/$pid/stat" 2>/dev/null)" != Z ] || break; sleep 0.02; done
  done
}
digest_of() { python3 "${0%/*}/digest.py" "$1"; }
number() { "$llamada" job ls --json | python3 -c 'import json,sys; jobs=json.load(sys.stdin)["jobs"]; print(jobs[0]["number"] if jobs else "")'; }

for round in $(seq "$rounds"); do
  rm -rf "$work/files" "$work/appended" "$work/store"
  steps=60
  "$mpirun" -n 3 --qos persistent --output-filename "$work/files:nocopy" "$program" $steps 3000 $every "$work/appended" \
    >"$work/out" 2>"$work/err" </dev/null &
  job=$!
  kills=0 code=
  for life in $(seq 12); do
    delay=$((RANDOM % 350))
    for _ in $(seq $((1 + delay / 10))); do kill -0 $job 2>/dev/null || break; sleep 0.01; done
    if ! kill -0 $job 2>/dev/null; then
      wait $job
      code=$?
      break
    fi
    kill_all $job
    kills=$((kills + 1))
    id=$(number)
    [ -n "$id" ] || { code=none; break; }
    "$mpirun" --resume "$id" >"$work/out.$life" 2>"$work/err.$life" </dev/null &
    job=$!
  done
  # Killed before there was a job, or when it was over.
  [ "$code" = none ] && { echo "round $round: nothing was kept yet after $kills kills"; continue; }
  if [ -z "$code" ]; then
    wait $job
    code=$?
  fi
  [ "$code" = 0 ] || wrong "round $round: code $code after $kills kills"
  [ "$(digest_of "$work/files/1/rank.0/stdout")" = "True $((2 * steps + more_lines))" ] ||
    wrong "round $round: output: $(digest_of "$work/files/1/rank.0/stdout") after $kills kills"
  head -n -1 "$work/files/1/rank.0/stdout" | cmp - "$work/appended" || wrong "round $round: the appended file differs"
  [ -z "$(number)" ] || wrong "round $round: the job is still kept"
  [ -z "$(ls -A "$work/store" 2>/dev/null)" ] || wrong "round $round: left in the store: $(ls -A "$work/store")"
  echo "round $round: right after $kills kills"
  cat "$work"/files/1/rank.*/stderr | grep -c 'restarted 1' >>"$work/restarts"
  rm -f "$work"/out.* "$work"/err.*
done
# Some of the rounds are killed behind their first checkpoint.
[ -z "$every" ] || grep -qv '^0$' "$work/restarts" || wrong "no process went on from a checkpoint"

[ -z "$every" ] || exit $((failures > 0))

# What is refused.
run() { timeout -s KILL 60 "$@" >"$work/out" 2>"$work/err" </dev/null; code=$?; }
says() { grep -q -e "$1" "$work/err" || wrong "nothing says '$1'"; }
run "$mpirun" --resume 0123
[ $code = 125 ] || wrong "no such job: code $code"
says 'no job 0123 is kept'
cp "$program" "$work/changing"
"$mpirun" -n 2 --qos persistent "$work/changing" 100 20000 >"$work/out" 2>"$work/err" </dev/null &
job=$!
for _ in $(seq 400); do [ -s "$work/out" ] && break; sleep 0.05; done
id=$(number)
run "$mpirun" --resume "$id"
[ $code = 125 ] || wrong "it runs: code $code"
says 'is running'
run "$llamada" job rm "$id"
[ $code = 1 ] || wrong "removed while it runs: code $code"
kill_all $job
sleep 0.05
cp "$program" "$work/other" && echo >>"$work/other" && mv "$work/other" "$work/changing"
run "$mpirun" --resume "$id"
[ $code = 125 ] || wrong "another program: code $code"
says "$work/changing has changed or is gone"
run "$llamada" job ls
grep -q "$id" "$work/out" || wrong "llamada job ls does not name the job"
run "$llamada" job rm "$id"
[ $code = 0 ] || wrong "llamada job rm: code $code"
[ -z "$(number)" ] || wrong "still kept after llamada job rm"
[ $failures = 0 ]
