#!/usr/bin/env bash
# adversity.sh MPIRUN STEPS: mpirun where it is given too little, and where its own processes are stopped: it says what is missing, or
# ends the job; it never waits for ever. STEPS is the program steps.
set -u
mpirun=$1 steps=$2
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
failures=0
wrong() {
  echo "WRONG: $*"
  sed 's/^/    /' "$work/out" "$work/err" | head -30
  failures=$((failures + 1))
}
# ended CODE WHAT: the job that ran must have ended with this code.
ended() { [ "$code" = "$1" ] || wrong "$2: code $code, not $1"; }
says() { grep -q -e "$1" "$work/err" || wrong "nothing says '$1'"; }
run() {
  timeout -s KILL 60 "$@" >"$work/out" 2>"$work/err" </dev/null
  code=$?
}

run env --ignore-signal=CHLD "$mpirun" -n 2 "$steps" 3
ended 0 'SIGCHLD is ignored'
for limit in 6 16 38; do
  (ulimit -n $limit; run "$mpirun" -n 4 "$steps" 3; echo $code >"$work/code")
  code=$(cat "$work/code")
  ended 125 "ulimit -n $limit"
  says "file descriptors, and the hard limit is $limit"
done
(ulimit -S -n 40; run "$mpirun" -n 40 "$steps" 3; echo $code >"$work/code")
code=$(cat "$work/code")
ended 0 'ulimit -S -n 40'
(umask 777; run "$mpirun" -n 2 "$steps" 3; echo $code >"$work/code")
code=$(cat "$work/code")
ended 0 'umask 777'

children() { cat "/proc/$1/task/$1/children" 2>/dev/null; }
# start OPTIONS: a job in the background, whose processes are found.
start() {
  "$mpirun" "$@" >"$work/out" 2>"$work/err" </dev/null &
  job=$!
  ranks=
  for _ in $(seq 600); do
    guardian=$(children $job) keeper= driver=
    [ -n "$guardian" ] && keeper=$(children $guardian)
    [ -n "$keeper" ] && driver=$(children $keeper)
    [ -n "$driver" ] && ranks=$(children $driver)
    [ "$(echo $ranks | wc -w)" = 2 ] && return
    sleep 0.05
  done
  wrong "no job: $*"
}
# finish CODE WHAT: the job ends by itself, and nothing of it is left.
finish() {
  for _ in $(seq 600); do kill -0 $job 2>/dev/null || break; sleep 0.05; done
  kill -9 $job 2>/dev/null && wrong "$2: goes on"
  wait $job
  code=$?
  ended "$1" "$2"
  for pid in $guardian $keeper $driver $ranks; do [ -d /proc/$pid ] && wrong "$2: $pid is left"; done
}
start -n 2 "$steps" 100000
kill -STOP $driver
kill -TERM $job && sleep 0.1 && kill -TERM $job
finish 143 'llamanetd is stopped'
start --timeout 1 -n 2 "$steps" 100000
kill -STOP $keeper
finish 124 'the keeper is stopped'
start -n 2 "$steps" 100000
kill -STOP $ranks
kill -TERM $job
finish 143 'all ranks are stopped'

# A wrapper that says of a killed program only that it failed.
start -n 2 --qos fault-tolerant setsid -w "$steps" 300
for _ in $(seq 600); do program=$(children ${ranks%% *}) && [ -n "$program" ] && break; sleep 0.05; done
sleep 0.3
kill -KILL $program
finish 0 'killed behind setsid'
says 'is live again'
[ "$(cat "$work/out")" = 'sum 1' ] || wrong 'another answer'
[ $failures = 0 ]
